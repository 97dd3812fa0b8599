import type { Client } from '../../clients/contract/client.ts'
import {
  catalogIn,
  type RejectedModel,
  type ResolvedOptions,
} from '../../clients/contract/setup.ts'
import { routesToProve } from '../../clients/models/resolve.ts'
import { UserError } from '../../errors.ts'
import { traitsOf } from '../../gateway/judge/traits.ts'
import { newSearches, type PartSearches } from '../../gateway/probe/attempt.ts'
import type { ProbeOptions, ProbeResult } from '../../gateway/probe/probe.ts'
import type { ModelRoute, Protocol, Sender } from '../../gateway/types.ts'
import type { ResolvedChoice } from '../resolve/client-choice.ts'

/** A model that a client will request, with the gateway's answer. */
export interface ProbeAnswer extends ModelRoute {
  readonly result: PromiseSettledResult<ProbeResult>
}

/** A client as the sender of a probe, with its first request for a model over a protocol. */
export type SenderFor = (route: ModelRoute) => Sender

type ProbeOneOptions = Pick<ProbeOptions, 'unservedHint' | 'sender' | 'searches'>

type ProbeOne = (
  protocol: Protocol,
  model: string,
  options: ProbeOneOptions,
) => Promise<ProbeResult>

/**
 * Sends one small inference for each combination of protocol, model and client request, and reuses its
 * answer: each inference costs money.
 */
export class Probes {
  readonly #probe: ProbeOne
  readonly #loadSenders: (choice: ResolvedChoice) => Promise<SenderFor>
  /** The results by the request, which `requestId` identifies. */
  readonly #results = new Map<string, Promise<ProbeResult>>()
  readonly #searches = new Map<Client, PartSearches>()
  /** By resolved options. Loading them again would read and plan a client's files again. */
  readonly #loaded = new Map<ResolvedOptions, Promise<SenderFor>>()

  constructor(probe: ProbeOne, load: (choice: ResolvedChoice) => Promise<SenderFor>) {
    this.#probe = probe
    this.#loadSenders = load
  }

  #sendersOf(choice: ResolvedChoice): Promise<SenderFor> {
    const senders = this.#loaded.get(choice.resolved) ?? this.#loadSenders(choice)
    this.#loaded.set(choice.resolved, senders)
    return senders
  }

  #ask(protocol: Protocol, model: string, options: ProbeOneOptions): Promise<ProbeResult> {
    const id = requestId(protocol, model, options.sender)
    const known = this.#results.get(id)
    if (known !== undefined) return known

    const result = this.#probe(protocol, model, options)
    this.#results.set(id, result)
    return result
  }

  /** Probes everything that a client will request, in parallel. Never throws. */
  async askFor(choice: ResolvedChoice): Promise<readonly ProbeAnswer[]> {
    const { client, resolved } = choice
    const routes = routesOf(choice)
    const hintFor = (id: string) => (id === resolved.probeModel ? resolved.probeHint : undefined)
    const senderFor = await this.#sendersOf(choice)
    const searches = this.#searches.get(client) ?? newSearches()
    this.#searches.set(client, searches)

    const results = await Promise.allSettled(
      routes.map((route) => {
        const { model, protocol } = route
        return this.#ask(protocol, model, {
          unservedHint: hintFor(model),
          sender: senderFor(route),
          searches,
        })
      }),
    )
    return results.map((result, index) => ({ ...routes[index]!, result }))
  }

  /** The models that need a probe which was not sent yet. */
  async newIds(choice: ResolvedChoice): Promise<readonly string[]> {
    const senderFor = await this.#sendersOf(choice)
    const isNew = (route: ModelRoute) =>
      !this.#results.has(requestId(route.protocol, route.model, senderFor(route)))
    return routesOf(choice)
      .filter(isNew)
      .map(({ model }) => model)
  }

  /**
   * The first of these setups whose model the gateway serves. The last one is not probed here: it is the
   * answer if the gateway rejects all others, and the proof that follows probes it.
   *
   * @throws UserError if the gateway rejects a request for another reason than its model
   */
  async firstServed(choices: readonly ResolvedChoice[]): Promise<ResolvedChoice> {
    for (const choice of choices.slice(0, -1)) {
      const [first] = await this.askFor(choice)
      if (first?.result.status !== 'rejected') return choice
      if (!isModelRejection(first.result.reason)) throw first.result.reason
    }
    return choices.at(-1)!
  }
}

/** The models that a client will request, over their protocols. */
function routesOf({ input, resolved }: ResolvedChoice): readonly ModelRoute[] {
  return routesToProve(resolved, catalogIn(input.gatewayInfo))
}

/** Identifies a request. Equal requests are sent once for all clients that accept the same responses. */
function requestId(protocol: Protocol, model: string, sender: Sender | undefined): string {
  const { body, headers, safeguards, accepts } = sender ?? {}
  return JSON.stringify([protocol, model, body, headers, safeguards, accepts])
}

/** Whether another model may succeed: the gateway rejects the model, its protocol or what its request contains. */
export function isModelRejection(error: unknown): error is UserError {
  return error instanceof UserError && traitsOf(error)?.blames === 'model'
}

/** The models that the gateway rejected, and why. @throws any other error */
export function rejectionsIn(answers: readonly ProbeAnswer[]): readonly RejectedModel[] {
  return answers.flatMap(({ model, protocol, result }) => {
    if (result.status === 'fulfilled') return []
    const error: unknown = result.reason
    if (!(error instanceof UserError)) throw error
    return [{ model, protocol, error }]
  })
}
