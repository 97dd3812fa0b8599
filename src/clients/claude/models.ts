import { compact } from '../../compact.ts'
import { UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { compareVersions, removeVendor } from '../../gateway/models/ids.ts'
import {
  closestModels,
  type DefaultModel,
  defaultModels,
  gptTiers,
  isChatModel,
  type ModelWithReason,
  messagesTiers,
  onlyModel,
} from '../../gateway/models/rules.ts'
import type { Catalog } from '../../gateway/types.ts'
import type { ProgramFacts } from '../contract/program.ts'
import {
  catalogIn,
  type GatewayInfo,
  ModelNeeded,
  type ModelUse,
  type ResolvedOptions,
  type ResolveInput,
} from '../contract/setup.ts'
import { type WindowHandling, windowOf } from '../models/context-window.ts'
import { allModels, nameFindings, resolveModelId } from '../models/resolve.ts'
import { claudeGptName, claudeName } from '../names.ts'
import { effectiveOptions, keepsModels } from '../options/chosen-options.ts'
import { defaultSlot, type Slot, slotIn, slots } from './flags.ts'
import {
  hasSlot,
  isOwnId,
  knowsModel,
  type Pins,
  placeInTable,
  sentFirst,
  sentIds,
  slotOf,
  slotWithoutModel,
  tableVersions,
  withoutWindow,
} from './settings.ts'

// The first request.

/** How Claude Code starts. */
interface Start {
  /** The command that writes such settings. */
  readonly command: string
  /** The slot of the first request. */
  readonly slot: Slot
  /** A `startModel` counts as the pin of `slot`. */
  readonly pins: Pins
  readonly catalog: Catalog | undefined
  /** The version of the installed client. Absent: it is not installed, or unknown. */
  readonly version: string | undefined
}

type FirstModel = Pick<ResolvedOptions, 'probeModel' | 'probeHint' | 'findings'>

/**
 * The ID that the client requests first, which a probe must prove. The findings report the other IDs that the
 * catalog does not list. The first row that applies decides:
 *
 *     the version does not know the slot    the slot's name, pinned or not
 *     the version is older than the table   the pin, or `client-too-old`
 *     the slot has a pin                    the pin
 *     the table covers the version          the ID that the version sends
 *     the version is newer                  the table's last ID, or a newer one that is listed
 *     the version is unknown                the newest ID of the table that is listed
 *
 * @throws UserError `model-unknown` if the catalog has no model at all for a slot without a pin, or
 *   `client-too-old`
 */
function firstModel(start: Start): FirstModel {
  const { command, slot, pins, version } = start
  const place = placeInTable(version)
  const findings = place === 'covered' || place === 'newer' ? otherSlotFindings(start) : []

  if (!hasSlot(version, slot)) {
    const probeHint = `Claude Code ${version} has no slot ${slot}. Update Claude Code, or use another slot: repoint ${command} --slot opus`
    return { probeModel: slot, probeHint, findings }
  }

  if (place === 'older') expectPins(start)
  const pin = pins[slot]
  if (pin !== undefined) return { probeModel: pin, findings }

  if (place === 'covered') return { ...sentModel(start), findings }

  const ids = sentIds[slot].map(({ id }) => id)
  const possibleIds = place === 'newer' ? ids.slice(-1) : ids
  return {
    probeModel: likelyModel(start, possibleIds),
    findings: [...startSlotFindings(start, possibleIds), ...findings],
  }
}

/**
 * repoint does not know which IDs an older version sends. So each slot that it may start with needs a pin: sonnet
 * at its first start, and later the slot of the settings (see `tableVersions`).
 *
 * @throws UserError `client-too-old`
 */
function expectPins(start: Start): void {
  const unpinned = (['sonnet', start.slot] as const).find((slot) => start.pins[slot] === undefined)
  if (unpinned === undefined) return
  throw new UserError({
    code: 'client-too-old',
    message: `repoint does not know which model ID Claude Code ${start.version} sends: it knows ${tableVersions.oldest} and newer`,
    hint: `Update Claude Code, or pin a model: ${pinFlag(start, unpinned)}`,
  })
}

/** The version decides the ID, whatever the catalog lists. */
function sentModel(start: Start): Pick<FirstModel, 'probeModel' | 'probeHint'> {
  const { slot, version, command } = start
  expectServed(start)

  const probeModel = sentFirst(version, slot)
  const slotFlag = slot === defaultSlot ? '' : ` --slot ${slot}`
  const other = pinFlag(start, slot, probeModel)
  const probeHint = `Claude Code ${version} sends it for ${slot}. Pin another: repoint ${command}${slotFlag} ${other}`
  return { probeModel, probeHint }
}

/** @param ids the IDs that the client may send for the slot, oldest first */
function likelyModel(start: Start, ids: readonly string[]): string {
  expectServed(start)
  const tier = tierOf(start, start.slot)
  return ids.findLast((id) => tier.includes(id)) ?? tier.findLast(isOwnId) ?? ids.at(-1)!
}

/** Reports the IDs that the slot may mean and the gateway lacks. */
function startSlotFindings(start: Start, ids: readonly string[]): readonly Finding[] {
  const { slot } = start
  const unlisted = sentIds[slot].filter(({ id }) => ids.includes(id) && !isListed(start, id))
  if (unlisted.length === 0) return []
  const sent = unlisted.map(({ id, since }) => `${id} (from ${since} on)`)

  return [
    {
      code: 'slot-id-missing',
      severity: 'note',
      message: `Some versions of Claude Code send a model for ${slot} that the gateway does not list: ${sent.join(', ')}`,
      hint: `If yours is one of them, pin a model: repoint ${start.command} ${pinFlag(start, slot)}`,
    },
  ]
}

/**
 * Reports missing IDs that the client sends in addition to the first one: haiku for background work, the
 * others on demand.
 */
function otherSlotFindings(start: Start): readonly Finding[] {
  const { version } = start
  const unlisted = slots.filter(
    (slot) =>
      slot !== start.slot &&
      start.pins[slot] === undefined &&
      hasSlot(version, slot) &&
      !isListed(start, sentFirst(version, slot)),
  )
  if (unlisted.length === 0) return []
  const sent = unlisted.map((slot) => `${sentFirst(version, slot)} (${slot})`)
  // A slot of which the gateway has no model stays as it is.
  const pinFlags = unlisted
    .filter((slot) => tierOf(start, slot).length > 0)
    .map((slot) => pinFlag(start, slot))

  return [
    {
      code: 'slot-id-missing',
      severity: 'note',
      message: `Claude Code ${version} sends models for its other slots that the gateway does not list: ${sent.join(', ')}`,
      ...(pinFlags.length > 0 && {
        hint: `To use these slots, pin them: repoint ${start.command} ${pinFlags.join(' ')}`,
      }),
    },
  ]
}

/**
 * The flag that pins the newest of the slot's models that the gateway lists, preferably one that the version
 * knows.
 *
 * @param unserved a listed ID that does not work
 */
function pinFlag(start: Start, slot: Slot, unserved?: string): string {
  const tier = tierOf(start, slot).filter((id) => id !== unserved)
  const ids = sentIds[slot].map(({ id }) => id).filter((id) => tier.includes(id))
  const known = ids.findLast((id) => knowsModel(start.version, id))
  return `--${slot}-model ${known ?? ids.at(-1) ?? tier.at(-1) ?? 'ID'}`
}

/** @throws ModelNeeded if the catalog has no model for the slot */
function expectServed(start: Start): void {
  const { catalog, slot } = start
  if (catalog === undefined || tierOf(start, slot).length > 0) return

  const nearest = closestModels(sentIds[slot].at(-1)!.id, catalog)
  const near = nearest.length === 0 ? '' : `Nearest: ${nearest.join(', ')}. `
  const offered = catalog.models.filter(isChatModel).slice(0, 5)
  const way =
    gptTiers(catalog).best === undefined
      ? `Name one with --model, for all slots: ${offered.map(({ id }) => id).join(', ')}.`
      : 'Name a model: {--model ID}. For GPT models: repoint claude-gpt'
  throw new ModelNeeded({
    code: 'model-unknown',
    message: `The gateway has no model for the slot ${slot}`,
    hint: near + way,
  })
}

/** The catalog's IDs for the slot that may speak the messages protocol. None without a catalog. */
function tierOf({ catalog }: Start, slot: Slot): readonly string[] {
  return catalog === undefined ? [] : messagesTiers(catalog, slots)[slot]
}

/** Without a catalog, every ID counts as listed. */
function isListed({ catalog }: Start, id: string): boolean {
  return catalog === undefined || catalog.models.some((model) => model.id === id)
}

// Slots of claude-gpt.

/** The GPT models for the slots and for subagents. Undefined: no rule fits. */
function gptModels(
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
function fillMapping(gatewayInfo: GatewayInfo, pins: Pins): Readonly<Record<Slot, string>> {
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
function usesOfGptModels(
  catalog: Catalog | undefined,
): readonly (ModelUse & { readonly purpose: Slot | 'subagent' })[] {
  if (catalog === undefined) return []
  const models = gptModels(catalog)
  return [...slots, 'subagent' as const].flatMap((purpose) => {
    const chosen = models[purpose]
    return chosen === undefined ? [] : [{ purpose, ...chosen }]
  })
}

// Slots of claude.

/**
 * The slots whose models can replace those of a slot that the gateway has no model for, the best match first.
 */
const standIns: Readonly<Record<Slot, readonly Slot[]>> = {
  opus: ['fable', 'sonnet', 'haiku'],
  sonnet: ['opus', 'haiku', 'fable'],
  haiku: ['sonnet', 'opus', 'fable'],
  fable: ['opus', 'sonnet', 'haiku'],
}

/**
 * Pins the slots that the user did not name, if the gateway does not have the IDs that the client sends by
 * itself: it uses other names (`up/claude-sonnet-5`, `claude-sonnet-4.5`), or it has no Claude model, or just
 * one. Without pins, `/model haiku` would request a model that does not exist. Pins nothing if the gateway
 * has the client's IDs, if nobody can tell, or if no model can fill a slot.
 *
 * @param options.stranger the model for all slots of a gateway without models for any of them
 */
function fillSlots(options: {
  readonly input: ResolveInput
  readonly startSlot: Slot
  readonly pins: Pins
  readonly version: string | undefined
  readonly stranger: string | undefined
}): Pins {
  const { input, startSlot, pins, version, stranger } = options
  const { gatewayInfo, earlier } = input
  const mayBeRejected =
    gatewayInfo.rejections.length > 0 || (gatewayInfo.noProbeFollows && earlier?.isOtherGateway)
  if (keepsModels(input) && !mayBeRejected) return {}

  const catalog = catalogIn(gatewayInfo)
  const only = catalog && onlyModel(catalog, 'messages')
  if (only === undefined && hasOwnIds(gatewayInfo, startSlot, pins)) return {}

  const tiers = catalog && messagesTiers(catalog, slots)
  const modelOf = (slot: Slot) => pins[slot] ?? only ?? (tiers && bestMatch(tiers[slot], version))

  return Object.fromEntries(
    slots
      .filter((slot) => pins[slot] === undefined)
      .flatMap((slot) => {
        const ofTiers = [slot, ...standIns[slot]].map(modelOf).find((model) => model !== undefined)
        const id = ofTiers ?? stranger
        return id === undefined ? [] : [[slot, id]]
      }),
  )
}

/**
 * The model for a gateway that has neither Claude nor GPT models, for which there is `claude-gpt`: some serve others
 * over messages. Undefined: it has such models, or no list.
 */
function strangerIn({ gatewayInfo }: ResolveInput): DefaultModel | undefined {
  const catalog = catalogIn(gatewayInfo)
  if (catalog === undefined || gptTiers(catalog).best !== undefined) return undefined
  const tiers = messagesTiers(catalog, slots)
  if (slots.some((slot) => tiers[slot].length > 0)) return undefined

  const models = defaultModels(catalog, 'messages')
  const isRejected = (id: string) => gatewayInfo.rejections.some(({ model }) => model === id)
  return models.find(({ id }) => !isRejected(id)) ?? models[0]
}

/** Reports the slots that `fillSlots` filled. */
function filledSlotFindings(filled: Pins, catalog: Catalog | undefined): readonly Finding[] {
  const filledSlots = slots.filter((slot) => filled[slot] !== undefined)
  if (filledSlots.length === 0) return []
  const why =
    catalog === undefined
      ? "The gateway has no list of models, so repoint cannot check Claude Code's own model IDs"
      : "The gateway does not list Claude Code's own model IDs"

  return [
    {
      code: 'slots-pinned',
      severity: 'note',
      message: `${why}. repoint pins ${filledSlots.map((slot) => `${slot} to ${filled[slot]}`).join(', ')}`,
      hint: `Choose other models: repoint claude ${filledSlots.map((slot) => `--${slot}-model ID`).join(' ')}`,
    },
  ]
}

/** Judges by the models of the start slot. If the gateway has none, judges by the models of the others. */
function hasOwnIds(gatewayInfo: GatewayInfo, startSlot: Slot, pins: Pins): boolean {
  const catalog = catalogIn(gatewayInfo)
  if (catalog === undefined) {
    const ids = Object.values(pins).map(withoutWindow)
    return (
      gatewayInfo.catalogAnswer.kind === 'not-requested' || ids.length === 0 || ids.some(isOwnId)
    )
  }
  const tiers = messagesTiers(catalog, slots)
  const [first, all] = [tiers[startSlot], slots.flatMap((name) => tiers[name])]
  return (first.length > 0 ? first : all).some(isOwnId)
}

/** The newest model that this version of Claude Code knows, as it would choose itself. Else the newest of all. */
function bestMatch(tier: readonly string[], version: string | undefined): string | undefined {
  const newestFirst = [...tier].sort(
    (a, b) => compareVersions(partsOf(b), partsOf(a)) || a.length - b.length,
  )
  return newestFirst.find((id) => knowsModel(version, plain(id))) ?? newestFirst[0]
}

/** Makes `anthropic/claude-sonnet-4.5` and `claude-sonnet-4-5-20250929` the same: `claude-sonnet-4-5`. */
function plain(id: string): string {
  return removeVendor(id)
    .toLowerCase()
    .replaceAll('.', '-')
    .replace(/-\d{8}$/, '')
}

/** The numbers of a model's version: `[3, 7]` for `claude-3-7-sonnet-20250219`. */
function partsOf(id: string): readonly number[] {
  return (plain(id).match(/(?<=-)\d{1,2}(?![\w.])/g) ?? []).map(Number)
}

// The options.

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
