import { isDeepStrictEqual } from 'node:util'
import type { Protocol } from '../../protocols.ts'
import { protocolRules, type Rows } from './data/rows.ts'
import { bodies, type Form, type ObjectForm, resolveShape, type Shape } from './data/shapes.ts'
import { isObject, type JsonObject } from './read.ts'
import type { Problem, ValueKind } from './refusal.ts'

/**
 * Checks a whole body: kinds, choices and members by the types of the official SDKs, and limits and
 * other rules by the rows of its protocol.
 *
 * @throws Refusal with the vendor's message
 */
export function checkTypes(protocol: Protocol, body: JsonObject): void {
  const problem = checkers[protocol](body)
  if (problem !== undefined) throw protocolRules[protocol].refuse(problem)
}

/** Finds the first problem of a value. Its path begins at the value. */
type Check = (value: unknown) => Problem | undefined

const noRows: Rows = { inner: new Map() }

const checkers: Readonly<Record<Protocol, Check>> = {
  chat: createChecker('chat'),
  responses: createChecker('responses'),
  messages: createChecker('messages'),
}

/** Creates the check for the bodies of a protocol. A shape is prepared when its first value arrives. */
function createChecker(protocol: Protocol): Check {
  /** Whether paths include the `type` of an object. */
  const namesTags = protocol === 'messages'
  const prepared = new Map<Rows, Map<Shape, Check>>()
  return checkOf(bodies[protocol], protocolRules[protocol].rows)

  /** The check of a shape, made once: a shape can contain itself. Null counts as absent. */
  function checkOf(shape: Shape, rows: Rows = noRows): Check {
    const known = prepared.get(rows) ?? new Map<Shape, Check>()
    prepared.set(rows, known)
    const found = known.get(shape)
    if (found !== undefined) return found

    let checkForm: Check | undefined
    const check: Check = (value) => {
      if (isMissing(value)) return undefined
      checkForm ??= formCheck(resolveShape(shape), rows)
      return checkForm(value) ?? checkRows(value, rows)
    }
    known.set(shape, check)
    return check
  }

  function formCheck(form: Form, rows: Rows): Check {
    if (typeof form === 'object' && 'any' in form) return unionCheck(form.any, rows)
    const check = innerCheck(form, rows)
    return (value) => (isOfKind(value, form) ? check?.(value) : wrongKind([form], value, rows))
  }

  /** The check of a value of the right kind. */
  function innerCheck(form: Form, rows: Rows): Check | undefined {
    if (typeof form === 'string') return undefined
    if (isChoices(form)) return (value) => notAChoice(form, value, rows)
    if ('of' in form) return objectCheck(form, rows)

    if ('list' in form) {
      const check = checkOf(form.list, rows === noRows ? noRows : { inner: rows.inner })
      return (value) =>
        firstProblem((value as readonly unknown[]).entries(), (entry) => check(entry))
    }
    if ('map' in form) {
      const inner = rows.inner.get('*') ?? noRows
      const check = checkOf(form.map, inner)
      return (value) =>
        firstProblem(
          Object.entries(value as JsonObject),
          (entry, name) => check(entry) ?? checkName(String(name), inner),
        )
    }
    return undefined
  }

  function objectCheck({ of, needs }: ObjectForm, rows: Rows): Check {
    const tags = memberChoices(of, 'type')
    const required = needs.filter((name) => rows.inner.get(name)?.isOptional !== true)
    const checks = new Map(
      Object.entries(of).map(([name, shape]) => [name, checkOf(shape, rows.inner.get(name))]),
    )
    for (const [name, inner] of rows.inner)
      if (inner.also !== undefined && !checks.has(name))
        checks.set(name, checkOf(inner.also, inner))

    return (value) => {
      const members = value as JsonObject
      const tag = members['type']
      if (tags !== undefined && !isMissing(tag)) {
        const wrongTag = notAChoice(tags, tag, rows.inner.get('type') ?? noRows)
        if (wrongTag !== undefined) return within('type', wrongTag)
      }
      for (const name of required)
        if (isMissing(members[name])) return { type: 'missing', path: [name] }

      for (const name in members) {
        const member = members[name]
        const check = checks.get(name)
        if (check === undefined && !isMissing(member)) return { type: 'unknown', path: [name] }
        const problem = check?.(member)
        if (problem !== undefined) return within(name, problem)
      }
      return undefined
    }
  }

  function unionCheck(shapes: readonly Shape[], rows: Rows): Check {
    const forms = shapes.map(resolveShape)
    const choices = forms.filter(isChoices)
    const others = forms
      .filter((form) => !isChoices(form) && formKind(form) !== 'object')
      .map((form) => ({ form, check: innerCheck(form, rows) }))
    const checkObject = objectUnionCheck(forms, rows)

    return (value) => {
      if (!forms.some((form) => isOfKind(value, form))) return wrongKind(forms, value, rows)
      if (isObject(value)) return checkObject(value)
      const other = others.find(({ form }) => isOfKind(value, form))
      if (other !== undefined) return other.check?.(value)
      return choices.length > 0 ? notAChoice(choices.flat(), value, rows) : undefined
    }
  }

  /** The kind of an object is selected by its `type`, then by its `role`. */
  function objectUnionCheck(forms: readonly Form[], rows: Rows): Check {
    const alternatives = forms.filter(isObjectForm)
    const isOpen = forms.some((form) => formKind(form) === 'object' && !isObjectForm(form))
    if (isOpen) return () => undefined

    const checks = new Map(alternatives.map((form) => [form, objectCheck(form, rows)]))

    return (value) => {
      const members = value as JsonObject
      const selected = selectForms(alternatives, members, rows)
      if (!('forms' in selected)) return selected.problem

      let deepest: Problem | undefined
      for (const form of selected.forms) {
        const problem = checks.get(form)!(value)
        if (problem === undefined) return undefined
        if (deepest === undefined || problem.path.length > deepest.path.length) deepest = problem
      }
      return deepest && namesTags && selected.tag !== undefined
        ? within(selected.tag, deepest)
        : deepest
    }
  }
}

