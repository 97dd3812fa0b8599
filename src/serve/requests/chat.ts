import {
  answerSchema,
  chooseTools,
  contentParts,
  efforts,
  functionTool,
  openaiRules,
  thinkingOf,
  toolsIn,
} from './openai.ts'
import { Place, type Rules } from './place.ts'
import { asList, asNumber, asString, isObject, type JsonObject } from './read.ts'
import { notDone, openaiWords, Refusal, tooLong } from './refusal.ts'
import {
  type Message,
  type ModelRequest,
  type Part,
  requireMessages,
  type Tool,
} from './request.ts'

const rules: Rules = {
  ...openaiRules,
  messages: { kind: 'array' },
  max_tokens: { kind: 'integer', least: 1 },
  max_completion_tokens: { kind: 'integer', least: 1 },
  frequency_penalty: { kind: 'number', least: -2, most: 2 },
  presence_penalty: { kind: 'number', least: -2, most: 2 },
  n: { kind: 'integer', least: 1, most: 128 },
  seed: { kind: 'integer' },
  logprobs: { kind: 'boolean' },
  logit_bias: { kind: 'object' },
  response_format: { kind: 'object' },
  stream_options: { kind: 'object' },
  functions: { kind: 'array' },
  reasoning_effort: { kind: 'choice', choices: efforts },
}

const roles = ['system', 'assistant', 'user', 'function', 'tool', 'developer']
const contentTypes = ['text', 'image_url', 'input_audio', 'refusal', 'audio', 'file']

/**
 * Reads the body of POST /v1/chat/completions.
 *
 * @throws InvalidRequest, Refusal
 */
export function readChatRequest(body: JsonObject): ModelRequest {
  requireMessages(body)
  const whole = new Place(body, openaiWords)
  whole.check(rules)
  refuseWhatIsNotDone(body)

  const places = whole.at('messages').list()
  const list = places.map((message) => message.object())
  const messages = places.map(readMessage)
  checkToolTurns(list)
  const choice = body['tool_choice'] ?? body['function_call']
  return {
    model: asString(body['model']) ?? '',
    messages,
    ...choose(new Place(choice, openaiWords, ['tool_choice']), readTools(whole)),
    isParallel: body['parallel_tool_calls'] !== false && !isLegacy(body),
    thinking: thinkingOf(body['reasoning_effort']),
    maxOutputTokens: asNumber(body['max_completion_tokens'] ?? body['max_tokens']),
    stopSequences: readStop(whole.at('stop')),
    outputSchema: answerSchema(whole.at('response_format'), {
      said: list.map(({ content }) => content),
      withoutWord: [
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        'messages',
      ],
      schemaIn: (format) => format.at('json_schema').needed(),
      isSchemaNeeded: false,
    }),
  }
}

/** Whether the tools are named `functions`, as before November 2023; then calls are too. */
export function isLegacy(body: JsonObject): boolean {
  return asList(body['functions']).length > 0
}

function refuseWhatIsNotDone(body: JsonObject): void {
  const { n, logprobs, modalities, audio, web_search_options: search } = body
  if (typeof n === 'number' && n > 1)
    throw notDone('several answers to one request (n above 1)', 'n')
  if (logprobs === true) throw notDone('log probabilities', 'logprobs')
  if (body['top_logprobs'] !== undefined && body['top_logprobs'] !== null)
    throw new Refusal(
      "Invalid value for 'top_logprobs': 'top_logprobs' is only allowed when 'logprobs' is set to true.",
      'top_logprobs',
    )
  if (isObject(audio) || asList(modalities).includes('audio'))
    throw notDone('spoken answers', 'modalities')
  if (isObject(search)) throw notDone('web search', 'web_search_options')
}

function readStop(stop: Place): readonly string[] {
  if (typeof stop.value === 'string') return [stop.value]
  const list = stop.list()
  if (list.length > 4) throw tooLong('stop', 4, list)
  return list.map((sequence) => sequence.string())
}

function readMessage(message: Place, index: number): Message {
  const role = message.at('role').oneOf(roles)
  const content = message.at('content')
  const { refusal, audio } = message.object()
  refuseEmpty(content)
  const parts = content.isAbsent ? [] : contentParts(content, contentTypes)
  const calls = role === 'assistant' ? readCalls(message) : []

  const isSilent = calls.length > 0 || typeof refusal === 'string' || isObject(audio)
  if (content.isAbsent && !isSilent)
    throw new Refusal(
      "Invalid value for 'content': expected a string, got null.",
      `messages.[${index}].content`,
    )

  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', parts }
    case 'assistant':
      return { role: 'assistant', parts: [...parts, ...calls] }
    case 'tool':
      return { role: 'tool', parts: [toolResult(toolCallId(message.object(), index), parts)] }
    case 'function':
      return { role: 'tool', parts: [toolResult(message.at('name').string(), parts)] }
    default:
      return { role: 'user', parts }
  }
}

