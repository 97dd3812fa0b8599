/**
 * `repoint key`: replaces one key in every client that uses it, in one run. The words decide which key that is:
 *
 *     repoint key                 the key of all clients; if they have several, repoint asks for the gateway
 *     repoint key work            the key of the saved gateway `work`
 *     repoint key codex claude    the key of these clients
 *     repoint key work codex      the key of `work`, in Codex only
 */
import { clientRows, rowOf } from '../clients/list.ts'
import { protocolOf } from '../clients/models/protocols.ts'
import { UserError } from '../errors.ts'
import { baseUrlsOf } from '../gateway/base-urls.ts'
import { normaliseAddress } from '../gateway/input/address.ts'
import type { BaseUrls } from '../gateway/types.ts'
import type { SavedGateway } from '../state/gateway-list.ts'
import { savedGateway } from '../state/saved-gateways.ts'
import type { ClientNow } from './client-state/client-facts.ts'
import { activeSetup } from './client-state/client-facts.ts'
import { clientsSetUp, reportSkipped, whyNotSetUp } from './client-state/client-now.ts'
import { recoverAndListRuns } from './client-state/recorded-runs.ts'
import { clientsArgument, GatewayArgument } from './command-line/arguments.ts'
import { commandOf, examples, otherWays } from './command-line/command.ts'
import { type GatewayFlags, gatewayCommand, withTryFlags } from './command-line/flags.ts'
import { keyPolicy } from './resolve/policy.ts'
import type { Session } from './screen/session.ts'
import { setUpClients } from './setup/set-up-clients.ts'

