import { RE2JS } from 're2js'
import * as v from 'valibot'
import { compact } from '../../compact.ts'
import type { Protocol } from '../../protocols.ts'
import type { Utterance } from '../codecs/answer.ts'
import type { GatewayFailure } from '../codecs/failure.ts'
import type { Script } from '../model/model.ts'
import { lastUserText } from '../model/person.ts'
import { isObject } from '../requests/json.ts'
import {
  endsWithResults,
  type ModelRequest,
  type RequestContext,
  type Tool,
} from '../requests/model-request.ts'
import { newestTurns } from '../requests/turns/turns.ts'
import { effects, faultSchema } from './fault-spec.ts'
import type { Fault } from './faults.ts'
import { choice, flag, integer, list, object, parseData, text, textOr } from './schema.ts'
import type { GatewayQuestion } from './written.ts'

const tokenCount = integer(0, 1_000_000_000)
const callInputSchema = v.pipe(
  v.unknown(),
  v.check(
    (input) => typeof input === 'string' || isObject(input),
    'must be a mapping, or text for a tool that accepts text',
  ),
  v.check(hasNoCycle, 'must not contain itself'),
)
const callSchema = object({ tool: text, with: v.exactOptional(callInputSchema) })

/** Aliases in YAML can create cycles. */
function hasNoCycle(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return true
  } catch {
    return false
  }
}

/** An answer of a real gateway, to be replayed byte for byte. */
const rawReplySchema = object({
  status: v.optional(integer(200, 599), 200),
  /** Content-Type. */
  type: v.optional(text, 'application/json'),
  /** The time from the request to the first byte, in ms. */
  afterMs: v.optional(integer(0, 86_400_000), 0),
  body: v.exactOptional(text),
  /** The events of a stream, each with its delay after the previous one. */
  events: v.exactOptional(list(object({ afterMs: v.optional(integer(0, 86_400_000), 0), text }))),
})

export type RawReply = v.InferOutput<typeof rawReplySchema>

/** A step needs one of these members to be an answer. */
const answerMembers = ['text', 'call', 'refusal', 'raw', ...Object.keys(effects)]

const stepSchema = v.pipe(
  object({
    text: v.exactOptional(text),
    call: v.exactOptional(text),
    with: v.exactOptional(callInputSchema),
    calls: v.exactOptional(list(callSchema)),
    thinking: v.exactOptional(text),
    refusal: v.exactOptional(text),
    finish: v.exactOptional(choice(['stop', 'length', 'tool-calls', 'refusal', 'content-filter'])),
    usage: v.exactOptional(
      object({
        inputTokens: v.exactOptional(tokenCount),
        cachedTokens: v.exactOptional(tokenCount),
        outputTokens: v.exactOptional(tokenCount),
        reasoningTokens: v.exactOptional(tokenCount),
      }),
    ),
    raw: v.exactOptional(rawReplySchema),
    ...effects,
  }),
  v.forward(
    v.check(
      (written) => !('with' in written) || 'call' in written,
      'belongs to "call", which is missing',
    ),
    ['with'],
  ),
  v.check(
    ({ calls = [], ...written }) =>
      calls.length > 0 || Object.keys(written).some((name) => answerMembers.includes(name)),
    'says nothing: give it "text", "call" or a fault',
  ),
)

type ScenarioStep = v.InferOutput<typeof stepSchema>

/** One answer. A string is an answer with that text. */
const step = textOr('text', stepSchema)

const stepsSchema = v.lazy((reply) =>
  Array.isArray(reply)
    ? v.pipe(list(step), v.minLength(1, 'must have at least one answer'))
    : v.pipe(
        step,
        v.transform((single) => [single]),
      ),
)

/**
 * A pattern in RE2's syntax: JavaScript's without lookaround and backreferences. Its time is linear in
 * the text. A JavaScript pattern can take exponential time and would block the gateway.
 */
const patternSchema = v.pipe(
  text,
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    try {
      return RE2JS.compile(RE2JS.translateRegExp(dataset.value), RE2JS.CASE_INSENSITIVE)
    } catch (error) {
      addIssue({ message: `is not a regular expression: ${(error as Error).message}` })
      return NEVER
    }
  }),
)

