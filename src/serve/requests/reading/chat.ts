import type { JsonObject } from '../read.ts'
import { asList, asObject, asString, contentText, isObject, objectsIn } from '../read.ts'
import type { Part, ProtocolReader, Question, Turn } from './turns.ts'
import { otherPart, partsIn, saidUsage, textOf, without } from './turns.ts'

/** POST /v1/chat/completions. */
export const chat: ProtocolReader = { question, answer, assemble }

function question(body: JsonObject): Question {
  const messages = objectsIn(body['messages'])
  const isSystem = ({ role }: JsonObject) => role === 'system' || role === 'developer'

  return {
    system: messages
      .filter(isSystem)
      .map(({ content }) => contentText(content))
      .join('\n\n'),
    turns: messages.filter((message) => !isSystem(message)).map(turn),
    tools: objectsIn(body['tools']).map(tool),
    settings: without(body, ['messages', 'tools', 'model', 'stream']),
    follows: undefined,
  }
}

function tool(definition: JsonObject) {
  const details = isObject(definition['function']) ? definition['function'] : definition
  return { name: asString(details['name']) ?? textOf(definition['type']), definition }
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

function answer(document: JsonObject) {
  const [choice] = asList(document['choices'])
  const { message, finish_reason } = asObject(choice)
  return {
    id: asString(document['id']),
    model: asString(document['model']),
    usage: saidUsage(document['usage'], 'prompt', 'completion'),
    parts: partsOf(asObject(message)),
    finish: asString(finish_reason),
  }
}

function assemble(chunks: readonly JsonObject[]): JsonObject {
  const message = { content: '', reasoning_content: '', refusal: '' }
  const calls = new Map<unknown, { id: unknown; function: { name: string; arguments: string } }>()
  let finish: unknown
  let { id, model, usage }: JsonObject = {}

  for (const chunk of chunks) {
    id ??= chunk['id']
    model ??= chunk['model']
    usage = chunk['usage'] ?? usage

    const [choice] = asList(chunk['choices'])
    if (!isObject(choice)) continue
    finish = choice['finish_reason'] ?? finish
    const delta = asObject(choice['delta'])
    message.content += asString(delta['content']) ?? ''
    message.reasoning_content += asString(delta['reasoning_content'] ?? delta['reasoning']) ?? ''
    message.refusal += asString(delta['refusal']) ?? ''
    for (const piece of objectsIn(delta['tool_calls'])) addCall(piece)
  }

  const tool_calls = [...calls.values()]
  return {
    id,
    model,
    usage,
    choices: [{ message: { ...message, tool_calls }, finish_reason: finish }],
  }

  function addCall(piece: JsonObject): void {
    const details = asObject(piece['function'])
    const known = calls.get(piece['index']) ?? {
      id: piece['id'],
      function: { name: '', arguments: '' },
    }
    known.function.name += asString(details['name']) ?? ''
    known.function.arguments += asString(details['arguments']) ?? ''
    calls.set(piece['index'], known)
  }
}
