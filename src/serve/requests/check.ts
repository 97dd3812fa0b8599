import { isDeepStrictEqual } from 'node:util'
import type { Protocol } from '../../protocols.ts'
import { protocolRules, type Rows } from './data/rows.ts'
import { bodies, type Form, type ObjectForm, resolveShape, type Shape } from './data/shapes.ts'
import { isObject, type JsonObject } from './read.ts'
import type { Path, Refusal, Rule, VendorErrors } from './refusal.ts'

/**
 * Checks a whole body: kinds, choices and members by the types of the official SDKs, and limits and
 * other rules by the rows of its protocol.
 *
 * @throws Refusal with the vendor's message
 */
export function checkShape(protocol: Protocol, body: JsonObject): void {
  const { rows, words } = protocolRules[protocol]
  const problem = new Checker(words).find(bodies[protocol], {
    value: body,
    rows,
    parent: undefined,
  })
  if (problem !== undefined) throw problem.refusal()
}

/** A value, its rules in addition to its type, and its place: its key and its parent. */
interface CheckedValue {
  readonly value: unknown
  readonly rows: Rows | undefined
  /** Absent for the body itself. */
  readonly key?: string | number
  readonly parent: CheckedValue | undefined
}

interface Problem {
  /** Of several alternatives, the one with the deepest problem fits best. */
  readonly depth: number
  refusal(): Refusal
}

class Checker {
  readonly #errors: VendorErrors

  constructor(errors: VendorErrors) {
    this.#errors = errors
  }

  /** The first problem of a value. Null counts as absent. */
  find(shape: Shape, place: CheckedValue): Problem | undefined {
    if (isMissing(place.value)) return undefined
    return this.#findMismatch(resolveShape(shape), place) ?? this.#checkRows(place)
  }

  #findMismatch(form: Form, place: CheckedValue): Problem | undefined {
    if (typeof form === 'object' && 'any' in form) return this.#inUnion(form.any, place)
    if (!isOfKind(place.value, form)) return this.#wrongKind([form], place)
    if (typeof form === 'string') return undefined
    if (isChoices(form)) return this.#notAChoice(form, place)
    if ('of' in form) return this.#inObject(form, place)

    const { value, rows } = place

    if ('list' in form) {
      const inner = rows && { inner: rows.inner }
      return firstProblem(value as readonly unknown[], (entry, key) =>
        this.find(form.list, { value: entry, rows: inner, key, parent: place }),
      )
    }

