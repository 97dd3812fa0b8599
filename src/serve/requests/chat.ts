import { checkShape } from './check.ts'
import { checkFamily, checkWindow } from './families.ts'
import {
  answerSchema,
  checkFile,
  checkImage,
  chooseTools,
  functionTool,
  lacksWordJson,
  thinkingForEffort,
} from './openai.ts'
import {
  asList,
  asNumber,
  asString,
  isObject,
  type JsonObject,
  listObjects,
  toObject,
} from './read.ts'
import { readChatTurns } from './reading/chat.ts'
import { Refusal } from './refusal.ts'
import { type ModelRequest, type RequestContext, requireMessages, type Tool } from './request.ts'

/**
 * Reads the body of POST /v1/chat/completions.
 *
 * @throws InvalidRequest, Refusal
 */
export function readChatRequest(
  body: JsonObject,
  { families = 'vendor' }: RequestContext = {},
): ModelRequest {
  requireMessages(body)
  for (const message of listObjects(body['messages']).entries()) checkImages(message)
  checkShape('chat', body)
  checkCombinations(body)
  const messages = listObjects(body['messages'])
  for (const [index, message] of messages.entries()) checkMessage(message, index)
  checkChatToolTurns(messages)

  const { stop, reasoning_effort: effort, max_tokens, max_completion_tokens } = body
  const request: ModelRequest = {
    model: asString(body['model']) ?? '',
    messages: readChatTurns(body),
    ...chooseChatTools(body, readChatTools(body)),
    isParallel: body['parallel_tool_calls'] !== false && !isLegacy(body),
    thinking: thinkingForEffort(effort),
    maxOutputTokens: asNumber(max_completion_tokens ?? max_tokens),
    stopSequences: typeof stop === 'string' ? [stop] : (asList(stop) as string[]),
    outputSchema: readChatFormat(body, messages),
  }
  if (families === 'vendor') checkFamily('chat', body)

  return checkWindow('chat', request)
}

/** Whether the request has `functions` instead of tools, as before November 2023. Calls then do too. */
export function isLegacy(body: JsonObject): boolean {
  return asList(body['functions']).length > 0
}

/** The combinations that the vendor rejects although each member is valid alone. */
const combinations: readonly {
  readonly param: string
  readonly isRejected: (body: JsonObject) => boolean
  readonly message: string
  readonly code?: string
}[] = [
  {
    param: 'stream_options',
    isRejected: ({ stream_options: options, stream }) => isObject(options) && stream !== true,
    message: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
  },
  {
    param: 'max_tokens',
    isRejected: ({ max_tokens, max_completion_tokens }) =>
      typeof max_tokens === 'number' && typeof max_completion_tokens === 'number',
    message: "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
    code: 'invalid_parameter_combination',
  },
  {
    param: 'top_logprobs',
    isRejected: ({ top_logprobs }) => typeof top_logprobs === 'number',
    message:
      "Invalid value for 'top_logprobs': 'top_logprobs' is only allowed when 'logprobs' is set to true.",
  },
  // https://github.com/openai/swarm/issues/30
  {
    param: 'parallel_tool_calls',
    isRejected: ({ parallel_tool_calls: parallel, tools }) =>
      typeof parallel === 'boolean' && asList(tools).length === 0,
    message:
      "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
  },
  // https://github.com/QwenLM/qwen-code/issues/243 and https://github.com/looplj/axonhub/issues/1380
  {
    param: 'metadata',
    isRejected: ({ metadata, store }) =>
      isObject(metadata) && Object.keys(metadata).length > 0 && store !== true,
    message: "The 'metadata' parameter is only allowed when 'store' is enabled.",
  },
]

function checkCombinations(body: JsonObject): void {
  for (const { param, isRejected, message, code } of combinations)
    if (isRejected(body)) throw new Refusal(message, param, code)
}

function checkMessage(message: JsonObject, index: number): void {
  for (const [at, { type, image_url, file }] of listObjects(message['content']).entries()) {
    const where = `messages[${index}].content[${at}]`
    checkImage(toObject(image_url)['url'], `${where}.image_url.url`)
    if (type === 'file') checkFile(toObject(file), ['file_data', 'file_id'], `${where}.file`)
  }
  const { role, content, refusal, audio, function_call, tool_calls, tool_call_id } = message
  const calls = isObject(function_call) || asList(tool_calls).length > 0
  const isSilent = role === 'assistant' && (calls || typeof refusal === 'string' || isObject(audio))

  if ((content === undefined || content === null) && !isSilent)
    throw new Refusal(
      "Invalid value for 'content': expected a string, got null.",
      `messages.[${index}].content`,
    )
  if (role === 'tool' && typeof tool_call_id !== 'string')
    throw new Refusal(
      "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
      `messages.[${index}].tool_call_id`,
    )
}

/** https://github.com/openai/openai-node/issues/1030 */
function checkImages([index, { role, content }]: readonly [number, JsonObject]): void {
  if (role === 'user' || !listObjects(content).some(({ type }) => type === 'image_url')) return
  throw new Refusal(
    `Invalid 'messages[${index}]'. Image URLs are only allowed for messages with role 'user', but this message with role '${String(role)}' contains an image URL.`,
    `messages[${index}]`,
    'invalid_value',
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

function chooseChatTools(body: JsonObject, tools: readonly Tool[]) {
  const choice = body['tool_choice'] ?? body['function_call']
  if (choice !== undefined && choice !== null && tools.length === 0)
    throw new Refusal(
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      'tool_choice',
    )
  return chooseTools(choice, tools)
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
