import { UserError } from '../../errors.ts'
import { nearestModels } from '../../gateway/models/nearest.ts'
import {
  type ChosenModel,
  gptTiers,
  isChatModel,
  messagesTiers,
} from '../../gateway/models/rules.ts'
import type { Catalog } from '../../gateway/types.ts'
import type { Notice } from '../../notice.ts'
import { type ModelChoice, type ModelUse, type SetupOptions, type Slot, slots } from '../client.ts'
import { checkedModel, windowOf } from '../models.ts'

/**
 * What the client sends for each slot that is not pinned, by version, the newest first. Run against
 * these versions, 2026-11-21.
 */
const sentFor: Readonly<Record<Slot, readonly (readonly [version: string, id: string])[]>> = {
  opus: [
    ['2.1.329', 'claude-opus-5-5'],
    ['2.1.197', 'claude-opus-4-8'],
  ],
  sonnet: [
    ['2.1.329', 'claude-sonnet-5-5'],
    ['2.1.197', 'claude-sonnet-5'],
  ],
  haiku: [
    ['2.1.329', 'claude-haiku-5-5'],
    ['2.1.197', 'claude-haiku-4-5-20251001'],
  ],
  fable: [
    ['2.1.329', 'claude-fable-5-2'],
    ['2.1.197', 'claude-fable-5'],
  ],
}

/** GPT models for the slots and for subagents. Undefined: no rule fits. */
function gptMapping(
  catalog: Catalog,
): Readonly<Record<Slot | 'subagent', ChosenModel | undefined>> {
  const { best, balanced, small } = gptTiers(catalog)
  return { opus: best, fable: best, sonnet: balanced, haiku: small, subagent: small }
}

/**
 * The default mapping: nothing is pinned but what was asked for.
 *
 * @throws UserError `model-unknown` for a slot that the catalog cannot fill or an id that it lacks,
 *   `protocol-unsupported`
 */
export function chooseSlots(catalog: Catalog | undefined, options: SetupOptions): ModelChoice {
  const slot = options.slot ?? 'sonnet'
  const pins = checkedPins(catalog, options, slot)
  const subagentModel =
    options.subagentModel && checkedModel(catalog, options.subagentModel, 'messages')
  const pinned = [...Object.values(pins), ...(subagentModel ? [subagentModel] : [])]
  const probeModel = pins[slot] ?? (catalog ? unpinned(catalog, slot) : slot)
  return {
    probeModel,
    model: pins[slot] ?? slot,
    slot,
    slotModels: pins,
    ...(subagentModel ? { subagentModel } : {}),
    // The client knows the windows of its own models.
    ...windowOf(catalog, pinned, options),
    notes: catalog && !pins[slot] ? missingIds(catalog, slot) : [],
  }
}

/**
 * The GPT mapping: every slot and the subagent get a model of the catalog.
 *
 * @throws UserError `usage` where no rule fits and nothing was asked for, `model-unknown`,
 *   `protocol-unsupported`
 */
export function chooseMapped(catalog: Catalog | undefined, options: SetupOptions): ModelChoice {
  const slot = options.slot ?? 'sonnet'
  const pins = checkedPins(catalog, options, slot)
  const rules = catalog && gptMapping(catalog)
  const slotModels = Object.fromEntries(
    slots.map((name) => {
      const model = pins[name] ?? rules?.[name]?.id ?? (name === 'fable' ? pins.opus : undefined)
      if (model === undefined) throw noRule(catalog, name)
      return [name, model]
    }),
  ) as Record<Slot, string>
  const subagentModel = options.subagentModel
    ? checkedModel(catalog, options.subagentModel, 'messages')
    : (rules?.subagent?.id ?? slotModels.haiku)
  return {
    probeModel: slotModels[slot],
    model: slotModels[slot],
    slot,
    slotModels,
    subagentModel,
    ...windowOf(catalog, [...Object.values(slotModels), subagentModel], options),
    notes: [],
  }
}

/** The models of each slot's own tier. */
export function usesOfSlots(catalog: Catalog): readonly ModelUse[] {
  const tiers = messagesTiers(catalog, slots)
  return slots.flatMap((role) =>
    tiers[role].map((id) => ({ role, id, reason: `its id holds the word ${role}` })),
  )
}

export function usesOfMapping(catalog: Catalog): readonly ModelUse[] {
  const mapping = gptMapping(catalog)
  return [...slots, 'subagent' as const].flatMap((role) => {
    const chosen = mapping[role]
    return chosen === undefined ? [] : [{ role, ...chosen }]
  })
}

function checkedPins(
  catalog: Catalog | undefined,
  options: SetupOptions,
  slot: Slot,
): Readonly<Partial<Record<Slot, string>>> {
  const asked: Partial<Record<Slot, string>> = { ...options.slotModels }
  // A model for the slot by its own name says more than the one for whichever slot is chosen.
  if (options.model !== undefined) asked[slot] ??= options.model
  return Object.fromEntries(
    slots.flatMap((name) => {
      const id = asked[name]
      return id === undefined ? [] : [[name, checkedModel(catalog, id, 'messages')]]
    }),
  )
}

/** The id that the newest version sends for a slot, else one of that tier. */
function unpinned(catalog: Catalog, slot: Slot): string {
  const tier = messagesTiers(catalog, slots)[slot]
  const sent = sentFor[slot].find(([, id]) => tier.includes(id))
  const found = sent?.[1] ?? tier.at(-1)
  if (found !== undefined) return found
  const nearest = nearestModels(sentFor[slot][0]![1], catalog)
  throw new UserError({
    code: 'model-unknown',
    message: `The gateway has no model for the slot ${slot}`,
    hint: `${nearest.length === 0 ? '' : `Nearest: ${nearest.join(', ')}. `}Pin one with --model ID, or use \`repoint claude-gpt\`.`,
  })
}

function missingIds(catalog: Catalog, slot: Slot): readonly Notice[] {
  const missing = sentFor[slot].filter(([, sent]) => !catalog.models.some(({ id }) => id === sent))
  if (missing.length === 0) return []
  const tier = messagesTiers(catalog, slots)[slot]
  return [
    {
      code: 'slot-id-missing',
      message: `The gateway has no ${missing.map(([version, id]) => `${id}, which Claude Code ${version} sends`).join(', nor ')} for ${slot}`,
      hint: `If your version is the one, pin a model: --model ${tier.at(-1) ?? 'ID'}.`,
    },
  ]
}

function noRule(catalog: Catalog | undefined, slot: Slot): UserError {
  if (catalog === undefined) {
    return new UserError({
      code: 'usage',
      message: 'Without asking the gateway, the model of every slot must be named',
      hint: `Add --${slot}-model ID, or leave --no-verify out.`,
    })
  }
  const offered = catalog.models.filter(isChatModel).slice(0, 5)
  return new UserError({
    code: 'usage',
    message: `No rule finds a GPT model for the slot ${slot} in the gateway's catalog`,
    hint: `Name one with --${slot}-model${offered.length === 0 ? '' : `: ${offered.map(({ id }) => id).join(', ')}`}. \`repoint models\` shows all.`,
  })
}
