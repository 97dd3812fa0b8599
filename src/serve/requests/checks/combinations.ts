import { isDeepStrictEqual } from 'node:util'
import type { Protocol } from '../../../protocols.ts'
import { formatPath } from '../../../schema.ts'
import combinations from '../data/combinations.json' with { type: 'json' }
import families from '../data/families.json' with { type: 'json' }
import { isMissing, type JsonObject } from '../json.ts'
import { RequestRejection, unsupportedFeature } from '../rejection.ts'
import { type FoundValue, memberAt, memberPlace, someMember, valuesAt } from './member-paths.ts'

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

  // The requests that it concerns.
  readonly protocols: readonly string[]
  /** A regular expression for the ID without the vendor. Absent: every model. */
  readonly models?: string | undefined
  /** The first version of the messages protocol that rejects the value. */
  readonly since?: string | undefined
  /** Checked before the members, whose check would report a less exact problem. */
  readonly isBeforeMembers?: boolean | undefined

  // The value that it rejects. At most one of the last five is set. Without one, it rejects every value.
  /** The paths of the value, separated by spaces. An absent value is accepted. */
  readonly paths: string
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

  // The other members with which it rejects the value, by their paths.
  /** All are present. An empty list counts as absent. */
  readonly with?: readonly string[] | undefined
  /** None is present. */
  readonly without?: readonly string[] | undefined
  /** Each has one of these values. */
  readonly where?: Readonly<Record<string, readonly unknown[] | undefined>> | undefined
  /** None has one of these values. */
  readonly unless?: Readonly<Record<string, readonly unknown[] | undefined>> | undefined

  // The error.
  /** May contain the placeholders `{model}`, `{value}`, `{maximum}`, `{minimum}`, `{PATH}` and `{0}`. */
  readonly message?: string | undefined
  /** Replaces the message: the feature that this gateway does not support. */
  readonly unsupported?: string | undefined
  /** Absent: the path of the rejected value. */
  readonly param?: string | undefined
  readonly code?: string | undefined
}

/** A combination for one of its paths. */
interface Check extends Combination {
  readonly steps: readonly string[]
  /** Matches the ID of a model for which the combination counts. Undefined: every model. */
  readonly modelPattern: RegExp | undefined
}

const allCombinations: readonly Combination[] = [...combinations, ...families]
const allChecks = allCombinations.flatMap((combination): readonly Check[] => {
  const { paths, models } = combination
  const modelPattern = models === undefined ? undefined : new RegExp(models)
  return paths.split(' ').map((path) => ({ ...combination, steps: path.split('.'), modelPattern }))
})

const beforeMembers = checksByProtocol(({ isBeforeMembers = false }) => isBeforeMembers)
const afterMembers = checksByProtocol(
  ({ isBeforeMembers = false, modelPattern }) => !isBeforeMembers && modelPattern === undefined,
)
const ofFamilies = checksByProtocol(({ modelPattern }) => modelPattern !== undefined)

function checksByProtocol(
  isIncluded: (check: Check) => boolean,
): Readonly<Record<Protocol, readonly Check[]>> {
  const checksOf = (protocol: Protocol) =>
    allChecks.filter((check) => check.protocols.includes(protocol) && isIncluded(check))
  return {
    chat: checksOf('chat'),
    responses: checksOf('responses'),
    messages: checksOf('messages'),
  }
}

/** @throws RequestRejection for a combination whose members have not been checked yet */
export function checkBeforeMembers(protocol: Protocol, body: JsonObject): void {
  runChecks(beforeMembers[protocol], body, () => true)
}

/**
 * @param version that of the messages protocol; empty for the others
 * @throws RequestRejection for a combination that every model rejects
 */
export function checkAfterMembers(protocol: Protocol, body: JsonObject, version: string): void {
  runChecks(afterMembers[protocol], body, ({ since = '' }) => since <= version)
}

/** @throws RequestRejection for a combination that the family of the requested model rejects */
export function checkFamily(protocol: Protocol, body: JsonObject): void {
  const model = requestedModel(body)
  runChecks(ofFamilies[protocol], body, ({ modelPattern }) => modelPattern!.test(model))
}

/** Throws the error of the first combination that applies and that the body has. */
function runChecks(
  checks: readonly Check[],
  body: JsonObject,
  applies: (check: Check) => boolean,
): void {
  for (const check of checks) {
    // Most requests have few members, so this test saves most of the work.
    if (isMissing(body[check.steps[0]!]) || !applies(check)) continue
    for (const found of valuesAt(body, check.steps))
      if (isRejected(check, found, body)) throw createRejection(check, found, body)
  }
}

/** Whether a combination rejects a value, with the other members of the body. */
function isRejected(combination: Combination, found: FoundValue, body: JsonObject): boolean {
  const { with: present = [], without: absent = [], where = {}, unless = {} } = combination
  const hasMember = (path: string) => someMember(body, path, found, isNotEmpty)
  const hasValue = ([path, values = []]: readonly [string, readonly unknown[] | undefined]) =>
    someMember(body, path, found, (value) => includes(values, value))

  return (
    isRejectedValue(combination, found.value) &&
    present.every(hasMember) &&
    !absent.some(hasMember) &&
    Object.entries(where).every(hasValue) &&
    !Object.entries(unless).some(hasValue)
  )
}

function isRejectedValue(combination: Combination, value: unknown): boolean {
  const { rejected, accepted, maximum, minimum, matches } = combination
  if (rejected !== undefined) return includes(rejected, value)
  if (accepted !== undefined) return !includes(accepted, value)
  if (maximum !== undefined) return typeof value === 'number' && value > maximum
  if (minimum !== undefined) return typeof value === 'number' && value < minimum
  return matches === undefined || (typeof value === 'string' && new RegExp(matches).test(value))
}

function includes(values: readonly unknown[], value: unknown): boolean {
  return values.some((candidate) => isDeepStrictEqual(candidate, value))
}

function isNotEmpty(value: unknown): boolean {
  return !Array.isArray(value) || value.length > 0
}

function requestedModel(body: JsonObject): string {
  return bareModelName(String(body['model']))
}

/** The ID without a vendor's prefix. */
export function bareModelName(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1)
}

function createRejection(
  { message = '', unsupported, param, code, maximum, minimum }: Combination,
  { value, steps, positions }: FoundValue,
  body: JsonObject,
): RequestRejection {
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
