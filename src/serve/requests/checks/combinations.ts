import { isDeepStrictEqual } from 'node:util'
import type { Protocol } from '../../../protocols.ts'
import { formatPath } from '../../../schema.ts'
import combinations from '../data/combinations.json' with { type: 'json' }
import families from '../data/families.json' with { type: 'json' }
import type { JsonObject } from '../json.ts'
import { RequestRejection, unsupportedFeature } from '../rejection.ts'
import {
  countSharedLists,
  type FoundValue,
  memberAt,
  memberPlace,
  type Steps,
  someValue,
  valuesAt,
} from './member-paths.ts'

/**
 * A row of combinations.json or families.json: a value that a vendor rejects in combination with other
 * members, or for a family of models. The rules for a single member are in rules.json. Each row has a
 * source. For example, chat accepts images only from the user:
 *
 *     "paths": "messages.each.content.each.image_url",
 *     "unless": { "messages.each.role": ["user"] },
 *     "message": "Invalid 'messages[{0}]'. Image URLs are only allowed for … '{messages.each.role}' …",
 *     "param": "messages[{0}]"
 *
 *     { "messages": [
 *       { "role": "user", "content": [{ "image_url": … }] },    accepted
 *       { "role": "tool", "content": [{ "image_url": … }] }     "Invalid 'messages[1]'. … for … 'tool' …"
 *     ]}
 *
 * A path is written as in member-paths.ts, with dots between the steps. `each` in a condition is the same
 * message as `each` in the path of the rejected value, because the paths are equal up to there; `any` is
 * any message. `{0}` is the position in the first list.
 */
interface Combination {
  // With `undefined`, TypeScript checks the rows of the JSON files.
  readonly protocols: readonly string[]
  /** A regular expression for the ID without the vendor. Absent: every model. */
  readonly models?: string | undefined
  /** The first version of the messages protocol that rejects the value. */
  readonly since?: string | undefined
  /** Checked before the members, whose check would report a less exact problem. */
  readonly isBeforeMembers?: boolean | undefined

  /** The paths of the rejected value, separated by spaces. An absent value is accepted. */
  readonly paths: string
  // Which values are rejected. Without any of these five members: every value.
  /** Rejects only these. */
  readonly rejected?: readonly unknown[] | undefined
  /** Rejects all but these. */
  readonly accepted?: readonly unknown[] | undefined
  /** Rejects larger ones. */
  readonly maximum?: number | undefined
  /** Rejects smaller ones. */
  readonly minimum?: number | undefined
  /** Rejects texts that match this regular expression. */
  readonly matches?: string | undefined
  /** The members that must be present, or absent. An empty list counts as absent. */
  readonly with?: readonly string[] | undefined
  readonly without?: readonly string[] | undefined
  /** The values that members must have, or must not have. */
  readonly where?: Readonly<Record<string, readonly unknown[] | undefined>> | undefined
  readonly unless?: Readonly<Record<string, readonly unknown[] | undefined>> | undefined

  /** May contain the placeholders `{model}`, `{value}`, `{maximum}`, `{minimum}`, `{PATH}` and `{0}`. */
  readonly message?: string | undefined
  /** Replaces the message: the feature that this gateway does not support. */
  readonly unsupported?: string | undefined
  /** Absent: the path of the rejected value. */
  readonly param?: string | undefined
  readonly code?: string | undefined
}

/** A combination for one of its paths. */
interface CombinationCheck {
  readonly combination: Combination
  readonly steps: Steps
  isRejected(found: FoundValue, body: JsonObject): boolean
}

const allCombinations: readonly Combination[] = [...combinations, ...families]
const allChecks = allCombinations.flatMap((combination) =>
  combination.paths.split(' ').map((path) => createCheck(combination, path.split('.'))),
)

/** @throws RequestRejection for a combination whose members have not been checked yet */
export function checkBeforeMembers(protocol: Protocol, body: JsonObject): void {
  runChecks(protocol, body, ({ isBeforeMembers = false }) => isBeforeMembers)
}

/**
 * @param version that of the messages protocol; empty for the others
 * @throws RequestRejection for a combination that every model rejects
 */
export function checkAfterMembers(protocol: Protocol, body: JsonObject, version: string): void {
  runChecks(
    protocol,
    body,
    ({ isBeforeMembers = false, models, since = '' }) =>
      !isBeforeMembers && models === undefined && since <= version,
  )
}

