import { removeVendor } from '../../gateway/models/ids.ts'
import { isBefore, testedVersions, type Version } from '../program/tested.ts'
import type { Slot } from './flags.ts'
import tested from './tested.json' with { type: 'json' }

/**
 * What differs between versions of Claude Code: run, or looked up in its packages, on Linux, 2026-11-22, unless a
 * comment says otherwise. An unknown version counts as the newest.
 */

/**
 * The IDs that Claude Code sends for a slot without a pin, each with the first version that sends it, oldest first.
 * Each boundary was found between adjacent published versions.
 */
export const sentIds: Readonly<
  Record<Slot, readonly { readonly since: string; readonly id: string }[]>
> = {
  opus: [
    { since: '2.1.45', id: 'claude-opus-4-6' },
    { since: '2.1.111', id: 'claude-opus-4-7' },
    { since: '2.1.154', id: 'claude-opus-4-8' },
    { since: '2.1.219', id: 'claude-opus-5' },
    { since: '2.1.280', id: 'claude-opus-5-5' },
  ],
  sonnet: [
    { since: '2.1.45', id: 'claude-sonnet-4-6' },
    { since: '2.1.197', id: 'claude-sonnet-5' },
    { since: '2.1.284', id: 'claude-sonnet-5-5' },
  ],
  haiku: [
    { since: '2.1.45', id: 'claude-haiku-4-5-20251001' },
    { since: '2.1.293', id: 'claude-haiku-5-5' },
  ],
  fable: [
    { since: '2.1.170', id: 'claude-fable-5' },
    { since: '2.1.257', id: 'claude-fable-5-1' },
    { since: '2.1.321', id: 'claude-fable-5-2' },
  ],
}

/**
 * The versions that the table covers; `npm run check-releases` runs them. What older ones send depends on whether
 * they were started before: at its first start 2.1.34 removes `model` from its settings and requests sonnet, and
 * later it requests the slot that a setup wrote there. 2.1.19 and 2.1.20 do so too; 2.1.39 and 2.1.44 always
 * request the slot (2026-11-27).
 */
export const tableVersions = {
  oldest: sentIds.sonnet[0]!.since,
  newest: testedVersions(tested).at(-1)!,
}

/** Whether the table covers a version. For a `newer` one, the newest IDs are the best guess. */
export function placeInTable(version: Version): 'covered' | 'newer' | 'older' | 'unknown' {
  if (version === undefined) return 'unknown'
  if (isBefore(version, tableVersions.oldest)) return 'older'
  return isBefore(tableVersions.newest, version) ? 'newer' : 'covered'
}

/** The first ID that a version sends if its settings name this slot and pin no model. */
export function sentFirst(version: Version, slot: Slot): string {
  const latest = sentIds[slot].findLast(({ since }) => !isBefore(version, since))
  return latest?.id ?? slot
}

/**
 * Whether a version knows the slot. A version that does not sends the slot's name unchanged, pinned or not (fable
 * on 2.1.150).
 */
export function hasSlot(version: Version, slot: Slot): boolean {
  const { since } = sentIds[slot][0]!
  // Versions older than the table have the slots with which it begins.
  return since === tableVersions.oldest || !isBefore(version, since)
}

/** The slot that a version starts with if no setting names a model (run on 2.1.54, 2.1.110 and 2.1.150). */
export function slotWithoutModel(version: Version): Slot {
  return isBefore(version, '2.1.141') ? 'sonnet' : 'opus'
}

/** Whether some version sends an ID, or a newer one could: no vendor, no dots, no date. */
export function isOwnId(id: string): boolean {
  const isSent = Object.values(sentIds).some((ids) => ids.some((sent) => sent.id === id))
  return isSent || /^claude-(?:opus|sonnet|haiku|fable)-\d+(?:-\d{1,2})?$/.test(id)
}

/**
 * Whether a version knows a model and its context window: the models that it sends itself and older ones, also with
 * a date or a vendor's name (2.1.329).
 */
export function knowsModel(version: Version, id: string): boolean {
  const name = withoutDate(removeVendor(id))
  const sent = Object.values(sentIds).flat()
  const known = sent.find(({ id: sentId }) => withoutDate(sentId) === name)
  if (known !== undefined) return !isBefore(version, known.since)
  return /^claude-(?:3|opus-4|sonnet-4|haiku-4)\b/.test(name)
}

export function withoutDate(id: string): string {
  return id.replace(/-\d{8}$/, '')
}

// The options of the command line: Claude Code exits if it does not know one.

/** `--bare` */
export function hasBareMode(version: Version): boolean {
  return !isBefore(version, '2.1.81')
}

/** `--no-session-persistence` */
export function canForgetSession(version: Version): boolean {
  return !isBefore(version, '2.1.1')
}

/**
 * Whether auto mode sends `safeguards`, according to docs.litellm.ai/docs/claude_code_auto_mode
 * (2026-10-14).
 */
export function asksForSafeguards(version: Version): boolean {
  return !isBefore(version, '2.1.278')
}
