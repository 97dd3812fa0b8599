import type { Block, FinishReason, Utterance, WholeAnswer } from '../codecs/answer.ts'
import { splitTokens } from '../codecs/tokens.ts'
import { parseJsonObject } from '../requests/json.ts'
import { countInputTokens, type ModelRequest, type Tool } from '../requests/model-request.ts'
import { Refusal } from '../requests/refusal.ts'
import { callNames, newestTurns, type ToolResult, type Usage } from '../requests/turns/turns.ts'
import { lastUserText } from './person.ts'
import { findSample } from './sample.ts'

/** The contents of an answer. `finish` and `usage` override the values that follow from it. */
export interface Script {
  readonly utterances: readonly Utterance[]
  readonly finish?: 'stop' | 'length' | 'tool-calls' | 'refusal' | 'content-filter'
  readonly usage?: Partial<Usage>
}

/** The longest part of a tool result that the answer repeats, in characters. */
const maxReportedCharacters = 4000

/**
 * The built-in model. It is deterministic:
 *
 * - it answers `ping` on a separate line with `pong`
 * - a line `#call TOOL {json}` in the last user text calls that tool of the client; several lines are
 *   parallel calls
 * - lines `#think TEXT` are its thoughts, if the client allows thinking; if the client requires
 *   thinking, it always thinks
 * - after tool results it repeats them
 * - it calls a forced tool with the smallest arguments that fit the schema, and answers a required
 *   schema with the smallest value that fits
 *
 * @param servedAs the full ID of the model
 */
export function builtInAnswer(
  request: ModelRequest,
  servedAs = request.model,
): readonly Utterance[] {
  const { newest, results } = newestTurns(request.messages)
  const [thoughts, question] = splitThoughts(lastUserText(newest))
  const answer = composeAnswer({ request, question, results, servedAs })

  if (request.thinking === 'never') return answer
  if (thoughts !== '') return [{ type: 'thinking', text: thoughts }, ...answer]
  if (request.thinking === 'sometimes') return answer
  const text =
    question === '' ? 'The tools have answered.' : `The user says: ${shorten(question, 200)}`
  return [{ type: 'thinking', text }, ...answer]
}

