import {
  type Client,
  type ClientOptions,
  type ClientState,
  defaultSlot,
  type GatewayInfo,
  type PreviousSetup,
  protocolOf,
  type ResolveInput,
  slots,
} from '../../clients/client.ts'
import { effectiveOptions, listing, modelsIn } from '../../clients/resolve.ts'
import { UserError } from '../../errors.ts'
import { errorFrom, expectNoFinding, type Finding, isFinding } from '../../finding.ts'
import { adviseNamingModel } from '../../gateway/catalog.ts'
import { traitsOf } from '../../gateway/judge/traits.ts'
import {
  catalogEntry,
  closestModels,
  isChatModel,
  supportsProtocol,
} from '../../gateway/models/rules.ts'
import { isSameButVersion, rootOf } from '../../gateway/roots.ts'
import type { Catalog, CatalogModel, Gateway, GatewayAccess } from '../../gateway/types.ts'
import type { AskChoice } from '../../platform/platform.ts'
import type { Runs } from '../../transaction/record.ts'
import { stateNow } from '../client-state/files.ts'
import { configuredOptions, isSetUp } from '../client-state/state.ts'
import type { SetupFlags } from '../command.ts'
import type { Session } from '../screen/session.ts'
import type { Probes } from './probes.ts'
import type { Chosen, SetupRequest, SetupRun } from './request.ts'

/** The state of each client that is set up, with the options that a setup keeps. */
export function previousSetups(
  session: Session,
  clients: readonly Client[],
  runs: Runs,
): ReadonlyMap<Client, ClientState> {
  const setups = clients.flatMap((client): [Client, ClientState][] => {
    const state = stateNow(session, client)
    if (state?.endpoint.baseUrl === undefined || !isSetUp(client, state, runs)) return []
    return [[client, { ...state, options: configuredOptions(client, state, runs) }]]
  })
  return new Map(setups)
}

export function requestedFor(
  { optionsOf }: Pick<SetupRequest, 'optionsOf'>,
  { id }: Client,
): ClientOptions {
  return optionsOf?.(id) ?? {}
}

/** The part of a setup that decides a client's options. */
interface PreviousChoices extends Pick<SetupRun, 'previous'> {
  readonly request: Pick<SetupRequest, 'optionsOf' | 'isKeyOnly'> & {
    readonly flags: Pick<SetupFlags, 'defaults'>
  }
}

/** The information about a gateway that repoint has sent no request to. */
export const noGatewayInfo: GatewayInfo = {
  catalog: undefined,
  rejected: [],
  catalogOnly: true,
}

/** The input with which one client decides its options for this gateway. */
export function resolveInputFor(
  setup: PreviousChoices,
  client: Client,
  gateway: Gateway,
  gatewayInfo: GatewayInfo,
): ResolveInput {
  const { request, previous } = setup
  const requested = requestedFor(request, client)
  const before = previous.get(client)
  if (before === undefined) return { requested, gatewayInfo }
  if (request.flags.defaults) return { requested, resetToDefaults: true, gatewayInfo }

  const unavailable = request.isKeyOnly ? [] : unavailableModels(client, before, gatewayInfo)
  const valid = stillValid(client, before, { requested, unavailable, gateway })
  const { protocol } = request.isKeyOnly ? before.options : valid.options
  return {
    requested,
    previous: { ...valid, options: { ...valid.options, protocol } },
    gatewayInfo,
  }
}

