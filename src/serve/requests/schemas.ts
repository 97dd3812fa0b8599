import { asList, isObject, type JsonObject } from './read.ts'

/** Checks of JSON schemas with the error messages of the vendors. */

/** The steps into a schema, as the vendor's messages name them. */
type Context = readonly string[]

/**
 * The reason why chat and responses reject a schema.
 *
 * @param isFormat it is the schema of an answer, for which `{}` is invalid
 */
export function openaiProblem(schema: JsonObject, isFormat = false): string | undefined {
  const { type } = schema
  if (type !== 'object' && (isFormat || Object.keys(schema).length > 0))
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${String(type ?? 'None')}"'.`
  return findProblem(schema, [], ({ type: kind, items, prefixItems }) =>
    kind === 'array' && items === undefined && prefixItems === undefined
      ? 'array schema missing items.'
      : undefined,
  )
}

/**
 * The reason why they reject a strict schema, at any depth
 * (https://platform.openai.com/docs/guides/structured-outputs, https://github.com/moeru-ai/xsai/issues/145,
 * read 2026-11-23).
 */
export function strictProblem(schema: JsonObject): string | undefined {
  const values = countEnumValues(schema)
  if (values > maxEnumValues)
    return `schema has ${values} enum values, exceeding the limit of ${maxEnumValues}.`
  const depth = schemaDepth(schema)
  if (depth > maxLevels)
    return `schema has ${depth} levels of nesting, exceeding the limit of ${maxLevels}.`

  return findProblem(schema, [], (inner) => {
    const { type, properties, required, additionalProperties } = inner
    const refused = forbiddenInStrict.find((word) => word in inner)
    if (refused !== undefined) return `'${refused}' is not permitted.`
    if (!['type', '$ref', 'anyOf', 'enum', 'const'].some((word) => word in inner))
      return "schema must have a 'type' key."
    if (type !== 'object') return undefined

    if (additionalProperties !== false)
      return "'additionalProperties' is required to be supplied and to be false."
    const names = isObject(properties) ? Object.keys(properties) : []
    const missing = names.find((name) => !asList(required).includes(name))
    return missing === undefined
      ? undefined
      : `'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`
  })
}

const forbiddenInStrict = ['oneOf', 'allOf', 'not', 'if', 'default', 'patternProperties']
const maxEnumValues = 1000
const maxLevels = 10

function countEnumValues(schema: JsonObject): number {
  const inner = [...innerSchemas(schema)].map(([, one]) => countEnumValues(one))
  return inner.reduce((sum, one) => sum + one, asList(schema['enum']).length)
}

/** How deep objects and lists are nested. */
function schemaDepth(schema: JsonObject): number {
  const inner = [...innerSchemas(schema)].map(([, one]) => schemaDepth(one))
  const own = schema['type'] === 'object' || schema['type'] === 'array' ? 1 : 0
  return own + Math.max(0, ...inner)
}

/** The first problem of a schema or of an inner schema, with its context. */
function findProblem(
  schema: JsonObject,
  context: Context,
  problemOf: (schema: JsonObject) => string | undefined,
): string | undefined {
  const problem = problemOf(schema)
  if (problem !== undefined)
    return `In context=(${context.map((step) => `'${step}'`).join(', ')}), ${problem}`
  for (const [steps, inner] of innerSchemas(schema)) {
    const found = findProblem(inner, [...context, ...steps], problemOf)
    if (found !== undefined) return found
  }
  return undefined
}

/** The direct inner schemas of a schema. */
function* innerSchemas(schema: JsonObject): Generator<readonly [Context, JsonObject]> {
  for (const word of ['properties', '$defs', 'definitions'])
    for (const [name, inner] of Object.entries(isObject(schema[word]) ? schema[word] : {}))
      if (isObject(inner)) yield [[word, name], inner]
  for (const word of ['anyOf', 'oneOf', 'allOf', 'prefixItems'])
    for (const [index, inner] of asList(schema[word]).entries())
      if (isObject(inner)) yield [[word, String(index)], inner]
  if (isObject(schema['items'])) yield [['items'], schema['items']]
}

const jsonTypes = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

/** Whether a schema has a type that JSON does not have (https://github.com/agentjido/req_llm/issues/155). */
export function hasUnknownType(schema: JsonObject): boolean {
  return (
    findProblem(schema, [], ({ type }) =>
      [type ?? []].flat().every((one) => jsonTypes.includes(one as string)) ? undefined : 'no type',
    ) !== undefined
  )
}

/** The keywords that messages rejects for a type in the schema of an answer. */
const unsupported: Readonly<Record<string, readonly string[]>> = {
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  string: ['minLength', 'maxLength'],
}

/**
 * The reason why messages rejects the schema of an answer or of a strict tool
 * (https://github.com/ax-llm/ax/issues/458, https://github.com/agentjido/req_llm/issues/302,
 * https://github.com/ghostlobster/memorize-everything/issues/93, read 2026-11-23).
 */
export function closedProblem(schema: JsonObject): string | undefined {
  const { type, additionalProperties } = schema
  if (type === 'object' && additionalProperties !== false)
    return "For 'object' type, 'additionalProperties' must be explicitly set to false"
  const words = unsupported[type === 'integer' ? 'number' : String(type)] ?? []
  const word = words.find((one) => one in schema)
  if (word !== undefined) return `For '${String(type)}' type, property '${word}' is not supported`
  if (type === 'array' && ![undefined, 0, 1].includes(schema['minItems'] as number))
    return "For 'array' type, 'minItems' values other than 0 or 1 are not supported"

  for (const [, inner] of innerSchemas(schema)) {
    const problem = closedProblem(inner)
    if (problem !== undefined) return problem
  }

  return undefined
}
