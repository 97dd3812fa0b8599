import { UserError } from '../errors.ts'
import type { Protocol } from '../protocols.ts'
import { isUsableKey, keyChecker } from './auth.ts'
import { type Failure, failures } from './codecs/failure.ts'
import { readFaults } from './faults/fault-members.ts'
import { type Fault, Faults } from './faults/faults.ts'
import { generateKey } from './ids.ts'
import { findMismatch } from './model/sample.ts'
import { type ScopeOptions, withUsageErrors } from './options.ts'
import { readJson } from './requests/json.ts'
import type { ModelRequest, RequestHeaders } from './requests/model-request.ts'
import { ScenarioPlayer } from './scenarios/player.ts'
import { toQuestion } from './scenarios/question.ts'
import { readScenario, recordedModels, type Scenario } from './scenarios/scenario.ts'
import {
  type NoAnswer,
  type ScriptedAnswer,
  toScriptedAnswer,
} from './scenarios/scripted-answer.ts'
import type { GatewayQuestion } from './scenarios/written-scenario.ts'

/** What one key of this gateway gets: the answers that somebody wrote for it, and its faults. */
export class Scope {
  readonly key: string
  /** Whether a client's key is the key of this scope. */
  readonly hasKey: (key: string) => boolean
  readonly faults = new Faults()
  readonly fragment: NonNullable<ScopeOptions['fragment']>
  readonly families: NonNullable<ScopeOptions['families']>
  readonly #answer: ScopeOptions['answer']
  readonly #isStrict: boolean
  readonly #player: ScenarioPlayer
  /** The models for which the scenario has recorded answers. */
  readonly recordedModels: readonly string[]

  private constructor(options: ScopeOptions, scenario: Scenario) {
    const { key = generateKey(), answer, strict = false, faults = [] } = options
    if (!isUsableKey(key))
      throw new UserError({
        code: 'usage',
        message: 'The key of the gateway is too short, or no key at all',
        hint: 'Give one of at least 8 visible ASCII characters after `sk-`, or none: then one is made.',
      })

    this.key = key
    this.hasKey = keyChecker(key)
    this.#answer = answer
    this.#isStrict = strict
    this.fragment = options.fragment ?? 'on'
    this.families = options.families ?? 'vendor'
    this.#player = new ScenarioPlayer(scenario)
    this.recordedModels = recordedModels(scenario)
    this.faults.set([...scenario.faults, ...checkedFaults(faults)])
  }

  /** @throws UserError `usage` for an invalid option, `config-invalid` for an invalid file */
  static async open(options: ScopeOptions): Promise<Scope> {
    return new Scope(options, await scenarioOf(options))
  }

  /** @throws UserError `usage` for an invalid fault */
  setFaults(faults: readonly Fault[]): void {
    this.faults.set(checkedFaults(faults))
  }

  /** The paths of the scenario's answers that no request used. */
  unused(): readonly string[] {
    return this.#player.unused()
  }

  /** The written answer for a request. `none`: the built-in model answers. */
  async play(
    request: ModelRequest,
    protocol: Protocol,
    headers: RequestHeaders,
  ): Promise<ScriptedAnswer | Failure | NoAnswer> {
    const answer = await this.#findAnswer(request, protocol, headers)
    if (!this.#isStrict) return answer
    if (answer.kind !== 'none') return checkCalls(answer)

    const question = describeQuestion(toQuestion(request, protocol))
    return failures.unanswered(question + answer.problem)
  }

  /** The answer of the function, else of the scenario. */
  async #findAnswer(
    request: ModelRequest,
    protocol: Protocol,
    headers: RequestHeaders,
  ): Promise<ScriptedAnswer | Failure | NoAnswer> {
    try {
      if (this.#answer !== undefined) {
        const reply = await this.#answer(toQuestion(request, protocol, headers))
        if (reply !== undefined) return toScriptedAnswer(reply, request)
      }
      return this.#player.play(request, protocol, headers)
    } catch (error) {
      return failures.answerFailed((error as Error).message)
    }
  }
}

async function scenarioOf({ scenario = { answers: [] } }: ScopeOptions): Promise<Scenario> {
  if (typeof scenario !== 'string')
    return withUsageErrors('The scenario', () => readScenario(scenario))
  // Imported only if there is a file, because the YAML parser is large.
  const { readScenarioFile } = await import('./scenarios/scenario-file.ts')
  return readScenarioFile(scenario)
}

function checkedFaults(faults: readonly Fault[]): readonly Fault[] {
  return withUsageErrors('A fault', () => readFaults(faults))
}

function describeQuestion({ text, protocol, model, afterTool }: GatewayQuestion): string {
  const place = afterTool ? `${protocol}, ${model}, after tool results` : `${protocol}, ${model}`
  return `${JSON.stringify(text.slice(0, 200))} (${place})`
}

/** Rejects an answer whose calls do not fit the schemas of their tools, as a vendor's model would ensure. */
function checkCalls(answer: ScriptedAnswer | Failure): ScriptedAnswer | Failure {
  const utterances = answer.kind === 'script' ? answer.script.utterances : []
  for (const utterance of utterances) {
    if (utterance.type !== 'call' || utterance.tool.kind !== 'function') continue
    const { name, parameters } = utterance.tool
    const problem = findMismatch(parameters, readJson(utterance.text))
    if (problem !== undefined)
      return failures.answerFailed(`The arguments of ${name} do not fit its schema: ${problem}`)
  }
  return answer
}

/** The scopes of a gateway. */
export class Scopes {
  readonly #all = new Set<Scope>()

  /** @throws UserError `usage` if another scope has the same key */
  add(scope: Scope): void {
    if (this.find(scope.key) !== undefined)
      throw new UserError({
        code: 'usage',
        message: 'Another scope of this gateway has the same key',
        hint: 'Leave `key` out: then one is made.',
      })
    this.#all.add(scope)
  }

  remove(scope: Scope): void {
    this.#all.delete(scope)
  }

  /** Finds the scope of a key. Undefined if no scope has it. */
  find(key: string): Scope | undefined {
    for (const scope of this.#all) if (scope.hasKey(key)) return scope
    return undefined
  }

  get keys(): readonly string[] {
    return [...this.#all].map(({ key }) => key)
  }
}
