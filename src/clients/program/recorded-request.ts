import { plainBody } from '../../gateway/probe/plain-body.ts'
import type { FirstRequest, Protocol } from '../../gateway/types.ts'
import type { RecordedRequest, Recordings } from '../contract/program.ts'
import { isBefore } from './tested.ts'

/**
 * The complete request of a version: the newest recording that is not newer, or the oldest of all. A client
 * without any recording, such as a draft, gets a minimal request.
 *
 * @param version of the installed client. Absent: the newest
 */
export function recordedRequest(
  { tools, requests, newest }: Recordings,
  wanted: {
    readonly kind: string
    readonly protocol: Protocol
    readonly version?: string
  },
): Omit<FirstRequest, 'headers'> & Required<Pick<FirstRequest, 'headers'>> {
  const { kind, protocol, version = newest } = wanted
  if (requests.length === 0) return { headers: {}, body: plainBody(protocol) }

  const all = requests.filter((request) => request.kind === kind && request.protocol === protocol)
  const found = all.findLast((request) => !isBefore(version, request.version))
  const recorded = found ?? all[0]
  if (recorded === undefined) throw new Error(`no request of the kind ${kind} over ${protocol}`)

  // A client names its version in some headers.
  const named = (value: string) => value.replaceAll(recorded.version, version)
  const headers = Object.entries(recorded.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, named(value)]],
  )
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

/** Adds betas to those of the request. Empty ones are left out. */
export function withBetas(
  headers: FirstRequest['headers'] = {},
  ...added: readonly string[]
): NonNullable<FirstRequest['headers']> {
  const betas = [headers['anthropic-beta'] ?? '', ...added].map((beta) => beta.trim())
  const all = betas.filter((beta) => beta !== '')
  return all.length === 0 ? headers : { ...headers, 'anthropic-beta': all.join(',') }
}
