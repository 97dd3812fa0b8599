/**
 * Steps 2 to 4 of a setup: reads the list of models, resolves each client's options, and proves its models.
 *
 * In: a gateway to ask. Out: a `ProvenSetup`, with the choice of each client, or why it cannot use the gateway.
 */
import type { Client } from '../../../clients/contract/client.ts'
import type { LoadedFiles } from '../../../clients/contract/files.ts'
import { defaultProviderId } from '../../../clients/contract/options.ts'
import {
  catalogIn,
  ModelNeeded,
  type RejectedModel,
  type Sample,
} from '../../../clients/contract/setup.ts'
import { familyRows, loadClients } from '../../../clients/list.ts'
import { usualProtocol } from '../../../clients/models/protocols.ts'
import { effectiveOptions, modelsIn } from '../../../clients/options/chosen-options.ts'
import { sendingFindings } from '../../../clients/plan/headers.ts'
import { canContinueAfter, UserError } from '../../../errors.ts'
import { blocksSetup, type Finding } from '../../../finding.ts'
import { type Balance, type BalanceRequest, startBalanceRequest } from '../../../gateway/balance.ts'
import { catalogUnavailable } from '../../../gateway/catalog.ts'
import { GatewayRequester } from '../../../gateway/gateway-requester.ts'
import { preopenConnections } from '../../../gateway/http/request.ts'
import {
  admitsOnlyClients,
  lacksProtocol,
  lacksRoute,
  lacksTools,
  traitsOf,
} from '../../../gateway/judge/traits.ts'
import { nativeProtocol, supportsAny, supportsProtocol } from '../../../gateway/models/rules.ts'
import type { ProbeResult } from '../../../gateway/probe/probe.ts'
import {
  type Catalog,
  type GatewayAccess,
  type Protocol,
  protocols,
  type SafeguardsAnswer,
} from '../../../gateway/types.ts'
import { savedGatewayFor } from '../../../state/save-gateway.ts'
import { authoritiesOf, expectTrustedBy } from '../../client-state/certificates.ts'
import { readClientFiles } from '../../client-state/client-files.ts'
import { isInstalled } from '../../client-state/program/installed-program.ts'
import {
  firstRequestsOf,
  plannedFiles,
  readableFiles,
  sampleRequestOf,
} from '../../prove/first-requests.ts'
import { type Answer, type Ask, prove } from '../../prove/prove.ts'
import { type ResolvedChoice, resolveClient } from '../../resolve/client-choice.ts'
import type { Session } from '../../screen/session.ts'
import { canAskUser, type ReachedGateway, requestedOptions, type SetupContext } from '../context.ts'
import { withModelFromUser } from './ask-for-model.ts'
import { chooseAgain } from './choose-again.ts'
import { chooseModels, needsNoCatalog, openChoice, whyGuessed } from './choose-models.ts'
import { expectCanSend, expectUsable, programFindings, startPrograms } from './programs.ts'

/** A client after step 4. */
export interface ProvenChoice extends ResolvedChoice {
  /**
   * What has proven the models. `client`: the gateway rejects repoint's own request, and answers the client.
   * `nothing`: with `--no-verify`, nobody asks the gateway.
   */
  readonly provenBy: 'probe' | 'client' | 'nothing'
  /** Whether the gateway answers Claude Code's check of tool calls. */
  readonly safeguards: SafeguardsAnswer
  /** What the answers to the probes say about the gateway, such as that it does not stream. */
  readonly probeFindings: readonly Finding[]
}

/** A client that cannot use the gateway, and why. */
export interface FailedClient {
  readonly kind: 'failed'
  readonly client: Client
  readonly error: UserError
}

/** A setup after step 4. */
export interface ProvenSetup extends SetupContext {
  /** The clients that can use the gateway, in the order of `clients`. */
  readonly choices: readonly ProvenChoice[]
  /** The clients that cannot use it. */
  readonly failed: readonly FailedClient[]
  /** With the base URLs and the key header that the gateway has accepted. */
  readonly access: GatewayAccess
  readonly catalog: Catalog | undefined
  /** The balance of the key. Absent: the gateway does not report it, or not in time. */
  readonly balance?: Balance
  /** What the user should know about the gateway. */
  readonly findings: readonly Finding[]
}