/** The previous options that still apply: without unavailable models, and without what is requested now. */
function stillValid(
  client: Client,
  before: ClientState,
  now: {
    readonly requested: ClientOptions
    readonly unavailable: readonly string[]
    readonly gateway: Gateway
  },
): PreviousSetup {
  const { requested, unavailable, gateway } = now
  const { defaults } = before
  const options = withoutModels(before.options, unavailable)

  // A requested model replaces the one of the slot that the client starts with.
  const startSlot = requested.slot ?? options.slot ?? defaultSlot
  const { [startSlot]: _, ...otherSlots } = options.slotModels ?? {}

  // The window is kept with the models (a subagent's does not matter), the protocol with models and gateway.
  const isOtherGateway = !isAt(client, before, gateway)
  const isDefaultProtocol = defaults?.includes('protocol') === true
  const requestedModels = modelsIn({ ...requested, subagentModel: undefined })
  const keepsModels = unavailable.length === 0 && requestedModels.length === 0
  return {
    options: {
      ...options,
      slotModels: requested.model === undefined ? options.slotModels : otherSlots,
      contextWindow: keepsModels ? options.contextWindow : undefined,
      // If no file names a protocol, nobody chose it: earlier versions of repoint wrote chat for every model.
      protocol: keepsModels && !isOtherGateway && !isDefaultProtocol ? options.protocol : undefined,
    },
    defaults,
    isOtherGateway,
  }
}

/** The options without these models. */
function withoutModels(options: ClientOptions, ids: readonly string[]): ClientOptions {
  const unlessRemoved = (id: string | undefined) =>
    id !== undefined && ids.includes(id) ? undefined : id
  const slotModels = Object.entries(options.slotModels ?? {}).filter(([, id]) => unlessRemoved(id))
  return {
    ...options,
    model: unlessRemoved(options.model),
    startModel: unlessRemoved(options.startModel),
    subagentModel: unlessRemoved(options.subagentModel),
    smallModel: unlessRemoved(options.smallModel),
    slotModels: Object.fromEntries(slotModels),
  }
}

/** Whether the previous setup was for this gateway. */
export function isAt(
  client: Client,
  { endpoint: { baseUrl }, options }: ClientState,
  gateway: Gateway,
): boolean {
  const root = rootOf(gateway, protocolOf(client, options))
  return baseUrl !== undefined && isSameButVersion(baseUrl, root)
}

/**
 * Previous models that the gateway does not have, which the rules replace. A gateway may serve a model that
 * it does not list, so such a model counts as unavailable only after a rejection. A small model is never
 * probed, so for it the list decides.
 */
export function unavailableModels(
  client: Client,
  { options }: ClientState,
  { catalog, rejected }: GatewayInfo,
): readonly string[] {
  if (catalog === undefined) return []

  const probed = modelsIn({ ...options, smallModel: undefined })
  return modelsIn(options).filter((id) => {
    const listed = listing(catalog, id, client.protocols)
    if (listed === 'of another protocol') return true
    if (listed === 'absent' && !probed.includes(id)) return true
    const isListed = catalogEntry(catalog, id) !== undefined
    return !isListed && isRejected(id, client, rejected)
  })
}

/** Whether the gateway does not know a model, or rejected it over every protocol of the client. */
function isRejected(id: string, { protocols }: Client, rejected: GatewayInfo['rejected']): boolean {
  const reasons = rejected.filter(({ model }) => model === id)
  const isUnknown = reasons.some(({ error }) => error.code === 'model-unknown')
  return isUnknown || protocols.every((one) => reasons.some(({ protocol }) => protocol === one))
}

/** One client whose options are being decided. */
export interface ResolvingClient {
  readonly run: SetupRun
  readonly access: GatewayAccess
  readonly client: Client
  readonly version: string | undefined
  readonly gatewayInfo: GatewayInfo
  /** Why the gateway rejected the first choice. */
  readonly refusal?: UserError
  readonly probes: Probes
}

/**
 * Decides the options of a client: by its rules, or by the user if no rule decides. Undefined: the user
 * leaves the client out.
 *
 * @throws UserError `usage`, `model-unknown`, `protocol-unsupported`; the catalog's error if only a
 *   catalog could have decided
 */
