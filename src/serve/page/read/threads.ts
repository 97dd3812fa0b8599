import type { RequestSummary } from '../../log/request-log.ts'
import type { Digest } from './digest.ts'

/** A request with what was read of it; nothing is read as long as its body has not come. */
export interface Known {
  readonly request: RequestSummary
  readonly digest: Digest | undefined
}

/** Where a request stands among the others. */
export interface ThreadPlace {
  /** The id of the first request of its conversation. */
  readonly thread: string
  /** The id of the one before it. */
  readonly before: string | undefined
}

/**
 * Which requests are turns of one conversation. An agent sends the whole conversation each time, so a
 * request goes on from the one whose turns it begins with; or it says which answer it follows; or its
 * client numbers its sessions. The same question once more is a retry if it failed before, and a
 * conversation of its own if it was answered.
 *
 * @param known oldest first
 */
export function placesOf(known: readonly Known[]): ReadonlyMap<string, ThreadPlace> {
  const places = new Map<string, ThreadPlace>()
  /** The newest request of each thread. */
  const newest = new Map<string, string>()
  /** The newest request for each key. */
  const byKey = new Map<string, Known>()

  for (const one of known) {
    const { id } = one.request
    const earlier = one.digest && before(one, one.digest)
    const thread = earlier === undefined ? id : (places.get(earlier.request.id)?.thread ?? id)
    places.set(id, { thread, before: newest.get(thread) })
    newest.set(thread, id)
    if (one.digest !== undefined) for (const key of keysOf(one, one.digest)) byKey.set(key, one)
  }
  return places

  function before({ request }: Known, digest: Digest): Known | undefined {
    const { trail, session, toolsPrint, follows } = digest
    if (follows !== undefined) return byKey.get(`answer ${follows}`)

    const speaker = speakerOf(request)
    for (let turns = trail.length; turns > 0; turns--) {
      const found = byKey.get(`trail ${speaker} ${trail[turns - 1]}`)
      if (found === undefined) continue
      // The same question once more.
      const isAgain = turns === trail.length && !hasFailed(found) && session === undefined
      const isOther = session !== undefined && session !== found.digest?.session
      if (!isAgain && !isOther) return found
    }
    // A history that the client has rewritten, as after a compaction.
    if (session === undefined || trail.length < 2) return undefined
    return byKey.get(`session ${speaker} ${session} ${toolsPrint}`)
  }
}

function keysOf({ request }: Known, digest: Digest): readonly string[] {
  const { trail, session, toolsPrint, answerId } = digest
  const speaker = speakerOf(request)
  return [
    ...(trail.length > 0 ? [`trail ${speaker} ${trail.at(-1)}`] : []),
    ...(session === undefined ? [] : [`session ${speaker} ${session} ${toolsPrint}`]),
    ...(answerId === undefined ? [] : [`answer ${answerId}`]),
  ]
}

function speakerOf({ client, protocol }: RequestSummary): string {
  return `${protocol} ${client}`
}

function hasFailed({ request }: Known): boolean {
  return request.state !== 'done' || (request.status ?? 0) >= 400
}
