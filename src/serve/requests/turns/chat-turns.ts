import type { JsonObject } from '../json.ts'
import { asString, contentText, isObject, listObjects, toObject } from '../json.ts'
import { otherPart, type Part, readParts, type Turn, toText, withSystem } from './turns.ts'

/** The turns of a body of POST /v1/chat/completions. */
export function readChatTurns(body: JsonObject): readonly Turn[] {
  const messages = listObjects(body['messages'])
  const isSystem = ({ role }: JsonObject) => role === 'system' || role === 'developer'
  const system = messages.filter(isSystem).map(({ content }) => contentText(content))
  const turns = messages.filter((message) => !isSystem(message)).map(readChatTurn)
  return withSystem(system.join('\n\n'), turns)
}

function readChatTurn(message: JsonObject): Turn {
  const { role, content } = message
  if (role === 'tool' || role === 'function') {
    const id = asString(message['tool_call_id']) ?? asString(message['name']) ?? ''
    const text = contentText(content)
    return { role: 'tool', parts: [{ type: 'tool-result', id, text, isError: false }] }
  }
  return { role: role === 'assistant' ? 'assistant' : 'user', parts: chatParts(message) }
}

function chatParts(message: JsonObject): readonly Part[] {
  const thinking = asString(message['reasoning_content']) ?? asString(message['reasoning']) ?? ''
  const refusal = asString(message['refusal']) ?? ''
  return [
    ...(thinking === '' ? [] : [{ type: 'thinking', text: thinking } as const]),
    ...(message['content'] === '' ? [] : readParts(message['content'], readChatPart)),
    ...(refusal === '' ? [] : [{ type: 'refusal', text: refusal } as const]),
    ...listCalls(message).map(readCall),
  ]
}

function readChatPart(block: JsonObject): Part {
  const text = asString(block['text'])
  return text === undefined ? otherPart(block) : { type: 'text', text }
}

/** The calls of a message. The single call of a legacy message uses its name as its ID. */
function listCalls({ tool_calls, function_call }: JsonObject): readonly JsonObject[] {
  const legacy = toObject(function_call)
  const list = listObjects(tool_calls)
  return isObject(function_call) ? [...list, { id: legacy['name'], function: legacy }] : list
}

function readCall(call: JsonObject): Part {
  const details = toObject(call['function'] ?? call['custom'])
  return {
    type: 'tool-call',
    id: asString(call['id']) ?? '',
    name: asString(details['name']) ?? '',
    text: toText(details['arguments'] ?? details['input'] ?? ''),
  }
}
