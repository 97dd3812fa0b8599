import type { ServerResponse } from 'node:http'
import { sseFrame, sseHeaders } from '../codecs/sse.ts'
import { beginAnswer } from '../connections.ts'
import { type LoggedRequest, type RequestLog, summaryOf } from './request-log.ts'

/** Pages that can look at the same time. */
const maxPages = 32
/** Changes are gathered for so long, in ms: a page cannot draw ten thousand requests a second. */
const gatherMs = 100
/** More than this in one go is left out but for the newest. */
const maxRequestsAtOnce = 200
/** A page that does not read for so long is let go, in bytes. */
const maxUnreadBytes = 4 * 1024 * 1024
/** A line now and then keeps proxies and browsers from hanging up, in ms. */
const keepAliveMs = 15_000

/** Sends the log to pages as it happens. Does nothing as long as nobody looks. */
export function watchLog(log: RequestLog): { add(response: ServerResponse): void } {
  const pages = new Set<ServerResponse>()
  const changed = new Map<string, LoggedRequest>()
  let timer: NodeJS.Timeout | undefined
  let stopListening: (() => void) | undefined

  const flush = () => {
    timer = undefined
    const requests = [...changed.values()].slice(-maxRequestsAtOnce).map(summaryOf)
    changed.clear()
    const frame = sseFrame('requests', JSON.stringify(requests))
    for (const page of pages)
      if (page.writableLength > maxUnreadBytes) page.destroy()
      else page.write(frame)
  }
  const note = (request: LoggedRequest) => {
    // Again at the end, so that the newest stay when some are left out.
    changed.delete(request.id)
    changed.set(request.id, request)
    timer ??= setTimeout(flush, gatherMs)
  }

  return {
    add(response) {
      if (pages.size >= maxPages) {
        response.writeHead(503).end()
        return
      }
      response.writeHead(200, { ...sseHeaders, 'Cross-Origin-Resource-Policy': 'same-origin' })
      response.write(': the requests of this gateway\n\n')
      // Of a page that waits for an answer before it, only the request has the connection yet.
      const end = beginAnswer(response.req.socket)
      pages.add(response)
      stopListening ??= log.listen(note)
      const beat = setInterval(() => response.write(': still here\n\n'), keepAliveMs)
      response.once('close', () => {
        clearInterval(beat)
        end()
        pages.delete(response)
        if (pages.size > 0) return
        stopListening?.()
        stopListening = undefined
        clearTimeout(timer)
        timer = undefined
        changed.clear()
      })
    },
  }
}
