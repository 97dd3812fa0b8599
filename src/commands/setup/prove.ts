import {
  type Client,
  type ClientOptions,
  defaultSlot,
  type GatewayInfo,
  type LoadedFiles,
  overProtocol,
  protocolOf,
  type RejectedModel,
  type ResolvedOptions,
} from '../../clients/client.ts'
import { expectSendable } from '../../clients/headers.ts'
import { familyRows, loadClients, rowOf } from '../../clients/list.ts'
import { asPlanned } from '../../clients/loaded-files.ts'
import { effectiveOptions, routesToProve } from '../../clients/resolve.ts'
import { compact } from '../../compact.ts'
import { ifPossible, resultOf, UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { askBalanceBeside, type BalanceBeside, shownBalance } from '../../gateway/balance.ts'
import { catalogUnavailable, mayStillServe } from '../../gateway/catalog.ts'
import { GatewayFinder } from '../../gateway/find-roots.ts'
import { preopenConnections } from '../../gateway/http/request.ts'
import type { ImportLink } from '../../gateway/input/link.ts'
import { traitsOf } from '../../gateway/judge/traits.ts'
import { nativeProtocol } from '../../gateway/models/rules.ts'
import { isSameRoots, rootOf, unusualRoots } from '../../gateway/roots.ts'
import type { Catalog, Gateway, GatewayAccess, ModelRoute } from '../../gateway/types.ts'
import { checkNameIsFree } from '../../state/save-gateway.ts'
import { authoritiesOf, expectBelieved } from '../client-state/certificate-stores.ts'
import { readClientFiles } from '../client-state/files.ts'
import {
  expectWorking,
  type InstalledProgram,
  programOf,
  versionFindings,
} from '../client-state/program.ts'
import {
  type FoundGateway,
  findGateway,
  type GatewayInUse,
  gatewaysInUse,
  namesGateway,
  type Preset,
} from '../find-gateway.ts'
import type { Session } from '../screen/session.ts'
import { isUnserved, type ProbeAnswer, Probes, sendersOf } from './probes.ts'
import type { Chosen, Proof, ProvenRun, SetupRun } from './request.ts'
import {
  canChooseAgain,
  chooseModels,
  isDecided,
  noGatewayInfo,
  type ResolvingClient,
  requestedFor,
  resolveInputFor,
  withModelFromUser,
} from './resolve.ts'

interface Proven extends Proof {
  readonly notices: readonly Finding[]
}

/** How often the user may type an address or a key that does not work. */
const maxTries = 3

/**
 * Steps 1 to 4 of a setup: finds the gateway, asks it, resolves each client's options and proves them. If
 * the gateway rejects what the user typed, repoint asks for it again. If it came from a flag or the
 * environment, that is an error.
 */
export async function findProvenGateway(given: SetupRun): Promise<ProvenRun> {
  const { session, request, runs } = given
  const { flags } = request
  const inUse = request.isKeyOnly ? [] : await gatewaysInUse(session, runs)
  let preset: Preset = {
    lastBaseUrl: runs[0]?.baseUrl,
    inUse: session.canAsk ? inUse : [],
    gateway: currentGateway(given, inUse),
    ...request.preset,
  }

  for (let tries = 1; ; tries++) {
    const found = await findGateway(session, flags, preset)
    const run = found.link === undefined ? given : withLink(given, found.link)

    checkNameIsFree(session.platform, flags.name, found.access.baseUrl)
    for (const client of run.clients) expectSendable(client, found.access)
    try {
      const { notices, ...proof } = await proofOf(run, found.access)
      const { access, chosen } = proof
      for (const client of chosen.keys()) expectSendable(client, access)
      session.addFindings(...found.notices, ...keyHeaderFindings(found.access, access), ...notices)
      if (flags.verify && !proof.isLeftToClients) showProof(session, proof)
      return { ...run, ...proof, clients: [...chosen.keys()] }
    } catch (error) {
      const next =
        nextOfLink(error, found, preset) ??
        (tries < maxTries ? retryWith(error, found, preset) : undefined)
      if (next === undefined) throw error
      session.remark(`That did not work: ${(error as UserError).message}`)
      preset = next
    }
  }
}

/** What is requested now wins over what an import link names. */
function withLink(run: SetupRun, link: ImportLink): SetupRun {
  const { request } = run
  const optionsOf = (id: string): ClientOptions => ({
    ...wishesIn(link, id),
    ...request.optionsOf?.(id),
  })
  return { ...run, request: { ...request, optionsOf } }
}

function wishesIn({ client, model, slotModels }: ImportLink, id: string): ClientOptions {
  const { family, flags } = rowOf(id)
  if (client !== id && client !== family) return {}
  const hasSlots = flags.some(({ flag }) => flag.startsWith('--slot '))
  if (!hasSlots) return compact({ model })
  return { slotModels: compact({ [defaultSlot]: model, ...slotModels }) }
}

/** The next address of an import link, if the error blames the current one. */
function nextOfLink(error: unknown, { link, access }: FoundGateway, preset: Preset) {
  const blamed = error instanceof UserError ? traitsOf(error)?.blames : undefined
  if (link === undefined || (blamed !== 'address' && blamed !== 'network')) return undefined
  const baseUrl = link.baseUrls[link.baseUrls.indexOf(access.baseUrl) + 1]
  if (baseUrl === undefined) return undefined
  return { ...preset, link, gateway: { ...preset.gateway, baseUrl } }
}

/** The gateway that the client uses, if the user requests other options and no gateway. */
function currentGateway(
  { session, request, clients: [client], previous }: SetupRun,
  inUse: readonly GatewayInUse[],
): Gateway | undefined {
  const { clients, flags, picksModel = false } = request
  if (client === undefined || clients.length > 1 || !previous.has(client)) return undefined

  const { slotModels, ...named } = requestedFor(request, client)
  const isChoice = Object.keys(compact({ ...slotModels, ...named })).length > 0
  if (!isChoice && !picksModel && !flags.defaults) return undefined
  if (namesGateway(session, flags)) return undefined
  return inUse.find(({ family }) => family === client.family)
}

/** One line for the gateway and one for each proven client. */
function showProof(session: Session, { access, catalog, chosen, balance }: Proof): void {
  const list = catalog === undefined ? '' : `: ${catalog.models.length} models`
  const left = balance === undefined ? '' : `; the key has ${shownBalance(balance)}`
  session.remark(`✔ ${new URL(access.baseUrl).host} answers, and takes the key${list}${left}`)
  for (const [client, { resolved }] of chosen) {
    const ids = routesToProve(client, resolved, catalog).map(({ model }) => model)
    session.remark(
      `✔ ${client.label}: ${ids.join(' and ')} ${ids.length > 1 ? 'answer' : 'answers'}${overProtocol(client, resolved)}, with tools`,
    )
  }
}

/** If the gateway takes the key in another header. */
function* keyHeaderFindings(
  before: GatewayAccess,
  { keyHeader }: GatewayAccess,
): Generator<Finding> {
  if (keyHeader === before.keyHeader || keyHeader === undefined) return
  const message = `The gateway takes the key as ${keyHeader}, and refuses it as \`authorization: Bearer\``
  yield { code: 'key-header', message }
}

/** What is still known when the user is asked again. Undefined: nothing that the user typed is at fault. */
function retryWith(
  error: unknown,
  { access, asked, isKeyInUse }: FoundGateway,
  preset: Preset,
): Preset | undefined {
  if (!(error instanceof UserError)) return undefined
  const { baseUrl, baseUrls, query, key } = access
  const withKnown = (known: Partial<Gateway>, more: Preset): Preset => ({
    ...preset,
    ...more,
    gateway: { ...preset.gateway, ...known },
  })

  const blamed = traitsOf(error)?.blames
  if (blamed === 'key' && asked.key) return withKnown({ baseUrl, baseUrls, query }, { inUse: [] })
  if ((blamed === 'address' || blamed === 'network') && asked.baseUrl)
    return withKnown({ key: isKeyInUse ? undefined : key }, { lastBaseUrl: baseUrl })
  return undefined
}

async function proofOf(run: SetupRun, access: GatewayAccess): Promise<Proven> {
  const { session, clients, request } = run
  if (request.flags.verify) return prove(run, access)

  await withModelFromUser(run, undefined)
  const programs = await programsOf(session, run)

  const chosen = clients.map((client): [Client, Chosen] => {
    const { version, modelTable } = programs.get(client)!
    const gatewayInfo = { ...noGatewayInfo, modelTable }
    const input = resolveInputFor(run, client, access, gatewayInfo)
    const resolved = client.resolve(input, version)
    return [client, { resolved, input }]
  })
  return {
    request,
    access,
    chosen: new Map(chosen),
    catalog: undefined,
    isLeftToClients: false,
    notices: [...rootsUnasked(access), ...programFindings(programs)],
  }
}

/** The base URLs that are assumed without asking, if they are unusual. */
function* rootsUnasked(access: GatewayAccess): Generator<Finding> {
  const roots = unusualRoots(access)
  if (roots !== undefined)
    yield {
      code: 'roots-unasked',
      message: `The gateway was not asked: its chat routes are taken to hang at ${roots.chat}, those of messages at ${roots.messages}`,
    }
}

/** What steps 2 to 4 work with, once the gateway has answered. */
interface Proving {
  readonly run: SetupRun
  readonly access: GatewayAccess
  readonly finder: GatewayFinder
  readonly catalog: Catalog | undefined
  readonly probes: Probes
  readonly clients: readonly ResolvingClient[]
  /** The options of each client, without the clients that the user leaves out. */
  readonly chosen: Map<Client, Chosen>
}

/**
 * Steps 2 to 4 of a setup: asks the gateway for its catalog, resolves each client's options, and sends
 * each client's first request to each of its models, side by side. A model that no client asks for first
 * is not probed if the catalog lists it. A rejected model leads back to step 3. If the gateway only
 * admits certain clients and `--try-client` is set, the clients' own answers are the proof. Writes nothing.
 *
 * @throws UserError with the diagnosis
 */
export async function prove(given: SetupRun, reached: GatewayAccess): Promise<Proven> {
  const { session, clients } = given
  const access = { ...reached, authorities: authoritiesOf(reached.env, clients) }
  const isMessagesGiven = given.request.flags.messagesUrl !== undefined
  const finder = new GatewayFinder(access, { isMessagesGiven })
  if (clients.length > 1) void preopenConnections(access, clients.length)
  let balance: BalanceBeside | undefined

  try {
    const isExtra =
      !given.request.picksModel && clients.every((client) => isDecided(given, client, access))
    const [answer, programs] = await session.step(
      'Asking the gateway for its models',
      Promise.all([finder.askCatalog({ isExtra }), programsOf(session, given)]),
    )
    const [catalog, catalogError] = answer instanceof UserError ? [undefined, answer] : [answer]
    if (catalogError !== undefined && !mayStillServe(catalogError)) throw catalogError
    balance = askBalanceBeside(finder.access, catalog)

    const run = await withModelFromUser(given, catalog)
    const gatewayInfo: GatewayInfo = {
      catalog,
      catalogError,
      rejected: [],
      gateway: finder.access,
    }
    const probes = proberFor(run, finder, answer, programs)
    const resolving = clients.map((client): ResolvingClient => {
      const { version, modelTable } = programs.get(client)!
      return { run, access, client, version, gatewayInfo: { ...gatewayInfo, modelTable }, probes }
    })
    const proving = { run, access, finder, catalog, probes, clients: resolving, chosen: new Map() }

    for (const client of resolving) await resolve(proving, client)
    await resolveRejected(proving)
    const proven = await proveChosen(proving)

    const left = await balance?.answered()
    const findings = [
      ...(catalog?.findings ?? []),
      ...programFindings(programs),
      ...(catalogError === undefined ? [] : [catalogUnavailable(catalogError)]),
      ...proven.notices,
      ...(left?.remaining === 0 ? [emptyKey] : []),
    ]
    return { ...proven, balance: left, notices: findings }
  } finally {
    await balance?.end()
    await finder.hangUp()
  }
}

/** Sends each client's first request with the files that the setup would write. */
function proberFor(
  run: SetupRun,
  finder: GatewayFinder,
  answer: Catalog | UserError,
  programs: ReadonlyMap<Client, InstalledProgram>,
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
  )
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
  const replaced = new Set<Client>()
  for (;;) {
    const probed = await askAll(proving.run.session, proving.probes, proving.chosen)
    if (!(await resolveAgain(proving, probed, replaced))) break
  }
  if (proving.chosen.size === 0)
    throw new UserError({ code: 'cancelled', message: 'Every client was left out' })
}

