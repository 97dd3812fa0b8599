import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import { catalogIn, type RejectedModel } from '../../clients/contract/setup.ts'
import { routesToProve } from '../../clients/models/resolve.ts'
import { UserError } from '../../errors.ts'
import { traitsOf } from '../../gateway/judge/traits.ts'
import { newSearches, type PartSearches, type ProbeRequest } from '../../gateway/probe/attempt.ts'
import type { ProbeResult } from '../../gateway/probe/probe.ts'
import type { ModelRoute, Sender } from '../../gateway/types.ts'
import type { InstalledProgram } from '../client-state/program/installed-program.ts'
import type { ResolvedChoice } from '../resolve/client-choice.ts'
import type { Session } from '../screen/session.ts'
import { SentProbes } from './early-probes.ts'

/** A model that a client will request, with the gateway's answer. */
export interface ProbeAnswer extends ModelRoute {
  readonly result: PromiseSettledResult<ProbeResult>
}

/** A client as the sender of a probe, with its first request for a model over a protocol. */
export type SenderFor = (route: ModelRoute) => Sender

/** The installed client as the sender of probes: its first requests with these files. */
export async function loadSenders(
  { platform }: Session,
  client: Client,
  { files, ...program }: { readonly files: LoadedFiles } & InstalledProgram,
): Promise<SenderFor> {
  const recordings = await client.loadRecordings()
  const { env } = platform.machine
  return (route) => ({
    label: client.label,
    keyHeader: client.sends.fixedKeyHeader?.[route.protocol],
    accepts: client.accepts?.[route.protocol],
    ...client.firstRequest(recordings, files, { ...program, env, ...route }),
  })
}

/** The probes of clients: each client's first request, for each model that it will request. */
export class Probes {
  readonly #sent: SentProbes
  readonly #loadSenders: (choice: ResolvedChoice) => Promise<SenderFor>
  /** By client ID. */
  readonly #searches = new Map<string, PartSearches>()

  constructor(
    probe: (request: ProbeRequest) => Promise<ProbeResult>,
    load: (choice: ResolvedChoice) => Promise<SenderFor>,
  ) {
    this.#sent = new SentProbes(probe)
    this.#loadSenders = load
  }

  /** The probes of a client, one for each model that it will request. Reads the client's files. */
  async requestsOf(choice: ResolvedChoice): Promise<readonly ProbeRequest[]> {
    const { client, resolved } = choice
    const senderFor = await this.#loadSenders(choice)
    const searches = this.#searches.get(client.id) ?? newSearches()
    this.#searches.set(client.id, searches)

    return routesOf(choice).map((route) => ({
      ...route,
      unservedHint: route.model === resolved.probeModel ? resolved.probeHint : undefined,
      sender: senderFor(route),
      searches,
    }))
  }

  isNew(request: ProbeRequest): boolean {
    return !this.#sent.has(request)
  }

  /** Sends the requests that were not sent yet, in parallel. A rejection is an answer, so it never throws. */
  async answersTo(requests: readonly ProbeRequest[]): Promise<readonly ProbeAnswer[]> {
    const results = await Promise.allSettled(requests.map((request) => this.#sent.send(request)))
    return results.map((result, index) => {
      const { model, protocol } = requests[index]!
      return { model, protocol, result }
    })
  }

  /** Probes everything that a client will request. */
  async askFor(choice: ResolvedChoice): Promise<readonly ProbeAnswer[]> {
    return this.answersTo(await this.requestsOf(choice))
  }

  /** As `askFor`, but does not wait for the answers. */
  async sendFor(choice: ResolvedChoice): Promise<void> {
    for (const request of await this.requestsOf(choice)) void this.#sent.send(request)
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
