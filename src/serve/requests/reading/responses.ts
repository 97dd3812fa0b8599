import type { JsonObject } from '../read.ts'
import { asList, asString, contentText, isObject, objectsIn } from '../read.ts'
import type { Part, ProtocolReader, Question, Turn } from './turns.ts'
import { offeredTool, otherPart, partsIn, saidUsage, textOf, without } from './turns.ts'

/** POST /v1/responses. */
export const responses: ProtocolReader = { question, answer, assemble }

function question(body: JsonObject): Question {
  const { input } = body
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : objectsIn(input)
  const isSystem = ({ role }: JsonObject) => role === 'system' || role === 'developer'
  const system = items.filter(isSystem).map(({ content }) => contentText(content))

  return {
    system: [asString(body['instructions']) ?? '', ...system].filter(Boolean).join('\n\n'),
    turns: items
      .filter((item) => !isSystem(item) && item['type'] !== 'additional_tools')
      .flatMap(turn),
    // Codex 0.169.0 puts the tools of some models into an input item (2026-11-21).
    tools: [body['tools'], ...items.map(({ tools }) => tools)]
      .flatMap(asList)
      .filter(isObject)
      .map(offeredTool),
    settings: without(body, [
      'input',
      'instructions',
      'tools',
      'model',
      'stream',
      'previous_response_id',
    ]),
    follows: asString(body['previous_response_id']),
  }
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

function answer(document: JsonObject) {
  return {
    id: asString(document['id']),
    model: asString(document['model']),
    usage: saidUsage(document['usage'], 'input', 'output'),
    parts: objectsIn(document['output']).flatMap(partsOf),
    finish: asString(document['status']),
  }
}

function assemble(events: readonly JsonObject[]): JsonObject {
  const output: JsonObject[] = []
  const texts = new Map<number, string>()
  let document: JsonObject = {}

  for (const event of events) {
    const type = textOf(event['type'])
    const index = Number(event['output_index'])
    const { item, response } = event
    if (isObject(response)) document = response
    if (isObject(item)) output[index] = item
    // Of an item that was cut off its deltas are all there is.
    if (type.endsWith('.delta')) texts.set(index, (texts.get(index) ?? '') + textOf(event['delta']))
    if (type === 'response.output_item.done') texts.delete(index)
  }

  if (asList(document['output']).length > 0) return document
  for (const [index, text] of texts) output[index] = grown(output[index] ?? {}, text)
  return { ...document, output: output.filter((item) => item !== undefined) }
}

function grown(item: JsonObject, text: string): JsonObject {
  const type = item['type']
  if (type === 'message') return { ...item, content: [{ type: 'output_text', text }] }
  if (type === 'reasoning') return { ...item, summary: [{ type: 'summary_text', text }] }
  return { ...item, [type === 'custom_tool_call' ? 'input' : 'arguments']: text }
}
