import { UserError } from '../errors.ts'
import type { Protocol } from '../protocols.ts'
import { isUsableKey, keyChecker } from './auth.ts'
import { type Failure, failures } from './codecs/failure.ts'
import { readFaults } from './faults/fault-members.ts'
import { type Fault, Faults } from './faults/faults.ts'
import { generateKey } from './ids.ts'
import { findMismatch } from './model/sample.ts'
import { type ScopeOptions, type Upstream, withUsageErrors } from './options.ts'
import { readJson } from './requests/json.ts'
import type { ModelRequest, RequestHeaders } from './requests/model-request.ts'
import { ScenarioPlayer } from './scenarios/player.ts'
import { toQuestion } from './scenarios/question.ts'
import type { Recording } from './scenarios/recording.ts'
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
  /** The real gateway that answers what nobody wrote an answer for. */
  readonly upstream: Upstream | undefined
  readonly recording: Recording | undefined
  /** Whether somebody wrote an answer, in a scenario or as a function. */
  readonly hasAnswers: boolean
  readonly recordedModels: readonly string[]

  private constructor(
    options: ScopeOptions,
    scenario: Scenario,
    createRecording: (() => Recording) | undefined,
  ) {
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
    this.faults.set([...scenario.faults, ...checkedFaults(faults)])
    this.upstream = options.upstream
    this.hasAnswers = answer !== undefined || scenario.answers.length > 0
    this.recording = createRecording?.()
    this.recordedModels = [...recordedModels(scenario), ...(this.recording?.models ?? [])]
  }

  /**
   * @param secrets returns the keys that a recording must not have
   * @throws UserError `usage` for an invalid option, `config-invalid` for an invalid file
   */
  static async open(options: ScopeOptions, secrets: () => readonly string[]): Promise<Scope> {
    const scenario = await scenarioOf(options)
    const { record, upstream } = options
    if (upstream !== undefined && scenario.faults.length > 0)
      throw new UserError({
        code: 'usage',
        message:
          'The upstream answers the other requests, so the faults of the scenario would have no effect',
        hint: 'Leave out the upstream or the faults.',
      })
    if (record === undefined) return new Scope(options, scenario, undefined)

    // Imported only if there is something to record or to replay, because the YAML parser is large.
    const { Recording } = await import('./scenarios/recording.ts')
    const hasUpstream = upstream !== undefined
    return new Scope(options, scenario, () => new Recording(record, hasUpstream, secrets))
  }

  async close(): Promise<void> {
    await this.recording?.close()
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
    return failures.unanswered(question, answer.problem)
  }

  /** The answer of the function, else of the scenario. */
  async #findAnswer(
    request: ModelRequest,
    protocol: Protocol,
    headers: RequestHeaders,
  ): Promise<ScriptedAnswer | Failure | NoAnswer> {
    let reply: unknown
    try {
      reply = await this.#answer?.(toQuestion(request, protocol, headers))
      if (reply === undefined) return this.#player.play(request, protocol, headers)
    } catch (error) {
      // The response cannot hold the stack, and the author of the test looks for it in the terminal.
      console.error(error)
      return failures.answerThrew(error instanceof Error ? error : new Error(String(error)))
    }

    try {
      return toScriptedAnswer(reply, request)
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
      return failures.answerFailed(`The arguments of ${name} do not fit its schema: ${problem}.`)
  }
  return answer
}

/** The scopes of a gateway. */
export class Scopes {
  readonly #all = new Set<Scope>()
  /** Also of closed scopes: an answer in the log may repeat them. */
  readonly #upstreamKeys = new Set<string>()

  /** @throws UserError `usage` if another scope has the same key. The new one is closed then. */
  add(scope: Scope): void {
    if (this.find(scope.key) !== undefined) {
      scope.close()
      throw new UserError({
        code: 'usage',
        message: 'Another scope of this gateway has the same key',
        hint: 'Leave `key` out: then one is made.',
      })
    }
    this.#all.add(scope)
    if (scope.upstream !== undefined) this.#upstreamKeys.add(scope.upstream.key)
  }

  /** Invalidates the key of a scope, and closes the file into which it records. */
  async remove(scope: Scope): Promise<void> {
    if (this.#all.delete(scope)) await scope.close()
  }

  find(key: string): Scope | undefined {
    for (const scope of this.#all) if (scope.hasKey(key)) return scope
    return undefined
  }

  /** The keys to mask: those of the scopes and of their upstreams. */
  get secrets(): readonly string[] {
    return [...[...this.#all].map(({ key }) => key), ...this.#upstreamKeys]
  }

  /** Closes the recordings. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.#all].map((scope) => scope.close()))
  }
}
