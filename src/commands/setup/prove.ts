import {
  type Client,
  type GatewayInfo,
  type LoadedFiles,
  protocolOf,
  type RejectedModel,
  type ResolvedOptions,
} from '../../clients/client.ts'
import { familyRows, loadClients } from '../../clients/list.ts'
import { asPlanned } from '../../clients/loaded-files.ts'
import { usualProtocol } from '../../clients/protocols.ts'
import { effectiveOptions, routesToProve } from '../../clients/resolve.ts'
import { ifPossible, UserError } from '../../errors.ts'
import { errorFrom, type Finding, isFinding } from '../../finding.ts'
import { askBalanceBeside, type BalanceBeside } from '../../gateway/balance.ts'
import { catalogUnavailable, mayStillServe } from '../../gateway/catalog.ts'
import { GatewayFinder } from '../../gateway/find-roots.ts'
import { preopenConnections } from '../../gateway/http/request.ts'
import { traitsOf } from '../../gateway/judge/traits.ts'
import { catalogEntry, nativeProtocol } from '../../gateway/models/rules.ts'
import { isSameRoots, rootOf } from '../../gateway/roots.ts'
import type { Catalog, GatewayAccess, ModelRoute } from '../../gateway/types.ts'
import { authoritiesOf, expectTrustedBy } from '../client-state/certificate-stores.ts'
import { blocksSetup, checkClient, refuseBlocked } from '../client-state/check-client.ts'
import { readClientFiles } from '../client-state/files.ts'
import { type InstalledProgram, programOf } from '../client-state/program.ts'
import type { Session } from '../screen/session.ts'
import { askClient } from './ask-client.ts'
import { ifSlow, isUnserved, type ProbeAnswer, Probes, sendersOf } from './probes.ts'
import type { Chosen, GatewayAnswer, Proof, SetupRun } from './request.ts'
import {
  askForOtherModel,
  canChooseAgain,
  chooseModels,
  isDecided,
  type ResolvingClient,
  resolveInputFor,
  withModelFromUser,
} from './resolve.ts'

/** What the gateway answered before anything was written. */
export interface Proven extends Proof {
  readonly notices: readonly Finding[]
}

/** The proof for several clients, of which some cannot use the gateway. */
export interface ClientsProof extends Proven {
  /** Why, by client. */
  readonly failed: ReadonlyMap<Client, UserError>
}

/** How many clients a user usually chooses from a list. */
const usualClientCount = 3

/** How often the user may name a model that the gateway rejects. */
const maxTries = 3

/** What steps 2 to 4 work with, once the gateway has answered. */
interface Proving {
  readonly run: SetupRun
  readonly access: GatewayAccess
  readonly finder: GatewayFinder
  readonly catalog: Catalog | undefined
  readonly probes: Probes
  readonly clients: readonly ResolvingClient[]
  /** The options of each client that may still use the gateway. */
  readonly chosen: Map<Client, Chosen>
  readonly failed: Map<Client, UserError>
}

export interface ProveOptions {
  /** A client that cannot work ends the run before a model is asked. */
  readonly needsAll?: boolean
  /** Called once the catalog has answered, or has failed. Returns the run with what the user chose. */
  readonly onAnswer?: ((run: SetupRun, answer: GatewayAnswer) => Promise<SetupRun>) | undefined
}

/**
 * Steps 2 to 4 of a setup: asks the gateway for its catalog, resolves each client's options, and sends
 * each client's first request to each of its models, in parallel. A model that no client requests first
 * is not probed if the catalog lists it. A rejected model leads back to step 3. If the gateway only
 * admits certain clients, the installed clients themselves are asked. Writes none of the user's files.
 *
 * @throws UserError if the fault is not one client's: the key, the address, the network, the account
 */
