import type { JsonObject } from '../read.ts'
import { asObject, asString, contentText, isObject, objectsIn } from '../read.ts'
import type { Part, ProtocolReader, Question, Turn, Usage } from './turns.ts'
import { numberAt, offeredTool, otherPart, partsIn, textOf, without } from './turns.ts'

/** POST /v1/messages. */
export const messages: ProtocolReader = { question, answer, assemble }

function question(body: JsonObject): Question {
  return {
    system: contentText(body['system']),
    turns: objectsIn(body['messages']).map(turn),
    tools: objectsIn(body['tools']).map(offeredTool),
    settings: without(body, ['messages', 'system', 'tools', 'model', 'stream']),
    follows: undefined,
  }
}

function turn({ role, content }: JsonObject): Turn {
  const parts = partsIn(content, part)
  if (role === 'assistant' || role === 'system') return { role, parts }
  const isOfTools = parts.length > 0 && parts.every(({ type }) => type === 'tool-result')
  return { role: isOfTools ? 'tool' : 'user', parts }
}

function part(block: JsonObject): Part {
  const id = asString(block['id']) ?? asString(block['tool_use_id']) ?? ''
  switch (block['type']) {
    case 'text':
      return { type: 'text', text: asString(block['text']) ?? '' }
    case 'thinking':
      return { type: 'thinking', text: asString(block['thinking']) ?? '' }
    case 'redacted_thinking':
      return { type: 'thinking', text: '' }
    case 'tool_use':
    case 'server_tool_use':
      return {
        type: 'tool-call',
        id,
        name: asString(block['name']) ?? '',
        text: textOf(block['input'] ?? {}),
      }
    case 'tool_result':
      return {
        type: 'tool-result',
        id,
        text: resultText(block),
        isError: block['is_error'] === true,
      }
    default:
      return otherPart(block)
  }
}

function resultText({ content }: JsonObject): string {
  if (!Array.isArray(content)) return textOf(content ?? '')
  return content
    .filter(isObject)
    .map(
      (block) =>
        asString(block['text']) ??
        `(${otherPart(block).type === 'other' ? textOf(block['type']) : ''})`,
    )
    .join('\n')
}

function answer(document: JsonObject) {
  return {
    id: asString(document['id']),
    model: asString(document['model']),
    usage: usageOf(document['usage']),
    parts: partsIn(document['content'], part),
    finish: asString(document['stop_reason']),
  }
}

/** The vendor counts what it had cached apart from `input_tokens`. */
function usageOf(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined
  const cached = numberAt(usage, 'cache_read_input_tokens')
  const written = numberAt(usage, 'cache_creation_input_tokens')
  return {
    inputTokens: numberAt(usage, 'input_tokens') + cached + written,
    cachedTokens: cached,
    outputTokens: numberAt(usage, 'output_tokens'),
    reasoningTokens: 0,
  }
}

/** Which member of a block the deltas of a kind go on with. */
const grownBy: Readonly<Record<string, readonly [member: string, from: string]>> = {
  text_delta: ['text', 'text'],
  thinking_delta: ['thinking', 'thinking'],
  input_json_delta: ['input', 'partial_json'],
}

function assemble(events: readonly JsonObject[]): JsonObject {
  const content: Record<string, unknown>[] = []
  let document: JsonObject = {}

  for (const event of events) {
    const index = Number(event['index'])
    const { message, content_block: block, delta } = event
    if (event['type'] === 'message_start' && isObject(message)) document = message
    if (event['type'] === 'content_block_start' && isObject(block))
      // The input of a tool begins as {} and comes as text.
      content[index] = block['type'] === 'tool_use' ? { ...block, input: '' } : { ...block }

    if (!isObject(delta)) continue
    if (event['type'] === 'message_delta') {
      const usage = { ...asObject(document['usage']), ...asObject(event['usage']) }
      document = { ...document, ...delta, usage }
    }

    const [member, from] = grownBy[String(delta['type'])] ?? []
    const grown = content[index]
    if (grown !== undefined && member !== undefined && from !== undefined)
      grown[member] = textOf(grown[member] ?? '') + textOf(delta[from] ?? '')
  }
  return { ...document, content: content.filter((block) => block !== undefined) }
}
