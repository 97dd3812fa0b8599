import { compact } from '../../compact.ts'
import type { Client } from '../contract/client.ts'
import type { ClientOptions, OptionName } from '../contract/options.ts'
import type { ChosenOptions } from '../contract/setup.ts'
import type { ClientState } from '../contract/state.ts'
import { mergeOptions } from './flags.ts'

/** The options in effect: requested options override earlier ones. */
export function effectiveOptions({
  requested,
  earlier,
  modelForAll,
}: ChosenOptions): ClientOptions {
  const options = mergeOptions([earlier?.options ?? {}, compact(requested)])
  return { ...options, model: options.model ?? modelForAll }
}

/**
 * The options of the current configuration that a setup keeps. It keeps a provider ID only if a setup can
 * write it.
 *
 * @param setUpAs the ID of the client of its family that was set up; absent: this client
 */
export function optionsToKeep(
  client: Pick<Client, 'id' | 'family' | 'config'>,
  state: ClientState,
  setUpAs = client.id,
): ClientOptions {
  const { reservedProviderIds = [], keptOptions, modelSuffix } = client.config
  const names = keptOptions?.[setUpAs === client.id ? 'ofClient' : 'ofFamily']
  const kept: ClientOptions = Object.fromEntries(
    Object.entries(state.options).filter(([name]) => names?.includes(name as OptionName) ?? true),
  )

  const { providerId = '' } = kept
  const isUsable = providerId !== '' && !reservedProviderIds.includes(providerId)
  return compact({
    ...(modelSuffix ? withModels(kept, (id) => id.replace(modelSuffix, '')) : kept),
    providerId: isUsable ? providerId : undefined,
  })
}

/** The options that name models, in the order in which reports show them. `slotModels` holds several. */
const modelOptions = ['model', 'startModel', 'slotModels', 'subagentModel', 'smallModel'] as const

/** Every model in the options, once. */
export function modelsIn(options: ClientOptions): readonly string[] {
  const all = modelOptions.flatMap((name) => {
    const value = options[name]
    return typeof value === 'object' ? Object.values(value) : [value]
  })
  return [...new Set(all.filter((id) => id !== undefined))]
}

export function withoutModels(options: ClientOptions, ids: readonly string[]): ClientOptions {
  return withModels(options, (id) => (ids.includes(id) ? undefined : id))
}

/** The options with each model replaced by the result of `replace`. Undefined removes a model. */
function withModels(
  options: ClientOptions,
  replace: (id: string) => string | undefined,
): ClientOptions {
  const replaced = modelOptions.map((name) => {
    const value = options[name]
    if (typeof value !== 'object') return [name, value === undefined ? undefined : replace(value)]
    const bySlot = Object.entries(value).map(([slot, id]) => [slot, replace(id)])
    return [name, compact(Object.fromEntries(bySlot))]
  })
  return { ...options, ...Object.fromEntries(replaced) }
}

/**
 * Whether an earlier setup chose the models and the user requests no others. Then they stay as they are, and
 * repoint does not look for them under another name.
 */
export function keepsModels(input: ChosenOptions): boolean {
  const { requested, earlier, modelForAll } = input
  const namesNone = requested.slot === undefined && modelsIn(requested).length === 0
  return earlier !== undefined && namesNone && modelForAll === undefined
}
