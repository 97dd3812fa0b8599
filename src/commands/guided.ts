import type { Client } from '../clients/client.ts'
import { loadClients } from '../clients/list.ts'
import { UserError } from '../errors.ts'
import { noFlags, oneOfEachFamily, problemOfTwins } from './command.ts'
import type { Preset } from './find-gateway.ts'
import { accessToSaved } from './gateways/saved.ts'
import { isUsual, settingsNow } from './inventory/client-files.ts'
import { findInstalled } from './inventory/client-program.ts'
import { shownAddress } from './inventory/client-state.ts'
import { savedChoices, savedGateway, savedGateways } from './inventory/saved-gateways.ts'
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

  const present = found.filter(({ installed }) => installed !== undefined)
  const absent = found.filter(({ installed }) => installed === undefined)
  const chosen = await session.platform.ask.checkbox({
    message: 'Which clients should use the gateway?',
    choices: [...present, ...absent].map(({ client, installed }) => {
      const program = installed ? (installed.version ?? 'unknown version') : 'not installed'
      return {
        value: client.id,
        name: `${client.label}  ${program}, ${pointsAt(session, client)}`,
        short: client.label,
        checked: installed !== undefined && isUsual(session, client),
      }
    }),
    validate: problemOfChoice,
  })

  const ids = oneOfEachFamily(chosen)
  return setup(session, {
    command: ids.length === 1 ? ids[0]! : 'setup',
    clients: ids,
    flags: noFlags,
    preset: await askSaved(session),
  })
}

/** A remembered gateway, where there is one and the environment does not name another. */
async function askSaved(session: Session): Promise<Preset> {
  const { env } = session.platform.machine
  const all = env['REPOINT_BASE_URL'] || env['REPOINT_API_KEY'] ? [] : savedGateways(session)
  if (all.length === 0) return {}

  const other = { value: '', name: 'another gateway' }
  const choices = [...savedChoices(session, all), other]
  const name = await session.platform.ask.search({ message: 'Which gateway?', choices })
  if (name === '') return {}
  const saved = savedGateway(session, name)
  return { gateway: await accessToSaved(session, saved, noFlags.timeout * 1000) }
}

function problemOfChoice(chosen: readonly string[]): true | string {
  if (chosen.length === 0) return 'Tick at least one with the space bar; Ctrl-C leaves.'
  const twins = problemOfTwins(chosen)
  return twins === undefined ? true : `${twins}: tick one of them.`
}

function pointsAt(session: Session, client: Client): string {
  const settings = settingsNow(session, client)
  if (settings === undefined) return 'configuration unreadable'
  return `now at ${shownAddress(client, settings) ?? 'its own service'}`
}
