import { isDeepStrictEqual } from 'node:util'
import type { Protocol } from '../../../protocols.ts'
import { formatPath } from '../../../schema.ts'
import combinations from '../data/combinations.json' with { type: 'json' }
import families from '../data/families.json' with { type: 'json' }
import sdkRules from '../data/sdk-rules.json' with { type: 'json' }
import { isMissing, type JsonObject, toObject } from '../json.ts'
import { RequestRejection, rewrittenHint, unsupportedFeature } from '../rejection.ts'
import { createModelTest } from './generations.ts'

/**
 * A row of combinations.json, families.json or sdk-rules.json: a value that a vendor rejects in combination with
 * other members, without a beta, or for a family of models. The rules for a single member are in rules.json. Each
 * row has a source. For example, chat accepts images only from the user:
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
 * A path is written as `Steps`, with dots between them. `each` in a condition is the same
 * message as `each` in the path of the rejected value, because the paths are equal up to there; `any` is
 * any message. `{0}` is the position in the first list.
 */
interface Combination {
  // With `undefined`, TypeScript checks the rows of the JSON files.

  // The requests that it concerns.
  readonly protocols: readonly string[]
  /** Families and generations, as in generations.ts. Absent: every model. */
  readonly models?: string
  /** The first version of the messages protocol that rejects the value. */
  readonly since?: string
  /** Counts if the request has none of these betas. */
  readonly betas?: readonly string[]
  /** Checked before the members, whose check would report a less exact problem. */
  readonly isBeforeMembers?: boolean

  // The value that it rejects. At most one of the last seven is set. Without one, it rejects every value.
  /** The paths of the value, separated by spaces. An absent value is accepted. */
  readonly paths: string
  /** Rejects only these. */
  readonly rejected?: readonly unknown[]
  /** Rejects all but these. */
  readonly accepted?: readonly unknown[]
  /** Rejects larger ones. */
  readonly maximum?: number
  /** Rejects smaller ones. */
  readonly minimum?: number
  /** Rejects texts that match this regular expression. */
  readonly matches?: string
  /** Rejects values that are not at one of these paths, separated by spaces: names that exist nowhere else. */
  readonly references?: string
  /** Rejects values that an earlier value at the path repeats. */
  readonly isUnique?: boolean

  // The other members with which it rejects the value, by their paths.
  /** All are present. An empty list counts as absent. */
  readonly with?: readonly string[]
  /** None is present. */
  readonly without?: readonly string[]
  /** Each has one of these values. */
  readonly where?: Readonly<Record<string, readonly unknown[] | undefined>> | undefined
  /** None has one of these values. */
  readonly unless?: Readonly<Record<string, readonly unknown[] | undefined>> | undefined

  // The error.
  /**
   * May contain the placeholders `{model}`, `{value}`, `{maximum}`, `{minimum}`, `{place}`, `{parent}`, `{PATH}` and
   * `{0}`.
   */
  readonly message?: string
  /** Replaces the message: the feature that this gateway does not support. */
  readonly unsupported?: string
  /** Absent: the path of the rejected value. */
  readonly param?: string
  readonly code?: string
}

/** A combination for one of its paths. */
interface Check extends Combination {
  readonly steps: readonly string[]
  readonly firstStep: string
  /** Whether the combination counts for a model. Undefined: for every model. */
  readonly includesModel: ((id: string) => boolean) | undefined
}

/** Without the beta, the vendor does not know the member or the type (https://github.com/Wei-Shaw/sub2api/pull/2833). */
const ofBetas = sdkRules.betas.map((row: Combination): Combination => {
  const message =
    row.rejected === undefined
      ? '{place}: Extra inputs are not permitted'
      : "{parent}: Input tag '{value}' found using 'type' does not match any of the expected tags"
  return { ...row, isBeforeMembers: true, message }
})

/** The words are those of the vendor for other members that a family lacks. */
const ofComments = sdkRules.families.map((row: Combination): Combination => {
  const message =
    row.accepted === undefined
      ? "Unsupported parameter: '{place}' is not supported with this model."
      : `Unsupported value: '{place}' does not support '{value}' with this model. Supported values are: '${row.accepted.join("', '")}'.`
  const code = row.accepted === undefined ? 'unsupported_parameter' : 'unsupported_value'
  return { ...row, message, code }
})

const ofAllModels: readonly Combination[] = [...ofBetas, ...combinations]
const beforeMembers = checksByProtocol(ofAllModels.filter((row) => row.isBeforeMembers))
const afterMembers = checksByProtocol(ofAllModels.filter((row) => !row.isBeforeMembers))
const ofFamilies = checksByProtocol([...families, ...ofComments])

