/** Checks of JSON schemas with the error messages of the vendors. schemas.json has their keywords and formats. */
import rules from '../data/schemas.json' with { type: 'json' }
import { asList, isObject, type JsonObject, toObject } from '../json.ts'

interface LocatedSchema {
  readonly schema: JsonObject
  /** The steps to the schema, as the vendor's messages name them. */
  readonly context: readonly string[]
  /** How deep its values are nested in objects and lists. */
  readonly level: number
}

/** Whether a value of this type fits the `type` of a schema, which may be a list. */
function mayBe({ type }: JsonObject, name: 'object' | 'array'): boolean {
  return [type].flat().includes(name)
}

const mapKeywords = ['properties', '$defs', 'definitions', 'patternProperties']
const listKeywords = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const singleKeywords = ['items', 'additionalProperties', 'not', 'if', 'then', 'else']

/** A schema and all its inner schemas, each before those in it. */
function allSchemas(
  schema: JsonObject,
  context: readonly string[] = [],
  outerLevel = 0,
): readonly LocatedSchema[] {
  const isNested = mayBe(schema, 'object') || mayBe(schema, 'array')
  const level = isNested ? outerLevel + 1 : outerLevel

  const schemas: LocatedSchema[] = [{ schema, context, level }]
  for (const [steps, inner] of innerValues(schema))
    if (isObject(inner))
      for (const located of allSchemas(inner, [...context, ...steps], level)) schemas.push(located)
  return schemas
}

/** The values of the keywords that contain schemas, each with the steps to it. */
function* innerValues(schema: JsonObject): Generator<[steps: readonly string[], value: unknown]> {
  for (const keyword of mapKeywords)
    for (const [name, value] of Object.entries(toObject(schema[keyword])))
      yield [[keyword, name], value]
  for (const keyword of listKeywords)
    for (const [index, value] of asList(schema[keyword]).entries())
      yield [[keyword, String(index)], value]
  for (const keyword of singleKeywords) yield [[keyword], schema[keyword]]
}

/** The first problem of a schema or of an inner schema, with its context. */
function findProblem(
  schema: JsonObject,
  problemOf: (schema: JsonObject) => string | undefined,
): string | undefined {
  for (const { schema: inner, context } of allSchemas(schema)) {
    const problem = problemOf(inner)
    if (problem !== undefined)
      return `In context=(${context.map((step) => `'${step}'`).join(', ')}), ${problem}`
  }
  return undefined
}

const isSchema = (value: unknown) => isObject(value) || typeof value === 'boolean'
const jsonTypes = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

/** What the values of keywords must be (https://json-schema.org/draft/2020-12/schema). */
const keywordRules: readonly (readonly [
  keywords: readonly string[],
  expected: string,
  fits: (value: unknown) => boolean,
])[] = [
  [
    ['type'],
    'valid under any of the given schemas',
    (value) => [value].flat().every((type) => jsonTypes.includes(type as string)),
  ],
  [mapKeywords, "of type 'object'", isObject],
  [
    mapKeywords,
    "of type 'object', 'boolean'",
    (value) => Object.values(toObject(value)).every(isSchema),
  ],
  [['required', 'enum', ...listKeywords], "of type 'array'", Array.isArray],
  [singleKeywords, "of type 'object', 'boolean'", isSchema],
  [
    ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
    "of type 'number'",
    (value) => typeof value === 'number',
  ],
  [
    ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
    "of type 'integer'",
    Number.isInteger,
  ],
  [
    ['title', 'description', 'format', 'pattern', '$ref'],
    "of type 'string'",
    (value) => typeof value === 'string',
  ],
]

/** The keyword value that does not fit the meta-schema, as the validator of both vendors reports it. */
export function invalidKeyword(schema: JsonObject): string | undefined {
  for (const { schema: inner } of allSchemas(schema))
    for (const [keywords, expected, fits] of keywordRules)
      for (const keyword of keywords)
        if (keyword in inner && !fits(inner[keyword]))
          return `${JSON.stringify(inner[keyword]).replaceAll('"', "'")} is not ${expected}`
  return undefined
}

