import type { JsonObject } from '../read.ts'
import { asObject, asString, contentText, isObject, objectsIn } from '../read.ts'
import { otherPart, type Part, partsIn, type Turn, textOf, withSystem } from './turns.ts'

/** The turns of a body of POST /v1/chat/completions. */
export function readChatTurns(body: JsonObject): readonly Turn[] {
  const messages = objectsIn(body['messages'])
  const isSystem = ({ role }: JsonObject) => role === 'system' || role === 'developer'
  const system = messages.filter(isSystem).map(({ content }) => contentText(content))
  const turns = messages.filter((message) => !isSystem(message)).map(turn)
  return withSystem(system.join('\n\n'), turns)
}

function turn(message: JsonObject): Turn {
  const { role, content } = message
  if (role === 'tool' || role === 'function') {
    const id = asString(message['tool_call_id']) ?? asString(message['name']) ?? ''
    const text = contentText(content)
    return { role: 'tool', parts: [{ type: 'tool-result', id, text, isError: false }] }
  }
  return { role: role === 'assistant' ? 'assistant' : 'user', parts: partsOf(message) }
}

function partsOf(message: JsonObject): readonly Part[] {
  const thinking = asString(message['reasoning_content']) ?? asString(message['reasoning']) ?? ''
  const refusal = asString(message['refusal']) ?? ''
  return [
    ...(thinking === '' ? [] : [{ type: 'thinking', text: thinking } as const]),
    ...(message['content'] === '' ? [] : partsIn(message['content'], contentPart)),
    ...(refusal === '' ? [] : [{ type: 'refusal', text: refusal } as const]),
    ...calls(message).map(call),
  ]
}

function contentPart(block: JsonObject): Part {
  const text = asString(block['text'])
  return text === undefined ? otherPart(block) : { type: 'text', text }
}

/** Also the one call of a legacy message, whose name is its id. */
function calls({ tool_calls, function_call }: JsonObject): readonly JsonObject[] {
  const legacy = asObject(function_call)
  const list = objectsIn(tool_calls)
  return isObject(function_call) ? [...list, { id: legacy['name'], function: legacy }] : list
}

function call(one: JsonObject): Part {
  const details = asObject(one['function'] ?? one['custom'])
  return {
    type: 'tool-call',
    id: asString(one['id']) ?? '',
    name: asString(details['name']) ?? '',
    text: textOf(details['arguments'] ?? details['input'] ?? ''),
  }
}
