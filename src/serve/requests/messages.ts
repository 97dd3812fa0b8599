import { asList, asNumber, asString, contentText, isObject, type JsonObject } from './read.ts'
import {
  anthropicWords,
  checkMembers,
  notDone,
  objectAt,
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
import { sealOf } from './seal.ts'
import { messagesTool } from './tools.ts'

const rules: Rules = {
  messages: { kind: 'array' },
  max_tokens: { kind: 'integer', least: 1 },
  temperature: { kind: 'number', least: 0, most: 1 },
  top_p: { kind: 'number', least: 0, most: 1 },
  top_k: { kind: 'integer', least: 0 },
  stream: { kind: 'boolean' },
  stop_sequences: { kind: 'array' },
  system: { kind: 'content' },
  tools: { kind: 'array' },
  tool_choice: { kind: 'object' },
  metadata: { kind: 'object' },
  thinking: { kind: 'object' },
  output_config: { kind: 'object' },
}

/**
 * Reads the body of POST /v1/messages. A missing `max_tokens` is the service's to fill in.
 *
 * @throws InvalidRequest, Refusal
 */
export function readMessagesRequest(body: JsonObject): ModelRequest {
  const { messages } = body
  if (
    messages === undefined ||
    messages === null ||
    (Array.isArray(messages) && messages.length === 0)
  )
    throw new InvalidRequest('field messages is required')
  checkMembers(body, rules, anthropicWords)

  const list = asList(messages).map(readMessage)
  checkToolTurns(list)
  const system = contentText(body['system'])
  const prompt: Message = { role: 'system', parts: [{ type: 'text', text: system }] }
  const tools = readTools(body)
  const choice = readToolChoice(body['tool_choice'], tools)
  const thinking = readThinking(body, choice, list)
  return {
    model: asString(body['model']) ?? '',
    messages: [...(system === '' ? [] : [prompt]), ...list],
    tools,
    toolChoice: choice,
    isParallel: !(
      isObject(body['tool_choice']) && body['tool_choice']['disable_parallel_tool_use'] === true
    ),
    thinking,
    unsealed: problemIn(list),
    maxOutputTokens: asNumber(body['max_tokens']),
    stopSequences: asList(body['stop_sequences']).map((sequence, index) =>
      stringAt(sequence, ['stop_sequences', index], anthropicWords),
    ),
    outputSchema: readFormat(body),
  }
}

function readMessage(message: unknown, index: number): Message {
  const path = ['messages', index]
  const { role, content } = objectAt(message, path, anthropicWords)
  if (role === undefined) throw anthropicWords.missing([...path, 'role'])
  // Claude Code 2.1.197 puts entries with the role "system" among the messages (2026-11-21).
  if (role !== 'user' && role !== 'assistant' && role !== 'system')
    throw anthropicWords.notAChoice([...path, 'role'], ['user', 'assistant'], role)
  if (content === undefined || content === null) throw anthropicWords.missing([...path, 'content'])

  if (typeof content !== 'string' && !Array.isArray(content))
    throw anthropicWords.wrongKind([...path, 'content'], { kind: 'content' }, content)
  if (content.length === 0 && role === 'user')
    throw new Refusal(`messages.${index}: user messages must have non-empty content`)
  if (typeof content === 'string') return { role, parts: [{ type: 'text', text: content }] }
  return { role, parts: content.map((block, at) => readBlock(block, [...path, 'content', at])) }
}

function problemIn(messages: readonly Message[]): Refusal | undefined {
  for (const { parts } of messages)
    for (const part of parts) if (part.type === 'thinking' && part.problem) return part.problem
  return undefined
}

const blockTypes = [
  'text',
  'image',
  'document',
  'search_result',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'tool_result',
]
/** Of the vendor's own tools and of what is newer; they say nothing to a model that knows none. */
const furtherTypes =
  /^(server_tool_use|mcp_tool_use|\w+_tool_result|container_upload|tool_reference|compaction|fallback|mid_conv_system)$/

function readBlock(block: unknown, path: Path): Part {
  const members = objectAt(block, path, anthropicWords)
  const type = stringAt(members['type'], [...path, 'type'], anthropicWords)
  switch (type) {
    case 'text': {
      const text = stringAt(members['text'], [...path, type, 'text'], anthropicWords)
      if (text === '') throw new Refusal('messages: text content blocks must be non-empty')
      return { type, text }
    }
    case 'tool_use': {
      const at = [...path, type]
      if (members['input'] === undefined) throw anthropicWords.missing([...at, 'input'])
      objectAt(members['input'], [...at, 'input'], anthropicWords)
      return {
        type: 'tool-call',
        id: stringAt(members['id'], [...at, 'id'], anthropicWords),
        name: stringAt(members['name'], [...at, 'name'], anthropicWords),
      }
    }
    case 'tool_result':
      return {
        type: 'tool-result',
        id: stringAt(members['tool_use_id'], [...path, type, 'tool_use_id'], anthropicWords),
        text: contentText(members['content']),
      }
    case 'thinking': {
      const at = [...path, type]
      const signature = stringAt(members['signature'], [...at, 'signature'], anthropicWords)
      const thought = stringAt(members['thinking'], [...at, 'thinking'], anthropicWords)
      if (signature === sealOf(thought)) return { type }
      const message = `${path.join('.')}: Invalid \`signature\` in \`thinking\` block`
      return { type, problem: new Refusal(message) }
    }
    case 'redacted_thinking':
      return { type: 'thinking' }
    default:
      if (!blockTypes.includes(type) && !furtherTypes.test(type))
        throw unknownTag(path, type, blockTypes)
      return { type: 'media' }
  }
}

function unknownTag(path: Path, tag: unknown, tags: readonly string[]): Refusal {
  const expected = tags.map((one) => `'${one}'`).join(', ')
  return new Refusal(
    `${path.join('.')}: Input tag '${String(tag)}' found using 'type' does not match any of the expected tags: ${expected}`,
  )
}

/** What one side says before the other speaks: the vendor reads messages of one role as one. */
interface Turn {
  readonly role: Message['role']
  readonly parts: { readonly part: Part; readonly message: number; readonly block: number }[]
}

function turnsOf(messages: readonly Message[]): readonly Turn[] {
  const turns: Turn[] = []
  for (const [message, { role, parts }] of messages.entries()) {
    if (role === 'system') continue
    if (turns.at(-1)?.role !== role) turns.push({ role, parts: [] })
    turns.at(-1)!.parts.push(...parts.map((part, block) => ({ part, message, block })))
  }
  return turns
}

/** The results of tools stand at the beginning of the turn behind the calls, each once, none missing. */
function checkToolTurns(messages: readonly Message[]): void {
  const ids = new Set<string>()
  let called = new Map<string, number>()
  for (const { role, parts } of turnsOf(messages)) {
    if (role === 'assistant') {
      called = new Map()
      for (const { part, message, block } of parts) {
        if (part.type !== 'tool-call') continue
        if (ids.has(part.id))
          throw new Refusal(`messages.${message}.content.${block}: \`tool_use\` ids must be unique`)
        ids.add(part.id)
        called.set(part.id, message)
      }
      continue
    }

    const answered = new Set<string>()
    let isBehindText = false
    for (const { part, message, block } of parts) {
      if (part.type !== 'tool-result') {
        isBehindText = true
        continue
      }
      const where = `messages.${message}.content.${block}`
      if (!called.has(part.id))
        throw new Refusal(
          `${where}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${part.id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
        )
      if (answered.has(part.id))
        throw new Refusal(
          `${where}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${part.id}`,
        )
      if (!isBehindText) answered.add(part.id)
    }
    checkAllAnswered(called, answered)
    called = new Map()
  }
  checkAllAnswered(called, new Set())
}

function checkAllAnswered(
  called: ReadonlyMap<string, number>,
  answered: ReadonlySet<string>,
): void {
  const open = [...called].filter(([id]) => !answered.has(id))
  const [first] = open
  if (first === undefined) return
  throw new Refusal(
    `messages.${first[1]}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.map(([id]) => id).join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  )
}

/** Tools that the vendor has defined and the client carries out. */
const vendorsForClients = /^(bash|text_editor|computer|memory)_\d{8}$/

function readTools(body: JsonObject): readonly Tool[] {
  if (asList(body['mcp_servers']).length > 0) throw notDone('MCP servers', 'mcp_servers')
  const tools = asList(body['tools']).map((tool, index) => {
    const type = (isObject(tool) ? tool['type'] : undefined) ?? 'custom'
    const isForClient = type === 'custom' || vendorsForClients.test(String(type))
    if (!isForClient && /_\d{8}$/.test(String(type)))
      throw notDone(`the vendor's own tool ${String(type)}`, 'tools')
    if (!isForClient) throw unknownTag(['tools', index], type, ['custom', 'bash_20250124', '…'])
    return messagesTool(tool, index)
  })
  if (new Set(tools.map(({ name }) => name)).size < tools.length)
    throw new Refusal('tools: Tool names must be unique.')
  return tools
}

const choices = ['auto', 'any', 'tool', 'none']

function readToolChoice(choice: unknown, tools: readonly Tool[]): ToolChoice {
  if (!isObject(choice)) return 'auto'
  const { type, name } = choice
  if (type === undefined) throw anthropicWords.missing(['tool_choice', 'type'])
  if (!choices.includes(type as string)) throw unknownTag(['tool_choice'], type, choices)
  if (tools.length === 0)
    throw new Refusal('tool_choice may only be specified while providing tools.')
  if (type === 'none') return 'none'
  if (type === 'any') return 'required'
  if (type === 'auto') return 'auto'

  const named = stringAt(name, ['tool_choice', 'tool', 'name'], anthropicWords)
  if (!tools.some((tool) => tool.name === named))
    throw new Refusal(`tool_choice: Tool '${named}' not found in provided tools`)
  return { name: named }
}

const thinkingGuide = 'https://docs.claude.com/en/docs/build-with-claude/extended-thinking'

function readThinking(
  body: JsonObject,
  choice: ToolChoice,
  messages: readonly Message[],
): ModelRequest['thinking'] {
  const { thinking, temperature, max_tokens: limit } = body
  if (!isObject(thinking)) return 'never'
  const { type, budget_tokens: budget } = thinking
  const types = ['adaptive', 'disabled', 'enabled']
  if (!types.includes(String(type))) throw unknownTag(['thinking'], type, types)
  if (type === 'disabled') return 'never'

  if (choice === 'required' || typeof choice === 'object')
    throw new Refusal('Thinking may not be enabled when tool_choice forces tool use.')
  if (typeof temperature === 'number' && temperature !== 1)
    throw new Refusal(
      `\`temperature\` may only be set to 1 when thinking is enabled. Please consult our documentation at ${thinkingGuide}`,
    )
  if (type === 'adaptive') return 'sometimes'

  const at = ['thinking', 'enabled']
  if (budget === undefined) throw anthropicWords.missing([...at, 'budget_tokens'])
  checkMembers(thinking, { budget_tokens: { kind: 'integer', least: 1024 } }, anthropicWords, at)
  if (typeof limit === 'number' && limit <= (budget as number))
    throw new Refusal(
      `\`max_tokens\` must be greater than \`thinking.budget_tokens\`. Please consult our documentation at ${thinkingGuide}#max-tokens-and-context-window-size`,
    )
  checkThoughtsAreBack(messages)
  return 'always'
}

/** In a loop of tools the thoughts that led to the calls come back before them. */
function checkThoughtsAreBack(messages: readonly Message[]): void {
  const isInLoop = messages.at(-1)?.parts.some(({ type }) => type === 'tool-result')
  const at = messages.findLastIndex(({ role }) => role === 'assistant')
  const first = messages[at]?.parts[0]?.type
  if (!isInLoop || first === 'thinking') return
  throw new Refusal(
    `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first === 'text' ? 'text' : 'tool_use'}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`. Please consult our documentation at ${thinkingGuide}`,
  )
}

/** `output_format` is what came before `output_config`. */
function readFormat({ output_config: config, output_format: older }: JsonObject): unknown {
  const format = isObject(config) ? config['format'] : older
  if (!isObject(format)) return undefined
  if (format['type'] !== 'json_schema')
    throw new Refusal("output_config.format.type: Input should be 'json_schema'")
  return objectAt(format['schema'], ['output_config', 'format', 'schema'], anthropicWords)
}