export async function proveClients(
  started: SetupRun,
  foundAccess: GatewayAccess,
  { needsAll = false, onAnswer = async (run) => run }: ProveOptions = {},
): Promise<ClientsProof> {
  const { session } = started
  const access = { ...foundAccess, authorities: authoritiesOf(foundAccess.env, started.clients) }
  const isMessagesGiven = started.request.flags.messagesUrl !== undefined
  const finder = new GatewayFinder(access, { isMessagesGiven })
  const isChosenLater = started.request.chooseClients !== undefined
  const count = started.clients.length
  if (count > 1)
    void preopenConnections(access, isChosenLater ? Math.min(count, usualClientCount) : count)
  let balance: BalanceBeside | undefined

  try {
    // Without the catalog, the setup can go on if every client's options are decided.
    const isExtra =
      !started.request.picksModel &&
      !isChosenLater &&
      started.clients.every((client) => isDecided(started, client, access))
    const catalogRequest = finder.askCatalog({ isExtra })
    const earlyPrograms = isChosenLater ? undefined : programsOf(started)
    const earlyProbes = isExtra
      ? ifSlow(catalogRequest, access, (catalogError) =>
          startProbes(started, finder, { catalogError, programs: earlyPrograms! }),
        )
      : undefined
    const [answer, knownPrograms] = await session.step(
      'Asking the gateway for its models',
      Promise.all([catalogRequest, earlyPrograms]),
    )
    const [catalog, catalogError] = answer instanceof UserError ? [undefined, answer] : [answer]
    if (catalogError !== undefined && !mayStillServe(catalogError)) throw catalogError
    balance = askBalanceBeside(finder.access, catalog)

    const withClients = await onAnswer(started, { access: finder.access, catalog, catalogError })
    const run = await withModelFromUser(withClients, catalog)
    const { clients } = run
    const programs = knownPrograms ?? (await programsOf(run))
    const gatewayInfo = { catalog, catalogError, rejected: [], gateway: finder.access }
    const probes = probesFor(run, finder, { answer, programs, earlier: await earlyProbes })
    const resolving = clients.map((client): ResolvingClient => {
      const { version, modelTable } = programs.get(client)!
      return { run, access, client, version, gatewayInfo: { ...gatewayInfo, modelTable }, probes }
    })
    const proving: Proving = {
      ...{ run, access, finder, catalog, probes, clients: resolving },
      chosen: new Map(),
      failed: new Map(),
    }

    for (const client of clients)
      await unlessFailed(proving, client, async () =>
        expectUsable(run, client, finder.access, programs.get(client)),
      )
    const [unusable] = proving.failed.values()
    if (needsAll && unusable !== undefined) throw unusable

    for (const one of resolving)
      if (!proving.failed.has(one.client))
        await unlessFailed(proving, one.client, () => resolve(proving, one))
    await resolveRejected(proving)
    const proof = await proveChosen(proving)

    const remainingBalance = await balance?.answered()
    const notices = [
      ...(catalog?.findings ?? []),
      ...programFindings(session, programs),
      ...(catalogError === undefined ? [] : [catalogUnavailable(catalogError)]),
      ...proof.notices,
      ...(remainingBalance?.remaining === 0 ? [emptyKey] : []),
    ]
    return { ...proof, balance: remainingBalance, notices }
  } finally {
    await balance?.end()
    await finder.hangUp()
  }
}

/**
 * Runs one client's part of a step. If that fails because of this client, the other clients go on.
 *
 * @throws UserError if the fault is not this client's
 */
async function unlessFailed(
  { chosen, failed }: Proving,
  client: Client,
  doStep: () => Promise<void>,
): Promise<void> {
  try {
    await doStep()
  } catch (error) {
    if (!(error instanceof UserError) || concernsAll(error)) throw error
    chosen.delete(client)
    failed.set(client, error)
  }
}

function concernsAll(error: UserError): boolean {
  const blamed = traitsOf(error)?.blames ?? 'client'
  const isOfOne = ['client', 'model', 'route', 'gateway', 'asker'].includes(blamed)
  return error.code === 'cancelled' || !isOfOne
}

