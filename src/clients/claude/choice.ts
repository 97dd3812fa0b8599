import type { ConfigValue, KeyChange } from '../../edits/plan.ts'
import { type Choice, type Slot, slots } from '../client.ts'
import {
  type ClaudeSettings,
  inEnv,
  names,
  quietButDiscovering,
  readSettings,
  slotLabelVariable,
  slotVariable,
  slotVariables,
} from './settings.ts'

/** What a choice makes of the settings: every key that it sets, and every one that it takes away. */
export function ourKeys(now: ClaudeSettings, choice: Choice): readonly KeyChange[] {
  const { models } = choice
  const set = (name: string, value: ConfigValue | undefined): KeyChange => ({
    path: inEnv(name),
    value,
  })
  return [
    { ...set(names.token, choice.key), isSecret: true, isBound: true },
    { ...set(names.baseUrl, choice.baseUrl), isBound: true },
    ...trafficKeys(now, choice).map(([name, value]) => set(name, value)),
    ...mappingKeys(now, choice).map(([name, value]) => set(name, value)),
    ...rootModel(now, models.slot ?? 'sonnet'),
  ]
}

type Variable = readonly [name: string, value: ConfigValue | undefined]

function trafficKeys(now: ClaudeSettings, choice: Choice): readonly Variable[] {
  if (choice.options.enableDiscovery) {
    return [
      [names.discovery, '1'],
      ...quietButDiscovering.map((name): Variable => [name, '1']),
      ...removal(now, names.quiet),
    ]
  }
  return [
    [names.quiet, '1'],
    ...removal(now, names.discovery),
    ...(isDiscovering(now) ? takenBack(now, choice, isDiscovering, quietButDiscovering) : []),
  ]
}

function isDiscovering({ env }: ClaudeSettings): boolean {
  return isOn(env[names.discovery]) && env[names.quiet] === undefined
}

/**
 * The slots that the choice fills, and the removal of those that it does not.
 *
 * Whose a mapping is cannot be seen in the file, and no marker is left in it. The rule: beside a
 * base URL, a mapping belongs to the setup of that base URL and goes with it, the subagent, the
 * context window and the attribution switch included; of these three, what stood there before the
 * mapping comes back. Without a base URL the slots are pins of the user's own, which an obstacle
 * names: they do not come back, since nothing has proven their models. What a setup takes away,
 * rollback brings back.
 */
function mappingKeys(now: ClaudeSettings, choice: Choice): readonly Variable[] {
  const { models, options } = choice
  const wasMapped = isMapped(now)
  const orGone = (value: string | undefined, name: string): readonly Variable[] => {
    if (value !== undefined) return [[name, value]]
    return wasMapped ? removal(now, name) : []
  }
  const orAsBefore = (value: string | undefined, name: string): readonly Variable[] => {
    if (value !== undefined) return [[name, value]]
    return wasMapped ? takenBack(now, choice, isMapped, [name]) : []
  }
  const window = models.contextWindow === undefined ? undefined : String(models.contextWindow)
  const fillsSlots = Object.keys(models.slotModels ?? {}).length > 0
  return [
    ...slots.flatMap((slot) => {
      const model = models.slotModels?.[slot]
      return [...orGone(model, slotVariable(slot)), ...orGone(model, slotLabelVariable(slot))]
    }),
    ...orAsBefore(models.subagentModel, names.subagent),
    // Beside a mapping, a window that was given once stays until it is known anew.
    ...(window === undefined && fillsSlots ? [] : orAsBefore(window, names.contextTokens)),
    ...(options.disableAttribution
      ? [[names.attribution, '0'] as const]
      : wasMapped && !fillsSlots && now.env[names.attribution] === '0'
        ? takenBack(now, choice, isMapped, [names.attribution])
        : []),
  ]
}

function isMapped({ env }: ClaudeSettings): boolean {
  return env[names.baseUrl] !== undefined && slotVariables.some((name) => env[name])
}

/**
 * Takes away what came with a state of the settings; what stood there before that state comes back,
 * as far as the records tell.
 */
function takenBack(
  now: ClaudeSettings,
  { earlier }: Choice,
  isStill: (settings: ClaudeSettings) => boolean,
  taken: readonly string[],
): readonly Variable[] {
  if (taken.every((name) => now.env[name] === undefined)) return []
  for (const bytes of earlier?.('settings') ?? []) {
    const before = readSettings({ path: now.path, bytes })
    if (!isStill(before))
      return taken.flatMap((name): readonly Variable[] => {
        // As it was spelled: a number stays one.
        const value = (before.root['env'] as Record<string, ConfigValue> | undefined)?.[name]
        return value === undefined ? removal(now, name) : [[name, value]]
      })
  }
  return taken.flatMap((name) => removal(now, name))
}

function removal(now: ClaudeSettings, name: string): readonly Variable[] {
  return now.env[name] === undefined ? [] : [[name, undefined]]
}

/**
 * The client itself deletes `"model": "opus"` when it first starts, because an absent model means
 * opus: a settled file without a model is right for that slot.
 */
function rootModel(now: ClaudeSettings, slot: Slot): readonly KeyChange[] {
  const isSettled = now.env[names.baseUrl] !== undefined
  if (slot === 'opus' && isSettled && now.root['model'] === undefined) return []
  return [{ path: ['model'], value: slot }]
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false'
}