const conditionSchema = object({
  /** The last user text contains this. Case does not matter. */
  text: v.exactOptional(text),
  /** The last user text matches this. */
  pattern: v.exactOptional(patternSchema),
  model: v.exactOptional(text),
  protocol: v.exactOptional(choice(['chat', 'responses', 'messages'])),
  /** Whether the request ends with tool results. */
  afterTool: v.exactOptional(flag),
  /** The system prompt contains this. Case does not matter. */
  system: v.exactOptional(text),
  /** One of the last tool results contains this. Case does not matter. */
  toolResult: v.exactOptional(text),
  turn: v.exactOptional(integer(1, 1_000_000)),
  header: v.exactOptional(v.record(text, text, 'must be a mapping')),
  /** Only in a program. */
  test: v.exactOptional(
    v.custom<(question: GatewayQuestion) => boolean>(
      (given) => typeof given === 'function',
      'must be a function',
    ),
  ),
})

/** A condition. A function or a string is a short form. */
const conditionOrText = v.pipe(
  v.unknown(),
  v.transform((given) => (typeof given === 'function' ? { test: given } : given)),
  textOr('text', conditionSchema),
)

const ruleSchema = object({
  when: v.optional(conditionOrText, {}),
  /** The answers in order, one for each matching request. */
  reply: stepsSchema,
  /** After the last answer: repeat it, start again, or stop matching. */
  repeat: v.optional(choice(['last', 'loop', 'never']), 'last'),
})

const scenarioSchema = object({
  answers: v.optional(list(ruleSchema), []),
  faults: v.optional(list(faultSchema), []),
})

/** The contents of a scenario file. */
export type Scenario = v.InferOutput<typeof scenarioSchema>

/** The answers to matching requests. */
type ScenarioRule = Scenario['answers'][number]

/** All members must match. */
type Condition = ScenarioRule['when']

/**
 * Reads a scenario from plain data. docs/gateway.md describes the file.
 *
 * @throws InvalidData
 */
export function readScenario(data: unknown): Scenario {
  return parseData(scenarioSchema, data)
}

/** The models with recorded answers. */
export function recordedModels({ answers }: Scenario): readonly string[] {
  const recorded = answers.filter(({ reply }) => reply.some(({ raw }) => raw !== undefined))
  return [...new Set(recorded.flatMap(({ when }) => when.model ?? []))]
}

/** An answer from a scenario or a function. */
export interface ScriptedAnswer extends Script {
  /** Replaces everything else. */
  readonly raw?: RawReply
  readonly fault?: Fault
  /** The reason why there is no answer. */
  readonly failure?: GatewayFailure
}

type RequestHeaders = NonNullable<RequestContext['headers']>

/** How often the model has answered. Consecutive messages of the model are one answer. */
function countModelTurns(messages: ModelRequest['messages']): number {
  const isModels = (index: number) => messages[index]?.role === 'assistant'
  return messages.filter((_, index) => isModels(index) && !isModels(index - 1)).length
}

export function toQuestion(
  request: ModelRequest,
  protocol: Protocol,
  headers: RequestHeaders = {},
): GatewayQuestion {
  const { model, messages, tools } = request

  // Read when it is used: most rules look at the text alone.
  return {
    model,
    protocol,
    messages,
    get text() {
      return lastUserText(messages)
    },
    get afterTool() {
      return endsWithResults(messages)
    },
    get tools() {
      return tools.map(({ name }) => name)
    },
    get system() {
      return messages
        .filter(({ role }) => role === 'system')
        .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? part.text : [])))
        .join('\n\n')
    },
    get toolResults() {
      return newestTurns(messages).results.map((result) => result.text)
    },
    get turn() {
      return 1 + countModelTurns(messages)
    },
    get headers() {
      return Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, String(value)]),
      )
    },
  }
}

/**
 * Converts the result of a function to an answer.
 *
 * @throws InvalidData if it is not an answer, Error if it calls a tool that the request does not offer
 */
export function toScriptedAnswer(reply: unknown, request: ModelRequest): ScriptedAnswer {
  const played = scriptStep(parseData(step, reply, ['the answer']), request)
  if (typeof played === 'string') throw new Error(played)
  return played
}

