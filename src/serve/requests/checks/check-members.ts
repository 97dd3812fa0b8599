import { isDeepStrictEqual } from 'node:util'
import type { Protocol } from '../../../protocols.ts'
import { type MemberRules, noRules, protocolRules } from '../data/rules.ts'
import {
  bodyShapes,
  type Form,
  formKind,
  hasForm,
  isChoices,
  isObjectForm,
  memberChoices,
  type ObjectForm,
  resolveShape,
  type Shape,
} from '../data/shapes.ts'
import { isMissing, isObject, type JsonObject } from '../json.ts'
import { type Problem, problemAt } from '../rejection.ts'

/**
 * Checks each member of a body, at any depth: its name, its kind and its choices by the types of the
 * official SDKs, and its value by the rules of the protocol. `combinations.ts` checks members together.
 *
 * @throws RequestRejection with the vendor's message
 */
export function checkMembers(protocol: Protocol, body: JsonObject): void {
  const problem = bodyChecks[protocol](body)
  if (problem !== undefined) throw protocolRules[protocol].createRejection(problem)
}

/** Returns the first problem of a value, whose path begins at the value. Only `checkMembers` throws. */
type ValueCheck = (value: unknown) => Problem | undefined

const bodyChecks: Readonly<Record<Protocol, ValueCheck>> = {
  chat: createBodyCheck('chat'),
  responses: createBodyCheck('responses'),
  messages: createBodyCheck('messages'),
}

