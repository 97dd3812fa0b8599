import type { Client } from '../../clients/client.ts'
import type { Session } from '../screen/session.ts'

/**
 * Stops what clients have left running, because it still holds the key from before. Asked on a
 * terminal, done with `yes`, else left running and said.
 *
 * @returns what a person has still to do, one line each
 */
export async function stopLeftRunning(
  session: Session,
  clients: readonly Client[],
  { yes }: { readonly yes: boolean },
): Promise<readonly string[]> {
  const { platform } = session
  const toDo: string[] = []
  for (const { label, leftRunning } of clients) {
    const server = leftRunning?.(platform)
    if (server === undefined) continue

    const isWanted =
      yes ||
      (session.canAsk &&
        (await platform.ask.confirm({
          message: `A server that ${label} left running still holds the old key. Stop it?`,
          default: true,
        })))
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
