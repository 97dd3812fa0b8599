import type { Utterance } from '../codecs/answer.ts'
import { parseJsonObject } from '../requests/json.ts'
import type { ModelRequest, Tool } from '../requests/model-request.ts'
import { RequestRejection } from '../requests/rejection.ts'
import { callNames, newestTurns, type ToolResult } from '../requests/turns/turns.ts'
import { findSample } from './sample.ts'
import { lastUserText } from './user-text.ts'

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
  const { newest, results } = newestTurns(request.turns)
  const { thoughts, question } = splitThoughts(lastUserText(newest))
  const answer = composeAnswer({ request, question, results, servedAs })

  if (request.thinking === 'never') return answer
  if (thoughts !== '') return [{ type: 'thinking', text: thoughts }, ...answer]
  if (request.thinking === 'sometimes') return answer
  const text =
    question === '' ? 'The tools have answered.' : `The user says: ${shorten(question, 200)}`
  return [{ type: 'thinking', text }, ...answer]
}

/** The text of the `#think` lines, and the other lines. */
function splitThoughts(text: string): { readonly thoughts: string; readonly question: string } {
  if (!text.includes('#think')) return { thoughts: '', question: text }

  const lines = text.split('\n')
  const isThought = (line: string) => /^[ \t]*"?#think[ \t]/.test(line)
  const thoughts = lines.filter(isThought).map((line) => line.replace(/^.*?#think[ \t]+/, ''))
  const questionLines = lines.filter((line) => !isThought(line))
  return { thoughts: thoughts.join('\n'), question: questionLines.join('\n') }
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

  if (results.length > 0) return [textUtterance(reportResults(results, callNames(request.turns)))]
  if (/^["'\s]*ping["'\s]*$/im.test(question)) return [textUtterance('pong')]

  return [
    textUtterance(`${servedAs} on the local gateway. You said: ${shorten(question.trim(), 200)}`),
  ]
}

function reportResults(
  results: readonly ToolResult[],
  toolNames: ReadonlyMap<string, string>,
): string {
  return results
    .map(({ id, text }) => `${toolNames.get(id) || 'The tool'} returned: ${shorten(text)}`)
    .join('\n')
}

/** The calls of the `#call` lines, or a text with the problem. */
function parseCalls(question: string, request: ModelRequest): readonly Utterance[] {
  if (!question.includes('#call')) return []
  const { tools, toolChoice } = request
  const onlyTool = typeof toolChoice === 'object' ? toolChoice.name : undefined

  const calls: Utterance[] = []
  for (const line of question.matchAll(/^[ \t]*("?)#call[ \t]+(\S+)([^\n]*)$/gm)) {
    const [, quote = '', name = '', text = ''] = line
    if (onlyTool !== undefined && name !== onlyTool) continue
    const argumentText = quote === '' ? text.trim() : unquote(text.trim())

    const call = createCall(name, argumentText, tools)
    if (call !== undefined) calls.push(call)
    // Clients send requests without tools for secondary tasks, such as a title.
    else if (tools.length === 0) return []
    else return [textUtterance(describeCallProblem(name, argumentText, tools))]
  }
  return calls
}

/** The call of a tool. Undefined: the request does not offer it, or the arguments are not an object. */
function createCall(
  name: string,
  argumentText: string,
  tools: readonly Tool[],
): Utterance | undefined {
  const tool = tools.find((candidate) => candidate.name === name)
  if (tool?.kind === 'custom') return callUtterance(tool, argumentText)

  // An empty text counts as {}.
  const input = parseJsonObject(argumentText || '{}')
  if (input === undefined) return undefined
  const inputText = JSON.stringify(input)
  if (tool !== undefined) return callUtterance(tool, inputText)

  // Codex 0.169.0 offers gpt-5.6-sol one tool that runs JavaScript and calls the others (2026-11-21).
  const scriptTool = tools.find(({ nested }) => nested?.includes(name))
  return scriptTool && callUtterance(scriptTool, `text(await tools.${name}(${inputText}))`)
}

function describeCallProblem(name: string, argumentText: string, tools: readonly Tool[]): string {
  const isOffered = tools.some((tool) => tool.name === name || tool.nested?.includes(name))
  if (isOffered)
    return `The arguments of "#call ${name}" are not a JSON object: ${shorten(argumentText)}`
  const offeredNames = tools.map((tool) => tool.name).join(', ')
  return `This request offers no tool "${name}". It offers: ${offeredNames}.`
}

/** opencode 1.18.33 puts a prompt with spaces in quotes and escapes those inside (2026-11-21). */
function unquote(argumentText: string): string {
  return argumentText.replace(/"$/, '').replaceAll('\\"', '"')
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

/** @throws RequestRejection if no value fits */
function sampleText(schema: unknown, purpose: string): string {
  const sample = findSample(schema)
  if (sample !== undefined) return JSON.stringify(sample)
  throw new RequestRejection(
    `The built-in model finds no value that fits the schema of ${purpose}.`,
    { code: 'invalid_json_schema' },
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
