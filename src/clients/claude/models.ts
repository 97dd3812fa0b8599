import { UserError } from '../../errors.ts'
import {
  type ChosenModel,
  gptTiers,
  isChatModel,
  messagesTiers,
} from '../../gateway/models/rules.ts'
import type { Catalog } from '../../gateway/types.ts'
import {
  type ModelChoice,
  type ModelUse,
  type SetupOptions,
  type Slot,
  slots,
  usualSlot,
} from '../client.ts'
import { checkedModel, renamings, type WindowHabit, windowOf } from '../models.ts'
import { knowsModel, slotWithoutModel } from './sent.ts'
import { firstAsked } from './start.ts'

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
export function chooseSlots(
  catalog: Catalog | undefined,
  options: SetupOptions,
  version?: string,
): ModelChoice {
  const slot = options.slot ?? usualSlot
  const pins = checkedPins(catalog, options, slot)
  const start = startOf(options, slot, pins)
  const subagentModel =
    options.subagentModel && checkedModel(catalog, options.subagentModel, 'messages', options)
  const pinned = [...Object.values(pins), ...(subagentModel ? [subagentModel] : [])]
  const window = windowOf(catalog, pinned, options, windows(version))
  const { notes, ...first } = firstAsked({
    command: 'claude',
    slot: slotTaken(options, slot, version),
    pins: start.pins,
    catalog,
    version,
  })
  return {
    ...first,
    model: start.pins[slot] ?? slot,
    slot,
    ...start.instead,
    slotModels: pins,
    ...(subagentModel ? { subagentModel } : {}),
    ...window,
    notes: [...renamings(catalog, askedFor(options), options), ...notes, ...window.notes],
  }
}

/**
 * The GPT mapping: every slot and the subagent get a model of the catalog.
 *
 * @throws UserError `usage` where no rule fits and nothing was asked for, `model-unknown`,
 *   `protocol-unsupported`
 */
export function chooseMapped(
  catalog: Catalog | undefined,
  options: SetupOptions,
  version?: string,
): ModelChoice {
  const slot = options.slot ?? usualSlot
  const pins = checkedPins(catalog, options, slot)
  const rules = catalog && gptMapping(catalog)
  const slotModels = Object.fromEntries(
    slots.map((name) => {
      const model = pins[name] ?? rules?.[name]?.id ?? (name === 'fable' ? pins.opus : undefined)
      if (model === undefined) throw noRule(catalog, name)
      return [name, model]
    }),
  ) as Record<Slot, string>
  const start = startOf(options, slot, slotModels)
  const subagentModel = options.subagentModel
    ? checkedModel(catalog, options.subagentModel, 'messages', options)
    : (rules?.subagent?.id ?? slotModels.haiku)
  const used = [...Object.values(slotModels), subagentModel]
  const window = windowOf(catalog, used, options, windows(version))
  const { notes, ...first } = firstAsked({
    command: 'claude-gpt',
    slot: slotTaken(options, slot, version),
    pins: start.pins,
    catalog,
    version,
  })
  return {
    ...first,
    model: start.pins[slot]!,
    slot,
    ...start.instead,
    slotModels,
    subagentModel,
    ...window,
    notes: [...renamings(catalog, askedFor(options), options), ...notes, ...window.notes],
  }
}

/** For a model that is not its own the client takes a number that fits its own (2026-11-22). */
function windows(version: string | undefined): WindowHabit {
  return {
    knows: (id) => knowsModel(id, version),
    otherwise: 'Claude Code guesses it, 1,000,000 tokens or, in older versions, 200,000',
  }
}

function askedFor({ model, slotModels, subagentModel }: SetupOptions) {
  return [model, ...Object.values(slotModels ?? {}), subagentModel]
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

type Pins = Readonly<Partial<Record<Slot, string>>>

function slotTaken(
  { isSlotUnnamed, isConfigured }: SetupOptions,
  slot: Slot,
  version: string | undefined,
): Slot {
  const isOwn = isSlotUnnamed && isConfigured && version !== undefined
  return isOwn ? slotWithoutModel(version) : slot
}

/** What is started with in the place of a slot is asked for as its pin would be. */
function startOf(
  { slot: named, model, startModel }: SetupOptions,
  slot: Slot,
  pins: Pins,
): { readonly pins: Pins; readonly instead?: { readonly startModel: string } } {
  // A slot or a model that is named says more than what stands there.
  if (startModel === undefined || named !== undefined || model !== undefined) return { pins }
  return { pins: { ...pins, [slot]: startModel }, instead: { startModel } }
}

function checkedPins(catalog: Catalog | undefined, options: SetupOptions, slot: Slot): Pins {
  const asked: Partial<Record<Slot, string>> = { ...options.slotModels }
  // A model for the slot by its own name says more than the one for whichever slot is chosen.
  if (options.model !== undefined) asked[slot] ??= options.model
  return Object.fromEntries(
    slots.flatMap((name) => {
      const id = asked[name]
      return id === undefined ? [] : [[name, checkedModel(catalog, id, 'messages', options)]]
    }),
  )
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
