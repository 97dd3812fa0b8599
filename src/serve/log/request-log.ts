import type { AuthHeaders } from '../auth.ts'
import { maskKey } from '../auth.ts'
import type { ProtocolName } from '../codecs/codec.ts'
import { unpack } from '../codecs/stream-parts.ts'
import {
  bytesAt,
  KeptBytes,
  lengthAt,
  newPlace,
  type Place,
  slabBytes,
  textAt,
} from './kept-bytes.ts'

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
  /** Not a number as long as nothing was answered. */
  firstByteMs: number
  totalMs: number
  inputTokens: number | undefined
  outputTokens: number | undefined
  fault: string | undefined
  requestBytes: number
  responseBytes: number
}

/**
 * What is kept of a request that was answered. A record is used again for a later request: an object
 * of its own for each would be copied and collected, which took a tenth of the time of a short answer
 * (Node 20.20, 2026-11-21).
 */
interface LogRecord extends LogEntry, KeptBodies {
  readonly rawHeaders: string[]
}

interface KeptBodies {
  readonly requestBody: Place
  readonly responseBody: Place
  /** The answer was kept packed. */
  isPacked: boolean
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
  // Rings: a request has the place of its number in both. The first holds its entry while it is open,
  // and then its record.
  readonly #entries: (LogEntry | LogRecord)[] = []
  readonly #records: LogRecord[] = []
  readonly #bodies = new KeptBytes()
  #bodyBytes = 0
  /** The numbers of the oldest that is kept and of the newest. */
  #oldest = 1
  #newest = 0
  #lastRecord = newRecord()

  constructor(secret: string, limits: LogLimits) {
    this.#secret = secret
    this.#limits = limits
  }

