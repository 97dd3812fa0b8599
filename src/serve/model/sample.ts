import { createContext, Script } from 'node:vm'
import { type OutputUnit, type SchemaDraft, Validator } from '@cfworker/json-schema'
import { type GenerateOptions, generateSync, type JsonSchema } from 'json-schema-faker'
import {
  asList,
  asNumber,
  isObject,
  type JsonObject,
  readJson,
  toObject,
} from '../requests/json.ts'
import formats from './formats.json' with { type: 'json' }

/** The time limit of a search, in ms. The patterns of a schema can take forever. */
const maxSearchMs = 1_000
const sandbox = createContext({})
const search = new Script('search()')

/**
 * Finds a small value that fits a JSON schema. A generator proposes values, and a validator checks them.
 * The result is deterministic unless the search runs out of time.
 *
 * @returns undefined if none was found
 */
export function findSample(schema: unknown): unknown {
  let best: unknown
  const onFound = (value: unknown) => {
    best = value
  }
  sandbox['search'] = () =>
    searchSample(addDescribedLimits(structuredClone(schema)), onFound) ??
    searchSample(structuredClone(schema), onFound)

  try {
    return search.runInContext(sandbox, { timeout: maxSearchMs })
  } catch (error) {
    if (isObject(error) && error['code'] === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return best
    throw error
  }
}

/** The most guesses that are checked before a schema counts as impossible. */
const maxGuesses = 100
/** The work limit for shrinking a guess: the characters of guess and schema in all checks. */
const maxCheckedCharacters = 300_000
/** The longest text or list that is generated. */
const maxLength = 100_000

/** @param onFound receives a fitting value before it is shrunk */
function searchSample(root: unknown, onFound: (value: unknown) => void): unknown {
  if (!isObject(root)) return root === false ? undefined : {}
  try {
    const guessable = toGeneratorSchema(root) as JsonSchema
    // The validator modifies the schema.
    const validator = new Validator(root, schemaDraft(root))
    const fits = (value: unknown) => validator.validate(value).valid

    if (fits({})) return {}
    for (let attempt = 0; attempt < maxGuesses; attempt++) {
      const guess = generateGuess(guessable, attempt)
      if (guess === undefined || !fits(guess)) continue
      onFound(structuredClone(guess))
      let checksLeft = maxCheckedCharacters / JSON.stringify([guessable, guess]).length
      const holder = { guess }
      shrink(holder, 'guess', () => checksLeft-- > 0 && fits(holder.guess))
      return holder.guess
    }
    return undefined
  } catch (error) {
    // An unresolved reference, or an invalid pattern.
    if (error instanceof Error) return undefined
    throw error
  }
}

/** First only required members, at any depth; then longer lists; then all members. */
const generatorOptions: readonly GenerateOptions[] = [
  { optionalsProbability: 0, maxDefaultItems: 0, maxDepth: 24 },
  { optionalsProbability: 0, maxDefaultItems: 2, maxDepth: 6 },
  { alwaysFakeOptionals: true, maxDefaultItems: 2, maxDepth: 6 },
]

function generateGuess(schema: JsonSchema, attempt: number): unknown {
  try {
    return generateSync(schema, {
      seed: attempt + 1,
      formats: formatGenerators,
      ...generatorOptions[attempt % generatorOptions.length],
    })
  } catch {
    return undefined
  }
}

/**
 * Converts a schema for the generator (json-schema-faker 0.6.3): tuples as in newer drafts, patterns
 * without unsupported syntax, and member names instead of a pattern for names.
 */
function toGeneratorSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toGeneratorSchema)
  if (!isObject(schema)) return schema
  const { minLength, minItems, items, additionalItems = {}, pattern } = schema
  const minTextLength = asNumber(minLength) ?? 0
  if (Math.max(minTextLength, asNumber(minItems) ?? 0) > maxLength) return false

  const members = Object.entries(schema).map(([name, inner]) => [
    name,
    name === 'const' || name === 'enum' ? inner : toGeneratorSchema(inner),
  ])
  const converted: JsonObject = {
    // Without properties, the generator treats unknown keywords as members.
    ...(schema['type'] === 'object' ? { properties: {} } : {}),
    ...Object.fromEntries(members),
    ...(Array.isArray(items)
      ? { prefixItems: items.map(toGeneratorSchema), items: additionalItems }
      : {}),
    ...(typeof pattern === 'string' ? { pattern: toGeneratorPattern(pattern, minTextLength) } : {}),
  }

  return { ...converted, ...requiredMembers(converted) }
}

