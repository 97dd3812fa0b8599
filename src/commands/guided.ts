import type { Client } from '../clients/client.ts'
import { loadClients, rowOf, rows } from '../clients/list.ts'
import { UserError } from '../errors.ts'
import { noGatewayFlags } from './command.ts'
import { settingsNow } from './inventory/client-files.ts'
import { findInstalled, type Installed } from './inventory/client-program.ts'
import type { Session } from './screen/session.ts'
import { setup } from './setup.ts'

/**
 * `repoint` without a command: shows the clients with what they point at, asks which to set up, and
 * sets them up in one run. Without a terminal: help, status 2.
 */
export async function guided(session: Session, showHelp: () => Promise<void>): Promise<number> {
  if (session.isJson)
    throw new UserError({
      code: 'usage',
      message: 'No command was given',
      hint: 'Name one, for example: repoint codex --json. `repoint --help` lists them.',
    })
  if (!session.canAsk) {
    await showHelp()
    return 2
  }

  const found = await session.step(
    'Looking for clients',
    Promise.all(
      (await loadClients()).map(async (client) => ({
        client,
        installed: await findInstalled(session, client),
      })),
    ),
  )

  const chosen = await session.platform.ask.checkbox({
    message: 'Which clients should use the gateway?',
    choices: found.map(({ client, installed }) => ({
      value: client.id,
      name: `${client.label}  ${describeInstalled(installed)}, ${pointsAt(session, client)}`,
      short: client.label,
      checked: installed !== undefined && isUsual(session, client),
    })),
    validate: problemOfChoice,
  })

  const ids = rows.map(({ id }) => id).filter((id) => chosen.includes(id))
  return setup(session, {
    command: ids.length === 1 ? ids[0]! : 'setup',
    clients: ids,
    gateway: noGatewayFlags,
    options: {},
    isDryRun: false,
    yes: false,
    verify: true,
    tryClient: false,
  })
}

function problemOfChoice(chosen: readonly string[]): true | string {
  if (chosen.length === 0) return 'Tick at least one with the space bar; Ctrl-C leaves.'
  for (const id of chosen) {
    const { family, label } = rowOf(id)
    const other = chosen.map(rowOf).find((one) => one.family === family && one.id !== id)
    if (other !== undefined)
      return `${label} and ${other.label} are two setups of the same file: tick one of them.`
  }
  return true
}

function describeInstalled(installed: Installed | undefined): string {
  return installed === undefined ? 'not installed' : (installed.version ?? 'unknown version')
}

function isUsual(session: Session, client: Client): boolean {
  return client.isUsual?.(settingsNow(session, client) ?? {}) ?? true
}

function pointsAt(session: Session, client: Client): string {
  const settings = settingsNow(session, client)
  if (settings === undefined) return 'configuration unreadable'
  return settings.baseUrl === undefined ? 'now at its own service' : `now at ${settings.baseUrl}`
}
