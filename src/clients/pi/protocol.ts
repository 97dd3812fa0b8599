import { type ChosenModel, defaultModel, resolveModel, speaks } from '../../gateway/models/rules.ts'
import type { Catalog, ProtocolName } from '../../gateway/types.ts'
import type { SetupOptions } from '../client.ts'

/**
 * In this order, where the gateway says that the model speaks it: the one that keeps the most of what
 * a model says between two requests before the others, and a model's own before a translation.
 */
const byRank: readonly ProtocolName[] = ['responses', 'messages', 'chat']

/** What every gateway serves, where it does not say more. */
export const usualProtocol: ProtocolName = 'chat'

/** The protocol that a gateway lists for the model that is asked for or would be chosen. Pure. */
export function bestProtocol(
  catalog: Catalog | undefined,
  { model }: Pick<SetupOptions, 'model'>,
): ProtocolName {
  if (catalog === undefined) return usualProtocol
  const chosen = model === undefined ? chosenByRules(catalog) : resolveModel(catalog, model)
  const entry = catalog.models.find(({ id }) => id === chosen?.id)
  if (entry === undefined) return usualProtocol
  return byRank.find((protocol) => speaks(entry, protocol) === true) ?? usualProtocol
}

/** The model for a client that speaks all protocols. Undefined: only a person can choose. Pure. */
export function chosenByRules(catalog: Catalog): ChosenModel | undefined {
  for (const protocol of [usualProtocol, ...byRank]) {
    const chosen = defaultModel(catalog, protocol)
    if (chosen !== undefined) return chosen
  }
  return undefined
}
