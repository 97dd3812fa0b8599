import type { Finding } from '../../../finding.ts'
import { compareVersions, removeVendor } from '../../../gateway/models/ids.ts'
import {
  type DefaultModel,
  defaultModels,
  gptTiers,
  messagesTiers,
  onlyModel,
} from '../../../gateway/models/rules.ts'
import type { Catalog } from '../../../gateway/types.ts'
import { catalogIn, type GatewayInfo, type ResolveInput } from '../../contract/setup.ts'
import { keepsModels } from '../../options/chosen-options.ts'
import { type Slot, slots } from '../flags.ts'
import { type Pins, withoutWindow } from '../settings.ts'
import { isOwnId, knowsModel } from '../versions.ts'

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
export function fillSlots(options: {
  readonly input: ResolveInput
  /** The slot that the client starts with. */
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
export function strangerIn({ gatewayInfo }: ResolveInput): DefaultModel | undefined {
  const catalog = catalogIn(gatewayInfo)
  if (catalog === undefined || gptTiers(catalog).best !== undefined) return undefined
  const tiers = messagesTiers(catalog, slots)
  if (slots.some((slot) => tiers[slot].length > 0)) return undefined

  const models = defaultModels(catalog, 'messages')
  const isRejected = (id: string) => gatewayInfo.rejections.some(({ model }) => model === id)
  return models.find(({ id }) => !isRejected(id)) ?? models[0]
}

/** Reports the slots that `fillSlots` filled. */
export function filledSlotFindings(filled: Pins, catalog: Catalog | undefined): readonly Finding[] {
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
