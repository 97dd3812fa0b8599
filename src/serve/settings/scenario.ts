import type { ProtocolName } from '../codecs/codec.ts'
import type { ModelRequest } from '../codecs/events.ts'
import { isObject } from '../codecs/read.ts'
import type { Played } from '../decide.ts'
import { lastUserText, type Reply } from '../model/model.ts'
import type { Path } from './check.ts'
import { checkBoolean, checkChoice, checkList, checkObject, checkString, Misfit } from './check.ts'
import { effectKeys, faultIn, readFault } from './fault-spec.ts'
import type { Fault } from './faults.ts'

/** What a scenario file says. */
export interface Scenario {
  readonly rules: readonly Rule[]
  readonly faults: readonly Fault[]
}

/** What is answered to requests of one kind. */
export interface Rule {
  readonly when: Condition
  /** In this order, one for each request that fits. */
  readonly steps: readonly Step[]
  /** After the last step: stay at it, begin again, or fit no more. */
  readonly repeat: 'last' | 'loop' | 'never'
}

export interface Condition {
  /** The last user text holds this, whatever the case. */
  readonly contains?: string
  /** The last user text matches this. */
  readonly pattern?: RegExp
  readonly model?: string
  readonly protocol?: ProtocolName
  /** Whether the request ends with the results of tools. */
  readonly afterTool?: boolean
}

export interface Step {
  readonly text?: string
  readonly calls: readonly { readonly tool: string; readonly input: unknown }[]
  readonly fault: Fault
}

/**
 * Reads a scenario from plain data. docs/gateway.md describes the file.
 *
 * @throws Misfit
 */
export function readScenario(data: unknown): Scenario {
  const { answers, faults } = checkObject(data, [], ['answers', 'faults'])
  return {
    rules: list(answers, ['answers'], readRule),
    faults: list(faults, ['faults'], (value, path) => readFault(value, path)),
  }
}

function list<Item>(
  value: unknown,
  path: Path,
  read: (value: unknown, path: Path) => Item,
): readonly Item[] {
  if (value === undefined) return []
  return checkList(value, path).map((item, index) => read(item, [...path, index]))
}

function readRule(value: unknown, path: Path): Rule {
  const { when, reply, repeat } = checkObject(value, path, ['when', 'reply', 'repeat'])
  const replyPath = [...path, 'reply']
  if (reply === undefined) throw new Misfit(path, 'must have "reply": what is answered')
  const read = Array.isArray(reply)
    ? list(reply, replyPath, readStep)
    : [readStep(reply, replyPath)]
  if (read.length === 0) throw new Misfit(replyPath, 'must have at least one answer')
  return {
    when: readCondition(when, [...path, 'when']),
    steps: read,
    repeat:
      repeat === undefined
        ? 'last'
        : checkChoice(repeat, [...path, 'repeat'], ['last', 'loop', 'never']),
  }
}

function readCondition(value: unknown, path: Path): Condition {
  if (value === undefined) return {}
  if (typeof value === 'string') return { contains: value }
  const { text, pattern, model, protocol, afterTool } = checkObject(value, path, [
    'text',
    'pattern',
    'model',
    'protocol',
    'afterTool',
  ])
  return {
    ...(text === undefined ? {} : { contains: checkString(text, [...path, 'text']) }),
    ...(pattern === undefined ? {} : { pattern: readPattern(pattern, [...path, 'pattern']) }),
    ...(model === undefined ? {} : { model: checkString(model, [...path, 'model']) }),
    ...(protocol === undefined
      ? {}
      : {
          protocol: checkChoice(protocol, [...path, 'protocol'], ['chat', 'responses', 'messages']),
        }),
    ...(afterTool === undefined
      ? {}
      : { afterTool: checkBoolean(afterTool, [...path, 'afterTool']) }),
  }
}

function readPattern(value: unknown, path: Path): RegExp {
  const source = checkString(value, path)
  try {
    return new RegExp(source, 'iu')
  } catch (error) {
    throw new Misfit(path, `is not a regular expression: ${(error as Error).message}`)
  }
}