  add(entry: LogEntry): void {
    entry.number = ++this.#newest
    if (this.#size > this.#limits.entries) this.#dropOldest()
    this.#entries[this.#placeOf(entry.number)] = entry
    this.#tell(entry)
  }

  /** Keeps the bodies and tells the listeners; called once, when the answer has ended. */
  finish(
    entry: LogEntry,
    requestBody: Uint8Array,
    responseBody: string | Uint8Array,
    isPacked = false,
  ): void {
    // The entry may be gone already.
    const isKept = entry.number >= this.#oldest
    this.#tell(isKept ? this.#record(entry, requestBody, responseBody, isPacked) : entry)
    // Not before it was told: the oldest may be this one.
    while (this.#bodyBytes > this.#limits.bodyBytes && this.#size > 1) this.#dropOldest()
  }

  #record(
    entry: LogEntry,
    requestBody: Uint8Array,
    responseBody: string | Uint8Array,
    isPacked: boolean,
  ): LogRecord {
    const place = this.#placeOf(entry.number)
    let record = this.#records[place]
    if (record === undefined) {
      record = newRecord()
      this.#records[place] = record
    }
    noteDown(entry, record, this.#lastRecord)
    this.#entries[place] = record
    this.#lastRecord = record
    record.isPacked = isPacked
    this.#bodies.keep(record.requestBody, requestBody, requestBody.length)
    // As many characters as bytes were sent: it is ASCII, and need not be measured.
    const isAscii = responseBody.length === entry.responseBytes
    const bytes = isAscii ? responseBody.length : Buffer.byteLength(responseBody)
    this.#bodies.keep(record.responseBody, responseBody, bytes)
    this.#bodyBytes += sizeOf(record)
    return record
  }

  /** Oldest first. */
  list(): readonly LoggedRequest[] {
    const requests: LoggedRequest[] = []
    for (let number = this.#oldest; number <= this.#newest; number++)
      requests.push(this.#view(this.#entries[this.#placeOf(number)]!))
    return requests
  }

  find(id: string): LoggedRequest | undefined {
    for (let number = this.#newest; number >= this.#oldest; number--) {
      const entry = this.#entries[this.#placeOf(number)]!
      if (entry.id === id) return this.#view(entry)
    }
    return undefined
  }

  clear(): void {
    while (this.#size > 0) this.#dropOldest()
  }

  /** Calls back at arrival and at the end of each request. Returns the way to stop. */
  listen(listener: LogListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  get #size(): number {
    return this.#newest - this.#oldest + 1
  }

  #placeOf(number: number): number {
    return (number - 1) % Math.max(this.#limits.entries, 1)
  }

  #dropOldest(): void {
    const entry = this.#entries[this.#placeOf(this.#oldest++)]
    if (entry === undefined || !isRecord(entry)) return
    this.#bodyBytes -= sizeOf(entry)
    this.#bodies.drop(entry.requestBody)
    this.#bodies.drop(entry.responseBody)
  }

  #tell(entry: LogEntry): void {
    if (this.#listeners.size === 0) return
    const view = this.#view(entry)
    for (const listener of this.#listeners) listener(view)
  }

  #view(entry: LogEntry & Partial<KeptBodies>): LoggedRequest {
    const hide = (text: string) => hideKeys(text, [this.#secret, entry.key])
    const headers: Record<string, string> = Object.create(null)
    for (let at = 0; at < entry.rawHeaders.length; at += 2) {
      const name = entry.rawHeaders[at]!.toLowerCase()
      const value = entry.rawHeaders[at + 1]!
      const shown = isSecretHeader(name) ? maskKey(value.replace(/^bearer /i, '')) : hide(value)
      headers[name] = name in headers ? `${headers[name]}, ${shown}` : shown
    }
    const { startedMs, rawHeaders, firstByteMs, totalMs, isPacked, ...rest } = entry
    return {
      ...rest,
      at: new Date(entry.at),
      path: hide(entry.path),
      client: headers['user-agent'] ?? '',
      key: maskKey(entry.key),
      firstByteMs: Number.isNaN(firstByteMs) ? undefined : firstByteMs,
      totalMs: Number.isNaN(totalMs) ? undefined : totalMs,
      headers,
      requestBody: hide(textAt(entry.requestBody)),
      responseBody: bodyOf(entry.responseBody, isPacked === true, hide),
    }
  }
}

/** An entry that is still open, or the record of one that is not. */
function isRecord(entry: LogEntry | LogRecord): entry is LogRecord {
  return 'isPacked' in entry
}

function bodyOf(
  place: Place | undefined,
  isPacked: boolean,
  hide: (text: string) => string,
): string {
  if (place === undefined || !isPacked) return hide(textAt(place))
  return unpack(bytesAt(place), hide).slice(0, maxLoggedBodyBytes)
}

function newRecord(): LogRecord {
  return {
    id: '',
    number: 0,
    // Never whole, so that V8 keeps these as numbers that are written over in place.
    at: Number.NaN,
    startedMs: Number.NaN,
    firstByteMs: Number.NaN,
    totalMs: Number.NaN,
    method: '',
    path: '',
    protocol: undefined,
    rawHeaders: [],
    auth: 'none',
    key: '',
    keyMatches: false,
    modelAsked: undefined,
    modelServed: undefined,
    stream: false,
    state: 'open',
    status: undefined,
    inputTokens: undefined,
    outputTokens: undefined,
    fault: undefined,
    requestBytes: 0,
    responseBytes: 0,
    requestBody: newPlace(),
    responseBody: newPlace(),
    isPacked: false,
  }
}

/** Text that is the same as in the last record is taken from there, so that it is kept once. */
function noteDown(entry: LogEntry, record: LogRecord, last: LogRecord): void {
  record.id = entry.id
  record.number = entry.number
  record.at = entry.at
  record.startedMs = entry.startedMs
  record.firstByteMs = entry.firstByteMs
  record.totalMs = entry.totalMs
  record.method = entry.method
  record.path = oneOf(entry.path, last.path)
  record.protocol = entry.protocol
  noteHeaders(entry.rawHeaders, record.rawHeaders, last.rawHeaders)
  record.auth = entry.auth
  record.key = oneOf(entry.key, last.key)
  record.keyMatches = entry.keyMatches
  record.modelAsked = entry.modelAsked && oneOf(entry.modelAsked, last.modelAsked)
  record.modelServed = entry.modelServed
  record.stream = entry.stream
  record.state = entry.state
  record.status = entry.status
  record.inputTokens = entry.inputTokens
  record.outputTokens = entry.outputTokens
  record.fault = entry.fault
  record.requestBytes = entry.requestBytes
  record.responseBytes = entry.responseBytes
}

function noteHeaders(from: readonly string[], to: string[], last: readonly string[]): void {
  // Even the same length is set at some cost.
  if (to.length !== from.length) to.length = from.length
  for (let at = 0; at < from.length; at++) to[at] = oneOf(from[at]!, last[at])
}

/** `known` if it is the same. */
function oneOf(text: string, known: string | undefined): string {
  return text === known ? known : text
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

function sizeOf({ requestBody, responseBody }: LogRecord): number {
  return lengthAt(requestBody) + lengthAt(responseBody)
}
