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
import { selectAlternatives } from './select-alternatives.ts'
import { nameProblem, valueProblem } from './value-problems.ts'

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

/** Creates the check for the bodies of a protocol. */
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
