import { isDeepStrictEqual } from 'node:util'
import type { Protocol } from '../../protocols.ts'
import combinations from './data/combinations.json' with { type: 'json' }
import families from './data/families.json' with { type: 'json' }
import { formatPath, type JsonObject, toObject } from './read.ts'
import { Refusal, unsupportedFeature } from './refusal.ts'

/**
 * A value that a vendor rejects in combination with other members, or for a family of models. The types
 * and limits of a single member are in rules.json. Each row has a source.
 *
 * Paths have the names of members, and the steps `each`, `any`, `first`, `last` and `beforeLast` for
 * entries of a list. Conditions share the entries with `at` as long as the paths are equal; `any` shares
 * none.
 */
interface Combination {
  readonly protocols: readonly string[]
  /** A regular expression for the ID without the vendor. Absent: every model. */
  readonly models?: string
  /** The first version of the messages protocol that rejects the value. */
  readonly since?: string
  /** Checked before the types, which would report a less exact problem. */
  readonly isFirst?: boolean

  /** The paths of the rejected value, separated by spaces. An absent value is accepted. */
  readonly at: string
  // Which values are rejected. Without any of these five members: every value.
  /** Rejects only these. */
  readonly is?: readonly unknown[]
  /** Rejects all but these. */
  readonly takes?: readonly unknown[]
  /** Rejects larger ones. */
  readonly most?: number
  /** Rejects smaller ones. */
  readonly least?: number
  /** Rejects texts that match this regular expression. */
  readonly matches?: string
  /** The members that must be present, or absent. An empty list counts as absent. */
  readonly with?: readonly string[]
  readonly without?: readonly string[]
  /** The values that members must have, or must not have. */
  readonly where?: Readonly<Record<string, readonly unknown[]>>
  readonly unless?: Readonly<Record<string, readonly unknown[]>>

  /** May contain the placeholders `{model}`, `{value}`, `{most}`, `{least}`, a path, or the number of an index. */
  readonly message?: string
  /** Replaces the message: the feature that this gateway does not support. */
  readonly notDone?: string
  /** Absent: `at`. */
  readonly param?: string
  readonly code?: string
}

type Steps = readonly string[]

/** The steps that select entries of a list. */
const listSteps = new Set(['each', 'any', 'first', 'last', 'beforeLast'])

/** A rule for one path, ready to be checked. */
interface Check {
  readonly rule: Combination
  readonly steps: Steps
  /** @param indexes the positions in the lists on the way to the value */
  isRejected(value: unknown, indexes: readonly number[], body: JsonObject): boolean
}

const checks = [...(combinations as Combination[]), ...(families as Combination[])].flatMap(
  (rule) => rule.at.split(' ').map((at) => createCheck(rule, at.split('.'))),
)

/** The checks for the values at a path, and the nodes of longer paths by their next step. */
interface PathNode {
  readonly checks: Check[]
  readonly next: (readonly [step: string, node: PathNode])[]
}

/** Creates the checks of a protocol. They throw Refusal. */
export function createCombinationChecks(protocol: Protocol) {
  const ofProtocol = checks.filter(({ rule }) => rule.protocols.includes(protocol))
  const general = ofProtocol.filter(({ rule }) => rule.models === undefined)
  const first = createTree(general.filter(({ rule }) => rule.isFirst))
  const byVersion = cached((version) =>
    createTree(general.filter(({ rule }) => !rule.isFirst && (rule.since ?? '') <= version)),
  )
  // There are few, because all models are in the catalog.
  const byModel = cached((model) =>
    createTree(
      ofProtocol.filter(({ rule: { models } }) => models && new RegExp(models).test(model)),
    ),
  )

  return {
    checkFirst: (body: JsonObject) => checkValue(body, first, [], body),
    checkGeneral: (body: JsonObject, version: string) =>
      checkValue(body, byVersion(version), [], body),
    /** Checks what only some families of models reject. */
    checkFamily: (body: JsonObject) =>
      checkValue(body, byModel(bareModelName(String(body['model']))), [], body),
  }
}

function cached<Value>(create: (key: string) => Value): (key: string) => Value {
  const values = new Map<string, Value>()
  return (key) => {
    const value = values.get(key) ?? create(key)
    values.set(key, value)
    return value
  }
}

function createTree(selected: readonly Check[]): PathNode {
  const root: PathNode = { checks: [], next: [] }
  for (const check of selected) {
    let node = root
    for (const step of check.steps) {
      const known = node.next.find(([name]) => name === step)?.[1]
      const next = known ?? { checks: [], next: [] }
      if (known === undefined) node.next.push([step, next])
      node = next
    }
    node.checks.push(check)
  }
  return root
}

/** The ID without a vendor's prefix. */
export function bareModelName(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1)
}

/**
 * Checks a value and its inner values. Null counts as absent.
 *
 * @param indexes the positions in the lists on the way to the value
 * @throws Refusal
 */