function createBodyCheck(protocol: Protocol): ValueCheck {
  /** Whether the vendor's paths include the `type` of an object. */
  const pathsHaveTypes = protocol === 'messages'
  const created = new Map<MemberRules, Map<Shape, ValueCheck>>()

  return checkFor(bodyShapes[protocol], protocolRules[protocol].rules)

  /**
   * The check for a shape with rules. It is created when the first value arrives, and only once, because a
   * shape can contain itself. Null counts as absent.
   */
  function checkFor(shape: Shape, rules: MemberRules = noRules): ValueCheck {
    const createdForRules = created.get(rules) ?? new Map<Shape, ValueCheck>()
    created.set(rules, createdForRules)
    const existing = createdForRules.get(shape)
    if (existing !== undefined) return existing

    let checkForm: ValueCheck | undefined
    const check: ValueCheck = (value) => {
      if (isMissing(value)) return undefined
      checkForm ??= createFormCheck(resolveShape(shape), rules)
      return checkForm(value) ?? valueProblem(value, rules)
    }
    createdForRules.set(shape, check)
    return check
  }

  function createFormCheck(form: Form, rules: MemberRules): ValueCheck {
    if (typeof form === 'object' && 'anyOf' in form) return createUnionCheck(form.anyOf, rules)
    const checkContents = createContentsCheck(form, rules)
    return (value) =>
      hasForm(value, form) ? checkContents?.(value) : wrongKind([form], value, rules)
  }

  /** The check for a value that has the kind of the form. Undefined: its contents do not matter. */
  function createContentsCheck(form: Form, rules: MemberRules): ValueCheck | undefined {
    if (typeof form === 'string') return undefined
    if (isChoices(form)) return (value) => wrongChoice(form, value, rules)
    if (isObjectForm(form)) return createObjectCheck(form, rules)
    if ('list' in form) return createListCheck(form.list, rules)
    return 'map' in form ? createMapCheck(form.map, rules) : undefined
  }

  function createListCheck(entryShape: Shape, rules: MemberRules): ValueCheck {
    const checkEntry = checkFor(
      entryShape,
      rules === noRules ? noRules : { members: rules.members },
    )
    return (value) => {
      for (const [index, entry] of (value as readonly unknown[]).entries()) {
        const problem = checkEntry(entry)
        if (problem !== undefined) return problemAt(index, problem)
      }
      return undefined
    }
  }

  function createMapCheck(entryShape: Shape, rules: MemberRules): ValueCheck {
    const entryRules = rules.members.get('*') ?? noRules
    const checkEntry = checkFor(entryShape, entryRules)
    return (value) => {
      for (const [name, entry] of Object.entries(value as JsonObject)) {
        const problem = checkEntry(entry) ?? nameProblem(name, entryRules)
        if (problem !== undefined) return problemAt(name, problem)
      }
      return undefined
    }
  }

  function createObjectCheck(form: ObjectForm, rules: MemberRules): ValueCheck {
    const types = memberChoices(form, 'type')
    const required = form.required.filter((name) => rules.members.get(name)?.isOptional !== true)
    const checks = createMemberChecks(form, rules)

    return (value) => {
      const members = value as JsonObject
      const { type } = members
      if (types !== undefined && !isMissing(type)) {
        const problem = wrongChoice(types, type, rules.members.get('type') ?? noRules)
        if (problem !== undefined) return problemAt('type', problem)
      }

      const missing = required.find((name) => isMissing(members[name]))
      if (missing !== undefined) return { type: 'missing', path: [missing] }

      for (const name in members) {
        const member = members[name]
        const check = checks.get(name)
        if (check === undefined && !isMissing(member)) return { type: 'unknown', path: [name] }
        const problem = check?.(member)
        if (problem !== undefined) return problemAt(name, problem)
      }
      return undefined
    }
  }

  /** The checks for the members of an object, with those that only the rules know. */
  function createMemberChecks({ properties }: ObjectForm, rules: MemberRules) {
    const checks = new Map<string, ValueCheck>()
    for (const [name, shape] of Object.entries(properties))
      checks.set(name, checkFor(shape, rules.members.get(name)))
    for (const [name, memberRules] of rules.members)
      if (memberRules.shape !== undefined && !checks.has(name))
        checks.set(name, checkFor(memberRules.shape, memberRules))
    return checks
  }

  function createUnionCheck(shapes: readonly Shape[], rules: MemberRules): ValueCheck {
    const forms = shapes.map(resolveShape)
    const choices = forms.filter(isChoices).flat()
    const plainForms = forms.filter((form) => !isChoices(form) && formKind(form) !== 'object')
    const plainChecks = plainForms.map((form) => ({
      form,
      check: createContentsCheck(form, rules),
    }))
    const checkObject = createObjectUnionCheck(forms, rules)

    return (value) => {
      if (!forms.some((form) => hasForm(value, form))) return wrongKind(forms, value, rules)
      if (isObject(value)) return checkObject(value)

      const plain = plainChecks.find(({ form }) => hasForm(value, form))
      if (plain !== undefined) return plain.check?.(value)
      return choices.length > 0 ? wrongChoice(choices, value, rules) : undefined
    }
  }

  /** The check for an object of a union. Its `type` and its `role` select the alternatives. */
  function createObjectUnionCheck(forms: readonly Form[], rules: MemberRules): ValueCheck {
    const acceptsAnyObject = forms.some(
      (form) => formKind(form) === 'object' && !isObjectForm(form),
    )
    if (acceptsAnyObject) return () => undefined

    const alternatives = forms.filter(isObjectForm)
    const checks = new Map(alternatives.map((form) => [form, createObjectCheck(form, rules)]))

    return (value) => {
      const selection = selectAlternatives(alternatives, value as JsonObject, rules)
      if (selection.kind === 'not-in-types') return undefined
      if (selection.kind === 'rejected') return selection.problem

      // The alternative that the value fits furthest is the one that the client meant.
      let deepest: Problem | undefined
      for (const form of selection.forms) {
        const problem = checks.get(form)!(value)
        if (problem === undefined) return undefined
        if (deepest === undefined || problem.path.length > deepest.path.length) deepest = problem
      }

      if (deepest === undefined || selection.type === undefined || !pathsHaveTypes) return deepest
      return problemAt(selection.type, deepest)
    }
  }
}

