/**
 * Steps 3 and 4 of a setup: resolves each client's options, and proves its models.
 *
 * In: an `AskedGateway`. Out: a `ProvenSetup`, with the choice of each client, or why it cannot use the
 * gateway.
 */
import type { Client } from '../../../clients/contract/client.ts'
import { catalogIn, type RejectedModel } from '../../../clients/contract/setup.ts'
import { familyRows, loadClients } from '../../../clients/list.ts'
import { UserError } from '../../../errors.ts'
import type { Finding } from '../../../finding.ts'
import { type Balance, startBalanceRequest } from '../../../gateway/balance.ts'
import { catalogUnavailable } from '../../../gateway/catalog.ts'
import {
  admitsOnlyClients,
  lacksProtocol,
  lacksTools,
  mayHelp,
} from '../../../gateway/judge/traits.ts'
import { nativeProtocol } from '../../../gateway/models/rules.ts'
import type { Catalog, GatewayAccess, SafeguardsAnswer } from '../../../gateway/types.ts'
import { expectTrustedBy } from '../../client-state/certificates.ts'
import { type ProbeAnswer, rejectionsIn } from '../../probes/probes.ts'
import type { ResolvedChoice } from '../../resolve/client-choice.ts'
import type { AskedGateway, SetupContext } from '../context.ts'
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

