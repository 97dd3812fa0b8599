import { findCodexDaemon, stopCodexDaemon, stopDaemonCommand } from '../../clients/codex/daemon.ts'
import type { Session } from '../screen/session.ts'

/**
 * Stops the server that Codex's terminal UI leaves running, because it still holds the key from
 * before. Asked on a terminal, done with `yes`, else left running and said.
 *
 * @returns what a person has still to do, one line each
 */
export async function stopCodexServer(
  session: Session,
  { yes }: { yes: boolean },
): Promise<readonly string[]> {
  const { platform } = session
  if (findCodexDaemon(platform) === undefined) return []
  const toDo = `Stop the server that Codex left running; it still sends the old key: ${stopDaemonCommand}`
  const isWanted =
    yes ||
    (session.canAsk &&
      (await platform.ask.confirm({
        message: 'A server that Codex left running still holds the old key. Stop it?',
        default: true,
      })))
  if (!isWanted) return [toDo]
  const stopped = await session.step('Stopping the server of Codex', stopCodexDaemon(platform))
  if (stopped.outcome === 'failed') return [`${toDo} (${stopped.why})`]
  session.say('Stopped the server that Codex had left running with the old key.')
  return []
}
