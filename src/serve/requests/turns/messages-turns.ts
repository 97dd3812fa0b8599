import type { JsonObject } from '../json.ts'
import { asString, contentText, isObject, listObjects } from '../json.ts'
import { otherPart, type Part, readParts, type Turn, toText, withSystem } from './turns.ts'

/** The turns of a body of POST /v1/messages. */
export function readMessagesTurns({ system, messages }: JsonObject): readonly Turn[] {
  return withSystem(contentText(system), listObjects(messages).map(readMessageTurn))
}

function readMessageTurn({ role, content }: JsonObject): Turn {
  const parts = readParts(content, readBlock)
  if (role === 'assistant' || role === 'system') return { role, parts }
  const isToolTurn = parts.length > 0 && parts.every(({ type }) => type === 'tool-result')
  return { role: isToolTurn ? 'tool' : 'user', parts }
}

function readBlock(block: JsonObject): Part {
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
        text: toText(block['input'] ?? {}),
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
  if (!Array.isArray(content)) return toText(content ?? '')
  return content
    .filter(isObject)
    .map((block) => asString(block['text']) ?? `(${toText(block['type'])})`)
    .join('\n')
}
