import { protocolOf } from '../clients/client.ts'
import { rowOf } from '../clients/list.ts'
import { UserError } from '../errors.ts'
import { normaliseBaseUrl } from '../gateway/input/base-url.ts'
import type { Roots } from '../gateway/types.ts'
import type { Runs } from '../transaction/record.ts'
import {
  clientsArgument,
  commandOf,
  examples,
  type GatewayFlags,
  gatewayCommand,
} from './command.ts'
import { type ClientNow, clientsNow, noteLeftOut, type Place } from './inventory/client-state.ts'
import type { Session } from './screen/session.ts'
import { begin, setup } from './setup.ts'

function define() {
  return gatewayCommand('key')
    .description('take a new key, prove it, and switch it in every client of the gateway')
    .addArgument(clientsArgument('only these clients'))
    .option('--messages-url <url>', 'root of the messages protocol, where it has its own')
    .option('--keychain', "keep the remembered key in the system's keychain")
    .option('--dry-run', 'prove and show everything, change nothing')
    .option('--yes', 'accept everything that would be asked')
    .option('--no-verify', 'leave the network alone')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nAddress, models and every other choice stay as they are.')
    .addHelpText('after', examples(['repoint key', 'repoint key codex --key-stdin --yes < key']))
}

/** A client that repoint has set up, and where. */
interface User extends ClientNow {
  readonly place: Place
}

/** Switches the key of a gateway in the clients that use it, in one run. Returns the exit status. */
export const command = commandOf(define, async (session, ids, flags) => {
  const runs = begin(session)
  const users = usersNamed(await usersNow(session, runs), ids)
  const baseUrl = await gatewayToKey(session, users, flags)
  const affected = users.filter(({ place }) => place.baseUrl === baseUrl)
  if (ids.length === 0) await noteLeftOut(session, runs, (setup) => setup.baseUrl === baseUrl)

  return setup(
    session,
    {
      command: 'key',
      flags,
      clients: affected.map(({ client }) => client.id),
      known: { baseUrl, roots: rootsUsed(affected), name: affected[0]?.gateway, configured: [] },
      isKeyOnly: true,
    },
    runs,
  )
})

async function usersNow(session: Session, runs: Runs): Promise<readonly User[]> {
  const users = (await clientsNow(session, runs)).filter(
    (one): one is User => one.isSetUp && one.place !== undefined,
  )
  if (users.length > 0) return users
  throw new UserError({
    code: 'usage',
    message: 'repoint has set up no client so far, so there is no key to change',
    hint: 'Set one up, for example: repoint codex',
  })
}

/** Each root as a client has it that speaks the protocol. */
function rootsUsed(users: readonly User[]): Roots | undefined {
  const rootsFor = (isMessages: boolean) =>
    users.find(
      ({ client, settings }) => (protocolOf(client, settings) === 'messages') === isMessages,
    )?.place.roots
  const [chat, messages] = [rootsFor(false), rootsFor(true)]
  const any = chat ?? messages
  return any && { chat: any.chat, messages: (messages ?? any).messages }
}

/** @throws UserError `usage` for a client that is not set up */
function usersNamed(users: readonly User[], ids: readonly string[]): readonly User[] {
  const families = new Set(ids.map((id) => rowOf(id).family))
  const named = users.filter(({ client }) => families.has(client.family))
  const missing = ids.find((id) => named.every(({ client }) => client.family !== rowOf(id).family))
  if (missing !== undefined)
    throw new UserError({
      code: 'usage',
      message: `${rowOf(missing).label} has not been set up by repoint`,
      hint: `Set it up: repoint ${missing} --base-url URL`,
    })
  return ids.length === 0 ? users : named
}

/**
 * The one gateway that the new key is for: a key must not go to another.
 *
 * @throws UserError `usage` where it is not clear which
 */
async function gatewayToKey(
  session: Session,
  users: readonly User[],
  { baseUrl, allowHttp }: GatewayFlags,
): Promise<string> {
  const urls = [...new Set(users.map(({ place }) => place.baseUrl))]
  const describe = (url: string) => {
    const ofUrl = users.filter(({ place }) => place.baseUrl === url)
    return `${url} (${ofUrl.map(({ client }) => client.label).join(', ')})`
  }

  const named = baseUrl ?? session.platform.machine.env['REPOINT_BASE_URL']
  if (named) {
    const wanted = normaliseBaseUrl(named, { allowHttp }).baseUrl
    if (urls.includes(wanted)) return wanted
    throw new UserError({
      code: 'usage',
      message: `None of the clients is set up at ${wanted}`,
      hint: `They are at: ${urls.map(describe).join(', ')}.`,
    })
  }

  const [only, ...others] = urls
  if (only !== undefined && others.length === 0) return only
  if (session.canAsk)
    return session.platform.ask.search({
      message: 'Which gateway is the new key for?',
      choices: urls.map((url) => ({ value: url, name: describe(url) })),
    })
  throw new UserError({
    code: 'usage',
    message: `A key is for one gateway, and the clients use several: ${urls.map(describe).join(', ')}`,
    hint: 'Name one with --base-url URL, or name the clients that use it.',
  })
}
