import type { ServerResponse } from 'node:http'
import { namedFrame, sseHeaders } from '../codecs/sse.ts'
import type { LogEntry } from './entry.ts'
import type { RequestLog } from './request-log.ts'

/** How many pages can be open at the same time. */
const maxOpenPages = 32
/** How long changes are collected, in ms. A page cannot draw ten thousand requests a second. */
const batchMs = 100
/** A larger batch keeps only its newest requests. */
const maxRequestsPerBatch = 200
/** A page with more unread bytes is disconnected. */
const maxUnreadBytes = 4 * 1024 * 1024
/** The interval of comment lines that keep proxies and browsers connected, in ms. */
const heartbeatMs = 15_000

/** Streams the log to open pages. Does nothing while no page is open. */
export function createLogStream(log: RequestLog) {
  const pages = new Set<ServerResponse>()
  const changed = new Map<string, LogEntry>()
  let timer: NodeJS.Timeout | undefined
  let stopListening: (() => void) | undefined

  return { add }

  /** Streams the log to a page until it disconnects. */
  function add(response: ServerResponse): void {
    if (pages.size >= maxOpenPages) {
      response.writeHead(503).end()
      return
    }

    response.writeHead(200, { ...sseHeaders, 'Cross-Origin-Resource-Policy': 'same-origin' })
    response.write(': the requests of this gateway\n\n')
    pages.add(response)
    stopListening ??= log.listen(addEntry)

    const heartbeat = setInterval(() => response.write(': still here\n\n'), heartbeatMs)
    response.once('close', () => {
      clearInterval(heartbeat)
      pages.delete(response)
      if (pages.size === 0) stop()
    })
  }

  function stop(): void {
    stopListening?.()
    stopListening = undefined
    clearTimeout(timer)
    timer = undefined
    changed.clear()
  }

  function addEntry(entry: LogEntry): void {
    // Move the entry to the end, so that the newest entries stay in a full batch.
    changed.delete(entry.id)
    changed.set(entry.id, entry)
    if (changed.size > maxRequestsPerBatch) changed.delete(changed.keys().next().value!)
    timer ??= setTimeout(flush, batchMs)
  }

  function flush(): void {
    timer = undefined
    const requests = [...changed.values()].map((entry) => log.summarize(entry))
    changed.clear()
    const frame = namedFrame('requests', requests)
    for (const page of pages)
      if (page.writableLength > maxUnreadBytes) page.destroy()
      else page.write(frame)
  }
}
