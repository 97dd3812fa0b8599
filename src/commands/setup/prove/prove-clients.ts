/**
 * Steps 3 and 4 of a setup: resolves each client's options, and proves its models.
 *
 * In: a `ReachedGateway`. Out: a `ProvenSetup`, with the choice of each client, or why it cannot use the
 * gateway.
 */
import type { Client } from '../../../clients/contract/client.ts'
import { catalogIn, type RejectedModel } from '../../../clients/contract/setup.ts'
import { familyRows, loadClients } from '../../../clients/list.ts'
import { sendingFindings } from '../../../clients/plan/headers.ts'
import { UserError } from '../../../errors.ts'
import { blocksSetup, type Finding } from '../../../finding.ts'
import { type Balance, startBalanceRequest } from '../../../gateway/balance.ts'
import { catalogUnavailable } from '../../../gateway/catalog.ts'
import type { GatewayRequester } from '../../../gateway/gateway-requester.ts'
import {
  admitsOnlyClients,
  lacksProtocol,
  lacksTools,
  mayHelp,
} from '../../../gateway/judge/traits.ts'
import { nativeProtocol } from '../../../gateway/models/rules.ts'
import type { ProbeResult } from '../../../gateway/probe/probe.ts'
import type { Catalog, GatewayAccess, Protocol, SafeguardsAnswer } from '../../../gateway/types.ts'
import { expectTrustedBy } from '../../client-state/certificates.ts'
import { rejectionsIn } from '../../probes/probes.ts'
import type { ResolvedChoice } from '../../resolve/client-choice.ts'
import type { ReachedGateway, SetupContext } from '../context.ts'
import { withModelFromUser } from './ask-for-model.ts'
import { chooseAgain } from './choose-again.ts'
import { chooseModels } from './choose-models.ts'
import { expectCanSend, expectUsable, programFindings } from './programs.ts'
import { proveByClient } from './prove-by-client.ts'
import {
  continueWith,
  type FailedClient,
  failedClients,
  resultFor,
  type SetupResult,
  workingChoices,
} from './results.ts'

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
  readonly balance?: Balance | undefined
  /** What the user should know about the gateway. */
  readonly findings: readonly Finding[]
}

/**
 * Resolves each client's options. Then it probes, in parallel, the model of each client's first request, and its
 * other models that the catalog does not list. A rejected model leads back to step 3. If the gateway admits only
 * certain clients, repoint starts the installed clients instead. Writes none of the user's files.
 *
 * @throws UserError if no client can use the gateway: the key, the address, the network, the account;
 *   `cancelled` if the user skips every client
 */
export async function proveClients(
  initialContext: SetupContext,
  gateway: ReachedGateway,
): Promise<ProvenSetup> {
  const { requester, catalogAnswer } = gateway
  const catalog = catalogIn(gateway)
  const balanceRequest = startBalanceRequest(requester.access, catalog)

  try {
    const context = await withModelFromUser(initialContext, catalog)
    const resolvedResults = await resolveAll(context, gateway)
    const settledResults = await settleChoices(context, gateway, resolvedResults)
    const results = await continueWith(settledResults, (choice) =>
      proveChoice(context, gateway, choice),
    )

    const balance = await balanceRequest?.ifAnswered()
    const choices = workingChoices(results)
    return {
      ...context,
      choices,
      failed: failedClients(results),
      access: requester.access,
      catalog,
      balance,
      findings: [
        ...(catalog?.findings ?? []),
        ...(await programFindings(context)),
        ...(catalogAnswer.kind === 'failed' ? [catalogUnavailable(catalogAnswer.error)] : []),
        ...new Set(choices.flatMap(({ probeFindings }) => probeFindings)),
        ...(choices.some(({ provenBy }) => provenBy === 'client') ? [onlyCertainClients] : []),
        ...(balance?.remaining === 0 ? [emptyKey] : []),
      ],
    }
  } finally {
    await balanceRequest?.end()
  }
}

/** Step 3. */
async function resolveAll(
  context: SetupContext,
  gateway: ReachedGateway,
): Promise<readonly SetupResult[]> {
  const results: SetupResult[] = []
  for (const client of context.clients) {
    const result = await resultFor(client, async () => {
      await expectUsable(context, client, gateway.requester.access)
      return chooseModels(context, gateway, client)
    })
    results.push(result)
  }
  return results
}

