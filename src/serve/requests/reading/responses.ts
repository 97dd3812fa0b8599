import type { JsonObject } from '../read.ts'
import { asString, contentText, objectsIn } from '../read.ts'
import { otherPart, type Part, partsIn, type Turn, textOf, withSystem } from './turns.ts'

/** The turns of a body of POST /v1/responses. */
export function readResponsesTurns({ input, instructions }: JsonObject): readonly Turn[] {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : objectsIn(input)
  const isSystem = ({ role }: JsonObject) => role === 'system' || role === 'developer'
  const system = items.filter(isSystem).map(({ content }) => contentText(content))
  const turns = items
    .filter((item) => !isSystem(item) && item['type'] !== 'additional_tools')
    .flatMap(turn)
  return withSystem([asString(instructions) ?? '', ...system].filter(Boolean).join('\n\n'), turns)
}

function turn(item: JsonObject): Turn {
  const type = textOf(item['type'] ?? 'message')
  if (type.endsWith('_output')) return { role: 'tool', parts: [part(item)] }
  const isUser = type === 'message' && item['role'] !== 'assistant'
  return { role: isUser ? 'user' : 'assistant', parts: partsOf(item) }
}

/** A message holds parts; any other item is one. */
function partsOf(item: JsonObject): readonly Part[] {
  if ((item['type'] ?? 'message') !== 'message') return [part(item)]
  return partsIn(item['content'], contentPart)
}

function contentPart(block: JsonObject): Part {
  const refusal = asString(block['refusal'])
  if (refusal !== undefined) return { type: 'refusal', text: refusal }
  const text = asString(block['text'])
  return text === undefined ? otherPart(block) : { type: 'text', text }
}

function part(item: JsonObject): Part {
  const type = textOf(item['type'])
  const id = asString(item['call_id']) ?? asString(item['id']) ?? ''
  if (type === 'reasoning')
    return {
      type: 'thinking',
      text: [item['summary'], item['content']].map(contentText).filter(Boolean).join('\n\n'),
    }

  if (type.endsWith('_output')) {
    const { output } = item
    return {
      type: 'tool-result',
      id,
      text: typeof output === 'string' ? output : contentText(output) || textOf(output),
      isError: false,
    }
  }

  if (!type.endsWith('_call')) return otherPart(item)
  const name = [item['namespace'], item['name'] ?? type].filter(Boolean).join('.')
  return {
    type: 'tool-call',
    id,
    name,
    text: textOf(item['arguments'] ?? item['input'] ?? item['action'] ?? ''),
  }
}
