import {
  type Client,
  type ModelChoice,
  protocolOf,
  type SetupOptions,
  slots,
  usualSlot,
} from '../../clients/client.ts'
import { listing } from '../../clients/models.ts'
import { compact } from '../../compact.ts'
import { UserError } from '../../errors.ts'
import { adviseNamingModel } from '../../gateway/catalog.ts'
import { traitsOf } from '../../gateway/judge/traits.ts'
import { isChatModel } from '../../gateway/models/rules.ts'
import { isSameButVersion, rootFor } from '../../gateway/roots.ts'
import type { Catalog, GatewayAccess, Roots } from '../../gateway/types.ts'
import type { Runs } from '../../transaction/record.ts'
import type { SetupFlags } from '../command.ts'
import { settingsNow } from '../inventory/client-files.ts'
import { configuredOptions, isSetUp } from '../inventory/client-state.ts'
import type { Session } from '../screen/session.ts'
import type { Probes } from './probes.ts'
import type { Heard, Kept, SetupRequest, SetupRun } from './run.ts'

/** What was chosen before, for each client that is set up: by repoint, or by its user since. */
export function keptChoices(
  session: Session,
  clients: readonly Client[],
  runs: Runs,
): ReadonlyMap<Client, Kept> {
  const kept = clients.flatMap((client): [Client, Kept][] => {
    const settings = settingsNow(session, client)
    if (settings?.root === undefined || !isSetUp(client, settings, runs)) return []
    const options = configuredOptions(client, settings, runs)
    return [[client, { root: settings.root, options }]]
  })
  return new Map(kept)
}

/** What is named now for a client. */
export function namedOptions(
  { optionsOf }: Pick<SetupRequest, 'optionsOf'>,
  { id }: Client,
): SetupOptions {
  return optionsOf?.(id) ?? {}
}

interface Wanted extends Pick<SetupRun, 'kept'> {
  readonly request: Pick<SetupRequest, 'optionsOf' | 'isKeyOnly'> & {
    readonly flags: Pick<SetupFlags, 'defaults'>
  }
}

/** Where the gateway is not asked. */
export const unheard: Heard = { catalog: undefined, refused: [] }

/**
 * The options of one client: what is named now wins over what was chosen before, as far as the
 * gateway at `roots` has its models. Pure.
 */
export function optionsFor(
  wanted: Wanted,
  client: Client,
  roots: Roots,
  heard: Heard,
): SetupOptions {
  const isListMissing = heard.missing !== undefined || undefined
  const isRefused = heard.refused.length > 0 || undefined
  return {
    ...wantedOptions(wanted, client, roots, heard),
    ...compact({ isListMissing, isRefused }),
  }
}

function wantedOptions(
  { request, kept }: Wanted,
  client: Client,
  roots: Roots,
  heard: Heard,
): SetupOptions {
  const named = namedOptions(request, client)
  const before = kept.get(client)
  if (before === undefined) return named
  if (request.flags.defaults) return { disableAttribution: false, ...named }

  const { slotModels = {}, contextWindow, protocol, ...others } = before.options
  const lost = new Set(request.isKeyOnly ? [] : lostModels(client, before, heard))
  const stays = (id: string | undefined) => (id === undefined || lost.has(id) ? undefined : id)
  const slot = named.slot ?? others.slot ?? usualSlot
  const pins = Object.entries(slotModels).filter(
    // The model that is named now is that of the slot that is started with.
    ([name, id]) => stays(id) && !(name === slot && named.model !== undefined),
  )

  // Window and protocol are those of the models, at one gateway.
  const isSame = isAt(client, before, roots) && lost.size === 0 && modelsOf(named).length === 0
  return {
    ...others,
    model: stays(others.model),
    startModel: stays(others.startModel),
    subagentModel: stays(others.subagentModel),
    smallModel: stays(others.smallModel),
    contextWindow: isSame ? contextWindow : undefined,
    protocol: isSame ? protocol : undefined,
    ...compact(named),
    isConfigured: named.slot === undefined && modelsOf(named).length === 0,
    slotModels: { ...Object.fromEntries(pins), ...named.slotModels },
  }
}

/** Whether it was chosen for this gateway. */
export function isAt(client: Client, { root, options }: Kept, roots: Roots): boolean {
  return isSameButVersion(root, rootFor(roots, protocolOf(client, options)))
}

/**
 * The models of before that the gateway has not: the rules choose in their place. What it does not
 * list it may serve: only once it has refused that is it lost. A small model is never asked for.
 */
export function lostModels(
  client: Client,
  { options }: Kept,
  { catalog, refused }: Heard,
): readonly string[] {
  if (catalog === undefined) return []
  const asked = modelsOf({ ...options, smallModel: undefined })
  return modelsOf(options).filter((id) => {
    const said = listing(catalog, id, protocolOf(client, options))
    const isGone = said === 'of another protocol' || (said === 'absent' && !asked.includes(id))
    return isGone || refused.includes(id)
  })
}

