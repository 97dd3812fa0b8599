import { UserError } from '../errors.ts'
import type { Protocol } from '../protocols.ts'
import { isUsableKey, keyChecker } from './auth.ts'
import { failures } from './codecs/failure.ts'
import { generateKey } from './ids.ts'
import type { ScopeOptions } from './options.ts'
import type { ModelRequest } from './requests/request.ts'
import { acceptFaults } from './settings/fault-spec.ts'
import { type Fault, Faults } from './settings/faults.ts'
import {
  type Played,
  Player,
  playReply,
  questionOf,
  readScenario,
  recordedModels,
  type Scenario,
} from './settings/scenario.ts'
import { asUsage } from './settings/schema.ts'

/** The answers and faults of the requests that carry one key. */
export class Scope {
  readonly key: string
  /** Whether this is its key, as a client wrote it. */
  readonly isKeyedBy: (seen: string) => boolean
  readonly faults = new Faults()
  readonly fragment: NonNullable<ScopeOptions['fragment']>
  readonly families: NonNullable<ScopeOptions['families']>
  readonly #answer: ScopeOptions['answer']
  readonly #isStrict: boolean
  #player: Player | undefined
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
    this.isKeyedBy = keyChecker(key)
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
      scope.#setScenario(readScenarioFile(scenario))
    } else if (scenario !== undefined)
      scope.#setScenario(asUsage('The scenario', () => readScenario(scenario)))
    return scope
  }

  /** @throws UserError `usage` for what is no fault */
  setFaults(faults: readonly Fault[]): void {
    this.faults.setGiven(asUsage('A fault', () => acceptFaults(faults)))
  }

  /** What was written for a request. Undefined: nothing, and the built-in model answers. */
  play(request: ModelRequest, protocol: Protocol): Played | undefined {
    const answered = this.#fromFunction(request, protocol)
    if (answered !== undefined) return answered

    const played = this.#player?.play(request, protocol) ?? ''
    if (typeof played !== 'string') return played
    if (!this.#isStrict) return undefined

    const { text, model, afterTool } = questionOf(request, protocol)
    const asked = `${JSON.stringify(text.slice(0, 200))} (${protocol}, ${model}${afterTool ? ', after tool results' : ''})`
    return { utterances: [], failure: failures.unanswered(asked + played) }
  }

  #fromFunction(request: ModelRequest, protocol: Protocol): Played | undefined {
    try {
      const reply = this.#answer?.(questionOf(request, protocol))
      if (reply instanceof Promise) throw new Error('It is a promise; it must be there at once.')
      return reply === undefined ? undefined : playReply(reply, request)
    } catch (error) {
      return { utterances: [], failure: failures.answerFailed((error as Error).message) }
    }
  }

  #setScenario(scenario: Scenario): void {
    this.#player = new Player(scenario)
    this.faults.setOfScenario(scenario.faults)
    this.models = recordedModels(scenario)
  }
}

/** The scopes of a gateway by their keys. */
export class Scopes {
  readonly #all = new Set<Scope>()

  /** @throws UserError `usage` where another scope has its key */
  add(scope: Scope): void {
    if (this.of(scope.key) !== undefined)
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
  of(key: string): Scope | undefined {
    for (const scope of this.#all) if (scope.isKeyedBy(key)) return scope
    return undefined
  }

  get keys(): readonly string[] {
    return [...this.#all].map(({ key }) => key)
  }
}