export async function chooseModels(resolving: ResolvingClient): Promise<Chosen | undefined> {
  const { run, access, client, version, gatewayInfo, refusal } = resolving
  const { catalogError } = gatewayInfo
  const input = resolveInputFor(run, client, access, gatewayInfo)

  if (refusal !== undefined && gatewayInfo.catalog === undefined)
    return askForModel(resolving, input, refusal)
  const resolved = client.resolve(input, version)
  if (!isFinding(resolved)) return { resolved, input }
  if (!isUndecided(resolved)) throw errorFrom(resolved)

  const hasModel = modelsIn(effectiveOptions(input)).length > 0
  const reason =
    catalogError === undefined || hasModel ? errorFrom(resolved) : adviseNamingModel(catalogError)
  // If the catalog failed for another reason, such as a wrong key, a model would not help.
  const isOtherFailure = catalogError !== undefined && traitsOf(catalogError)?.mayLackList !== true
  if (run.consent !== 'ask' || isOtherFailure) throw reason
  return askForModel(resolving, input, reason)
}

/** Whether a client's options are decided without the gateway's catalog. */
export function isDecided(run: SetupRun, client: Client, access: GatewayAccess): boolean {
  const catalogError = new UserError({
    code: 'usage',
    message: 'repoint did not ask the gateway for its models',
  })
  const input = resolveInputFor(run, client, access, { ...noGatewayInfo, catalogError })
  const resolved = client.resolve(input)
  if (!isFinding(resolved)) return true
  if (!isUndecided(resolved)) throw errorFrom(resolved)
  return false
}

/**
 * Whether to decide again after the gateway rejected models. With a catalog, the rules replace previous
 * models, unless only the key changes. Without a catalog and a requested model, the user may know one.
 */
export function canChooseAgain(
  { run, client, gatewayInfo }: ResolvingClient,
  rejected: readonly string[],
): boolean {
  const { consent, request, previous } = run
  const requested = modelsIn(requestedFor(request, client))
  if (rejected.every((id) => requested.includes(id))) return false
  if (gatewayInfo.catalog === undefined)
    return consent === 'ask' && requested.length === 0 && !previous.has(client)
  return previous.has(client) && !request.flags.defaults && !request.isKeyOnly
}

/** The error for `--model` without an ID, if there is no catalog or no terminal. */
export function nothingToPickFrom({ canAsk }: Session): UserError {
  return new UserError({
    code: 'usage',
    message: canAsk
      ? '--model has no ID, and the gateway has no list of models'
      : '--model has no ID, and repoint cannot ask here',
    hint: 'Name the model: --model ID',
  })
}

/**
 * `--model` without an ID: the setup with the model that the user picks from the catalog.
 *
 * @throws UserError `usage` without a catalog or a terminal
 */
export async function withModelFromUser(
  run: SetupRun,
  catalog: Catalog | undefined,
): Promise<SetupRun> {
  const { session, request, clients } = run
  if (!request.picksModel) return run
  if (catalog === undefined || !session.canAsk) throw nothingToPickFrom(session)

  const labels = clients.map(({ label }) => label)
  const model = await session.platform.ask.search({
    message: `Which model should ${labels.join(' and ')} use?`,
    choices: chatModels(catalog, (one) =>
      clients.every((client) => canUse(client, requestedFor(request, client), one)),
    ),
  })
  const optionsOf = (id: string) => ({ ...request.optionsOf?.(id), model })
  return { ...run, request: { ...request, optionsOf } }
}

function canUse({ protocols }: Client, requested: ClientOptions, model: CatalogModel) {
  const usable = requested.protocol ? [requested.protocol] : protocols
  return usable.some((one) => supportsProtocol(model, one) !== false)
}

function chatModels(
  { models }: Catalog,
  isUsable: (model: CatalogModel) => boolean = () => true,
): AskChoice[] {
  const usable = models.filter((one) => isChatModel(one) && isUsable(one))
  return usable.map(({ id }) => ({ value: id, name: id }))
}