function checksByProtocol(
  combinations: readonly Combination[],
): Readonly<Record<Protocol, readonly Check[]>> {
  const checks = combinations.flatMap((combination): readonly Check[] => {
    const { paths, models } = combination
    const includesModel = models === undefined ? undefined : createModelTest(models)
    return paths.split(' ').map((path) => {
      const steps = path.split('.')
      return { ...combination, steps, firstStep: steps[0]!, includesModel }
    })
  })
  const checksOf = (protocol: Protocol) =>
    checks.filter(({ protocols }) => protocols.includes(protocol))
  return {
    chat: checksOf('chat'),
    responses: checksOf('responses'),
    messages: checksOf('messages'),
  }
}

/** The headers of messages that decide about combinations. Empty for the other protocols. */
export interface ProtocolVersion {
  readonly version: string
  readonly betas: readonly string[]
}

/** @throws RequestRejection for a combination whose members have not been checked yet */
export function checkBeforeMembers(
  protocol: Protocol,
  body: JsonObject,
  version: ProtocolVersion,
): void {
  runChecks(beforeMembers[protocol], body, version)
}

/** @throws RequestRejection for a combination that every model rejects */
export function checkAfterMembers(
  protocol: Protocol,
  body: JsonObject,
  version: ProtocolVersion,
): void {
  runChecks(afterMembers[protocol], body, version)
}

/** @throws RequestRejection for a combination that the family of the requested model rejects */
export function checkFamily(protocol: Protocol, body: JsonObject, version: ProtocolVersion): void {
  runChecks(ofFamilies[protocol], body, version)
}

/** @throws RequestRejection for the first combination that rejects the body */
function runChecks(
  checks: readonly Check[],
  body: JsonObject,
  { version, betas: requestBetas }: ProtocolVersion,
): void {
  const model = requestedModel(body)
  for (const check of checks) {
    // Most requests have few members, so this test saves most of the work.
    if (isMissing(body[check.firstStep])) continue
    const { since, betas, includesModel } = check
    if (since !== undefined && since > version) continue
    if (betas?.some((beta) => requestBetas.includes(beta))) continue
    if (includesModel?.(model) === false) continue
    for (const found of valuesAt(body, check.steps))
      if (isRejected(check, found, body)) throw createRejection(check, found, body)
  }
}

/** Whether a combination rejects a value, with the other members of the body. */
function isRejected(combination: Combination, found: FoundValue, body: JsonObject): boolean {
  if (!isRejectedValue(combination, found, body)) return false

  const { with: present = [], without: absent = [], where = {}, unless = {} } = combination
  const hasMember = (path: string) => someMember(body, path, found, isNotEmpty)
  const hasValue = ([path, values = []]: readonly [string, readonly unknown[] | undefined]) =>
    someMember(body, path, found, (value) => includes(values, value))

  return (
    present.every(hasMember) &&
    !absent.some(hasMember) &&
    Object.entries(where).every(hasValue) &&
    !Object.entries(unless).some(hasValue)
  )
}

function isRejectedValue(
  combination: Combination,
  { value, steps, positions }: FoundValue,
  body: JsonObject,
): boolean {
  const { rejected, accepted, maximum, minimum, matches, references, isUnique } = combination
  if (references !== undefined)
    return !references.split(' ').some((path) => allValues(body, path).includes(value))
  if (isUnique) {
    const found = valuesAt(body, steps)
    const own = found.findIndex((other) => isDeepStrictEqual(other.positions, positions))
    return found.slice(0, own).some((earlier) => earlier.value === value)
  }
  if (rejected !== undefined) return includes(rejected, value)
  if (accepted !== undefined) return !includes(accepted, value)
  if (maximum !== undefined) return typeof value === 'number' && value > maximum
  if (minimum !== undefined) return typeof value === 'number' && value < minimum
  return matches === undefined || (typeof value === 'string' && new RegExp(matches).test(value))
}

