import { isDeepStrictEqual } from 'node:util'
import type { Protocol } from '../../protocols.ts'
import table from './data/families.json' with { type: 'json' }
import { asList, asString, type JsonObject, toObject } from './read.ts'
import { Refusal } from './refusal.ts'
import { countInputTokens, type ModelRequest } from './request.ts'

/** Something that a family of models rejects and the vendor's other models accept. Each row has a source. */
interface FamilyRule {
  /** A regular expression for the ID without the vendor. */
  readonly models: string
  readonly protocols: readonly string[]
  /** The path of a member of the body. `last` and `each` are entries of a list. */
  readonly at: string
  /** The values that are rejected. */
  readonly is?: readonly unknown[]
  /** The only accepted values. An absent member is accepted too. */
  readonly takes?: readonly unknown[]
  /** An absent member is rejected. */
  readonly isNeeded?: boolean
  /** The largest number that is accepted. */
  readonly most?: number
  /** The rule applies only if the body has this member. */
  readonly requires?: string
  /** The rule does not apply if the body has one of these values. */
  readonly unless?: { readonly at: string; readonly is: readonly unknown[] }
  /** May contain the placeholders `{model}`, `{value}` and `{most}`. */
  readonly message: string
  /** Absent: `at`. */
  readonly param?: string
  readonly code?: string
}

/** A rule with the steps of its path. */
type CachedRule = FamilyRule & { readonly steps: readonly string[] }

/** The rules by protocol and model. There are few entries, because only catalog models are looked up. */
const cachedRules = new Map<string, readonly CachedRule[]>()

function familyRules(protocol: Protocol, id: string): readonly CachedRule[] {
  const key = `${protocol} ${id}`
  const known = cachedRules.get(key)
  if (known !== undefined) return known

  const rules = (table as readonly FamilyRule[])
    .filter(({ models, protocols }) => protocols.includes(protocol) && new RegExp(models).test(id))
    .map((rule) => ({ ...rule, steps: rule.at.split('.') }))
  cachedRules.set(key, rules)
  return rules
}

/** @throws Refusal if the model's family rejects the request */
export function checkFamily(protocol: Protocol, body: JsonObject): void {
  const model = bareModelName(asString(body['model']) ?? '')
  for (const rule of familyRules(protocol, model)) {
    // Most requests have none of these members.
    if (body[rule.steps[0]!] === undefined && !rule.isNeeded) continue
    const value = rejectedValue(rule, body)
    if (value === accepted) continue

    const names = { model, value, most: rule.most }
    const message = rule.message.replace(/\{(model|value|most)\}/g, (_, name: keyof typeof names) =>
      String(names[name]),
    )
    throw new Refusal(message, rule.param ?? rule.at, rule.code)
  }
}

const accepted = Symbol('accepted')

function rejectedValue(rule: CachedRule, body: JsonObject): unknown {
  const { steps, is, takes, isNeeded = false, most, requires, unless } = rule
  if (requires !== undefined && !valuesAt(body, requires.split('.')).some(isNotEmptyList))
    return accepted
  if (
    unless !== undefined &&
    valuesAt(body, unless.at.split('.')).some((one) => includesValue(unless.is, one))
  )
    return accepted

  const values = valuesAt(body, steps)
  if (values.length === 0) return isNeeded ? undefined : accepted
  const isRejected = (value: unknown) =>
    is !== undefined
      ? includesValue(is, value)
      : takes !== undefined
        ? !includesValue(takes, value)
        : typeof value === 'number' && value > most!
  const found = values.findIndex(isRejected)
  return found === -1 ? accepted : values[found]
}

/** The values at a path of the body. Null counts as absent. */
function valuesAt(body: JsonObject, steps: readonly string[]): readonly unknown[] {
  let values: readonly unknown[] = [body]
  for (const step of steps) {
    if (step === 'each') values = values.flatMap(asList)
    else if (step === 'last') values = values.flatMap((value) => asList(value).slice(-1))
    else values = values.map((value) => toObject(value)[step])
  }
  return values.filter((value) => value !== undefined && value !== null)
}

function includesValue(list: readonly unknown[], value: unknown): boolean {
  return list.some((one) => isDeepStrictEqual(one, value))
}

function isNotEmptyList(value: unknown): boolean {
  return !Array.isArray(value) || value.length > 0
}

/** The known context windows by family, in tokens (models.dev in opencode 1.18.34, 2026-11-23). */
const contextWindows: readonly (readonly [models: RegExp, tokens: number])[] = [
  [/^claude-(opus-4-[6-9]|opus-[5-9]|sonnet-[4-9]|fable-)/, 1_000_000],
  [/^claude-haiku-4/, 200_000],
  [/^gpt-5\.\d-mini/, 400_000],
  [/^gpt-5\.[4-9]/, 1_050_000],
]

/** The errors for a conversation that exceeds the window (from the vendors' references). */
const windowExceeded: Readonly<Record<Protocol, (tokens: number, window: number) => Refusal>> = {
  chat: (tokens, window) =>
    new Refusal(
      `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
      'messages',
      'context_length_exceeded',
    ),
  responses: () =>
    new Refusal(
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      'input',
      'context_length_exceeded',
    ),
  messages: (tokens, window) =>
    new Refusal(`prompt is too long: ${tokens} tokens > ${window} maximum`),
}

/** @throws Refusal if the conversation exceeds the model's context window */
export function checkWindow(protocol: Protocol, request: ModelRequest): ModelRequest {
  const id = bareModelName(request.model)
  const window = contextWindows.find(([models]) => models.test(id))?.[1]
  const tokens = countInputTokens(request)
  if (window !== undefined && tokens > window) throw windowExceeded[protocol](tokens, window)
  return request
}

/** The ID without a vendor's prefix. */
export function bareModelName(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1)
}