/** Adapts a pattern to the minimum length. The generator expands `+` and `*` to at most five. */
function toGeneratorPattern(pattern: string, minTextLength: number): string {
  const plain = pattern.replace(/\\p\{L[ul]?\}/g, '[a-z]')
  return minTextLength > 0 ? plain.replace(/(?<!\\)[+*]/g, `{${minTextLength},}`) : plain
}

/** Adds members, named by a pattern, to an object with a minimum number of members. */
function requiredMembers(schema: JsonObject): JsonObject {
  const properties = toObject(schema['properties'])
  const patterned = toObject(schema['patternProperties'])
  const pattern = toObject(schema['propertyNames'])['pattern'] ?? Object.keys(patterned)[0]
  const lacking = (asNumber(schema['minProperties']) ?? 0) - Object.keys(properties).length
  if (typeof pattern !== 'string' || lacking <= 0 || lacking > maxGuesses) return {}

  const member = patterned[pattern] ?? schema['additionalProperties'] ?? {}
  const names = Array.from({ length: lacking }, (_, index) =>
    String(generateGuess({ type: 'string', pattern }, generatorOptions.length * index + 2)),
  )
  return {
    properties: { ...Object.fromEntries(names.map((name) => [name, member])), ...properties },
    required: [...asList(schema['required']), ...Object.keys(properties), ...names],
  }
}

/**
 * The place and the reason why a value does not fit a schema. Undefined if it fits, or if the schema is
 * unreadable. Only for trusted schemas, because their patterns have no time limit.
 */
export function findMismatch(schema: unknown, value: unknown): string | undefined {
  if (!isObject(schema)) return undefined
  try {
    // The validator modifies the schema.
    const root = structuredClone(schema)
    const { errors } = new Validator(root, schemaDraft(root)).validate(value)
    const deepest = errors.at(-1)
    return deepest && describeMismatch(deepest)
  } catch {
    return undefined
  }
}

