import { h, type JSX } from 'preact'
import type { RequestSummary } from '../../log/request-log.ts'
import { make } from './dom.ts'
import { duration, startOf, statusClass } from './words.ts'

/** One request: how long it waited for its first byte, and how long its answer took then. */
export function bar(request: RequestSummary, longestMs: number): JSX.Element {
  const { totalMs, firstByteMs = totalMs ?? 0 } = request
  if (totalMs === undefined || longestMs === 0) return make('span', 'bar')
  const part = (className: string, ms: number) =>
    h('span', { class: className, style: { width: percent(ms / longestMs) } })
  const rest = part(`body ${statusClass(request)}`, totalMs - firstByteMs)
  return make('span', 'bar', part('wait', firstByteMs), rest)
}

/** Several requests on one line, each at its time. */
export function strip(requests: readonly RequestSummary[]): JSX.Element {
  const from = Math.min(...requests.map(startOf))
  const span = Math.max(...requests.map(endOf)) - from || 1
  const marks = requests.map((request) => {
    const left = percent((startOf(request) - from) / span)
    const width = percent((request.totalMs ?? 0) / span)
    return h('span', { class: statusClass(request), style: { left, width } })
  })
  return h(
    'span',
    { class: 'strip', title: `${duration(span)} from the first to the last` },
    ...marks,
  )
}

export function endOf(request: RequestSummary): number {
  return startOf(request) + (request.totalMs ?? 0)
}

function percent(part: number): string {
  return `${Math.min(100, Math.max(0, part * 100)).toFixed(2)}%`
}
