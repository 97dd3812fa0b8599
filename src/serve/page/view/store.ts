import type { LoggedRequest, RequestSummary } from '../../log/request-log.ts'
import { type Digest, digestOf } from '../read/digest.ts'
import { type Known, placesOf, type ThreadPlace } from '../read/threads.ts'

/** The log's own limit. */
const maxRequests = 1000

/** A request as the page knows it. */
export interface KnownRequest extends Known {
  request: RequestSummary
  /** Undefined: its bodies have not come yet. */
  full: LoggedRequest | undefined
  digest: Digest | undefined
  place: ThreadPlace
  /** Counts up with each change, so that it is drawn anew. */
  version: number
}

/** What the page knows of the log, oldest first. */
export class Store {
  readonly #byId = new Map<string, KnownRequest>()
  #entries: KnownRequest[] = []

  get all(): readonly KnownRequest[] {
    return this.#entries
  }

  find(id: string | undefined): KnownRequest | undefined {
    return id === undefined ? undefined : this.#byId.get(id)
  }

  put(request: RequestSummary): void {
    const known = this.#byId.get(request.id)
    if (known !== undefined) {
      known.request = request
      known.version++
      return
    }

    const place = { thread: request.id, before: undefined }
    const entry = { request, full: undefined, digest: undefined, place, version: 0 }
    this.#byId.set(request.id, entry)
    const next = this.#entries.findLastIndex((other) => other.request.number < request.number)
    this.#entries.splice(next + 1, 0, entry)
    while (this.#entries.length > maxRequests) this.#byId.delete(this.#entries.shift()!.request.id)
  }

  fill(full: LoggedRequest): void {
    const entry = this.#byId.get(full.id)
    if (entry === undefined) return
    const { headers, requestBody, responseHeaders, responseBody, ...summary } = full
    const digest = digestOf(full)
    const { usage, model } = digest
    const request = {
      ...summary,
      modelServed: summary.modelServed ?? model,
      inputTokens: summary.inputTokens ?? usage?.inputTokens,
      outputTokens: summary.outputTokens ?? usage?.outputTokens,
    }
    Object.assign(entry, { request, full, digest })
    entry.version++
  }

  /** Finds the conversations anew. */
  arrange(): void {
    const places = placesOf(this.#entries)
    for (const entry of this.#entries) {
      const place = places.get(entry.request.id)!
      if (place.thread !== entry.place.thread || place.before !== entry.place.before)
        entry.version++
      entry.place = place
    }
  }

  /** Oldest first. */
  thread(id: string): readonly KnownRequest[] {
    return this.#entries.filter(({ place }) => place.thread === id)
  }

  clear(): void {
    this.#byId.clear()
    this.#entries = []
  }
}