/** The calls of an assistant's message, also the one call of a legacy one, whose name is its id. */
function readCalls(message: Place): readonly Part[] {
  const legacy = message.at('function_call')
  if (isObject(legacy.value)) {
    const name = legacy.at('name').string()
    return [{ type: 'tool-call', id: name, name }]
  }

  const calls = message.at('tool_calls')
  refuseEmpty(calls)
  return calls.list().map((call) => {
    const id = call.at('id').string()
    const [type, details] = variantOf(call)
    details.at(type === 'function' ? 'arguments' : 'input').string()
    return { type: 'tool-call', id, name: details.at('name').string() }
  })
}

function refuseEmpty({ value, where }: Place): void {
  if (Array.isArray(value) && value.length === 0)
    throw new Refusal(
      `Invalid '${where}': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
      where,
      'empty_array',
    )
}

/** What stands in `{type: T, T: {…}}`, a tool or its call. */
function variantOf(entry: Place): readonly ['function' | 'custom', Place] {
  const place = entry.at('type')
  const type = place.string()
  if (type !== 'function' && type !== 'custom') throw place.notAChoice(['function', 'custom'])
  return [type, entry.at(type).needed()]
}

function toolCallId(message: JsonObject, index: number): string {
  const id = message['tool_call_id']
  if (typeof id === 'string') return id
  throw new Refusal(
    "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
    `messages.[${index}].tool_call_id`,
  )
}

function toolResult(id: string, parts: readonly Part[]): Part {
  const texts = parts.flatMap((part) => (part.type === 'text' ? part.text : []))
  return { type: 'tool-result', id, text: texts.join('\n') }
}

/**
 * Each call is answered by the messages right behind it, and each answer has its call.
 *
 * @param messages of which each has been read
 */
function checkToolTurns(messages: readonly JsonObject[]): void {
  let called: ReadonlySet<unknown> | undefined
  let open = new Set<unknown>()
  for (const [index, message] of messages.entries()) {
    const { role, tool_call_id: id } = message
    if (role === 'tool') {
      checkAnswer(id, index)
      continue
    }
    checkAllAnswered(index)
    const ids = asList(message['tool_calls']).map((call) => isObject(call) && call['id'])
    called = role === 'assistant' && ids.length > 0 ? new Set(ids) : undefined
    open = new Set(called)
  }
  checkAllAnswered(messages.length)

  function checkAnswer(id: unknown, index: number): void {
    if (called === undefined)
      throw new Refusal(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        `messages.[${index}].role`,
      )
    if (!called.has(id))
      throw new Refusal(
        `Invalid parameter: 'tool_call_id' of '${String(id)}' not found in 'tool_calls' of previous message.`,
        `messages.[${index}].tool_call_id`,
      )
    if (!open.delete(id))
      throw new Refusal(
        `Invalid parameter: Duplicate value for 'tool_call_id' of '${String(id)}'.`,
        `messages.[${index}].tool_call_id`,
      )
  }

  function checkAllAnswered(index: number): void {
    if (open.size > 0)
      throw new Refusal(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
        `messages.[${index}].role`,
      )
  }
}

function readTools(body: Place): readonly Tool[] {
  const legacy = body.at('functions').list()
  if (legacy.length > 0) return legacy.map((details) => functionTool(details))

  return toolsIn(body).map((tool) => {
    const [type, details] = variantOf(tool)
    if (type === 'function') return functionTool(details)
    return { name: details.at('name').string(), kind: 'custom', parameters: undefined }
  })
}

function choose(choice: Place, tools: readonly Tool[]) {
  if (!choice.isAbsent && tools.length === 0)
    throw new Refusal(
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      'tool_choice',
    )
  return chooseTools(choice, tools, {
    allowedIn: (allowed) => allowed.at('allowed_tools'),
    // The legacy form is the name alone.
    chosenName: (chosen) => (chosen['type'] === undefined ? chosen['name'] : nameIn(chosen)),
    allowedName: nameIn,
  })
}

/** The name in `{type: T, T: {name}}`. */
function nameIn(entry: JsonObject): unknown {
  const details = entry[String(entry['type'])]
  return isObject(details) ? details['name'] : undefined
}