/** Step 4: a setup whose models have answered. With `--no-verify` they are only decided. */
export interface ProvenSetup extends SetupContext {
  /** The clients that can use the gateway, in the order of `clients`. */
  readonly choices: readonly ResolvedChoice[]
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
 * Resolves each client's options, and sends each client's first request to each of its models, in parallel. A
 * model that no client requests first is not probed if the catalog lists it. A rejected model leads back to
 * step 3. If the gateway admits only certain clients, the installed clients themselves are asked. Writes none
 * of the user's files.
 *
 * @throws UserError if no client can use the gateway: the key, the address, the network, the account;
 *   `cancelled` if the user skips every client
 */
export async function proveClients(
  initialContext: SetupContext,
  gateway: AskedGateway,
): Promise<ProvenSetup> {
  const { requester, catalogAnswer } = gateway
  const catalog = catalogIn(gateway)
  const balanceRequest = startBalanceRequest(requester.access, catalog)

  try {
    const context = await withModelFromUser(initialContext, catalog)
    const resolved = await resolveAll(context, gateway)
    const { results, findings } = await proveAll(context, gateway, resolved)

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
        ...findings,
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
  gateway: AskedGateway,
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
 * Step 4. Probes all models, and chooses again after a rejection, until no choice changes any more. That ends,
 * because a client tries no route twice (docs/choosing-models.md). In each round, a client without a new probe
 * also looks at its earlier answers again: the probes of another client may have found its base URL.
 */
async function proveAll(
  context: SetupContext,
  gateway: AskedGateway,
  resolved: readonly SetupResult[],
): Promise<ProofOfAll> {
  let results = resolved
  let toProbe = workingChoices(resolved)
  const answersOf = new Map<string, readonly ProbeAnswer[]>()
  for (;;) {
    for (const [id, answers] of await probeAll(context, gateway, toProbe))
      answersOf.set(id, answers)

    const changed: ResolvedChoice[] = []
    results = await continueWith(results, async (choice) => {
      const rejections = rejectionsIn(answersOf.get(choice.client.id)!)
      const attempt = await chooseAgain({ context, gateway, choice, rejections })
      if (attempt.kind === 'nothing-to-try') return choice
      changed.push(attempt.choice)
      return attempt.choice
    })
    if (results.every(({ kind }) => kind === 'skipped'))
      throw new UserError({ code: 'cancelled', message: 'You skipped every client' })

    if (changed.length === 0) return concludeAll(context, gateway, results, answersOf)
    toProbe = changed
  }
}

interface ProofOfAll {
  readonly results: readonly SetupResult[]
  readonly findings: readonly Finding[]
}

/** The answers to the probes of each client, by its ID. */
type Answers = ReadonlyMap<string, readonly ProbeAnswer[]>

/** Probes every model of these choices that was not probed yet. Returns the answers for all of them. */
async function probeAll(
  { session }: SetupContext,
  { probes }: AskedGateway,
  choices: readonly ResolvedChoice[],
): Promise<Answers> {
  const requestsOfAll = await Promise.all(
    choices.map(async (choice) => ({
      id: choice.client.id,
      requests: await probes.requestsOf(choice),
    })),
  )
  const newRequests = requestsOfAll
    .flatMap(({ requests }) => requests)
    .filter((request) => probes.isNew(request))
  const names = new Set(newRequests.map(({ model }) => model))

  const answers = Promise.all(
    requestsOfAll.map(async ({ id, requests }) => [id, await probes.answersTo(requests)] as const),
  )
  if (names.size === 0) return new Map(await answers)
  return new Map(await session.step(`Asking ${[...names].join(', ')} for one word`, answers))
}

/**
 * The end of step 4. A client whose chosen models do not all answer has failed, unless its installed program,
 * which this starts, gets an answer.
 */
async function concludeAll(
  context: SetupContext,
  { requester }: AskedGateway,
  chosen: readonly SetupResult[],
  answersOf: Answers,
): Promise<ProofOfAll> {
  const results = await continueWith(chosen, async (choice) => {
    const { client } = choice
    const answers = answersOf.get(client.id)!
    await expectTrustedBy(client, requester.access)
    const provenBy = await proveChoice(context, requester.access, choice, answers)
    expectCanSend(client, requester.access)
    return { ...choice, safeguards: safeguardsIn(answers), provenBy }
  })

  const choices = workingChoices(results)
  const findings = choices.flatMap(({ client }) =>
    answersOf
      .get(client.id)!
      .flatMap(({ result }) => (result.status === 'fulfilled' ? result.value.findings : [])),
  )
  const isAnyByClient = choices.some(({ provenBy }) => provenBy === 'client')
  return {
    results,
    findings: [...new Set(findings), ...(isAnyByClient ? [onlyCertainClients] : [])],
  }
}

/**
 * Returns what proves the models: the answers to the probes, or the installed client itself, if the gateway
 * may accept its request although it rejects repoint's.
 *
 * @throws UserError why a model does not work for this client
 */
async function proveChoice(
  context: SetupContext,
  access: GatewayAccess,
  choice: ResolvedChoice,
  answers: readonly ProbeAnswer[],
): Promise<'probe' | 'client'> {
  const rejections = rejectionsIn(answers)
  const [first] = rejections
  if (first === undefined) return 'probe'

  const finalRejection = rejections.find(({ error }) => !mayAcceptClient(context, error))
  if (finalRejection !== undefined)
    throw await errorNamingOtherClients(finalRejection, choice.client, access)
  await proveByClient(context.session, access, choice, first.error)
  return 'client'
}

/** What the gateway does with the safeguards. They are answered if it answers them for every model. */
function safeguardsIn(probed: readonly ProbeAnswer[]): SafeguardsAnswer {
  const answers = probed.flatMap(({ result }) =>
    result.status === 'fulfilled' ? [result.value.safeguards] : [],
  )
  if (answers.includes('unanswered')) return 'unanswered'
  return answers.includes('answered') ? 'answered' : 'not-asked'
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
 * protocol, the hint names the clients that support more protocols.
 */
async function errorNamingOtherClients(
  { model, protocol, error }: RejectedModel,
  client: Client,
  { address }: GatewayAccess,
): Promise<UserError> {
  if (client.protocols.length > 1) return error
  const isOtherNative = nativeProtocol(model) !== protocol
  const mayServeOtherwise = lacksProtocol(error) || (lacksTools(error) && isOtherNative)
  if (!mayServeOtherwise) return error

  // A client with more protocols is more likely to work.
  const otherClients = (await loadClients(familyRows))
    .filter(({ family }) => family !== client.family)
    .filter(({ protocols }) => protocols.some((supported) => supported !== protocol))
    .toSorted((a, b) => b.protocols.length - a.protocols.length)
  const [first, ...more] = otherClients.map(({ id }) => id)

  const otherModel = isOtherNative ? ' Name another model: --model ID.' : ''
  const otherClient = `Use another client: repoint ${first} --base-url ${address} (or ${more.join(', ')})`
  return error.with({
    hint: `${client.label} supports only the ${protocol} protocol.${otherModel} ${otherClient}`,
    cause: error,
  })
}