function checkValue(value: unknown, node: PathNode, indexes: number[], body: JsonObject): void {
  if (value === undefined || value === null) return
  for (const { rule, steps, isRejected } of node.checks)
    if (isRejected(value, indexes, body)) throw createRefusal(rule, body, { steps, indexes, value })
  if (typeof value !== 'object') return

  for (const [step, next] of node.next) {
    if (!listSteps.has(step)) checkValue((value as JsonObject)[step], next, indexes, body)
    else if (Array.isArray(value)) {
      const [start, end] = entryRange(step, value.length)
      for (let index = start; index < end; index++)
        checkValue(value[index], next, [...indexes, index], body)
    }
  }
}

/** The first position that a step selects in a list, and the one after the last. */
function entryRange(step: string, length: number): readonly [start: number, end: number] {
  if (step === 'first') return [0, Math.min(1, length)]
  if (step === 'last') return [Math.max(0, length - 1), length]
  return [0, step === 'beforeLast' ? length - 1 : length]
}

function createRefusal(
  { message = '', notDone, param, code, most, least }: Combination,
  body: JsonObject,
  { steps, indexes, value }: { steps: Steps; indexes: readonly number[]; value: unknown },
): Refusal {
  const model = bareModelName(String(body['model']))
  const values: JsonObject = { model, value, most, least, ...indexes }
  const fill = (text: string) =>
    text.replace(/\{([\w.]+)\}/g, (_, name: string) =>
      String(name in values ? values[name] : valueAt(body, placeOf(name.split('.'), indexes))),
    )

  const where = param === undefined ? formatPath(placeOf(steps, indexes)) : fill(param)
  if (notDone !== undefined) return unsupportedFeature(notDone, where)
  return new Refusal(fill(message), where, code ?? null)
}

function createCheck(rule: Combination, steps: Steps): Check {
  const isWrong = createTest(rule)
  const { with: present = [], without = [], where = {}, unless = {} } = rule
  const has = (path: string, test: (value: unknown) => boolean) => {
    const conditionSteps = path.split('.')
    const shared = countSharedLists(steps, conditionSteps)
    return (indexes: readonly number[], body: JsonObject) =>
      someValue(body, conditionSteps, indexes.slice(0, shared), test)
  }

  const needed = [
    ...present.map((path) => has(path, isNotEmpty)),
    ...Object.entries(where).map(([path, values]) => has(path, (one) => includes(values, one))),
  ]
  const excluded = [
    ...without.map((path) => has(path, isNotEmpty)),
    ...Object.entries(unless).map(([path, values]) => has(path, (one) => includes(values, one))),
  ]
  return {
    rule,
    steps,
    isRejected: (value, indexes, body) =>
      isWrong(value) &&
      needed.every((holds) => holds(indexes, body)) &&
      !excluded.some((holds) => holds(indexes, body)),
  }
}

function createTest({ is, takes, most, least, matches }: Combination): (value: unknown) => boolean {
  if (is !== undefined) return (value) => includes(is, value)
  if (takes !== undefined) return (value) => !includes(takes, value)
  if (most !== undefined) return (value) => typeof value === 'number' && value > most
  if (least !== undefined) return (value) => typeof value === 'number' && value < least
  if (matches === undefined) return () => true
  const pattern = new RegExp(matches)
  return (value) => typeof value === 'string' && pattern.test(value)
}

function includes(list: readonly unknown[], value: unknown): boolean {
  return list.some((one) => isDeepStrictEqual(one, value))
}

function isNotEmpty(value: unknown): boolean {
  return !Array.isArray(value) || value.length > 0
}

function countSharedLists(steps: Steps, others: Steps): number {
  const end = others.findIndex((step, depth) => step !== steps[depth])
  return others.slice(0, end === -1 ? others.length : end).filter((step) => listSteps.has(step))
    .length
}

/**
 * Whether a value at a path passes a test. Null counts as absent.
 *
 * @param given the positions in the first lists of the path
 */
function someValue(
  value: unknown,
  [step, ...others]: Steps,
  given: readonly number[],
  test: (value: unknown) => boolean,
): boolean {
  if (value === undefined || value === null) return false
  if (step === undefined) return test(value)
  if (!listSteps.has(step)) return someValue(toObject(value)[step], others, given, test)
  if (!Array.isArray(value)) return false

  const [index, ...further] = given
  if (index !== undefined) return someValue(value[index], others, further, test)
  const entries = value.slice(...entryRange(step, value.length))
  return entries.some((entry) => someValue(entry, others, further, test))
}

/** The path with indexes in place of the steps for lists. */
function placeOf(steps: Steps, indexes: readonly number[]): readonly (string | number)[] {
  const left = [...indexes]
  return steps.map((step) => (listSteps.has(step) ? left.shift()! : step))
}

function valueAt(root: unknown, place: readonly (string | number)[]): unknown {
  return place.reduce<unknown>(
    (value, step) => (Array.isArray(value) ? value[Number(step)] : toObject(value)[step]),
    root,
  )
}
