import { parseData } from '../../schema.ts'
import type { Utterance } from '../codecs/answer.ts'
import type { FaultEffects } from '../faults/faults.ts'
import type { Script } from '../model/build-answer.ts'
import type { ModelRequest, Tool } from '../requests/model-request.ts'
import { type RawReply, replyOrTextSchema, type ScenarioReply } from './scenario.ts'

/** An answer from a scenario or a function: its contents, or the bytes of a recorded answer. */
export type ScriptedAnswer = { readonly effects: FaultEffects } & (
  | { readonly kind: 'script'; readonly script: Script }
  | { readonly kind: 'recorded'; readonly raw: RawReply }
)

/** There is no answer for a request. */
export interface NoAnswer {
  readonly kind: 'none'
  readonly problem: string
}

/**
 * Converts the result of a function to an answer.
 *
 * @throws InvalidData if it is not an answer, Error if it calls a tool that the request does not offer
 */
export function toScriptedAnswer(result: unknown, request: ModelRequest): ScriptedAnswer {
  const answer = fitReply(parseData(replyOrTextSchema, result, ['the answer']), request)
  if (answer.kind === 'none') throw new Error(answer.problem)
  return answer
}

/** Fits a written answer to a request. The request must offer the tools that it calls. */
export function fitReply(reply: ScenarioReply, request: ModelRequest): ScriptedAnswer | NoAnswer {
  const { text, thinking, refusal, finish, usage, raw, ...callsAndEffects } = reply
  const { call, with: input, calls = [], ...effects } = callsAndEffects
  const writtenCalls = call === undefined ? calls : [{ tool: call, with: input }, ...calls]

  const offeredTools = request.toolChoice === 'none' ? [] : request.tools
  const toolsByName = new Map(offeredTools.toReversed().map((tool) => [tool.name, tool]))
  if (writtenCalls.some(({ tool }) => !toolsByName.has(tool))) {
    const calledNames = writtenCalls.map(({ tool }) => tool).join(', ')
    const offeredNames = offeredTools.map(({ name }) => name).join(', ') || 'no tool'
    return {
      kind: 'none',
      problem: `It calls ${calledNames}; the request lets it call ${offeredNames}.`,
    }
  }

  const utterances: Utterance[] = []
  if (thinking !== undefined && request.thinking !== 'never')
    utterances.push({ type: 'thinking', text: thinking })
  if (text !== undefined) utterances.push({ type: 'text', text })
  if (refusal !== undefined) utterances.push({ type: 'text', text: refusal, isRefusal: true })
  for (const writtenCall of writtenCalls)
    utterances.push(toCall(toolsByName.get(writtenCall.tool)!, writtenCall.with))

  if (raw !== undefined) return { kind: 'recorded', raw, effects }
  return { kind: 'script', script: { utterances, finish, usage }, effects }
}

/** A custom tool gets text, and a function gets an object, no matter which of them the file has. */
function toCall(tool: Tool, input: unknown = {}): Utterance {
  if (typeof input !== 'string') return { type: 'call', tool, text: JSON.stringify(input) }
  return { type: 'call', tool, text: tool.kind === 'custom' ? input : JSON.stringify({ input }) }
}
