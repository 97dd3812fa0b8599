/**
 * Writes what the official SDKs say of the vendors. Run it when test/sdk/sdk-data.test.ts fails, because a newer
 * SDK says something else.
 *
 *   node scripts/write-sdk-data.js
 *
 * src/serve/model/catalog.json             the models
 * src/serve/requests/data/shapes.json      what a request body of each protocol may contain
 * src/serve/requests/data/sdk-rules.json   limits of members, members that need a beta, and members that only
 *                                          some generations of models accept
 *
 * The vendors generate the types and comments of their SDKs from their API descriptions.
 *
 * The notation of shapes: "string", "number", "boolean", "any"; ["a", "b"] is one of these texts; 7 is the
 * shape at that index of `shared`; {"list": X}; {"map": X}; {"properties": {"name": X}, "required": ["name"]}
 * has no other members; {"anyOf": [X, Y]}. Null counts as absent everywhere.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { installPackages, modulesOf } from './install.js'
import { betasOf } from './sdk-data/betas.js'
import { catalogOf } from './sdk-data/catalog.js'
import { familiesOf, limitsOf } from './sdk-data/comments.js'

const bodies = {
  chat: 'OpenAI.ChatCompletionCreateParamsNonStreaming',
  responses: 'OpenAI.Responses.ResponseCreateParamsNonStreaming',
  // What is no beta is among it.
  messages: 'Anthropic.Beta.MessageCreateParamsNonStreaming',
}
const protocols = Object.keys(bodies)
const types = {
  ...bodies,
  withoutBetas: 'Anthropic.MessageCreateParamsNonStreaming',
  betas: 'Anthropic.Beta.AnthropicBeta',
  gpt: 'OpenAI.AllModels',
  gptOfChat: 'OpenAI.ChatModel',
  claude: 'Anthropic.Model',
  images: 'OpenAI.ImageModel',
  embeddings: 'OpenAI.EmbeddingModel',
}
/** Of the SDK's calls: headers, or the other half of a pair of types. */
const notInBody = ['betas', 'user_profile_id', 'workspace_id']
const sdks = ['openai', '@anthropic-ai/sdk']

/** @returns {Promise<Record<string, object>>} by path: what the SDKs in .cache/sdk say, without their versions */
export async function readSdks() {
  const folder = join(modulesOf('sdk'), '..')
  writeFileSync(
    join(folder, 'types.ts'),
    `import type OpenAI from 'openai'
import type Anthropic from '@anthropic-ai/sdk'
${Object.entries(types)
  .map(([name, type]) => `export type ${name} = ${type}`)
  .join('\n')}
`,
  )
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { module: 'nodenext', strict: true, types: [] } }),
  )

  const generator = await schemaGenerator(folder)
  const schemas = Object.fromEntries(
    Object.keys(types).map((root) => [root, { root, ...generator.createSchema(root) }]),
  )
  const shapes = protocols.map((name) => [name, shapeOf(name, schemas[name].definitions)])
  const ofProtocols = (read) =>
    Object.fromEntries(protocols.map((name) => [name, read(schemas[name], name)]))
  return {
    'src/serve/model/catalog.json': { models: catalogOf(schemas) },
    'src/serve/requests/data/shapes.json': shared(Object.fromEntries(shapes)),
    'src/serve/requests/data/sdk-rules.json': {
      limits: ofProtocols(limitsOf),
      betas: betasOf(schemas),
      families: protocols.flatMap((name) => familiesOf(schemas[name], name)),
    },
  }
}

/** One for all types, because it reads the SDKs only once. */
async function schemaGenerator(folder) {
  const entry = join(modulesOf('sdk'), 'ts-json-schema-generator/dist/index.js')
  const { createGenerator } = await import(pathToFileURL(entry).href)
  return createGenerator({
    path: join(folder, 'types.ts'),
    tsconfig: join(folder, 'tsconfig.json'),
    skipTypeCheck: true,
    fullDescription: true,
  })
}

/** The versions of the SDKs in .cache/sdk. */
export function sdkVersions() {
  const versionOf = (name) =>
    JSON.parse(readFileSync(join(modulesOf('sdk'), name, 'package.json'), 'utf8')).version
  return Object.fromEntries(sdks.map((name) => [name, versionOf(name)]))
}

