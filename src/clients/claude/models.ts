import { compact } from '../../compact.ts'
import { UserError } from '../../errors.ts'
import {
  type ChosenModel,
  gptTiers,
  isChatModel,
  messagesTiers,
  onlyModel,
} from '../../gateway/models/rules.ts'
import type { Catalog } from '../../gateway/types.ts'
import type { Notice } from '../../notice.ts'
import {
  type ModelChoice,
  type ModelUse,
  type SetupOptions,
  type Slot,
  slots,
  usualSlot,
} from '../client.ts'
import { aboutNames, checkedModel, type WindowHabit, windowOf } from '../models.ts'
import { aboutFilled, fillSlots, type Pins } from './fill.ts'
import { knowsModel, slotWithoutModel } from './sent.ts'
import { withoutWindow } from './settings.ts'
import { firstAsked, type Start } from './start.ts'

/** GPT models for the slots and for subagents. Undefined: no rule fits. */
function gptMapping(
  catalog: Catalog,
): Readonly<Record<Slot | 'subagent', ChosenModel | undefined>> {
  const { best, balanced, small } = gptTiers(catalog)
  return { opus: best, fable: best, sonnet: balanced, haiku: small, subagent: small }
}

/**
 * The default mapping: nothing is pinned but what was asked for, and what the gateway has not under
 * the client's own ids.
 *
 * @throws UserError `model-unknown` for a slot that the catalog cannot fill, `protocol-unsupported`
 */
export function chooseSlots(
  catalog: Catalog | undefined,
  options: SetupOptions,
  version?: string,
): ModelChoice {
  const slot = options.slot ?? usualSlot
  const named = checkedPins(catalog, options, slot)
  const filled = fillSlots({ catalog, options, slot, named, version })
  const subagentModel =
    options.subagentModel && checkedAsWritten(catalog, options, options.subagentModel)
  const asked = { command: 'claude', catalog, options, version } as const
  return choiceOf(asked, { ...named, ...filled }, subagentModel, aboutFilled(filled, catalog))
}

/**
 * The GPT mapping: every slot and the subagent get a model of the catalog, or the one that it has.
 *
 * @throws UserError `usage` where no rule fits and nothing was asked for, `protocol-unsupported`
 */
export function chooseMapped(
  catalog: Catalog | undefined,
  options: SetupOptions,
  version?: string,
): ModelChoice {
  const slot = options.slot ?? usualSlot
  const slotModels = mappedSlots(catalog, options, checkedPins(catalog, options, slot))
  const subagentModel = options.subagentModel
    ? checkedAsWritten(catalog, options, options.subagentModel)
    : ((catalog && gptMapping(catalog).subagent?.id) ?? slotModels.haiku)
  return choiceOf({ command: 'claude-gpt', catalog, options, version }, slotModels, subagentModel)
}

interface Asked extends Pick<Start, 'command' | 'catalog' | 'version'> {
  readonly options: SetupOptions
}

function choiceOf(
  { command, catalog, options, version }: Asked,
  slotModels: Pins,
  subagentModel: string | undefined,
  aboutSlots: readonly Notice[] = [],
): ModelChoice {
  const slot = options.slot ?? usualSlot
  // A slot or a model that is named says more than what stands there.
  const startModel = (options.slot ?? options.model) === undefined ? options.startModel : undefined
  // What is started with in the place of a slot is asked for as its pin would be.
  const pins = startModel === undefined ? slotModels : { ...slotModels, [slot]: startModel }
  const used = [...Object.values(slotModels), ...(subagentModel ? [subagentModel] : [])]
  const window = windowOf(catalog, used, options, windows(version))
  const { notes, ...first } = firstAsked({
    command,
    slot: slotTaken(options, slot, version),
    pins: idsOf(pins),
    catalog,
    version,
  })
  return {
    ...first,
    alsoSent: used.map(withoutWindow),
    model: pins[slot] ?? slot,
    slot,
    ...compact({ startModel, subagentModel: subagentModel || undefined }),
    slotModels,
    ...window,
    notes: [
      ...aboutNames(catalog, askedFor(options), options),
      ...aboutSlots,
      ...notes,
      ...window.notes,
    ],
  }
}