/**
 * Returns whether the options of a client have changed.
 *
 * @param replaced the clients whose model was replaced before
 */
async function resolveAgain(
  proving: Proving,
  probed: ReadonlyMap<Client, readonly ProbeAnswer[]>,
  replaced: Set<Client>,
): Promise<boolean> {
  const { chosen, catalog } = proving
  let isChanged = false
  for (const resolving of proving.clients) {
    const { client } = resolving
    const current = chosen.get(client)
    if (current === undefined) continue

    const answers = probed.get(client) ?? []
    const other = overOtherProtocol(proving, current, resolving, answers)
    if (other !== undefined && !(other instanceof UserError)) {
      chosen.set(client, other)
      isChanged = true
      continue
    }

    const refusals = refusalsIn(answers, catalog)
    const [refusal] = refusals
    if (refusal !== undefined && !replaced.has(client)) {
      const names = refusals.map(({ model }) => model)
      if (canChooseAgain(resolving, names)) {
        replaced.add(client)
        const gatewayInfo = withRejected(current, refusals)
        await resolve(proving, { ...resolving, gatewayInfo, refusal: refusal.error })
        isChanged = true
        continue
      }
    }
    if (other !== undefined) throw other
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
  const resolved = resultOf(() => client.resolve(input, version))
  return resolved instanceof UserError ? resolved : { ...current, input, resolved }
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
function mayServeOtherwise({ model, error }: RejectedModel, catalog: Catalog | undefined): boolean {
  if (traitsOf(error)?.mayBeOneProtocol !== true) return false
  const isListed = catalog?.models.some(({ id }) => id === model)
  // A catalog that does not list the model agrees with the gateway that it is unknown.
  if (error.code === 'model-unknown') return isListed !== false
  // Without a catalog, a web page says that the address is wrong.
  return error.code !== 'not-an-api' || catalog !== undefined
}

/** Step 4: every chosen model must answer now. @throws UserError why one does not */
async function proveChosen(proving: Proving): Promise<Proven> {
  const { run, access, finder, catalog, probes, chosen } = proving
  const { request } = run
  for (const client of chosen.keys()) await expectBelieved(client, access)

  const proven = await askAll(run.session, probes, chosen)
  const answers = [...proven.values()].flat()
  const isLeft = ({ result }: ProbeAnswer) =>
    request.flags.tryClient === true &&
    result.status === 'rejected' &&
    traitsOf(result.reason)?.curedByTryClient === true
  const isLeftToClients = answers.some(isLeft)
  for (const [client, ofClient] of proven)
    for (const one of ofClient)
      if (one.result.status === 'rejected' && !isLeft(one))
        throw await withOtherClients(one.result.reason, client, one)
  const findings = new Set(
    answers.flatMap(({ result }) => (result.status === 'fulfilled' ? result.value.notices : [])),
  )

  const withSafeguards = [...chosen].map(([client, one]): [Client, Chosen] => {
    return [client, { ...one, answersSafeguards: safeguardsIn(proven.get(client) ?? []) }]
  })
  return {
    request,
    access: finder.access,
    catalog,
    chosen: new Map(withSafeguards),
    isLeftToClients,
    notices: [...findings, ...(isLeftToClients ? [leftToClients] : [])],
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
  const names = new Set(all.flatMap(([client, { resolved }]) => probes.newIds(client, resolved)))
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
 * Models that the gateway does not serve and does not list. A model that it lists and does not serve is
 * its own fault, and no reason to choose another.
 */
function refusalsIn(
  answers: readonly ProbeAnswer[],
  catalog: Catalog | undefined,
): readonly RejectedModel[] {
  return rejectionsIn(answers).filter(
    ({ model, error }) => isUnserved(error) && !catalog?.models.some(({ id }) => id === model),
  )
}

/** The probe was answered although nothing is left: some gateways allow a little debt. */
const emptyKey: Finding = {
  code: 'quota',
  message: 'The key has nothing left to spend',
  hint: "Top it up on the gateway's page, or take another: repoint key",
}

const leftToClients: Finding = {
  code: 'left-to-clients',
  message: 'The gateway admits certain clients only: what the client itself says is the proof',
  hint: 'Where it fails, everything goes back.',
}

/**
 * Why a model is not served to a client that speaks one protocol. If another protocol may serve the model,
 * the hint names the clients that speak more.
 */
async function withOtherClients(
  error: unknown,
  client: Client,
  { model, protocol }: ModelRoute,
): Promise<unknown> {
  if (!(error instanceof UserError) || client.protocols.length > 1) return error
  const isMissing = error.code === 'protocol-unsupported'
  const isPartial = error.code === 'tools-unsupported' || error.code === 'parameter-unsupported'
  if (!isMissing && !(isPartial && nativeProtocol(model) !== protocol)) return error

  const others = (await loadClients(familyRows)).filter(
    ({ family, protocols }) =>
      family !== client.family && protocols.some((one) => one !== protocol),
  )
  const commands = others.map(({ id }) => `repoint ${id}`).join(', ')
  const only = `${client.label} speaks ${protocol} only.`
  const otherModel = isMissing ? '' : ` Choose another model: repoint ${client.id} --model ID.`
  return new UserError({
    code: error.code,
    message: error.message,
    hint: `${only}${otherModel} Clients that speak another protocol: ${commands}.`,
    cause: error,
  })
}

/** @throws UserError `client-too-old`, `client-version-unknown`, except if only the key changes */
async function programsOf(
  session: Session,
  { clients, request }: SetupRun,
): Promise<ReadonlyMap<Client, InstalledProgram>> {
  const programs = await Promise.all(
    clients.map(async (client) => [client, await programOf(session, client)] as const),
  )
  if (!request.isKeyOnly) for (const [client, program] of programs) expectWorking(client, program)
  return new Map(programs)
}

function programFindings(programs: ReadonlyMap<Client, InstalledProgram>): readonly Finding[] {
  return [...programs].flatMap(([client, program]) => versionFindings(client, program))
}
