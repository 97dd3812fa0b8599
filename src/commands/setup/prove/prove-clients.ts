import type { Client } from '../../../clients/contract/client.ts'
import type { RejectedModel } from '../../../clients/contract/setup.ts'
import { familyRows, loadClients } from '../../../clients/list.ts'
import { UserError } from '../../../errors.ts'
import type { Finding } from '../../../finding.ts'
import { askBalanceBeside, type BalanceBeside } from '../../../gateway/balance.ts'
import { catalogUnavailable } from '../../../gateway/catalog.ts'
import type { GatewayFinder } from '../../../gateway/gateway-finder.ts'
import { mayHelp } from '../../../gateway/judge/traits.ts'
import { nativeProtocol } from '../../../gateway/models/rules.ts'
import type { GatewayAccess } from '../../../gateway/types.ts'
import { expectTrustedBy } from '../../client-state/certificate-stores.ts'
import type { InstalledProgram } from '../../client-state/program.ts'
import type { ChosenOptions, GatewayAnswer, Proof, SetupContext } from '../request.ts'
import { askClient } from './ask-client.ts'
import { withModelFromUser } from './ask-for-model.ts'
import { askGateway, openGateway } from './ask-gateway.ts'
import { chooseAgain } from './choose-again.ts'
import { chooseModels } from './choose-models.ts'
import type { ProbeAnswer, Probes } from './probes.ts'
import { expectUsable, programFindings, programsOf } from './programs.ts'
import { probesFor } from './setup-probes.ts'
import {
  candidatesFor,
  probeChosen,
  rejectionsIn,
  runOrRecordFailure,
  type UnfinishedProof,
} from './unfinished-proof.ts'

export interface ProveOptions {
  /** If a client cannot use the gateway, that is an error before any model is probed. */
  readonly needsAll?: boolean
  /** Called once the catalog has answered or failed. Returns the context with the clients that the user chose. */
  readonly onAnswer?:
    | ((context: SetupContext, answer: GatewayAnswer) => Promise<SetupContext>)
    | undefined
}

/**
 * Steps 2 to 4 of a setup: asks the gateway for its catalog, resolves each client's options, and sends
 * each client's first request to each of its models, in parallel. A model that no client requests first
 * is not probed if the catalog lists it. A rejected model leads back to step 3. If the gateway only
 * admits certain clients, the installed clients themselves are asked. Writes none of the user's files.
 *
 * @throws UserError if no client can use the gateway: the key, the address, the network, the account
 */
export async function proveClients(
  started: SetupContext,
  foundAccess: GatewayAccess,
  { needsAll = false, onAnswer = async (context) => context }: ProveOptions = {},
): Promise<Proof> {
  const finder = openGateway(started, foundAccess)
  let balance: BalanceBeside | undefined

  try {
    const answer = await askGateway(started, finder)
    const { catalog, catalogError } = answer
    balance = askBalanceBeside(finder.access, catalog)

    const withClients = await onAnswer(started, answer)
    const context = await withModelFromUser(withClients, catalog)
    const programs = answer.programs ?? (await programsOf(context))
    const unfinished = startProof(context, finder, { ...answer, programs })

    for (const client of context.clients)
      await runOrRecordFailure(unfinished, client, async () =>
        expectUsable(context, client, finder.access, programs.get(client)),
      )
    const [firstFailure] = unfinished.failed.values()
    if (needsAll && firstFailure !== undefined) throw firstFailure

    await resolveAll(unfinished)
    await chooseAgain(unfinished)
    const proof = await proveChosen(unfinished)

    const remainingBalance = await balance?.answered()
    const isKeyEmpty = remainingBalance?.remaining === 0
    const findings = [
      ...(catalog?.findings ?? []),
      ...programFindings(context.session, programs),
      ...(catalogError === undefined ? [] : [catalogUnavailable(catalogError)]),
      ...proof.findings,
      ...(isKeyEmpty ? [emptyKey] : []),
    ]
    return { ...proof, balance: remainingBalance, findings }
  } finally {
    await balance?.end()
    await finder.hangUp()
  }
}

function startProof(
  context: SetupContext,
  finder: GatewayFinder,
  {
    catalog,
    catalogError,
    programs,
    earlyProbes,
  }: GatewayAnswer & {
    readonly programs: ReadonlyMap<Client, InstalledProgram>
    readonly earlyProbes: Probes | undefined
  },
): UnfinishedProof {
  const probes = probesFor(context, finder, {
    catalog,
    catalogError,
    programs,
    earlier: earlyProbes,
  })
  const { access } = finder
  const candidates = candidatesFor(context, { access, catalog, catalogError, programs, probes })
  return { context, finder, catalog, probes, candidates, chosen: new Map(), failed: new Map() }
}

/** Step 3, for every client that may still use the gateway. */
async function resolveAll(proof: UnfinishedProof): Promise<void> {
  for (const candidate of proof.candidates) {
    const { client } = candidate
    if (proof.failed.has(client)) continue
    await runOrRecordFailure(proof, client, async () => {
      const chosen = await chooseModels(candidate)
      if (chosen !== undefined) proof.chosen.set(client, chosen)
    })
  }
}

