import type {
  FinishReason,
  Message,
  ModelEvent,
  ModelRequest,
  Part,
  Tool,
} from '../codecs/events.ts'
import { asList, asString, asStrings, isObject } from '../codecs/read.ts'
import { countInputTokens, tokensOf } from '../codecs/tokens.ts'

/** What a model says, before it is cut into events. */
export type Utterance =
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
export function builtInAnswer(
  request: ModelRequest,
  servedAs = request.model,
): readonly Utterance[] {
  const turn = lastTurn(request.messages)
  const results = resultsIn(turn)
  if (results.length > 0) {
    const names = toolNames(request.messages)
    return [
      say(
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
    if (forced !== undefined) return [callTool(forced, JSON.stringify(sampleOf(forced.parameters)))]
  }

  if (request.outputSchema !== undefined)
    return [say(JSON.stringify(sampleOf(request.outputSchema)))]
  if (/^["'\s]*ping["'\s]*$/i.test(asked)) return [say('pong')]
  return [say(`${servedAs} on the local gateway. You said: ${shorten(asked.trim(), 200)}`)]
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
function callsIn(asked: string, tools: readonly Tool[]): readonly Utterance[] {
  if (!asked.includes('#call')) return []
  // Of tools of one name the first counts.
  const lastFirst = tools.toReversed()
  const byName = new Map(lastFirst.map((tool) => [tool.name, tool]))
  const scripts = new Map(
    lastFirst.flatMap((tool) => (tool.nested ?? []).map((nested) => [nested, tool] as const)),
  )

  const utterances: Utterance[] = []
  for (const match of asked.matchAll(/^[ \t]*("?)#call[ \t]+(\S+)([^\n]*)$/gm)) {
    const [, quote = '', name = '', rest = ''] = match
    const tool = byName.get(name)
    const script = scripts.get(name)
    if (tool === undefined && script === undefined) {
      // A request without tools is a side job of the client, such as a title.
      if (tools.length === 0) return []
      const offered = tools.map((candidate) => candidate.name).join(', ')
      return [say(`This request offers no tool "${name}". It offers: ${offered}.`)]
    }

    const written = quote === '' ? rest.trim() : unquote(rest.trim())
    const input = tool?.kind === 'custom' ? written : jsonObjectIn(written)
    if (input === undefined)
      return [say(`The arguments of "#call ${name}" are not a JSON object: ${shorten(written)}`)]

    if (tool !== undefined) utterances.push(callTool(tool, input))
    // Codex 0.169.0 gives gpt-5.6-sol one tool that takes JavaScript and calls the others (2026-11-21).
    else if (script !== undefined)
      utterances.push(callTool(script, `text(await tools.${name}(${input}))`))
  }
  return utterances
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

function say(content: string): Utterance {
  return { type: 'text', text: content }
}

function callTool(tool: Tool, input: string): Utterance {
  return { type: 'call', tool, input }
}

/** Pieces in which the arguments of a tool call are streamed, in characters. */
const argumentPiece = 24

/** Cuts utterances into events, keeping to the limits of the request. Tool calls are never cut. */
export function eventsOf(
  utterances: readonly Utterance[],
  request: ModelRequest,
  newCallId: () => string,
): readonly ModelEvent[] {
  const events: ModelEvent[] = []
  let reason: FinishReason = { type: 'stop' }
  let outputTokens = 0

  for (const utterance of utterances) {
    if (utterance.type === 'call') {
      reason = { type: 'tool-calls' }
      events.push({ type: 'tool-call-start', id: newCallId(), tool: utterance.tool })
      for (let at = 0; at < utterance.input.length; at += argumentPiece) {
        outputTokens++
        events.push({
          type: 'tool-call-delta',
          text: utterance.input.slice(at, at + argumentPiece),
        })
      }
      events.push({ type: 'tool-call-end' })
      continue
    }

    const [kept, sequence] = upToStop(utterance.text, request.stopSequences)
    if (sequence !== undefined) reason = { type: 'stop-sequence', sequence }

    const left = Math.max(0, (request.maxOutputTokens ?? Number.POSITIVE_INFINITY) - outputTokens)
    const tokens = tokensOf(kept)
    const said = tokens.slice(0, left)
    const isCut = said.length < tokens.length
    outputTokens += said.length
    events.push(
      { type: 'text-start' },
      { type: 'text-delta', text: said.join('') },
      { type: 'text-end' },
    )

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

/** The smallest value that fits a JSON schema, as far as its plain parts say. */
export function sampleOf(schema: unknown, depth = 0): unknown {
  if (!isObject(schema) || depth > 16) return {}
  if ('const' in schema) return schema['const']
  const choices = asList(schema['enum'])
  if (choices.length > 0) return choices[0]
  const alternative = asList(schema['anyOf'])[0] ?? asList(schema['oneOf'])[0]
  if (alternative !== undefined) return sampleOf(alternative, depth + 1)

  const type = asString(schema['type']) ?? asString(asList(schema['type'])[0])
  switch (type) {
    case 'string':
      return ''
    case 'integer':
    case 'number':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 0
    case 'boolean':
      return false
    case 'null':
      return null
    case 'array':
      return []
    default: {
      const properties = isObject(schema['properties']) ? schema['properties'] : {}
      // Each once: a name that stands there again and again would be filled in again and again.
      const required = new Set(asStrings(schema['required']))
      return Object.fromEntries(
        [...required].map((name) => [name, sampleOf(properties[name], depth + 1)]),
      )
    }
  }
}
