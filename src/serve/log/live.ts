import type { ServerResponse } from 'node:http'
import { sseFrame, sseHeaders } from '../codecs/codec.ts'
import type { LogEntry, RequestLog } from './request-log.ts'

/** Pages that can look at the same time. */
const maxOpenPages = 32
/** Changes are gathered for so long, in ms: a page cannot draw ten thousand requests a second. */
const gatherMs = 100
/** More than this in one go is left out but for the newest. */
const maxRequestsAtOnce = 200
/** A page that does not read for so long is let go, in bytes. */
const maxUnreadBytes = 4 * 1024 * 1024
/** A line now and then keeps proxies and browsers from hanging up, in ms. */
const beatMs = 15_000

/** The pages that look at the log; does nothing as long as nobody looks. */
export function watchLog(log: RequestLog) {
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
    stopListening ??= log.listen(note)

    const beat = setInterval(() => response.write(': still here\n\n'), beatMs)
    response.once('close', () => {
      clearInterval(beat)
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

  function note(entry: LogEntry): void {
    // Again at the end, so that the newest stay when some are left out.
    changed.delete(entry.id)
    changed.set(entry.id, entry)
    if (changed.size > maxRequestsAtOnce) changed.delete(changed.keys().next().value!)
    timer ??= setTimeout(flush, gatherMs)
  }

  function flush(): void {
    timer = undefined
    const requests = [...changed.values()].map((entry) => log.summaryOf(entry))
    changed.clear()
    const frame = sseFrame(requests, 'requests')
    for (const page of pages)
      if (page.writableLength > maxUnreadBytes) page.destroy()
      else page.write(frame)
  }
}