/** How many clients a user usually chooses from a list. */
const usualClientCount = 3

/** Opens the connections that the first requests will need, while the list of models is on its way. */
export function openGateway(context: SetupContext, foundAccess: GatewayAccess): GatewayRequester {
  const { clients, request } = context
  const access = { ...foundAccess, authorities: authoritiesOf(foundAccess.env, clients) }
  const count = request.chooseClients ? Math.min(clients.length, usualClientCount) : clients.length
  if (clients.length > 1) void preopenConnections(access, count)
  return new GatewayRequester(access, { isMessagesGiven: request.flags.messagesUrl !== undefined })
}

/**
 * Proves, for each client, the model of its first request, and its other models that the catalog does not list. If
 * the gateway rejects a client's request, the installed client itself decides. Writes none of the user's
 * files.
 *
 * @param chosenClients the context with the clients that the user chooses once the gateway has answered
 * @throws UserError if no client can use the gateway: the key, the address, the network, the account;
 *   `cancelled` if the user skips every client
 */
export async function proveClients(
  initialContext: SetupContext,
  requester: GatewayRequester,
  chosenClients: (gateway: ReachedGateway) => Promise<SetupContext> = async () => initialContext,
): Promise<ProvenSetup> {
  const { request } = initialContext
  const userChooses = request.chooseClients !== undefined || request.picksModel === true
  const isNamed = initialContext.clients.every(
    (client) => requestedOptions(request, client).model !== undefined,
  )
  const isModelKnown = !userChooses && (needsNoCatalog(initialContext, requester.access) || isNamed)
  // A list of clients appears at once. The command that shows it has started the programs.
  const started = request.chooseClients ? undefined : startPrograms(initialContext)
  let context = initialContext
  let balanceRequest: BalanceRequest | undefined

  try {
    const proof = await prove<ResolvedChoice>(initialContext.session, requester, {
      isModelKnown,
      asksFor: async (catalogAnswer) => {
        await started
        const gateway = { requester, catalogAnswer }
        const catalog = catalogIn(gateway)
        if (request.chooseClients) await expectServing(initialContext, gateway)
        context = await chosenClients(gateway)
        balanceRequest = startBalanceRequest(requester.access, catalog)
        context = await withModelFromUser(context, catalog)
        return context.clients.map((client) => askOf(context, gateway, client))
      },
    })
    if (proof.fault !== undefined) throw proof.fault
    if (proof.answers.every(({ kind }) => kind === 'skipped'))
      throw new UserError({ code: 'cancelled', message: 'You skipped every client' })

    const gateway = { requester, catalogAnswer: proof.list }
    const choices: ProvenChoice[] = []
    const failed: FailedClient[] = []
    for (const [index, client] of context.clients.entries()) {
      const answer = withSharedReason(client, proof.answers[index]!, proof.answers)
      const result = await resultOf(context, gateway, client, answer)
      if (result === undefined) continue
      if ('kind' in result) failed.push(result)
      else choices.push(result)
    }

    const catalog = catalogIn(gateway)
    const balance = await balanceRequest?.ifAnswered()
    return {
      ...context,
      choices,
      failed,
      access: requester.access,
      catalog,
      balance,
      findings: [
        ...(await programFindings(context)),
        ...(proof.list.kind === 'failed' ? [catalogUnavailable(proof.list.error)] : []),
        ...new Set(choices.flatMap(({ probeFindings }) => probeFindings)),
        ...(balance?.remaining === 0 ? [emptyKey] : []),
      ],
    }
  } finally {
    await balanceRequest?.end()
  }
}

/**
 * Without a list, sends the first request of clients that need none, before the user chooses clients: a web page, a
 * firewall or a faulty gateway answers all of them alike.
 *
 * @throws UserError why no client can use the gateway
 */
