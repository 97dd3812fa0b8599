import type { ConfigValue, KeyChange } from '../../edits/plan.ts'
import { type Choice, slots, usualSlot } from '../client.ts'
import { rootOf, valueIn } from '../texts.ts'
import { customHeaders } from './headers.ts'
import {
  type ClaudeSettings,
  inEnv,
  isOn,
  names,
  quietButDiscovering,
  readSettings,
  slotLabelVariable,
  slotOf,
  slotVariable,
  slotVariables,
  withoutWindow,
} from './settings.ts'

/** What a choice makes of the settings: every key that it sets, and every one that it takes away. */
export function ourKeys(now: ClaudeSettings, choice: Choice): readonly KeyChange[] {
  const set = (name: string, value: ConfigValue | undefined): KeyChange => ({
    path: inEnv(name),
    value,
  })
  return [
    ...keyKeys(now, choice),
    set(names.baseUrl, choice.root),
    ...customHeaderKeys(now, choice),
    // Another file that stands there may hold the authority of a proxy, which we do not know.
    ...(choice.caFile && !now.env[names.authorities]
      ? [set(names.authorities, choice.caFile)]
      : []),
    ...trafficKeys(now, choice).map(([name, value]) => set(name, value)),
    ...mappingKeys(now, choice).map(([name, value]) => set(name, value)),
    ...rootModel(now, choice),
  ]
}

/** Each alone: what stands in both goes out twice. */
function keyKeys(now: ClaudeSettings, { key, keyHeader }: Choice): readonly KeyChange[] {
  const [name, other] =
    keyHeader === undefined ? [names.token, undefined] : [names.apiKey, names.token]
  const isOtherThere = other !== undefined && now.env[other] !== undefined
  return [
    { path: inEnv(name), value: key, isSecret: true },
    ...(isOtherThere ? [{ path: inEnv(other), value: undefined, isSecret: true }] : []),
  ]
}

function customHeaderKeys(now: ClaudeSettings, choice: Choice): readonly KeyChange[] {
  const found = now.env[names.headers]
  const value = customHeaders(found, choice, isElsewhere(now, choice))
  if (value === undefined && found === undefined) return []
  const isOurs = value !== found || (choice.headers ?? []).length > 0
  return isOurs ? [{ path: inEnv(names.headers), value, isSecret: true }] : []
}

/** Whether the settings name another address than the choice. */
export function isElsewhere({ env }: ClaudeSettings, { root }: Choice): boolean {
  const url = env[names.baseUrl]
  return url !== undefined && rootOf(url) !== root
}

type Variable = readonly [name: string, value: ConfigValue | undefined]

function trafficKeys(now: ClaudeSettings, choice: Choice): readonly Variable[] {
  if (choice.options.enableDiscovery) {
    return [
      [names.discovery, '1'],
      ...quietButDiscovering.map((name): Variable => [name, '1']),
      ...unsetting(now, names.quiet),
    ]
  }
  return [
    [names.quiet, '1'],
    ...unsetting(now, names.discovery),
    ...(isDiscovering(now) ? takenBack(now, choice, isDiscovering, quietButDiscovering) : []),
  ]
}

export function isDiscovering({ env }: ClaudeSettings): boolean {
  return isOn(env[names.discovery]) && !env[names.quiet]
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
  const { models } = choice
  const wasMapped = isMapped(now)
  const orGone = (value: string | undefined, name: string): readonly Variable[] => {
    if (value !== undefined) return [[name, value]]
    return wasMapped ? unsetting(now, name) : []
  }
  const orAsBefore = (value: string | undefined, name: string): readonly Variable[] => {
    if (value !== undefined) return [[name, value]]
    return wasMapped ? takenBack(now, choice, isMapped, [name]) : []
  }
  const window = models.contextWindow === undefined ? undefined : String(models.contextWindow)
  const { [names.subagent]: subagent } = now.env
  const isSubagentSo = isStill(subagent, models.subagentModel)
  const fillsSlots = Object.keys(models.slotModels ?? {}).length > 0
  return [
    ...slots.flatMap((slot) => {
      const model = models.slotModels?.[slot]
      const [id, label] = [now.env[slotVariable(slot)], now.env[slotLabelVariable(slot)]]
      // Of a model that stays, what someone wrote beside it stays too.
      const isAsBefore = isStill(id, model)
      return [
        ...orGone(isAsBefore ? id : model, slotVariable(slot)),
        ...orGone((isAsBefore && label) || model, slotLabelVariable(slot)),
      ]
    }),
    ...orAsBefore(isSubagentSo ? subagent : models.subagentModel, names.subagent),
    // Beside a mapping, a window that was given once stays until it is known anew.
    ...(window === undefined && fillsSlots ? [] : orAsBefore(window, names.contextTokens)),
    ...attributionKey(now, choice, wasMapped && !fillsSlots),
  ]
}

/** A window that is written behind a name stays where the name alone is asked for. */
function isStill(now: string | undefined, model: string | undefined): boolean {
  return now !== undefined && (now === model || withoutWindow(now) === model)
}

function attributionKey(
  now: ClaudeSettings,
  choice: Choice,
  isMappingGone: boolean,
): readonly Variable[] {
  const { disableAttribution } = choice.options
  if (disableAttribution) return [[names.attribution, '0']]
  if (now.env[names.attribution] !== '0') return []
  if (isMappingGone) return takenBack(now, choice, isMapped, [names.attribution])
  return disableAttribution === false
    ? takenBack(now, choice, isSetUpByUs, [names.attribution])
    : []
}

function isSetUpByUs({ env }: ClaudeSettings): boolean {
  return env[names.baseUrl] !== undefined
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
  isInState: (settings: ClaudeSettings) => boolean,
  taken: readonly string[],
): readonly Variable[] {
  if (taken.every((name) => now.env[name] === undefined)) return []
  for (const bytes of earlier?.('settings') ?? []) {
    const before = readSettings({ ...now, bytes })
    if (!isInState(before))
      return taken.flatMap((name): readonly Variable[] => {
        // As it was spelled: a number stays one.
        const value = valueIn(before.root, inEnv(name))
        return value === undefined ? unsetting(now, name) : [[name, value]]
      })
  }
  return taken.flatMap((name) => unsetting(now, name))
}

function unsetting(now: ClaudeSettings, name: string): readonly Variable[] {
  return now.env[name] === undefined ? [] : [[name, undefined]]
}

/**
 * The client itself deletes `"model": "opus"` when it first starts, because an absent model means
 * opus: a settled file without a model is right for that slot.
 */
function rootModel(now: ClaudeSettings, { models, options }: Choice): readonly KeyChange[] {
  const start = models.startModel ?? models.slot ?? usualSlot
  if (start === 'opus' && isSetUpByUs(now) && now.root['model'] === undefined) return []
  // Some versions write `opus[1m]` in the place of `opus` (2.1.238 to .310).
  const { model } = now.root
  const isSo =
    typeof model === 'string' &&
    (options.isConfigured || /\[1m\]$/i.test(model)) &&
    (slotOf(model) === start || withoutWindow(model) === start)
  return [{ path: ['model'], value: isSo ? model : start }]
}
