import { anthropicComplexityProblem, anthropicStrictProblem } from './checks/json-schemas.ts'
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
import {
  checkMessagesToolTurns,
  checkServerTools,
  type LocatedBlock,
  listBlocks,
} from './messages-blocks.ts'
import { readMessagesTools, readToolChoice } from './messages-tools.ts'
import { endsWithResults, type ModelRequest } from './model-request.ts'
import { createReader } from './reader.ts'
import { anthropicRejection, RequestRejection } from './rejection.ts'
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
