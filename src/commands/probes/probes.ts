import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import { catalogIn, type RejectedModel } from '../../clients/contract/setup.ts'
import { modelsToProve } from '../../clients/models/resolve.ts'
import { UserError } from '../../errors.ts'
import { traitsOf } from '../../gateway/judge/traits.ts'
import { newSearches, type PartSearches, type ProbeRequest } from '../../gateway/probe/attempt.ts'
import type { ProbeResult } from '../../gateway/probe/probe.ts'
import type { ModelAndProtocol, Sender } from '../../gateway/types.ts'
import type { InstalledProgram } from '../client-state/program/installed-program.ts'
import type { ResolvedChoice } from '../resolve/client-choice.ts'
import type { Session } from '../screen/session.ts'
import { SentProbes } from './sent-probes.ts'

/** A model that a client will request, with the gateway's answer. */
export interface ProbeAnswer extends ModelAndProtocol {
  readonly result: PromiseSettledResult<ProbeResult>
}

/** A client as the sender of a probe, with its first request for a model over a protocol. */
export type SenderFor = (probed: ModelAndProtocol) => Sender

/** The installed client as the sender of probes: its first requests with these files. */
export async function loadSenders(
  { platform }: Session,
  client: Client,
  { files, ...program }: { readonly files: LoadedFiles } & InstalledProgram,
): Promise<SenderFor> {
  const recordings = await client.loadRecordings()
  const { env } = platform.machine
  return ({ model, protocol }) => ({
    label: client.label,
    keyHeader: client.sends.fixedKeyHeader?.[protocol],
    accepts: client.accepts?.[protocol],
    ...client.firstRequest(recordings, files, { ...program, env, model, protocol }),
  })
}

/** The probes of clients: each client's first request, for its first model and each other one that no catalog lists. */
export class Probes {
  readonly #sent: SentProbes
  readonly #loadSenders: (choice: ResolvedChoice) => Promise<SenderFor>
  /** By client ID. */
  readonly #searches = new Map<string, PartSearches>()
  readonly #requests = new Map<ResolvedChoice, Promise<readonly ProbeRequest[]>>()

  constructor(
    probe: (request: ProbeRequest) => Promise<ProbeResult>,
    load: (choice: ResolvedChoice) => Promise<SenderFor>,
  ) {
    this.#sent = new SentProbes(probe)
    this.#loadSenders = load
  }

  /**
   * The probes of a client, one for each of `modelsToProve`. They are made once for each choice, with what is
   * known of the gateway then, so a second call finds them sent already.
   */
  #requestsOf(choice: ResolvedChoice): Promise<readonly ProbeRequest[]> {
    const requests = this.#requests.get(choice) ?? this.#newRequests(choice)
    this.#requests.set(choice, requests)
    return requests
  }

  /** Reads the client's files. */
  async #newRequests(choice: ResolvedChoice): Promise<readonly ProbeRequest[]> {
    const { client, input, resolved } = choice
    const senderFor = await this.#loadSenders(choice)
    const searches = this.#searches.get(client.id) ?? newSearches()
    this.#searches.set(client.id, searches)

    return modelsToProve(resolved, catalogIn(input.gatewayInfo)).map(({ model, protocol }) => ({
      model,
      protocol,
      unservedHint: model === resolved.probeModel ? resolved.probeHint : undefined,
      sender: senderFor({ model, protocol }),
      searches,
    }))
  }

  /** The models of these choices that repoint has not requested yet. */
  async unsentModels(choices: readonly ResolvedChoice[]): Promise<readonly string[]> {
    const requests = await Promise.all(choices.map((choice) => this.#requestsOf(choice)))
    const unsent = requests.flat().filter((request) => !this.#sent.has(request))
    return [...new Set(unsent.map(({ model }) => model))]
  }

  /**
   * Probes the models of a client in parallel, and none twice. A rejection is an answer, so it never throws
   * one.
   */
  async answersTo(choice: ResolvedChoice): Promise<readonly ProbeAnswer[]> {
    const requests = await this.#requestsOf(choice)
    const results = await Promise.allSettled(requests.map((request) => this.#sent.send(request)))
    return results.map((result, index) => {
      const { model, protocol } = requests[index]!
      return { model, protocol, result }
    })
  }

  /** As `answersTo`, but does not wait for the answers. */
  async sendFor(choice: ResolvedChoice): Promise<void> {
    for (const request of await this.#requestsOf(choice)) void this.#sent.send(request)
  }

  /**
   * The first of these setups whose model the gateway serves. The last one is not probed here: it is the
   * answer if the gateway rejects all others, and the proof that follows probes it.
   *
   * @throws UserError if the gateway rejects a request for another reason than its model
   */
  async firstServed(choices: readonly ResolvedChoice[]): Promise<ResolvedChoice> {
    for (const choice of choices.slice(0, -1)) {
      const [first] = await this.answersTo(choice)
      if (first?.result.status !== 'rejected') return choice
      if (!isModelRejection(first.result.reason)) throw first.result.reason
    }
    return choices.at(-1)!
  }
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
