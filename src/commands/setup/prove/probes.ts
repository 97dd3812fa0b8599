import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '../../../clients/contract/client.ts'
import type { LoadedFiles } from '../../../clients/contract/files.ts'
import type { ResolvedOptions } from '../../../clients/contract/setup.ts'
import { routesToProve } from '../../../clients/models/resolve.ts'
import { UserError } from '../../../errors.ts'
import { type CauseSearches, newSearches } from '../../../gateway/attempt.ts'
import { traitsOf } from '../../../gateway/judge/traits.ts'
import type { ProbeOptions, ProbeResult } from '../../../gateway/probe.ts'
import type {
  Catalog,
  GatewayAccess,
  ModelRoute,
  Protocol,
  Sender,
} from '../../../gateway/types.ts'
import type { InstalledProgram } from '../../client-state/program.ts'
import type { Session } from '../../screen/session.ts'

/** A model that a client will request, with the gateway's answer. */
export interface ProbeAnswer extends ModelRoute {
  readonly result: PromiseSettledResult<ProbeResult>
}

type ProbeOne = (
  protocol: Protocol,
  model: string,
  options: Pick<ProbeOptions, 'catalog' | 'unservedHint' | 'sender' | 'searches'>,
) => Promise<ProbeResult>

/** The first request of a client for a model, over a protocol. */
type FirstRequests = (route: ModelRoute) => Sender

type LoadFirstRequests = (client: Client, resolved: ResolvedOptions) => Promise<FirstRequests>

/** The first requests that the installed client sends with these files. */
export async function loadFirstRequests(
  { platform }: Session,
  client: Client,
  input: { readonly files: LoadedFiles } & InstalledProgram,
): Promise<FirstRequests> {
  const { files, ...program } = input
  const recordings = await client.loadRecordings()
  const { env } = platform.machine
  return (route) => ({
    label: client.label,
    keyHeader: client.sends?.defaultKeyHeader?.[route.protocol],
    accepts: client.accepts?.[route.protocol],
    ...client.firstRequest(recordings, files, { ...program, env, ...route }),
  })
}

/**
 * Sends one small inference for each combination of protocol, model and client request, and reuses its
 * answer: each inference costs money.
 */
export class Probes {
  readonly #probe: ProbeOne
  /** The catalog, or why there is none. Undefined: repoint did not request it. */
  readonly #list: Catalog | UserError | undefined
  readonly #load: LoadFirstRequests
  /** The results by the request, which `requestId` identifies. */
  readonly #results: Map<string, Promise<ProbeResult>>
  readonly #searches: Map<Client, CauseSearches>
  /** By resolved options. Loading them again would read and plan a client's files again. */
  readonly #loaded = new Map<ResolvedOptions, Promise<FirstRequests>>()

  /** @param earlier probes of the same gateway, whose answers are reused */
  constructor(
    probe: ProbeOne,
    list: Catalog | UserError | undefined,
    load: LoadFirstRequests,
    earlier?: Probes,
  ) {
    this.#results = new Map(earlier === undefined ? [] : earlier.#results)
    this.#searches = new Map(earlier === undefined ? [] : earlier.#searches)
    this.#probe = probe
    this.#list = list
    this.#load = load
  }

  get catalog(): Catalog | undefined {
    return this.#list instanceof UserError ? undefined : this.#list
  }

  #firstRequests(client: Client, resolved: ResolvedOptions): Promise<FirstRequests> {
    const requests = this.#loaded.get(resolved) ?? this.#load(client, resolved)
    this.#loaded.set(resolved, requests)
    return requests
  }

  #ask(
    protocol: Protocol,
    model: string,
    more: Pick<ProbeOptions, 'unservedHint' | 'sender' | 'searches'> = {},
  ): Promise<ProbeResult> {
    const id = requestId(protocol, model, more.sender)
    const known = this.#results.get(id)
    if (known !== undefined) return known

    const result = this.#probe(protocol, model, { catalog: this.#list, ...more })
    this.#results.set(id, result)
    return result
  }

  /** Probes everything that a client will request, in parallel. Never throws. */
  async askFor(client: Client, resolved: ResolvedOptions): Promise<readonly ProbeAnswer[]> {
    const routes = routesToProve(client, resolved, this.catalog)
    const hintFor = (id: string) => (id === resolved.probeModel ? resolved.probeHint : undefined)
    const requestFor = await this.#firstRequests(client, resolved)
    const searches = this.#searches.get(client) ?? newSearches()
    this.#searches.set(client, searches)

    const results = await Promise.allSettled(
      routes.map((route) => {
        const { model, protocol } = route
        return this.#ask(protocol, model, {
          unservedHint: hintFor(model),
          sender: requestFor(route),
          searches,
        })
      }),
    )
    return results.map((result, index) => ({ ...routes[index]!, result }))
  }

  /** The models that need a probe which was not sent yet. */
  async newIds(client: Client, resolved: ResolvedOptions): Promise<readonly string[]> {
    const requestFor = await this.#firstRequests(client, resolved)
    return routesToProve(client, resolved, this.catalog)
      .filter((route) => {
        const id = requestId(route.protocol, route.model, requestFor(route))
        return !this.#results.has(id)
      })
      .map(({ model }) => model)
  }

  /**
   * The first of these models that the gateway serves. The last one is not probed here: it is the answer
   * if the gateway rejects all others, and the proof that follows probes it.
   *
   * @throws UserError if the gateway rejects a request for another reason than its model
   */
  async firstServed(
    client: Client,
    choices: ReadonlyMap<string, ResolvedOptions>,
  ): Promise<string> {
    const ids = [...choices.keys()]
    for (const id of ids.slice(0, -1)) {
      const [first] = await this.askFor(client, choices.get(id)!)
      if (first?.result.status !== 'rejected') return id
      if (!isModelRejection(first.result.reason)) throw first.result.reason
    }
    return ids.at(-1)!
  }
}

/** A catalog that takes longer than this, in ms, is slow. A healthy gateway lists its models sooner. */
const slowCatalogMs = 2_000

/** With a short time limit, the catalog is slow after this share of it. */
const slowCatalogShare = 1 / 15

/**
 * Runs `work` while a slow catalog is still loading, so that a silent gateway is noticed sooner.
 *
 * @param work receives an error to use instead of the catalog until it arrives
 * @returns undefined if the catalog is not slow
 */
export async function ifSlow<Result>(
  catalog: Promise<unknown>,
  { timeoutMs }: GatewayAccess,
  work: (slow: UserError) => Promise<Result>,
): Promise<Result | undefined> {
  const slowMs = Math.min(slowCatalogMs, slowCatalogShare * timeoutMs)
  const isSlow = await Promise.race([
    catalog.then(() => false),
    pause(slowMs, true, { ref: false }),
  ])
  if (!isSlow) return undefined
  return work(
    new UserError({ code: 'gateway-fault', message: 'The gateway is slow to list its models' }),
  )
}

/** Identifies a request. Equal requests are sent once for all clients that accept the same responses. */
function requestId(protocol: Protocol, model: string, sender: Sender | undefined): string {
  const { body, headers, safeguards, accepts } = sender ?? {}
  return JSON.stringify([protocol, model, body, headers, safeguards, accepts])
}

/** Whether the gateway rejects only the model. */
export function isModelRejection(error: unknown): error is UserError {
  return error instanceof UserError && traitsOf(error)?.blames === 'model'
}
