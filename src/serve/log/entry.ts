/** One request in the log: the record that the server fills in, and the masked copies that others see. */
import type { OutgoingHttpHeaders } from 'node:http'
import type { Protocol } from '../../protocols.ts'

/** The headers that had a key. */
export type AuthHeaders = 'bearer' | 'x-api-key' | 'both' | 'none'

/** The facts about a request when it arrives. */
interface Arrival {
  /** The value of the response header `X-Oneapi-Request-Id`. */
  readonly id: string
  readonly at: Date
  readonly method: string
  /** With the query. Long paths are cut. */
  readonly path: string
  readonly protocol: Protocol | undefined
  readonly auth: AuthHeaders
  /** The key that counts. Raw in a `LogEntry`, masked in the copies that others see. */
  readonly key: string
  readonly keyMatches: boolean
}

/** The facts about a request and its response. */
interface RequestFacts extends Arrival {
  /** Counts from 1 in the order of arrival. */
  readonly number: number
  readonly modelAsked: string | undefined
  /** The model after aliases are resolved. Undefined if no model was reached. */
  readonly modelServed: string | undefined
  readonly stream: boolean
  /** `open`: the response has not ended. `cut`: the connection ended before the response. */
  readonly state: 'open' | 'done' | 'cut'
  /** Undefined before the response begins. */
  readonly status: number | undefined
  readonly firstByteMs: number | undefined
  readonly totalMs: number | undefined
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
  /** The fault that was applied to this response. */
  readonly fault: string | undefined
  /** The explanation of a rejection. Undefined if this gateway did not reject the request. */
  readonly reason: string | undefined
  readonly requestBytes: number
  readonly responseBytes: number
}

/** A line of the log, without headers and bodies. Keys are masked everywhere. */
export interface RequestSummary extends RequestFacts {
  /** The User-Agent header. */
  readonly client: string
}

/** A logged request with headers and bodies. Keys are masked everywhere. */
export interface LoggedRequest extends RequestSummary {
  readonly headers: Readonly<Record<string, string>>
  /** Cut at `maxLoggedBody`. */
  readonly requestBody: string
  /** The request's body, parsed at each access. Undefined if it is not JSON, or was cut. */
  // biome-ignore lint/suspicious/noExplicitAny: the author of a test knows what it is
  readonly json?: any
  /** The headers that were sent, except those of the connection. */
  readonly responseHeaders: Readonly<Record<string, string>>
  /** Cut at `maxLoggedBody`. */
  readonly responseBody: string
}

/** The record that the server fills in while it responds. It is raw: only masked copies leave this folder. */
export type LogEntry = { -readonly [Fact in keyof RequestFacts]: RequestFacts[Fact] } & {
  /** Alternating names and values, as received. */
  rawHeaders: readonly string[]
  /** By `performance.now()`. */
  startedMs: number
  requestBody: string
  responseHeaders: OutgoingHttpHeaders
  responseBody: string
  /** The size that the log counts for the entry, in characters. */
  countedCharacters: number
}

export function createEntry(
  arrival: Arrival & Pick<LogEntry, 'rawHeaders' | 'startedMs'>,
): LogEntry {
  return {
    number: 0,
    modelAsked: undefined,
    modelServed: undefined,
    stream: false,
    state: 'open',
    status: undefined,
    firstByteMs: undefined,
    totalMs: undefined,
    inputTokens: undefined,
    outputTokens: undefined,
    fault: undefined,
    reason: undefined,
    requestBody: '',
    requestBytes: 0,
    responseHeaders: {},
    responseBody: '',
    responseBytes: 0,
    countedCharacters: 0,
    // Last, because V8 is a hundred times slower for members after a spread (Node 20.20, 2026-11-22).
    ...arrival,
  }
}

/** In characters. */
export function entrySize({
  path,
  rawHeaders,
  requestBody,
  responseHeaders,
  responseBody,
}: LogEntry): number {
  let size = path.length + requestBody.length + responseBody.length
  for (const text of rawHeaders) size += text.length
  for (const name in responseHeaders) size += name.length + String(responseHeaders[name]).length
  return size
}
