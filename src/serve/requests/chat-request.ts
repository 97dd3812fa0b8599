import {
  asList,
  asNumber,
  asString,
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
import { Refusal } from './refusal.ts'
import { readChatTurns } from './turns/chat-turns.ts'

/** Reads the body of POST /v1/chat/completions. */
export const readChatRequest = createReader('chat', (body) => {
  const messages = listObjects(body['messages'])
  for (const [index, message] of messages.entries()) checkMessage(message, index)
  checkChatToolTurns(messages)

  const { stop, max_tokens, max_completion_tokens } = body
  return {
    model: asString(body['model']) ?? '',
    messages: readChatTurns(body),
    ...chooseTools(body['tool_choice'] ?? body['function_call'], readChatTools(body)),
    isParallel: body['parallel_tool_calls'] !== false && !isLegacy(body),
    thinking: thinkingForEffort(body['reasoning_effort']),
    maxOutputTokens: asNumber(max_completion_tokens ?? max_tokens),
    stopSequences: typeof stop === 'string' ? [stop] : (asList(stop) as string[]),
    outputSchema: readChatFormat(body, messages),
  }
})

/** Whether the request has `functions` instead of tools, as before November 2023. Calls then do too. */
export function isLegacy(body: JsonObject): boolean {
  return asList(body['functions']).length > 0
}

function checkMessage(message: JsonObject, index: number): void {
  for (const [at, { image_url, file }] of listObjects(message['content']).entries()) {
    const where = `messages[${index}].content[${at}]`
    checkImage(toObject(image_url)['url'], `${where}.image_url.url`)
    checkFile(toObject(file)['file_data'], `${where}.file.file_data`)
  }
  const { role, content, refusal, audio, function_call, tool_calls } = message
  const calls = isObject(function_call) || asList(tool_calls).length > 0
  const isSilent = role === 'assistant' && (calls || typeof refusal === 'string' || isObject(audio))

  if ((content === undefined || content === null) && !isSilent)
    throw new Refusal(
      "Invalid value for 'content': expected a string, got null.",
      `messages.[${index}].content`,
    )
}

/** Checks that the results of all calls follow directly, and that each result has a call. */
function checkChatToolTurns(messages: readonly JsonObject[]): void {
  let called: ReadonlySet<unknown> | undefined
  let open = new Set<unknown>()
  for (const [index, message] of messages.entries()) {
    const { role, tool_call_id: id } = message
    if (role === 'tool') {
      checkAnswer(id, index)
      continue
    }
    checkAllAnswered(index)
    const ids = listObjects(message['tool_calls']).map((call) => call['id'])
    called = ids.length > 0 ? new Set(ids) : undefined
    open = new Set(called)
  }

  checkAllAnswered(messages.length)

  function checkAnswer(id: unknown, index: number): void {
    if (called === undefined)
      throw new Refusal(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        `messages.[${index}].role`,
      )

    const problem = !called.has(id)
      ? `'tool_call_id' of '${String(id)}' not found in 'tool_calls' of previous message.`
      : open.delete(id)
        ? undefined
        : `Duplicate value for 'tool_call_id' of '${String(id)}'.`
    if (problem !== undefined)
      throw new Refusal(`Invalid parameter: ${problem}`, `messages.[${index}].tool_call_id`)
  }

  function checkAllAnswered(index: number): void {
    if (open.size > 0)
      throw new Refusal(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
        `messages.[${index}].role`,
      )
  }
}

function readChatTools(body: JsonObject): readonly Tool[] {
  const legacy = listObjects(body['functions'])
  if (legacy.length > 0)
    return legacy.map((details, index) => functionTool(details, `functions[${index}]`))

  return listObjects(body['tools']).map((tool, index) => {
    if (isObject(tool['function']))
      return functionTool(tool['function'], `tools[${index}].function`)
    const name = String(toObject(tool['custom'])['name'])
    return { name, kind: 'custom', parameters: undefined }
  })
}

function readChatFormat(body: JsonObject, messages: readonly JsonObject[]): unknown {
  const format = toObject(body['response_format'])
  const said = messages.map(({ content }) => content)
  if (lacksWordJson(format, said))
    throw new Refusal(
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      'messages',
    )
  return answerSchema(format, 'response_format.json_schema')
}
