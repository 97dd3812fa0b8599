import {
  type Client,
  type ClientOptions,
  defaultSlot,
  type GatewayInfo,
  type PreviousOptions,
  protocolOf,
  type ResolvedOptions,
  type ResolveInput,
  slots,
} from '../../clients/client.ts'
import { effectiveOptions, listing, modelsIn } from '../../clients/resolve.ts'
import { resultOf, UserError } from '../../errors.ts'
import { adviseNamingModel } from '../../gateway/catalog.ts'
import { traitsOf } from '../../gateway/judge/traits.ts'
import { isChatModel, speaks } from '../../gateway/models/rules.ts'
import { isSameButVersion, rootOf } from '../../gateway/roots.ts'
import type { Catalog, CatalogModel, Gateway, GatewayAccess } from '../../gateway/types.ts'
import type { AskChoice } from '../../platform/platform.ts'
import type { Runs } from '../../transaction/record.ts'
import { stateNow } from '../client-state/files.ts'
import { configuredOptions, isSetUp } from '../client-state/state.ts'
import type { SetupFlags } from '../command.ts'
import type { Session } from '../screen/session.ts'
import type { Probes } from './probes.ts'
import type { PreviousSetup, SetupRequest, SetupRun } from './request.ts'

/** What was chosen before, for each client that is set up: by repoint, or by its user since. */
export function previousSetups(
  session: Session,
  clients: readonly Client[],
  runs: Runs,
): ReadonlyMap<Client, PreviousSetup> {
  const kept = clients.flatMap((client): [Client, PreviousSetup][] => {
    const state = stateNow(session, client)
    if (state?.baseUrl === undefined || !isSetUp(client, state, runs)) return []
    const options = configuredOptions(client, state, runs)
    return [[client, { baseUrl: state.baseUrl, options }]]
  })
  return new Map(kept)
}

export function requestedFor(
  { optionsOf }: Pick<SetupRequest, 'optionsOf'>,
  { id }: Client,
): ClientOptions {
  return optionsOf?.(id) ?? {}
}

/** What of a setup says which models a client is to have. */
interface PreviousChoices extends Pick<SetupRun, 'previous'> {
  readonly request: Pick<SetupRequest, 'optionsOf' | 'isKeyOnly'> & {
    readonly flags: Pick<SetupFlags, 'defaults'>
  }
}

/** Where the gateway is not asked. */
export const noGatewayInfo: GatewayInfo = { catalog: undefined, rejected: [] }

/** What the models of one client go by, at this gateway. Pure. */
export function resolveInputFor(
  wishes: PreviousChoices,
  client: Client,
  gateway: Gateway,
  gatewayInfo: GatewayInfo,
): ResolveInput {
  const { request, previous } = wishes
  const requested = requestedFor(request, client)
  const before = previous.get(client)
  if (before === undefined) return { requested, gatewayInfo }
  if (request.flags.defaults) return { requested, resetToDefaults: true, gatewayInfo }

  const lost = request.isKeyOnly ? [] : unavailableModels(client, before, gatewayInfo)
  return {
    requested,
    previous: stillKept(client, before, { named: requested, lost, gateway }),
    gatewayInfo,
  }
}

/** What is kept of a setup beside what is named now, without the models that are lost. */
function stillKept(
  client: Client,
  before: PreviousSetup,
  now: {
    readonly named: ClientOptions
    readonly lost: readonly string[]
    readonly gateway: Gateway
  },
): PreviousOptions {
  const { named, lost, gateway } = now
  const { options } = before
  const unlessLost = (id: string | undefined) =>
    id !== undefined && lost.includes(id) ? undefined : id

  // A model that is named now takes the place of that of the slot that is started with.
  const startSlot = named.slot ?? options.slot ?? defaultSlot
  const pins = Object.entries(options.slotModels ?? {}).filter(
    ([slot, id]) => unlessLost(id) && !(slot === startSlot && named.model !== undefined),
  )

  // Window and protocol are those of the models, a subagent's apart, the protocol at one gateway.
  const isElsewhere = !isAt(client, before, gateway)
  const isSame = lost.length === 0 && modelsIn({ ...named, subagentModel: undefined }).length === 0
  return {
    ...options,
    model: unlessLost(options.model),
    startModel: unlessLost(options.startModel),
    subagentModel: unlessLost(options.subagentModel),
    smallModel: unlessLost(options.smallModel),
    slotModels: Object.fromEntries(pins),
    contextWindow: isSame ? options.contextWindow : undefined,
    protocol: isSame && !isElsewhere ? options.protocol : undefined,
    isElsewhere,
  }
}

/** Whether it was chosen for this gateway. */
export function isAt(
  client: Client,
  { baseUrl, options }: PreviousSetup,
  gateway: Gateway,
): boolean {
  return isSameButVersion(baseUrl, rootOf(gateway, protocolOf(client, options)))
}

/**
 * The models of before that the gateway has not: the rules choose in their place. What it does not
 * list it may serve: only once it has refused that is it lost. A small model is never asked for.
 */
export function unavailableModels(
  client: Client,
  { options }: PreviousSetup,
  { catalog, rejected }: GatewayInfo,
): readonly string[] {
  if (catalog === undefined) return []

  const asked = modelsIn({ ...options, smallModel: undefined })
  return modelsIn(options).filter((id) => {
    const said = listing(catalog, id, protocolOf(client, options))
    const isGone = said === 'of another protocol' || (said === 'absent' && !asked.includes(id))
    return isGone || rejected.includes(id)
  })
}

/** What the models of one client are chosen by. */
export interface ResolvingClient {
  readonly run: SetupRun
  readonly access: GatewayAccess
  readonly client: Client
  readonly version: string | undefined
  readonly gatewayInfo: GatewayInfo
  /** Why the gateway does not serve what was chosen first. */
  readonly refusal?: UserError
  readonly probes: Probes
}

