import { clientRows, rowOf } from '../clients/list.ts'
import { protocolOf } from '../clients/models/protocols.ts'
import { UserError } from '../errors.ts'
import { baseUrlsOf } from '../gateway/base-urls.ts'
import { normaliseAddress } from '../gateway/input/address.ts'
import type { BaseUrls, Gateway } from '../gateway/types.ts'
import type { SavedGateway } from '../state/gateways.ts'
import { savedGateway } from '../state/saved-gateways.ts'
import {
  clientsSetUp,
  reportSkipped,
  type SetUpClient,
  type SkippedClient,
  whyNotSetUp,
} from './client-state/client-report.ts'
import { openRecords } from './client-state/recorded-runs.ts'
import { clientsArgument, GatewayArgument } from './command-line/arguments.ts'
import { commandOf, examples } from './command-line/command.ts'
import { type GatewayFlags, gatewayCommand } from './command-line/flags.ts'
import { keyPolicy } from './resolve/policy.ts'
import type { Session } from './screen/session.ts'
import { setUpClients } from './setup/set-up-clients.ts'

function define() {
  return gatewayCommand('key')
    .description('test a new key and write it to every client of the gateway')
    .addArgument(gatewayOrClient())
    .addArgument(clientsArgument('only these clients'))
    .option('--messages-url <url>', 'address for Anthropic-style requests, if different')
    .option('--details', 'show every setting that changes')
    .option('--dry-run', 'test and show everything; change nothing')
    .option('--yes', 'apply without asking for confirmation')
    .option('--no-verify', 'send no requests to the gateway')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nThe address, the models and all other choices stay.')
    .addHelpText(
      'after',
      examples(['repoint key', 'repoint key work', 'repoint key codex --key-stdin --yes < key']),
    )
}

function gatewayOrClient() {
  const argument = new GatewayArgument('[name]', 'the gateway, or the first client')
  // The IDs that the Tab key offers, in addition to the names of the gateways.
  argument.argChoices = clientRows.map(({ id }) => id)
  return argument
}

/** Replaces the key of a gateway in the clients that use it, in one run. Returns the exit status. */
export const command = commandOf(define, async (session, word, moreIds, flags) => {
  const runs = openRecords(session)
  const isClient = clientRows.some(({ id }) => id === word)
  const ids = word !== undefined && isClient ? [word, ...moreIds] : moreIds
  const saved = word === undefined || isClient ? undefined : savedGateway(session, word)

  const { here, skipped } = await clientsSetUp(session, runs)
  const candidates = selectClients(here, skipped, ids)
  const gateway = saved
    ? expectUsed(saved, candidates)
    : await gatewayToKey(session, candidates, flags)

  const affected = candidates.filter((client) => usesGateway(client, gateway))
  const { address } = gateway
  const skippedUsers = skipped.filter(({ setup }) => setup.address === address)
  if (ids.length === 0) reportSkipped(session, skippedUsers)

  return setUpClients(
    session,
    {
      command: 'key',
      flags,
      clientIds: affected.map(({ client }) => client.id),
      preset: {
        gateway: { address, baseUrls: baseUrlsInUse(affected), name: affected[0]?.gateway.name },
        // Enter must not reuse the key that is replaced.
        inUse: [],
      },
      policy: keyPolicy,
    },
    { runs },
  )
})

/** One address can have several keys. The gateway's name tells them apart, if it is known. */
type KeyedGateway = Pick<Gateway, 'address' | 'name'>

function usesGateway({ gateway }: SetUpClient, { address, name }: KeyedGateway): boolean {
  return gateway.address === address && (name === undefined || gateway.name === name)
}

/** @throws UserError `usage` if no client uses the gateway */
function expectUsed(
  { name, address }: SavedGateway,
  clients: readonly SetUpClient[],
): KeyedGateway {
  if (clients.some((client) => usesGateway(client, { name, address }))) return { name, address }
  throw new UserError({
    code: 'usage',
    message: `No client points at ${name}`,
    hint: `Point one at it: repoint use ${name} ${clientRows[0]!.id}`,
  })
}

/**
 * The clients that are set up: those with these IDs, or all if there are no IDs.
 *
 * @throws UserError `usage` if no client is set up or a named one is not; `config-invalid`
 */
function selectClients(
  here: readonly SetUpClient[],
  skipped: readonly SkippedClient[],
  ids: readonly string[],
): readonly SetUpClient[] {
  const named = ids.map(rowOf)
  const isAbsent = (family: string) => here.every(({ client }) => client.family !== family)
  const missing = named.find(({ family }) => isAbsent(family))
  if (missing !== undefined) {
    const ofFamily = skipped.filter(({ client }) => client.family === missing.family)
    throw whyNotSetUp(ofFamily, {
      message: `repoint has not set up ${missing.label}`,
      hint: `Set it up: repoint ${missing.id} --base-url URL`,
    })
  }
  if (here.length === 0)
    throw whyNotSetUp(skipped, {
      message: 'No client is set up yet, so there is no key to change',
      hint: `Set up a client: repoint ${clientRows[0]!.id}`,
    })

  const isNamed = ({ client }: SetUpClient) => named.some(({ family }) => family === client.family)
  return ids.length === 0 ? here : here.filter(isNamed)
}

/** Takes each base URL from a client that uses its protocol. */
function baseUrlsInUse(clients: readonly SetUpClient[]): BaseUrls | undefined {
  const gatewayFor = (isMessages: boolean) =>
    clients.find(
      ({ client, state }) => (protocolOf(client, state.options) === 'messages') === isMessages,
    )?.gateway
  const messages = gatewayFor(true)
  const chat = gatewayFor(false) ?? messages
  return chat && { chat: baseUrlsOf(chat).chat, messages: baseUrlsOf(messages ?? chat).messages }
}

/**
 * The one gateway that the new key is for. A key must not be sent to another gateway.
 *
 * @throws UserError `usage` if it is not clear which gateway that is
 */
async function gatewayToKey(
  session: Session,
  clients: readonly SetUpClient[],
  { baseUrl, allowHttp }: GatewayFlags,
): Promise<KeyedGateway> {
  const urls = [...new Set(clients.map(({ gateway }) => gateway.address))]
  const describe = (url: string) => {
    const ofUrl = clients.filter(({ gateway }) => gateway.address === url)
    const names = [...new Set(ofUrl.flatMap(({ gateway }) => gateway.name ?? []))]
    const labels = ofUrl.map(({ client }) => client.label).join(', ')
    return `${[...names, url].join('  ')} (${labels})`
  }

  const typed = baseUrl ?? session.platform.machine.env['REPOINT_BASE_URL']
  if (typed) {
    const address = normaliseAddress(typed, { allowHttp }).address
    if (urls.includes(address)) return { address }
    throw new UserError({
      code: 'usage',
      message: `No client points at ${address}`,
      hint: `The clients point at: ${urls.map(describe).join(', ')}.`,
    })
  }

  const [first, second] = urls
  if (first !== undefined && second === undefined) return { address: first }
  if (session.canAsk)
    return {
      address: await session.platform.ask.search({
        message: 'Which gateway is the new key for?',
        choices: urls.map((url) => ({ value: url, name: describe(url) })),
      }),
    }
  throw new UserError({
    code: 'usage',
    message: `For which gateway is the key? The clients use ${urls.map(describe).join(', ')}`,
    hint: 'Name the gateway: repoint key NAME',
  })
}
