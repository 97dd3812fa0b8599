import { isObject, type JsonObject } from './read.ts'
import type { Path, Refusal, Words } from './refusal.ts'
import type { ProtocolName } from './request.ts'
import { type Rows, rowsOf } from './rows.ts'
import { bodies, type Form, formOf, type ObjectForm, type Shape } from './shapes.ts'

/**
 * Checks a whole body: its kinds, choices, members and parts by the types of the official SDKs, its
 * limits and what stands beside the types by the rows of its protocol.
 *
 * @throws Refusal in the vendor's words
 */
export function checkShape(protocol: ProtocolName, body: JsonObject): void {
  const { rows, words } = rowsOf(protocol)
  const problem = new Checker(words).find(body, bodies[protocol], rows)
  if (problem !== undefined) throw problem.refusal()
}

/** Where a value stands: a list from within. */
interface Step {
  readonly key: string | number
  readonly up: Step | undefined
}

interface Problem {
  /** Of several alternatives the one that fits furthest is what was meant. */
  readonly depth: number
  refusal(): Refusal
}

class Checker {
  readonly #words: Words

  constructor(words: Words) {
    this.#words = words
  }

  /** The first thing that is wrong with a value. */
  find(value: unknown, shape: Shape, rows?: Rows, at?: Step): Problem | undefined {
    if (value === undefined || value === null) return undefined
    const form = formOf(shape)
    if (isUnion(form)) return this.#inUnion(value, form.any, rows, at)
    if (!isOfKind(value, form)) return this.#wrongKind(value, [form], rows, at)

    return this.#inForm(value, form, rows, at) ?? this.#beyondLimits(value, rows, at)
  }