/**
 * The checks that need no models and no files.
 *
 * @param program absent: it was not asked yet
 * @throws UserError `protocol-unsupported`, `client-too-old`, `client-version-unknown`
 */
export function expectUsable(
  { session, request }: SetupRun,
  client: Client,
  access: GatewayAccess,
  program?: InstalledProgram,
): void {
  // A new key changes nothing for a version that cannot use the gateway.
  const version = program && !request.isKeyOnly ? { program } : {}
  refuseBlocked(checkClient({ session, client, purpose: 'setup', access, ...version }))
}

/** The probes that send each client's first request with the files that the setup would write. */
function probesFor(
  run: SetupRun,
  finder: GatewayFinder,
  {
    answer,
    programs,
    earlier,
  }: {
    readonly answer: Catalog | UserError
    readonly programs: ReadonlyMap<Client, InstalledProgram>
    readonly earlier?: Probes | undefined
  },
): Probes {
  const catalog = answer instanceof UserError ? undefined : answer
  return new Probes(
    (...question) => finder.probe(...question),
    answer,
    (client, resolved) =>
      sendersOf(run.session, client, {
        texts: filesAfter(run, client, { access: finder.access, resolved, catalog }),
        ...programs.get(client)!,
      }),
    earlier,
  )
}

/** Sends the first requests of clients that need no catalog, while the catalog is slow. */
async function startProbes(
  run: SetupRun,
  finder: GatewayFinder,
  input: {
    readonly catalogError: UserError
    readonly programs: Promise<ReadonlyMap<Client, InstalledProgram>>
  },
): Promise<Probes> {
  const { catalogError } = input
  const programs = await input.programs
  const probes = probesFor(run, finder, { answer: catalogError, programs })
  for (const client of run.clients) {
    const { version, modelTable } = programs.get(client)!
    const gatewayInfo = {
      catalog: undefined,
      catalogError,
      rejected: [],
      modelTable,
      gateway: finder.access,
    }
    const input = resolveInputFor(run, client, finder.access, gatewayInfo)
    const resolved = client.resolve(input, version)
    if (!isFinding(resolved)) void probes.askFor(client, resolved)
  }
  return probes
}

/** Step 3, for one client. */
async function resolve({ chosen }: Proving, resolving: ResolvingClient): Promise<void> {
  const choice = await chooseModels(resolving)
  if (choice === undefined) chosen.delete(resolving.client)
  else chosen.set(resolving.client, choice)
}

/**
 * Probes the chosen models until no rejection leads back to step 3. There a client chooses another
 * protocol for the same model, or else, once, another model.
 */
async function resolveRejected(proving: Proving): Promise<void> {
  const replaced = new Map<Client, number>()
  for (;;) {
    const probed = await askAll(proving.run.session, proving.probes, proving.chosen)
    if (!(await resolveAgain(proving, probed, replaced))) break
  }
  if (proving.chosen.size + proving.failed.size === 0)
    throw new UserError({ code: 'cancelled', message: 'You skipped every client' })
}

/**
 * Returns whether the options of a client have changed.
 *
 * @param replaced how often the model of a client was replaced before
 */
async function resolveAgain(
  proving: Proving,
  probed: ReadonlyMap<Client, readonly ProbeAnswer[]>,
  replaced: Map<Client, number>,
): Promise<boolean> {
  let isChanged = false
  for (const resolving of proving.clients) {
    const { client } = resolving
    const current = proving.chosen.get(client)
    if (current === undefined) continue

    const answers = probed.get(client) ?? []
    await unlessFailed(proving, client, async () => {
      const next = await nextChoice({ proving, current, resolving, answers, replaced })
      if (next === undefined) return
      isChanged = true
      if (next === 'skipped') proving.chosen.delete(client)
      else proving.chosen.set(client, next)
    })
  }
  return isChanged
}

/**
 * The options of a client after the gateway rejected its models: over another protocol, or else with
 * another model. Undefined: they stay as they are.
 *
 * @throws UserError if no protocol is left for the model, and there is no other model
 */
