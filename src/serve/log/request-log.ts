import type { OutgoingHttpHeaders } from 'node:http'
import { readJson } from '../requests/json.ts'
import { entrySize, type LogEntry, type LoggedRequest, type RequestSummary } from './entry.ts'
import { maskKey, maskKeys } from './secrets.ts'

/**
 * The longest body in the log, in characters. Longer ones are cut. Claude Code sends 75–115 kB (2.1.197,
 * 2026-11-21).
 */
export const maxLoggedBody = 256 * 1024

/** The longest path, key, model or client in the log, in characters. Longer ones are cut. */
const maxLoggedLength = 1000

/** The limits of the log. The oldest entries are dropped first. */
interface LogLimits {
  readonly loggedRequests: number
  /** The size of all headers and bodies together. */
  readonly loggedCharacters: number
}

type LogListener = (entry: LogEntry) => void

/** The newest requests, bounded in number and size. */
export class RequestLog {
  readonly #limits: LogLimits
  readonly #listeners = new Set<LogListener>()
  readonly #secrets: () => readonly string[]
  /** In the order of their arrival. */
  readonly #entries: LogEntry[] = []
  #characters = 0
  #lastNumber = 0

  /** @param secrets returns the keys to mask: those of the gateway and of its upstream */
  constructor(secrets: () => readonly string[], limits: LogLimits) {
    this.#secrets = secrets
    this.#limits = limits
  }

  /** Adds an entry and sets its number. */
  add(entry: LogEntry): void {
    entry.number = ++this.#lastNumber
    entry.path = cutText(entry.path, maxLoggedLength)
    entry.key = cutText(entry.key, maxLoggedLength)
    this.#entries.push(entry)
    this.#count(entry)
    this.#dropOldest()
    this.#notify(entry)
  }

  /** Must be called once, when the response has ended. */
  finish(entry: LogEntry): void {
    entry.modelAsked = entry.modelAsked && cutText(entry.modelAsked, maxLoggedLength)
    entry.reason = entry.reason && cutText(entry.reason, maxLoggedLength)
    entry.requestBody = this.#cutBody(entry, entry.requestBody)
    entry.responseBody = this.#cutBody(entry, entry.responseBody)

    const oldestNumber = this.#entries[0]?.number ?? Number.POSITIVE_INFINITY
    const isInLog = entry.number >= oldestNumber
    if (isInLog) this.#count(entry)
    this.#notify(entry)
    this.#dropOldest()
  }

  /** Newest first. */
  summaries(): readonly RequestSummary[] {
    return this.#entries.toReversed().map((entry) => this.summarize(entry))
  }

  /** Oldest first. */
  list(isSelected: (entry: LogEntry) => boolean = () => true): readonly LoggedRequest[] {
    return this.#entries.filter(isSelected).map((entry) => this.describe(entry))
  }

  find(id: string): LoggedRequest | undefined {
    const entry = this.#entries.find((candidate) => candidate.id === id)
    return entry && this.describe(entry)
  }

  clear(): void {
    this.#entries.length = 0
    this.#characters = 0
  }

  /** Calls back at the arrival and at the end of each request. Returns a function that stops this. */
  listen(listener: LogListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * A copy for others, in which every text that a client, an upstream or an error wrote is masked. The
   * other facts are numbers, our IDs, names of the catalog, or words of fixed lists, such as the protocol.
   */
  summarize(entry: LogEntry): RequestSummary {
    const { requestBody, responseBody, rawHeaders, responseHeaders, ...withoutContents } = entry
    const { startedMs, countedCharacters, ...facts } = withoutContents
    const keys = this.#secretsOf(entry)
    const nameIndex = rawHeaders.findIndex((name) => name.toLowerCase() === 'user-agent')
    const client = nameIndex === -1 ? '' : (rawHeaders[nameIndex + 1] ?? '')

    return {
      ...facts,
      path: maskKeys(entry.path, keys),
      modelAsked: entry.modelAsked && maskKeys(entry.modelAsked, keys),
      reason: entry.reason && maskKeys(entry.reason, keys),
      client: cutText(maskKeys(client, keys), maxLoggedLength),
      key: maskKey(entry.key),
    }
  }

  /** A summary with the headers and bodies, which are masked too. */
  describe(entry: LogEntry): LoggedRequest {
    const keys = this.#secretsOf(entry)
    const requestBody = maskKeys(entry.requestBody, keys)
    const view = {
      ...this.summarize(entry),
      headers: maskHeaders(entry.rawHeaders, keys),
      requestBody,
      responseHeaders: maskHeaders(headerPairs(entry.responseHeaders), keys),
      responseBody: maskKeys(entry.responseBody, keys),
    }
    // Not enumerable, so that the page does not receive each body twice.
    const json = { get: () => readJson(requestBody), enumerable: false }
    return Object.defineProperty(view, 'json', json) as LoggedRequest
  }

  /** Keys are masked before a cut, because half of a key would not be found later. */
  #cutBody(entry: LogEntry, body: string): string {
    if (body.length <= maxLoggedBody) return body
    return cutText(maskKeys(body, this.#secretsOf(entry)), maxLoggedBody)
  }

  #secretsOf({ key }: LogEntry): readonly string[] {
    return [...this.#secrets(), key]
  }

  /** Updates the counted size of an entry. */
  #count(entry: LogEntry): void {
    this.#characters -= entry.countedCharacters
    entry.countedCharacters = entrySize(entry)
    this.#characters += entry.countedCharacters
  }

  #dropOldest(): void {
    const { loggedRequests, loggedCharacters } = this.#limits
    // The newest stays, however large it is.
    while (
      this.#entries.length > loggedRequests ||
      (this.#characters > loggedCharacters && this.#entries.length > 1)
    )
      this.#characters -= this.#entries.shift()!.countedCharacters
  }

  #notify(entry: LogEntry): void {
    for (const listener of this.#listeners) listener(entry)
  }
}

/** Alternating names and values. */
function headerPairs(headers: OutgoingHttpHeaders): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().flatMap((text) => [name, String(text)]),
  )
}

function maskHeaders(
  rawHeaders: readonly string[],
  keys: readonly string[],
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = Object.create(null)
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase()
    const value = rawHeaders[index + 1]!
    const masked = isSecretHeader(name)
      ? maskKey(value.replace(/^bearer /i, ''))
      : maskKeys(value, keys)
    headers[name] = name in headers ? `${headers[name]}, ${masked}` : masked
  }
  return headers
}

export function isSecretHeader(name: string): boolean {
  return name !== 'idempotency-key' && /auth|key|cookie|token\b|secret|credential|passw/.test(name)
}

/** Cuts a text. A cut text is copied, because a substring would keep the whole text in memory. */
function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text
  return Buffer.from(text.slice(0, maxCharacters)).toString()
}