/** @throws RequestRejection for a combination that the family of the requested model rejects */
export function checkFamily(protocol: Protocol, body: JsonObject): void {
  const model = requestedModel(body)
  runChecks(protocol, body, ({ models }) => models !== undefined && new RegExp(models).test(model))
}

/** Runs the checks of the combinations that apply, in the order of their rows. */
function runChecks(
  protocol: Protocol,
  body: JsonObject,
  applies: (combination: Combination) => boolean,
): void {
  for (const check of allChecks) {
    const { combination, steps } = check
    if (!combination.protocols.includes(protocol) || !applies(combination)) continue
    for (const found of valuesAt(body, steps))
      if (check.isRejected(found, body)) throw createRejection(check, found, body)
  }
}

function requestedModel(body: JsonObject): string {
  return bareModelName(String(body['model']))
}

/** The ID without a vendor's prefix. */
export function bareModelName(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1)
}

function createRejection(
  { combination, steps }: CombinationCheck,
  { value, positions }: FoundValue,
  body: JsonObject,
): RequestRejection {
  const { message = '', unsupported, param, code, maximum, minimum } = combination
  const placeholders: JsonObject = {
    model: requestedModel(body),
    value,
    maximum,
    minimum,
    ...positions,
  }
  const fill = (text: string) =>
    text.replace(/\{([\w.]+)\}/g, (_, name: string) => {
      if (name in placeholders) return String(placeholders[name])
      return String(memberAt(body, memberPlace(name.split('.'), positions)))
    })

  const place = param === undefined ? formatPath(memberPlace(steps, positions)) : fill(param)
  if (unsupported !== undefined) return unsupportedFeature(unsupported, place)
  return new RequestRejection(fill(message), { param: place, code })
}

type BodyCondition = (positions: readonly number[], body: JsonObject) => boolean

function createCheck(combination: Combination, steps: Steps): CombinationCheck {
  const { with: present = [], without: absent = [], where = {}, unless = {} } = combination
  const isWrong = createValueTest(combination)
  const needed = [...createPresenceConditions(steps, present), ...createConditions(steps, where)]
  const excluded = [...createPresenceConditions(steps, absent), ...createConditions(steps, unless)]

  return {
    combination,
    steps,
    isRejected: ({ value, positions }, body) =>
      isWrong(value) &&
      needed.every((holds) => holds(positions, body)) &&
      !excluded.some((holds) => holds(positions, body)),
  }
}

/** Conditions that hold if the member at the path is present. */
function createPresenceConditions(
  steps: Steps,
  paths: readonly string[],
): readonly BodyCondition[] {
  return paths.map((path) => createCondition(steps, path, isNotEmpty))
}

/** Conditions that hold if the member at the path has one of the values. */
function createConditions(
  steps: Steps,
  valuesByPath: NonNullable<Combination['where']>,
): readonly BodyCondition[] {
  return Object.entries(valuesByPath).map(([path, values = []]) =>
    createCondition(steps, path, (value) => includes(values, value)),
  )
}

/** @param steps the path of the rejected value, whose list entries the condition shares */
function createCondition(
  steps: Steps,
  path: string,
  test: (value: unknown) => boolean,
): BodyCondition {
  const conditionSteps = path.split('.')
  const sharedLists = countSharedLists(steps, conditionSteps)
  return (positions, body) => someValue(body, conditionSteps, positions.slice(0, sharedLists), test)
}

/** Creates the test whether a value is one of those that the combination rejects. */
function createValueTest(combination: Combination): (value: unknown) => boolean {
  const { rejected, accepted, maximum, minimum, matches } = combination
  if (rejected !== undefined) return (value) => includes(rejected, value)
  if (accepted !== undefined) return (value) => !includes(accepted, value)
  if (maximum !== undefined) return (value) => typeof value === 'number' && value > maximum
  if (minimum !== undefined) return (value) => typeof value === 'number' && value < minimum
  if (matches === undefined) return () => true

  const pattern = new RegExp(matches)
  return (value) => typeof value === 'string' && pattern.test(value)
}

function includes(values: readonly unknown[], value: unknown): boolean {
  return values.some((candidate) => isDeepStrictEqual(candidate, value))
}

function isNotEmpty(value: unknown): boolean {
  return !Array.isArray(value) || value.length > 0
}