/** The text of the `#think` lines, and the other lines. */
function splitThoughts(text: string): readonly [thoughts: string, rest: string] {
  if (!text.includes('#think')) return ['', text]
  const lines = text.split('\n')
  const isThought = (line: string) => /^[ \t]*"?#think[ \t]/.test(line)
  const thoughts = lines.filter(isThought).map((line) => line.replace(/^.*?#think[ \t]+/, ''))
  return [thoughts.join('\n'), lines.filter((line) => !isThought(line)).join('\n')]
}

interface TurnToAnswer {
  readonly request: ModelRequest
  readonly question: string
  readonly results: readonly ToolResult[]
  readonly servedAs: string
}

function composeAnswer({
  request,
  question,
  results,
  servedAs,
}: TurnToAnswer): readonly Utterance[] {
  const calls = request.toolChoice === 'none' ? [] : parseCalls(question, request)
  if (calls.length > 0 && results.length === 0) return calls
  const forced = forcedTool(request)

  if (forced !== undefined) {
    const { name, kind, parameters = {} } = forced
    const input = kind === 'custom' ? 'input' : sampleText(parameters, `the arguments of ${name}`)
    return [callUtterance(forced, input)]
  }
  if (request.outputSchema !== undefined)
    return [textUtterance(sampleText(request.outputSchema, 'the format of the answer'))]

  if (results.length > 0)
    return [textUtterance(reportResults(results, callNames(request.messages)))]
  if (/^["'\s]*ping["'\s]*$/im.test(question)) return [textUtterance('pong')]

  return [
    textUtterance(`${servedAs} on the local gateway. You said: ${shorten(question.trim(), 200)}`),
  ]
}

function reportResults(results: readonly ToolResult[], names: ReadonlyMap<string, string>): string {
  return results
    .map(({ id, text }) => `${names.get(id) || 'The tool'} returned: ${shorten(text)}`)
    .join('\n')
}

/** The calls of the `#call` lines, or a text with the problem. */
function parseCalls(question: string, { tools, toolChoice }: ModelRequest): readonly Utterance[] {
  if (!question.includes('#call')) return []
  const only = typeof toolChoice === 'object' ? toolChoice.name : undefined
  // If several tools have the same name, the first one wins.
  const lastFirst = tools.toReversed()
  const byName = new Map(lastFirst.map((tool) => [tool.name, tool]))
  const scripts = new Map(
    lastFirst.flatMap((tool) => (tool.nested ?? []).map((nested) => [nested, tool] as const)),
  )

  const utterances: Utterance[] = []
  for (const match of question.matchAll(/^[ \t]*("?)#call[ \t]+(\S+)([^\n]*)$/gm)) {
    const [, quote = '', name = '', rest = ''] = match
    if (only !== undefined && name !== only) continue
    const tool = byName.get(name)
    const script = scripts.get(name)
    if (tool === undefined && script === undefined) {
      // Clients send requests without tools for secondary tasks, such as a title.
      if (tools.length === 0) return []
      const offered = tools.map((candidate) => candidate.name).join(', ')
      return [textUtterance(`This request offers no tool "${name}". It offers: ${offered}.`)]
    }

    const written = quote === '' ? rest.trim() : unquote(rest.trim())
    // An empty text counts as {}.
    const input =
      tool?.kind === 'custom' ? written : JSON.stringify(parseJsonObject(written || '{}'))
    if (input === undefined)
      return [
        textUtterance(
          `The arguments of "#call ${name}" are not a JSON object: ${shorten(written)}`,
        ),
      ]

    if (tool !== undefined) utterances.push(callUtterance(tool, input))
    // Codex 0.169.0 offers gpt-5.6-sol one tool that runs JavaScript and calls the others (2026-11-21).
    else if (script !== undefined)
      utterances.push(callUtterance(script, `text(await tools.${name}(${input}))`))
  }

  return utterances
}

/** opencode 1.18.33 puts a prompt with spaces in quotes and escapes those inside (2026-11-21). */
function unquote(written: string): string {
  return written.replace(/"$/, '').replaceAll('\\"', '"')
}

function forcedTool({ toolChoice, tools }: ModelRequest): Tool | undefined {
  if (typeof toolChoice === 'object') return tools.find(({ name }) => name === toolChoice.name)
  if (toolChoice === 'required') return tools[0]
  return toolChoice === 'auto' ? tools.find(isJsonAnswerTool) : undefined
}

/** Whether it is the tool by which @ai-sdk/anthropic 4.0.105 requests an object without forcing a call. */
function isJsonAnswerTool({ name, description }: Tool): boolean {
  return name === 'json' && description === 'Respond with a JSON object.'
}

/** @throws Refusal if no value fits */
function sampleText(schema: unknown, what: string): string {
  const sample = findSample(schema)
  if (sample !== undefined) return JSON.stringify(sample)
  throw new Refusal(
    `The built-in model finds no value that fits the schema of ${what}.`,
    null,
    'invalid_json_schema',
  )
}

function shorten(text: string, maxCharacters = maxReportedCharacters): string {
  return text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters)}…`
}

function textUtterance(content: string): Utterance {
  return { type: 'text', text: content }
}

function callUtterance(tool: Tool, text: string): Utterance {
  return { type: 'call', tool, text }
}

/** Builds an answer from utterances, and applies the limits of the request. */
export function buildAnswer(
  { utterances, finish, usage }: Script,
  request: ModelRequest,
  newCallId: () => string,
): WholeAnswer {
  const blocks: Block[] = []
  let reason: FinishReason = { type: 'stop' }
  let outputTokens = 0
  let reasoningTokens = 0

  for (const utterance of utterances) {
    const { type } = utterance
    if (type === 'call' && reason.type === 'tool-calls' && !request.isParallel) break
    const remaining = (request.maxOutputTokens ?? Number.POSITIVE_INFINITY) - outputTokens
    if (remaining === 0) {
      reason = { type: 'length' }
      break
    }

    const [text, sequence] =
      type === 'text' ? cutAtStop(utterance.text, request.stopSequences) : [utterance.text]
    const pieces = splitTokens({ type, text })
    const isCut = pieces.length > remaining
    const tokens = isCut ? remaining : pieces.length
    outputTokens += tokens
    if (type === 'thinking') reasoningTokens += tokens
    const id = type === 'call' ? newCallId() : ''
    const usedText = isCut ? pieces.slice(0, tokens).join('') : text
    blocks.push({ ...utterance, text: usedText, isCut, id })

    if (type === 'call') reason = { type: 'tool-calls' }
    if (type === 'text' && utterance.isRefusal) reason = { type: 'refusal' }
    if (sequence !== undefined) reason = { type: 'stop-sequence', sequence }
    if (isCut) reason = { type: 'length' }
    if (isCut || sequence !== undefined) break
  }

  const inputTokens = countInputTokens(request)

  return {
    blocks,
    reason: finish === undefined ? reason : { type: finish },
    usage: { inputTokens, cachedTokens: 0, outputTokens, reasoningTokens, ...usage },
  }
}

/** The text up to the first stop sequence, and that sequence. */
function cutAtStop(
  content: string,
  sequences: readonly string[],
): readonly [text: string, sequence?: string | undefined] {
  let end = content.length
  let found: string | undefined
  for (const sequence of sequences) {
    const at = sequence === '' ? -1 : content.indexOf(sequence)
    if (at !== -1 && at < end) {
      end = at
      found = sequence
    }
  }
  return [content.slice(0, end), found]
}
