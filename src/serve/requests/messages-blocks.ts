/** The blocks of the messages in POST /v1/messages: each call of a tool must have its result in the right place. */
import { type JsonObject, listObjects } from './json.ts'
import { RequestRejection } from './rejection.ts'

/** A block of a message with its place. */
export interface LocatedBlock {
  readonly role: unknown
  readonly messageIndex: number
  readonly place: string
  readonly block: JsonObject
}

export function listBlocks(body: JsonObject): readonly LocatedBlock[] {
  const located: LocatedBlock[] = []
  for (const [messageIndex, { role, content }] of listObjects(body['messages']).entries()) {
    const isText = typeof content === 'string' && content !== ''
    const blocks = isText ? [{ type: 'text', text: content }] : listObjects(content)
    for (const [index, block] of blocks.entries())
      located.push({
        role,
        messageIndex,
        place: `messages.${messageIndex}.content.${index}`,
        block,
      })
  }
  return located
}

/**
 * Checks that the turn after the calls begins with their results, each once and none missing. The
 * vendor reads consecutive messages of one role as one turn.
 */
export function checkMessagesToolTurns(blocks: readonly LocatedBlock[]): void {
  const allCalls = new Set<unknown>()
  /** The calls of the assistant's last turn. */
  const lastCalls = new Set<unknown>()
  /** The calls without a result so far, with the index of their message. */
  const openCalls = new Map<unknown, number>()
  let turnRole: unknown
  /** Whether the turn has a block that is not a result. Results after it do not count. */
  let hasOtherBlock = false

  for (const { role, messageIndex, place, block } of blocks) {
    if (role === 'system') continue
    if (role !== turnRole) {
      if (role === 'assistant') {
        checkAllAnswered(openCalls)
        lastCalls.clear()
      }
      turnRole = role
      hasOtherBlock = false
    }

    const { type, id, tool_use_id: callId } = block
    if (role === 'assistant' && type === 'tool_use') {
      if (allCalls.has(id)) throw new RequestRejection(`${place}: \`tool_use\` ids must be unique`)
      allCalls.add(id)
      lastCalls.add(id)
      openCalls.set(id, messageIndex)
    } else if (role !== 'assistant' && type === 'tool_result') {
      if (!lastCalls.has(callId))
        throw new RequestRejection(
          `${place}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${String(callId)}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
        )
      if (!openCalls.has(callId))
        throw new RequestRejection(
          `${place}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${String(callId)}`,
        )
      if (!hasOtherBlock) openCalls.delete(callId)
    } else hasOtherBlock = true
  }

  checkAllAnswered(openCalls)
}

function checkAllAnswered(openCalls: ReadonlyMap<unknown, number>): void {
  const [firstMessage] = openCalls.values()
  if (firstMessage === undefined) return
  const ids = [...openCalls.keys()].join(', ')
  throw new RequestRejection(
    `messages.${firstMessage}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  )
}

/**
 * Checks that each call of a vendor's own tool has a result, and each result a call before it
 * (https://github.com/anthropics/claude-code/issues/80439).
 */
export function checkServerTools(blocks: readonly LocatedBlock[]): void {
  const callIds = new Set<unknown>()
  for (const { place, block } of blocks) {
    const { type, id, tool_use_id: callId } = block
    if (type === 'server_tool_use') callIds.add(id)
    if (/^(?!mcp).+_tool_result$/.test(String(type)) && !callIds.has(callId))
      throw new RequestRejection(
        `${place}: unexpected \`tool_use_id\` found in \`${String(type)}\` blocks: ${String(callId)}. Each \`${String(type)}\` block must have a corresponding \`server_tool_use\` block before it.`,
      )
  }

  const answeredIds = new Set(
    blocks.flatMap(({ block: { type, tool_use_id: id } }) =>
      String(type).endsWith('_tool_result') ? [id] : [],
    ),
  )
  for (const { messageIndex, block } of blocks)
    if (block['type'] === 'server_tool_use' && !answeredIds.has(block['id']))
      throw new RequestRejection(
        `messages.${messageIndex}: \`${String(block['name'])}\` tool use with id \`${String(block['id'])}\` was found without a corresponding \`${String(block['name'])}_tool_result\` block`,
      )
}
