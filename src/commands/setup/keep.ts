import { type Client, protocolOf, type SetupOptions, usualSlot } from '../../clients/client.ts'
import { isOffered } from '../../clients/models.ts'
import { compact } from '../../compact.ts'
import { isSameButVersion, rootFor } from '../../gateway/roots.ts'
import type { Catalog, Roots } from '../../gateway/types.ts'
import type { RunRecord } from '../../transaction/record.ts'
import { settingsNow } from '../inventory/client-files.ts'
import { isSetUp, setUpAs } from '../inventory/client-state.ts'
import type { Session } from '../screen/session.ts'
import type { Kept, SetupRequest, SetupRun } from './run.ts'

/** What was chosen before, for each client that is set up: by repoint, or by its user since. */
export function keptChoices(
  session: Session,
  clients: readonly Client[],
  runs: readonly RunRecord[],
): ReadonlyMap<Client, Kept> {
  const kept = clients.flatMap((client): [Client, Kept][] => {
    const settings = settingsNow(session, client)
    if (settings?.root === undefined || !isSetUp(client, settings, runs)) return []
    const isOwn = setUpAs(client, runs) === client.id || undefined
    const options = client.asConfigured(settings, isOwn)
    return [[client, { root: settings.root, options }]]
  })
  return new Map(kept)
}

interface Wanted extends Pick<SetupRun, 'kept'> {
  readonly request: Pick<SetupRequest, 'options' | 'optionsOf' | 'defaults' | 'isKeyOnly'>
}

/**
 * The options of one client: what is named now wins over what was chosen before, as far as the
 * gateway at `roots` has its models. Pure.
 */
export function optionsFor(
  { request, kept }: Wanted,
  client: Client,
  roots: Roots,
  catalog: Catalog | undefined,
): SetupOptions {
  const { options, optionsOf, defaults } = request
  const named = optionsOf?.get(client.id) ?? options
  const before = kept.get(client)
  if (before === undefined) return named
  if (defaults) return { disableAttribution: false, ...named }

  const { slotModels = {}, contextWindow, ...others } = before.options
  const lost = new Set(request.isKeyOnly ? [] : lostModels(client, before, catalog))
  const stays = (id: string | undefined) => (id === undefined || lost.has(id) ? undefined : id)
  const slot = named.slot ?? others.slot ?? usualSlot
  const pins = Object.entries(slotModels).filter(
    // The model that is named now is that of the slot that is started with.
    ([name, id]) => stays(id) && !(name === slot && named.model !== undefined),
  )

  // A window is that of the models, at one gateway.
  const isThere = isSameButVersion(before.root, rootFor(roots, protocolOf(client, before.options)))
  const isSame = isThere && lost.size === 0 && modelsOf(named).length === 0
  return {
    ...others,
    model: stays(others.model),
    startModel: stays(others.startModel),
    subagentModel: stays(others.subagentModel),
    smallModel: stays(others.smallModel),
    contextWindow: isSame ? contextWindow : undefined,
    ...compact(named),
    isConfigured: named.slot === undefined && modelsOf(named).length === 0,
    slotModels: { ...Object.fromEntries(pins), ...named.slotModels },
  }
}

/** The models of before that the gateway has not: the rules choose in their place. */
export function lostModels(
  client: Client,
  { options }: Kept,
  catalog: Catalog | undefined,
): readonly string[] {
  if (catalog === undefined) return []
  return modelsOf(options).filter((id) => !isOffered(catalog, id, protocolOf(client, options)))
}

/** Every model that options name, once. */
export function modelsOf(options: SetupOptions): readonly string[] {
  const { model, startModel, slotModels = {}, subagentModel, smallModel } = options
  const named = [model, startModel, ...Object.values(slotModels), subagentModel, smallModel]
  return [...new Set(named.filter((id) => id !== undefined))]
}
