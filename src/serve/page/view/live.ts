import type { LoggedRequest, RequestSummary } from '../../log/request-log.ts'
import { $ } from './dom.ts'
import type { Store } from './store.ts'

const base = '/_repoint/'

/** Requests whose bodies come in one answer: they may be large. */
const filledAtOnce = 20

/**
 * Keeps the store like the log.
 *
 * @param onChange called after each change of the store, and when something waits
 */
export function goLive(store: Store, onChange: () => void) {
  /** Without their bodies yet; the newest are fetched first. */
  const missing = new Set<string>()
  const held = new Map<string, RequestSummary>()
  let isPaused = false
  let isFilling = false

  const events = new EventSource(`${base}events`)
  events.addEventListener('requests', ({ data }) => take(JSON.parse(data)))
  // Also after a break: what happened in between is fetched again.
  events.onopen = () => {
    showLive(true)
    load()
  }
  events.onerror = () => showLive(false)

  return { pause, clear, /** The requests that came during a pause. */ waiting: () => held.size }

  function take(requests: readonly RequestSummary[]): void {
    for (const request of requests)
      if (isPaused) held.set(request.id, request)
      else {
        store.put(request)
        missing.add(request.id)
      }
    onChange()
    fill()
  }

  async function load(): Promise<void> {
    let before = ''
    for (;;) {
      const answer = await fetch(`${base}requests${before}`)
      const some: readonly RequestSummary[] = await answer.json()
      take(some.filter((request) => isNew(request)))
      const last = some.at(-1)
      if (last === undefined) return
      before = `?before=${last.number}`
    }
  }

  /** After a break most of it is known already. */
  function isNew({ id, state }: RequestSummary): boolean {
    const known = store.find(id)
    return known === undefined || known.request.state !== state
  }

  async function fill(): Promise<void> {
    if (isFilling) return
    isFilling = true

    try {
      while (missing.size > 0) {
        const ids = [...missing].slice(-filledAtOnce)
        for (const id of ids) missing.delete(id)
        const answer = await fetch(`${base}requests?ids=${ids.join(',')}`)
        if (!answer.ok) break
        for (const request of (await answer.json()) as readonly LoggedRequest[]) store.fill(request)
        onChange()
      }
    } catch {
      // Nobody answers: the next opening fetches it all.
    } finally {
      isFilling = false
    }
  }

  /** What happens is gathered, but not shown, until this is called with false. */
  function pause(whether: boolean): void {
    isPaused = whether
    if (whether) {
      onChange()
      return
    }
    const waiting = [...held.values()]
    held.clear()
    take(waiting)
  }

  async function clear(): Promise<void> {
    const token = document.querySelector<HTMLMetaElement>('meta[name="repoint-page"]')?.content
    const headers = { 'X-Repoint-Page': token ?? '' }
    const answer = await fetch(`${base}requests`, { method: 'DELETE', headers })
    // Another gateway has come to the same address since.
    if (answer.status === 401) location.reload()
    if (!answer.ok) return
    store.clear()
    held.clear()
    missing.clear()
    onChange()
  }
}

function showLive(isLive: boolean): void {
  const light = $('live')
  light.dataset['on'] = String(isLive)
  light.title = isLive ? 'live' : 'not connected'
  light.ariaLabel = light.title
}
