import type { Client } from '../clients/contract/client.ts'
import { environmentRows, loadAllClients } from '../clients/list.ts'
import { compact } from '../compact.ts'
import { errorCodes } from '../error-codes.ts'
import { shownBalance } from '../gateway/balance.ts'
import { withKnownFacts } from '../gateway/models/facts.ts'
import { catalogEntry } from '../gateway/models/rules.ts'
import type { Catalog, GatewayAccess, ModelFacts, Protocol } from '../gateway/types.ts'
import type { SavedGateway } from '../state/gateway-list.ts'
import { isTypedAddress, savedGateway } from '../state/saved-gateways.ts'
import { counted, listWords } from '../text.ts'
import { recoverAndReport, runsSoFar } from './client-state/recorded-runs.ts'
import { GatewayArgument } from './command-line/arguments.ts'
import { commandOf, examples } from './command-line/command.ts'
import { type GatewayFlags, gatewayCommand, newestGateway, noFlags } from './command-line/flags.ts'
import { accessToSaved, withSavedGatewayHint } from './find-gateway/access.ts'
import { type FoundGateway, findGateway } from './find-gateway/find-gateway.ts'
import { presetUnlessNamed } from './find-gateway/preset.ts'
import type { ResolvedChoice } from './resolve/client-choice.ts'
import { usualPolicy } from './resolve/policy.ts'
import type { Session } from './screen/session.ts'
import type { SetupContext } from './setup/context.ts'
import type { ProvenSetup } from './setup/prove/prove-clients.ts'
import { proveClients } from './setup/prove/prove-clients.ts'
import { openGateway, reachGateway } from './setup/prove/reach-gateway.ts'
import type { FailedClient } from './setup/prove/results.ts'

function define() {
  return gatewayCommand('check')
    .description('show which clients work with a gateway; changes nothing')
    .addArgument(new GatewayArgument('[gateway]', 'name of a saved gateway, or an address'))
    .option('--json', 'print one JSON document')
    .addHelpText('after', newestGateway)
    .addHelpText('after', examples(['repoint check', 'repoint check work --json']))
}

/**
 * Sends every client's first request to a gateway and reports which of them it answers. Returns status 0
 * if one client works, otherwise the status of the first error.
 */
export const command = commandOf(define, async (session, gateway, flags) => {
  recoverAndReport(session)
  const { access, findings, saved } = await gatewayToCheck(session, gateway, flags)
  session.platform.ask.acceptTyping()

  const clients = await loadAllClients()
  const proof = await proveAll(session, clients, access).catch((error: unknown) => {
    throw saved === undefined ? error : withSavedGatewayHint(saved, error)
  })
  session.addFindings(...findings, ...proof.findings)

  const results = resultsFor(clients, proof)
  show(session, proof, results)
  session.showFindings()
  session.document({
    command: 'check',
    baseUrl: proof.access.address,
    gateway: access.name ?? null,
    models: proof.catalog?.models.length ?? null,
    clients: results.map(clientDocument),
    balance: proof.balance,
    warnings: session.findingsAsJson,
  })

  const [failure] = results.filter(isFailed)
  const isAnyWorking = results.some(({ kind }) => kind === 'works')
  return isAnyWorking || failure === undefined ? 0 : errorCodes[failure.error.code].exitStatus
})

/** Proves every client as a setup does, with no earlier options. */
async function proveAll(
  session: Session,
  clients: readonly Client[],
  access: GatewayAccess,
): Promise<ProvenSetup> {
  const context: SetupContext = {
    session,
    request: { command: 'check', clientIds: clients.map(({ id }) => id), flags: noFlags },
    policy: usualPolicy,
    consent: 'none',
    clients,
    programs: new Map(),
    earlierSetups: new Map(),
    runs: [],
  }
  const requester = openGateway(context, access)
  try {
    return await proveClients(context, await reachGateway(context, requester))
  } finally {
    await requester.hangUp()
  }
}

/** The saved gateway with this name, the gateway at this address, or else the gateway in use. */
async function gatewayToCheck(
  session: Session,
  gateway: string | undefined,
  flags: GatewayFlags,
): Promise<Pick<FoundGateway, 'access' | 'findings'> & { readonly saved?: SavedGateway }> {
  if (gateway !== undefined && !isTypedAddress(session, gateway)) {
    const saved = savedGateway(session, gateway)
    return { access: accessToSaved(session, saved, flags.timeout * 1000), findings: [], saved }
  }

  const findFlags = gateway === undefined ? flags : { ...flags, baseUrl: gateway }
  const { preset } = await presetUnlessNamed(session, findFlags, runsSoFar(session))
  return findGateway(session, findFlags, preset)
}

