/** The parts of a request that chat and responses have in common. */
import { invalidKeyword, openaiSchemaProblem, openaiStrictProblem } from './checks/json-schemas.ts'
import { dataUrlType } from './checks/media.ts'
import { asString, isObject, type JsonObject, listObjects, toObject } from './json.ts'
import type { ModelRequest, Tool } from './model-request.ts'
import { RequestRejection, rewrittenHint } from './rejection.ts'

/** Whether a model thinks with this reasoning effort. */
export function thinkingForEffort(effort: unknown): 'always' | 'sometimes' | 'never' {
  if (effort === 'none' || effort === 'minimal') return 'never'
  return typeof effort === 'string' ? 'always' : 'sometimes'
}

/** Where a schema is, and whether the vendor's rules for schemas count for the requested model. */
interface SchemaContext {
  /** The path of the member that has the schema. */
  readonly place: string
  readonly checksSchemas: boolean
}

export interface ToolContext extends SchemaContext {
  readonly namespace?: string
}

/** @throws RequestRejection if the vendor rejects the schema */
export function functionTool(tool: JsonObject, context: ToolContext): Tool {
  const { description, parameters, strict } = tool
  const { place, namespace } = context
  const name = String(tool['name'])
  const problem = isObject(parameters)
    ? schemaProblem(parameters, { ...context, strict, use: 'tool' })
    : undefined
  if (problem !== undefined)
    throw new RequestRejection(`Invalid schema for function '${name}': ${problem}`, {
      param: `${place}.parameters`,
      code: 'invalid_function_parameters',
      hint: context.checksSchemas ? rewrittenHint : undefined,
    })

  return { name, kind: 'function', description: asString(description), parameters, namespace }
}

function schemaProblem(
  schema: JsonObject,
  { checksSchemas, strict, use }: SchemaContext & { strict: unknown; use: 'tool' | 'answer' },
): string | undefined {
  if (!checksSchemas) {
    const invalid = invalidKeyword(schema)
    return invalid && `${invalid}.`
  }
  const problem = openaiSchemaProblem(schema, use)
  return problem ?? (strict === true ? openaiStrictProblem(schema) : undefined)
}

/** Whether the answer must be JSON although no message contains the word. */
export function lacksWordJson({ type }: JsonObject, messages: unknown): boolean {
  return type === 'json_object' && !/json/i.test(JSON.stringify(messages))
}

/**
 * The schema of the answer. Undefined: free text.
 *
 * @throws RequestRejection if it is not the schema of an object, because the vendor accepts no other
 */
export function answerSchema(format: JsonObject, context: SchemaContext): unknown {
  const { type } = format
  if (type === undefined || type === 'text') return undefined
  if (type === 'json_object') return { type: 'object' }

  const { name, schema, strict } = toObject(format['json_schema'] ?? format)
  if (!isObject(schema)) return { type: 'object' }
  const problem = schemaProblem(schema, { ...context, strict, use: 'answer' })
  if (problem === undefined) return schema
  throw new RequestRejection(`Invalid schema for response_format '${String(name)}': ${problem}`, {
    param: `${context.place}.schema`,
    code: 'invalid_json_schema',
    hint: context.checksSchemas ? rewrittenHint : undefined,
  })
}

/**
 * Checks an image: an address, or one of the four types in base64.
 *
 * @throws RequestRejection
 */
export function checkImage(url: unknown, place: string): void {
  if (typeof url !== 'string' || /^https?:\/\//i.test(url)) return
  const type = dataUrlType(url)
  // https://github.com/Alibaba-NLP/OmniSearch/issues/3
  if (type === undefined)
    throw new RequestRejection(
      `Invalid image URL: '${place}'. Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got a value without the 'data:' prefix.`,
      { param: place, code: 'invalid_value' },
    )
  if (!type.startsWith('image/'))
    throw new RequestRejection(
      "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
      { param: place, code: 'invalid_image_format' },
    )
}

/**
 * Checks a PDF in a request.
 *
 * @throws RequestRejection
 */
export function checkFile(data: unknown, place: string): void {
  if (typeof data !== 'string' || !data.startsWith('data:application/pdf')) return
  if (dataUrlType(data) !== 'application/pdf')
    throw new RequestRejection(`Invalid file data: '${place}'. The PDF could not be read.`, {
      param: place,
      code: 'invalid_value',
    })
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

  // Chat has a separate member for them.
  const { mode, tools: allowed } = toObject(choice['allowed_tools'] ?? choice)
  const names = listObjects(allowed).map((entry) => findToolName(tools, entry))
  return {
    tools: tools.filter(({ name }) => names.includes(name)),
    toolChoice: mode === 'required' ? mode : 'auto',
  }
}

/**
 * Finds the tool for `{type, name}`, for `{type: T, T: {name}}` of chat, or for `{name}` as before
 * November 2023.
 *
 * @throws RequestRejection if no tool has that name
 */
function findToolName(tools: readonly Tool[], choice: JsonObject): string {
  // A tool that the vendor defines has only a type.
  const { type, name = toObject(choice[String(type)])['name'] ?? type } = choice
  const chosenTool = tools.find((tool) => tool.name === name)
  if (chosenTool !== undefined) return chosenTool.name
  throw new RequestRejection(`Tool choice '${String(name)}' not found in 'tools' parameter.`, {
    param: 'tool_choice',
  })
}