async function nextChoice(rejection: Rejection): Promise<Chosen | 'skipped' | undefined> {
  const { proving, current, resolving, answers } = rejection
  const other = overOtherProtocol(proving, current, resolving, answers)
  if (other !== undefined && !(other instanceof UserError)) return other

  const withModel = await withOtherModel(rejection, other)
  if (withModel === undefined && other !== undefined) throw other
  return withModel
}

/**
 * The options of a client for which the gateway rejected a model over one of several protocols, or for
 * which a base URL turned out to be another one. Undefined: neither is the case.
 *
 * @returns the error if no protocol is left
 */
function overOtherProtocol(
  { finder, catalog }: Proving,
  current: Chosen,
  { client, version }: ResolvingClient,
  answers: readonly ProbeAnswer[],
): Chosen | UserError | undefined {
  if (client.protocols.length === 1) return undefined

  const rejections = rejectionsIn(answers).filter((one) => mayServeOtherwise(one, catalog))
  const known = current.input.gatewayInfo.gateway
  const isMoved =
    known?.baseUrls !== undefined && !isSameRoots(known.baseUrls, finder.access.baseUrls)
  if (rejections.length === 0 && !isMoved) return undefined

  const gatewayInfo = { ...withRejected(current, rejections), gateway: finder.access }
  const input = { ...current.input, gatewayInfo }
  const resolved = client.resolve(input, version)
  if (isFinding(resolved)) return errorFrom(resolved)

  // With some settings a client can use one protocol only.
  const routes = routesToProve(client, resolved, catalog)
  const again = gatewayInfo.rejected.find((rejected) =>
    routes.some(
      ({ model, protocol }) => model === rejected.model && protocol === rejected.protocol,
    ),
  )
  return again === undefined ? { ...current, input, resolved } : again.error
}

interface Rejection {
  readonly proving: Proving
  readonly current: Chosen
  readonly resolving: ResolvingClient
  readonly answers: readonly ProbeAnswer[]
  /** How often the model of a client was replaced before. */
  readonly replaced: Map<Client, number>
}

/**
 * Another model for a client whose model the gateway rejected: by the rules if the model comes from an
 * earlier setup, or by the user. Undefined: there is none.
 *
 * @param noProtocol why no protocol is left for the model
 */
async function withOtherModel(
  { proving, current, resolving, answers, replaced }: Rejection,
  noProtocol: UserError | undefined,
): Promise<Chosen | 'skipped' | undefined> {
  const { run, catalog } = proving
  const times = replaced.get(resolving.client) ?? 0
  const missing = missingModels(answers, catalog)
  const [firstMissing] = missing
  const isByRules =
    firstMissing !== undefined &&
    times === 0 &&
    canChooseAgain(
      resolving,
      missing.map(({ model }) => model),
    )
  const errors = [noProtocol ?? [], rejectionsIn(answers).map(({ error }) => error)].flat()
  const reason = errors.find((error) => traitsOf(error)?.blames === 'model')
  const mayAsk = run.consent === 'ask' && reason !== undefined && times < maxTries
  if (!isByRules && !mayAsk) return undefined

  replaced.set(resolving.client, times + 1)
  const gatewayInfo = withRejected(current, rejectionsIn(answers))
  const again = { ...resolving, gatewayInfo }
  const choice = isByRules
    ? await chooseModels({ ...again, refusal: firstMissing.error })
    : await askForOtherModel(again, current.input, reason!)
  return choice ?? 'skipped'
}

function withRejected(
  { input: { gatewayInfo } }: Chosen,
  rejections: readonly RejectedModel[],
): GatewayInfo {
  return { ...gatewayInfo, rejected: [...gatewayInfo.rejected, ...rejections] }
}

function rejectionsIn(answers: readonly ProbeAnswer[]): readonly RejectedModel[] {
  return answers.flatMap(({ model, protocol, result }) =>
    result.status === 'rejected' && result.reason instanceof UserError
      ? [{ model, protocol, error: result.reason }]
      : [],
  )
}