/** The alternatives of a union that fit the tags of an object, with its `type`. */
interface Selection {
  readonly forms: readonly ObjectForm[]
  readonly tag: string | undefined
}

function selectForms(
  forms: readonly ObjectForm[],
  members: JsonObject,
  rows: Rows,
): Selection | { readonly problem: Problem | undefined } {
  let left = forms
  let selectedTag: string | undefined

  for (const name of ['type', 'role']) {
    const tag = members[name]
    const choicesOf = ({ of }: ObjectForm) => memberChoices(of, name)
    const tagged = left.filter((form) => choicesOf(form) !== undefined)
    if (tagged.length === 0) continue

    const meant = isMissing(tag)
      ? left.filter((form) => choicesOf(form) === undefined || !form.needs.includes(name))
      : tagged.filter((form) => choicesOf(form)!.includes(tag as string))
    if (meant.length === 0) {
      const named = rows.inner.get(name)?.choices
      if (named?.includes(tag as string)) return { problem: undefined }
      if (isMissing(tag)) return { problem: { type: 'missing', path: [name] } }
      const choices = named ?? [...new Set(tagged.flatMap((form) => choicesOf(form)!))]
      return { problem: { type: 'unknown-tag', path: [], name, choices, value: tag } }
    }
    left = meant
    if (name === 'type') selectedTag = isMissing(tag) ? choicesOf(meant[0]!)?.[0] : (tag as string)
  }

  return { forms: left, tag: selectedTag }
}