/** The validator's own words suit its authors: "False boolean schema." for an unknown member. */
function describeMismatch({ instanceLocation, keyword, error }: OutputUnit): string {
  const place = instanceLocation.replace(/^#\/?/, '') || 'the object'
  const quoted = [...error.matchAll(/"([^"]+)"/g)].map(([, name]) => name)
  switch (keyword) {
    case 'false':
      return `${place}: the schema has no such property`
    case 'required':
      return `${place}: ${quoted[0]} is missing`
    case 'type':
      return `${place}: it must be of type ${quoted.slice(1).join(' or ')}, not ${quoted[0]}`
    case 'enum':
    case 'const':
      return `${place}: it is none of the values that the schema lists`
    default:
      return `${place}: it breaks the rule \`${keyword}\` of the schema`
  }
}

function schemaDraft(root: JsonObject): SchemaDraft {
  const draft = /draft-0?([47])|2019-09|2020-12/.exec(String(root['$schema']))
  if (draft !== null) return (draft[1] ?? draft[0]) as SchemaDraft
  // Tuples or keywords of older drafts.
  return /"(items":\[|definitions":)/.test(JSON.stringify(root)) ? '7' : '2020-12'
}

const formatGenerators = Object.fromEntries(
  Object.entries(formats).map(([name, text]) => [name, () => text]),
)

/**
 * Adds the limits in descriptions to the schema. SDKs write limits that the vendor of messages rejects
 * into the description, for the model to read: "min length: 3; max length: 5." (@ai-sdk/anthropic
 * 4.0.105), `{minLength: 3}` (@anthropic-ai/sdk 1.12.0) or "minimum length 3, greater than 2"
 * (@mastra/core 1.71.0, 2026-11-23).
 */
function addDescribedLimits(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  for (const inner of Object.values(schema)) addDescribedLimits(inner)
  const { description } = schema as JsonObject
  if (typeof description === 'string' && 'type' in schema)
    Object.assign(schema, { ...parseLimits(description.split('\n').at(-1)!), ...schema })
  return schema
}

const keywordPattern =
  /(?:^|; |, |\{)(minimum|maximum|exclusive ?minimum|exclusive ?maximum|multiple ?of|min ?length|max ?length|pattern|min ?items|max ?items|unique ?items|min ?properties|max ?properties|format): /gi

/** Phrases for limits, with their schema keywords. A length applies to texts and to lists. */
const limitPhrases: readonly (readonly [pattern: RegExp, ...keywords: string[]])[] = [
  [/minimum length (\d+)/, 'minLength', 'minItems'],
  [/maximum length (\d+)/, 'maxLength', 'maxItems'],
  [/exact length (\d+)/, 'minLength', 'maxLength', 'minItems', 'maxItems'],
  [/greater than (-?[\d.]+)/, 'exclusiveMinimum'],
  [/lower than (-?[\d.]+)/, 'exclusiveMaximum'],
  [/greater than or equal to (-?[\d.]+)/, 'minimum'],
  [/lower than or equal to (-?[\d.]+)/, 'maximum'],
  [/multiple of ([\d.]+)/, 'multipleOf'],
  [/input must match this regex (.+)$/, 'pattern'],
]

function parseLimitPhrases(line: string): readonly (readonly [string, unknown])[] {
  const format = /a valid ([a-z-]+)/.exec(line)?.[1] ?? ''
  const limits = limitPhrases.flatMap(([pattern, ...keywords]) => {
    const limit = pattern.exec(line)?.[1]
    if (limit === undefined) return []
    const value = keywords[0] === 'pattern' ? limit : Number(limit)
    return keywords.map((keyword) => [keyword, value] as const)
  })
  return Object.hasOwn(formats, format) ? [...limits, ['format', format]] : limits
}

function parseLimits(line: string): JsonObject {
  const matches = [...line.matchAll(keywordPattern)]
  if (matches.length === 0) return Object.fromEntries(parseLimitPhrases(line))

  return Object.fromEntries(
    matches.map((match, index) => {
      const keyword = match[1]!.replace(/ (.)/g, (_, letter: string) => letter.toUpperCase())
      const end = matches[index + 1]?.index ?? line.length - 1
      const valueText = line.slice(match.index + match[0].length, end)
      const value = readJson(valueText)
      return [keyword, value === undefined ? valueText : value]
    }),
  )
}

/** A list or an object that is being shrunk. */
type ShrinkTarget = Record<string | number, unknown>

/** Replaces a value, and keeps the replacement if the whole still fits. */
type TryValue = (candidate: unknown) => boolean

/** Shrinks a member of `holder` step by step, as long as the whole fits. */
function shrink(holder: ShrinkTarget, key: string | number, fits: () => boolean): void {
  const tryValue: TryValue = (candidate) => {
    const before = holder[key]
    holder[key] = candidate
    if (fits()) return true
    holder[key] = before
    return false
  }

  const value = holder[key]
  if (typeof value === 'string') shrinkText(value, tryValue)
  if (typeof value === 'number') shrinkNumber(value, tryValue)
  if (value === true) tryValue(false)
  if (typeof value !== 'object' || value === null) return

  for (const name of Object.keys(value).reverse()) tryValue(removeMember(holder[key], name))
  const remaining = holder[key] as ShrinkTarget
  for (const name of Object.keys(remaining)) shrink(remaining, name, fits)
}

function removeMember(holder: unknown, name: string): unknown {
  if (Array.isArray(holder)) return holder.toSpliced(Number(name), 1)
  const { [name]: _, ...remaining } = holder as ShrinkTarget
  return remaining
}

function shrinkNumber(value: number, tryValue: TryValue): void {
  const whole = Math.trunc(value) + 0
  let number = tryValue(whole) ? whole : value
  for (let step = number; Math.abs(step) >= 1; step = Math.trunc(step / 2))
    while (Math.abs(step) <= Math.abs(number) && tryValue(number - step)) number -= step
}

const signs = [...'abcdefghijklmnopqrstuvwxyz0123456789']

function shrinkText(value: string, tryValue: TryValue): void {
  if (Object.values(formats).includes(value)) return
  let text = value
  for (let step = value.length; step >= 1; step = Math.trunc(step / 2))
    for (let index = text.length - step; index >= 0; index -= step) {
      const shorter = text.slice(0, index) + text.slice(index + step)
      if (tryValue(shorter)) text = shorter
    }

  if (tryValue('a'.repeat(text.length))) return

  for (let index = 0; index < text.length; index++) {
    const candidates = signs.map((sign) => text.slice(0, index) + sign + text.slice(index + 1))
    text = candidates.find(tryValue) ?? text
  }
}
