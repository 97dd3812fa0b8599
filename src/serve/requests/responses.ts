import { asList, asNumber, asString, contentText, isObject, type JsonObject } from './read.ts'
import {
  checkMembers,
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
import { isSeal } from './seal.ts'
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
  instructions: { kind: 'string' },
  max_output_tokens: { kind: 'integer', least: 1 },
  max_tool_calls: { kind: 'integer', least: 1 },
  previous_response_id: { kind: 'string' },
  background: { kind: 'boolean' },
  include: { kind: 'array' },
  reasoning: { kind: 'object' },
  text: { kind: 'object' },
  truncation: { kind: 'choice', choices: ['auto', 'disabled'] },
}

const roles = ['assistant', 'system', 'developer', 'user']
/** What a person or a prompt may say, and what an assistant. */
const inputTypes = [
  'input_text',
  'input_image',
  'input_audio',
  'output_text',
  'refusal',
  'input_file',
  'computer_screenshot',
  'summary_text',
  'encrypted_content',
]
const outputTypes = ['output_text', 'refusal']

/**
 * Reads the body of POST /v1/responses.
 *
 * @param input the whole of it, with what came before
 * @throws InvalidRequest, Refusal
 */
export function readResponsesRequest(body: JsonObject, input = body['input']): ModelRequest {
  if (input === undefined || input === null) throw new InvalidRequest('input is required')
  checkMembers(body, rules, openaiWords)
  const { effort } = isObject(body['reasoning']) ? body['reasoning'] : {}
  if (effort !== undefined && effort !== null && !efforts.includes(effort as never))
    throw openaiWords.notAChoice(['reasoning', 'effort'], efforts, effort)
  refuseWhatIsNotDone(body)

  const items = itemsOf(input)
  checkToolTurns(items)
  const instructions = asString(body['instructions']) ?? ''
  const system: Message = { role: 'system', parts: [{ type: 'text', text: instructions }] }
  return {
    model: asString(body['model']) ?? '',
    messages: [...(instructions === '' ? [] : [system]), ...items.flatMap(readItem)],
    ...chooseTools(body['tool_choice'], readTools(body, items)),
    isParallel: body['parallel_tool_calls'] !== false,
    thinking: thinkingOf(effort),
    unsealed: problemIn(items),
    maxOutputTokens: asNumber(body['max_output_tokens']),
    stopSequences: [],
    outputSchema: readFormat(body['text'], input),
  }
}

function refuseWhatIsNotDone(body: JsonObject): void {
  const { background, conversation, prompt, include, top_logprobs: logprobs } = body
  if (background === true) throw notDone('answers in the background', 'background')
  if (conversation !== undefined && conversation !== null)
    throw notDone('stored conversations (previous_response_id it does)', 'conversation')
  if (prompt !== undefined && prompt !== null) throw notDone('stored prompts', 'prompt')
  if (
    asList(include).includes('message.output_text.logprobs') ||
    (typeof logprobs === 'number' && logprobs > 0)
  )
    throw notDone('log probabilities', logprobs === undefined ? 'include' : 'top_logprobs')
}

/** The items of an input; a text alone is what the user says. */
export function itemsOf(input: unknown): readonly JsonObject[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  if (!Array.isArray(input))
    throw new Refusal(
      "Invalid type for 'input': expected one of a string or array of input items.",
      'input',
      'invalid_type',
    )
  return input.map((item, index) => objectAt(item, ['input', index], openaiWords))
}

function readItem(item: JsonObject, index: number): Message[] {
  const path = ['input', index]
  const type = asString(item['type']) ?? 'message'
  if (type === 'message') return [readMessage(item, path)]

  const id = asString(item['call_id']) ?? ''
  if (type.endsWith('_call_output')) {
    const output = item['output']
    const text = typeof output === 'string' ? output : contentText(output)
    return [{ role: 'tool', parts: [{ type: 'tool-result', id, text }] }]
  }
  if (type.endsWith('_call')) {
    const name = asString(item['name']) ?? type
    return [{ role: 'assistant', parts: [{ type: 'tool-call', id, name }] }]
  }
  // Reasoning items and whatever else a client hands back belong to the assistant and say nothing.
  return []
}

