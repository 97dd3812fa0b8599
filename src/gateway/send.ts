import { setTimeout as pause } from 'node:timers/promises'
import { type RequestSpec, request } from './http/request.ts'
import { withQuery } from './input/query.ts'
import { type Judged, type JudgedRequest, judge } from './judge/judge.ts'
import { mayHelp } from './judge/traits.ts'
import type { HttpResponse, NetworkFailure } from './judge/types.ts'
import type { GatewayAccess } from './types.ts'

/**
 * Sends one request with the key, and does not judge the answer.
 *
 * @param keyHeader the header with the key; absent: that of `access`
 */
export function sendWithKey(
  access: GatewayAccess,
  spec: RequestSpec,
  keyHeader = access.keyHeader,
): Promise<HttpResponse | NetworkFailure> {
  const headers = {
    ...Object.fromEntries((access.headers ?? []).map(({ name, value }) => [name, value])),
    ...keyIn({ ...access, keyHeader }),
    // Many gateways choose the language of their error texts by this header. repoint's texts are English.
    'accept-language': 'en',
    'user-agent': 'repoint',
    ...spec.headers,
  }

  return request(access, { ...spec, url: withQuery(spec.url, access.query), headers })
}

function keyIn({ key, keyHeader }: GatewayAccess): Readonly<Record<string, string>> {
  return keyHeader === 'authorization' ? { authorization: `Bearer ${key}` } : { [keyHeader]: key }
}

/** How long to wait before the one repetition, in ms, unless the answer says when. */
const usualPauseMs = 1_000
const longestPauseMs = 5_000

/**
 * Sends one request with the key and judges the answer. A transient answer (429, 5xx, 529, a broken connection) is
 * repeated once: the only repetition of an answer in repoint.
 */
export async function ask(
  access: GatewayAccess,
  spec: RequestSpec,
  sent: JudgedRequest,
  keyHeader = access.keyHeader,
): Promise<Judged> {
  const first = judge(access, await sendWithKey(access, spec, keyHeader), sent)
  const pauseMs = isTransient(first) ? pauseAfter(first) : Number.POSITIVE_INFINITY
  if (pauseMs > longestPauseMs) return first

  await pause(pauseMs, undefined, { signal: access.signal }).catch(() => {})
  return judge(access, await sendWithKey(access, spec, keyHeader), sent)
}

/** Whether the same request may succeed a moment later. A 429 about credit is none: its outcome is `quota`. */
export function isTransient(judged: Judged): boolean {
  if (judged.kind === 'served') return false
  if (judged.kind === 'no-response') return isBrokenConnection(judged)
  const { status, cut } = judged.response
  return (
    mayHelp('retry', judged.outcome) && (status === 429 || status >= 500 || cut === 'connection')
  )
}

/** The connection was open, and broke before the response. */
function isBrokenConnection({
  failure,
  outcome,
}: Extract<Judged, { kind: 'no-response' }>): boolean {
  const isOpen = failure.stage === 'first-byte' || failure.stage === 'body'
  return failure.reason === 'error' && isOpen && outcome.code === 'refused'
}

/** How long the gateway asks to wait, in ms. */
function pauseAfter(judged: Judged): number {
  if (judged.kind !== 'unusable') return usualPauseMs
  const seconds = /^\d{1,6}$/.exec(judged.response.headers['retry-after'] ?? '')?.[0]
  return seconds === undefined ? usualPauseMs : Number(seconds) * 1_000
}
