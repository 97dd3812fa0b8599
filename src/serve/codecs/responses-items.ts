/** Each block of an answer is one output item. A stream sends the item when it starts and when it ends. */
import type { ClientToolType } from '../requests/checks/hosted-tools.ts'
import { asList, type JsonObject, parseJsonObject, toObject } from '../requests/json.ts'
import { createSeal } from '../requests/seal.ts'
import type { Block } from './answer.ts'
import type { AnswerFacts } from './codec.ts'

/** A block with its position in the answer. */
export interface IndexedBlock {
  readonly block: Block
  readonly index: number
}

/** What the items of one answer share. */
export interface ItemContext {
  readonly answerId: string
  /** The client requests a summary of the thoughts. */
  readonly sendsSummary: boolean
  /** The client requests the thoughts in encrypted form. */
  readonly sendsEncrypted: boolean
}

export function itemContext(body: JsonObject, { id }: AnswerFacts): ItemContext {
  const { summary } = toObject(body['reasoning'])
  return {
    answerId: id,
    sendsSummary: typeof summary === 'string',
    sendsEncrypted: asList(body['include']).includes('reasoning.encrypted_content'),
  }
}

/** @param stage `start`: the item has no contents yet */
export function outputItem(
  item: IndexedBlock,
  context: ItemContext,
  stage: 'start' | 'end',
): object {
  const { block } = item
  const id = itemId(item, context)
  const isStart = stage === 'start'
  const finalStatus = block.isCut ? 'incomplete' : 'completed'
  const status = isStart ? 'in_progress' : finalStatus
  const text = isStart ? '' : block.text

  switch (block.type) {
    case 'text': {
      const content = isStart ? [] : [contentPart(block, text)]
      return { id, type: 'message', status, content, role: 'assistant' }
    }
    case 'thinking': {
      const summary = context.sendsSummary && !isStart ? [contentPart(block, text)] : []
      const encrypted = context.sendsEncrypted
        ? { encrypted_content: isStart ? '' : createSeal(text) }
        : {}
      return { id, type: 'reasoning', summary, ...encrypted }
    }
    case 'call': {
      const { name, namespace, kind, vendorType } = block.tool
      if (vendorType !== undefined)
        return { id, status, ...vendorCall(vendorType, block.id, block.isCut ? '' : text) }
      const group = namespace === undefined ? {} : { namespace }
      return kind === 'function'
        ? { id, type: 'function_call', status, arguments: text, call_id: block.id, name, ...group }
        : { id, type: 'custom_tool_call', status, call_id: block.id, input: text, name, ...group }
    }
  }
}

/** The call of a tool that the vendor defines. At the start and if it was cut, the text is empty. */
function vendorCall(type: ClientToolType, call_id: string, text: string): object {
  const input = parseJsonObject(text) ?? {}
  switch (type) {
    case 'shell': {
      const action = { commands: [], max_output_length: null, timeout_ms: null, ...input }
      return { type: 'shell_call', call_id, action, environment: { type: 'local' } }
    }
    case 'local_shell': {
      // No members that are null, because @ai-sdk/openai 4.0.118 rejects them (2026-11-28).
      const action = { type: 'exec', command: [], env: {}, ...input }
      return { type: 'local_shell_call', call_id, action }
    }
    case 'apply_patch': {
      const diff = input['type'] === 'delete_file' ? {} : { diff: '' }
      const operation = { type: 'update_file', path: '', ...diff, ...input }
      return { type: 'apply_patch_call', call_id, operation }
    }
    default: {
      // The newer tools do several actions at once.
      const action = { type: 'screenshot', ...input }
      const actions = type === 'computer_use_preview' ? { action } : { actions: [action] }
      return { type: 'computer_call', call_id, pending_safety_checks: [], ...actions }
    }
  }
}

const vendorCallPrefixes: Readonly<Record<ClientToolType, string>> = {
  shell: 'sh',
  local_shell: 'lsh',
  apply_patch: 'apc',
  computer: 'cu',
  computer_use: 'cu',
  computer_use_preview: 'cu',
}

export function contentPart(block: Block, text: string): object {
  if (block.type === 'thinking') return { type: 'summary_text', text }
  return block.type === 'text' && block.isRefusal
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', annotations: [], logprobs: [], text }
}

/** The ID of an output item. It encodes the kind and the index. */
export function itemId({ block, index }: IndexedBlock, { answerId }: ItemContext): string {
  return `${idPrefix(block)}_${answerId}${index}`
}

function idPrefix(block: Block): string {
  switch (block.type) {
    case 'text':
      return 'msg'
    case 'thinking':
      return 'rs'
    case 'call': {
      const { vendorType, kind } = block.tool
      if (vendorType !== undefined) return vendorCallPrefixes[vendorType]
      return kind === 'function' ? 'fc' : 'ctc'
    }
  }
}