/** The reason why chat and responses reject a schema. `{}` is valid for a tool only. */
export function openaiSchemaProblem(
  schema: JsonObject,
  use: 'tool' | 'answer',
): string | undefined {
  const { type } = schema
  if (type !== 'object' && (use === 'answer' || Object.keys(schema).length > 0))
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${String(type ?? 'None')}"'.`
  // https://github.com/langchain-ai/langchainjs/issues/9804
  if (rules.openai.forbiddenAtTop.some((keyword) => keyword in schema))
    return `schema must have type 'object' and not have ${rules.openai.forbiddenAtTop.map((keyword) => `'${keyword}'`).join('/')} at the top level.`
  // https://github.com/FoundationAgents/OpenManus/issues/1162
  const invalid = invalidKeyword(schema)
  if (invalid !== undefined) return `${invalid}.`
  return findProblem(schema, (inner) =>
    mayBe(inner, 'array') && inner['items'] === undefined && inner['prefixItems'] === undefined
      ? 'array schema missing items.'
      : undefined,
  )
}

/**
 * The reason why chat and responses reject a strict schema, at any depth
 * (https://platform.openai.com/docs/guides/structured-outputs, https://github.com/moeru-ai/xsai/issues/145,
 * read 2026-11-23).
 */
export function openaiStrictProblem(schema: JsonObject): string | undefined {
  const schemas = allSchemas(schema)
  for (const [quantity, limit, measure] of strictLimits) {
    const size = measure(schemas)
    if (size > limit) return `schema has ${size} ${quantity}, exceeding the limit of ${limit}.`
  }

  return findProblem(schema, (inner) => {
    const { format, properties, required, additionalProperties } = inner
    if ('$ref' in inner) return referenceProblem(schema, inner)
    const forbidden = rules.openai.forbiddenInStrict.find((keyword) => keyword in inner)
    if (forbidden !== undefined) return `'${forbidden}' is not permitted.`
    if (!['type', 'anyOf', 'enum', 'const'].some((keyword) => keyword in inner))
      return "schema must have a 'type' key."
    // https://github.com/cyanheads/git-mcp-server/issues/47
    if (format !== undefined && !rules.openai.formats.includes(format as string))
      return `'${String(format)}' is not a valid format.`
    if (!mayBe(inner, 'object')) return undefined

    if (additionalProperties !== false)
      return "'additionalProperties' is required to be supplied and to be false."
    const names = Object.keys(toObject(properties))
    const missing = names.find((name) => !asList(required).includes(name))
    // https://github.com/james-6-23/codex2api/issues/687
    const extra = asList(required).find((name) => !names.includes(name as string))
    if (missing === undefined && extra === undefined) return undefined
    const wrong =
      missing === undefined ? `Extra required key '${extra}' supplied` : `Missing '${missing}'`
    return `'required' is required to be supplied and to be an array including every key in properties. ${wrong}.`
  })
}

type Measure = (schemas: readonly LocatedSchema[]) => number

const sumOver =
  (sizeOf: (schema: JsonObject) => number): Measure =>
  (schemas) =>
    schemas.reduce((sum, { schema }) => sum + sizeOf(schema), 0)
const textLength = (values: readonly unknown[]) => values.join('').length
const enumOf = ({ enum: values }: JsonObject) => asList(values)
const propertiesOf = ({ properties }: JsonObject) => Object.keys(toObject(properties))

/**
 * The limits of strict schemas (the guide as https://jsonschemaprofiles.unitvectorylabs.com/schemas/openai
 * repeats it, read 2026-11-26).
 */
const strictLimits: readonly (readonly [quantity: string, limit: number, measure: Measure])[] = [
  ['enum values', 1000, sumOver((schema) => enumOf(schema).length)],
  ['levels of nesting', 10, (schemas) => Math.max(...schemas.map(({ level }) => level))],
  ['object properties', 5000, sumOver((schema) => propertiesOf(schema).length)],
  [
    'characters in names and enum values',
    120_000,
    sumOver((schema) => textLength([...propertiesOf(schema), ...enumOf(schema)])),
  ],
  [
    'characters in enums of more than 250 values',
    15_000,
    sumOver((schema) => (enumOf(schema).length > 250 ? textLength(enumOf(schema)) : 0)),
  ],
]

/** https://github.com/vectorize-io/hindsight/pull/3944 */
function referenceProblem(
  root: JsonObject,
  { $ref: target, ...siblings }: JsonObject,
): string | undefined {
  const keywords = Object.keys(siblings).map((keyword) => `'${keyword}'`)
  if (keywords.length > 0) return `$ref cannot have keywords {${keywords.join(', ')}}.`
  return resolveReference(root, String(target)) === undefined
    ? `reference to component '${String(target)}' which was not found in the schema.`
    : undefined
}