/** Whether the gateway may serve a model over another protocol that it rejected over this one. */
function mayServeOtherwise(
  { model, protocol, error }: RejectedModel,
  catalog: Catalog | undefined,
): boolean {
  if (traitsOf(error)?.mayBeOneProtocol !== true) return false
  const isListed = catalog && catalogEntry(catalog, model) !== undefined
  // A catalog that does not list the model agrees with the gateway that it is unknown.
  if (error.code === 'model-unknown') return isListed ?? protocol !== usualProtocol
  // Over its native protocol, a model without tools has none.
  if (error.code === 'tools-unsupported') return nativeProtocol(model) !== protocol
  // Without a catalog, a web page says that the address is wrong.
  return error.code !== 'not-an-api' || catalog !== undefined
}

/** Step 4: every chosen model must answer now. A client whose model does not answer has failed. */
async function proveChosen(proving: Proving): Promise<ClientsProof> {
  const { run, access, finder, catalog, probes, chosen, failed } = proving
  const { request } = run
  for (const client of [...chosen.keys()])
    await unlessFailed(proving, client, () => expectTrustedBy(client, access))

  const answersOf = await askAll(run.session, probes, chosen)
  const provenByClient = new Set<Client>()
  for (const [client, answers] of answersOf)
    await unlessFailed(proving, client, async () => {
      const rejected = answers.find(
        ({ result }) => result.status === 'rejected' && !mayAskClient(run, result.reason),
      )
      if (rejected?.result.status === 'rejected')
        throw await withOtherClients(rejected.result.reason, client, rejected, access)
      // Only rejections remain that the installed client itself may not get.
      const [rejection] = rejectionsIn(answers)
      if (rejection !== undefined) {
        await askClient(run.session, client, {
          access: finder.access,
          chosen: chosen.get(client)!,
          rejection: rejection.error,
        })
        provenByClient.add(client)
      }
      expectUsable(run, client, finder.access)
    })

  const answers = [...chosen.keys()].flatMap((client) => answersOf.get(client) ?? [])
  const findings = answers.flatMap(({ result }) =>
    result.status === 'fulfilled' ? result.value.notices : [],
  )
  const withSafeguards = [...chosen].map(([client, one]): [Client, Chosen] => {
    const answersSafeguards = safeguardsIn(answersOf.get(client) ?? [])
    const isProvenByClient = provenByClient.has(client)
    return [client, { ...one, answersSafeguards, ...(isProvenByClient && { isProvenByClient }) }]
  })
  return {
    request,
    access: finder.access,
    catalog,
    chosen: new Map(withSafeguards),
    failed,
    notices: [...new Set(findings), ...(provenByClient.size > 0 ? [onlyCertainClients] : [])],
  }
}

/** A client's files as the setup would leave them, with only the models that are probed. */
function filesAfter(
  run: SetupRun,
  client: Client,
  {
    access,
    resolved,
    catalog,
  }: {
    readonly access: GatewayAccess
    readonly resolved: ResolvedOptions
    readonly catalog: Catalog | undefined
  },
): LoadedFiles {
  const files = readClientFiles(run.session, client)
  if (run.request.isKeyOnly) return files

  const input = resolveInputFor(run, client, access, { catalog, rejected: [] })
  const { providerId = 'gateway' } = effectiveOptions(input)
  const ids = routesToProve(client, resolved, catalog).map(({ model }) => model)
  const offered = resolved.offered?.filter(({ id }) => ids.includes(id))
  const target = {
    baseUrl: rootOf(access, protocolOf(client, resolved)),
    baseUrls: access.baseUrls,
    key: access.key,
    providerId,
    input,
    resolved: { ...resolved, ...(offered && { offered }) },
  }
  const edits = ifPossible(() => client.plan(files, target))
  return edits === undefined ? files : asPlanned(files, edits)
}