/** Asks the user for another model than those that the gateway rejected. */
export function askForOtherModel(
  resolving: ResolvingClient,
  input: ResolveInput,
  reason: UserError,
): Promise<Chosen | undefined> {
  const { gatewayInfo } = resolving
  // The gateway rejected the models that the user requested before.
  const { model: requestedModel, slotModels: _, ...requested } = input.requested
  const rejected = gatewayInfo.rejected.map(({ model }) => model)
  // The answer replaces a requested model, so that the model of an earlier setup must not override it.
  const withoutModel =
    requestedModel === undefined ? {} : { model: undefined, startModel: undefined }
  const previous = input.previous && {
    ...input.previous,
    options: {
      ...withoutModels(input.previous.options, rejected),
      smallModel: input.previous.options.smallModel,
      ...withoutModel,
    },
  }
  return askForModel(resolving, { ...input, requested, gatewayInfo, previous }, reason)
}

/** Asks the user for one model, for everything that is not requested. */
async function askForModel(
  resolving: ResolvingClient,
  input: ResolveInput,
  reason: UserError,
): Promise<Chosen | undefined> {
  const { catalog } = resolving.gatewayInfo
  const answer =
    catalog === undefined
      ? await typeModel(resolving, input, reason)
      : await pickModel(resolving, catalog, reason)
  return answer === undefined ? undefined : optionsWith(resolving, input, answer)
}

/** The options if the user names one model for everything. */
function optionsWith(
  { client, version }: ResolvingClient,
  input: ResolveInput,
  answer: string,
): Chosen {
  const {
    slot = defaultSlot,
    model = answer,
    slotModels,
    subagentModel = answer,
  } = effectiveOptions(input)
  const all = Object.fromEntries(slots.map((one) => [one, answer]))
  const requested = {
    ...input.requested,
    model,
    slotModels: { ...all, [slot]: model, ...slotModels },
    subagentModel,
  }
  const withAnswer = { ...input, requested }
  return { resolved: expectNoFinding(client.resolve(withAnswer, version)), input: withAnswer }
}

/** The model that the user picks from the catalog. Undefined: the user skips the client. */
async function pickModel(
  { run: { session, clients }, client, gatewayInfo: { rejected } }: ResolvingClient,
  catalog: Catalog,
  { message }: UserError,
): Promise<string | undefined> {
  const none = { value: '', name: `none: skip ${client.label}` }
  const names = rejected.map(({ model }) => model)
  const nearest = names.flatMap((name) => closestModels(name, catalog))
  const choices = chatModels(catalog).filter(({ value }) => !names.includes(value))
  const rank = ({ value }: AskChoice) =>
    nearest.includes(value) ? nearest.indexOf(value) : nearest.length

  // The reason of a rejection is long, so it gets a line of its own before the question.
  if (names.length > 0) session.remark(`✗ ${message}`)
  const question = `Which model should ${client.label} use?`
  const model = await session.platform.ask.search({
    message: names.length > 0 ? question : `${message}. ${question}`,
    choices: [
      ...(clients.length > 1 ? [none] : []),
      ...choices.toSorted((one, other) => rank(one) - rank(other)),
    ],
  })
  return model === none.value ? undefined : model
}

/**
 * The model that the user types, or the first of several that answers.
 *
 * @throws UserError `reason` if the user knows no model: then the address may be wrong
 */
async function typeModel(
  resolving: ResolvingClient,
  input: ResolveInput,
  reason: UserError,
): Promise<string> {
  const { run, client, probes } = resolving
  const { session } = run
  session.remark(`note: ${reason.message}`)
  const answer = await session.platform.ask.input({
    message: `Which model should ${client.label} use? (several: repoint takes the first that answers; Enter: you do not know)`,
  })

  const ids = answer.split(/[\s,]+/).filter(Boolean)
  if (ids.length === 0) throw reason
  const choices = ids.map((id) => [id, optionsWith(resolving, input, id).resolved] as const)
  return probes.firstServed(client, new Map(choices))
}

/** Whether no rule decided, or the gateway has no model for a slot of the client. */
export function isUndecided({ code }: Finding): boolean {
  return code === 'usage' || code === 'model-unknown'
}
