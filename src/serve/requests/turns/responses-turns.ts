import type { JsonObject } from '../json.ts'
import { asString, contentText, isObject, listObjects } from '../json.ts'
import { otherPart, type Part, readParts, type Turn, toText, withSystem } from './turns.ts'

/** The turns of a body of POST /v1/responses. */
export function readResponsesTurns({ input, instructions }: JsonObject): readonly Turn[] {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : listObjects(input)
  const isSystem = ({ role }: JsonObject) => role === 'system' || role === 'developer'
  const system = items.filter(isSystem).map(({ content }) => contentText(content))
  const turns = items
    .filter((item) => !isSystem(item) && item['type'] !== 'additional_tools')
    .flatMap(readItemTurn)
  return withSystem([asString(instructions) ?? '', ...system].filter(Boolean).join('\n\n'), turns)
}

function readItemTurn(item: JsonObject): Turn {
  const type = toText(item['type'] ?? 'message')
  if (type.endsWith('_output')) return { role: 'tool', parts: [readItem(item)] }
  const isUser = type === 'message' && item['role'] !== 'assistant'
  return { role: isUser ? 'user' : 'assistant', parts: itemParts(item) }
}

/** The parts of a message. Any other item is one part. */
function itemParts(item: JsonObject): readonly Part[] {
  if ((item['type'] ?? 'message') !== 'message') return [readItem(item)]
  return readParts(item['content'], readContentPart)
}

function readContentPart(block: JsonObject): Part {
  const refusal = asString(block['refusal'])
  if (refusal !== undefined) return { type: 'refusal', text: refusal }
  const text = asString(block['text'])
  return text === undefined ? otherPart(block) : { type: 'text', text }
}

function readItem(item: JsonObject): Part {
  const type = toText(item['type'])
  const id = asString(item['call_id']) ?? asString(item['id']) ?? ''
  if (type === 'reasoning')
    return {
      type: 'thinking',
      text: [item['summary'], item['content']].map(contentText).filter(Boolean).join('\n\n'),
    }

  if (type.endsWith('_output')) {
    return { type: 'tool-result', id, text: resultText(item), isError: item['status'] === 'failed' }
  }

  if (!type.endsWith('_call')) return otherPart(item)
  const name = [item['namespace'], item['name'] ?? type.replace(/_call$/, '')]
    .filter(Boolean)
    .join('.')

  return {
    type: 'tool-call',
    id,
    name,
    text: toText(
      item['arguments'] ??
        item['input'] ??
        item['action'] ??
        item['actions'] ??
        item['operation'] ??
        '',
    ),
  }
}

/** A shell returns a list of what its commands wrote, a computer a screenshot, a patch perhaps only its status. */
function resultText({ output, status }: JsonObject): string {
  if (typeof output === 'string') return output
  if (isObject(output)) return `(${toText(output['type'])})`
  const written = listObjects(output).map(({ stdout, stderr }) => `${stdout ?? ''}${stderr ?? ''}`)
  return contentText(output) || written.join('') || toText(output ?? status)
}
