import { isOpenaiImage } from './media.ts'
import { asString, isObject, type JsonObject, listObjects, toObject } from './read.ts'
import { Refusal } from './refusal.ts'
import type { ModelRequest, Tool } from './request.ts'
import { openaiProblem, strictProblem } from './schemas.ts'

/** What chat and responses have in common. */

/** Whether a model that is told to think so hard thinks. */
export function readThinking(effort: unknown): 'always' | 'sometimes' | 'never' {
  if (effort === 'none' || effort === 'minimal') return 'never'
  return typeof effort === 'string' ? 'always' : 'sometimes'
}

/** @throws Refusal where its schema is not taken */
export function functionTool(tool: JsonObject, where: string, namespace?: string): Tool {
  const { description, parameters, strict } = tool
  const name = String(tool['name'])
  const problem = isObject(parameters)
    ? (openaiProblem(parameters) ?? (strict === true ? strictProblem(parameters) : undefined))
    : undefined

  if (problem !== undefined)
    throw new Refusal(
      `Invalid schema for function '${name}': ${problem}`,
      `${where}.parameters`,
      'invalid_function_parameters',
    )
  return { name, kind: 'function', description: asString(description), parameters, namespace }
}

/** Whether an answer is to be any JSON although nothing that is said holds the word. */
export function lacksWordJson({ type }: JsonObject, messages: unknown): boolean {
  return type === 'json_object' && !/json/i.test(JSON.stringify(messages))
}

/**
 * The schema that an answer must fit; undefined: free text.
 *
 * @param where name and schema stand
 * @throws Refusal where it is none of an object, which the vendor takes alone
 */
export function answerSchema(format: JsonObject, where: string): unknown {
  const { type } = format
  if (type === undefined || type === 'text') return undefined
  if (type === 'json_object') return { type: 'object' }

  const { name, schema, strict } = toObject(format['json_schema'] ?? format)
  if (!isObject(schema)) return { type: 'object' }
  const problem =
    openaiProblem(schema, true) ?? (strict === true ? strictProblem(schema) : undefined)
  if (problem === undefined) return schema
  throw new Refusal(
    `Invalid schema for response_format '${String(name)}': ${problem}`,
    `${where}.schema`,
    'invalid_json_schema',
  )
}

/** @throws Refusal where a picture in base64 is none that the vendor reads */
export function checkImage(url: unknown, where: string): void {
  if (typeof url !== 'string' || isOpenaiImage(url)) return
  throw new Refusal(
    "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
    where,
    'invalid_image_format',
  )
}

/** The tools that may be called, and whether they must be. */
export function chooseTools(
  choice: unknown,
  tools: readonly Tool[],
): Pick<ModelRequest, 'tools' | 'toolChoice'> {
  if (!isObject(choice))
    return { tools, toolChoice: choice === 'none' || choice === 'required' ? choice : 'auto' }
  if (choice['type'] !== 'allowed_tools')
    return { tools, toolChoice: { name: findToolName(tools, choice) } }

  // Chat has them in a member of their own.
  const { mode, tools: allowed } = toObject(choice['allowed_tools'] ?? choice)
  const names = listObjects(allowed).map((entry) => findToolName(tools, entry))
  return {
    tools: tools.filter(({ name }) => names.includes(name)),
    toolChoice: mode === 'required' ? mode : 'auto',
  }
}

/**
 * The tool that is named by `{type, name}`, by `{type: T, T: {name}}` of chat, or by the name alone as
 * before November 2023.
 *
 * @throws Refusal where no tool is called so
 */
function findToolName(tools: readonly Tool[], chosen: JsonObject): string {
  const { type, name = toObject(chosen[String(type)])['name'] } = chosen
  const found = tools.find((tool) => tool.name === name)
  if (found !== undefined) return found.name
  throw new Refusal(
    `Tool choice '${String(name ?? type)}' not found in 'tools' parameter.`,
    'tool_choice',
  )
}