function resolveReference(root: JsonObject, target: string): JsonObject | undefined {
  const steps = target.split('/').slice(1)
  const definition = steps.reduce<unknown>((value, step) => toObject(value)[step], root)
  return isObject(definition) ? definition : undefined
}

/**
 * The references from a definition to itself, in their order.
 *
 * @param path the references on the way from the root to this schema
 * @param withoutCycle references that lead to no cycle, so that each definition is searched once
 */
function findCycle(
  root: JsonObject,
  schema = root,
  path: readonly string[] = ['#'],
  withoutCycle = new Set<string>(),
): readonly string[] | undefined {
  for (const { schema: inner } of allSchemas(schema)) {
    const target = inner['$ref']
    if (typeof target !== 'string') continue
    if (path.includes(target)) return [...path.slice(path.indexOf(target)), target]
    if (withoutCycle.has(target)) continue
    const definition = resolveReference(root, target)
    const cycle = definition && findCycle(root, definition, [...path, target], withoutCycle)
    if (cycle !== undefined) return cycle
    withoutCycle.add(target)
  }
  return undefined
}

const unsupported: Readonly<Record<string, readonly string[]>> = rules.anthropic.unsupported

/**
 * The reason why messages rejects the schema of an answer or of a strict tool
 * (https://github.com/ax-llm/ax/issues/458, https://github.com/agentjido/req_llm/issues/302 and 707,
 * https://github.com/ghostlobster/memorize-everything/issues/93, read 2026-11-23; the formats, enums and
 * `oneOf`: lib/transform-json-schema.js of @anthropic-ai/sdk 1.12.0).
 */
export function anthropicStrictProblem(schema: JsonObject): string | undefined {
  // https://github.com/egonSchiele/agency-lang/issues/487, read 2026-11-26
  const cycle = findCycle(schema)?.map((target) => target.split('/').at(-1))
  if (cycle !== undefined)
    return `Circular reference detected in schema definitions: ${cycle.join(' -> ')}. Self-referencing or mutually-referencing definitions are not supported.`

  for (const { schema: inner } of allSchemas(schema)) {
    const { type, format, minItems, additionalProperties, $ref: target } = inner
    // https://github.com/ENTERPILOT/GoModel/pull/963, read 2026-11-26
    if (typeof target === 'string' && !target.startsWith('#'))
      return `External references are not supported: '${target}'`
    const types = [type].flat()
    if (types.includes('object') && additionalProperties !== false)
      return "For 'object' type, 'additionalProperties' must be explicitly set to false"
    for (const name of types.map(String)) {
      const keyword = unsupported[name]?.find((candidate) => candidate in inner)
      if (keyword !== undefined) return `For '${name}' type, property '${keyword}' is not supported`
    }
    if (types.includes('array') && ![undefined, 0, 1].includes(minItems as number))
      return "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    if (format !== undefined && !rules.anthropic.formats.includes(format as string))
      return `For 'string' type, format '${String(format)}' is not supported`
    if ('oneOf' in inner) return "Schema keyword 'oneOf' is not supported"
    if (enumOf(inner).some((value) => typeof value === 'object' && value !== null))
      return "'enum' values other than strings, numbers, booleans and null are not supported"
  }
  return undefined
}

/**
 * The reason why messages rejects all its strict schemas together
 * (https://github.com/elie222/inbox-zero/issues/2323, https://github.com/mozilla/bugbug/pull/6129).
 */
export function anthropicComplexityProblem(schemas: readonly JsonObject[]): string | undefined {
  const all = schemas.flatMap((schema) => allSchemas(schema))
  const optional = sumOver(
    (schema) =>
      propertiesOf(schema).filter((name) => !asList(schema['required']).includes(name)).length,
  )(all)
  if (optional > 24)
    return `Schemas contains too many optional parameters (${optional}), which would make grammar compilation inefficient. Reduce the number of optional parameters in your tool schemas (limit: 24).`

  const unions = sumOver(({ type, anyOf }) =>
    Array.isArray(type) || Array.isArray(anyOf) ? 1 : 0,
  )(all)
  if (unions > 16)
    return `Schemas contains too many parameters with union types (${unions}), which would make grammar compilation inefficient. Reduce the number of nullable or union-typed parameters (limit: 16).`
  return undefined
}