/**
 * The rounds of step 4. A round probes all choices, then each client chooses again after a rejection. A round
 * that changes no choice is the last one. The rounds do end (docs/choosing-models.md).
 *
 * A client whose probes were answered in an earlier round may choose again too: meanwhile, the probes of
 * another client may have found its base URL.
 */
async function settleChoices(
  context: SetupContext,
  gateway: ReachedGateway,
  results: readonly SetupResult[],
): Promise<readonly SetupResult[]> {
  await probeAll(context, gateway, workingChoices(results))

  let isSettled = true
  const next = await continueWith(results, async (choice) => {
    const rejections = rejectionsIn(await gateway.probes.answersTo(choice))
    const again = await chooseAgain({ context, gateway, choice, rejections })
    if (again.kind === 'nothing-to-try') return choice
    isSettled = false
    return again.choice
  })
  if (next.every(({ kind }) => kind === 'skipped'))
    throw new UserError({ code: 'cancelled', message: 'You skipped every client' })

  return isSettled ? next : settleChoices(context, gateway, next)
}

/** Probes every model of these choices that was not probed yet, all at once. */
async function probeAll(
  { session }: SetupContext,
  { probes }: ReachedGateway,
  choices: readonly ResolvedChoice[],
): Promise<void> {
  const models = await probes.unsentModels(choices)
  const answers = Promise.all(choices.map((choice) => probes.answersTo(choice)))
  if (models.length === 0) await answers
  else await session.step(`Asking ${models.join(', ')} for one word`, answers)
}

/**
 * The end of step 4 for one client: its choice, with what has proven it.
 *
 * @throws UserError why the client cannot use the gateway
 */
async function proveChoice(
  context: SetupContext,
  gateway: ReachedGateway,
  choice: ResolvedChoice,
): Promise<ProvenChoice> {
  const { client } = choice
  const { access } = gateway.requester
  const answers = await gateway.probes.answersTo(choice)
  await expectTrustedBy(client, access)

  const rejections = rejectionsIn(answers)
  // The installed client itself cannot help here.
  const final = rejections.find(({ error }) => !mayAcceptClient(context, error))
  if (final !== undefined) throw await errorNamingOtherClients(context, gateway, client, final)

  const [rejection] = rejections
  if (rejection !== undefined) await proveByClient(context.session, access, choice, rejection.error)
  expectCanSend(client, access)

  const results = answers.flatMap(({ result }) =>
    result.status === 'fulfilled' ? [result.value] : [],
  )
  return {
    ...choice,
    safeguards: safeguardsIn(results),
    provenBy: rejection === undefined ? 'probe' : 'client',
    probeFindings: results.flatMap(({ findings }) => findings),
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

const onlyCertainClients: Finding = {
  code: 'proven-by-client',
  severity: 'note',
  message: 'The gateway accepts only certain clients, so repoint asked the installed client',
}

/** Whether the gateway may accept the installed client's request, although it rejects repoint's. */
function mayAcceptClient({ request }: SetupContext, error: UserError): boolean {
  if (admitsOnlyClients(error)) return true
  return request.flags.tryClient === true && mayHelp('client', error)
}

/**
 * The error for a client that supports one protocol. If the gateway may serve the model over another
 * protocol, the hint names other clients that may work.
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

  const [first, ...more] = await untriedClients(context, gateway.requester, protocol)
  const hints = [`${client.label} supports only the ${protocol} protocol.`]
  if (isOtherNative) hints.push('Name another model: --model ID.')
  if (first !== undefined) {
    const orMore = more.length === 0 ? '' : ` (or ${more.join(', ')})`
    const command = `repoint ${first} --base-url ${gateway.requester.access.address}`
    hints.push(`Another client may work: ${command}${orMore}`)
  }
  return error.with({ hint: hints.join(' '), cause: error })
}

/** The IDs of clients that may be able to use the gateway over another protocol. This command has not tried them. */
async function untriedClients(
  { clients }: SetupContext,
  { access }: GatewayRequester,
  rejected: Protocol,
): Promise<readonly string[]> {
  const triedFamilies = clients.map(({ family }) => family)
  const possible = (await loadClients(familyRows))
    .filter(({ family }) => !triedFamilies.includes(family))
    .filter(({ protocols }) => protocols.some((protocol) => protocol !== rejected))
    .filter((client) => ![...sendingFindings(client, access)].some(blocksSetup))
  // A client with more protocols is more likely to work.
  return possible.toSorted((a, b) => b.protocols.length - a.protocols.length).map(({ id }) => id)
}
