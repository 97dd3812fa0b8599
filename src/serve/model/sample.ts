import { createContext, Script } from 'node:vm'
import { type OutputUnit, type SchemaDraft, Validator } from '@cfworker/json-schema'
import { type GenerateOptions, generateSync, type JsonSchema } from 'json-schema-faker'
import { asList, asNumber, isObject, type JsonObject, toObject } from '../requests/json.ts'
import { addDescribedLimits } from './described-limits.ts'
import formats from './formats.json' with { type: 'json' }
import { shrink } from './shrink.ts'

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