/**
 * The models of a client: by its rules, or by a person where neither rules nor gateway tell.
 * Undefined: the client is left out.
 *
 * @throws UserError `usage`, `model-unknown`, `protocol-unsupported`; where only a list could have told
 *   the models, why there is none
 */
export async function chooseModels(asking: ResolvingClient): Promise<ResolvedOptions | undefined> {
  const { run, access, client, version, gatewayInfo, refusal } = asking
  const { catalogError } = gatewayInfo
  const input = resolveInputFor(run, client, access, gatewayInfo)

  if (refusal !== undefined && gatewayInfo.catalog === undefined)
    return chooseByPerson(asking, input, refusal)
  const chosen = resultOf(() => client.resolve(input, version))
  if (!(chosen instanceof UserError)) return chosen
  if (!isUndecided(chosen)) throw chosen

  const isNamed = modelsIn(effectiveOptions(input)).length > 0
  const reason = catalogError === undefined || isNamed ? chosen : adviseNamingModel(catalogError)
  // An address or a key that is at fault is asked for again.
  const isElsewhere = catalogError !== undefined && traitsOf(catalogError)?.mayLackList !== true
  if (run.consent !== 'ask' || isElsewhere) throw reason
  return chooseByPerson(asking, input, reason)
}

/** Whether a client's models are known before the gateway is asked for its list. */
export function isDecided(run: SetupRun, client: Client, access: GatewayAccess): boolean {
  const catalogError = new UserError({
    code: 'usage',
    message: 'The gateway was not asked for a list',
  })
  const input = resolveInputFor(run, client, access, { ...noGatewayInfo, catalogError })
  const chosen = resultOf(() => client.resolve(input))
  if (chosen instanceof UserError && !isUndecided(chosen)) throw chosen
  return !(chosen instanceof UserError)
}

/**
 * Whether models are chosen once more where the gateway refuses them: what was chosen before
 * gives way to a list, unless only the key changes; and where nothing is listed or named, a person
 * may know what to try.
 */
export function canChooseAgain(
  { run, client, gatewayInfo }: ResolvingClient,
  refused: readonly string[],
): boolean {
  const { consent, request, previous } = run
  const named = modelsIn(requestedFor(request, client))
  if (refused.every((id) => named.includes(id))) return false
  if (gatewayInfo.catalog === undefined)
    return consent === 'ask' && named.length === 0 && !previous.has(client)
  return previous.has(client) && !request.flags.defaults && !request.isKeyOnly
}

/**
 * The setup with the model that a person picks from what the gateway offers and the client can use.
 *
 * @throws UserError `usage` where there is no list, or nobody to pick
 */
export async function withModelFromUser(
  run: SetupRun,
  catalog: Catalog | undefined,
): Promise<SetupRun> {
  const { session, request, clients } = run
  if (!request.picksModel) return run
  if (catalog === undefined || !session.canAsk)
    throw new UserError({
      code: 'usage',
      message: `--model has no ID, and there is no ${session.canAsk ? 'list' : 'terminal'} to pick a model from`,
      hint: 'Name the model: --model ID.',
    })

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
  const spoken = requested.protocol ? [requested.protocol] : protocols
  return spoken.some((one) => speaks(model, one) !== false)
}

function chatModels(
  { models }: Catalog,
  isUsable: (model: CatalogModel) => boolean = () => true,
): AskChoice[] {
  const usable = models.filter((one) => isChatModel(one) && isUsable(one))
  return usable.map(({ id }) => ({ value: id, name: id }))
}

/** One question for all that is not named. */
async function chooseByPerson(
  asking: ResolvingClient,
  input: ResolveInput,
  reason: UserError,
): Promise<ResolvedOptions | undefined> {
  const { catalog } = asking.gatewayInfo
  const answer =
    catalog === undefined
      ? await typedModel(asking, input, reason)
      : await pickedModel(asking, catalog, reason)
  return answer === undefined ? undefined : choiceBy(asking, input, answer)
}

/** What is chosen where a person names one model for all. */
function choiceBy(
  { client, version }: ResolvingClient,
  input: ResolveInput,
  answer: string,
): ResolvedOptions {
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
  return client.resolve({ ...input, requested }, version)
}

async function pickedModel(
  { run: { session, clients }, client }: ResolvingClient,
  catalog: Catalog,
  { message }: UserError,
): Promise<string | undefined> {
  const none = { value: '', name: `none: leave ${client.label} out` }
  const model = await session.platform.ask.search({
    message: `${message}. Which model should ${client.label} use?`,
    choices: [...(clients.length > 1 ? [none] : []), ...chatModels(catalog)],
  })
  return model === none.value ? undefined : model
}

/** @throws UserError `reason` where a person knows none: the address may be asked for again then */
async function typedModel(
  asking: ResolvingClient,
  input: ResolveInput,
  reason: UserError,
): Promise<string> {
  const { run, client, probes } = asking
  const { session } = run
  session.remark(`note: ${reason.message}`)
  const answer = await session.platform.ask.input({
    message: `Which model should ${client.label} ask for? (Enter: unknown; of several the first that answers)`,
  })

  const ids = answer.split(/[\s,]+/).filter(Boolean)
  if (ids.length === 0) throw reason
  const choices = ids.map((id) => [id, choiceBy(asking, input, id)] as const)
  return probes.firstServed(client, new Map(choices))
}

/** No rule fits, or the gateway has nothing for a slot of the client. */
function isUndecided({ code }: UserError): boolean {
  return code === 'usage' || code === 'model-unknown'
}
