import { checkSearch, isSkippedTool, messagesClientTool } from './checks/hosted-tools.ts'
import {
  anthropicComplexityProblem,
  anthropicStrictProblem,
  invalidKeyword,
} from './checks/json-schemas.ts'
import { anthropicMediaProblem } from './checks/media.ts'
import {
  asList,
  asNumber,
  asString,
  isObject,
  type JsonObject,
  listObjects,
  toObject,
} from './json.ts'
import { endsWithResults, type ModelRequest, type Tool, type ToolChoice } from './model-request.ts'
import { createReader } from './reader.ts'
import { anthropicRejection, RequestRejection, unsupportedFeature } from './rejection.ts'
import { createSeal } from './seal.ts'
import { readMessagesTurns } from './turns/messages-turns.ts'
import type { Turn } from './turns/turns.ts'

/** Reads the body of POST /v1/messages. The imitated gateway fills in a missing `max_tokens`. */
export const readMessagesRequest = createReader('messages', (body, { checksSchemas }) => {
  const blocks = listBlocks(body)
  const imageCount = blocks.flatMap(imagesIn).length
  for (const block of blocks) checkBlock(block, imageCount)
  checkCacheMarks(body)
  checkMessagesToolTurns(blocks)
  checkServerTools(blocks)
  const turns = readMessagesTurns(body)

  const choice = toObject(body['tool_choice'])
  const tools = readMessagesTools(listObjects(body['tools']), choice, checksSchemas)

  return {
    model: asString(body['model']) ?? '',
    turns,
    tools,
    toolChoice: readToolChoice(choice, tools),
    isParallel: choice['disable_parallel_tool_use'] !== true,
    thinking: readThinking(body, turns),
    alteredThought: findAlteredThought(blocks),
    maxOutputTokens: asNumber(body['max_tokens']),
    stopSequences: asList(body['stop_sequences']) as string[],
    outputSchema: readMessagesFormat(body, checksSchemas),
  }
})

/** The images of a block, or of the result of a call. */
function imagesIn({ block }: LocatedBlock): readonly JsonObject[] {
  return [block, ...listObjects(block['content'])].filter(({ type }) => type === 'image')
}

/** Checks the input of a call, and the images and documents of a block or of the result of a call. */
function checkBlock({ place, block }: LocatedBlock, imageCount: number): void {
  const { type, input, content } = block
  if (type === 'tool_use' && !isObject(input))
    throw anthropicRejection({
      type: 'wrong-kind',
      path: [place, 'tool_use', 'input'],
      kind: 'object',
    })

  checkMedia(block, place, imageCount)
  for (const [index, part] of listObjects(content).entries())
    checkMedia(part, `${place}.${String(type)}.content.${index}`, imageCount)
}

function checkMedia({ type, source }: JsonObject, place: string, imageCount: number): void {
  if (type !== 'image' && type !== 'document') return
  const { type: sourceType, media_type: mediaType, data } = toObject(source)
  if (sourceType !== 'base64') return
  const media = { type: String(mediaType), data: String(data) }
  const problem = anthropicMediaProblem(media, imageCount)
  if (problem !== undefined) throw new RequestRejection(`${place}.${type}.source.base64${problem}`)
}

const maxCacheMarks = 4

/** Checks the cache marks. Tool schemas have none (https://github.com/tghamm/Anthropic.SDK/issues/50). */
function checkCacheMarks({ system, tools, messages }: JsonObject): void {
  const marksIn = (value: unknown): readonly JsonObject[] => {
    if (Array.isArray(value)) return value.flatMap(marksIn)
    if (!isObject(value)) return []
    const { cache_control: mark, content } = value
    return [...marksIn(content), ...(isObject(mark) ? [mark] : [])]
  }

  // In the order in which the vendor reads them.
  const marks = marksIn([tools, system, messages])
  if (marks.length > maxCacheMarks)
    throw new RequestRejection(
      `A maximum of ${maxCacheMarks} blocks with cache_control may be provided. Found ${marks.length}.`,
    )

  const firstShort = marks.findIndex(({ ttl = '5m' }) => ttl === '5m')
  if (firstShort !== -1 && marks.slice(firstShort).some(({ ttl }) => ttl === '1h'))
    throw new RequestRejection(
      "cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
    )
}

function findAlteredThought(blocks: readonly LocatedBlock[]): RequestRejection | undefined {
  for (const { place, block } of blocks) {
    const { type, thinking, signature } = block
    if (type === 'thinking' && signature !== createSeal(String(thinking)))
      return new RequestRejection(`${place}: Invalid \`signature\` in \`thinking\` block`)
    // This gateway sends none (https://github.com/anthropics/claude-code/issues/56708).
    if (type === 'redacted_thinking')
      return new RequestRejection(`${place}: Invalid \`data\` in \`redacted_thinking\` block`)
  }
  return undefined
}

const thinkingGuide = 'https://docs.claude.com/en/docs/build-with-claude/extended-thinking'

function readThinking(
  { thinking, max_tokens: limit }: JsonObject,
  turns: readonly Turn[],
): ModelRequest['thinking'] {
  const { type = 'disabled', budget_tokens: budget } = toObject(thinking)
  if (type === 'disabled') return 'never'

  if (type !== 'enabled') return 'sometimes'

  if (typeof limit === 'number' && limit <= (budget as number))
    throw new RequestRejection(
      `\`max_tokens\` must be greater than \`thinking.budget_tokens\`. Please consult our documentation at ${thinkingGuide}#max-tokens-and-context-window-size`,
    )
  checkThoughtsAreReturned(turns)

  return 'always'
}

