import { Place, type Rules } from './place.ts'
import type { JsonObject } from './read.ts'
import { asList, asNumber, asObject, asString, contentText, isObject } from './read.ts'
import { anthropicWords, notDone, Refusal } from './refusal.ts'
import type { Message, ModelRequest, Part, Tool, ToolChoice } from './request.ts'
import { endsWithResults, requireMessages } from './request.ts'
import { sealOf } from './seal.ts'

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
  requireMessages(body)
  const whole = new Place(body, anthropicWords)
  whole.check(rules)

  const list = whole.at('messages').list().map(readMessage)
  checkToolTurns(list)
  const system = contentText(body['system'])
  const prompt: Message = { role: 'system', parts: [{ type: 'text', text: system }] }
  const tools = readTools(whole)
  const toolChoice = readToolChoice(whole.at('tool_choice'), tools)
  const thinking = readThinking(whole, toolChoice, list)
  return {
    model: asString(body['model']) ?? '',
    messages: [...(system === '' ? [] : [prompt]), ...list],
    tools,
    toolChoice,
    isParallel: asObject(body['tool_choice'])['disable_parallel_tool_use'] !== true,
    thinking,
    unsealed: problemIn(list),
    maxOutputTokens: asNumber(body['max_tokens']),
    stopSequences: whole
      .at('stop_sequences')
      .list()
      .map((sequence) => sequence.string()),
    outputSchema: readFormat(whole),
  }
}

// Claude Code 2.1.197 puts entries with the role "system" among the messages (2026-11-21).
const roles = ['user', 'assistant', 'system'] as const

