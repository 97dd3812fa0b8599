import { UserError } from '../../../errors.ts'
import type { Finding } from '../../../finding.ts'
import {
  closestModels,
  gptTiers,
  isChatModel,
  messagesTiers,
} from '../../../gateway/models/rules.ts'
import type { Catalog } from '../../../gateway/types.ts'
import { type Slot, slots } from '../../contract/options.ts'
import { ModelNeeded, type ResolvedOptions } from '../../contract/setup.ts'
import {
  hasSlot,
  isOwnId,
  knowsModel,
  placeInTable,
  sentFirst,
  sentIds,
  tableVersions,
} from './sent.ts'

/** How Claude Code starts. */
export interface Start {
  /** The command that writes such settings. */
  readonly command: string
  /** The slot that the settings name. */
  readonly slot: Slot
  readonly pins: Readonly<Partial<Record<Slot, string>>>
  readonly catalog: Catalog | undefined
  /** The version of the installed client. Absent: it is not installed, or unknown. */
  readonly version: string | undefined
}

type FirstModel = Pick<ResolvedOptions, 'probeModel' | 'probeHint' | 'findings'>

/**
 * The ID that the client requests first, which a probe must prove. The findings report the other IDs that the
 * catalog does not list.
 *
 * @throws UserError `model-unknown` if the catalog has no model at all for a slot without a pin, or
 *   `client-too-old`
 */
export function firstModel(start: Start): FirstModel {
  const { slot, pins, version } = start
  const place = version === undefined ? 'unknown' : placeInTable(version)
  if (version !== undefined && place === 'known') return firstModelOf(version, start)

  if (version !== undefined && place === 'older' && pins.sonnet === undefined)
    throw needsPin(version, start)
  const findings = version === undefined || place === 'older' ? [] : otherSlots(version, start)
  const pin = pins[slot]
  if (pin !== undefined) return { probeModel: pin, findings }
  // A version that is newer than the table sends the last ID of the table or a newer one.
  const ids = sentIds[slot].map(({ id }) => id).slice(place === 'newer' ? -1 : 0)
  const listed = ids.findLast((id) => isListed(start, id))
  const tier = listed === undefined ? tierOf(start, slot) : []
  const probeModel = listed ?? tier.findLast(isOwnId) ?? ids.at(-1)!
  return {
    probeModel,
    findings: place === 'older' ? findings : [...missingIds(start, ids), ...findings],
  }
}

/** If the table covers the version, it decides the ID, whatever the catalog lists. */
function firstModelOf(version: string, start: Start): FirstModel {
  const { slot } = start
  const findings = otherSlots(version, start)
  if (!hasSlot(version, slot)) {
    const probeHint = `Claude Code ${version} has no slot ${slot}. Update Claude Code, or use another slot: repoint ${start.command} --slot opus`
    return { probeModel: slot, probeHint, findings }
  }

  const pin = start.pins[slot]
  if (pin !== undefined) return { probeModel: pin, findings }
  // Throws if the catalog has no model for the slot, whatever its ID is.
  tierOf(start, slot)

  const probeModel = sentFirst(version, slot)
  const other = pinFor(start, slot, probeModel)
  const probeHint = `Claude Code ${version} sends it for ${slot}. Pin another: repoint ${start.command}${slot === 'sonnet' ? '' : ` --slot ${slot}`} --${slot}-model ${other}`
  return { probeModel, probeHint, findings }
}

/** Down to 2.0.50 every tested version requests the pin of sonnet (2026-11-22). */
function needsPin(version: string, start: Start): UserError {
  return new UserError({
    code: 'client-too-old',
    message: `repoint does not know which model ID Claude Code ${version} sends: it knows ${tableVersions.oldest} and newer`,
    hint: `Update Claude Code, or pin a model: --sonnet-model ${pinFor(start, 'sonnet')}`,
  })
}

/** Reports the IDs that the slot may mean and the gateway lacks. */
function missingIds(start: Start, ids: readonly string[]): readonly Finding[] {
  const { slot } = start
  const unlisted = sentIds[slot].filter(({ id }) => ids.includes(id) && !isListed(start, id))
  if (unlisted.length === 0) return []
  const sent = unlisted.map(({ id, since }) => `${id} (from ${since} on)`)

  return [
    {
      code: 'slot-id-missing',
      severity: 'note',
      message: `Some versions of Claude Code send a model for ${slot} that the gateway does not list: ${sent.join(', ')}`,
      hint: `If yours is one of them, pin a model: repoint ${start.command} --${slot}-model ${pinFor(start, slot)}`,
    },
  ]
}

/**
 * Reports missing IDs that the client sends in addition to the first one: haiku for background work, the
 * others on demand.
 */
function otherSlots(version: string, start: Start): readonly Finding[] {
  const unlisted = slots.filter(
    (slot) =>
      slot !== start.slot &&
      start.pins[slot] === undefined &&
      hasSlot(version, slot) &&
      !isListed(start, sentFirst(version, slot)),
  )
  if (unlisted.length === 0) return []

  return [
    {
      code: 'slot-id-missing',
      severity: 'note',
      message: `Claude Code ${version} sends models for its other slots that the gateway does not list: ${unlisted.map((slot) => `${sentFirst(version, slot)} (${slot})`).join(', ')}`,
      hint: `To use these slots, pin them: repoint ${start.command} ${unlisted.map((slot) => `--${slot}-model ${pinFor(start, slot)}`).join(' ')}`,
    },
  ]
}

/** The newest of the slot's models that the gateway lists, preferably one that the version knows. */
function pinFor({ catalog, version }: Start, slot: Slot, unserved?: string): string {
  const tier = catalog ? messagesTiers(catalog, slots)[slot].filter((id) => id !== unserved) : []
  const ids = sentIds[slot].map(({ id }) => id).filter((id) => tier.includes(id))
  return ids.findLast((id) => knowsModel(id, version)) ?? ids.at(-1) ?? tier.at(-1) ?? 'ID'
}

/** The catalog's IDs for the slot; none without a catalog. @throws UserError if the catalog has none */
function tierOf({ catalog }: Start, slot: Slot): readonly string[] {
  if (catalog === undefined) return []
  const tier = messagesTiers(catalog, slots)[slot]
  if (tier.length > 0) return tier

  const nearest = closestModels(sentIds[slot].at(-1)!.id, catalog)
  const near = nearest.length === 0 ? '' : `Nearest: ${nearest.join(', ')}. `
  const offered = catalog.models.filter(isChatModel).slice(0, 5)
  const way =
    gptTiers(catalog).best === undefined
      ? `Name one with --model, for all slots: ${offered.map(({ id }) => id).join(', ')}.`
      : 'Name a model: --model ID. For GPT models: repoint claude-gpt'
  throw new ModelNeeded({
    code: 'model-unknown',
    message: `The gateway has no model for the slot ${slot}`,
    hint: near + way,
  })
}

/** Without a catalog, every ID counts as listed. */
function isListed({ catalog }: Start, id: string): boolean {
  return catalog === undefined || catalog.models.some((model) => model.id === id)
}
