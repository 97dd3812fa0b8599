/**
 * Writes src/serve/requests/data/shapes.json and limits.json: what a request body of each protocol may
 * contain. Run it when install.js names a new version of an SDK.
 *
 *   node scripts/write-schemas.js [FILE]     FILE is OpenAI's openapi.json. Without it, the script downloads it
 *
 * The shapes come from the types of the official SDKs, which the vendors generate from their API
 * descriptions. The limits (lengths, counts, ranges, patterns) come from the comments of these types and
 * from OpenAI's API description. Anthropic publishes none.
 *
 * The notation of shapes: "string", "number", "boolean", "any"; ["a", "b"] is one of these texts; 7 is the
 * shape at that index of `shared`; {"list": X}; {"map": X}; {"properties": {"name": X}, "required": ["name"]}
 * has no other members; {"anyOf": [X, Y]}. Null counts as absent everywhere.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installPackages, modulesOf, packageSets } from './install.js'
import { limitsOf } from './schemas/limits.js'

const types = {
  chat: 'OpenAI.ChatCompletionCreateParamsNonStreaming',
  responses: 'OpenAI.Responses.ResponseCreateParamsNonStreaming',
  // What is no beta is among it.
  messages: 'Anthropic.Beta.MessageCreateParamsNonStreaming',
}
/** Of the SDK's calls: headers, or the other half of a pair of types. */
const notInBody = ['betas', 'user_profile_id', 'workspace_id']

installPackages('schemas')
const folder = join(modulesOf('schemas'), '..')
const names = Object.keys(types)
writeFileSync(
  join(folder, 'types.ts'),
  `import type OpenAI from 'openai'
import type Anthropic from '@anthropic-ai/sdk'
${names.map((name) => `export type ${name} = ${types[name]}`).join('\n')}
`,
)
writeFileSync(
  join(folder, 'tsconfig.json'),
  JSON.stringify({ compilerOptions: { module: 'nodenext', strict: true, types: [] } }),
)

const definitions = Object.fromEntries(names.map((name) => [name, definitionsOf(name)]))
const shapes = Object.fromEntries(names.map((name) => [name, shapeOf(name)]))
const { openai, '@anthropic-ai/sdk': anthropic } = packageSets.schemas
const versions = { openai, '@anthropic-ai/sdk': anthropic }
const file = new URL('../src/serve/requests/data/shapes.json', import.meta.url)
writeFileSync(file, `${JSON.stringify({ versions, ...shared(shapes) })}\n`)

/** https://github.com/openai/openai-openapi on 2026-08-21. */
const openapiCommit = 'f85dbe223d40e1a31cba812ab2d755c7e98a92a3'
const openapi = await openapiDocument(process.argv[2])
const described = { chat: 'CreateChatCompletionRequest', responses: 'CreateResponse' }
const limits = Object.fromEntries(
  names.map((name) => [
    name,
    limitsOf({
      commented: { root: name, schemas: definitions[name] },
      described: { root: described[name], schemas: openapi.components.schemas },
    }),
  ]),
)
writeFileSync(
  new URL('../src/serve/requests/data/limits.json', import.meta.url),
  `${JSON.stringify({ versions: { ...versions, openapi: openapiCommit }, ...limits }, null, 2)}\n`,
)

function definitionsOf(name) {
  const program = join(
    modulesOf('schemas'),
    'ts-json-schema-generator/bin/ts-json-schema-generator.js',
  )
  const options = ['--path', 'types.ts', '--tsconfig', 'tsconfig.json', '--no-type-check']
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [program, ...options, '--type', name],
    { cwd: folder, encoding: 'utf8', maxBuffer: 1e8 },
  )
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout).definitions
}

function shapeOf(name) {
  // By identity, so that a type that holds itself ends.
  const made = new Map()
  return resolved({ $ref: `#/definitions/${name}` })

  function resolved(schema) {
    if (schema.$ref === undefined) return shape(schema)
    const key = decodeURIComponent(schema.$ref.replace('#/definitions/', ''))
    if (!made.has(key)) {
      made.set(key, { ref: key })
      made.set(key, resolved(definitions[name][key]))
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

async function openapiDocument(path) {
  if (path !== undefined) return JSON.parse(readFileSync(path, 'utf8'))
  const repository = 'https://raw.githubusercontent.com/openai/openai-openapi'
  return (await fetch(`${repository}/${openapiCommit}/openapi.json`)).json()
}