function allValues(body: JsonObject, path: string): readonly unknown[] {
  return valuesAt(body, path.split('.')).map(({ value }) => value)
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
  { message = '', unsupported, param, code, maximum, minimum, betas, models }: Combination,
  { value, steps, positions }: FoundValue,
  body: JsonObject,
): RequestRejection {
  const placeholders: JsonObject = {
    model: requestedModel(body),
    value,
    maximum,
    minimum,
    place: memberPlace(steps, positions).join('.'),
    parent: memberPlace(steps, positions).slice(0, -1).join('.'),
    ...positions,
  }
  const fill = (text: string) =>
    text.replace(/\{([\w.]+)\}/g, (_, name: string) => {
      if (name in placeholders) return String(placeholders[name])
      return String(memberAt(body, memberPlace(name.split('.'), positions)))
    })

  const familyHint = models === undefined ? undefined : rewrittenHint
  const hint =
    betas === undefined
      ? familyHint
      : `Without the header \`anthropic-beta: ${betas.at(-1)}\` the vendor does not know it.`
  const place = param === undefined ? formatPath(memberPlace(steps, positions)) : fill(param)
  if (unsupported !== undefined) return unsupportedFeature(unsupported, place)
  return new RequestRejection(fill(message), { param: place, code, hint })
}

/**
 * A path in a body: the names of members, and steps that select entries of a list (`each`, `any`, `first`,
 * `last`, `beforeLast`; in a condition also `previous` and `next`, the neighbours of the selected entry). A position is
 * the index of a selected entry; a path has one for each list. In `tools.each.name`, the second tool has the position 1.
 */
type Steps = readonly string[]

type Positions = readonly number[]

const listSteps = new Set(['each', 'any', 'first', 'last', 'beforeLast', 'previous', 'next'])

function isListStep(step: string): boolean {
  return listSteps.has(step)
}

/** The first position that a step selects in a list, and the one after the last. */
function entryRange(step: string, length: number): readonly [start: number, end: number] {
  switch (step) {
    case 'first':
      return [0, Math.min(1, length)]
    case 'last':
      return [Math.max(0, length - 1), length]
    case 'beforeLast':
      return [0, length - 1]
    default:
      return [0, length]
  }
}

/** A value at a path. */
interface FoundValue {
  readonly value: unknown
  readonly steps: Steps
  readonly positions: Positions
}

/** All values at a path. Null counts as absent. */
function valuesAt(body: JsonObject, steps: Steps): readonly FoundValue[] {
  const found: FoundValue[] = []
  addValues(body, 0, [])
  return found

  function addValues(value: unknown, depth: number, positions: Positions): void {
    const step = steps[depth]
    if (isMissing(value)) return
    if (step === undefined) found.push({ value, steps, positions })
    else if (!isListStep(step)) addValues(toObject(value)[step], depth + 1, positions)
    else if (Array.isArray(value)) {
      const [start, end] = entryRange(step, value.length)
      for (let index = start; index < end; index++)
        addValues(value[index], depth + 1, [...positions, index])
    }
  }
}

const neighbourOffsets: Readonly<Record<string, number>> = { previous: -1, next: 1 }

/** Whether a member passes a test. On the path that it shares with another value, it has the same positions. */
function someMember(
  body: JsonObject,
  path: string,
  { steps: otherSteps, positions }: FoundValue,
  test: (value: unknown) => boolean,
): boolean {
  const steps = path.split('.')
  const difference = steps.findIndex((step, depth) => step !== otherSteps[depth])
  const sharedSteps = difference === -1 ? steps : steps.slice(0, difference)
  const sharedLists = sharedSteps.filter(isListStep).length
  const shared = positions.slice(0, sharedLists)
  const offset = neighbourOffsets[steps[difference] ?? '']
  const neighbour = offset === undefined ? [] : [positions[sharedLists]! + offset]
  return someValue(body, steps, [...shared, ...neighbour], test)
}

/**
 * Whether a value at a path passes a test. Null counts as absent.
 *
 * @param positions the positions in the first lists of the path; in further lists, any entry may pass
 */
function someValue(
  value: unknown,
  [step, ...laterSteps]: Steps,
  positions: Positions,
  test: (value: unknown) => boolean,
): boolean {
  if (isMissing(value)) return false
  if (step === undefined) return test(value)
  if (!isListStep(step)) return someValue(toObject(value)[step], laterSteps, positions, test)
  if (!Array.isArray(value)) return false

  const [position, ...laterPositions] = positions
  if (position !== undefined) return someValue(value[position], laterSteps, laterPositions, test)
  const entries = value.slice(...entryRange(step, value.length))
  return entries.some((entry) => someValue(entry, laterSteps, laterPositions, test))
}

type Place = readonly (string | number)[]

/** The path with positions instead of the steps for lists. */
function memberPlace(steps: Steps, positions: Positions): Place {
  const remaining = [...positions]
  return steps.map((step) => (isListStep(step) ? remaining.shift()! : step))
}

function memberAt(body: JsonObject, place: Place): unknown {
  let value: unknown = body
  for (const step of place)
    value = Array.isArray(value) ? value[Number(step)] : toObject(value)[step]
  return value
}