  #inForm(value: unknown, form: Form, rows?: Rows, at?: Step): Problem | undefined {
    if (typeof form === 'string') return undefined
    if (isChoices(form))
      return form.includes(value as string) ? undefined : this.#notAChoice(value, form, rows, at)
    if ('list' in form)
      return first(value as unknown[], (entry, key) =>
        this.find(entry, form.list, rows && { inner: rows.inner }, { key, up: at }),
      )
    if ('map' in form)
      return first(Object.entries(value as object), ([key, entry]) =>
        this.find(entry, form.map, undefined, { key, up: at }),
      )
    return this.#inObject(value as JsonObject, form as ObjectForm, rows, at)
  }

  #inObject(
    value: JsonObject,
    { of, needs }: ObjectForm,
    rows?: Rows,
    at?: Step,
  ): Problem | undefined {
    const missing = needs.find(
      (name) => isMissing(value[name]) && !rows?.inner.get(name)?.isOptional,
    )
    if (missing !== undefined)
      return this.#problem({ key: missing, up: at }, (where) => this.#words.missing(where))

    return first(Object.keys(value), (name) => {
      const [inner, step] = [rows?.inner.get(name), { key: name, up: at }]
      if (isMissing(value[name])) return undefined
      const shape = memberOf(of, name) ?? inner?.also
      if (shape !== undefined) return this.find(value[name], shape, inner, step)
      return this.#problem(step, (where) => this.#words.unknown(where))
    })
  }

  #inUnion(
    value: unknown,
    shapesOf: readonly Shape[],
    rows?: Rows,
    at?: Step,
  ): Problem | undefined {
    const forms = shapesOf.map(formOf)
    const fitting = forms.filter((form) => isOfKind(value, form))
    if (fitting.length === 0) return this.#wrongKind(value, forms, rows, at)
    if (isObject(value)) return this.#inObjects(value, fitting, rows, at)

    const choices = fitting.filter(isChoices)
    if (typeof value === 'string' && choices.length === fitting.length) {
      const all = choices.flat()
      return all.includes(value) ? undefined : this.#notAChoice(value, all, rows, at)
    }
    return this.find(value, fitting.find((form) => !Array.isArray(form))!, rows, at)
  }

  /** Which of several kinds of objects is meant is told by its `type`, then by its `role`. */
  #inObjects(
    value: JsonObject,
    forms: readonly Form[],
    rows?: Rows,
    at?: Step,
  ): Problem | undefined {
    let left = forms.filter((form) => typeof form === 'object' && 'of' in form) as ObjectForm[]
    if (left.length < forms.length) return undefined
    let step = at

    for (const name of ['type', 'role']) {
      const tag = value[name]
      const tagged = left.filter(({ of }) => choicesAt(of, name) !== undefined)
      if (tagged.length === 0) continue
      const choices = rows?.inner.get(name)?.choices
      const meant = isMissing(tag)
        ? left.filter(({ of, needs }) => choicesAt(of, name) === undefined || !needs.includes(name))
        : tagged.filter(({ of }) => choicesAt(of, name)!.includes(tag as string))
      if (meant.length === 0) {
        if (choices?.includes(tag as string)) return undefined
        const all = choices ?? [...new Set(tagged.flatMap(({ of }) => choicesAt(of, name)!))]
        return isMissing(tag)
          ? this.#problem({ key: name, up: at }, (where) => this.#words.missing(where))
          : this.#problem(at, () => this.#words.unknownTag(pathOf(at), name, all, tag))
      }

      const named = isMissing(tag) ? choicesAt(meant[0]!.of, name)?.[0] : tag
      if (name === 'type' && this.#words.namesTags && typeof named === 'string')
        step = { key: named, up: at }
      left = meant
    }
    const problems = left.map((form) => this.find(value, form, rows, step))
    if (problems.includes(undefined)) return undefined
    return problems.reduce((best, one) => (one!.depth >= best!.depth ? one : best))
  }

  #beyondLimits(value: unknown, rows?: Rows, at?: Step): Problem | undefined {
    if (rows === undefined) return undefined
    const { least, most, isWhole, longest, pattern, notDone, isNothing } = rows
    const words = this.#words
    if (notDone !== undefined && !isNothing?.(value))
      return this.#problem(at, (where) => words.notDone(notDone, where))

    if (typeof value === 'number') {
      const rule = { kind: isWhole ? 'integer' : 'number', least, most } as const
      if (isWhole && !Number.isInteger(value))
        return this.#problem(at, (where) => words.wrongKind(where, rule, value))
      if (least !== undefined && value < least)
        return this.#problem(at, (where) => words.tooSmall(where, { ...rule, least }, value))
      if (most !== undefined && value > most)
        return this.#problem(at, (where) => words.tooLarge(where, { ...rule, most }, value))
    }
    if (longest !== undefined && (typeof value === 'string' || Array.isArray(value)))
      if (value.length > longest)
        return this.#problem(at, (where) => words.tooLong(where, longest, value))
    if (pattern !== undefined && typeof value === 'string' && !pattern.test(value))
      return this.#problem(at, (where) => words.notMatching(where, pattern.source))
    return undefined
  }

  #wrongKind(value: unknown, forms: readonly Form[], rows?: Rows, at?: Step): Problem {
    const kinds = new Set(forms.map(kindOf))
    const isContent = kinds.has('string') && kinds.has('array')
    const choices = forms.flatMap((form) => (Array.isArray(form) ? form : []))
    const only = [...kinds].at(-1)!
    const kind = isContent ? 'content' : only === 'number' && rows?.isWhole ? 'integer' : only
    return this.#problem(at, (where) =>
      choices.length > 0 && kind === 'string'
        ? this.#words.notAChoice(where, choices, value)
        : this.#words.wrongKind(where, { kind }, value),
    )
  }

  #notAChoice(
    value: unknown,
    choices: readonly string[],
    rows?: Rows,
    at?: Step,
  ): Problem | undefined {
    const named = rows?.choices ?? choices
    if (named.includes(value as string)) return undefined
    return this.#problem(at, (where) => this.#words.notAChoice(where, named, value))
  }

  #problem(at: Step | undefined, refusal: (where: string) => Refusal): Problem {
    const path = pathOf(at)
    return { depth: path.length, refusal: () => refusal(this.#words.where(path)) }
  }
}

function pathOf(at: Step | undefined): Path {
  return at === undefined ? [] : [...pathOf(at.up), at.key]
}

function isUnion(form: Form): form is { readonly any: readonly Shape[] } {
  return typeof form === 'object' && 'any' in form
}

function isChoices(form: Form): form is readonly string[] {
  return Array.isArray(form)
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null
}

function memberOf(of: ObjectForm['of'], name: string): Shape | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined
}

/** The texts that a member may be, if it is one of some. */
function choicesAt(of: ObjectForm['of'], name: string): readonly string[] | undefined {
  const shape = memberOf(of, name)
  const form = shape === undefined ? undefined : formOf(shape)
  return form !== undefined && isChoices(form) ? form : undefined
}

type Kind = 'string' | 'number' | 'boolean' | 'array' | 'object'

function kindOf(form: Form): Kind {
  if (Array.isArray(form)) return 'string'
  if (typeof form === 'object') return 'list' in form ? 'array' : 'object'
  return form === 'any' ? 'object' : (form as Kind)
}

function isOfKind(value: unknown, form: Form): boolean {
  if (form === 'any') return true
  const kind = kindOf(form)
  if (kind === 'array') return Array.isArray(value)
  return kind === 'object' ? isObject(value) : typeof value === kind
}

/** The first problem that one of some entries has. */
function first<Entry>(
  entries: readonly Entry[],
  problemOf: (entry: Entry, index: number) => Problem | undefined,
): Problem | undefined {
  for (const [index, entry] of entries.entries()) {
    const problem = problemOf(entry, index)
    if (problem !== undefined) return problem
  }
  return undefined
}