function problemIn(items: readonly JsonObject[]): Refusal | undefined {
  const altered = items.find(
    ({ type, encrypted_content: sealed }) =>
      type === 'reasoning' && typeof sealed === 'string' && !isSeal(sealed),
  )
  return (
    altered &&
    new Refusal(
      `The encrypted content for item ${String(altered['id'])} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
      null,
      'invalid_encrypted_content',
    )
  )
}

function readMessage(item: JsonObject, path: Path): Message {
  const { role, content } = item
  if (role === undefined) throw openaiWords.missing([...path, 'role'])
  if (!roles.includes(role as string)) throw openaiWords.notAChoice([...path, 'role'], roles, role)
  if (content === undefined || content === null) throw openaiWords.missing([...path, 'content'])

  const parts = readContent(content, role === 'assistant' ? outputTypes : inputTypes, [
    ...path,
    'content',
  ])
  if (role === 'assistant') return { role, parts }
  return { role: role === 'user' ? 'user' : 'system', parts }
}

function readContent(content: unknown, types: readonly string[], path: Path): readonly Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw openaiWords.wrongKind(path, { kind: 'content' }, content)
  return content.map((block, index): Part => {
    const at = [...path, index]
    const { type, text } = objectAt(block, at, openaiWords)
    if (type === undefined) throw openaiWords.missing([...at, 'type'])
    if (!types.includes(type as string)) throw openaiWords.notAChoice([...at, 'type'], types, type)
    return type === 'input_text' || type === 'output_text'
      ? { type: 'text', text: stringAt(text, [...at, 'text'], openaiWords) }
      : { type: 'media' }
  })
}

/** Calls that the client carries out, and how the vendor calls them. */
const calls: Readonly<Record<string, string>> = {
  function_call: 'function call',
  custom_tool_call: 'custom tool call',
  computer_call: 'computer call',
  local_shell_call: 'local shell call',
  shell_call: 'shell call',
  apply_patch_call: 'apply patch call',
}

/** Each call has its result somewhere behind it, and each result its call before it. */
function checkToolTurns(items: readonly JsonObject[]): void {
  const called = new Set<unknown>()
  const open = new Map<unknown, string>()
  for (const [index, { type, call_id: id }] of items.entries()) {
    if (typeof type !== 'string' || !/_call(_output)?$/.test(type)) continue
    const isResult = type.endsWith('_output')
    const kind = calls[isResult ? type.slice(0, -'_output'.length) : type]
    if (kind === undefined) continue

    stringAt(id, ['input', index, 'call_id'], openaiWords)
    if (!isResult) {
      called.add(id)
      open.set(id, kind)
      continue
    }
    if (!called.has(id))
      throw new Refusal(
        `No tool call found for ${kind} output with call_id ${String(id)}.`,
        'input',
      )
    open.delete(id)
  }
  const [waiting] = open
  if (waiting !== undefined)
    throw new Refusal(`No tool output found for ${waiting[1]} ${String(waiting[0])}.`, 'input')
}

/**
 * Codex 0.169.0 puts the tools of some models (gpt-5.6-sol) into an input item instead of the member
 * `tools` (2026-11-21).
 */
function readTools(body: JsonObject, items: readonly JsonObject[]): readonly Tool[] {
  const tools = asList(body['tools'])
  checkToolCount(tools)
  checkSearch(tools)
  return [
    ...tools.flatMap((tool, index) => readTool(tool, ['tools', index])),
    ...items.flatMap(({ type, tools: inner }, index) =>
      type === 'additional_tools'
        ? asList(inner).flatMap((tool, at) => readTool(tool, ['input', index, 'tools', at]))
        : [],
    ),
  ]
}

function readTool(tool: unknown, path: Path, namespace?: string): readonly Tool[] {
  const members = objectAt(tool, path, openaiWords)
  const type = stringAt(members['type'], [...path, 'type'], openaiWords)
  switch (type) {
    case 'function':
      return [functionTool(members, path, namespace)]
    case 'custom': {
      const name = stringAt(members['name'], [...path, 'name'], openaiWords)
      const nested = nestedTools(asString(members['description']) ?? '')
      return [{ name, kind: 'custom', parameters: undefined, namespace, nested }]
    }
    case 'namespace': {
      const name = stringAt(members['name'], [...path, 'name'], openaiWords)
      return listAt(members['tools'], [...path, 'tools'], openaiWords).flatMap((inner, index) =>
        readTool(inner, [...path, 'tools', index], name),
      )
    }
    default:
      if (carriedOutByVendor.test(type))
        throw notDone(`the vendor's own tool ${type}`, String(path[0]))
      return []
  }
}

/** Tools that run at the vendor. */
const carriedOutByVendor =
  /^(mcp|file_search|code_interpreter|image_generation|computer_use_preview|computer)$/

/**
 * Codex 0.169.0 offers `web_search` with every request (2026-11-22), beside tools of its own: a model
 * need not search. Who offers nothing else wants a search.
 */
function checkSearch(tools: readonly unknown[]): void {
  const isSearch = (tool: unknown) => isObject(tool) && /^web_search/.test(String(tool['type']))
  if (tools.length > 0 && tools.every(isSearch)) throw notDone('web search', 'tools')
}

/** The tools that a script tool declares in its description, as Codex 0.169.0 does for `exec`. */
function nestedTools(description: string): readonly string[] {
  return [...description.matchAll(/^declare const tools: \{ (\w+)\(/gm)].map(([, name]) => name!)
}

function chooseTools(
  choice: unknown,
  tools: readonly Tool[],
): { tools: readonly Tool[]; toolChoice: ToolChoice } {
  if (choice === undefined || choice === null || choice === 'auto')
    return { tools, toolChoice: 'auto' }
  if (choice === 'none') return { tools, toolChoice: choice }
  if (choice === 'required') {
    if (tools.length === 0)
      throw new Refusal(
        "Tool choice 'required' must be specified with 'tools' parameter.",
        'tool_choice',
      )
    return { tools, toolChoice: choice }
  }
  if (!isObject(choice))
    throw openaiWords.notAChoice(['tool_choice'], ['none', 'auto', 'required'], choice)

  const { type, mode, name, tools: entries } = choice
  if (type === 'allowed_tools') {
    if (mode !== 'auto' && mode !== 'required')
      throw openaiWords.notAChoice(['tool_choice', 'mode'], ['auto', 'required'], mode)
    return { tools: allowedTools(tools, entries, (entry) => entry['name']), toolChoice: mode }
  }
  if (!tools.some((tool) => tool.name === name))
    throw new Refusal(
      `Tool choice '${String(name ?? type)}' not found in 'tools' parameter.`,
      'tool_choice',
    )
  return { tools, toolChoice: { name: String(name) } }
}

function readFormat(text: unknown, input: unknown): unknown {
  const format = isObject(text) ? text['format'] : undefined
  if (!isObject(format)) return undefined
  const path = ['text', 'format']
  const choices = ['json_object', 'json_schema', 'text']
  const { type, name, schema } = format
  if (!choices.includes(type as string))
    throw openaiWords.notAChoice([...path, 'type'], choices, type)
  if (type === 'text') return undefined
  if (type === 'json_object') {
    if (!/json/i.test(JSON.stringify(input)))
      throw new Refusal(
        "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
        'input',
      )
    return { type: 'object' }
  }

  const named = stringAt(name, [...path, 'name'], openaiWords)
  checkName(named, [...path, 'name'])
  if (schema === undefined) throw openaiWords.missing([...path, 'schema'])
  return answerSchema(schema, named, [...path, 'schema'])
}
