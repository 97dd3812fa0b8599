import { compact } from '../../compact.ts'
import { type Client, isConfiguredAs } from '../contract/client.ts'
import type { ClientOptions, OptionName } from '../contract/options.ts'
import type { ResolveInput } from '../contract/setup.ts'
import type { ClientState } from '../contract/state.ts'

/** The options in effect: requested options override previous ones. */
export function effectiveOptions({
  requested,
  previous,
}: Omit<ResolveInput, 'gatewayInfo'>): ClientOptions {
  return {
    ...previous?.options,
    ...compact(requested),
    slotModels: { ...previous?.options.slotModels, ...requested.slotModels },
  }
}

/**
 * The options of the current configuration that a setup keeps. It keeps a provider ID only if a setup can
 * write it.
 *
 * @param isOwn whether it was set up as this client of its family. Absent: the state decides
 */
export function optionsToKeep(
  client: Pick<Client, 'id' | 'family' | 'config'>,
  state: ClientState,
  isOwn = isConfiguredAs(client, state),
): ClientOptions {
  const { reservedProviderIds = [], keptOptions, familyOptions, modelSuffix } = client.config
  const names = isOwn ? keptOptions : familyOptions
  const kept: ClientOptions = Object.fromEntries(
    Object.entries(state.options).filter(([name]) => names?.includes(name as OptionName) ?? true),
  )

  const { providerId = '' } = kept
  const isUsable = providerId !== '' && !reservedProviderIds.includes(providerId)
  return compact({
    ...withoutSuffixes(kept, modelSuffix),
    providerId: isUsable ? providerId : undefined,
  })
}

function withoutSuffixes(options: ClientOptions, suffix: RegExp | undefined): ClientOptions {
  if (suffix === undefined) return options
  const { startModel, subagentModel, slotModels = {} } = options
  const idOf = (model: string | undefined) => model?.replace(suffix, '')
  const bySlot = Object.entries(slotModels).map(([slot, model]) => [slot, idOf(model)])
  return {
    ...options,
    startModel: idOf(startModel),
    subagentModel: idOf(subagentModel),
    slotModels: Object.fromEntries(bySlot),
  }
}

/**
 * Whether an earlier setup chose the models and the user requests no others. Then they stay as they are, and
 * repoint does not look for them under another name.
 */
export function keepsModels({ requested, previous }: Omit<ResolveInput, 'gatewayInfo'>): boolean {
  return previous !== undefined && requested.slot === undefined && modelsIn(requested).length === 0
}

/** Every model in the options, once. */
export function modelsIn(options: ClientOptions): readonly string[] {
  const { model, startModel, slotModels = {}, subagentModel, smallModel } = options
  const all = [model, startModel, ...Object.values(slotModels), subagentModel, smallModel]
  return [...new Set(all.filter((id) => id !== undefined))]
}
