import {
  type ClientToolType,
  checkSearch,
  isResponsesClientTool,
  isSkippedTool,
  responsesClientTools,
} from './checks/hosted-tools.ts'
import { asNumber, asString, type JsonObject, listObjects, toObject } from './json.ts'
import type { Tool } from './model-request.ts'
import {
  answerSchema,
  checkFile,
  checkImage,
  chooseTools,
  functionTool,
  lacksWordJson,
  type ToolContext,
  thinkingForEffort,
} from './openai.ts'
import { createReader } from './reader.ts'
import { RequestRejection, unsupportedFeature } from './rejection.ts'
import { isSeal } from './seal.ts'
import { readResponsesTurns } from './turns/responses-turns.ts'

/** Reads the body of POST /v1/responses. */
export const readResponsesRequest = createReader('responses', (body, { checksSchemas }) => {
  const items = inputItems(body['input'])
  checkUnique(items)
  for (const [index, item] of items.entries()) checkParts(item, `input[${index}]`)
  checkReasoning(items)
  checkResponsesToolTurns(items)

  return {
    model: asString(body['model']) ?? '',
    turns: readResponsesTurns(body),
    ...chooseTools(body['tool_choice'], readResponsesTools(body, items, checksSchemas)),
    isParallel: body['parallel_tool_calls'] !== false,
    thinking: thinkingForEffort(toObject(body['reasoning'])['effort']),
    alteredThought: findAlteredReasoning(items),
    maxOutputTokens: asNumber(body['max_output_tokens']),
    stopSequences: [],
    outputSchema: readResponsesFormat(body, checksSchemas),
  }
})

/** The items of an input. A string is one message of the user. */
export function inputItems(input: unknown): readonly JsonObject[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return listObjects(input)
}

/** Checks the images and files of a message, or of the result of a call. */
function checkParts({ content, output }: JsonObject, place: string): void {
  for (const [member, parts] of Object.entries({ content, output }))
    for (const [index, part] of listObjects(parts).entries()) {
      const partPlace = `${place}.${member}[${index}]`
      checkImage(part['image_url'], `${partPlace}.image_url`)
      checkFile(part['file_data'], `${partPlace}.file_data`)
    }
}

/**
 * Checks that the model's output follows each thought. Codex returns encrypted thoughts alone after an
 * interruption (https://github.com/openai/openai-node/issues/1567, read 2026-11-26).
 */
function checkReasoning(items: readonly JsonObject[]): void {
  for (const [index, { type, id, encrypted_content: seal }] of items.entries()) {
    if (type !== 'reasoning' || typeof seal === 'string') continue
    const next = items.slice(index + 1).find((item) => item['type'] !== 'reasoning')
    if (next === undefined || isInput(next))
      throw new RequestRejection(
        `Item '${String(id)}' of type 'reasoning' was provided without its required following item.`,
        { param: 'input' },
      )
  }
}

/** Whether an item comes from the client, not from the model. */
function isInput({ type = 'message', role }: JsonObject): boolean {
  return type === 'message' ? role !== 'assistant' : String(type).endsWith('_output')
}

function checkUnique(items: readonly JsonObject[]): void {
  const ids = items.flatMap(({ id }) => (typeof id === 'string' ? [id] : []))
  const repeated = ids.find((id, index) => ids.indexOf(id) < index)
  if (repeated !== undefined)
    throw new RequestRejection(
      `Duplicate item found with id ${repeated}. Remove duplicate items from your input and try again.`,
      { param: 'input' },
    )
}

