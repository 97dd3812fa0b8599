import type { Protocol } from '../gateway/types.ts'
import { isBefore } from './tested.ts'

/** A client's first request, recorded from the real program. The model is not part of the body. */
export interface RecordedRequest {
  /** Which shape it is, where a version sends several over one protocol. */
  readonly kind: string
  readonly protocol: string
  /** The version that was run. Later ones send the same, up to the next recording. */
  readonly version: string
  /** Of the URL. Absent: none. */
  readonly query?: string
  readonly headers: Readonly<Record<string, string>>
  /** With the names of its tools instead of the tools. */
  readonly body: Readonly<Record<string, unknown>>
}

/** A client's `first-requests.json`, which `scripts/record-first-requests.js` writes. */
export interface Recordings {
  readonly date: string
  /** The newest version that was run. */
  readonly newest: string
  /** Each tool as the newest version sends it, by its name in `requests`. */
  readonly tools: Readonly<Record<string, object>>
  /** Of each kind and protocol the oldest version first. */
  readonly requests: readonly RecordedRequest[]
}

/**
 * The complete request of a version: the newest recording that is not newer, or the oldest of all.
 *
 * @param version of the installed client. Absent: the newest
 */
export function recordedRequest(
  { tools, requests, newest }: Recordings,
  wanted: {
    readonly kind: string
    readonly protocol: Protocol
    readonly version?: string | undefined
  },
): Pick<RecordedRequest, 'query' | 'headers' | 'body'> {
  const { kind, protocol, version = newest } = wanted
  const all = requests.filter((request) => request.kind === kind && request.protocol === protocol)
  const found = all.findLast((request) => !isBefore(version, request.version))
  const recorded = found ?? all[0]
  if (recorded === undefined) throw new Error(`no request of the kind ${kind} over ${protocol}`)

  // A client names its version in some headers.
  const named = (value: string) => value.replaceAll(recorded.version, version)
  const headers = Object.entries(recorded.headers).map(([name, value]) => [name, named(value)])
  return {
    ...(recorded.query !== undefined && { query: recorded.query }),
    headers: Object.fromEntries(headers),
    body: withTools(recorded.body, tools) as RecordedRequest['body'],
  }
}

/** Replaces the names in each list of tools. */
function withTools(value: unknown, tools: Recordings['tools'], isTool = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withTools(item, tools, isTool))
  if (typeof value === 'string') return isTool ? withTools(tools[value], tools) : value
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withTools(inner, tools, name === 'tools')]),
  )
}