/** Checks that the client returns the thoughts before the calls to which they led. */
function checkThoughtsAreReturned(turns: readonly Turn[]): void {
  const lastAnswer = turns.findLast(({ role }) => role === 'assistant')
  const firstType = lastAnswer?.parts[0]?.type
  const continuesAnswer = endsWithResults(turns) || turns.at(-1)?.role === 'assistant'
  if (!continuesAnswer || firstType === 'thinking') return

  const messageIndex = turns.filter(({ role }) => role !== 'system').lastIndexOf(lastAnswer!)
  const blockType = firstType === 'text' ? 'text' : 'tool_use'
  throw new RequestRejection(
    `messages.${messageIndex}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${blockType}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`. Please consult our documentation at ${thinkingGuide}`,
  )
}

/** Reads the schema of the answer. `output_format` is the older name of `output_config`. */
function readMessagesFormat(body: JsonObject, checksSchemas: boolean): unknown {
  const { format } = toObject(body['output_config'])
  const place = isObject(format) ? 'output_config.format' : 'output_format'
  const { schema } = toObject(isObject(format) ? format : body['output_format'])
  if (!isObject(schema)) return undefined
  if (!checksSchemas) return schema

  const problem = anthropicStrictProblem(schema) ?? anthropicComplexityProblem([schema])
  if (problem !== undefined) throw new RequestRejection(`${place}.schema: ${problem}`)
  return schema
}

/** A block of a message with its place. */
interface LocatedBlock {
  readonly role: unknown
  readonly messageIndex: number
  readonly place: string
  readonly block: JsonObject
}

function listBlocks(body: JsonObject): readonly LocatedBlock[] {
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
function checkMessagesToolTurns(blocks: readonly LocatedBlock[]): void {
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
function checkServerTools(blocks: readonly LocatedBlock[]): void {
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

function readMessagesTools(
  offeredTools: readonly JsonObject[],
  choice: JsonObject,
  checksSchemas: boolean,
): readonly Tool[] {
  checkSearch(offeredTools, choice)
  const tools = offeredTools.flatMap((tool, index) => readMessagesTool(tool, index, checksSchemas))
  if (checksSchemas) checkToolsTogether(offeredTools)
  return tools
}

/** Reads a tool of the client, or one that the vendor defines and the client executes. */
function readMessagesTool(
  tool: JsonObject,
  index: number,
  checksSchemas: boolean,
): readonly Tool[] {
  const { type = 'custom', description, input_schema: schema, strict } = tool
  const name = String(tool['name'])
  if (type !== 'custom') {
    const parameters = messagesClientTool(tool)
    if (parameters !== undefined) return [{ name, kind: 'function', parameters }]
    if (isSkippedTool(tool)) return []
    throw unsupportedFeature(`the vendor's own tool ${String(type)}`, 'tools')
  }

  const place = `tools.${index}.custom.input_schema`
  const parameters = toObject(schema)
  const propertyNames = Object.keys(toObject(parameters['properties']))
  // https://github.com/n8n-io/n8n/issues/30590
  if (checksSchemas && !propertyNames.every((property) => propertyNamePattern.test(property)))
    throw new RequestRejection(
      `${place}.properties: Property keys should match pattern '${propertyNamePattern.source}'`,
    )
  if (invalidKeyword(parameters) !== undefined)
    throw new RequestRejection(
      `${place}: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). Learn more about tool use at https://docs.claude.com/en/docs/tool-use.`,
    )
  const problem = checksSchemas && strict === true ? anthropicStrictProblem(parameters) : undefined
  if (problem !== undefined) throw new RequestRejection(`${place}: ${problem}`)

  return [{ name, kind: 'function', description: asString(description), parameters }]
}

const propertyNamePattern = /^[a-zA-Z0-9_.-]{1,64}$/
const maxStrictTools = 20

/** The rules for all tools of a request together. */
function checkToolsTogether(tools: readonly JsonObject[]): void {
  const deferred = tools.filter((tool) => tool['defer_loading'] === true)
  // https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool
  if (tools.length > 0 && deferred.length === tools.length)
    throw new RequestRejection(
      'tools: All tools have defer_loading set. At least one tool must be non-deferred.',
    )

  const strict = tools.filter((tool) => tool['strict'] === true)
  // https://github.com/elizaOS/eliza/issues/16499
  if (strict.length > maxStrictTools)
    throw new RequestRejection(
      `tools: Too many strict tools (${strict.length}). The maximum number of strict tools supported is ${maxStrictTools}.`,
    )
  const problem = anthropicComplexityProblem(strict.map((tool) => toObject(tool['input_schema'])))
  if (problem !== undefined) throw new RequestRejection(problem)
}

function readToolChoice({ type, name }: JsonObject, tools: readonly Tool[]): ToolChoice {
  if (type === undefined) return 'auto'
  if (type === 'none') return 'none'
  if (type === 'any') return 'required'
  if (type === 'auto') return 'auto'

  if (!tools.some((tool) => tool.name === name))
    throw new RequestRejection(`tool_choice: Tool '${String(name)}' not found in provided tools`)
  return { name: String(name) }
}
