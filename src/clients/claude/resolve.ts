import { compact } from '../../compact.ts'
import type { Finding } from '../../finding.ts'
import { messagesTiers } from '../../gateway/models/rules.ts'
import type { Catalog } from '../../gateway/types.ts'
import type { ProgramFacts } from '../contract/program.ts'
import {
  catalogIn,
  type ModelUse,
  type ResolvedOptions,
  type ResolveInput,
} from '../contract/setup.ts'
import { type WindowHandling, windowOf } from '../models/context-window.ts'
import { nameFindings, resolveModelId } from '../models/resolve.ts'
import { claudeGptName, claudeName } from '../names.ts'
import { effectiveOptions, keepsModels } from '../options/chosen-options.ts'
import { type Slot, slotIn, slots } from './flags.ts'
import { type Pins, slotOf, withoutWindow } from './settings.ts'
import { fillMapping, gptModels, usesOfGptModels } from './slots/fill-mapping.ts'
import { filledSlotFindings, fillSlots, strangerIn } from './slots/fill-slots.ts'
import { firstModel, type Start } from './slots/first-model.ts'
import { knowsModel, slotWithoutModel } from './versions.ts'

declare module '../contract/setup.ts' {
  interface ResolvedOptions {
    /** The top-level `model` of the settings: a slot, or a model that is in no slot. */
    readonly start?: string
    readonly slotModels?: Pins
    readonly subagentModel?: string
  }
}

/**
 * The options of `claude`: it pins only the models that the user requested and those whose IDs the gateway
 * does not have.
 *
 * @throws ModelNeeded for a slot that the catalog cannot fill
 */
export function resolveClaude(
  input: ResolveInput,
  { version }: ProgramFacts = {},
): ResolvedOptions {
  const startSlot = slotIn(effectiveOptions(input))
  const pins = usablePins(input, startSlot)
  const subagentModel = usableSubagent(input)

  const isUnnamed = Object.keys(pins).length === 0
  const stranger = isUnnamed ? strangerIn(input) : undefined
  const filled = fillSlots({ input, startSlot, pins, version, stranger: stranger?.id })
  const catalog = catalogIn(input.gatewayInfo)
  return resolvedWith({
    command: claudeName.id,
    input,
    version,
    slotModels: { ...pins, ...filled },
    subagentModel,
    slotFindings: filledSlotFindings(filled, catalog),
    uses: stranger
      ? [stranger]
      : usesOfSlots(catalog).filter(({ purpose }) => pins[purpose] === undefined),
  })
}

/**
 * The options of `claude-gpt`, a mapping: every slot and the subagent get a model of the catalog, or keep the
 * one that they have.
 *
 * @throws ModelNeeded if no rule fits and the user requested no model
 */
export function resolveClaudeGpt(
  input: ResolveInput,
  { version }: ProgramFacts = {},
): ResolvedOptions {
  const catalog = catalogIn(input.gatewayInfo)
  const startSlot = slotIn(effectiveOptions(input))
  const pins = usablePins(input, startSlot)
  const subagentModel = usableSubagent(input)
  const slotModels = fillMapping(input.gatewayInfo, pins)

  const chosenByUser: Readonly<Record<string, string | undefined>> = {
    ...pins,
    subagent: subagentModel,
  }
  return resolvedWith({
    command: claudeGptName.id,
    input,
    version,
    slotModels,
    subagentModel:
      subagentModel ?? (catalog && gptModels(catalog).subagent?.id) ?? slotModels.haiku,
    uses: usesOfGptModels(catalog).filter(({ purpose }) => chosenByUser[purpose] === undefined),
  })
}

interface ChosenModels extends Pick<Start, 'command' | 'version'> {
  readonly input: ResolveInput
  readonly slotModels: Pins
  readonly subagentModel: string | undefined
  readonly slotFindings?: readonly Finding[]
  readonly uses: readonly ModelUse[]
}

/**
 * The options for chosen models. What the client starts with:
 *
 *     the user names now    the settings have a `startModel`    the client starts with
 *     a slot or a model     any                                 the slot: its pin, or the client's own model
 *     neither               yes                                 that model
 *     neither               no                                  the slot
 */
