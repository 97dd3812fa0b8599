import type { Client } from '../../clients/client.ts'
import type { Consent, Session } from '../screen/session.ts'

/**
 * Stops what clients have left running, because it still holds the key from before. Where
 * nobody consents it is left running, and said.
 *
 * @returns what a person has still to do, one line each
 */
export async function stopLeftRunning(
  session: Session,
  clients: readonly Client[],
  consent: Consent,
): Promise<readonly string[]> {
  const { platform } = session
  const toDo: string[] = []
  for (const { label, leftRunning } of clients) {
    const server = leftRunning?.(platform)
    if (server === undefined) continue

    const isWanted = await session.wants(consent, {
      message: `A server that ${label} left running still holds the old key. Stop it?`,
      default: true,
    })
    const byHand = `Stop the server that ${label} left running; it still sends the old key: ${server.stopCommand}`
    const why = isWanted
      ? await session.step(`Stopping the server of ${label}`, server.stop())
      : undefined
    if (isWanted && why === undefined)
      session.say(`Stopped the server that ${label} had left running with the old key.`)
    else toDo.push(why === undefined ? byHand : `${byHand} (${why})`)
  }
  return toDo
}