function define() {
  return withTryFlags(gatewayCommand('key'), 'each client')
    .description('test a new key and write it to every client of the gateway')
    .addArgument(gatewayOrClient())
    .addArgument(clientsArgument('only these clients'))
    .option('--messages-url <url>', 'address for Anthropic-style requests, if different')
    .option('--details', 'show every setting that changes')
    .option('--dry-run', 'test and show everything; change nothing')
    .option('--no-verify', 'send no requests to the gateway')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nThe address, the models and all other choices stay.')
    .addHelpText('after', otherWays('key'))
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

export const command = commandOf(define, async (session, word, moreIds, flags) => {
  const runs = recoverAndListRuns(session)
  const isClient = clientRows.some(({ id }) => id === word)
  const ids = word !== undefined && isClient ? [word, ...moreIds] : moreIds
  const saved = word === undefined || isClient ? undefined : savedGateway(session, word)

  const { setUp, skipped } = await clientsSetUp(session, runs)
  const clients = selectClients(setUp, skipped, ids)
  const { address, name, users } = saved
    ? keyOfSaved(saved, clients)
    : await keyToReplace(session, keysInUse(clients), flags)

  const skippedUsers = skipped.filter(
    ({ client }) => activeSetup(client, runs)?.address === address,
  )
  if (ids.length === 0) reportSkipped(session, skippedUsers)

  await setUpClients(
    session,
    {
      command: 'key',
      flags,
      clientIds: users.map(({ client }) => client.id),
      preset: {
        gateway: { address, baseUrls: baseUrlsInUse(users), name },
        // Enter must not reuse the key that is replaced.
        inUse: [],
      },
      policy: keyPolicy,
    },
    { runs },
  )
  return 0
})

/** One key of a gateway, and the clients that use it. */
interface KeyInUse {
  readonly address: string
  /** The saved gateway with this key. */
  readonly name: string | undefined
  readonly users: readonly ClientNow[]
}

/**
 * The keys that these clients use. Several saved gateways can have one address, each with its own key. A
 * client has no name of a gateway if someone edited its key. With one saved gateway at the address, it counts as
 * a user of that key.
 */
function keysInUse(clients: readonly ClientNow[]): readonly KeyInUse[] {
  const addresses = [...new Set(clients.flatMap(({ gateway }) => gateway?.address ?? []))]
  return addresses.flatMap((address): readonly KeyInUse[] => {
    const users = clients.filter(({ gateway }) => gateway?.address === address)
    const names = [...new Set(users.map(({ gateway }) => gateway?.name))]
    const savedNames = names.filter((name) => name !== undefined)
    if (savedNames.length < 2) return [{ address, name: savedNames[0], users }]
    return names.map((name) => ({
      address,
      name,
      users: users.filter(({ gateway }) => gateway?.name === name),
    }))
  })
}

/** @throws UserError `usage` if no client uses the gateway */
function keyOfSaved({ name, address }: SavedGateway, clients: readonly ClientNow[]): KeyInUse {
  const users = clients.filter(
    ({ gateway }) => gateway?.address === address && gateway.name === name,
  )
  if (users.length > 0) return { address, name, users }
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
  setUp: readonly ClientNow[],
  skipped: readonly ClientNow[],
  ids: readonly string[],
): readonly ClientNow[] {
  const named = ids.map(rowOf)
  const isMissing = (family: string) => setUp.every(({ client }) => client.family !== family)
  const missing = named.find(({ family }) => isMissing(family))
  if (missing !== undefined) {
    const ofFamily = skipped.filter(({ client }) => client.family === missing.family)
    throw whyNotSetUp(ofFamily, {
      message: `repoint has not set up ${missing.label}`,
      hint: `Set it up: repoint ${missing.id} --base-url URL`,
    })
  }
  if (setUp.length === 0)
    throw whyNotSetUp(skipped, {
      message: 'No client is set up yet, so there is no key to change',
      hint: `Set up a client: repoint ${clientRows[0]!.id}`,
    })

  const isNamed = ({ client }: ClientNow) => named.some(({ family }) => family === client.family)
  return ids.length === 0 ? setUp : setUp.filter(isNamed)
}

/** Takes each base URL from a client that uses its protocol. */
function baseUrlsInUse(clients: readonly ClientNow[]): BaseUrls | undefined {
  const usesMessages = ({ client, state }: ClientNow) =>
    protocolOf(client, state.options) === 'messages'
  const messages = clients.find(usesMessages)?.gateway
  const chat = clients.find((client) => !usesMessages(client))?.gateway ?? messages
  return chat && { chat: baseUrlsOf(chat).chat, messages: baseUrlsOf(messages ?? chat).messages }
}

/**
 * The one key to replace. The new key must not be sent to another gateway.
 *
 * @throws UserError `usage` if it is not clear which one that is
 */
async function keyToReplace(
  session: Session,
  keys: readonly KeyInUse[],
  { baseUrl, allowHttp }: GatewayFlags,
): Promise<KeyInUse> {
  const typed = baseUrl ?? session.platform.machine.env['REPOINT_BASE_URL']
  const typedAddress = typed ? normaliseAddress(typed, { allowHttp }).address : undefined
  const candidates = keys.filter(({ address }) => (typedAddress ?? address) === address)

  const [first, second] = candidates
  if (first === undefined)
    throw new UserError({
      code: 'usage',
      message: `No client points at ${typedAddress}`,
      hint: `The clients point at: ${keys.map(describeKey).join(', ')}.`,
    })
  if (second === undefined) return first
  if (!session.canAsk)
    throw new UserError({
      code: 'usage',
      message: `For which gateway is the key? The clients use ${candidates.map(describeKey).join(', ')}`,
      hint: 'Name the gateway, or the clients: repoint key NAME',
    })

  const answer = await session.platform.ask.search({
    message: 'Which gateway is the new key for?',
    choices: candidates.map((key) => ({ value: describeKey(key), name: describeKey(key) })),
  })
  return candidates.find((key) => describeKey(key) === answer)!
}

/** For people: `work  https://gw.example (Codex, opencode)`. */
function describeKey({ address, name, users }: KeyInUse): string {
  const labels = users.map(({ client }) => client.label).join(', ')
  return `${name === undefined ? '' : `${name}  `}${address} (${labels})`
}