function shapeOf(name, definitions) {
  // By identity, so that a type that holds itself ends.
  const made = new Map()
  return resolved({ $ref: `#/definitions/${name}` })

  function resolved(schema) {
    if (schema.$ref === undefined) return shape(schema)
    const key = decodeURIComponent(schema.$ref.replace('#/definitions/', ''))
    if (!made.has(key)) {
      made.set(key, { ref: key })
      made.set(key, resolved(definitions[key]))
    }
    const found = made.get(key)
    if (found.ref !== undefined) throw new Error(`${key} holds itself`)
    return found
  }

  function shape(schema) {
    if (schema.anyOf) return union(schema.anyOf.map(resolved))
    if (Array.isArray(schema.type))
      return union(schema.type.map((type) => shape({ ...schema, type })))
    const values = schema.enum ?? ('const' in schema ? [schema.const] : undefined)
    if (schema.type === 'string' && values) return values.filter((value) => value !== null)
    if (schema.type === 'null') return undefined
    if (schema.type === 'array') return { list: resolved(schema.items ?? {}) }
    if (schema.type === 'object') return objectShape(schema)
    return schema.type ?? 'any'
  }

  function objectShape({ properties, required = [], additionalProperties }) {
    if (properties === undefined || additionalProperties !== false)
      return { map: resolved(additionalProperties || {}) }
    const members = Object.entries(properties).filter(([member]) => !notInBody.includes(member))
    const neverNull = required.filter((member) => !mayBeNull(properties[member]))
    // The other half of a pair of types streams.
    const entries = members.map(([member, inner]) => [
      member,
      member === 'stream' ? 'boolean' : resolved(inner),
    ])
    return { properties: Object.fromEntries(entries), required: neverNull }
  }
}

function mayBeNull({ type, anyOf = [] }) {
  return type?.includes('null') || anyOf.some(mayBeNull)
}

/** Texts of several unions are one list; where any text does, none is named. */
function union(shapes) {
  const flat = shapes.filter((one) => one !== undefined).flatMap((one) => one.anyOf ?? [one])
  if (flat.includes('any')) return 'any'
  const texts = [...new Set(flat.filter(Array.isArray).flat())]
  const others = [
    ...new Map(
      flat.filter((one) => !Array.isArray(one)).map((one) => [JSON.stringify(one), one]),
    ).values(),
  ]
  const all = texts.length > 0 && !others.includes('string') ? [texts, ...others] : others
  return all.length === 1 ? all[0] : { anyOf: all }
}

/** The same with every shape that stands there twice written once. */
function shared(shapes) {
  const counts = new Map()
  for (const shape of Object.values(shapes)) count(shape)
  const list = []
  const places = new Map()
  const roots = Object.fromEntries(Object.entries(shapes).map(([name, one]) => [name, short(one)]))
  return { shared: list, ...roots }

  function count(shape) {
    const text = JSON.stringify(shape)
    counts.set(text, (counts.get(text) ?? 0) + 1)
    if (counts.get(text) === 1) mapped(shape, count)
  }

  function short(shape) {
    const text = JSON.stringify(shape)
    if (places.has(text)) return places.get(text)
    const inner = mapped(shape, short)
    if (counts.get(text) < 2 || text.length < 12) return inner
    places.set(text, list.push(inner) - 1)
    return places.get(text)
  }
}

/** A shape with what `change` makes of those within it. */
function mapped(shape, change) {
  if (typeof shape === 'string' || Array.isArray(shape)) return shape
  if (shape.anyOf) return { anyOf: shape.anyOf.map(change) }
  if (shape.list) return { list: change(shape.list) }
  if (shape.map) return { map: change(shape.map) }
  const members = Object.entries(shape.properties)
  return {
    ...shape,
    properties: Object.fromEntries(members.map(([name, one]) => [name, change(one)])),
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  installPackages('sdk')
  const versions = sdkVersions()
  for (const [path, data] of Object.entries(await readSdks())) {
    const rows = JSON.stringify({ versions, ...data }).replaceAll(
      /(?<=[[,])\{"(id|protocols|paths|models)"/g,
      '\n$&',
    )
    writeFileSync(new URL(`../${path}`, import.meta.url), `${rows}\n`)
  }
}