async function expectServing(context: SetupContext, gateway: ReachedGateway): Promise<void> {
  const { clients } = context
  const { catalogAnswer } = gateway
  if (catalogAnswer.kind !== 'failed' || !stopsEveryClient(catalogAnswer.error)) return

  let reason = catalogAnswer.error
  for (const client of clients) {
    const resolution = resolveClient(await openChoice(context, gateway, client))
    if (resolution.kind !== 'decided') continue
    const error = await firstError(context, gateway, resolution.choice)
    if (error === undefined || !stopsEveryClient(error)) return
    reason = error
  }
  throw reason
}

/**
 * Whether a gateway has the protocol of a client: no model helps at one that lacks it. If the list names models that
 * may have it, a client with one protocol sends a first request before the user chooses among them.
 *
 * @throws UserError `protocol-unsupported`, `wrong-route`
 */
async function expectProtocol(
  context: SetupContext,
  gateway: ReachedGateway,
  client: Client,
): Promise<void> {
  const models = catalogIn(gateway)?.models ?? []
  const listed = models.find((model) => supportsAny(model, client.protocols))
  const open = await openChoice(context, gateway, client)
  const [protocol] = client.protocols

  const isNamed = modelsIn(effectiveOptions(open.input)).length > 0
  if (models.length > 0 && listed === undefined && !isNamed) {
    const error = new UserError({
      code: 'protocol-unsupported',
      message: `The gateway has no model for the ${client.protocols.join(' or ')} protocol`,
    })
    const rejection = { model: models[0]!.id, protocol, error }
    throw await errorNamingOtherClients(context, gateway, client, rejection)
  }
  if (!canAskUser(context) || client.protocols.length > 1 || listed === undefined) return

  const byRules = resolveClient(open)
  if (byRules.kind === 'impossible') return
  if (byRules.kind === 'decided' && whyGuessed(byRules.choice) === undefined) return

  const input = { ...open.input, modelForAll: listed.id }
  const guess = resolveClient({ ...open, input })
  if (guess.kind !== 'decided') return
  const error = await firstError(context, gateway, guess.choice)
  if (error === undefined || !(lacksProtocol(error) || lacksRoute(error))) return
  const rejection = { model: listed.id, protocol, error }
  throw await errorNamingOtherClients(context, gateway, client, rejection)
}

