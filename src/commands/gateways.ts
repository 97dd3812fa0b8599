import { Argument } from '@commander-js/extra-typings'
import { rowOf } from '../clients/list.ts'
import { resolveOneModel } from '../clients/models/resolve.ts'
import { UserError } from '../errors.ts'
import { baseUrlsOf } from '../gateway/base-urls.ts'
import { formatHeader, headerDocument, unusualKeyHeader } from '../gateway/input/header.ts'
import { formatQuery } from '../gateway/input/query.ts'
import { protocols } from '../gateway/types.ts'
import { folderList } from '../state/folders.ts'
import { gatewayList, type SavedGateway } from '../state/gateway-list.ts'
import { expectNameIsFree, savedGatewayFor, saveGateway } from '../state/save-gateway.ts'
import {
  expectGatewayName,
  formatAge,
  noGatewayHint,
  savedGateway,
  savedGateways,
} from '../state/saved-gateways.ts'
import { changeList } from '../state/saved-list.ts'
import { listWords, maskSecret } from '../text.ts'
import type { ClientNow } from './client-state/client-facts.ts'
import { clientsNow, usersOf } from './client-state/client-now.ts'
import { recoverAndReport, runsSoFar } from './client-state/recorded-runs.ts'
import { GatewayArgument } from './command-line/arguments.ts'
import { commandOf, examples, otherWays } from './command-line/command.ts'
import { type GatewayFlags, gatewayCommand } from './command-line/flags.ts'
import { forget } from './forget.ts'
import { openNamedGateway, proveOne } from './prove/prove-one.ts'
import type { Session } from './screen/session.ts'
import { flagsFor, formatTeamFile, type TeamClient } from './setup/team-file.ts'

function define() {
  return gatewayCommand('gateways')
    .description('list, add, rename, remove or export saved gateways')
    .addArgument(
      new Argument(
        '[action]',
        'add: test and save one; rename; remove; export: print a team file',
      ).choices(['add', 'rename', 'remove', 'export']),
    )
    .addArgument(new GatewayArgument('[gateway]', 'add: its address; otherwise: its name'))
    .addArgument(new GatewayArgument('[new-name]', 'rename: its new name'))
    .option('--name <name>', 'add: save the gateway under this name (default: its host)')
    .option('--model <id>', 'add: the model to test with')
    .option('--dry-run', 'remove: show what it would delete')
    .option('--json', 'print one JSON document')
    .addHelpText('after', otherWays('add'))
    .addHelpText(
      'after',
      examples([
        'repoint gateways',
        'repoint gateways add https://gw.example --name work',
        'repoint gateways rename work office',
        'repoint gateways export work',
      ]),
    )
}

export const command = commandOf(define, (session, action, gateway, newName, flags) => {
  if (action === undefined) return listGateways(session)
  const words = [gateway, newName].filter((word) => word !== undefined)
  const { needs, example } = usages[action]
  if (words.length !== needs.length)
    throw new UserError({
      code: 'usage',
      message: `\`repoint gateways ${action}\` ${words.length > needs.length ? 'takes only' : 'needs'} ${listWords(needs)}`,
      hint: `For example: ${example}`,
    })

  const [first = '', second = ''] = words
  if (action === 'add') return addGateway(session, first, flags)
  if (action === 'rename') return renameGateway(session, first, second)
  if (action === 'remove') return forget(session, first, flags)
  return exportTeamFile(session, first)
})

const usages = {
  add: {
    needs: ['the address of a gateway'],
    example: 'repoint gateways add https://gw.example --name work',
  },
  rename: {
    needs: ['the name of a gateway', 'its new name'],
    example: 'repoint gateways rename work office',
  },
  remove: { needs: ['the name of a gateway'], example: 'repoint gateways remove work' },
  export: { needs: ['the name of a gateway'], example: 'repoint gateways export work' },
} as const

async function listGateways(session: Session): Promise<number> {
  recoverAndReport(session)
  const all = savedGateways(session)
  const clients = await clientsNow(session, runsSoFar(session))

  show(session, all, clients)
  session.showFindings()
  session.document({
    command: 'gateways',
    gateways: all.map((saved) => gatewayDocument(saved, clients)),
    warnings: session.findingsAsJson,
  })
  return 0
}

/** A saved gateway as `--json` prints it. */
function gatewayDocument(saved: SavedGateway, clients: readonly ClientNow[]) {
  const { name, address, baseUrls, key, keyHeader, headers = [], query } = saved
  const { caFile, allowHttp, proven = null } = saved
  return {
    name,
    baseUrl: address,
    key: maskSecret(key),
    keyHeader: unusualKeyHeader(keyHeader),
    caFile,
    allowHttp,
    proven,
    roots: baseUrls,
    headers: headerDocument(headers),
    query: query && formatQuery(query),
    clients: idsOf(usersOf(saved, clients)),
  }
}