/** Checks a value of the right kind against its rows. */
function checkRows(value: unknown, rows: Rows): Problem | undefined {
  if (rows === noRows) return undefined
  const { least, most, isWhole, pattern, notDone } = rows
  const at = { path: [], value }

  if (typeof value === 'number') {
    const kind = isWhole ? 'integer' : 'number'
    if (isWhole && !Number.isInteger(value)) return { type: 'wrong-kind', kind, ...at }
    if (least !== undefined && value < least)
      return { type: 'too-small', kind, limit: least, ...at }
    if (most !== undefined && value > most) return { type: 'too-large', kind, limit: most, ...at }
  }

  const [shortest, longest] = lengthBounds(value, rows)
  if (longest !== undefined && valueLength(value) > longest)
    return { type: 'too-long', limit: longest, ...at }
  if (shortest !== undefined && valueLength(value) < shortest)
    return { type: 'too-short', limit: shortest, ...at }
  if (pattern !== undefined && typeof value === 'string' && !new RegExp(pattern).test(value))
    return { type: 'not-matching', pattern, ...at }
  return notDone !== undefined && isRequested(value, rows)
    ? { type: 'not-done', feature: notDone, ...at }
    : undefined
}

/** Checks the name of an entry of a map. */
function checkName(name: string, { longestName, namePattern }: Rows): Problem | undefined {
  if (longestName !== undefined && name.length > longestName)
    return { type: 'too-long', path: [], limit: longestName, value: name }
  return namePattern !== undefined && !new RegExp(namePattern).test(name)
    ? { type: 'not-matching', path: [], pattern: namePattern }
    : undefined
}

function wrongKind(forms: readonly Form[], value: unknown, rows: Rows): Problem {
  const kinds = new Set(forms.map(formKind))
  const isContent = kinds.has('string') && kinds.has('array')
  const last = [...kinds].at(-1)!
  const kind = isContent ? 'content' : last === 'number' && rows.isWhole ? 'integer' : last

  const choices = forms.flatMap((form) => (isChoices(form) ? form : []))
  return choices.length > 0 && kind === 'string'
    ? { type: 'not-a-choice', path: [], choices, value }
    : { type: 'wrong-kind', path: [], kind, value }
}

function notAChoice(accepted: readonly string[], value: unknown, rows: Rows): Problem | undefined {
  const choices = rows.choices ?? accepted
  if (accepted.includes(value as string) || choices.includes(value as string)) return undefined
  return { type: 'not-a-choice', path: [], choices, value }
}

/** The problem of an inner value, with the path from the outer value. */
function within(key: string | number, problem: Problem): Problem {
  return { ...problem, path: [key, ...problem.path] }
}

function firstProblem<Key extends string | number>(
  entries: Iterable<readonly [Key, unknown]>,
  check: (entry: unknown, key: Key) => Problem | undefined,
): Problem | undefined {
  for (const [key, entry] of entries) {
    const problem = check(entry, key)
    if (problem !== undefined) return within(key, problem)
  }
  return undefined
}

function isRequested(value: unknown, { nothing = [], holding }: Rows): boolean {
  if (holding !== undefined) return Array.isArray(value) && value.includes(holding)
  return !nothing.some((one) => isDeepStrictEqual(one, value))
}

type Bounds = readonly [shortest: number | undefined, longest: number | undefined]

function lengthBounds(value: unknown, rows: Rows): Bounds {
  if (typeof value === 'string') return [rows.shortest, rows.longest]
  return typeof value === 'object' ? [rows.fewestEntries, rows.mostEntries] : [undefined, undefined]
}

function valueLength(value: unknown): number {
  return typeof value === 'string' ? value.length : Object.keys(value as object).length
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null
}

function isObjectForm(form: Form): form is ObjectForm {
  return typeof form === 'object' && 'of' in form
}

function isChoices(form: Form): form is readonly string[] {
  return Array.isArray(form)
}

/** The strings that a member accepts, if its shape is a choice of strings. */
function memberChoices(of: ObjectForm['of'], name: string): readonly string[] | undefined {
  const form = Object.hasOwn(of, name) ? resolveShape(of[name]!) : 'any'
  return isChoices(form) ? form : undefined
}

function formKind(form: Form): Exclude<ValueKind, 'integer' | 'content'> {
  if (isChoices(form)) return 'string'
  if (typeof form === 'object') return 'list' in form ? 'array' : 'object'
  return form === 'any' ? 'object' : form
}

function isOfKind(value: unknown, form: Form): boolean {
  if (form === 'any') return true
  const kind = formKind(form)
  if (kind === 'array') return Array.isArray(value)
  return kind === 'object' ? isObject(value) : typeof value === kind
}