/** Why the gateway rejects the first request of a choice. Undefined: the gateway answers it. */
async function firstError(
  context: SetupContext,
  gateway: ReachedGateway,
  choice: ResolvedChoice,
): Promise<UserError | undefined> {
  const { session } = context
  const { requester, catalogAnswer } = gateway
  const before = readableFiles(session, choice.client)
  const files = plannedFilesOf(context, gateway, choice, before)
  const [request] = await firstRequestsOf(session, choice, files)
  const isAsked = catalogAnswer.kind === 'received' || catalogAnswer.kind === 'failed'
  const probe = requester.probe({ ...request!, ...(isAsked && { catalog: catalogAnswer }) })
  try {
    await session.step(`Asking ${request!.model} for one word`, probe)
    return undefined
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
}

/** Whether no client would get another answer, if the list and a first request fail like this. */
function stopsEveryClient(error: UserError): boolean {
  const blames = traitsOf(error)?.blames
  if (blames === undefined || lacksRoute(error) || admitsOnlyClients(error)) return false
  return blames !== 'model' && blames !== 'route' && blames !== 'header'
}

/** What a client asks the gateway: its first request, with its models by its rules or from the user. */
function askOf(
  context: SetupContext,
  gateway: ReachedGateway,
  client: Client,
): Ask<ResolvedChoice> {
  const { session } = context
  const before = readableFiles(session, client)
  const filesAfter = (choice: ResolvedChoice) => plannedFilesOf(context, gateway, choice, before)
  return {
    first: async () => {
      await expectUsable(context, client, gateway.requester.access)
      await expectProtocol(context, gateway, client)
      return chooseModels(context, gateway, client)
    },
    requestsOf: (choice) =>
      choice.answered ? [] : firstRequestsOf(session, choice, filesAfter(choice)),
    next: (choice, rejections) => chooseAgain({ context, gateway, choice, rejections }),
    ...(context.policy.provesLists && {
      withSamples: (choice, samples) =>
        choice.answered ? choice : withSamples(gateway, choice, samples),
      nextSample: async (choice) =>
        choice.answered ? undefined : sampleRequestOf(session, choice, filesAfter(choice)),
    }),
  }
}

/** The choice with the list that these answers allow. Its models stay as they were proven. */
function withSamples(
  { requester: { access } }: ReachedGateway,
  choice: ResolvedChoice,
  samples: readonly Sample[],
): ResolvedChoice {
  const { input, resolved } = choice
  const { probeModel: model, protocol } = resolved
  const { rejections } = input.gatewayInfo
  const gatewayInfo = {
    ...input.gatewayInfo,
    accessSoFar: access,
    samples: [{ model, protocol }, ...rejections, ...samples],
  }
  const next = resolveClient({ ...choice, input: { ...input, gatewayInfo } })
  if (next.kind !== 'decided') return choice
  const isSame =
    next.choice.resolved.probeModel === model && next.choice.resolved.protocol === protocol
  return isSame ? { ...choice, ...next.choice, replacements: choice.replacements } : choice
}

/** A client's files as the setup would leave them. */
function plannedFilesOf(
  { session, policy }: SetupContext,
  { requester: { access } }: ReachedGateway,
  choice: ResolvedChoice,
  before: LoadedFiles,
): LoadedFiles {
  const { client, input } = choice
  if (!policy.writesOptions) return readClientFiles(session, client)
  const { providerId = defaultProviderId } = effectiveOptions(input)
  return plannedFiles(before, choice, access, providerId)
}

/**
 * The answer of a client that could not choose its models, if the gateway lacks its only protocol: then no model helps,
 * and the reason is the rejection that another client got over it.
 */
function withSharedReason(
  { protocols: [protocol, ...others] }: Client,
  answer: Answer<ResolvedChoice>,
  answers: readonly Answer<ResolvedChoice>[],
): Answer<ResolvedChoice> {
  const isOpen = answer.kind === 'failed' && answer.error instanceof ModelNeeded
  const isServed = answers.some(
    (one) => one.kind === 'works' && one.choice.resolved.protocol === protocol,
  )
  if (!isOpen || others.length > 0 || isServed) return answer
  const shared = answers.find(
    (one) =>
      one.kind === 'failed' &&
      one.rejected?.rejection.protocol === protocol &&
      lacksProtocol(one.rejected.rejection.error),
  )
  return shared ?? answer
}

/** What a client uses, or why it cannot use the gateway. Undefined: the user has skipped it. */
async function resultOf(
  context: SetupContext,
  gateway: ReachedGateway,
  client: Client,
  answer: Answer<ResolvedChoice>,
): Promise<ProvenChoice | FailedClient | undefined> {
  if (answer.kind === 'skipped') return undefined
  try {
    return await provenChoice(context, gateway, client, answer)
  } catch (error) {
    if (!canContinueAfter(error)) throw error
    return { kind: 'failed', client, error }
  }
}

/** @throws UserError why the client cannot use the gateway */
async function provenChoice(
  context: SetupContext,
  gateway: ReachedGateway,
  client: Client,
  answer: Exclude<Answer<ResolvedChoice>, { readonly kind: 'skipped' }>,
): Promise<ProvenChoice> {
  const { access } = gateway.requester
  if (answer.kind === 'failed') {
    const { error, rejected } = answer
    if (rejected === undefined) throw error
    await expectTrustedBy(client, access)
    throw await errorNamingOtherClients(context, gateway, client, { ...rejected.rejection, error })
  }

  await expectTrustedBy(client, access)
  expectCanSend(client, access)
  const { choice, results } = answer
  const { answered, cured } = choice
  return {
    ...choice,
    safeguards: safeguardsIn(results),
    provenBy: answered ? 'client' : 'probe',
    probeFindings: [
      ...(cured?.findings ?? []),
      ...(answered ? [answered] : results.flatMap(({ findings }) => findings)),
    ],
  }
}

/** What the gateway does with the safeguards. They are answered if it answers them for every model. */
function safeguardsIn(results: readonly ProbeResult[]): SafeguardsAnswer {
  const answers = results.map(({ safeguards }) => safeguards)
  if (answers.includes('unanswered')) return 'unanswered'
  return answers.includes('answered') ? 'answered' : 'not-requested'
}

/** The gateway answered the probe although the balance is zero: some gateways allow a small debt. */
const emptyKey: Finding = {
  code: 'quota',
  severity: 'note',
  message: 'The key has no credit left',
  hint: "Top it up on the gateway's page, or use another key: repoint key",
}

/**
 * The error for a client that supports one protocol. If the gateway may serve the model over another
 * protocol, the hint names other clients that may work, and asks for another model only if one may be native to the
 * protocol of the client.
 */
async function errorNamingOtherClients(
  context: SetupContext,
  gateway: ReachedGateway,
  client: Client,
  { model, protocol, error }: RejectedModel,
): Promise<UserError> {
  if (client.protocols.length > 1) return error
  const isOtherNative = nativeProtocol(model) !== protocol
  const mayServeOtherwise = lacksProtocol(error) || (lacksTools(error) && isOtherNative)
  if (!mayServeOtherwise) return error

  const [first, ...more] = await untriedClients(context, gateway, protocol)
  const hints = [`${client.label} supports only the ${protocol} protocol.`]
  const models = catalogIn(gateway)?.models
  const mayHaveNative = models?.some(
    (listed) => nativeProtocol(listed.id) === protocol && supportsAny(listed, [protocol]),
  )
  if (isOtherNative && mayHaveNative !== false) hints.push('Name another model: {--model ID}.')
  if (first !== undefined) {
    const orMore = more.length === 0 ? '' : ` (or ${more.join(', ')})`
    const command = setupCommand(context.session, [first], gateway.requester.access)
    hints.push(`Another client may work: ${command}${orMore}`)
  }
  return error.with({ hint: hints.join(' '), cause: error })
}

/** The command that sets clients up with this gateway: by its name if it is saved with this key. */
export function setupCommand(
  session: Session,
  ids: readonly string[],
  access: GatewayAccess,
): string {
  const saved = savedGatewayFor(session.platform, access)
  if (saved?.key === access.key) return `repoint use ${saved.name} ${ids.join(' ')}`

  const command = ids.length === 1 ? 'repoint' : 'repoint setup'
  const name = access.name === undefined ? '' : ` --name ${access.name}`
  return `${command} ${ids.join(' ')} --base-url ${access.address}${name}`
}

/**
 * The IDs of clients that may be able to use the gateway over another protocol. This command has not tried them. Those
 * that are not installed count only if none is.
 */
async function untriedClients(
  { clients, session }: SetupContext,
  gateway: ReachedGateway,
  rejected: Protocol,
): Promise<readonly string[]> {
  const triedFamilies = clients.map(({ family }) => family)
  const likely = likelyProtocols(catalogIn(gateway)).filter((protocol) => protocol !== rejected)
  const possible = (await loadClients(familyRows))
    .filter(({ family }) => !triedFamilies.includes(family))
    .filter(({ protocols }) => protocols.some((protocol) => likely.includes(protocol)))
    .filter((client) => ![...sendingFindings(client, gateway.requester.access)].some(blocksSetup))
  const installed = possible.filter((client) => isInstalled(session, client))
  const named = installed.length > 0 ? installed : possible
  // A client with more protocols is more likely to work.
  return named.toSorted((a, b) => b.protocols.length - a.protocols.length).map(({ id }) => id)
}

/** The protocols that the list states. If it states none, those that its models are native to, and the usual one. */
function likelyProtocols(catalog: Catalog | undefined): readonly Protocol[] {
  if (catalog === undefined) return protocols
  const stated = protocols.filter((protocol) =>
    catalog.models.some((model) => supportsProtocol(model, protocol) === true),
  )
  if (stated.length > 0) return stated
  return [usualProtocol, ...catalog.models.map(({ id }) => nativeProtocol(id))]
}