/** Whether a client can use the gateway. */
type ClientResult = WorkingClient | FailedClient

interface WorkingClient {
  readonly kind: 'works'
  readonly client: Client
  readonly model: string
  readonly protocol: Protocol
  readonly facts: Pick<ModelFacts, 'images' | 'reasoning' | 'contextWindow'>
}

function isFailed(result: ClientResult): result is FailedClient {
  return result.kind === 'failed'
}

function resultsFor(
  clients: readonly Client[],
  { choices, failed, catalog }: ProvenSetup,
): readonly ClientResult[] {
  return clients.flatMap((client): ClientResult[] => {
    const isClient = (result: { readonly client: Client }) => result.client.id === client.id
    const choice = choices.find(isClient)
    return choice === undefined ? failed.filter(isClient) : [workingClient(choice, catalog)]
  })
}

function workingClient(
  { client, resolved }: ResolvedChoice,
  catalog: Catalog | undefined,
): WorkingClient {
  const model = resolved.probeModel
  const entry = catalogEntry(catalog, model) ?? { id: model }
  const { images, reasoning, contextWindow } = withKnownFacts(entry)
  const facts = compact({ images, reasoning, contextWindow })
  return { kind: 'works', client, model, protocol: resolved.protocol, facts }
}

function show(
  session: Session,
  { access, catalog, balance }: ProvenSetup,
  results: readonly ClientResult[],
): void {
  const count =
    catalog === undefined ? 'no list of models' : counted(catalog.models.length, 'model')
  const left = balance === undefined ? '' : `, the key has ${shownBalance(balance)}`
  session.say(`${access.name ?? access.address}: accepts the key, ${count}${left}`)

  const rows = results.flatMap((result) => (result.kind === 'works' ? [tableRow(result)] : []))
  // Every probe offers tools. Without a column for them, the table fits into 80 columns.
  if (rows.length > 0)
    session.sayTable(['  CLIENT', 'MODEL', 'PROTOCOL', 'IMAGES', 'REASONING'], rows)

  for (const [message, { labels, hint }] of failuresIn(results)) {
    session.say(`✗ ${listWords(labels)}: ${message}`)
    if (hint !== undefined) session.say(`  → ${hint}`)
  }
  if (rows.length > 0) {
    const legend = rows.some((row) => row.includes('?')) ? ' · ? unknown' : ''
    session.remark(`✔ answers this client's first request, with tools${legend}`)
  }
  for (const { id, label } of environmentRows)
    session.say(`${label} has no file for a gateway. Its variables: repoint ${id}`)
}

function tableRow({ client, model, protocol, facts }: WorkingClient): readonly string[] {
  return [`✔ ${client.label}`, model, protocol, yesNo(facts.images), yesNo(facts.reasoning)]
}

/** The failures by message, because several clients can fail for the same reason. */
function failuresIn(results: readonly ClientResult[]) {
  const failures = new Map<string, { readonly labels: string[]; readonly hint?: string }>()
  for (const { client, error } of results.filter(isFailed)) {
    const { message, code } = error
    // This command has no flag for a model.
    const isForSetup = code === 'usage' || error.hint?.includes('--model')
    const hint = error.hint && isForSetup ? `For a setup: ${error.hint}` : error.hint
    const failure = failures.get(message) ?? { labels: [], ...compact({ hint }) }
    failure.labels.push(client.label)
    failures.set(message, failure)
  }
  return failures
}

function yesNo(fact: boolean | undefined): string {
  if (fact === undefined) return '?'
  return fact ? 'yes' : 'no'
}

/** A client as `--json` prints it. */
function clientDocument(result: ClientResult) {
  const { id, label } = result.client
  const isByVariables = environmentRows.some((row) => row.id === id)
  const members = { id, label, configuredBy: isByVariables ? 'environment' : 'files' }
  if (result.kind === 'works') {
    const { model, protocol, facts } = result
    return { ...members, works: true, tools: true, model, protocol, ...facts }
  }

  const { code, message, hint } = result.error
  return { ...members, works: false, ...compact({ code, message, hint }) }
}
