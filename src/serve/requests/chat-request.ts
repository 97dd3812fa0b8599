import {
  asList,
  asNumber,
  asString,
  isMissing,
  isObject,
  type JsonObject,
  listObjects,
  toObject,
} from './json.ts'
import type { Tool } from './model-request.ts'
import {
  answerSchema,
  checkFile,
  checkImage,
  chooseTools,
  functionTool,
  lacksWordJson,
  thinkingForEffort,
} from './openai.ts'
import { createReader } from './reader.ts'
import { RequestRejection } from './rejection.ts'
import { readChatTurns } from './turns/chat-turns.ts'

/** Reads the body of POST /v1/chat/completions. */
export const readChatRequest = createReader('chat', (body, { checksSchemas }) => {
  const messages = listObjects(body['messages'])
  for (const [index, message] of messages.entries()) checkMessage(message, index)
  checkChatToolTurns(messages)

  const { stop, max_tokens, max_completion_tokens } = body
  return {
    model: asString(body['model']) ?? '',
    turns: readChatTurns(body),
    ...chooseTools(
      body['tool_choice'] ?? body['function_call'],
      readChatTools(body, checksSchemas),
    ),
    isParallel: body['parallel_tool_calls'] !== false && !isLegacy(body),
    thinking: thinkingForEffort(body['reasoning_effort']),
    maxOutputTokens: asNumber(max_completion_tokens ?? max_tokens),
    stopSequences: typeof stop === 'string' ? [stop] : (asList(stop) as string[]),
    outputSchema: readChatFormat(body, messages, checksSchemas),
  }
})

/** Whether the request has `functions` instead of tools, as before November 2023. Its answers have `function_call`. */
export function isLegacy(body: JsonObject): boolean {
  return asList(body['functions']).length > 0
}

function checkMessage(message: JsonObject, index: number): void {
  for (const [partIndex, { image_url, file }] of listObjects(message['content']).entries()) {
    const place = `messages[${index}].content[${partIndex}]`
    checkImage(toObject(image_url)['url'], `${place}.image_url.url`)
    checkFile(toObject(file)['file_data'], `${place}.file.file_data`)
  }

  const { role, content, refusal, audio, function_call, tool_calls } = message
  const hasCalls = isObject(function_call) || asList(tool_calls).length > 0
  const hasOtherContent = hasCalls || typeof refusal === 'string' || isObject(audio)
  const mayLackContent = role === 'assistant' && hasOtherContent

  if (isMissing(content) && !mayLackContent)
    throw new RequestRejection("Invalid value for 'content': expected a string, got null.", {
      param: `messages.[${index}].content`,
    })
}

/** Checks that the results of all calls follow directly, and that each result has a call. */
function checkChatToolTurns(messages: readonly JsonObject[]): void {
  /** The calls of the last message before the results. */
  let calls: ReadonlySet<unknown> | undefined
  /** Those without a result so far. */
  let openCalls = new Set<unknown>()

  for (const [index, message] of messages.entries()) {
    if (message['role'] === 'tool') {
      checkResult(message['tool_call_id'], index)
      continue
    }
    checkAllAnswered(index)
    const ids = listObjects(message['tool_calls']).map((call) => call['id'])
    calls = ids.length > 0 ? new Set(ids) : undefined
    openCalls = new Set(calls)
  }

  checkAllAnswered(messages.length)

  function checkResult(id: unknown, index: number): void {
    if (calls === undefined)
      throw new RequestRejection(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        { param: `messages.[${index}].role` },
      )

    const place = `messages.[${index}].tool_call_id`
    if (!calls.has(id))
      throw new RequestRejection(
        `Invalid parameter: 'tool_call_id' of '${String(id)}' not found in 'tool_calls' of previous message.`,
        { param: place },
      )
    if (!openCalls.delete(id))
      throw new RequestRejection(
        `Invalid parameter: Duplicate value for 'tool_call_id' of '${String(id)}'.`,
        { param: place },
      )
  }

  function checkAllAnswered(index: number): void {
    if (openCalls.size > 0)
      throw new RequestRejection(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...openCalls].join(', ')}`,
        { param: `messages.[${index}].role` },
      )
  }
}

function readChatTools(body: JsonObject, checksSchemas: boolean): readonly Tool[] {
  const functions = listObjects(body['functions'])
  if (functions.length > 0)
    return functions.map((details, index) =>
      functionTool(details, { place: `functions[${index}]`, checksSchemas }),
    )

  return listObjects(body['tools']).map((tool, index) => {
    if (isObject(tool['function']))
      return functionTool(tool['function'], { place: `tools[${index}].function`, checksSchemas })
    const name = String(toObject(tool['custom'])['name'])
    return { name, kind: 'custom', parameters: undefined }
  })
}

function readChatFormat(
  body: JsonObject,
  messages: readonly JsonObject[],
  checksSchemas: boolean,
): unknown {
  const format = toObject(body['response_format'])
  const contents = messages.map(({ content }) => content)
  if (lacksWordJson(format, contents))
    throw new RequestRejection(
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      { param: 'messages' },
    )
  return answerSchema(format, { place: 'response_format.json_schema', checksSchemas })
}