/** Every model that options name, once. */
export function modelsOf(options: SetupOptions): readonly string[] {
  const { model, startModel, slotModels = {}, subagentModel, smallModel } = options
  const named = [model, startModel, ...Object.values(slotModels), subagentModel, smallModel]
  return [...new Set(named.filter((id) => id !== undefined))]
}

/** What the models of one client are chosen by. */
export interface Asking {
  readonly run: SetupRun
  readonly access: GatewayAccess
  readonly client: Client
  /** Of the installed client. */
  readonly version: string | undefined
  readonly heard: Heard
  /** Why the gateway does not serve what was chosen first. */
  readonly refusal?: UserError
  readonly probes: Probes
}

/**
 * The models of a client: by its rules, or by a person where neither rules nor gateway tell.
 * Undefined: it is to be left out.
 *
 * @throws UserError `usage`, `model-unknown`, `protocol-unsupported`; where only a list could have told
 *   the models, why there is none
 */
export async function chooseModels(asking: Asking): Promise<ModelChoice | undefined> {
  const { run, access, client, version, heard, refusal } = asking
  const { missing } = heard
  const options = optionsFor(run, client, access.roots, heard)
  if (refusal !== undefined && heard.catalog === undefined)
    return chooseByPerson(asking, options, refusal)
  try {
    return client.choose(heard.catalog, options, version)
  } catch (error) {
    if (!isUndecided(error)) throw error
    const isNamed = modelsOf(options).length > 0
    const reason = missing === undefined || isNamed ? error : adviseNamingModel(missing)
    // An address or a key that is at fault is asked for again.
    const isElsewhere = missing !== undefined && traitsOf(missing)?.mayLackList !== true
    if (run.consent !== 'ask' || isElsewhere) throw reason
    return chooseByPerson(asking, options, reason)
  }
}

/** Whether a client's models are known before the gateway is asked for its list. */
export function isDecided(run: SetupRun, client: Client, { roots }: GatewayAccess): boolean {
  const options = { ...optionsFor(run, client, roots, unheard), isListMissing: true }
  try {
    client.choose(undefined, options)
    return true
  } catch (error) {
    if (isUndecided(error)) return false
    throw error
  }
}

/**
 * Whether models are to be chosen once more where the gateway refuses them: what was chosen before
 * gives way to a list, unless only the key is to change; and where nothing is listed or named, a person
 * may know what to try.
 */
export function canChooseAgain(
  { run, client, heard }: Asking,
  refused: readonly string[],
): boolean {
  const { consent, request, kept } = run
  const named = modelsOf(namedOptions(request, client))
  if (refused.every((id) => named.includes(id))) return false
  if (heard.catalog === undefined)
    return consent === 'ask' && named.length === 0 && !kept.has(client)
  return kept.has(client) && !request.flags.defaults && !request.isKeyOnly
}

/** One question for all that is not named. */
async function chooseByPerson(
  asking: Asking,
  options: SetupOptions,
  reason: UserError,
): Promise<ModelChoice | undefined> {
  const { client, version, heard } = asking
  const { catalog } = heard
  const model =
    catalog === undefined
      ? await typedModel(asking, options, reason)
      : await pickedModel(asking, catalog, reason)
  if (model === undefined) return undefined

  const { slot = usualSlot, model: named, slotModels, subagentModel } = options
  const all = Object.fromEntries(slots.map((one) => [one, model]))
  const chosen = {
    model: named ?? model,
    slotModels: { ...all, ...(named === undefined ? {} : { [slot]: named }), ...slotModels },
    subagentModel: subagentModel ?? model,
    isConfigured: false,
  }
  return client.choose(catalog, { ...options, ...chosen }, version)
}

async function pickedModel(
  { run: { session, clients }, client }: Asking,
  catalog: Catalog,
  { message }: UserError,
): Promise<string | undefined> {
  const none = { value: '', name: `none: leave ${client.label} out` }
  const model = await session.platform.ask.search({
    message: `${message}. Which model should ${client.label} use?`,
    choices: [
      ...(clients.length > 1 ? [none] : []),
      ...catalog.models.filter(isChatModel).map(({ id }) => ({ value: id, name: id })),
    ],
  })
  return model === none.value ? undefined : model
}

/** @throws UserError `reason` where a person knows none: the address may be asked for again then */
async function typedModel(
  { run: { session }, client, probes }: Asking,
  options: SetupOptions,
  reason: UserError,
): Promise<string> {
  session.remark(`note: ${reason.message}`)
  const answer = await session.platform.ask.input({
    message: `Which model should ${client.label} ask for? (Enter: unknown; of several the first that answers)`,
  })
  const ids = answer.split(/[\s,]+/).filter(Boolean)
  if (ids.length === 0) throw reason
  return ids.length === 1 ? ids[0]! : probes.firstServed(protocolOf(client, options), ids)
}

/** No rule fits, or the gateway has nothing for a slot of the client. */
function isUndecided(error: unknown): error is UserError {
  return error instanceof UserError && ['usage', 'model-unknown'].includes(error.code)
}
