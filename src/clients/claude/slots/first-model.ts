import { UserError } from '../../../errors.ts'
import type { Finding } from '../../../finding.ts'
import {
  closestModels,
  gptTiers,
  isChatModel,
  messagesTiers,
} from '../../../gateway/models/rules.ts'
import type { Catalog } from '../../../gateway/types.ts'
import { ModelNeeded, type ResolvedOptions } from '../../contract/setup.ts'
import { defaultSlot, type Slot, slots } from '../flags.ts'
import type { Pins } from '../settings.ts'
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
export function firstModel(start: Start): FirstModel {
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
  const pinFlags = unlisted.map((slot) => pinFlag(start, slot))

  return [
    {
      code: 'slot-id-missing',
      severity: 'note',
      message: `Claude Code ${version} sends models for its other slots that the gateway does not list: ${sent.join(', ')}`,
      hint: `To use these slots, pin them: repoint ${start.command} ${pinFlags.join(' ')}`,
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
