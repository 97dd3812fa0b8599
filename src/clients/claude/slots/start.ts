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
} from '../versions.ts'

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
 *     the version             the probe requests, without a pin     findings about
 *     unknown                 the newest ID that is listed          the slot
 *     older than the table    nothing: `client-too-old`             nothing
 *     in the table            the ID that the version sends         the other slots
 *     newer than the table    the table's last ID, or a newer one   the slot and the other slots
 *
 * If the slot has a pin, the probe requests it, and no finding is about the slot. A version that does not know
 * the slot sends the slot's name, pinned or not.
 *
 * @throws UserError `model-unknown` if the catalog has no model at all for a slot without a pin, or
 *   `client-too-old`
 */
export function firstModel(start: Start): FirstModel {
  const { slot, version } = start
  const ids = sentIds[slot].map(({ id }) => id)
  if (version === undefined) return guessedModel(start, ids)

  switch (placeInTable(version)) {
    case 'older':
      return firstModelOfOlder(version, start)
    case 'known':
      return firstModelOfKnown(version, start)
    case 'newer': {
      const { probeModel, findings } = guessedModel(start, ids.slice(-1))
      return { probeModel, findings: [...findings, ...otherSlots(version, start)] }
    }
  }
}

/** @param ids the IDs that the client may send for the slot, oldest first */
function guessedModel(start: Start, ids: readonly string[]): FirstModel {
  const pin = start.pins[start.slot]
  if (pin !== undefined) return { probeModel: pin, findings: [] }

  const listed = ids.findLast((id) => isListed(start, id))
  const probeModel = listed ?? expectTier(start, start.slot).findLast(isOwnId) ?? ids.at(-1)!
  return { probeModel, findings: missingIds(start, ids) }
}

/**
 * repoint does not know which IDs such a version sends. So each slot that it may start with needs a pin: at its
 * first start 2.1.34 removes `model` from its settings and requests sonnet, and later it requests the slot that
 * a setup wrote there. 2.1.19 does so too; 2.1.39 and 2.1.44 always request the slot (2026-11-27).
 */
function firstModelOfOlder(version: string, start: Start): FirstModel {
  const { slot, pins } = start
  if (!hasSlot(version, slot)) return { ...nameOfSlot(version, start), findings: [] }

  if (pins.sonnet === undefined) throw needsPin(version, 'sonnet', start)
  const pin = pins[slot]
  if (pin === undefined) throw needsPin(version, slot, start)
  return { probeModel: pin, findings: [] }
}

function needsPin(version: string, slot: Slot, start: Start): UserError {
  return new UserError({
    code: 'client-too-old',
    message: `repoint does not know which model ID Claude Code ${version} sends: it knows ${tableVersions.oldest} and newer`,
    hint: `Update Claude Code, or pin a model: --${slot}-model ${pinFor(start, slot)}`,
  })
}

/** If the table covers the version, it decides the ID, whatever the catalog lists. */
function firstModelOfKnown(version: string, start: Start): FirstModel {
  const { slot } = start
  const findings = otherSlots(version, start)
  if (!hasSlot(version, slot)) return { ...nameOfSlot(version, start), findings }

  const pin = start.pins[slot]
  if (pin !== undefined) return { probeModel: pin, findings }
  expectTier(start, slot)

  const probeModel = sentFirst(version, slot)
  const other = pinFor(start, slot, probeModel)
  const probeHint = `Claude Code ${version} sends it for ${slot}. Pin another: repoint ${start.command}${slot === 'sonnet' ? '' : ` --slot ${slot}`} --${slot}-model ${other}`
  return { probeModel, probeHint, findings }
}

function nameOfSlot(version: string, { slot, command }: Start) {
  const probeHint = `Claude Code ${version} has no slot ${slot}. Update Claude Code, or use another slot: repoint ${command} --slot opus`
  return { probeModel: slot, probeHint }
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
  return ids.findLast((id) => knowsModel(version, id)) ?? ids.at(-1) ?? tier.at(-1) ?? 'ID'
}

/** The catalog's IDs for the slot; none without a catalog. @throws ModelNeeded if the catalog has none */
function expectTier({ catalog }: Start, slot: Slot): readonly string[] {
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
