import { asObject, isObject, type JsonObject } from './read.ts'
import type { Path, Refusal, Rule, Words } from './refusal.ts'

export type Rules = Readonly<Record<string, Rule>>

/**
 * A value and where it stands in a body. What is wrong with it is refused in the words of one vendor;
 * every method may throw that Refusal.
 */
export class Place {
  readonly value: unknown
  readonly #words: Words
  readonly #names: Path
  readonly #outer: Place | undefined

  /** @param names of where it stands within `outer`, or within the body */
  constructor(value: unknown, words: Words, names: Path = [], outer?: Place) {
    this.value = value
    this.#words = words
    this.#names = names
    this.#outer = outer
  }

  get where(): string {
    return this.#words.where(this.#path())
  }

  #path(): Path {
    return this.#outer === undefined ? this.#names : [...this.#outer.#path(), ...this.#names]
  }

  /** Null counts as absent. */
  get isAbsent(): boolean {
    return this.value === undefined || this.value === null
  }

  /** A member of this object. */
  at(name: string): Place {
    return new Place(this.object()[name], this.#words, [name], this)
  }

  /** The same, absent where this is no object. */
  maybe(name: string): Place {
    return new Place(asObject(this.value)[name], this.#words, [name], this)
  }

  /** This under a further name: messages puts the type of a block into its path. */
  as(name: string): Place {
    return new Place(this.value, this.#words, [name], this)
  }

  object(): JsonObject {
    if (isObject(this.value)) return this.value
    throw this.wrongKind({ kind: 'object' })
  }

  /** Absent: an empty one. */
  list(): readonly Place[] {
    if (this.isAbsent) return []
    if (!Array.isArray(this.value)) throw this.wrongKind({ kind: 'array' })
    return this.value.map((entry, index) => new Place(entry, this.#words, [index], this))
  }

  string(): string {
    if (typeof this.value === 'string') return this.value
    throw this.isAbsent ? this.missing() : this.wrongKind({ kind: 'string' })
  }

  /** Itself, which has to be there. */
  needed(): Place {
    if (this.value === undefined) throw this.missing()
    return this
  }

  oneOf<Choice extends string>(choices: readonly Choice[]): Choice {
    if (choices.includes(this.needed().value as Choice)) return this.value as Choice
    throw this.notAChoice(choices)
  }

  /** Checks the members that have a rule, in the order in which they stand. */
  check(rules: Rules): void {
    for (const name of Object.keys(this.object())) {
      const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
      if (rule !== undefined) this.at(name).#follow(rule)
    }
  }

  missing(): Refusal {
    return this.#words.missing(this.where)
  }

  wrongKind(rule: Rule): Refusal {
    return this.#words.wrongKind(this.where, rule, this.value)
  }

  notAChoice(choices: readonly string[]): Refusal {
    return this.#words.notAChoice(this.where, choices, this.value)
  }

  #follow(rule: Rule): void {
    if (this.isAbsent) return
    const { value } = this
    if (rule.kind === 'choice') {
      if (!rule.choices.includes(value as string)) throw this.notAChoice(rule.choices)
      return
    }
    if (!isOfKind(value, rule.kind)) throw this.wrongKind(rule)
    if (rule.kind !== 'number' && rule.kind !== 'integer') return

    const number = value as number
    const { least = number, most = number } = rule
    if (number < least) throw this.#words.tooSmall(this.where, rule, number)
    if (number > most) throw this.#words.tooLarge(this.where, rule, number)
  }
}

function isOfKind(value: unknown, kind: Exclude<Rule['kind'], 'choice'>): boolean {
  switch (kind) {
    case 'integer':
      return Number.isInteger(value)
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'content':
      return typeof value === 'string' || Array.isArray(value)
    default:
      return typeof value === kind
  }
}
