import {
  gptTiers,
  isChatModel,
  type ModelWithReason,
  onlyModel,
} from '../../../gateway/models/rules.ts'
import type { Catalog } from '../../../gateway/types.ts'
import { catalogIn, type GatewayInfo, ModelNeeded, type ModelUse } from '../../contract/setup.ts'
import { allModels } from '../../models/resolve.ts'
import { type Slot, slots } from '../flags.ts'
import type { Pins } from '../settings.ts'

/** The GPT models for the slots and for subagents. Undefined: no rule fits. */
export function gptModels(
  catalog: Catalog,
): Readonly<Record<Slot | 'subagent', ModelWithReason | undefined>> {
  const { best, balanced, small } = gptTiers(catalog)
  return { opus: best, fable: best, sonnet: balanced, haiku: small, subagent: small }
}

/**
 * The pins of a mapping: those that the user chose, and GPT models for the other slots.
 *
 * @throws ModelNeeded that names every slot that no rule fills
 */
export function fillMapping(gatewayInfo: GatewayInfo, pins: Pins): Readonly<Record<Slot, string>> {
  const catalog = catalogIn(gatewayInfo)
  const rules = catalog && gptModels(catalog)
  const only = catalog && onlyModel(catalog, 'messages')
  const modelOf = (slot: Slot) => {
    // The user may not know fable, a slot of newer versions, which GPT models fill like opus.
    const opusForFable = slot === 'fable' ? pins.opus : undefined
    return pins[slot] ?? rules?.[slot]?.id ?? opusForFable ?? only
  }

  const unfilled = slots.filter((slot) => modelOf(slot) === undefined)
  if (unfilled.length > 0) throw noRule(gatewayInfo, unfilled)
  return Object.fromEntries(slots.map((slot) => [slot, modelOf(slot)])) as Record<Slot, string>
}

function noRule(gatewayInfo: GatewayInfo, unfilled: readonly Slot[]): ModelNeeded {
  const catalog = catalogIn(gatewayInfo)
  const flags = unfilled.map((slot) => `--${slot}-model`)
  if (catalog === undefined) {
    const isAsked = gatewayInfo.catalogAnswer.kind !== 'not-requested'
    const [why, otherWay] = isAsked
      ? ['The gateway has no list of models', '']
      : ['repoint does not ask the gateway', '. Or remove --no-verify.']
    return new ModelNeeded({
      code: 'usage',
      message: `${why}, so you must name the model of every slot`,
      hint: `Add ${flags.map((flag) => `${flag} ID`).join(' ')}${otherWay}`,
    })
  }

  const offered = catalog.models.filter(isChatModel).slice(0, 5)

  return new ModelNeeded({
    code: 'usage',
    message: `The gateway has no GPT model that repoint knows, for the ${unfilled.length === 1 ? 'slot' : 'slots'} ${unfilled.join(', ')}`,
    hint: `Name one with ${flags.join(', ')}${offered.length === 0 ? '' : `: ${offered.map(({ id }) => id).join(', ')}`}${allModels(gatewayInfo, 5)}`,
  })
}

/** The models of `gptModels`, as reports show them. */
export function usesOfGptModels(
  catalog: Catalog | undefined,
): readonly (ModelUse & { readonly purpose: Slot | 'subagent' })[] {
  if (catalog === undefined) return []
  const models = gptModels(catalog)
  return [...slots, 'subagent' as const].flatMap((purpose) => {
    const chosen = models[purpose]
    return chosen === undefined ? [] : [{ purpose, ...chosen }]
  })
}
