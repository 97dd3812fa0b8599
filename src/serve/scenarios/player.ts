import type { Protocol } from '../../protocols.ts'
import type { ModelRequest, RequestHeaders } from '../requests/model-request.ts'
import { toQuestion } from './question.ts'
import type { AnswerCondition, Scenario, ScenarioReply, ScenarioRule } from './scenario.ts'
import { fitReply, type NoAnswer, type ScriptedAnswer } from './scripted-answer.ts'
import type { GatewayQuestion } from './written-scenario.ts'

interface RuleState {
  readonly rule: ScenarioRule
  /** How many requests the rule has answered. */
  answerCount: number
}

/** Plays a scenario: remembers the next answer of each rule. */
export class ScenarioPlayer {
  readonly #states: readonly RuleState[]

  constructor({ answers }: Pick<Scenario, 'answers'>) {
    this.#states = answers.map((rule) => ({ rule, answerCount: 0 }))
  }

  /** The paths of the answers that no request used. */
  unused(): readonly string[] {
    return this.#states.flatMap(({ rule, answerCount }, ruleIndex) =>
      rule.reply.map((_, index) => `answers[${ruleIndex}].reply[${index}]`).slice(answerCount),
    )
  }

  /**
   * The answer of the first rule that matches and has one. A rule without an answer is skipped, because a
   * secondary request of the client, such as for a title, repeats the question without the tools.
   */
  play(
    request: ModelRequest,
    protocol: Protocol,
    headers?: RequestHeaders,
  ): ScriptedAnswer | NoAnswer {
    const question = toQuestion(request, protocol, headers)
    let problems = ''
    for (const [index, state] of this.#states.entries()) {
      if (!matchesCondition(state.rule.when, question)) continue

      const answer = nextAnswer(state, request)
      if (answer.kind !== 'none') {
        state.answerCount++
        return answer
      }
      problems += ` Rule ${index + 1} fits. ${answer.problem}`
    }

    return { kind: 'none', problem: problems }
  }
}

function nextAnswer(state: RuleState, request: ModelRequest): ScriptedAnswer | NoAnswer {
  const reply = nextReply(state)
  return reply === undefined
    ? { kind: 'none', problem: 'It has no answer left.' }
    : fitReply(reply, request)
}

function nextReply({ rule, answerCount }: RuleState): ScenarioReply | undefined {
  const { reply, repeat } = rule
  if (answerCount < reply.length) return reply[answerCount]
  if (repeat === 'never') return undefined
  return repeat === 'loop' ? reply[answerCount % reply.length] : reply.at(-1)
}

function matchesCondition(condition: AnswerCondition, question: GatewayQuestion): boolean {
  const { text, pattern, model, protocol, afterTool } = condition
  if (text !== undefined && !containsIgnoringCase(question.text, text)) return false
  if (pattern !== undefined && !pattern.test(question.text)) return false
  if (model !== undefined && model !== question.model) return false
  if (protocol !== undefined && protocol !== question.protocol) return false
  if (afterTool !== undefined && afterTool !== question.afterTool) return false

  const { system, toolResult, turn, header = {}, test } = condition
  const hasResult = (part: string) =>
    question.toolResults.some((result) => containsIgnoringCase(result, part))
  if (system !== undefined && !containsIgnoringCase(question.system, system)) return false
  if (toolResult !== undefined && !hasResult(toolResult)) return false
  if (turn !== undefined && turn !== question.turn) return false
  for (const [name, part] of Object.entries(header))
    if (!containsIgnoringCase(question.headers[name.toLowerCase()] ?? '', part)) return false

  return test === undefined || test(question)
}

function containsIgnoringCase(whole: string, part: string): boolean {
  return whole.toLowerCase().includes(part.toLowerCase())
}
