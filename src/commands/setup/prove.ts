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
import { authoritiesOf, expectBelieved } from '../client-state/certificate-stores.ts'
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
const usualChoice = 3

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
  given: SetupRun,
  reached: GatewayAccess,
  { needsAll = false, onAnswer = async (run) => run }: ProveOptions = {},
): Promise<ClientsProof> {
  const { session } = given
  const access = { ...reached, authorities: authoritiesOf(reached.env, given.clients) }
  const isMessagesGiven = given.request.flags.messagesUrl !== undefined
  const finder = new GatewayFinder(access, { isMessagesGiven })
  const isChosenLater = given.request.chooseClients !== undefined
  const count = given.clients.length
  if (count > 1)
    void preopenConnections(access, isChosenLater ? Math.min(count, usualChoice) : count)
  let balance: BalanceBeside | undefined

  try {
    const isExtra =
      !given.request.picksModel &&
      !isChosenLater &&
      given.clients.every((client) => isDecided(given, client, access))
    const asking = finder.askCatalog({ isExtra })
    const askedPrograms = isChosenLater ? undefined : programsOf(given)
    const starting = isExtra
      ? ifSlow(asking, access, (slow) =>
          startProbes(given, finder, { catalogError: slow, asked: askedPrograms! }),
        )
      : undefined
    const [answer, ofAll] = await session.step(
      'Asking the gateway for its models',
      Promise.all([asking, askedPrograms]),
    )
    const [catalog, catalogError] = answer instanceof UserError ? [undefined, answer] : [answer]
    if (catalogError !== undefined && !mayStillServe(catalogError)) throw catalogError
    balance = askBalanceBeside(finder.access, catalog)

    const chosen = await onAnswer(given, { access: finder.access, catalog, catalogError })
    const run = await withModelFromUser(chosen, catalog)
    const { clients } = run
    const programs = ofAll ?? (await programsOf(run))
    const gatewayInfo = { catalog, catalogError, rejected: [], gateway: finder.access }
    const probes = proberFor(run, finder, { answer, programs, earlier: await starting })
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

    const left = await balance?.answered()
    const notices = [
      ...(catalog?.findings ?? []),
      ...programFindings(session, programs),
      ...(catalogError === undefined ? [] : [catalogUnavailable(catalogError)]),
      ...proof.notices,
      ...(left?.remaining === 0 ? [emptyKey] : []),
    ]
    return { ...proof, balance: left, notices }
  } finally {
    await balance?.end()
    await finder.hangUp()
  }
}

/**
 * Does one client's part of a step. If that fails because of this client, the others go on.
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

/** Sends each client's first request with the files that the setup would write. */
function proberFor(
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
  {
    catalogError,
    asked,
  }: {
    readonly catalogError: UserError
    readonly asked: Promise<ReadonlyMap<Client, InstalledProgram>>
  },
): Promise<Probes> {
  const programs = await asked
  const probes = proberFor(run, finder, { answer: catalogError, programs })
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
      const other = overOtherProtocol(proving, current, resolving, answers)
      const next =
        other !== undefined && !(other instanceof UserError)
          ? other
          : await withOtherModel({
              proving,
              current,
              resolving,
              answers,
              replaced,
              noProtocol: other,
            })
      if (next === undefined && other !== undefined) throw other
      if (next === undefined) return
      isChanged = true
      if (next === 'left-out') proving.chosen.delete(client)
      else proving.chosen.set(client, next)
    })
  }
  return isChanged
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
  readonly replaced: Map<Client, number>
  /** Why no protocol is left for the model. */
  readonly noProtocol: UserError | undefined
}

/**
 * Another model for a client whose model the gateway rejected: by the rules if the model comes from an
 * earlier setup, or by the user. Undefined: there is none.
 */
async function withOtherModel({
  proving,
  current,
  resolving,
  answers,
  replaced,
  noProtocol,
}: Rejection): Promise<Chosen | 'left-out' | undefined> {
  const { run, catalog } = proving
  const times = replaced.get(resolving.client) ?? 0
  const refusals = refusalsIn(answers, catalog)
  const [refusal] = refusals
  const isByRules =
    refusal !== undefined &&
    times === 0 &&
    canChooseAgain(
      resolving,
      refusals.map(({ model }) => model),
    )
  const errors = [noProtocol ?? [], rejectionsIn(answers).map(({ error }) => error)].flat()
  const reason = errors.find((error) => traitsOf(error)?.blames === 'model')
  const mayAsk = run.consent === 'ask' && reason !== undefined && times < maxTries
  if (!isByRules && !mayAsk) return undefined

  replaced.set(resolving.client, times + 1)
  const gatewayInfo = withRejected(current, rejectionsIn(answers))
  const again = { ...resolving, gatewayInfo }
  const choice = isByRules
    ? await chooseModels({ ...again, refusal: refusal.error })
    : await askForOtherModel(again, current.input, reason!)
  return choice ?? 'left-out'
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
    await unlessFailed(proving, client, () => expectBelieved(client, access))

  const answersOf = await askAll(run.session, probes, chosen)
  const provenByClient = new Set<Client>()
  for (const [client, answers] of answersOf)
    await unlessFailed(proving, client, async () => {
      const rejected = answers.find(
        ({ result }) => result.status === 'rejected' && !mayAskClient(run, result.reason),
      )
      if (rejected?.result.status === 'rejected')
        throw await withOtherClients(rejected.result.reason, client, rejected, access)
      const [refused] = rejectionsIn(answers)
      if (refused !== undefined) {
        const { access } = finder
        await askClient(run.session, client, {
          access,
          chosen: chosen.get(client)!,
          refusal: refused.error,
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
  by: {
    readonly access: GatewayAccess
    readonly resolved: ResolvedOptions
    readonly catalog: Catalog | undefined
  },
): LoadedFiles {
  const { access, resolved, catalog } = by
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
  const all = [...chosen]
  const newIds = all.map(([client, { resolved }]) => probes.newIds(client, resolved))
  const names = new Set((await Promise.all(newIds)).flat())
  const answers = Promise.all(
    all.map(
      async ([client, { resolved: models }]) =>
        [client, await probes.askFor(client, models)] as const,
    ),
  )

  const asking =
    names.size === 0
      ? answers
      : session.step(`Asking ${[...names].join(', ')} for one word`, answers)
  return new Map(await asking)
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
function refusalsIn(
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
  const isOfModel = nativeProtocol(model) !== protocol
  const isMissing = error.code === 'protocol-unsupported'
  if (!isMissing && !(error.code === 'tools-unsupported' && isOfModel)) return error

  // A client with more protocols is more likely to work.
  const others = (await loadClients(familyRows))
    .filter(
      ({ family, protocols }) =>
        family !== client.family && protocols.some((one) => one !== protocol),
    )
    .toSorted((one, other) => other.protocols.length - one.protocols.length)
  const [first, ...more] = others.map(({ id }) => id)
  const otherModel = isOfModel ? ' Name another model: --model ID.' : ''
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
  programs: asked,
}: SetupRun): Promise<ReadonlyMap<Client, InstalledProgram>> {
  const programs = await Promise.all(
    clients.map(async (client) => {
      const program = asked?.get(client.id) ?? programOf(session, client)
      return [client, await program] as const
    }),
  )
  return new Map(programs)
}

/** What to report of programs that the setup goes on with. */
export function programFindings(
  session: Session,
  programs: ReadonlyMap<Client, InstalledProgram>,
): readonly Finding[] {
  const found = [...programs].flatMap(([client, program]) =>
    checkClient({ session, client, purpose: 'setup', program }),
  )
  return found.filter((finding) => !blocksSetup(finding))
}