/** Probes every chosen model that was not probed yet. */
async function askAll(
  session: Session,
  probes: Probes,
  chosen: ReadonlyMap<Client, Chosen>,
): Promise<ReadonlyMap<Client, readonly ProbeAnswer[]>> {
  const choices = [...chosen]
  const newIds = choices.map(([client, { resolved }]) => probes.newIds(client, resolved))
  const names = new Set((await Promise.all(newIds)).flat())
  const answers = Promise.all(
    choices.map(
      async ([client, { resolved }]) => [client, await probes.askFor(client, resolved)] as const,
    ),
  )
  if (names.size === 0) return new Map(await answers)
  return new Map(await session.step(`Asking ${[...names].join(', ')} for one word`, answers))
}

/** Whether the gateway answers the safeguards for every model. Undefined: they were not sent. */
function safeguardsIn(probed: readonly ProbeAnswer[]): boolean | undefined {
  const answers = probed.flatMap(({ result }) =>
    result.status === 'fulfilled' ? [result.value.answersSafeguards] : [],
  )
  if (answers.includes(false)) return false
  return answers.includes(true) || undefined
}

/**
 * Models that the gateway neither serves nor lists. If it lists a model and does not serve it, the fault
 * is the gateway's, and no reason to choose another model.
 */
function missingModels(
  answers: readonly ProbeAnswer[],
  catalog: Catalog | undefined,
): readonly RejectedModel[] {
  return rejectionsIn(answers).filter(
    ({ model, error }) => isUnserved(error) && catalogEntry(catalog, model) === undefined,
  )
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

/** Whether the installed client can tell more than this rejection of repoint's own request. */
function mayAskClient({ request }: SetupRun, error: unknown): boolean {
  if (!(error instanceof UserError)) return false
  if (error.code === 'client-refused') return true
  return request.flags.tryClient === true && traitsOf(error)?.curedByTryClient === true
}

/**
 * Why a model is not served to a client that supports one protocol. If another protocol may serve the model,
 * the hint names the clients that support more.
 */
async function withOtherClients(
  error: unknown,
  client: Client,
  { model, protocol }: ModelRoute,
  { baseUrl }: GatewayAccess,
): Promise<unknown> {
  if (!(error instanceof UserError) || client.protocols.length > 1) return error
  const isOtherNative = nativeProtocol(model) !== protocol
  const isUnsupported = error.code === 'protocol-unsupported'
  if (!isUnsupported && !(error.code === 'tools-unsupported' && isOtherNative)) return error

  // A client with more protocols is more likely to work.
  const others = (await loadClients(familyRows))
    .filter(
      ({ family, protocols }) =>
        family !== client.family && protocols.some((one) => one !== protocol),
    )
    .toSorted((one, other) => other.protocols.length - one.protocols.length)
  const [first, ...more] = others.map(({ id }) => id)
  const otherModel = isOtherNative ? ' Name another model: --model ID.' : ''
  const otherClient = `Use another client: repoint ${first} --base-url ${baseUrl} (or ${more.join(', ')})`
  return new UserError({
    code: error.code,
    message: error.message,
    hint: `${client.label} supports only the ${protocol} protocol.${otherModel} ${otherClient}`,
    cause: error,
  })
}

/** The installed programs of the clients. */
export async function programsOf({
  session,
  clients,
  programs: started,
}: SetupRun): Promise<ReadonlyMap<Client, InstalledProgram>> {
  const programs = await Promise.all(
    clients.map(async (client) => {
      const program = started?.get(client.id) ?? programOf(session, client)
      return [client, await program] as const
    }),
  )
  return new Map(programs)
}

/** The findings about programs that do not stop the setup. */
export function programFindings(
  session: Session,
  programs: ReadonlyMap<Client, InstalledProgram>,
): readonly Finding[] {
  const findings = [...programs].flatMap(([client, program]) =>
    checkClient({ session, client, purpose: 'setup', program }),
  )
  return findings.filter((finding) => !blocksSetup(finding))
}