function readStep(value: unknown, path: Path): Step {
  if (typeof value === 'string') return { text: value, calls: [], fault: {} }
  const step = checkObject(value, path, ['text', 'call', 'with', 'calls', ...effectKeys])
  const { text, call, with: input, calls } = step
  if (input !== undefined && call === undefined)
    throw new Misfit([...path, 'with'], 'belongs to "call", which is missing')
  const single = call === undefined ? [] : [readCall({ tool: call, with: input }, path, 'call')]
  const fault = faultIn(step, path, effectKeys)
  const read = [
    ...single,
    ...list(calls, [...path, 'calls'], (item, at) => readCall(item, at, 'tool')),
  ]
  if (text === undefined && read.length === 0 && Object.keys(fault).length === 0)
    throw new Misfit(path, 'says nothing: give it "text", "call" or a fault')
  return {
    ...(text === undefined ? {} : { text: checkString(text, [...path, 'text']) }),
    calls: read,
    fault,
  }
}

function readCall(value: unknown, path: Path, toolKey: string): Step['calls'][number] {
  const { tool, with: input } = checkObject(value, path, ['tool', 'with'])
  const at = [...path, 'with']
  if (input !== undefined && typeof input !== 'string' && !isObject(input))
    throw new Misfit(at, 'must be a mapping, or text for a tool that takes text')
  return { tool: checkString(tool, [...path, toolKey]), input: input ?? {} }
}

/** A scenario being played: knows how far each rule has come. */
export class Player {
  readonly #rules: readonly { rule: Rule; at: number }[]

  constructor(rules: readonly Rule[]) {
    this.#rules = rules.map((rule) => ({ rule, at: 0 }))
  }

  /** The answer of the first rule that fits; undefined: none does. */
  play(request: ModelRequest, protocol: ProtocolName): Played | undefined {
    const asked = lastUserText(request.messages)
    const endsWithTool =
      request.messages.at(-1)?.parts.some(({ type }) => type === 'tool-result') ?? false
    for (const state of this.#rules) {
      const { rule, at } = state
      if (!fits(rule.when, asked, request.model, protocol, endsWithTool)) continue
      const step = stepAt(rule, at)
      if (step === undefined) continue
      const calls = callsOf(step, request)
      // A side job of the client, such as a title, repeats the question without the tools.
      if (calls === undefined) continue
      state.at++
      return {
        replies: [...(step.text === undefined ? [] : [textReply(step.text)]), ...calls],
        fault: Object.keys(step.fault).length === 0 ? undefined : step.fault,
      }
    }
    return undefined
  }
}

function textReply(text: string): Reply {
  return { type: 'text', text }
}

function fits(
  when: Condition,
  asked: string,
  model: string,
  protocol: ProtocolName,
  endsWithTool: boolean,
): boolean {
  if (when.contains !== undefined && !asked.toLowerCase().includes(when.contains.toLowerCase()))
    return false
  if (when.pattern !== undefined && !when.pattern.test(asked)) return false
  if (when.model !== undefined && when.model !== model) return false
  if (when.protocol !== undefined && when.protocol !== protocol) return false
  return when.afterTool === undefined || when.afterTool === endsWithTool
}

function stepAt({ steps, repeat }: Rule, at: number): Step | undefined {
  if (at < steps.length) return steps[at]
  if (repeat === 'never') return undefined
  return repeat === 'loop' ? steps[at % steps.length] : steps.at(-1)
}

/** The calls with the client's own tools; undefined: it offers one of them not. */
function callsOf(step: Step, request: ModelRequest): readonly Reply[] | undefined {
  const replies: Reply[] = []
  for (const { tool: name, input } of step.calls) {
    const tool = request.tools.find((candidate) => candidate.name === name)
    if (tool === undefined) return undefined
    // Text is what a custom tool takes; a function takes an object, whatever the file says.
    const text = typeof input === 'string' ? input : JSON.stringify(input)
    const isText = tool.kind === 'custom' || typeof input !== 'string'
    replies.push({ type: 'call', tool, input: isText ? text : JSON.stringify({ input }) })
  }
  return replies
}