/** @returns a string with the reason if the step cannot answer this request */
function scriptStep(stepOrText: ScenarioStep, request: ModelRequest): ScriptedAnswer | string {
  const { text: answerText, thinking, refusal, finish, usage, raw, ...more } = stepOrText
  const { call, with: input, calls = [], ...fault } = more
  const calledTools = call === undefined ? calls : [{ tool: call, with: input }, ...calls]

  const availableTools = request.toolChoice === 'none' ? [] : request.tools
  const findTool = ({ tool }: { readonly tool: string }) =>
    availableTools.find(({ name }) => name === tool)
  if (calledTools.some((one) => findTool(one) === undefined)) {
    const names = availableTools.map(({ name }) => name).join(', ') || 'no tool'
    return `It calls ${calledTools.map(({ tool }) => tool).join(', ')}; the request lets it call ${names}.`
  }

  const isThinking = thinking !== undefined && request.thinking !== 'never'

  return {
    ...compact({ finish, usage, raw }),
    utterances: [
      ...(isThinking ? [{ type: 'thinking', text: thinking } as const] : []),
      ...(answerText === undefined ? [] : [{ type: 'text', text: answerText } as const]),
      ...(refusal === undefined ? [] : [{ type: 'text', text: refusal, isRefusal: true } as const]),
      ...calledTools.map((one) => scriptCall(findTool(one)!, one.with)),
    ],
    ...(Object.keys(fault).length === 0 ? {} : { fault }),
  }
}

/** A custom tool gets text, and a function gets an object, whatever the file has. */
function scriptCall(tool: Tool, input: unknown = {}): Utterance {
  const isText = typeof input === 'string'
  const text = isText && tool.kind === 'custom' ? input : JSON.stringify(isText ? { input } : input)
  return { type: 'call', tool, text }
}

/** Plays a scenario: remembers the next answer of each rule. */
export class ScenarioPlayer {
  readonly #rules: readonly { readonly rule: ScenarioRule; played: number }[]

  constructor({ answers }: Scenario) {
    this.#rules = answers.map((one) => ({ rule: one, played: 0 }))
  }

  /** The paths of the answers that no request used. */
  unused(): readonly string[] {
    return this.#rules.flatMap(({ rule, played }, index) =>
      rule.reply.slice(played).map((_, nth) => `answers[${index}].reply[${played + nth}]`),
    )
  }

  /** The answer of the first matching rule that has one; else a string with the reasons why none has. */
  play(
    request: ModelRequest,
    protocol: Protocol,
    headers?: RequestHeaders,
  ): ScriptedAnswer | string {
    let question: GatewayQuestion | undefined
    const ask = () => (question ??= toQuestion(request, protocol, headers))
    let problems = ''
    for (const [index, state] of this.#rules.entries()) {
      const { when } = state.rule
      if (Object.keys(when).length > 0 && !matchesCondition(when, ask())) continue

      const next = currentStep(state.rule, state.played)
      // A side job of the client, such as a title, repeats the question without the tools.
      const played = next === undefined ? 'It has no answer left.' : scriptStep(next, request)
      if (typeof played === 'string') {
        problems += ` Rule ${index + 1} fits. ${played}`
        continue
      }

      state.played++
      return played
    }

    return problems
  }
}

function matchesCondition(when: Condition, question: GatewayQuestion): boolean {
  const { text: contained, pattern: matching, model, protocol, afterTool } = when
  if (contained !== undefined && !containsIgnoringCase(question.text, contained)) return false
  if (matching !== undefined && !matching.test(question.text)) return false
  if (model !== undefined && model !== question.model) return false
  if (protocol !== undefined && protocol !== question.protocol) return false
  if (afterTool !== undefined && afterTool !== question.afterTool) return false

  const { system, toolResult, turn, header = {}, test } = when
  if (system !== undefined && !containsIgnoringCase(question.system, system)) return false
  if (
    toolResult !== undefined &&
    !question.toolResults.some((one) => containsIgnoringCase(one, toolResult))
  )
    return false
  if (turn !== undefined && turn !== question.turn) return false
  for (const [name, value] of Object.entries(header))
    if (!containsIgnoringCase(question.headers[name.toLowerCase()] ?? '', value)) return false

  return test === undefined || test(question)
}

function containsIgnoringCase(whole: string, part: string): boolean {
  return whole.toLowerCase().includes(part.toLowerCase())
}

function currentStep({ reply, repeat }: ScenarioRule, played: number): ScenarioStep | undefined {
  if (played < reply.length) return reply[played]
  if (repeat === 'never') return undefined
  return repeat === 'loop' ? reply[played % reply.length] : reply.at(-1)
}