function resolvedWith(chosen: ChosenModels): ResolvedOptions {
  const { command, input, version, slotModels, subagentModel, slotFindings = [], uses } = chosen
  const { requested, modelForAll, gatewayInfo } = input
  const options = effectiveOptions(input)
  const startSlot = slotIn(options)

  const namesStart = [requested.slot, requested.model, modelForAll].some(
    (name) => name !== undefined,
  )
  const startModel = namesStart ? undefined : options.startModel
  /** What the settings name for the first request. Undefined: the client chooses the slot's model. */
  const firstNamed = startModel ?? slotModels[startSlot]
  const used = [
    ...Object.values(slotModels),
    ...(subagentModel && !isAlias(subagentModel) ? [subagentModel] : []),
  ]
  const window = windowOf(input, used, windows(version))

  const first = firstModel({
    command,
    slot: slotToProbe(input, startSlot, version),
    pins: idsOf({ ...slotModels, ...compact({ [startSlot]: firstNamed }) }),
    catalog: catalogIn(gatewayInfo),
    version,
  })

  return {
    ...first,
    protocol: 'messages',
    otherModels: used.map(withoutWindow),
    offered: [],
    offersWholeCatalog: false,
    model: firstNamed ?? startSlot,
    start: startModel ?? startSlot,
    uses,
    ...compact({ subagentModel: subagentModel || undefined }),
    slotModels,
    ...window,
    findings: [
      ...nameFindings(input, chosenIds(input, startSlot)),
      ...slotFindings,
      ...first.findings,
      ...window.notes,
    ],
  }
}

/** For a model that is not its own, Claude Code assumes a window that fits its own models. */
function windows(version: string | undefined): WindowHandling {
  return {
    // The suffix of a name states the window.
    knows: (id) => withoutWindow(id) !== id || knowsModel(version, id),
    ifUnknown: 'Claude Code assumes 1,000,000 tokens (older versions: 200,000)',
  }
}

/** The models that the user chose, now or before. */
function chosenIds(input: ResolveInput, startSlot: Slot): readonly string[] {
  const { model, subagentModel } = effectiveOptions(input)
  const ids = [model, ...Object.values(chosenPins(input, startSlot))]
  if (subagentModel !== undefined && !isAlias(subagentModel)) ids.push(subagentModel)
  return ids.flatMap((id) => (id === undefined ? [] : [withoutWindow(id)]))
}

/** The models of each slot's tier: Claude Code itself chooses one of them. */
function usesOfSlots(
  catalog: Catalog | undefined,
): readonly (ModelUse & { readonly purpose: Slot })[] {
  if (catalog === undefined) return []
  const tiers = messagesTiers(catalog, slots)
  return slots.flatMap((purpose) =>
    tiers[purpose].map((id) => ({ purpose, id, reason: `its ID contains ${purpose}` })),
  )
}

/** The slot of the first request: the client's own default if no file names a model, and the user names none. */
function slotToProbe(input: ResolveInput, startSlot: Slot, version: string | undefined): Slot {
  const isUnnamed = input.earlier?.unsetOptions?.includes('slot') === true && keepsModels(input)
  return isUnnamed ? slotWithoutModel(version) : startSlot
}

/** The pins that the user chose, as the gateway names their models. */
function usablePins(input: ResolveInput, startSlot: Slot): Pins {
  const chosen = chosenPins(input, startSlot)
  const pins: Partial<Record<Slot, string>> = {}
  for (const slot of slots) {
    const id = chosen[slot] ?? input.modelForAll
    if (id !== undefined) pins[slot] = usableAsWritten(input, id)
  }
  return pins
}

/** The pins that the user chose, now or before. A requested `model` is the pin of the start slot. */
function chosenPins({ requested, earlier }: ResolveInput, startSlot: Slot): Pins {
  const { model, slotModels } = requested
  return {
    ...earlier?.options.slotModels,
    ...compact({ [startSlot]: model }),
    ...slotModels,
  }
}

function usableSubagent(input: ResolveInput): string | undefined {
  const subagentModel = effectiveOptions(input).subagentModel || input.modelForAll
  if (!subagentModel) return undefined
  return isAlias(subagentModel) ? subagentModel : usableAsWritten(input, subagentModel)
}

/** Whether a subagent's model is a slot, or the model of its caller. Claude Code replaces such a word before it sends it. */
function isAlias(model: string): boolean {
  return slotOf(model) !== undefined || model.toLowerCase() === 'inherit'
}

/** The catalog's ID, with the window suffix that the user wrote. @throws as `resolveModelId` */
function usableAsWritten(input: ResolveInput, written: string): string {
  const id = withoutWindow(written)
  return resolveModelId(input, id, ['messages']) + written.slice(id.length)
}

/** The pins without window suffixes. */
function idsOf(pins: Pins): Pins {
  return Object.fromEntries(Object.entries(pins).map(([slot, id]) => [slot, withoutWindow(id)]))
}