/** Gives a saved gateway another name, in the list and for the folders that use it. Returns the exit status. */
async function renameGateway(session: Session, name: string, newName: string): Promise<number> {
  recoverAndReport(session)
  const { platform } = session
  const { address } = savedGateway(session, name)
  if (newName !== name) {
    expectGatewayName(newName)
    if (savedGateways(session).some((saved) => saved.name === newName))
      throw new UserError({
        code: 'usage',
        message: `Another gateway has the name ${newName}`,
        hint: `Use another name. Or remove that gateway first: repoint gateways remove ${newName}`,
      })
    // A folder with the old name starts no client, so a kill between the two changes harms nothing.
    changeList(platform, gatewayList, (all) =>
      all.map((saved) => (saved.name === name ? { ...saved, name: newName } : saved)),
    )
    changeList(platform, folderList, (all) =>
      all.map((folder) => (folder.gateway === name ? { ...folder, gateway: newName } : folder)),
    )
  }

  session.say(`✔ ${name} is now ${newName} (${address}). Its clients keep using it.`)
  session.showFindings()
  session.document({
    command: 'gateways',
    action: 'rename',
    changed: newName !== name,
    saved: newName,
    baseUrl: address,
    warnings: session.findingsAsJson,
  })
  return 0
}

/**
 * Prints a file that sets up another machine in the same way. It contains the options as flags, and no
 * secret. A note names the flags that each machine needs in addition. The setup there finds the chat base
 * URL.
 */
async function exportTeamFile(session: Session, name: string): Promise<number> {
  recoverAndReport(session)
  const saved = savedGateway(session, name)
  const { address, headers = [], caFile } = saved
  if (saved.query !== undefined)
    throw new UserError({
      code: 'usage',
      message: `${name} has a query in its address, and a team file cannot contain one`,
      hint: 'Set up each machine with the whole address: --base-url URL',
    })

  const { messages } = baseUrlsOf(saved)
  const messagesUrl = messages === address ? undefined : messages
  const users = usersOf(saved, await clientsNow(session, runsSoFar(session)))
  const clients = users.map(({ client, options }): TeamClient => {
    return { id: client.id, options, flags: flagsFor(rowOf(client.id), options) }
  })

  const publicHeaders = headers.filter(({ isSecret }) => !isSecret)
  session.platform.terminal.out(
    session.redact(
      formatTeamFile({ name, baseUrl: address, messagesUrl, headers: publicHeaders, clients }),
    ),
  )

  const flags = [
    ...headers.flatMap(({ name, isSecret }) => (isSecret ? `--header '${name}: $VARIABLE'` : [])),
    ...(caFile === undefined ? [] : ['--ca-file PATH']),
  ]
  if (flags.length > 0)
    session.remark(`note: Each machine also needs: repoint setup --from FILE ${flags.join(' ')}`)
  return 0
}

function idsOf(clients: readonly ClientNow[]): readonly string[] {
  return clients.map(({ client }) => client.id)
}

function show(session: Session, all: readonly SavedGateway[], clients: readonly ClientNow[]): void {
  if (all.length === 0) {
    session.say(`No gateway is saved yet. ${noGatewayHint}`)
    return
  }
  const now = session.platform.clock.now()
  const rows = all.map((saved) => {
    const { name, address, key, proven } = saved
    const users = idsOf(usersOf(saved, clients))
    const tested = proven && `${formatAge(proven.at, now)}: ${proven.model} over ${proven.protocol}`
    return [
      `${users.length > 0 ? '*' : ' '} ${name}`,
      address,
      maskSecret(key),
      users.join(', ') || '-',
      tested ?? 'never',
    ]
  })
  session.sayTable(['  NAME', 'ADDRESS', 'KEY', 'CLIENTS', 'TESTED'], rows)

  for (const { name, baseUrls, headers = [], query, keyHeader } of all) {
    if (baseUrls !== undefined)
      session.say(`  ${name}: chat at ${baseUrls.chat}, messages at ${baseUrls.messages}`)
    if (keyHeader !== 'authorization') session.say(`  ${name}: sends the key as ${keyHeader}`)
    if (headers.length > 0) session.say(`  ${name}: header ${headers.map(formatHeader).join(', ')}`)
    if (query !== undefined) session.say(`  ${name}: query ${formatQuery(query)}`)
  }

  if (clients.some(({ gateway }) => gateway?.name !== undefined)) session.remark('* in use')
}

type AddFlags = GatewayFlags & { readonly name?: string; readonly model?: string }

/**
 * Tests a gateway and saves it. Returns the exit status.
 *
 * @throws UserError with the diagnosis; then nothing is saved
 */
async function addGateway(session: Session, address: string, flags: AddFlags): Promise<number> {
  const { model } = flags
  const requester = await openNamedGateway(session, undefined, { ...flags, baseUrl: address })
  expectNameIsFree(session.platform, flags.name, requester.access.address)
  const { access: proven, choice } = await proveOne(session, {
    requester,
    model,
    choose: (gatewayInfo) =>
      resolveOneModel({ requested: { model }, gatewayInfo }, protocols, { ifUnknown: '' }),
  })
  const proof = { model: choice.probeModel, protocol: choice.protocol }

  const { name = flags.name, ...access } = proven
  const findings = saveGateway(session.platform, {
    access: { ...access, name },
    proof: { ...proof, safeguards: 'not-requested' },
  })
  session.addFindings(...findings)
  const saved = savedGatewayFor(session.platform, { ...access, name })

  session.showFindings()
  if (saved !== undefined) {
    session.say(`✔ Saved as ${saved.name}: ${proof.model} answers over ${proof.protocol}`)
    session.say(`  Point clients at it: repoint use ${saved.name}`)
  }
  session.document({
    command: 'gateways',
    action: 'add',
    saved: saved?.name ?? null,
    baseUrl: access.address,
    ...proof,
    warnings: session.findingsAsJson,
  })
  return 0
}
