import {
  type Client,
  type ClientOptions,
  defaultSlot,
  type GatewayInfo,
  type LoadedFiles,
  protocolOf,
} from '../../clients/client.ts'
import { expectSendable } from '../../clients/headers.ts'
import { rowOf } from '../../clients/list.ts'
import { asPlanned } from '../../clients/loaded-files.ts'
import { effectiveOptions, idsToProve } from '../../clients/resolve.ts'
import { compact } from '../../compact.ts'
import { ifPossible, UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { askBalanceBeside, type BalanceBeside, shownBalance } from '../../gateway/balance.ts'
import { catalogUnavailable, mayStillServe } from '../../gateway/catalog.ts'
import { GatewayFinder } from '../../gateway/find-roots.ts'
import { openAhead } from '../../gateway/http/request.ts'
import type { ImportLink } from '../../gateway/input/link.ts'
import { traitsOf } from '../../gateway/judge/traits.ts'
import { rootOf, unusualRoots } from '../../gateway/roots.ts'
import type { Catalog, Gateway, GatewayAccess } from '../../gateway/types.ts'
import { expectNameFor } from '../../state/save-gateway.ts'
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

/** How often a person may type an address or a key that does not work. */
const maxTries = 3

/**
 * Finds the gateway and proves it. What a person typed and the gateway refuses is asked again; what
 * came from a flag or the environment is an error at once.
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

    expectNameFor(session.platform, flags.name, found.access.baseUrl)
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

/** What a link names for a client goes behind what was named now. */
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

/** Of a link's addresses the next, where one is at fault. */
function nextOfLink(error: unknown, { link, access }: FoundGateway, preset: Preset) {
  const blamed = error instanceof UserError ? traitsOf(error)?.blames : undefined
  if (link === undefined || (blamed !== 'address' && blamed !== 'network')) return undefined
  const baseUrl = link.baseUrls[link.baseUrls.indexOf(access.baseUrl) + 1]
  if (baseUrl === undefined) return undefined
  return { ...preset, link, gateway: { ...preset.gateway, baseUrl } }
}

/** Who names another model, and no gateway, means the one that the client has. */
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

/** A line for the gateway and for each client that is proven. */
function showProof(session: Session, { access, catalog, chosen, balance }: Proof): void {
  const list = catalog === undefined ? '' : `: ${catalog.models.length} models`
  const left = balance === undefined ? '' : `; the key has ${shownBalance(balance)}`
  session.remark(`✔ ${new URL(access.baseUrl).host} answers, and takes the key${list}${left}`)
  for (const [{ label }, { resolved }] of chosen) {
    const ids = idsToProve(resolved, catalog)
    session.remark(
      `✔ ${label}: ${ids.join(' and ')} ${ids.length > 1 ? 'answer' : 'answers'}, with tools`,
    )
  }
}

/** What has come out about where the key goes. */
function* keyHeaderFindings(
  before: GatewayAccess,
  { keyHeader }: GatewayAccess,
): Generator<Finding> {
  if (keyHeader === before.keyHeader || keyHeader === undefined) return
  const message = `The gateway takes the key as ${keyHeader}, and refuses it as \`authorization: Bearer\``
  yield { code: 'key-header', message }
}

/** What stays known when something is asked again; undefined: nothing that was typed is at fault. */
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
    return [client, { resolved, gatewayInfo }]
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

/** What is taken for the roots where nobody was asked, if it is not the usual. */
function* rootsUnasked(access: GatewayAccess): Generator<Finding> {
  const roots = unusualRoots(access)
  if (roots !== undefined)
    yield {
      code: 'roots-unasked',
      message: `The gateway was not asked: its chat routes are taken to hang at ${roots.chat}, those of messages at ${roots.messages}`,
    }
}

/**
 * Proves address, key and models: the catalog first, then one minimal inference for each protocol and
 * model that the clients will use, side by side. What a client does not ask for first is taken from the
 * catalog where that lists it. What the gateway refuses is chosen once more, where it was not named now.
 * Where it admits certain clients only, and the clients are tried, the proof is left to them.
 * Writes nothing.
 *
 * @throws UserError with the diagnosis
 */
export async function prove(given: SetupRun, reached: GatewayAccess): Promise<Proven> {
  const { session, clients } = given
  const access = { ...reached, authorities: authoritiesOf(reached.env, clients) }
  const isMessagesGiven = given.request.flags.messagesUrl !== undefined
  const finder = new GatewayFinder(access, { isMessagesGiven })
  if (clients.length > 1) void openAhead(access, clients.length)
  let left: BalanceBeside | undefined
  try {
    const isExtra =
      !given.request.picksModel && clients.every((client) => isDecided(given, client, access))
    const [answer, programs] = await session.step(
      'Asking the gateway for its models',
      Promise.all([finder.askCatalog({ isExtra }), programsOf(session, given)]),
    )

    const [catalog, catalogError] = answer instanceof UserError ? [undefined, answer] : [answer]
    if (catalogError !== undefined && !mayStillServe(catalogError)) throw catalogError
    left = askBalanceBeside(finder.access, catalog)
    const run = await withModelFromUser(given, catalog)
    const gatewayInfo: GatewayInfo = { catalog, catalogError, rejected: [] }
    const { request } = run

    const probes = new Probes(
      (...question) => finder.probe(...question),
      answer,
      (client, resolved) =>
        sendersOf(session, client, protocolOf(client, resolved), {
          texts: filesAfter(run, client, {
            access: finder.access,
            resolved,
            gatewayInfo,
          }),
          ...programs.get(client)!,
        }),
    )
    const chosen = new Map<Client, Chosen>()
    const choose = async (asking: ResolvingClient) => {
      const resolved = await chooseModels(asking)
      if (resolved === undefined) chosen.delete(asking.client)
      else chosen.set(asking.client, { resolved, gatewayInfo: asking.gatewayInfo })
    }

    const askings = clients.map((client): ResolvingClient => {
      const { version, modelTable } = programs.get(client)!
      return { run, access, client, version, gatewayInfo: { ...gatewayInfo, modelTable }, probes }
    })
    for (const asking of askings) await choose(asking)

    const probed = await askAll(session, probes, chosen)
    for (const asking of askings) {
      const refusals = refusalsIn(probed.get(asking.client) ?? [], catalog)
      const rejected = [...refusals.keys()]
      const [refusal] = refusals.values()
      if (refusal !== undefined && canChooseAgain(asking, rejected))
        await choose({ ...asking, gatewayInfo: { ...asking.gatewayInfo, rejected }, refusal })
    }
    if (chosen.size === 0)
      throw new UserError({ code: 'cancelled', message: 'Every client was left out' })

    for (const client of chosen.keys()) await expectBelieved(client, access)

    const proven = await askAll(session, probes, chosen)
    const results = [...proven.values()].flat()
    for (const [client, one] of chosen)
      chosen.set(client, { ...one, answersSafeguards: safeguardsIn(proven.get(client) ?? []) })

    const isLeft = ({ result }: ProbeAnswer) =>
      request.flags.tryClient === true &&
      result.status === 'rejected' &&
      traitsOf(result.reason)?.curedByTryClient === true
    const isLeftToClients = results.some(isLeft)
    const served = results.filter((one) => !isLeft(one))
    const balance = await left?.answered()
    const notices = [
      ...(catalog?.findings ?? []),
      ...programFindings(programs),
      ...(catalogError === undefined ? [] : [catalogUnavailable(catalogError)]),
      ...new Set(served.flatMap(({ result }) => noticesOf(result))),
      ...(isLeftToClients ? [leftToClients] : []),
      ...(balance?.remaining === 0 ? [emptyKey] : []),
    ]
    return { request, access: finder.access, catalog, chosen, isLeftToClients, balance, notices }
  } finally {
    await left?.end()
    await finder.hangUp()
  }
}

/** A client's files as the setup would leave them, with the models that are asked for alone. */
function filesAfter(
  run: SetupRun,
  client: Client,
  { access, resolved, gatewayInfo }: Chosen & { readonly access: GatewayAccess },
): LoadedFiles {
  const files = readClientFiles(run.session, client)
  if (run.request.isKeyOnly) return files

  const input = resolveInputFor(run, client, access, gatewayInfo)
  const { providerId = 'gateway' } = effectiveOptions(input)
  const root = rootOf(access, protocolOf(client, resolved))
  const ids = idsToProve(resolved, gatewayInfo.catalog)
  const offered = resolved.offered?.filter(({ id }) => ids.includes(id))
  const choice = {
    ...{ baseUrl: root, key: access.key, providerId, input },
    resolved: { ...resolved, ...(offered && { offered }) },
  }
  const edits = ifPossible(() => client.plan(files, choice))
  return edits === undefined ? files : asPlanned(files, edits)
}

/** Asks for everything that was chosen and not asked for yet. */
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

/** Whether the gateway answers the safeguards for every model; undefined: nothing was asked. */
function safeguardsIn(probed: readonly ProbeAnswer[]): boolean | undefined {
  const answers = probed.flatMap(({ result }) =>
    result.status === 'fulfilled' ? [result.value.answersSafeguards] : [],
  )
  if (answers.includes(false)) return false
  return answers.includes(true) || undefined
}

/**
 * Why the gateway does not serve ids, by id. What it lists and does not serve is its own contradiction,
 * and no reason to choose anew.
 */
function refusalsIn(
  probed: readonly ProbeAnswer[],
  catalog: Catalog | undefined,
): ReadonlyMap<string, UserError> {
  const unlisted = probed.filter(({ id }) => !catalog?.models.some((model) => model.id === id))
  return new Map(
    unlisted.flatMap(({ id, result }): [string, UserError][] =>
      result.status === 'rejected' && isUnserved(result.reason) ? [[id, result.reason]] : [],
    ),
  )
}

/** The probe was served all the same: the gateway may let a little go below. */
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

/** @throws UserError why the model is not served */
function noticesOf(result: ProbeAnswer['result']): readonly Finding[] {
  if (result.status === 'rejected') throw result.reason
  return result.value.notices
}

/** @throws UserError `client-too-old`, `client-version-unknown`; a key is changed all the same */
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
