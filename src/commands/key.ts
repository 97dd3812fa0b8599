import { protocolOf } from '../clients/client.ts'
import { rowOf } from '../clients/list.ts'
import { UserError } from '../errors.ts'
import { normaliseBaseUrl } from '../gateway/input/base-url.ts'
import { rootsOf } from '../gateway/roots.ts'
import type { Gateway, Roots } from '../gateway/types.ts'
import type { Runs } from '../transaction/record.ts'
import {
  clientsArgument,
  commandOf,
  examples,
  type GatewayFlags,
  gatewayCommand,
} from './command.ts'
import { type ClientNow, clientsNow, noteLeftOut, whyNotSetUp } from './inventory/client-state.ts'
import type { Session } from './screen/session.ts'
import { begin, setup } from './setup.ts'

function define() {
  return gatewayCommand('key')
    .description('test a new key, and write it into every client of the gateway')
    .addArgument(clientsArgument('only these clients'))
    .option('--messages-url <url>', 'address for Anthropic-style requests, if different')
    .option('--keychain', "keep the remembered key in the system's keychain")
    .option('--dry-run', 'test and show everything, change nothing')
    .option('--yes', 'do not ask')
    .option('--no-verify', 'skip the checks over the network')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nAddress, models and every other choice stay as they are.')
    .addHelpText('after', examples(['repoint key', 'repoint key codex --key-stdin --yes < key']))
}

/** A client that repoint has set up, and where. */
interface SetUpClient extends ClientNow {
  readonly gateway: Gateway
}

/** Switches the key of a gateway in the clients that use it, in one run. Returns the exit status. */
export const command = commandOf(define, async (session, ids, flags) => {
  const runs = begin(session)
  const clientsHere = await clientsSetUp(session, runs, ids)
  const baseUrl = await gatewayToKey(session, clientsHere, flags)
  const affected = clientsHere.filter(({ gateway }) => gateway.baseUrl === baseUrl)
  if (ids.length === 0) await noteLeftOut(session, runs, (setup) => setup.baseUrl === baseUrl)

  return setup(
    session,
    {
      command: 'key',
      flags,
      clients: affected.map(({ client }) => client.id),
      preset: {
        gateway: { baseUrl, roots: rootsUsed(affected), name: affected[0]?.gateway.name },
      },
      isKeyOnly: true,
    },
    runs,
  )
})

/** @throws UserError `usage` where none is set up, or one that is named is not; `config-invalid` */
async function clientsSetUp(
  session: Session,
  runs: Runs,
  ids: readonly string[],
): Promise<readonly SetUpClient[]> {
  const all = (await clientsNow(session, runs)).filter(
    (one): one is SetUpClient => one.isSetUp && one.gateway !== undefined,
  )
  const rows = ids.map(rowOf)
  const missing = rows.find(({ family }) => all.every(({ client }) => client.family !== family))

  if (missing !== undefined) {
    const message = `${missing.label} has not been set up by repoint`
    const hint = `Set it up: repoint ${missing.id} --base-url URL`
    throw await whyNotSetUp(session, runs, { message, hint }, missing.family)
  }
  if (all.length === 0)
    throw await whyNotSetUp(session, runs, {
      message: 'repoint has set up no client so far, so there is no key to change',
      hint: 'Set one up, for example: repoint codex',
    })
  const isNamed = ({ client }: SetUpClient) => rows.some((row) => row.family === client.family)
  return ids.length === 0 ? all : all.filter(isNamed)
}

/** Each root as a client has it that speaks the protocol. */
function rootsUsed(clientsHere: readonly SetUpClient[]): Roots | undefined {
  const gatewayFor = (isMessages: boolean) =>
    clientsHere.find(
      ({ client, settings }) => (protocolOf(client, settings) === 'messages') === isMessages,
    )?.gateway
  const [chat, messages] = [gatewayFor(false), gatewayFor(true)]
  const any = chat ?? messages
  return any && { chat: rootsOf(any).chat, messages: rootsOf(messages ?? any).messages }
}

/**
 * The one gateway that the new key is for: a key must not go to another.
 *
 * @throws UserError `usage` where it is not clear which
 */
async function gatewayToKey(
  session: Session,
  clientsHere: readonly SetUpClient[],
  { baseUrl, allowHttp }: GatewayFlags,
): Promise<string> {
  const urls = [...new Set(clientsHere.map(({ gateway }) => gateway.baseUrl))]
  const describe = (url: string) => {
    const ofUrl = clientsHere.filter(({ gateway }) => gateway.baseUrl === url)
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
