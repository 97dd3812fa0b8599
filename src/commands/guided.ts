import { type Client, protocolOf } from '../clients/client.ts'
import { loadClients } from '../clients/list.ts'
import { UserError } from '../errors.ts'
import {
  findGatewayName,
  savedChoices,
  savedGateway,
  savedGatewaysIfReadable,
} from '../state/find-gateways.ts'
import { isUsual, stateNow } from './client-state/files.ts'
import { isInstalled, readVersion } from './client-state/program.ts'
import { conflictingClients, noFlags, oneOfEachFamily } from './command.ts'
import type { Preset } from './find-gateway.ts'
import { accessToSaved } from './gateways/saved.ts'
import type { Session } from './screen/session.ts'
import { setup } from './setup.ts'

/**
 * `repoint` without a command: shows the clients and the gateway of each, asks which ones to set up, and
 * sets them up in one run. Without a terminal it prints the help and returns status 2.
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

  session.say(
    'repoint points coding clients at your model gateway. Nothing changes until you say yes, and `repoint rollback` takes it back.',
  )

  const chosen = await askClients(session)
  const ids = oneOfEachFamily(chosen)
  return setup(session, {
    command: ids.length === 1 ? ids[0]! : 'setup',
    clients: ids,
    flags: noFlags,
    preset: await askSaved(session),
  })
}

/** Shows the list at once. The versions appear as the clients' programs report them. */
async function askClients(session: Session): Promise<readonly string[]> {
  const { ask, machine } = session.platform
  const all = await loadClients()
  const present = all.filter((client) => isInstalled(session, client))
  const absent = all.filter((client) => !present.includes(client))

  const programs = new Map(absent.map(({ id }) => [id, 'not installed']))
  const updates = present.map(async (client) => {
    programs.set(client.id, (await readVersion(session, client)).version ?? 'unknown version')
  })
  if (machine.env['TERM'] === 'dumb')
    await session.step('Looking for clients', Promise.all(updates))

  const width = Math.max(...all.map(({ label }) => label.length))
  const chosen = await ask.checkbox({
    message: 'Which clients should use the gateway?',
    choices: () =>
      [...present, ...absent].map((client) => ({
        value: client.id,
        name: `${client.label.padEnd(width)}  ${programs.get(client.id) ?? '...'}${pointsAt(session, client)}`,
        short: client.label,
        checked: present.includes(client) && isUsual(session, client),
      })),
    updates,
    validate: problemOfChoice,
  })

  const labels = all.filter(({ id }) => chosen.includes(id)).map(({ label }) => label)
  session.remark(`✔ Clients: ${labels.join(', ')}`)
  return chosen
}

/** Asks for a saved gateway, unless there is none or the environment names a gateway. */
async function askSaved(session: Session): Promise<Preset> {
  const { env } = session.platform.machine
  const all =
    env['REPOINT_BASE_URL'] || env['REPOINT_API_KEY'] ? [] : savedGatewaysIfReadable(session)
  if (all.length === 0) return {}

  const other = { value: '', name: 'another gateway' }
  const choices = [...savedChoices(session.platform, all), other]
  const name = await session.platform.ask.search({ message: 'Which gateway?', choices })
  if (name === '') return {}
  const saved = savedGateway(session, name)
  return { gateway: accessToSaved(session, saved, noFlags.timeout * 1000) }
}

function problemOfChoice(chosen: readonly string[]): true | string {
  if (chosen.length === 0) return 'Tick at least one with the space bar; Ctrl-C leaves.'
  const twins = conflictingClients(chosen)
  return twins === undefined ? true : `${twins}: tick one of them.`
}

/** The service that a client uses, to show after its version. */
function pointsAt(session: Session, client: Client): string {
  const state = stateNow(session, client)
  if (state === undefined) return ', configuration unreadable'
  const { baseUrl } = state.endpoint
  if (baseUrl === undefined) return isInstalled(session, client) ? ', its own service' : ''

  const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl
  const name = findGatewayName(session, protocolOf(client, state.options), state.endpoint) ?? host
  return `, gateway ${name}${name === host ? '' : ` (${host})`}`
}
