import { UserError } from '../errors.ts'
import type { Protocol } from '../protocols.ts'
import { isUsableKey, keyChecker } from './auth.ts'
import { failures } from './codecs/failure.ts'
import { generateKey } from './ids.ts'
import { findMismatch } from './model/sample.ts'
import type { ScopeOptions } from './options.ts'
import { parseJson } from './requests/read.ts'
import type { ModelRequest, RequestContext } from './requests/request.ts'
import { acceptFaults } from './settings/fault-spec.ts'
import { type Fault, Faults } from './settings/faults.ts'
import {
  readScenario,
  recordedModels,
  type Scenario,
  ScenarioPlayer,
  type ScriptedAnswer,
  toQuestion,
  toScriptedAnswer,
} from './settings/scenario.ts'
import { withUsageErrors } from './settings/schema.ts'

/** The answers and faults of the requests that carry one key. */
export class Scope {
  readonly key: string
  /** Whether this is its key, as a client wrote it. */
  readonly hasKey: (seen: string) => boolean
  readonly faults = new Faults()
  readonly fragment: NonNullable<ScopeOptions['fragment']>
  readonly families: NonNullable<ScopeOptions['families']>
  readonly #answer: ScopeOptions['answer']
  readonly #isStrict: boolean
  #player: ScenarioPlayer | undefined
  /** Of which the scenario has recorded answers. */
  models: readonly string[] = []

  private constructor(options: ScopeOptions) {
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
    this.setFaults(faults)
  }

  /** @throws UserError `usage` for what cannot be meant, `config-invalid` for a file that is wrong */
  static async open(options: ScopeOptions): Promise<Scope> {
    const scope = new Scope(options)
    const { scenario } = options
    if (typeof scenario === 'string') {
      // Imported only if there is a file, because the YAML parser is large.
      const { readScenarioFile } = await import('./settings/scenario-file.ts')
      scope.#useScenario(readScenarioFile(scenario))
    } else if (scenario !== undefined)
      scope.#useScenario(withUsageErrors('The scenario', () => readScenario(scenario)))
    return scope
  }

  /** @throws UserError `usage` for what is no fault */
  setFaults(faults: readonly Fault[]): void {
    this.faults.setConfigured(withUsageErrors('A fault', () => acceptFaults(faults)))
  }

  /** The answers of the scenario that no request took, by their places in it. */
  unused(): readonly string[] {
    return this.#player?.unused() ?? []
  }

  /** What was written for a request. Undefined: nothing, and the built-in model answers. */
  async play(
    request: ModelRequest,
    protocol: Protocol,
    headers: RequestContext['headers'],
  ): Promise<ScriptedAnswer | undefined> {
    const played = (await this.#findScripted(request, protocol, headers)) ?? ''
    if (typeof played !== 'string') return this.#isStrict ? checkCalls(played) : played
    if (!this.#isStrict) return undefined

    const { text, model, afterTool } = toQuestion(request, protocol)
    const asked = `${JSON.stringify(text.slice(0, 200))} (${protocol}, ${model}${afterTool ? ', after tool results' : ''})`
    return { utterances: [], failure: failures.unanswered(asked + played) }
  }

  /** By the function, else by the scenario; a text: why the rules that fit have no answer. */
  async #findScripted(
    request: ModelRequest,
    protocol: Protocol,
    headers: RequestContext['headers'],
  ): Promise<ScriptedAnswer | string | undefined> {
    try {
      if (this.#answer !== undefined) {
        const reply = await this.#answer(toQuestion(request, protocol, headers))
        if (reply !== undefined) return toScriptedAnswer(reply, request)
      }
      return this.#player?.play(request, protocol, headers)
    } catch (error) {
      return { utterances: [], failure: failures.answerFailed((error as Error).message) }
    }
  }

  #useScenario(scenario: Scenario): void {
    this.#player = new ScenarioPlayer(scenario)
    this.faults.setScenario(scenario.faults)
    this.models = recordedModels(scenario)
  }
}

/** An answer whose calls fit the schemas of their tools, as a vendor's model keeps to them. */
function checkCalls(played: ScriptedAnswer): ScriptedAnswer {
  for (const utterance of played.utterances) {
    if (utterance.type !== 'call' || utterance.tool.kind !== 'function') continue
    const { name, parameters } = utterance.tool
    const problem = findMismatch(parameters, parseJson(utterance.text))
    if (problem === undefined) continue
    const message = `The arguments of ${name} do not fit its schema: ${problem}`
    return { utterances: [], failure: failures.answerFailed(message) }
  }
  return played
}

/** The scopes of a gateway by their keys. */
export class Scopes {
  readonly #all = new Set<Scope>()

  /** @throws UserError `usage` where another scope has its key */
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

  /** Undefined: it is no key of this gateway. */
  find(key: string): Scope | undefined {
    for (const scope of this.#all) if (scope.hasKey(key)) return scope
    return undefined
  }

  get keys(): readonly string[] {
    return [...this.#all].map(({ key }) => key)
  }
}
