import type { Client } from '../clients/contract/client.ts'
import { environmentRows, loadAllClients } from '../clients/list.ts'
import { compact } from '../compact.ts'
import { errorCodes } from '../error-codes.ts'
import { foldFindings } from '../finding.ts'
import { shownBalance } from '../gateway/balance.ts'
import { withKnownFacts } from '../gateway/models/facts.ts'
import { catalogEntry } from '../gateway/models/rules.ts'
import type { Catalog, GatewayAccess, ModelFacts, Protocol } from '../gateway/types.ts'
import { counted, listWords, withoutRequestId } from '../text.ts'
import type { ClientNow } from './client-state/client-facts.ts'
import { clientsNow } from './client-state/client-now.ts'
import { isInstalled } from './client-state/program/installed-program.ts'
import { recoverAndReport, runsSoFar } from './client-state/recorded-runs.ts'
import { GatewayArgument } from './command-line/arguments.ts'
import { commandOf, examples } from './command-line/command.ts'
import { gatewayCommand, modelId, newestGateway, noFlags } from './command-line/flags.ts'
import { findGatewayToRead } from './prove/prove-one.ts'
import type { ResolvedChoice } from './resolve/client-choice.ts'
import { checkPolicy } from './resolve/policy.ts'
import type { Session } from './screen/session.ts'
import type { SetupContext } from './setup/context.ts'
import {
  type FailedClient,
  openGateway,
  type ProvenSetup,
  proveClients,
} from './setup/prove/prove-clients.ts'
import { resultsOf } from './status/check-results.ts'
import { obstaclesDocument } from './status/client-status.ts'

function define() {
  return gatewayCommand('check')
    .description('show which clients work with a gateway; changes nothing')
    .addArgument(new GatewayArgument('[gateway]', 'name of a saved gateway, or an address'))
    .option('--model <id>', 'test this model (default: chosen from the catalog)', modelId)
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
  const here = (await clientsNow(session, runsSoFar(session))).filter(
    ({ client, gateway }) => isInstalled(session, client) || gateway !== undefined,
  )
  const { access, findings } = await findGatewayToRead(session, gateway, flags)
  session.platform.ask.acceptTyping()

  const clients = installedFirst(session, await loadAllClients())
  const proof = await proveAll(session, clients, access, flags.model)
  session.addFindings(...findings, ...proof.findings)

  const results = resultsFor(clients, proof)
  show(session, proof, results)
  showErrors(session, here)
  session.showFindings()
  session.document({
    command: 'check',
    baseUrl: proof.access.address,
    gateway: access.name ?? null,
    models: proof.catalog?.models.length ?? null,
    clients: results.map((result) => clientDocument(session, result, here)),
    balance: proof.balance,
    warnings: session.findingsAsJson,
  })

  const [failure] = results.filter(isFailed)
  const isAnyWorking = results.some(({ kind }) => kind === 'works')
  return isAnyWorking || failure === undefined ? 0 : errorCodes[failure.error.code].exitStatus
})

function installedFirst(session: Session, clients: readonly Client[]): readonly Client[] {
  return clients.toSorted(
    (a, b) => Number(isInstalled(session, b)) - Number(isInstalled(session, a)),
  )
}

/** Proves every client as a setup does, with no earlier options. */
async function proveAll(
  session: Session,
  clients: readonly Client[],
  access: GatewayAccess,
  model: string | undefined,
): Promise<ProvenSetup> {
  const context: SetupContext = {
    session,
    request: {
      command: 'check',
      clientIds: clients.map(({ id }) => id),
      flags: noFlags,
      optionsOf: () => ({ model }),
    },
    policy: checkPolicy,
    consent: 'none',
    clients,
    programs: new Map(),
    earlierSetups: new Map(),
    runs: [],
  }
  const requester = openGateway(context, access)
  try {
    return await proveClients(context, requester)
  } finally {
    await requester.hangUp()
  }
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
  const working = results.filter((result) => result.kind === 'works')
  // Only a request that it has accepted shows that.
  const verdict = working.length > 0 ? 'accepts the key' : 'no client works'
  session.say(`${access.name ?? access.address}: ${verdict}, ${count}${left}`)

  // If nothing is installed, every client is shown.
  const installed = working.filter(({ client }) => isInstalled(session, client))
  const shown = installed.length > 0 ? installed : working
  const rows = shown.map(tableRow)
  // Every probe offers tools. Without a column for them, the table fits into 80 columns.
  if (rows.length > 0)
    session.sayTable(['  CLIENT', 'MODEL', 'PROTOCOL', 'IMAGES', 'REASONING'], rows)

  const others = working.filter((result) => !shown.includes(result))
  if (others.length > 0)
    session.say(
      `✔ Would work, not installed: ${listWords(others.map(({ client }) => client.label))}`,
    )
  if (rows.length > 0) {
    const legend = rows.some((row) => row.includes('?')) ? ' · ? unknown' : ''
    session.remark(`✔ answers this client's first request, with tools${legend}`)
  }
  for (const { message, labels, hint } of failuresIn(session, results)) {
    session.say(`✗ ${listWords(labels)}: ${message}`)
    if (hint !== undefined) session.say(`  → ${hint}`)
  }
  for (const { id, label } of environmentRows)
    session.say(`${label} has no file for a gateway. Its variables: repoint ${id}`)
}

/** What keeps a client on this machine from working, whatever the gateway answers, as `status` shows it. */
function showErrors(session: Session, here: readonly ClientNow[]): void {
  for (const now of here) {
    const errors = resultsOf(session, now).filter(({ severity }) => severity === 'error')
    for (const { message, hints, places } of foldFindings(errors)) {
      session.say(`! ${now.client.label}: ${message}`)
      for (const place of places) session.say(`    ${place}`)
      for (const hint of hints) session.say(`  → ${hint}`)
    }
  }
}

function tableRow({ client, model, protocol, facts }: WorkingClient): readonly string[] {
  return [`✔ ${client.label}`, model, protocol, yesNo(facts.images), yesNo(facts.reasoning)]
}

/** The failures by reason, because several clients can fail for the same one. */
function failuresIn(session: Session, results: readonly ClientResult[]) {
  const failures = new Map<
    string,
    { readonly message: string; readonly labels: string[]; readonly hint?: string }
  >()
  for (const { client, error } of results.filter(isFailed)) {
    const { message } = error
    const cure = error.hint && session.completeHint(error.hint, client.id)
    const hint = cure?.includes('repoint check ') ? undefined : cure
    const reason = withoutRequestId(message)
    const failure = failures.get(reason) ?? { message, labels: [], hint }
    failure.labels.push(client.label)
    failures.set(reason, failure)
  }
  return failures.values()
}

function yesNo(fact: boolean | undefined): string {
  if (fact === undefined) return '?'
  return fact ? 'yes' : 'no'
}

/** A client as `--json` prints it. */
function clientDocument(session: Session, result: ClientResult, here: readonly ClientNow[]) {
  const { id, label } = result.client
  const now = here.find(({ client }) => client.id === id)
  const obstacles = now && obstaclesDocument(resultsOf(session, now))
  const isByVariables = environmentRows.some((row) => row.id === id)
  const members = { id, label, configuredBy: isByVariables ? 'environment' : 'files' }
  if (result.kind === 'works') {
    const { model, protocol, facts } = result
    const proof = { works: true, tools: true, model, protocol, ...facts }
    return { ...members, ...proof, obstacles }
  }

  const { code, message } = result.error
  const hint = result.error.hint && session.completeHint(result.error.hint, id)
  return { ...members, works: false, code, message, hint, obstacles }
}
