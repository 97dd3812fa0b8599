import { createContext, Script } from 'node:vm'
import { dereference, type SchemaDraft, validate } from '@cfworker/json-schema'
import randexp from 'randexp'
import { asList, asObject, isObject, type JsonObject, jsonIn } from '../requests/read.ts'

/** Patterns come with the schema, and some take for ever: after so many ms the search is given up. */
const mostMs = 500
const place = createContext({})
const search = new Script('search()')

/**
 * The smallest value that fits a JSON schema, the same each time: guesses are made from what its parts
 * say, and a validator has the last word.
 *
 * @returns undefined: none was found
 */
export function sampleOf(schema: unknown): unknown {
  // The validator writes its notes into the schema.
  place['search'] = () =>
    sampleIn(withDescribed(structuredClone(schema))) ?? sampleIn(structuredClone(schema))
  try {
    return search.runInContext(place, { timeout: mostMs })
  } catch (error) {
    if (isObject(error) && error['code'] === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined
    throw error
  }
}

function sampleIn(root: unknown): unknown {
  if (!isObject(root)) return root === false ? undefined : {}
  try {
    return new Sampler(root).pick([root], 0)
  } catch (error) {
    // A reference that leads nowhere, or a pattern that is none.
    if (error instanceof Error) return undefined
    throw error
  }
}

/** Its types describe a module whose default is the class; the module is the class (0.6.1). */
const RandExp = randexp as unknown as typeof randexp.default

/** So many guesses are checked against a schema before it counts as impossible. */
const mostGuesses = 20_000
/** Deeper nesting is only guessed at where nothing else fits. */
const mostDepth = 24
/** Longer texts and lists are not made. */
const mostLength = 100_000

/** Several schemas that one value must fit, taken apart: none of them refers or branches any more. */
type Parts = readonly JsonObject[]

class Sampler {
  readonly #schemas: Record<string, JsonObject | boolean>
  readonly #draft: SchemaDraft
  #guesses = 0

  constructor(root: JsonObject) {
    this.#schemas = dereference(root) as Record<string, JsonObject | boolean>
    this.#draft = draftOf(root)
  }

  /** The first guess that fits all of these; undefined: there is none. */
  pick(
    schemas: readonly unknown[],
    depth: number,
    isFree: (value: unknown) => boolean = () => true,
  ): unknown {
    for (const guess of this.#guess(schemas, depth)) {
      if (++this.#guesses > mostGuesses) return undefined
      if (isFree(guess) && schemas.every((schema) => this.#fits(guess, schema))) return guess
    }
    return undefined
  }

  #fits(value: unknown, schema: unknown): boolean {
    return validate(value, schema as JsonObject, this.#draft, this.#schemas).valid
  }

  *#guess(schemas: readonly unknown[], depth: number): Generator<unknown> {
    if (depth > mostDepth) return
    for (const parts of this.#takeApart(schemas, depth)) yield* this.#valuesOf(parts, depth)
  }

  /** Follows references and chooses branches, the first ones first; far down those that end sooner. */
  *#takeApart(schemas: readonly unknown[], depth: number, hops = 0): Generator<Parts> {
    const at = schemas.findIndex((schema) => !isObject(schema) || branchesIn(schema) !== undefined)
    if (at === -1) {
      yield schemas as Parts
      return
    }
    if (hops > 100) return

    const schema = schemas[at]
    const others = schemas.toSpliced(at, 1)
    if (schema === false) return
    if (!isObject(schema)) {
      yield* this.#takeApart(others, depth, hops + 1)
      return
    }
    const [rest, branches] = branchesIn(schema)!
    const ordered = depth > 3 ? branches.toSorted((a, b) => weightOf(a) - weightOf(b)) : branches
    for (const branch of ordered) {
      const found = branch.map((one) => this.#follow(one))
      yield* this.#takeApart([...others, rest, ...found], depth, hops + 1)
    }
  }

  #follow(schema: unknown): unknown {
    if (!(schema instanceof Reference)) return schema
    const found = this.#schemas[schema.target]
    if (found === undefined) throw new Error(`no such schema: ${schema.target}`)
    return found
  }

  *#valuesOf(parts: Parts, depth: number): Generator<unknown> {
    const constant = parts.find((part) => 'const' in part)
    if (constant !== undefined) return yield constant['const']
    const choice = parts.find((part) => Array.isArray(part['enum']))
    if (choice !== undefined) return yield* asList(choice['enum'])

    for (const type of typesOf(parts))
      switch (type) {
        case 'null':
          yield null
          break
        case 'boolean':
          yield* [false, true]
          break
        case 'integer':
        case 'number':
          yield* numbersOf(parts, type)
          break
        case 'string':
          yield* textsOf(parts)
          break
        case 'array':
          yield* this.#listsOf(parts, depth)
          break
        case 'object':
          yield* this.#objectsOf(parts, depth)
      }
    yield* parts
      .flatMap((part) => [part['default'], ...asList(part['examples'])])
      .filter((value) => value !== undefined)
  }

  *#listsOf(parts: Parts, depth: number): Generator<unknown> {
    const tuples = parts.map((part) => asList(part['prefixItems'] ?? part['items']))
    const contained = parts.flatMap((part) => ('contains' in part ? [part['contains']] : []))
    const isUnique = parts.some((part) => part['uniqueItems'] === true)
    const least = Math.max(
      mostOf(parts, 'minItems', 0),
      ...tuples.map(({ length }) => length),
      contained.length === 0 ? 0 : mostOf(parts, 'minContains', 1),
    )
    const length = Math.min(least, leastOf(parts, 'maxItems', mostLength))
    if (least > mostLength) return

    const list: unknown[] = []
    for (let index = 0; index < length; index++) {
      const schemas = parts.flatMap((part, at) => itemSchema(part, tuples[at]!, index))
      const isFree = (value: unknown) => !isUnique || !list.some((other) => isSame(other, value))
      const wanted = index < length - tuples[0]!.length || tuples[0]!.length === 0 ? contained : []
      const item = this.pick([...schemas, ...wanted], depth + 1, isFree)
      if (item === undefined) return
      list.push(item)
    }
    yield list
  }

  *#objectsOf(parts: Parts, depth: number): Generator<unknown> {
    const required = new Set(parts.flatMap((part) => asList(part['required'])).filter(isText))
    const known = new Set(parts.flatMap((part) => Object.keys(asObject(part['properties']))))
    const dependents = parts.map((part) =>
      asObject(part['dependentRequired'] ?? part['dependencies']),
    )
    // A set grows while it is gone through.
    for (const name of required)
      for (const dependent of dependents)
        for (const needed of asList(dependent[name]).filter(isText)) required.add(needed)

    const least = mostOf(parts, 'minProperties', 0)
    const names = [...required]
    for (const name of known) if (names.length < least && !required.has(name)) names.push(name)
    const nameSchemas = parts.flatMap((part) =>
      'propertyNames' in part ? [part['propertyNames']] : [],
    )
    const patterns = parts.flatMap((part) => Object.keys(asObject(part['patternProperties'])))
    while (names.length < least && names.length < mostLength) {
      const isFree = (name: unknown) => name !== '' && !names.includes(name as string)
      const schema = {
        type: 'string',
        ...(patterns[0] === undefined ? {} : { pattern: patterns[0] }),
      }
      const name = this.pick([dereferenced(schema), ...nameSchemas], depth + 1, isFree)
      if (typeof name !== 'string') return
      names.push(name)
    }

    const object = this.#withMembers(parts, names, depth)
    if (object === undefined) return
    yield object
    const all = new Set([...names, ...known])
    const whole = all.size === names.length ? undefined : this.#withMembers(parts, [...all], depth)
    if (whole !== undefined) yield whole
  }

  #withMembers(parts: Parts, names: readonly string[], depth: number): unknown {
    const members: [string, unknown][] = []
    for (const name of names) {
      const value = this.pick(
        parts.flatMap((part) => memberSchemas(part, name)),
        depth + 1,
      )
      if (value === undefined) return undefined
      members.push([name, value])
    }
    return Object.fromEntries(members)
  }
}