function readMessage(message: Place): Message {
  const role = message.at('role').needed()
  if (!roles.includes(role.value as never)) throw role.notAChoice(['user', 'assistant'])
  const content = message.at('content')
  if (content.isAbsent) throw content.missing()

  const { value } = content
  if (typeof value !== 'string' && !Array.isArray(value))
    throw content.wrongKind({ kind: 'content' })
  if (value.length === 0 && role.value === 'user')
    throw new Refusal(`${message.where}: user messages must have non-empty content`)
  return {
    role: role.value as Message['role'],
    parts:
      typeof value === 'string' ? [{ type: 'text', text: value }] : content.list().map(readBlock),
  }
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

function readBlock(block: Place): Part {
  const type = block.at('type').string()
  const inner = block.as(type)
  switch (type) {
    case 'text': {
      const text = inner.at('text').string()
      if (text === '') throw new Refusal('messages: text content blocks must be non-empty')
      return { type, text }
    }
    case 'tool_use':
      inner.at('input').needed().object()
      return {
        type: 'tool-call',
        id: inner.at('id').string(),
        name: inner.at('name').string(),
      }
    case 'tool_result':
      return {
        type: 'tool-result',
        id: inner.at('tool_use_id').string(),
        text: contentText(inner.at('content').value),
      }
    case 'thinking': {
      const signature = inner.at('signature').string()
      const thought = inner.at('thinking').string()
      if (signature === sealOf(thought)) return { type }
      const message = `${block.where}: Invalid \`signature\` in \`thinking\` block`
      return { type, problem: new Refusal(message) }
    }
    case 'redacted_thinking':
      return { type: 'thinking' }
    default:
      if (!blockTypes.includes(type) && !furtherTypes.test(type))
        throw unknownTag(block, type, blockTypes)
      return { type: 'media' }
  }
}

function unknownTag({ where }: Place, tag: unknown, tags: readonly string[]): Refusal {
  const expected = tags.map((one) => `'${one}'`).join(', ')
  return new Refusal(
    `${where}: Input tag '${String(tag)}' found using 'type' does not match any of the expected tags: ${expected}`,
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

function readTools(body: Place): readonly Tool[] {
  if (asList(body.at('mcp_servers').value).length > 0) throw notDone('MCP servers', 'mcp_servers')
  const tools = body.at('tools').list().map(readTool)
  if (new Set(tools.map(({ name }) => name)).size < tools.length)
    throw new Refusal('tools: Tool names must be unique.')
  return tools
}

/** A tool of the client's own, or one that the vendor has defined and the client carries out. */
function readTool(tool: Place): Tool {
  const type = String(tool.maybe('type').value ?? 'custom')
  if (type !== 'custom' && !vendorsForClients.test(type))
    throw /_\d{8}$/.test(type)
      ? notDone(`the vendor's own tool ${type}`, 'tools')
      : unknownTag(tool, type, ['custom', 'bash_20250124', '…'])

  const { description } = tool.object()
  const details = tool.as(type)
  const name = details.at('name').string()
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name))
    throw new Refusal(`${details.where}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`)
  if (type !== 'custom') return { name, kind: 'function', parameters: {} }

  const schema = details.at('input_schema').needed()
  if (schema.at('type').needed().value !== 'object')
    throw new Refusal(`${schema.where}.type: Input should be 'object'`)
  return {
    name,
    kind: 'function',
    description: asString(description),
    parameters: schema.value,
  }
}

const choices = ['auto', 'any', 'tool', 'none']

function readToolChoice(choice: Place, tools: readonly Tool[]): ToolChoice {
  if (choice.isAbsent) return 'auto'
  const type = choice.at('type').needed().value
  if (!choices.includes(type as string)) throw unknownTag(choice, type, choices)
  if (tools.length === 0)
    throw new Refusal('tool_choice may only be specified while providing tools.')
  if (type === 'none') return 'none'
  if (type === 'any') return 'required'
  if (type === 'auto') return 'auto'

  const name = choice.as('tool').at('name').string()
  if (!tools.some((tool) => tool.name === name))
    throw new Refusal(`tool_choice: Tool '${name}' not found in provided tools`)
  return { name }
}

const thinkingGuide = 'https://docs.claude.com/en/docs/build-with-claude/extended-thinking'

function readThinking(
  body: Place,
  choice: ToolChoice,
  messages: readonly Message[],
): ModelRequest['thinking'] {
  const thinking = body.at('thinking')
  if (thinking.isAbsent) return 'never'
  const { temperature, max_tokens: limit } = body.object()
  const { type, budget_tokens: budget } = thinking.object()
  const types = ['adaptive', 'disabled', 'enabled']
  if (!types.includes(String(type))) throw unknownTag(thinking, type, types)
  if (type === 'disabled') return 'never'

  if (choice === 'required' || typeof choice === 'object')
    throw new Refusal('Thinking may not be enabled when tool_choice forces tool use.')
  if (typeof temperature === 'number' && temperature !== 1)
    throw new Refusal(
      `\`temperature\` may only be set to 1 when thinking is enabled. Please consult our documentation at ${thinkingGuide}`,
    )
  if (type === 'adaptive') return 'sometimes'

  const details = thinking.as('enabled')
  details.at('budget_tokens').needed()
  details.check({ budget_tokens: { kind: 'integer', least: 1024 } })
  if (typeof limit === 'number' && limit <= (budget as number))
    throw new Refusal(
      `\`max_tokens\` must be greater than \`thinking.budget_tokens\`. Please consult our documentation at ${thinkingGuide}#max-tokens-and-context-window-size`,
    )
  checkThoughtsAreBack(messages)
  return 'always'
}

/** In a loop of tools the thoughts that led to the calls come back before them. */
function checkThoughtsAreBack(messages: readonly Message[]): void {
  const at = messages.findLastIndex(({ role }) => role === 'assistant')
  const first = messages[at]?.parts[0]?.type
  if (!endsWithResults(messages) || first === 'thinking') return
  throw new Refusal(
    `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first === 'text' ? 'text' : 'tool_use'}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`. Please consult our documentation at ${thinkingGuide}`,
  )
}

/** `output_format` is what came before `output_config`. */
function readFormat(body: Place): unknown {
  const config = body.at('output_config')
  const format = config.isAbsent ? body.at('output_format') : config.at('format')
  if (!isObject(format.value)) return undefined
  if (format.value['type'] !== 'json_schema')
    throw new Refusal("output_config.format.type: Input should be 'json_schema'")
  return new Place(format.value['schema'], anthropicWords, [
    'output_config',
    'format',
    'schema',
  ]).object()
}