/** Step 4: a client whose chosen models do not all answer has failed. */
async function proveChosen(proof: UnfinishedProof): Promise<Proof> {
  const { context, finder, catalog, chosen, failed } = proof
  for (const client of [...chosen.keys()])
    await runOrRecordFailure(proof, client, () => expectTrustedBy(client, finder.access))

  const answersOf = await probeChosen(proof)
  const provenByClient = new Set<Client>()
  for (const [client, answers] of answersOf)
    await runOrRecordFailure(proof, client, async () => {
      const provenBy = await proveClient(proof, client, answers)
      if (provenBy === 'client') provenByClient.add(client)
      // The probes may have found out that the gateway accepts the key in another header only.
      expectUsable(context, client, finder.access)
    })

  const proven = [...chosen].map(([client, options]): [Client, ChosenOptions] => {
    const answersSafeguards = safeguardsIn(answersOf.get(client) ?? [])
    const isProvenByClient = provenByClient.has(client)
    return [
      client,
      { ...options, answersSafeguards, ...(isProvenByClient && { isProvenByClient }) },
    ]
  })
  const answers = [...chosen.keys()].flatMap((client) => answersOf.get(client) ?? [])
  const findings = answers.flatMap(({ result }) =>
    result.status === 'fulfilled' ? result.value.findings : [],
  )
  return {
    request: context.request,
    access: finder.access,
    catalog,
    chosen: new Map(proven),
    failed,
    findings: [...new Set(findings), ...(provenByClient.size > 0 ? [onlyCertainClients] : [])],
  }
}

/**
 * Proves one client by the answers to its probes. If the gateway rejects repoint's own request, but may
 * accept the installed client's, that client is asked.
 *
 * @throws UserError why a model does not work for this client
 */
async function proveClient(
  { context, finder: { access }, chosen }: UnfinishedProof,
  client: Client,
  answers: readonly ProbeAnswer[],
): Promise<'probes' | 'client'> {
  const rejections = rejectionsIn(answers)
  const finalRejection = rejections.find(({ error }) => !mayAcceptClient(context, error))
  if (finalRejection !== undefined)
    throw await withClientsOfMoreProtocols(finalRejection, client, access)

  const [rejection] = rejections
  if (rejection === undefined) return 'probes'
  await askClient(context.session, client, {
    access,
    chosen: chosen.get(client)!,
    rejection: rejection.error,
  })
  return 'client'
}

/** Whether the gateway answers the safeguards for every model. Undefined: they were not sent. */
function safeguardsIn(probed: readonly ProbeAnswer[]): boolean | undefined {
  const answers = probed.flatMap(({ result }) =>
    result.status === 'fulfilled' ? [result.value.answersSafeguards] : [],
  )
  if (answers.includes(false)) return false
  return answers.includes(true) || undefined
}

/** The gateway answered the probe although the balance is zero: some gateways allow a small debt. */
const emptyKey: Finding = {
  code: 'quota',
  message: 'The key has no credit left',
  hint: "Top it up on the gateway's page, or use another key: repoint key",
}

const onlyCertainClients: Finding = {
  code: 'proven-by-client',
  message: 'The gateway accepts only certain clients, so repoint asked the installed client',
}

/** Whether the gateway may accept the installed client's request, although it rejects repoint's. */
function mayAcceptClient({ request }: SetupContext, error: UserError): boolean {
  if (error.code === 'client-refused') return true
  return request.flags.tryClient === true && mayHelp('client', error)
}

/**
 * The error for a client that supports one protocol. If the gateway may serve the model over another
 * protocol, the hint names the clients that support more protocols.
 */
async function withClientsOfMoreProtocols(
  { model, protocol, error }: RejectedModel,
  client: Client,
  { baseUrl }: GatewayAccess,
): Promise<UserError> {
  if (client.protocols.length > 1) return error
  const isOtherNative = nativeProtocol(model) !== protocol
  const mayServeOtherwise =
    error.code === 'protocol-unsupported' || (error.code === 'tools-unsupported' && isOtherNative)
  if (!mayServeOtherwise) return error

  // A client with more protocols is more likely to work.
  const otherClients = (await loadClients(familyRows))
    .filter(({ family }) => family !== client.family)
    .filter(({ protocols }) => protocols.some((supported) => supported !== protocol))
    .toSorted((a, b) => b.protocols.length - a.protocols.length)
  const [first, ...more] = otherClients.map(({ id }) => id)

  const otherModel = isOtherNative ? ' Name another model: --model ID.' : ''
  const otherClient = `Use another client: repoint ${first} --base-url ${baseUrl} (or ${more.join(', ')})`
  return new UserError({
    code: error.code,
    message: error.message,
    hint: `${client.label} supports only the ${protocol} protocol.${otherModel} ${otherClient}`,
    cause: error,
  })
}
