import { type Client, protocolOf, type SetupOptions, usualSlot } from '../../clients/client.ts'
import { listing } from '../../clients/models.ts'
import { compact } from '../../compact.ts'
import { isSameButVersion, rootFor } from '../../gateway/roots.ts'
import type { Roots } from '../../gateway/types.ts'
import type { RunRecord } from '../../transaction/record.ts'
import { settingsNow } from '../inventory/client-files.ts'
import { configuredOptions, isSetUp } from '../inventory/client-state.ts'
import type { Session } from '../screen/session.ts'
import type { Heard, Kept, SetupRequest, SetupRun } from './run.ts'

/** What was chosen before, for each client that is set up: by repoint, or by its user since. */
export function keptChoices(
  session: Session,
  clients: readonly Client[],
  runs: readonly RunRecord[],
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
  { options, optionsOf }: Pick<SetupRequest, 'options' | 'optionsOf'>,
  { id }: Client,
): SetupOptions {
  return optionsOf?.get(id) ?? options
}

interface Wanted extends Pick<SetupRun, 'kept'> {
  readonly request: Pick<SetupRequest, 'options' | 'optionsOf' | 'defaults' | 'isKeyOnly'>
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
  const { isListMissing, refused } = heard
  return {
    ...wantedOptions(wanted, client, roots, heard),
    ...compact({ isListMissing, isRefused: refused.length > 0 || undefined }),
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
  if (request.defaults) return { disableAttribution: false, ...named }

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
