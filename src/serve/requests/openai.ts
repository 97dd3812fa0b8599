import type { Place } from './place.ts'
import { asList, asString, isObject, type JsonObject } from './read.ts'
import { Refusal, type Rule, tooLong } from './refusal.ts'
import type { ModelRequest, Part, Tool } from './request.ts'

/** What chat and responses have in common. */

/** Members of both. */
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

/** Whether a model that is told to think so hard thinks. */
export function thinkingOf(effort: unknown): 'always' | 'sometimes' | 'never' {
  if (effort === 'none' || effort === 'minimal') return 'never'
  return typeof effort === 'string' ? 'always' : 'sometimes'
}

/** @throws Refusal where no such tool is taken */
export function functionTool(tool: Place, namespace?: string): Tool {
  const name = nameAt(tool.at('name'))
  const { description, parameters } = tool.object()
  if (!tool.at('parameters').isAbsent) checkSchema(tool.at('parameters'), name)
  return { name, kind: 'function', description: asString(description), parameters, namespace }
}

/** The name of a function or of a format. */
function nameAt(place: Place): string {
  const name = place.string()
  if (!/^[a-zA-Z0-9_-]+$/.test(name))
    throw new Refusal(
      `Invalid '${place.where}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      place.where,
      'invalid_value',
    )
  if (name.length > 64)
    throw new Refusal(
      `Invalid '${place.where}': string too long. Expected a string with maximum length 64, but got a string with length ${name.length} instead.`,
      place.where,
      'string_above_max_length',
    )
  return name
}

function checkSchema(place: Place, name: string): void {
  const schema = place.object()
  const isNothing = Object.keys(schema).length === 0
  const problem =
    isNothing || schema['type'] === 'object' ? arrayWithoutItems(schema) : notOfObject(schema)
  if (problem !== undefined)
    throw new Refusal(
      `Invalid schema for function '${name}': ${problem}`,
      place.where,
      'invalid_function_parameters',
    )
}

function notOfObject({ type }: JsonObject): string {
  return `schema must be a JSON Schema of 'type: "object"', got 'type: "${String(type ?? 'None')}"'.`
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

/** How the two differ in what an answer must fit. */
interface FormatSpelling {
  /** What must hold the word JSON where an answer is to be any JSON, and what is said if it does not. */
  readonly said: unknown
  readonly withoutWord: readonly [message: string, param: string]
  /** Where name and schema stand. */
  schemaIn(format: Place): Place
  readonly isSchemaNeeded: boolean
}

const formats = ['json_object', 'json_schema', 'text'] as const

/**
 * The schema that an answer must fit; undefined: free text.
 *
 * @throws Refusal where it is none of an object, which the vendor takes alone
 */
export function answerSchema(format: Place, spelling: FormatSpelling): unknown {
  if (!isObject(format.value)) return undefined
  const { type } = format.value
  if (!formats.includes(type as never)) throw format.at('type').notAChoice(formats)
  if (type === 'text') return undefined
  if (type === 'json_object') {
    if (!/json/i.test(JSON.stringify(spelling.said))) throw new Refusal(...spelling.withoutWord)
    return { type: 'object' }
  }

  const details = spelling.schemaIn(format)
  const name = nameAt(details.at('name'))
  const place = details.at('schema')
  if (place.value === undefined && !spelling.isSchemaNeeded) return { type: 'object' }
  const schema = place.needed().object()
  if (schema['type'] === 'object') return schema
  throw new Refusal(
    `Invalid schema for response_format '${name}': ${notOfObject(schema)}`,
    place.where,
    'invalid_json_schema',
  )
}

/** Most tools that they take. */
const mostTools = 128

/**
 * The member `tools`.
 *
 * @throws Refusal where there are more than the vendor takes
 */
export function toolsIn(body: Place): readonly Place[] {
  const tools = body.at('tools').list()
  if (tools.length > mostTools) throw tooLong('tools', mostTools, tools)
  return tools
}

/** How the two differ in the choice of tools. */
interface ChoiceSpelling {
  /** Where mode and tools of an `allowed_tools` choice stand. */
  allowedIn(choice: Place): Place
  /** The name of the tool that is chosen, and of one that is allowed. */
  chosenName(choice: JsonObject): unknown
  allowedName(entry: JsonObject): unknown
}

const modes = ['none', 'auto', 'required'] as const

/** The tools that may be called, and whether they must be. */
export function chooseTools(
  choice: Place,
  tools: readonly Tool[],
  { allowedIn, chosenName, allowedName }: ChoiceSpelling,
): Pick<ModelRequest, 'tools' | 'toolChoice'> {
  const { value } = choice
  if (choice.isAbsent) return { tools, toolChoice: 'auto' }
  if (!isObject(value)) return { tools, toolChoice: choice.oneOf(modes) }
  if (value['type'] !== 'allowed_tools')
    return { tools, toolChoice: { name: foundName(tools, chosenName(value), value['type']) } }

  const allowed = allowedIn(choice)
  const mode = allowed.at('mode')
  if (mode.value !== 'auto' && mode.value !== 'required')
    throw mode.notAChoice(['auto', 'required'])
  const names = asList(allowed.at('tools').value).map((entry) =>
    foundName(tools, isObject(entry) ? allowedName(entry) : undefined),
  )
  return { tools: tools.filter(({ name }) => names.includes(name)), toolChoice: mode.value }
}

/** @throws Refusal where no tool is called so; `otherwise` names it if it has no name */
function foundName(tools: readonly Tool[], name: unknown, otherwise?: unknown): string {
  const found = tools.find((tool) => tool.name === name)
  if (found !== undefined) return found.name
  throw new Refusal(
    `Tool choice '${String(name ?? otherwise)}' not found in 'tools' parameter.`,
    'tool_choice',
  )
}

/** Texts that stand in content beside what is only accepted. */
const textTypes = ['text', 'input_text', 'output_text']

/** Content: a text, or a list of blocks of these types. */
export function contentParts(content: Place, types: readonly string[]): readonly Part[] {
  if (typeof content.value === 'string') return [{ type: 'text', text: content.value }]
  if (!Array.isArray(content.value)) throw content.wrongKind({ kind: 'content' })
  return content.list().map((block): Part => {
    const type = block.at('type').oneOf(types)
    return textTypes.includes(type)
      ? { type: 'text', text: block.at('text').string() }
      : { type: 'media' }
  })
}
