import type { RequestSummary } from '../../log/request-log.ts'
import { make } from './dom.ts'
import { duration, startOf, statusClass } from './words.ts'

/** One request: how long it waited for its first byte, and how long its answer took then. */
export function bar(request: RequestSummary, longestMs: number): HTMLElement {
  const { totalMs, firstByteMs = totalMs ?? 0 } = request
  const node = make('span', 'bar')
  if (totalMs === undefined || longestMs === 0) return node
  const wait = make('span', 'wait')
  const body = make('span', `body ${statusClass(request)}`)
  wait.style.width = percent(firstByteMs / longestMs)
  body.style.width = percent((totalMs - firstByteMs) / longestMs)
  node.append(wait, body)
  return node
}

/** Several requests on one line, each at its time. */
export function strip(requests: readonly RequestSummary[]): HTMLElement {
  const node = make('span', 'strip')
  const from = Math.min(...requests.map(startOf))
  const span = Math.max(...requests.map(endOf)) - from || 1
  node.title = `${duration(span)} from the first to the last`
  for (const request of requests) {
    const mark = make('span', statusClass(request))
    mark.style.left = percent((startOf(request) - from) / span)
    mark.style.width = percent((request.totalMs ?? 0) / span)
    node.append(mark)
  }
  return node
}

export function endOf(request: RequestSummary): number {
  return startOf(request) + (request.totalMs ?? 0)
}

function percent(part: number): string {
  return `${Math.min(100, Math.max(0, part * 100)).toFixed(2)}%`
}