function findAlteredReasoning(items: readonly JsonObject[]): RequestRejection | undefined {
  const altered = items.find(
    ({ type, encrypted_content: seal }) =>
      type === 'reasoning' && typeof seal === 'string' && !isSeal(seal),
  )
  return (
    altered &&
    new RequestRejection(
      `The encrypted content for item ${String(altered['id'])} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
      { code: 'invalid_encrypted_content' },
    )
  )
}

/** The types of calls that the client executes, with the vendor's names for them. */
const callKinds: Readonly<Record<string, string>> = {
  function_call: 'function call',
  custom_tool_call: 'custom tool call',
  computer_call: 'computer call',
  local_shell_call: 'local shell call',
  shell_call: 'shell call',
  apply_patch_call: 'apply patch call',
}

/** Checks that each call has a result after it, and each result a call before it. */
function checkResponsesToolTurns(items: readonly JsonObject[]): void {
  /** The kinds of the calls by ID: of all, and of those without a result so far. */
  const calls = new Map<string, string>()
  const openCalls = new Map<string, string>()

  for (const { type, id, call_id: callId } of items) {
    const [, callType, isResult] = /^(\w+_call)(_output)?$/.exec(String(type)) ?? []
    const kind = callKinds[callType ?? '']
    // By the types of openai 7.59.0, the result of a local shell has `id`; clients send `call_id`.
    const call_id = callId ?? (isResult === undefined ? undefined : id)
    if (kind === undefined || typeof call_id !== 'string') continue

    if (isResult === undefined) {
      calls.set(call_id, kind)
      openCalls.set(call_id, kind)
      continue
    }

    if (calls.get(call_id) !== kind)
      throw new RequestRejection(`No tool call found for ${kind} output with call_id ${call_id}.`, {
        param: 'input',
      })
    openCalls.delete(call_id)
  }

  for (const [id, kind] of openCalls)
    throw new RequestRejection(`No tool output found for ${kind} ${id}.`, { param: 'input' })
}

/**
 * Reads the tools of the member `tools` and of the input. Codex 0.169.0 sends the tools of some models
 * (gpt-5.6-sol) in an input item instead (2026-11-21).
 */
function readResponsesTools(
  body: JsonObject,
  items: readonly JsonObject[],
  checksSchemas: boolean,
): readonly Tool[] {
  checkSearch(listObjects(body['tools']), toObject(body['tool_choice']))
  const inputTools = items.flatMap((item, index) =>
    item['type'] === 'additional_tools'
      ? readToolList(item, { place: `input[${index}].tools`, checksSchemas })
      : [],
  )
  return [...readToolList(body, { place: 'tools', checksSchemas }), ...inputTools]
}

function readToolList({ tools }: JsonObject, context: ToolContext): readonly Tool[] {
  return listObjects(tools).flatMap((tool, index) =>
    readResponsesTool(tool, { ...context, place: `${context.place}[${index}]` }),
  )
}

function readResponsesTool(tool: JsonObject, context: ToolContext): readonly Tool[] {
  const { type, description } = tool
  const { place, namespace } = context
  const name = String(tool['name'])

  switch (type) {
    case 'function':
      return [functionTool(tool, context)]
    case 'custom': {
      const nested = nestedTools(asString(description) ?? '')
      return [{ name, kind: 'custom', parameters: undefined, namespace, nested }]
    }
    case 'namespace':
      return readToolList(tool, { ...context, place: `${place}.tools`, namespace: name })
    default:
      if (isResponsesClientTool(tool)) {
        const vendorType = type as ClientToolType
        const parameters = responsesClientTools[vendorType]
        return [{ name: vendorType, kind: 'function', parameters, vendorType }]
      }
      if (isSkippedTool(tool)) return []
      throw unsupportedFeature(`the vendor's own tool ${String(type)}`, /^\w+/.exec(place)![0])
  }
}

/** The tools that a script tool declares in its description, such as `exec` of Codex 0.169.0. */
function nestedTools(description: string): readonly string[] {
  return [...description.matchAll(/^declare const tools: \{ (\w+)\(/gm)].map(([, name]) => name!)
}

function readResponsesFormat(body: JsonObject, checksSchemas: boolean): unknown {
  const format = toObject(toObject(body['text'])['format'])
  if (lacksWordJson(format, body['input']))
    throw new RequestRejection(
      "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
      { param: 'input' },
    )
  return answerSchema(format, { place: 'text.format', checksSchemas })
}
