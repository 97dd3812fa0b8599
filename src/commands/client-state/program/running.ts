/** Clients that are running while their files change: they still use the old key and the old gateway. */
import type { Client } from '../../../clients/contract/client.ts'
import { UserError, valueOrError } from '../../../errors.ts'
import type { Consent, Session } from '../../screen/session.ts'
import { contextOf } from '../check-files.ts'
import { readClientFiles } from '../client-files.ts'

/**
 * Stops servers that clients left running, because they still use the old key. Without consent, a server
 * keeps running.
 *
 * @returns advice for each server that still runs
 */
export async function stopOldServers(
  session: Session,
  clients: readonly Client[],
  consent: Consent,
): Promise<readonly string[]> {
  const advice: string[] = []
  for (const { label, server } of clients.flatMap((client) => oldServers(session, client))) {
    const stopIt = `Stop the server of ${label}, which still uses the old key: ${server.stopCommand}`
    const isAllowed = await session.hasConsent(consent, {
      message: `A server of ${label} still uses the old key. Stop it?`,
      default: true,
    })
    if (!isAllowed) {
      advice.push(stopIt)
      continue
    }

    const failure = await session.step(`Stopping the server of ${label}`, server.stop())
    if (failure === undefined)
      session.say(`Stopped the server of ${label}, which used the old key.`)
    else advice.push(`${stopIt} (${failure})`)
  }
  return advice
}

function oldServers(session: Session, client: Client) {
  const files = valueOrError(() => readClientFiles(session, client))
  if (files instanceof UserError) return []

  const findings = [...client.checkNow(contextOf(session, client, files, []))]
  return findings.flatMap(({ process }) =>
    process ? [{ label: client.label, server: process }] : [],
  )
}

/**
 * What the user must do about clients that are running. With `--json`, and if repoint cannot list the
 * system's processes, it assumes that every client is running.
 */
export async function adviceForRunning(
  session: Session,
  clients: readonly Client[],
): Promise<readonly string[]> {
  const { processes } = session.platform
  const pgrep = processes.which('pgrep')
  if (session.isJson || pgrep === undefined)
    return clients.map(({ program }) => program.restartAdvice)

  const advice = clients.map(async ({ program }) => {
    // This matches the client's program, or its script run by node or bun. It does not match an editor
    // with such a file open.
    const pattern = `^([^ ]*/)?((node|bun)( --[^ ]*)* )?([^ ]*/)?${program.command}( |$)`
    const args = ['-U', String(processes.uid), '-f', pattern]
    const { exitStatus } = await processes.run(pgrep, args, { timeoutMs: 2_000 })
    return exitStatus === 1 ? [] : [program.restartAdvice]
  })
  return (await Promise.all(advice)).flat()
}
