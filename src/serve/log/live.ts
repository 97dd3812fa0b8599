import type { ServerResponse } from 'node:http'
import { sseFrame, sseHeaders } from '../codecs/codec.ts'
import type { LogEntry, RequestLog } from './request-log.ts'

/** Pages that can look at the same time. */
const maxOpenPages = 32
/** Changes are gathered for so long, in ms: a page cannot draw ten thousand requests a second. */
const batchMs = 100
/** More than this in one go is left out but for the newest. */
const maxRequestsPerBatch = 200
/** A page that does not read for so long is let go, in bytes. */
const maxUnreadBytes = 4 * 1024 * 1024
/** A line now and then keeps proxies and browsers from hanging up, in ms. */
const heartbeatMs = 15_000

/** The pages that look at the log; does nothing as long as nobody looks. */
export function createLogStream(log: RequestLog) {
  const pages = new Set<ServerResponse>()
  const changed = new Map<string, LogEntry>()
  let timer: NodeJS.Timeout | undefined
  let stopListening: (() => void) | undefined

  return { add }

  /** Sends a page the log as it happens, until it has gone. */
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
    // Again at the end, so that the newest stay when some are left out.
    changed.delete(entry.id)
    changed.set(entry.id, entry)
    if (changed.size > maxRequestsPerBatch) changed.delete(changed.keys().next().value!)
    timer ??= setTimeout(flush, batchMs)
  }

  function flush(): void {
    timer = undefined
    const requests = [...changed.values()].map((entry) => log.summarize(entry))
    changed.clear()
    const frame = sseFrame(requests, 'requests')
    for (const page of pages)
      if (page.writableLength > maxUnreadBytes) page.destroy()
      else page.write(frame)
  }
}
