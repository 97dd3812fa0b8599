/**
 * A scenario has rules: when a request matches the condition of a rule, the gateway gives the rule's next
 * answer. In a file, `answers` is the list of rules, and `reply` the answers of a rule:
 *
 *     answers:
 *       - when: { text: weather }
 *         reply:
 *           - { call: get_weather, with: { city: Paris } }
 *           - It is sunny in Paris.
 *     faults:
 *       - { error: rate-limited, times: 1 }
 *
 * An answer goes through these types:
 *
 * 1. `WrittenReply` (`written-scenario.ts`) is an answer as people write it.
 * 2. `ScenarioReply` is the same, checked by this file, which reads a scenario from plain data.
 * 3. `ScriptedAnswer` (`scripted-answer.ts`) is fitted to the tools that the request offers. `player.ts`
 *    finds the rule for the request, by a condition on a `GatewayQuestion` (`question.ts`).
 * 4. `WholeAnswer` (`model/build-answer.ts`) is cut by the limits of the request, with its count of tokens.
 *
 * `recording.ts` writes scenario files with the answers of an upstream, and replays them.
 */
import { RE2JS } from 're2js'
import * as v from 'valibot'
import { choice, flag, integer, list, object, parseData, text, textOr } from '../../schema.ts'
import { effects, faultSchema } from '../faults/fault-members.ts'
import { isObject } from '../requests/json.ts'
import type { GatewayQuestion } from './written-scenario.ts'

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

/** An answer of an upstream, to be replayed byte for byte. */
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

/** A reply needs one of these members to be an answer. */
const answerMembers = ['text', 'call', 'refusal', 'raw', ...Object.keys(effects)]

const replySchema = v.pipe(
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

/** One written answer. */
export type ScenarioReply = v.InferOutput<typeof replySchema>

/** A string is an answer with that text. */
export const replyOrTextSchema = textOr('text', replySchema)

const repliesSchema = v.lazy((reply) =>
  Array.isArray(reply)
    ? v.pipe(list(replyOrTextSchema), v.minLength(1, 'must have at least one answer'))
    : v.pipe(
        replyOrTextSchema,
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
      (value) => typeof value === 'function',
      'must be a function',
    ),
  ),
})

/** A function or a string is a short form of a condition. */
const conditionOrShortSchema = v.pipe(
  v.unknown(),
  v.transform((value) => (typeof value === 'function' ? { test: value } : value)),
  textOr('text', conditionSchema),
)

const ruleSchema = object({
  when: v.optional(conditionOrShortSchema, {}),
  /** The answers in order, one for each matching request. */
  reply: repliesSchema,
  /** After the last answer: repeat it, start again, or stop matching. */
  repeat: v.optional(choice(['last', 'loop', 'never']), 'last'),
})

const scenarioSchema = object({
  answers: v.optional(list(ruleSchema), []),
  faults: v.optional(list(faultSchema), []),
})

/** The contents of a scenario file. */
export type Scenario = v.InferOutput<typeof scenarioSchema>

export type ScenarioRule = Scenario['answers'][number]

/** All members must match. */
export type AnswerCondition = ScenarioRule['when']

/**
 * Reads a scenario from plain data. docs/gateway.md describes the file.
 *
 * @throws InvalidData
 */
export function readScenario(data: unknown): Scenario {
  return parseData(scenarioSchema, data)
}

export function recordedModels({ answers }: Scenario): readonly string[] {
  const recorded = answers.filter(({ reply }) => reply.some(({ raw }) => raw !== undefined))
  return [...new Set(recorded.flatMap(({ when }) => when.model ?? []))]
}
