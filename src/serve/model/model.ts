import type {
  FinishReason,
  Message,
  ModelEvent,
  ModelRequest,
  Part,
  Tool,
} from '../codecs/events.ts'
import { isObject } from '../codecs/read.ts'
import { countInputTokens, countTokens, tokensOf } from '../codecs/tokens.ts'
import { sampleOf } from './sample.ts'

/** What a model says, before it is cut into events. */
export type Reply =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly tool: Tool; readonly input: string }

/** Longest part of a tool's result that is read back, in characters. */
const maxReportedCharacters = 4000

/**
 * The built-in model. It knows nothing and says the same to the same question:
 *
 * - `ping` is answered with `pong`
 * - a line `#call TOOL {json}` in the last user text calls that tool of the client; several lines
 *   are parallel calls
 * - after tool results it reports them
 * - a forced tool is called with the smallest arguments that fit its schema, and an answer that must
 *   fit a schema is the smallest that does
 *
 * @param servedAs the model by its full id
 */
export function builtInReplies(request: ModelRequest, servedAs = request.model): readonly Reply[] {
  const turn = lastTurn(request.messages)
  const results = resultsIn(turn)
  if (results.length > 0) {
    const names = toolNames(request.messages)
    return [
      text(
        results
          .map(({ id, text }) => `${names.get(id) || 'The tool'} returned: ${shorten(text)}`)
          .join('\n'),
      ),
    ]
  }
  const asked = lastUserText(turn)
  if (request.toolChoice !== 'none') {
    const calls = callsIn(asked, request.tools)
    if (calls.length > 0) return calls
    const forced = forcedTool(request)
    if (forced !== undefined) return [call(forced, JSON.stringify(sampleOf(forced.parameters)))]
  }
  if (request.outputSchema !== undefined)
    return [text(JSON.stringify(sampleOf(request.outputSchema)))]
  if (/^["'\s]*ping["'\s]*$/i.test(asked)) return [text('pong')]
  return [
    // Joined: a template stays a tree in V8, and is slow to read character by character.
    text([servedAs, ' on the local gateway. You said: ', shorten(asked.trim(), 200)].join('')),
  ]
}

function resultsIn(turn: readonly Message[]) {
  const results: Extract<Part, { type: 'tool-result' }>[] = []
  for (const { parts } of turn)
    for (const part of parts) if (part.type === 'tool-result') results.push(part)
  return results
}

/** The messages since the model last spoke. */
function lastTurn(messages: readonly Message[]): readonly Message[] {
  const last = messages.findLastIndex((message) => message.role === 'assistant')
  return messages.slice(last + 1)
}

/** The last text of a person; clients put reminders of their own before and after it. */
export function lastUserText(messages: readonly Message[]): string {
  for (let at = messages.length - 1; at >= 0; at--) {
    const { role, parts } = messages[at]!
    if (role !== 'user') continue
    for (let place = parts.length - 1; place >= 0; place--) {
      const part = parts[place]!
      if (part.type === 'text' && !/^\s*<(system-reminder|environment_context)>/.test(part.text))
        return part.text
    }
  }
  return ''
}

function toolNames(messages: readonly Message[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const message of messages)
    for (const part of message.parts) if (part.type === 'tool-call') names.set(part.id, part.name)
  return names
}

/** The calls that `#call` lines ask for, or what is wrong with them. */
function callsIn(asked: string, tools: readonly Tool[]): readonly Reply[] {
  if (!asked.includes('#call')) return []
  const replies: Reply[] = []
  for (const match of asked.matchAll(/^[ \t]*("?)#call[ \t]+(\S+)([^\n]*)$/gm)) {
    const [, quote = '', name = '', rest = ''] = match
    const tool = tools.find((candidate) => candidate.name === name)
    const script = tools.find((candidate) => candidate.nested?.includes(name))
    if (tool === undefined && script === undefined) {
      // A request without tools is a side job of the client, such as a title.
      if (tools.length === 0) return []
      const offered = tools.map((candidate) => candidate.name).join(', ')
      return [text(`This request offers no tool "${name}". It offers: ${offered}.`)]
    }
    const written = quote === '' ? rest.trim() : unquote(rest.trim())
    const input = tool?.kind === 'custom' ? written : jsonObjectIn(written)
    if (input === undefined)
      return [text(`The arguments of "#call ${name}" are not a JSON object: ${shorten(written)}`)]
    if (tool !== undefined) replies.push(call(tool, input))
    // Codex 0.169.0 gives gpt-5.6-sol one tool that takes JavaScript and calls the others (2026-11-21).
    else if (script !== undefined) replies.push(call(script, `text(await tools.${name}(${input}))`))
  }
  return replies
}

/** opencode 1.18.33 puts a prompt with spaces in quotes and escapes those inside (2026-11-21). */
function unquote(written: string): string {
  return written.replace(/"$/, '').replaceAll('\\"', '"')
}

/** The text of the JSON object, tidied; nothing at all counts as `{}`. */
function jsonObjectIn(written: string): string | undefined {
  if (written === '') return '{}'
  try {
    const value: unknown = JSON.parse(written)
    return isObject(value) ? JSON.stringify(value) : undefined
  } catch {
    return undefined
  }
}

function forcedTool({ toolChoice, tools }: ModelRequest): Tool | undefined {
  if (toolChoice === 'required') return tools[0]
  if (typeof toolChoice === 'string') return undefined
  return tools.find((tool) => tool.name === toolChoice.name)
}

function shorten(text: string, maxCharacters = maxReportedCharacters): string {
  return text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters)}…`
}

function text(content: string): Reply {
  return { type: 'text', text: content }
}

function call(tool: Tool, input: string): Reply {
  return { type: 'call', tool, input }
}

/** Pieces in which the arguments of a tool call are streamed, in characters. */
const argumentPiece = 24

/** Cuts replies into events, keeping to the limits of the request. Tool calls are never cut. */
export function eventsOf(
  replies: readonly Reply[],
  request: ModelRequest,
  newCallId: () => string,
): readonly ModelEvent[] {
  const events: ModelEvent[] = []
  let reason: FinishReason = { type: 'stop' }
  let outputTokens = 0
  for (const reply of replies) {
    if (reply.type === 'call') {
      reason = { type: 'tool-calls' }
      events.push({
        type: 'tool-call-start',
        id: newCallId(),
        tool: reply.tool,
      })
      for (let at = 0; at < reply.input.length; at += argumentPiece) {
        outputTokens++
        events.push({ type: 'tool-call-delta', text: reply.input.slice(at, at + argumentPiece) })
      }
      events.push({ type: 'tool-call-end' })
      continue
    }
    const [kept, sequence] = upToStop(reply.text, request.stopSequences)
    if (sequence !== undefined) reason = { type: 'stop-sequence', sequence }
    const left = (request.maxOutputTokens ?? Number.POSITIVE_INFINITY) - outputTokens
    const tokens = countTokens(kept)
    const isCut = tokens > left
    outputTokens += isCut ? left : tokens
    const said = isCut ? tokensOf(kept).slice(0, left).join('') : kept
    events.push({ type: 'text-start' }, { type: 'text-delta', text: said }, { type: 'text-end' })
    if (isCut) reason = { type: 'length' }
    if (reason.type === 'length' || sequence !== undefined) break
  }
  const usage = { inputTokens: countInputTokens(request), outputTokens }
  events.push({ type: 'finish', reason, usage })
  return events
}

/** Text up to the first stop sequence in it, and that sequence. */
function upToStop(
  content: string,
  sequences: readonly string[],
): readonly [string, string | undefined] {
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
