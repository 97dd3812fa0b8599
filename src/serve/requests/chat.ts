import { asList, asNumber, asString, isObject, type JsonObject } from './read.ts'
import {
  checkMembers,
  emptyList,
  listAt,
  notDone,
  objectAt,
  openaiWords,
  type Path,
  Refusal,
  type Rules,
  stringAt,
} from './refusal.ts'
import {
  InvalidRequest,
  type Message,
  type ModelRequest,
  type Part,
  type Tool,
  type ToolChoice,
} from './request.ts'
import {
  allowedTools,
  answerSchema,
  checkName,
  checkToolCount,
  efforts,
  functionTool,
  openaiRules,
  thinkingOf,
} from './tools.ts'

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
  const { messages, tool_choice: choice } = body
  if (
    messages === undefined ||
    messages === null ||
    (Array.isArray(messages) && messages.length === 0)
  )
    throw new InvalidRequest('field messages is required')
  checkMembers(body, rules, openaiWords)
  refuseWhatIsNotDone(body)

  const list = asList(messages).map((message, index) =>
    objectAt(message, ['messages', index], openaiWords),
  )
  const read = list.map(readMessage)
  checkToolTurns(list)
  return {
    model: asString(body['model']) ?? '',
    messages: read,
    ...chooseTools(choice ?? body['function_call'], readTools(body)),
    isParallel: body['parallel_tool_calls'] !== false && !isLegacy(body),
    thinking: thinkingOf(body['reasoning_effort']),
    maxOutputTokens: asNumber(body['max_completion_tokens'] ?? body['max_tokens']),
    stopSequences: readStop(body['stop']),
    outputSchema: readFormat(body['response_format'], list),
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

function readStop(stop: unknown): readonly string[] {
  if (stop === undefined || stop === null) return []
  const list = typeof stop === 'string' ? [stop] : stop
  if (!Array.isArray(list)) throw openaiWords.wrongKind(['stop'], { kind: 'array' }, stop)
  if (list.length > 4)
    throw new Refusal(
      `Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length ${list.length} instead.`,
      'stop',
      'array_above_max_length',
    )
  return list.map((sequence, index) => stringAt(sequence, ['stop', index], openaiWords))
}

function readMessage(message: JsonObject, index: number): Message {
  const path = ['messages', index]
  const { role, content, refusal, audio } = message
  if (role === undefined) throw openaiWords.missing([...path, 'role'])
  if (!roles.includes(role as string)) throw openaiWords.notAChoice([...path, 'role'], roles, role)

  const parts = readContent(content, [...path, 'content'])
  const calls = role === 'assistant' ? readCalls(message, path) : []
  const isSilent = calls.length > 0 || typeof refusal === 'string' || isObject(audio)
  if ((content === undefined || content === null) && !isSilent)
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
      return { role: 'tool', parts: [resultOf(toolCallId(message, index), parts)] }
    case 'function':
      return {
        role: 'tool',
        parts: [resultOf(stringAt(message['name'], [...path, 'name'], openaiWords), parts)],
      }
    default:
      return { role: 'user', parts }
  }
}

function readContent(content: unknown, path: Path): readonly Part[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw openaiWords.wrongKind(path, { kind: 'content' }, content)
  if (content.length === 0) throw emptyList(path)
  return content.map((block, index): Part => {
    const at = [...path, index]
    const { type, text } = objectAt(block, at, openaiWords)
    if (type === undefined) throw openaiWords.missing([...at, 'type'])
    if (!contentTypes.includes(type as string))
      throw openaiWords.notAChoice([...at, 'type'], contentTypes, type)
    return type === 'text'
      ? { type, text: stringAt(text, [...at, 'text'], openaiWords) }
      : { type: 'media' }
  })
}

/** The calls of an assistant's message, also the one call of a legacy one, whose name is its id. */
function readCalls(message: JsonObject, path: Path): readonly Part[] {
  const { tool_calls: calls, function_call: legacy } = message
  if (isObject(legacy)) {
    const name = stringAt(legacy['name'], [...path, 'function_call', 'name'], openaiWords)
    return [{ type: 'tool-call', id: name, name }]
  }

  const at = [...path, 'tool_calls']
  if (Array.isArray(calls) && calls.length === 0) throw emptyList(at)
  return listAt(calls, at, openaiWords).map((call, index) => readCall(call, [...at, index]))
}

