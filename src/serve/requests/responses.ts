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
import { asList, asNumber, asString, contentText, type JsonObject } from './read.ts'
import { notDone, openaiWords, Refusal } from './refusal.ts'
import { InvalidRequest, type Message, type ModelRequest, type Tool } from './request.ts'
import { isSeal } from './seal.ts'

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
  const whole = new Place(body, openaiWords)
  whole.check(rules)
  const effort = whole.at('reasoning').maybe('effort')
  if (!effort.isAbsent) effort.oneOf(efforts)
  refuseWhatIsNotDone(body)

  const items = itemsOf(input)
  const places = items.map((item, index) => new Place(item, openaiWords, ['input', index]))
  checkToolTurns(places)
  const instructions = asString(body['instructions']) ?? ''
  const system: Message = { role: 'system', parts: [{ type: 'text', text: instructions }] }
  return {
    model: asString(body['model']) ?? '',
    messages: [...(instructions === '' ? [] : [system]), ...places.flatMap(readItem)],
    ...choose(whole.at('tool_choice'), readTools(whole, places)),
    isParallel: body['parallel_tool_calls'] !== false,
    thinking: thinkingOf(effort.value),
    unsealed: problemIn(items),
    maxOutputTokens: asNumber(body['max_output_tokens']),
    stopSequences: [],
    outputSchema: answerSchema(whole.at('text').maybe('format'), {
      said: input,
      withoutWord: [
        "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
        'input',
      ],
      schemaIn: (format) => format,
      isSchemaNeeded: true,
    }),
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
  return new Place(input, openaiWords, ['input']).list().map((item) => item.object())
}

function readItem(item: Place): Message[] {
  const { type: written, call_id, name, output } = item.object()
  const type = asString(written) ?? 'message'
  if (type === 'message') return [readMessage(item)]

  const id = asString(call_id) ?? ''
  if (type.endsWith('_call_output'))
    return [{ role: 'tool', parts: [{ type: 'tool-result', id, text: contentText(output) }] }]
  if (type.endsWith('_call')) {
    const call = { type: 'tool-call', id, name: asString(name) ?? type } as const
    return [{ role: 'assistant', parts: [call] }]
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

function readMessage(item: Place): Message {
  const role = item.at('role').oneOf(roles)
  const content = item.at('content')
  if (content.isAbsent) throw content.missing()

  const parts = contentParts(content, role === 'assistant' ? outputTypes : inputTypes)
  if (role === 'assistant') return { role, parts }
  return { role: role === 'user' ? 'user' : 'system', parts }
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
function checkToolTurns(items: readonly Place[]): void {
  const called = new Set<string>()
  const open = new Map<string, string>()
  for (const item of items) {
    const { type } = item.object()
    if (typeof type !== 'string' || !/_call(_output)?$/.test(type)) continue
    const isResult = type.endsWith('_output')
    const kind = calls[isResult ? type.slice(0, -'_output'.length) : type]
    if (kind === undefined) continue

    const id = item.at('call_id').string()
    if (!isResult) {
      called.add(id)
      open.set(id, kind)
      continue
    }
    if (!called.has(id))
      throw new Refusal(`No tool call found for ${kind} output with call_id ${id}.`, 'input')
    open.delete(id)
  }
  const [waiting] = open
  if (waiting !== undefined)
    throw new Refusal(`No tool output found for ${waiting[1]} ${waiting[0]}.`, 'input')
}

/**
 * Codex 0.169.0 puts the tools of some models (gpt-5.6-sol) into an input item instead of the member
 * `tools` (2026-11-21).
 */
function readTools(body: Place, items: readonly Place[]): readonly Tool[] {
  const tools = toolsIn(body)
  checkSearch(tools)
  const further = items
    .filter((item) => item.object()['type'] === 'additional_tools')
    .map((item) => item.at('tools'))
    .filter(({ value }) => Array.isArray(value))
  return [tools, ...further.map((inner) => inner.list())].flat().flatMap((tool) => readTool(tool))
}

function readTool(tool: Place, namespace?: string): readonly Tool[] {
  const type = tool.at('type').string()
  switch (type) {
    case 'function':
      return [functionTool(tool, namespace)]
    case 'custom': {
      const name = tool.at('name').string()
      const nested = nestedTools(asString(tool.object()['description']) ?? '')
      return [{ name, kind: 'custom', parameters: undefined, namespace, nested }]
    }
    case 'namespace': {
      const name = tool.at('name').string()
      const inner = tool.at('tools').list()
      return inner.flatMap((one) => readTool(one, name))
    }
    default:
      if (carriedOutByVendor.test(type))
        throw notDone(
          `the vendor's own tool ${type}`,
          tool.where.startsWith('tools') ? 'tools' : 'input',
        )
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
function checkSearch(tools: readonly Place[]): void {
  const isSearch = (tool: Place) => /^web_search/.test(String(tool.maybe('type').value))
  if (tools.length > 0 && tools.every(isSearch)) throw notDone('web search', 'tools')
}

/** The tools that a script tool declares in its description, as Codex 0.169.0 does for `exec`. */
function nestedTools(description: string): readonly string[] {
  return [...description.matchAll(/^declare const tools: \{ (\w+)\(/gm)].map(([, name]) => name!)
}

function choose(choice: Place, tools: readonly Tool[]) {
  if (choice.value === 'required' && tools.length === 0)
    throw new Refusal(
      "Tool choice 'required' must be specified with 'tools' parameter.",
      'tool_choice',
    )
  const nameIn = ({ name }: JsonObject) => name
  return chooseTools(choice, tools, {
    allowedIn: (allowed) => allowed,
    chosenName: nameIn,
    allowedName: nameIn,
  })
}
