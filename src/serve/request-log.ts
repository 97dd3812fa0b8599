import type { AuthHeaders } from './auth.ts'
import { maskKey } from './auth.ts'
import type { ProtocolName } from './codecs/codec.ts'
import { KeptBytes, type Place, slabBytes, textAt } from './kept-bytes.ts'

/** One request as the log tells it. Keys are masked everywhere in it. */
export interface LoggedRequest {
  /** What the client got as `X-Oneapi-Request-Id`. */
  readonly id: string
  /** Counts from 1 in the order of arrival. */
  readonly number: number
  readonly at: Date
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly protocol: ProtocolName | undefined
  /** The User-Agent header. */
  readonly client: string
  readonly auth: AuthHeaders
  /** The key that counted, masked. */
  readonly key: string
  readonly keyMatches: boolean
  readonly modelAsked: string | undefined
  /** An alias resolved; undefined: no model was reached. */
  readonly modelServed: string | undefined
  readonly stream: boolean
  /** `open`: still being answered. `cut`: the connection ended before the answer did. */
  readonly state: 'open' | 'done' | 'cut'
  /** Undefined as long as nothing was answered. */
  readonly status: number | undefined
  readonly firstByteMs: number | undefined
  readonly totalMs: number | undefined
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
  /** What was done to this answer on request. */
  readonly fault: string | undefined
  readonly headers: Readonly<Record<string, string>>
  /** Cut at `maxLoggedBodyBytes`. */
  readonly requestBody: string
  readonly requestBytes: number
  /** Cut at `maxLoggedBodyBytes`. */
  readonly responseBody: string
  readonly responseBytes: number
}

/** A line of the log, without what is large. */
export function summaryOf({
  requestBody,
  responseBody,
  headers,
  ...summary
}: LoggedRequest): Omit<LoggedRequest, 'requestBody' | 'responseBody' | 'headers'> {
  return summary
}

/** What the server notes down while it answers. Raw: never leaves this folder unmasked. */
export interface LogEntry {
  id: string
  number: number
  at: number
  method: string
  path: string
  protocol: ProtocolName | undefined
  /** Names and values in turn, as they came. */
  rawHeaders: readonly string[]
  auth: AuthHeaders
  key: string
  keyMatches: boolean
  modelAsked: string | undefined
  modelServed: string | undefined
  stream: boolean
  state: 'open' | 'done' | 'cut'
  status: number | undefined
  /** On the clock of `performance.now()`. */
  startedMs: number
  firstByteMs: number | undefined
  totalMs: number | undefined
  inputTokens: number | undefined
  outputTokens: number | undefined
  fault: string | undefined
  /** Undefined: not read, or not kept. */
  requestBody: Place | undefined
  requestBytes: number
  responseBody: Place | undefined
  responseBytes: number
}

/** A longer body is cut in the log. Holds what Claude Code sends: 75–115 kB (2.1.197, 2026-11-21). */
export const maxLoggedBodyBytes = slabBytes

/** How much the log keeps; the oldest entries go first. */
export interface LogLimits {
  readonly entries: number
  /** Of all bodies together. */
  readonly bodyBytes: number
}

export type LogListener = (entry: LoggedRequest) => void

/** The newest requests, bounded in number and size. */
export class RequestLog {
  readonly #limits: LogLimits
  readonly #listeners = new Set<LogListener>()
  readonly #secret: string
  // A queue: entries before `#first` are gone, the array is cut now and then.
  #entries: LogEntry[] = []
  #first = 0
  #bodyBytes = 0
  #bodies = new KeptBytes()
  #count = 0

  constructor(secret: string, limits: LogLimits) {
    this.#secret = secret
    this.#limits = limits
  }

  add(entry: LogEntry): void {
    entry.number = ++this.#count
    this.#entries.push(entry)
    this.#evict()
    this.#tell(entry)
  }

  /** Keeps the bodies and tells the listeners; called once, when the answer has ended. */
  finish(entry: LogEntry, requestBody: Uint8Array, responseBody: string): void {
    // The entry may be gone already.
    if (entry.number > this.#count - (this.#entries.length - this.#first)) {
      entry.requestBody = this.#bodies.keep(requestBody)
      entry.responseBody = this.#bodies.keep(responseBody)
      this.#bodyBytes += sizeOf(entry)
      this.#evict()
    }
    this.#tell(entry)
  }

  /** Oldest first. */
  list(): readonly LoggedRequest[] {
    return this.#entries.slice(this.#first).map((entry) => this.view(entry))
  }

  find(id: string): LoggedRequest | undefined {
    const entry = this.#entries.findLast(
      (candidate, index) => index >= this.#first && candidate.id === id,
    )
    return entry && this.view(entry)
  }

  clear(): void {
    this.#entries = []
    this.#first = 0
    this.#bodyBytes = 0
    this.#bodies = new KeptBytes()
  }

  /** Calls back at arrival and at the end of each request. Returns the way to stop. */
  listen(listener: LogListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #evict(): void {
    const { entries, bodyBytes } = this.#limits
    while (
      this.#entries.length - this.#first > entries ||
      (this.#bodyBytes > bodyBytes && this.#entries.length - this.#first > 1)
    ) {
      const oldest = this.#entries[this.#first++]!
      this.#bodyBytes -= sizeOf(oldest)
      this.#bodies.drop(oldest.requestBody)
      this.#bodies.drop(oldest.responseBody)
    }
    if (this.#first > entries) {
      this.#entries = this.#entries.slice(this.#first)
      this.#first = 0
    }
  }

  #tell(entry: LogEntry): void {
    if (this.#listeners.size === 0) return
    const view = this.view(entry)
    for (const listener of this.#listeners) listener(view)
  }

  view(entry: LogEntry): LoggedRequest {
    const hide = (text: string) => hideKeys(text, [this.#secret, entry.key])
    const headers: Record<string, string> = Object.create(null)
    for (let at = 0; at < entry.rawHeaders.length; at += 2) {
      const name = entry.rawHeaders[at]!.toLowerCase()
      const value = entry.rawHeaders[at + 1]!
      const shown = isSecretHeader(name) ? maskKey(value.replace(/^bearer /i, '')) : hide(value)
      headers[name] = name in headers ? `${headers[name]}, ${shown}` : shown
    }
    const { startedMs, rawHeaders, ...rest } = entry
    return {
      ...rest,
      at: new Date(entry.at),
      path: hide(entry.path),
      client: headers['user-agent'] ?? '',
      key: maskKey(entry.key),
      headers,
      requestBody: hide(textAt(entry.requestBody)),
      responseBody: hide(textAt(entry.responseBody)),
    }
  }
}

function isSecretHeader(name: string): boolean {
  return /authorization|api-key|cookie|token|secret/.test(name)
}

/** A short key would hide half of a text that only happens to hold it. */
const shortestHiddenKey = 8

function hideKeys(text: string, keys: readonly string[]): string {
  let hidden = text
  for (const key of keys)
    if (key.length >= shortestHiddenKey) hidden = hidden.replaceAll(key, maskKey(key))
  return hidden
}

function sizeOf({ requestBody, responseBody }: LogEntry): number {
  return lengthOf(requestBody) + lengthOf(responseBody)
}

function lengthOf(place: Place | undefined): number {
  return place === undefined ? 0 : place.end - place.start
}