    const inner = rows?.inner.get('*')
    return firstProblem(Object.entries(value as JsonObject), ([key, entry]) =>
      this.find(form.map, { value: entry, rows: inner, key, parent: place }),
    )
  }

  #inObject({ of, needs }: ObjectForm, place: CheckedValue): Problem | undefined {
    const { rows } = place
    const value = place.value as JsonObject
    const memberAt = (key: string): CheckedValue => {
      return { value: value[key], rows: rows?.inner.get(key), key, parent: place }
    }
    const [type, tags] = [memberAt('type'), memberChoices(of, 'type')]
    if (tags !== undefined && !isMissing(type.value)) {
      const wrongTag = this.#notAChoice(tags, type)
      if (wrongTag !== undefined) return wrongTag
    }

    const missing = needs
      .map(memberAt)
      .find((member) => isMissing(member.value) && !member.rows?.isOptional)
    if (missing !== undefined) return createProblem(missing, (path) => this.#errors.missing(path))

    return firstProblem(Object.keys(value), (name) => {
      const member = memberAt(name)
      const shape = Object.hasOwn(of, name) ? of[name] : member.rows?.also
      if (shape !== undefined) return this.find(shape, member)
      return isMissing(member.value)
        ? undefined
        : createProblem(member, (path) => this.#errors.unknown(path))
    })
  }

  #inUnion(shapes: readonly Shape[], place: CheckedValue): Problem | undefined {
    const { value } = place
    const forms = shapes.map(resolveShape)
    const fitting = forms.filter((form) => isOfKind(value, form))
    if (fitting.length === 0) return this.#wrongKind(forms, place)
    if (isObject(value)) return this.#inObjects(fitting, place)

    const choices = fitting.filter(isChoices)
    const others = fitting.filter((form) => !isChoices(form))
    return others[0] === undefined
      ? this.#notAChoice(choices.flat(), place)
      : this.#findMismatch(others[0], place)
  }

  /** Selects the kind of an object by its `type`, then by its `role`. */
  #inObjects(forms: readonly Form[], place: CheckedValue): Problem | undefined {
    let left = forms.filter((form) => typeof form === 'object' && 'of' in form) as ObjectForm[]
    if (left.length < forms.length) return undefined
    let named = place

    for (const name of ['type', 'role']) {
      const tag = (place.value as JsonObject)[name]
      const tagged = left.filter(({ of }) => memberChoices(of, name) !== undefined)
      if (tagged.length === 0) continue

      const meant = isMissing(tag)
        ? left.filter(
            ({ of, needs }) => memberChoices(of, name) === undefined || !needs.includes(name),
          )
        : tagged.filter(({ of }) => memberChoices(of, name)!.includes(tag as string))
      if (meant.length === 0) return this.#unknownTag(name, tagged, place)
      left = meant

      const word = isMissing(tag) ? memberChoices(meant[0]!.of, name)?.[0] : (tag as string)
      if (name === 'type' && this.#errors.namesTags && word !== undefined)
        named = { ...place, key: word, parent: place }
    }

    const problems = left.map((form) => this.#inObject(form, named))
    if (problems.includes(undefined)) return undefined

    return problems.reduce((best, one) => (one!.depth > best!.depth ? one : best))
  }

  #unknownTag(
    name: string,
    tagged: readonly ObjectForm[],
    place: CheckedValue,
  ): Problem | undefined {
    const tag = (place.value as JsonObject)[name]
    const named = place.rows?.inner.get(name)?.choices
    if (named?.includes(tag as string)) return undefined
    if (isMissing(tag))
      return createProblem({ value: tag, rows: undefined, key: name, parent: place }, (path) =>
        this.#errors.missing(path),
      )
    const all = named ?? [...new Set(tagged.flatMap(({ of }) => memberChoices(of, name)!))]
    return createProblem(place, (path) => this.#errors.unknownTag(path, name, all, tag))
  }

  /** Checks a value of the right kind against its rows. */
  #checkRows(place: CheckedValue): Problem | undefined {
    const { value, rows } = place
    if (rows === undefined) return undefined
    const { least, most, isWhole, pattern, notDone } = rows
    const words = this.#errors
    const refused = (say: (path: Path) => Refusal) => createProblem(place, say)

    if (typeof value === 'number') {
      const rule: Rule = { kind: isWhole ? 'integer' : 'number', least, most }
      if (isWhole && !Number.isInteger(value))
        return refused((path) => words.wrongKind(path, rule, value))
      if (least !== undefined && value < least)
        return refused((path) => words.tooSmall(path, rule, value))
      if (most !== undefined && value > most)
        return refused((path) => words.tooLarge(path, rule, value))
    }

    const { longestName } = rows
    if (longestName !== undefined && String(place.key).length > longestName)
      return refused((path) => words.tooLong(path, longestName, place.key))

    const [shortest, longest] = lengthBounds(value, rows)
    if (longest !== undefined && valueLength(value) > longest)
      return refused((path) => words.tooLong(path, longest, value))
    if (shortest !== undefined && valueLength(value) < shortest)
      return refused((path) => words.tooShort(path, shortest, value))
    if (pattern !== undefined && typeof value === 'string' && !new RegExp(pattern).test(value))
      return refused((path) => words.notMatching(path, pattern))

    return notDone !== undefined && isRequested(value, rows)
      ? refused((path) => words.notDone(notDone, path))
      : undefined
  }

  #wrongKind(forms: readonly Form[], place: CheckedValue): Problem {
    const { value, rows } = place
    const kinds = new Set(forms.map(formKind))
    const isContent = kinds.has('string') && kinds.has('array')
    const last = [...kinds].at(-1)!
    const kind = isContent ? 'content' : last === 'number' && rows?.isWhole ? 'integer' : last
    const choices = forms.flatMap((form) => (isChoices(form) ? form : []))

    return createProblem(place, (path) =>
      choices.length > 0 && kind === 'string'
        ? this.#errors.notAChoice(path, choices, value)
        : this.#errors.wrongKind(path, { kind }, value),
    )
  }

  #notAChoice(choices: readonly string[], place: CheckedValue): Problem | undefined {
    const { value, rows } = place
    const named = rows?.choices ?? choices
    if ([choices, named].some((list) => list.includes(value as string))) return undefined
    return createProblem(place, (path) => this.#errors.notAChoice(path, named, value))
  }
}

function createProblem(place: CheckedValue, say: (path: Path) => Refusal): Problem {
  const path = valuePath(place)
  return { depth: path.length, refusal: () => say(path) }
}

function valuePath({ key, parent }: CheckedValue): Path {
  if (parent === undefined) return key === undefined ? [] : [key]
  return key === undefined ? valuePath(parent) : [...valuePath(parent), key]
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

function isChoices(form: Form): form is readonly string[] {
  return Array.isArray(form)
}

/** The strings that a member accepts, if its shape is a choice of strings. */
function memberChoices(of: ObjectForm['of'], name: string): readonly string[] | undefined {
  const form = Object.hasOwn(of, name) ? resolveShape(of[name]!) : 'any'
  return isChoices(form) ? form : undefined
}

type FormKind = 'string' | 'number' | 'boolean' | 'array' | 'object'

function formKind(form: Form): FormKind {
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

/** The first problem of the entries. */
function firstProblem<Entry>(
  entries: readonly Entry[],
  problemOf: (entry: Entry, index: number) => Problem | undefined,
): Problem | undefined {
  for (const [index, entry] of entries.entries()) {
    const problem = problemOf(entry, index)
    if (problem !== undefined) return problem
  }
  return undefined
}
