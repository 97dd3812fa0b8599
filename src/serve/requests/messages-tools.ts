/** Reads the tools of POST /v1/messages, and the choice among them. */
import { checkSearch, isSkippedTool, messagesClientTool } from './checks/hosted-tools.ts'
import {
  anthropicComplexityProblem,
  anthropicStrictProblem,
  invalidKeyword,
} from './checks/json-schemas.ts'
import { asString, type JsonObject, toObject } from './json.ts'
import type { Tool, ToolChoice } from './model-request.ts'
import { RequestRejection, unsupportedFeature } from './rejection.ts'

export function readMessagesTools(
  offeredTools: readonly JsonObject[],
  choice: JsonObject,
  checksSchemas: boolean,
): readonly Tool[] {
  checkSearch(offeredTools, choice)
  const tools = offeredTools.flatMap((tool, index) => readMessagesTool(tool, index, checksSchemas))
  if (checksSchemas) checkToolsTogether(offeredTools)
  return tools
}

/** Reads a tool of the client, or one that the vendor defines and the client executes. */
function readMessagesTool(
  tool: JsonObject,
  index: number,
  checksSchemas: boolean,
): readonly Tool[] {
  const { type = 'custom', description, input_schema: schema, strict } = tool
  const name = String(tool['name'])
  if (type !== 'custom') {
    const parameters = messagesClientTool(tool)
    if (parameters !== undefined) return [{ name, kind: 'function', parameters }]
    if (isSkippedTool(tool)) return []
    throw unsupportedFeature(`the vendor's own tool ${String(type)}`, 'tools')
  }

  const place = `tools.${index}.custom.input_schema`
  const parameters = toObject(schema)
  const propertyNames = Object.keys(toObject(parameters['properties']))
  // https://github.com/n8n-io/n8n/issues/30590
  if (checksSchemas && !propertyNames.every((property) => propertyNamePattern.test(property)))
    throw new RequestRejection(
      `${place}.properties: Property keys should match pattern '${propertyNamePattern.source}'`,
    )
  if (invalidKeyword(parameters) !== undefined)
    throw new RequestRejection(
      `${place}: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). Learn more about tool use at https://docs.claude.com/en/docs/tool-use.`,
    )
  const problem = checksSchemas && strict === true ? anthropicStrictProblem(parameters) : undefined
  if (problem !== undefined) throw new RequestRejection(`${place}: ${problem}`)

  return [{ name, kind: 'function', description: asString(description), parameters }]
}

const propertyNamePattern = /^[a-zA-Z0-9_.-]{1,64}$/
const maxStrictTools = 20

/** The rules for all tools of a request together. */
function checkToolsTogether(tools: readonly JsonObject[]): void {
  const deferred = tools.filter((tool) => tool['defer_loading'] === true)
  // https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool
  if (tools.length > 0 && deferred.length === tools.length)
    throw new RequestRejection(
      'tools: All tools have defer_loading set. At least one tool must be non-deferred.',
    )

  const strict = tools.filter((tool) => tool['strict'] === true)
  // https://github.com/elizaOS/eliza/issues/16499
  if (strict.length > maxStrictTools)
    throw new RequestRejection(
      `tools: Too many strict tools (${strict.length}). The maximum number of strict tools supported is ${maxStrictTools}.`,
    )
  const problem = anthropicComplexityProblem(strict.map((tool) => toObject(tool['input_schema'])))
  if (problem !== undefined) throw new RequestRejection(problem)
}

export function readToolChoice({ type, name }: JsonObject, tools: readonly Tool[]): ToolChoice {
  if (type === undefined) return 'auto'
  if (type === 'none') return 'none'
  if (type === 'any') return 'required'
  if (type === 'auto') return 'auto'

  if (!tools.some((tool) => tool.name === name))
    throw new RequestRejection(`tool_choice: Tool '${String(name)}' not found in provided tools`)
  return { name: String(name) }
}
