import { Argument } from '@commander-js/extra-typings'
import { rowOf } from '../clients/list.ts'
import { UserError } from '../errors.ts'
import { baseUrlsOf } from '../gateway/base-urls.ts'
import { formatHeader, headerDocument, unusualKeyHeader } from '../gateway/input/header.ts'
import { formatQuery } from '../gateway/input/query.ts'
import type { SavedGateway } from '../state/gateway-list.ts'
import { formatAge, noGatewayHint, savedGateway, savedGateways } from '../state/saved-gateways.ts'
import { maskSecret } from '../text.ts'
import { type ClientFacts, factsOfClients, usersOf } from './client-state/client-facts.ts'
import { recoverAndReport, runsSoFar } from './client-state/recorded-runs.ts'
import { GatewayArgument } from './command-line/arguments.ts'
import { commandOf, examples } from './command-line/command.ts'
import { gatewayCommand } from './command-line/flags.ts'
import { addGateway } from './gateways/add.ts'
import type { Session } from './screen/session.ts'
import { flagsFor, formatTeamFile, type TeamClient } from './setup/team-file.ts'

function define() {
  return gatewayCommand('gateways')
    .description('list the saved gateways, add one, or export one for a team')
    .addArgument(
      new Argument('[action]', 'add: test and save a gateway; export: print a team file').choices([
        'add',
        'export',
      ]),
    )
    .addArgument(new GatewayArgument('[gateway]', 'add: its address; export: its name'))
    .option('--name <name>', 'add: save the gateway under this name (default: its host)')
    .option('--model <id>', 'add: the model to test with')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples([
        'repoint gateways',
        'repoint gateways add https://gw.example --name work',
        'repoint gateways export work',
      ]),
    )
}

export const command = commandOf(define, (session, action, gateway, flags) => {
  if (action === 'add') return addGateway(session, addressToAdd(gateway), flags)
  if (action === 'export') return exportTeamFile(session, nameToExport(gateway))
  return listGateways(session)
})

async function listGateways(session: Session): Promise<number> {
  recoverAndReport(session)
  const all = savedGateways(session)
  const clients = await factsOfClients(session, runsSoFar(session))

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
function gatewayDocument(saved: SavedGateway, clients: readonly ClientFacts[]) {
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

/** @throws UserError `usage` */
function addressToAdd(address: string | undefined): string {
  if (address !== undefined) return address
  throw new UserError({
    code: 'usage',
    message: '`repoint gateways add` needs the address of a gateway',
    hint: 'For example: repoint gateways add https://gw.example',
  })
}

/** @throws UserError `usage` */
function nameToExport(name: string | undefined): string {
  if (name !== undefined) return name
  throw new UserError({
    code: 'usage',
    message: '`repoint gateways export` needs the name of a gateway',
    hint: 'repoint gateways export NAME > repoint.json',
  })
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
  const users = usersOf(saved, await factsOfClients(session, runsSoFar(session)))
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

function idsOf(clients: readonly ClientFacts[]): readonly string[] {
  return clients.map(({ client }) => client.id)
}

function show(
  session: Session,
  all: readonly SavedGateway[],
  clients: readonly ClientFacts[],
): void {
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
