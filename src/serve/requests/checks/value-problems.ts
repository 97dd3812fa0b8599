import { isDeepStrictEqual } from 'node:util'
import { type MemberRules, noRules } from '../data/rules.ts'
import type { Problem } from '../rejection.ts'

/** The problem of a value of the right kind with its rules: its limits, its pattern, or no support for it. */
export function valueProblem(value: unknown, rules: MemberRules): Problem | undefined {
  if (rules === noRules) return undefined
  const { pattern, unsupported } = rules

  const problem =
    typeof value === 'number'
      ? numberProblem(value, rules)
      : lengthProblem(value, lengthBounds(value, rules))
  if (problem !== undefined) return problem

  if (pattern !== undefined && typeof value === 'string' && !new RegExp(pattern).test(value))
    return { type: 'not-matching', path: [], pattern, value }
  return unsupported !== undefined && isRequested(value, rules)
    ? { type: 'unsupported', path: [], feature: unsupported, value }
    : undefined
}

function numberProblem(
  value: number,
  { minimum, maximum, isInteger }: MemberRules,
): Problem | undefined {
  const kind = isInteger ? 'integer' : 'number'
  if (isInteger && !Number.isInteger(value)) return { type: 'wrong-kind', path: [], kind, value }
  if (minimum !== undefined && value < minimum)
    return { type: 'too-small', path: [], kind, limit: minimum, value }
  if (maximum !== undefined && value > maximum)
    return { type: 'too-large', path: [], kind, limit: maximum, value }
  return undefined
}

type Bounds = readonly [minimum: number | undefined, maximum: number | undefined]

function lengthProblem(value: unknown, [minimum, maximum]: Bounds): Problem | undefined {
  if (maximum !== undefined && valueLength(value) > maximum)
    return { type: 'too-long', path: [], limit: maximum, value }
  if (minimum !== undefined && valueLength(value) < minimum)
    return { type: 'too-short', path: [], limit: minimum, value }
  return undefined
}

function lengthBounds(value: unknown, rules: MemberRules): Bounds {
  if (typeof value === 'string') return [rules.minLength, rules.maxLength]
  return typeof value === 'object' ? [rules.minEntries, rules.maxEntries] : [undefined, undefined]
}

/** The length of a string, or the number of entries or members. */
function valueLength(value: unknown): number {
  return typeof value === 'string' ? value.length : Object.keys(value as object).length
}

/** Whether a value requests the feature that this gateway does not support. */
function isRequested(value: unknown, { requestedBy, notRequestedBy = [] }: MemberRules): boolean {
  if (requestedBy !== undefined) return Array.isArray(value) && value.includes(requestedBy)
  return !notRequestedBy.some((harmless) => isDeepStrictEqual(harmless, value))
}

/** The problem of the name of an entry of a map. */
export function nameProblem(
  name: string,
  { maxNameLength, namePattern }: MemberRules,
): Problem | undefined {
  if (maxNameLength !== undefined && name.length > maxNameLength)
    return { type: 'too-long', path: [], limit: maxNameLength, value: name }
  return namePattern !== undefined && !new RegExp(namePattern).test(name)
    ? { type: 'not-matching', path: [], pattern: namePattern }
    : undefined
}
