import { isDeepStrictEqual } from 'node:util'
import type { Protocol } from '../../protocols.ts'
import { protocolRules, type Rows } from './data/rows.ts'
import { bodies, type Form, type ObjectForm, resolveShape, type Shape } from './data/shapes.ts'
import { isObject, type JsonObject } from './read.ts'
import type { Path, Problem, ValueKind } from './refusal.ts'

/**
 * Checks a whole body: kinds, choices and members by the types of the official SDKs, and limits and
 * other rules by the rows of its protocol.
 *
 * @throws Refusal with the vendor's message
 */
export function checkTypes(protocol: Protocol, body: JsonObject): void {
  const problem = checkers[protocol](body, [])
  if (problem !== undefined) throw protocolRules[protocol].refuse(problem)
}

/** Finds the first problem of a value. Adds to `path` only while it is running. */
type Check = (value: unknown, path: (string | number)[]) => Problem | undefined

const noRows: Rows = { inner: new Map() }

const checkers: Readonly<Record<Protocol, Check>> = {
  chat: createChecker('chat'),
  responses: createChecker('responses'),
  messages: createChecker('messages'),
}

/** Creates the check for the bodies of a protocol. A shape is prepared when its first value arrives. */
function createChecker(protocol: Protocol): Check {
  const { rows: allRows } = protocolRules[protocol]
  /** Whether paths include the `type` of an object. */
  const namesTags = protocol === 'messages'
  const prepared = new Map<Rows, Map<Shape, Check>>()
  return checkOf(bodies[protocol], allRows)

  /** Null counts as absent. */
  function checkOf(shape: Shape, rows: Rows = noRows): Check {
    const known = prepared.get(rows) ?? new Map<Shape, Check>()
    prepared.set(rows, known)
    const found = known.get(shape)
    if (found !== undefined) return found

    let checkForm: Check | undefined
    const check: Check = (value, path) => {
      if (isMissing(value)) return undefined
      checkForm ??= formCheck(resolveShape(shape), rows)
      return checkForm(value, path) ?? checkRows(value, rows, path)
    }
    known.set(shape, check)
    return check
  }

  function formCheck(form: Form, rows: Rows): Check {
    if (typeof form === 'object' && 'any' in form) return unionCheck(form.any, rows)
    const check = innerCheck(form, rows)
    return (value, path) =>
      isOfKind(value, form) ? check?.(value, path) : wrongKind([form], value, rows, path)
  }

  /** The check of a value of the right kind. */
  function innerCheck(form: Form, rows: Rows): Check | undefined {
    if (typeof form === 'string') return undefined
    if (isChoices(form)) return (value, path) => notAChoice(form, value, rows, path)
    if ('of' in form) return objectCheck(form, rows)

    if ('list' in form) {
      const inner = rows === noRows ? noRows : { inner: rows.inner }
      const check = checkOf(form.list, inner)
      return (value, path) => {
        for (const [index, entry] of (value as readonly unknown[]).entries()) {
          const problem = checkInner(check, entry, index, path)
          if (problem !== undefined) return problem
        }
        return undefined
      }
    }

    if ('any' in form) return undefined
    const check = checkOf(form.map, rows.inner.get('*'))
    return (value, path) => {
      for (const [key, entry] of Object.entries(value as JsonObject)) {
        const problem = checkInner(check, entry, key, path)
        if (problem !== undefined) return problem
      }
      return undefined
    }
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

    return (value, path) => {
      const members = value as JsonObject
      const tag = members['type']
      if (tags !== undefined && !isMissing(tag)) {
        const check: Check = () => notAChoice(tags, tag, rows.inner.get('type') ?? noRows, path)
        const wrongTag = checkInner(check, tag, 'type', path)
        if (wrongTag !== undefined) return wrongTag
      }
      for (const name of required)
        if (isMissing(members[name])) return { type: 'missing', path: [...path, name] }

      for (const name in members) {
        const member = members[name]
        const check = checks.get(name)
        if (check === undefined && !isMissing(member))
          return { type: 'unknown', path: [...path, name] }
        const problem = check && checkInner(check, member, name, path)
        if (problem !== undefined) return problem
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

    return (value, path) => {
      if (!forms.some((form) => isOfKind(value, form))) return wrongKind(forms, value, rows, path)
      if (isObject(value)) return checkObject(value, path)
      const other = others.find(({ form }) => isOfKind(value, form))
      if (other !== undefined) return other.check?.(value, path)
      return choices.length > 0 ? notAChoice(choices.flat(), value, rows, path) : undefined
    }
  }

  /** The kind of an object is selected by its `type`, then by its `role`. */
  function objectUnionCheck(forms: readonly Form[], rows: Rows): Check {
    const alternatives = forms.filter(isObjectForm)
    const isOpen = forms.some((form) => formKind(form) === 'object' && !isObjectForm(form))
    if (isOpen) return () => undefined

    const checks = new Map(alternatives.map((form) => [form, objectCheck(form, rows)]))
    const selections = new Map<string, Selection>()

    return (value, path) => {
      const members = value as JsonObject
      const key = `${members['type']} ${members['role']}`
      const selected = selections.get(key) ?? selectForms(alternatives, members, rows)
      if (!('forms' in selected)) return selected.problem(path)
      selections.set(key, selected)

      const inner = selected.tag === undefined ? path : [...path, selected.tag]
      let deepest: Problem | undefined
      for (const form of selected.forms) {
        const problem = checks.get(form)!(value, inner)
        if (problem === undefined) return undefined
        if (deepest === undefined || problem.path.length > deepest.path.length) deepest = problem
      }
      return deepest
    }
  }

  function selectForms(
    forms: readonly ObjectForm[],
    members: JsonObject,
    rows: Rows,
  ): Selection | Rejection {
    let left = forms
    let namedTag: string | undefined

    for (const name of ['type', 'role']) {
      const tag = members[name]
      const choicesOf = ({ of }: ObjectForm) => memberChoices(of, name)
      const tagged = left.filter((form) => choicesOf(form) !== undefined)
      if (tagged.length === 0) continue

      const meant = isMissing(tag)
        ? left.filter((form) => choicesOf(form) === undefined || !form.needs.includes(name))
        : tagged.filter((form) => choicesOf(form)!.includes(tag as string))
      if (meant.length === 0)
        return { problem: (path) => unknownTag(name, members, tagged, rows, path) }
      left = meant
      if (name === 'type' && namesTags)
        namedTag = isMissing(tag) ? choicesOf(meant[0]!)?.[0] : (tag as string)
    }

    return { forms: left, tag: namedTag }
  }

  function unknownTag(
    name: string,
    value: JsonObject,
    tagged: readonly ObjectForm[],
    rows: Rows,
    path: Path,
  ): Problem | undefined {
    const tag = value[name]
    const named = rows.inner.get(name)?.choices
    if (named?.includes(tag as string)) return undefined
    if (isMissing(tag)) return { type: 'missing', path: [...path, name] }
    const choices = named ?? [...new Set(tagged.flatMap(({ of }) => memberChoices(of, name)!))]
    return { type: 'unknown-tag', path: [...path], name, choices, value: tag }
  }
}

/** Checks a value of the right kind against its rows. */
function checkRows(value: unknown, rows: Rows, path: Path): Problem | undefined {
  if (rows === noRows) return undefined
  const { least, most, isWhole, longestName, namePattern, pattern, notDone } = rows

  if (typeof value === 'number') {
    const kind = isWhole ? 'integer' : 'number'
    if (isWhole && !Number.isInteger(value))
      return { type: 'wrong-kind', path: [...path], kind, value }
    if (least !== undefined && value < least)
      return { type: 'too-small', path: [...path], kind, limit: least, value }
    if (most !== undefined && value > most)
      return { type: 'too-large', path: [...path], kind, limit: most, value }
  }

  const name = String(path.at(-1))
  if (longestName !== undefined && name.length > longestName)
    return { type: 'too-long', path: [...path], limit: longestName, value: name }
  if (namePattern !== undefined && !new RegExp(namePattern).test(name))
    return { type: 'not-matching', path: [...path], pattern: namePattern }
  const [shortest, longest] = lengthBounds(value, rows)
  if (longest !== undefined && valueLength(value) > longest)
    return { type: 'too-long', path: [...path], limit: longest, value }
  if (shortest !== undefined && valueLength(value) < shortest)
    return { type: 'too-short', path: [...path], limit: shortest, value }
  if (pattern !== undefined && typeof value === 'string' && !new RegExp(pattern).test(value))
    return { type: 'not-matching', path: [...path], pattern }

  return notDone !== undefined && isRequested(value, rows)
    ? { type: 'not-done', path: [...path], feature: notDone }
    : undefined
}

function wrongKind(forms: readonly Form[], value: unknown, rows: Rows, path: Path): Problem {
  const kinds = new Set(forms.map(formKind))
  const isContent = kinds.has('string') && kinds.has('array')
  const last = [...kinds].at(-1)!
  const kind = isContent ? 'content' : last === 'number' && rows.isWhole ? 'integer' : last

  const choices = forms.flatMap((form) => (isChoices(form) ? form : []))
  return choices.length > 0 && kind === 'string'
    ? { type: 'not-a-choice', path: [...path], choices, value }
    : { type: 'wrong-kind', path: [...path], kind, value }
}

function notAChoice(
  accepted: readonly string[],
  value: unknown,
  rows: Rows,
  path: Path,
): Problem | undefined {
  const choices = rows.choices ?? accepted
  if (accepted.includes(value as string) || choices.includes(value as string)) return undefined
  return { type: 'not-a-choice', path: [...path], choices, value }
}

/** The alternatives of a union that fit the tags of an object. */
interface Selection {
  readonly forms: readonly ObjectForm[]
  /** The tag that paths name. */
  readonly tag: string | undefined
}

interface Rejection {
  problem(path: Path): Problem | undefined
}

function checkInner(
  check: Check,
  value: unknown,
  key: string | number,
  path: (string | number)[],
): Problem | undefined {
  path.push(key)
  const problem = check(value, path)
  path.pop()
  return problem
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
