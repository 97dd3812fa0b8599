import { asList, asString, isObject, type JsonObject } from './read.ts'
import {
  anthropicWords,
  objectAt,
  openaiWords,
  type Path,
  Refusal,
  type Rule,
  stringAt,
  withBrackets,
} from './refusal.ts'
import type { Tool } from './request.ts'

/** Most tools that chat and responses take. */
const mostTools = 128

/** Members that chat and responses share. */
export const openaiRules = {
  stream: { kind: 'boolean' },
  temperature: { kind: 'number', least: 0, most: 2 },
  top_p: { kind: 'number', least: 0, most: 1 },
  top_logprobs: { kind: 'integer', least: 0, most: 20 },
  parallel_tool_calls: { kind: 'boolean' },
  tools: { kind: 'array' },
  store: { kind: 'boolean' },
  metadata: { kind: 'object' },
  user: { kind: 'string' },
  safety_identifier: { kind: 'string' },
  prompt_cache_key: { kind: 'string' },
} as const satisfies Record<string, Rule>

/** How hard a model may be told to think; newer models know more words than older ones. */
export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/** Whether chat and responses, told to think so hard, think. */
export function thinkingOf(effort: unknown): 'always' | 'sometimes' | 'never' {
  if (effort === 'none' || effort === 'minimal') return 'never'
  return typeof effort === 'string' ? 'always' : 'sometimes'
}

/** @throws Refusal where chat and responses take no such tool */
export function functionTool(details: JsonObject, path: Path, namespace?: string): Tool {
  const name = stringAt(details['name'], [...path, 'name'], openaiWords)
  checkName(name, [...path, 'name'])

  const { parameters } = details
  if (parameters !== undefined && parameters !== null) {
    const at = [...path, 'parameters']
    checkSchema(objectAt(parameters, at, openaiWords), name, at)
  }
  const description = asString(details['description'])
  return { name, kind: 'function', description, parameters, namespace }
}

export function checkName(name: string, path: Path): void {
  const where = withBrackets(path)
  if (!/^[a-zA-Z0-9_-]+$/.test(name))
    throw new Refusal(
      `Invalid '${where}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      where,
      'invalid_value',
    )
  if (name.length > 64)
    throw new Refusal(
      `Invalid '${where}': string too long. Expected a string with maximum length 64, but got a string with length ${name.length} instead.`,
      where,
      'string_above_max_length',
    )
}

function checkSchema(schema: JsonObject, name: string, path: Path): void {
  const isNothing = Object.keys(schema).length === 0
  const problem =
    isNothing || schema['type'] === 'object'
      ? arrayWithoutItems(schema)
      : `schema must be a JSON Schema of 'type: "object"', got 'type: "${String(schema['type'] ?? 'None')}"'.`
  if (problem !== undefined)
    throw new Refusal(
      `Invalid schema for function '${name}': ${problem}`,
      withBrackets(path),
      'invalid_function_parameters',
    )
}

function arrayWithoutItems(
  schema: JsonObject,
  context: readonly string[] = [],
): string | undefined {
  if (schema['type'] === 'array' && !('items' in schema) && !('prefixItems' in schema))
    return `In context=(${context.map((step) => `'${step}'`).join(', ')}), array schema missing items.`

  const { items, properties } = schema
  if (isObject(items)) return arrayWithoutItems(items, [...context, 'items'])
  if (!isObject(properties)) return undefined
  for (const [name, inner] of Object.entries(properties)) {
    const problem = isObject(inner)
      ? arrayWithoutItems(inner, [...context, 'properties', name])
      : undefined
    if (problem !== undefined) return problem
  }
  return undefined
}

/**
 * The schema of an answer.
 *
 * @throws Refusal where it is none of an object, which the vendor takes alone
 */
export function answerSchema(schema: unknown, name: string, path: Path): unknown {
  const { type } = objectAt(schema, path, openaiWords)
  if (type === 'object') return schema
  throw new Refusal(
    `Invalid schema for response_format '${name}': schema must be a JSON Schema of 'type: "object"', got 'type: "${String(type ?? 'None')}"'.`,
    withBrackets(path),
    'invalid_json_schema',
  )
}

/** @throws Refusal where there are more than the vendor takes */
export function checkToolCount(tools: readonly unknown[]): void {
  if (tools.length > mostTools)
    throw new Refusal(
      `Invalid 'tools': array too long. Expected an array with maximum length ${mostTools}, but got an array with length ${tools.length} instead.`,
      'tools',
      'array_above_max_length',
    )
}

/**
 * A tool of a messages request: one of the client's own, or one that the vendor has defined and the
 * client carries out.
 *
 * @throws Refusal
 */
export function messagesTool(tool: unknown, index: number): Tool {
  const path = ['tools', index]
  const details = objectAt(tool, path, anthropicWords)
  const type = details['type'] ?? 'custom'
  const name = stringAt(details['name'], [...path, String(type), 'name'], anthropicWords)
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name))
    throw new Refusal(
      `tools.${index}.${String(type)}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`,
    )
  if (type !== 'custom') return { name, kind: 'function', parameters: {} }

  const at = [...path, 'custom', 'input_schema']
  if (details['input_schema'] === undefined) throw anthropicWords.missing(at)
  const schema = objectAt(details['input_schema'], at, anthropicWords)
  if (schema['type'] === undefined) throw anthropicWords.missing([...at, 'type'])
  if (schema['type'] !== 'object')
    throw new Refusal(`${at.join('.')}.type: Input should be 'object'`)
  return {
    name,
    kind: 'function',
    description: asString(details['description']),
    parameters: schema,
  }
}

/** The tools that an `allowed_tools` choice leaves; `nameOf` reads one of its entries. */
export function allowedTools(
  tools: readonly Tool[],
  allowed: unknown,
  nameOf: (entry: JsonObject) => unknown,
): readonly Tool[] {
  const names = asList(allowed).map((entry) => {
    const name = isObject(entry) ? nameOf(entry) : undefined
    if (!tools.some((tool) => tool.name === name))
      throw new Refusal(
        `Tool choice '${String(name)}' not found in 'tools' parameter.`,
        'tool_choice',
      )
    return name
  })
  return tools.filter(({ name }) => names.includes(name))
}