const describable =
  /(?:^|; |, |\{)(minimum|maximum|exclusive ?minimum|exclusive ?maximum|multiple ?of|min ?length|max ?length|pattern|min ?items|max ?items|unique ?items|min ?properties|max ?properties|format): /gi

/**
 * Puts limits into the schema that stand in its descriptions: SDKs write there what the vendor of
 * messages takes in no schema, "min length: 3; max length: 5." (@ai-sdk/anthropic 4.0.105) or
 * `{minLength: 3}` (@anthropic-ai/sdk 1.12.0), and a model reads it.
 */
function withDescribed(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  for (const inner of Object.values(schema)) withDescribed(inner)
  const { description } = schema as JsonObject
  if (typeof description === 'string' && 'type' in schema)
    Object.assign(schema, { ...limitsIn(description.split('\n').at(-1)!), ...schema })
  return schema
}

function limitsIn(line: string): JsonObject {
  const found = [...line.matchAll(describable)]
  return Object.fromEntries(
    found.map((match, index) => {
      const keyword = match[1]!.replace(/ (.)/g, (_, letter: string) => letter.toUpperCase())
      const end = found[index + 1]?.index ?? line.length - 1
      const written = line.slice(match.index + match[0].length, end)
      const value = jsonIn(written)
      return [keyword, value === undefined ? written : value]
    }),
  )
}

function draftOf(root: JsonObject): SchemaDraft {
  const named = /draft-0?([47])|2019-09|2020-12/.exec(String(root['$schema']))
  if (named !== null) return (named[1] ?? named[0]) as SchemaDraft
  // A tuple as older drafts have it, or parts that only they know.
  return /"(items":\[|definitions":)/.test(JSON.stringify(root)) ? '7' : '2020-12'
}

class Reference {
  readonly target: string
  constructor(target: string) {
    this.target = target
  }
}

/** What a schema says by itself, and the ways to go on, each with all that holds then. */
function branchesIn(schema: JsonObject): [JsonObject, unknown[][]] | undefined {
  if (typeof schema['$ref'] === 'string') {
    const { $ref, ...rest } = schema
    return [rest, [[new Reference(String(schema['__absolute_ref__']))]]]
  }
  if (Array.isArray(schema['allOf'])) {
    const { allOf, ...rest } = schema
    return [rest, [asList(allOf).slice()]]
  }
  for (const keyword of ['anyOf', 'oneOf'])
    if (Array.isArray(schema[keyword])) {
      const { [keyword]: branches, ...rest } = schema
      return [rest, asList(branches).map((branch) => [branch])]
    }
  if ('if' in schema) {
    const { if: condition, then: met = true, else: unmet = true, ...rest } = schema
    return [rest, [[unmet], [condition, met]]]
  }
  return undefined
}

/** Roughly how much is behind a branch: what refers may go on for ever. */
function weightOf(branch: readonly unknown[]): number {
  const text = JSON.stringify(branch)
  return text.length + (text.includes('"$ref"') ? 1_000_000 : 0)
}

const hints: readonly [type: string, keywords: readonly string[]][] = [
  [
    'object',
    [
      'properties',
      'required',
      'additionalProperties',
      'patternProperties',
      'minProperties',
      'propertyNames',
    ],
  ],
  ['array', ['items', 'prefixItems', 'minItems', 'contains', 'uniqueItems']],
  ['string', ['pattern', 'format', 'minLength', 'maxLength']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
]

/** The types that all of these allow, those first that they speak of. */
function typesOf(parts: Parts): readonly string[] {
  const named = parts.flatMap((part) => {
    const { type } = part
    if (type === undefined) return []
    const types = asList(Array.isArray(type) ? type : [type]).filter(isText)
    return [types.flatMap((one) => (one === 'number' ? ['number', 'integer'] : [one]))]
  })
  const [first, ...others] = named
  if (first === undefined) {
    const hinted = hints.filter(([, words]) =>
      parts.some((part) => words.some((word) => word in part)),
    )
    return [
      ...hinted.map(([type]) => type),
      'object',
      'string',
      'number',
      'array',
      'boolean',
      'null',
    ]
  }
  return first.filter((type) => others.every((types) => types.includes(type)))
}

function* numbersOf(parts: Parts, type: 'integer' | 'number'): Generator<number> {
  const steps = parts.flatMap(({ multipleOf }) =>
    typeof multipleOf === 'number' && multipleOf > 0 ? [multipleOf] : [],
  )
  const isWhole = type === 'integer' || parts.some((part) => part['type'] === 'integer')
  const step = Math.max(...steps, isWhole ? 1 : 0) || 1
  const least = Math.max(
    mostOf(parts, 'minimum', -Infinity),
    mostOf(parts, 'exclusiveMinimum', -Infinity),
  )
  const most = Math.min(
    leastOf(parts, 'maximum', Infinity),
    leastOf(parts, 'exclusiveMaximum', Infinity),
  )

  // From zero, or from the bound that is nearest to it, away from the other.
  const start = least > 0 ? least : most < 0 ? most : 0
  const sign = most <= 0 ? -1 : 1
  const first = sign * Math.ceil(Math.abs(start) / step)
  for (let count = 0; count < 1000; count++) yield multiple(first + sign * count, step)
  if (least > -Infinity && most < Infinity) yield* [least, (least + most) / 2, most]
}

/** Without the dust of binary fractions. */
function multiple(count: number, step: number): number {
  return Number((count * step).toPrecision(15)) + 0
}

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  duration: 'P1D',
  email: 'user@example.com',
  'idn-email': 'user@example.com',
  hostname: 'example.com',
  'idn-hostname': 'example.com',
  ipv4: '127.0.0.1',
  ipv6: '::1',
  cidrv4: '127.0.0.0/8',
  cidrv6: '::1/128',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  iri: 'https://example.com/',
  'uri-reference': '/',
  'iri-reference': '/',
  'uri-template': '/{id}',
  uuid: '00000000-0000-4000-8000-000000000000',
  'json-pointer': '/a',
  'relative-json-pointer': '0',
  regex: 'a',
  'json-string': '{}',
  binary: 'AA==',
  byte: 'AA==',
  base64: 'AA==',
  emoji: '🙂',
}

/** Texts that formats and patterns allow, then longer and longer ones of nothing in particular. */
function* textsOf(parts: Parts): Generator<string> {
  const least = mostOf(parts, 'minLength', 0)
  if (least > mostLength) return
  const known = parts.map(({ format }) =>
    isText(format) && Object.hasOwn(formats, format) ? formats[format] : undefined,
  )
  yield* known.filter(isText)

  const patterns = parts.map((part) => part['pattern']).filter(isText)
  for (const pattern of patterns) {
    for (const longest of [0, least, least + 8, 40])
      for (const text of textsLike(pattern, longest)) yield* [text, text.padEnd(least, 'a')]
    yield pattern.replace(/^\^|\$$/g, '')
  }
  for (let length = least; length < least + 200; length++) yield 'a'.repeat(length)
}

/** Texts that a pattern describes: the shortest of the first choices, then others, the same each time. */
function* textsLike(pattern: string, longest: number): Generator<string> {
  const maker = new RandExp(pattern.replace(/\\p\{L[ul]?\}/g, '[a-z]'))
  maker.max = longest
  let state = longest
  for (let turn = 0; turn < 12; turn++) {
    maker.randInt = (from, to) => {
      if (turn === 0) return longest > 0 && to - from === longest ? to : from
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return from + ((state >> 8) % (to - from + 1))
    }
    yield maker.gen()
  }
}

function itemSchema(
  part: JsonObject,
  tuple: readonly unknown[],
  index: number,
): readonly unknown[] {
  if (index < tuple.length) return [tuple[index]]
  const rest = Array.isArray(part['items']) ? part['additionalItems'] : part['items']
  return rest === undefined ? [] : [rest]
}

/** All that a part says of the value of one member. */
function memberSchemas(part: JsonObject, name: string): readonly unknown[] {
  const properties = asObject(part['properties'])
  const patterned = Object.entries(asObject(part['patternProperties'])).filter(([pattern]) =>
    new RegExp(pattern, 'u').test(name),
  )
  const found = [
    ...(Object.hasOwn(properties, name) ? [properties[name]] : []),
    ...patterned.map(([, schema]) => schema),
  ]
  const { additionalProperties: rest } = part
  return found.length === 0 && rest !== undefined ? [rest] : found
}

/** Schemas of our own need the validator's notes too. */
function dereferenced(schema: JsonObject): JsonObject {
  dereference(schema, Object.create(null), new URL('repoint:own'))
  return schema
}

function mostOf(parts: Parts, keyword: string, otherwise: number): number {
  return Math.max(otherwise, ...numbersIn(parts, keyword))
}

function leastOf(parts: Parts, keyword: string, otherwise: number): number {
  return Math.min(otherwise, ...numbersIn(parts, keyword))
}

function numbersIn(parts: Parts, keyword: string): readonly number[] {
  return parts.map((part) => part[keyword]).filter((value) => typeof value === 'number')
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
