import type { JsonObject } from '../read.ts'
import { asString, contentText, isObject, objectsIn } from '../read.ts'
import { otherPart, type Part, partsIn, type Turn, textOf, withSystem } from './turns.ts'

/** The turns of a body of POST /v1/messages. */
export function readMessagesTurns({ system, messages }: JsonObject): readonly Turn[] {
  return withSystem(contentText(system), objectsIn(messages).map(turn))
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