function readCall(call: unknown, path: Path): Part {
  const members = objectAt(call, path, openaiWords)
  const id = stringAt(members['id'], [...path, 'id'], openaiWords)
  const type = stringAt(members['type'], [...path, 'type'], openaiWords)
  if (type !== 'function' && type !== 'custom')
    throw openaiWords.notAChoice([...path, 'type'], ['function', 'custom'], type)

  const at = [...path, type]
  if (members[type] === undefined) throw openaiWords.missing(at)
  const called = objectAt(members[type], at, openaiWords)
  const input = type === 'function' ? 'arguments' : 'input'
  stringAt(called[input], [...at, input], openaiWords)
  return { type: 'tool-call', id, name: stringAt(called['name'], [...at, 'name'], openaiWords) }
}

function toolCallId(message: JsonObject, index: number): string {
  const id = message['tool_call_id']
  if (typeof id === 'string') return id
  throw new Refusal(
    "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
    `messages.[${index}].tool_call_id`,
  )
}

function resultOf(id: string, parts: readonly Part[]): Part {
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

function readTools(body: JsonObject): readonly Tool[] {
  const legacy = asList(body['functions'])
  if (legacy.length > 0)
    return legacy.map((details, index) => {
      const path = ['functions', index]
      return functionTool(objectAt(details, path, openaiWords), path)
    })

  const tools = asList(body['tools'])
  checkToolCount(tools)
  return tools.map((tool, index) => {
    const path = ['tools', index]
    const members = objectAt(tool, path, openaiWords)
    const type = stringAt(members['type'], [...path, 'type'], openaiWords)
    if (type !== 'function' && type !== 'custom')
      throw openaiWords.notAChoice([...path, 'type'], ['function', 'custom'], type)

    const at = [...path, type]
    if (members[type] === undefined) throw openaiWords.missing(at)
    const details = objectAt(members[type], at, openaiWords)
    if (type === 'function') return functionTool(details, at)
    const name = stringAt(details['name'], [...at, 'name'], openaiWords)
    return { name, kind: 'custom', parameters: undefined }
  })
}

function chooseTools(
  choice: unknown,
  tools: readonly Tool[],
): { tools: readonly Tool[]; toolChoice: ToolChoice } {
  if (choice === undefined || choice === null) return { tools, toolChoice: 'auto' }
  if (tools.length === 0)
    throw new Refusal(
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      'tool_choice',
    )
  if (choice === 'none' || choice === 'auto' || choice === 'required')
    return { tools, toolChoice: choice }
  if (!isObject(choice))
    throw openaiWords.notAChoice(['tool_choice'], ['none', 'auto', 'required'], choice)

  const { type, allowed_tools: allowed } = choice
  if (type === 'allowed_tools') {
    const { mode, tools: entries } = objectAt(
      allowed,
      ['tool_choice', 'allowed_tools'],
      openaiWords,
    )
    if (mode !== 'auto' && mode !== 'required')
      throw openaiWords.notAChoice(
        ['tool_choice', 'allowed_tools', 'mode'],
        ['auto', 'required'],
        mode,
      )
    return { tools: allowedTools(tools, entries, nameIn), toolChoice: mode }
  }

  // The legacy form is the name alone.
  const name = type === undefined ? choice['name'] : nameIn(choice)
  if (!tools.some((tool) => tool.name === name))
    throw new Refusal(
      `Tool choice '${String(name ?? type)}' not found in 'tools' parameter.`,
      'tool_choice',
    )
  return { tools, toolChoice: { name: String(name) } }
}

/** The name in `{type: T, T: {name}}`. */
function nameIn(entry: JsonObject): unknown {
  const details = entry[String(entry['type'])]
  return isObject(details) ? details['name'] : undefined
}

function readFormat(format: unknown, messages: readonly JsonObject[]): unknown {
  if (!isObject(format)) return undefined
  const choices = ['json_object', 'json_schema', 'text']
  const { type, json_schema: details } = format
  if (!choices.includes(type as string))
    throw openaiWords.notAChoice(['response_format', 'type'], choices, type)
  if (type === 'text') return undefined
  if (type === 'json_object') {
    if (!/json/i.test(JSON.stringify(messages.map(({ content }) => content))))
      throw new Refusal(
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        'messages',
      )
    return { type: 'object' }
  }

  const path = ['response_format', 'json_schema']
  if (details === undefined) throw openaiWords.missing(path)
  const { name, schema } = objectAt(details, path, openaiWords)
  const named = stringAt(name, [...path, 'name'], openaiWords)
  checkName(named, [...path, 'name'])
  return schema === undefined
    ? { type: 'object' }
    : answerSchema(schema, named, [...path, 'schema'])
}