/** @throws UserError `usage` naming every slot that no rule fills */
function mappedSlots(
  catalog: Catalog | undefined,
  options: SetupOptions,
  pins: Pins,
): Readonly<Record<Slot, string>> {
  const rules = catalog && gptMapping(catalog)
  const only = catalog && onlyModel(catalog, 'messages')
  const modelOf = (slot: Slot) =>
    pins[slot] ?? rules?.[slot]?.id ?? (slot === 'fable' ? pins.opus : undefined) ?? only
  const missing = slots.filter((slot) => modelOf(slot) === undefined)
  if (missing.length > 0) throw noRule(catalog, options, missing)
  return Object.fromEntries(slots.map((slot) => [slot, modelOf(slot)])) as Record<Slot, string>
}

/** For a model that is not its own the client takes a number that fits its own (2026-11-22). */
function windows(version: string | undefined): WindowHabit {
  return {
    // What is written behind the name says it.
    knows: (id) => withoutWindow(id) !== id || knowsModel(id, version),
    otherwise: 'Claude Code guesses it, 1,000,000 tokens or, in older versions, 200,000',
  }
}

function askedFor({ model, slotModels, subagentModel }: SetupOptions) {
  const asked = [model, ...Object.values(slotModels ?? {}), subagentModel]
  return asked.flatMap((id) => (id === undefined ? [] : [withoutWindow(id)]))
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

function slotTaken(
  { isSlotUnnamed, isConfigured }: SetupOptions,
  slot: Slot,
  version: string | undefined,
): Slot {
  const isOwn = isSlotUnnamed && isConfigured && version !== undefined
  return isOwn ? slotWithoutModel(version) : slot
}

function checkedPins(catalog: Catalog | undefined, options: SetupOptions, slot: Slot): Pins {
  const asked: Partial<Record<Slot, string>> = { ...options.slotModels }
  // A model for the slot by its own name says more than the one for whichever slot is chosen.
  if (options.model !== undefined) asked[slot] ??= options.model
  return Object.fromEntries(
    slots.flatMap((name) => {
      const id = asked[name]
      return id === undefined ? [] : [[name, checkedAsWritten(catalog, options, id)]]
    }),
  )
}

/** The catalog's id, with the window that was written behind the name. */
function checkedAsWritten(
  catalog: Catalog | undefined,
  options: SetupOptions,
  written: string,
): string {
  const asked = withoutWindow(written)
  return checkedModel(catalog, asked, 'messages', options) + written.slice(asked.length)
}

/** Without what is written behind the names. */
function idsOf(pins: Pins): Pins {
  return Object.fromEntries(Object.entries(pins).map(([slot, id]) => [slot, withoutWindow(id)]))
}

function noRule(
  catalog: Catalog | undefined,
  { isListMissing }: SetupOptions,
  missing: readonly Slot[],
): UserError {
  const flags = missing.map((slot) => `--${slot}-model`)
  if (catalog === undefined) {
    const [why, otherWay] = isListMissing
      ? ['Without a list of models', '']
      : ['Without asking the gateway', ', or leave --no-verify out']
    return new UserError({
      code: 'usage',
      message: `${why}, the model of every slot must be named`,
      hint: `Add ${flags.map((flag) => `${flag} ID`).join(' ')}${otherWay}.`,
    })
  }
  const offered = catalog.models.filter(isChatModel).slice(0, 5)
  return new UserError({
    code: 'usage',
    message: `No rule finds a GPT model for the ${missing.length === 1 ? 'slot' : 'slots'} ${missing.join(', ')} in the gateway's catalog`,
    hint: `Name one with ${flags.join(', ')}${offered.length === 0 ? '' : `: ${offered.map(({ id }) => id).join(', ')}`}. \`repoint models\` shows all.`,
  })
}