/** The problem of a value that has the kind of none of the forms. */
function wrongKind(forms: readonly Form[], value: unknown, rules: MemberRules): Problem {
  const kinds = [...new Set(forms.map(formKind))]
  const isContent = kinds.includes('string') && kinds.includes('array')
  const lastKind = kinds.at(-1)!
  const numberKind = lastKind === 'number' && rules.isInteger ? 'integer' : lastKind
  const kind = isContent ? 'content' : numberKind

  const choices = forms.filter(isChoices).flat()
  return choices.length > 0 && kind === 'string'
    ? { type: 'not-a-choice', path: [], choices, value }
    : { type: 'wrong-kind', path: [], kind, value }
}

/** The problem of a value that is none of the choices. The vendor's list extends that of the types. */
function wrongChoice(
  typeChoices: readonly string[],
  value: unknown,
  rules: MemberRules,
): Problem | undefined {
  const choices = rules.choices ?? typeChoices
  if (typeChoices.includes(value as string) || choices.includes(value as string)) return undefined
  return { type: 'not-a-choice', path: [], choices, value }
}

/** The alternatives of a union that an object may be. */
type Selection =
  /** `type`: the `type` of the object, or the one that it has by default. */
  | {
      readonly kind: 'found'
      readonly forms: readonly ObjectForm[]
      readonly type: string | undefined
    }
  | { readonly kind: 'rejected'; readonly problem: Problem }
  /** The vendor accepts an alternative that the types lack. */
  | { readonly kind: 'not-in-types' }

/** Selects the alternatives by the object's `type`, and among these by its `role`. */
function selectAlternatives(
  alternatives: readonly ObjectForm[],
  object: JsonObject,
  rules: MemberRules,
): Selection {
  let forms = alternatives
  let type: string | undefined

  for (const name of ['type', 'role']) {
    const tagged = forms.filter((form) => memberChoices(form, name) !== undefined)
    if (tagged.length === 0) continue

    const tag = object[name]
    const matching = isMissing(tag)
      ? forms.filter((form) => isOptionalTag(form, name))
      : tagged.filter((form) => memberChoices(form, name)!.includes(tag as string))
    if (matching.length === 0) return rejectTag(tagged, name, tag, rules)

    forms = matching
    if (name === 'type')
      type = isMissing(tag) ? memberChoices(matching[0]!, name)?.[0] : String(tag)
  }

  return { kind: 'found', forms, type }
}

function isOptionalTag(form: ObjectForm, name: string): boolean {
  return memberChoices(form, name) === undefined || !form.required.includes(name)
}

function rejectTag(
  tagged: readonly ObjectForm[],
  name: string,
  tag: unknown,
  rules: MemberRules,
): Selection {
  const vendorChoices = rules.members.get(name)?.choices
  if (vendorChoices?.includes(tag as string)) return { kind: 'not-in-types' }
  if (isMissing(tag)) return { kind: 'rejected', problem: { type: 'missing', path: [name] } }

  const typeChoices = new Set(tagged.flatMap((form) => memberChoices(form, name)!))
  const choices = vendorChoices ?? [...typeChoices]
  const problem: Problem = { type: 'unknown-tag', path: [], name, choices, value: tag }
  return { kind: 'rejected', problem }
}

/** The problem of a value of the right kind with its rules: its limits, its pattern, or no support for it. */
function valueProblem(value: unknown, rules: MemberRules): Problem | undefined {
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

function valueLength(value: unknown): number {
  return typeof value === 'string' ? value.length : Object.keys(value as object).length
}

/** Whether a value requests the feature that this gateway does not support. */
function isRequested(value: unknown, { requestedBy, notRequestedBy = [] }: MemberRules): boolean {
  if (requestedBy !== undefined) return Array.isArray(value) && value.includes(requestedBy)
  return !notRequestedBy.some((harmless) => isDeepStrictEqual(harmless, value))
}

/** The problem of the name of an entry of a map. */
function nameProblem(
  name: string,
  { maxNameLength, namePattern }: MemberRules,
): Problem | undefined {
  if (maxNameLength !== undefined && name.length > maxNameLength)
    return { type: 'too-long', path: [], limit: maxNameLength, value: name }
  return namePattern !== undefined && !new RegExp(namePattern).test(name)
    ? { type: 'not-matching', path: [], pattern: namePattern }
    : undefined
}
