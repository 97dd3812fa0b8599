/**
 * The way in which every command asks a gateway whether it works. Commands differ in what they ask and in what they
 * do with the answers. Before it, only a setup on a terminal sends one request, if that may save the user a question
 * (`expectServing` and `expectProtocol` in setup/prove/prove-clients.ts).
 *
 *     1. the list of models     optional: 2 s if a model is known   ─▶  CatalogAnswer
 *     2. the command's asks     one for each client                 ─▶  Ask
 *     3. one ask after the other until an API has answered one for this key, then all others at once. So a wrong key,
 *        or an account without credit, is not sent once for each client
 *     4. after a rejection, the next choice of that ask             ─▶  Answer
 *     5. samples: one model for each further protocol that the client's files would use
 *
 * `prove` sends each request once, for all asks.
 */
import type { RejectedModel, Sample } from '../../clients/contract/setup.ts'
import { canContinueAfter, UserError } from '../../errors.ts'
import { mayStillServe } from '../../gateway/catalog.ts'
import type { GatewayRequester } from '../../gateway/gateway-requester.ts'
import { isAboutAddress, traitsOf } from '../../gateway/judge/traits.ts'
import { BusyError, type ProbeRequest, type ProbeResult } from '../../gateway/probe/probe.ts'
import type { CatalogAnswer, GatewayAccess, Sender } from '../../gateway/types.ts'
import type { Culprit } from '../../outcome-codes.ts'
import type { Session } from '../screen/session.ts'

/** What the gateway rejected of one choice. */
export type Rejections = readonly [RejectedModel, ...RejectedModel[]]

/** One question, usually of one client: does the gateway serve one of its choices? */
export interface Ask<Choice> {
  /** The best choice. @throws UserError why there is none */
  readonly first: () => Choice | Promise<Choice>
  /** What shows that the gateway serves a choice. The first request is sent before the others. */
  readonly requestsOf: (
    choice: Choice,
  ) => readonly ProbeRequest[] | Promise<readonly ProbeRequest[]>
  /**
   * The next choice after these rejections. Undefined: there is none. May ask the user.
   *
   * @throws UserError that describes the rejections better than the first of them
   */
  readonly next?: (
    choice: Choice,
    rejections: Rejections,
  ) => Choice | undefined | Promise<Choice | undefined>
  /** The choice with the answers to its samples. Absent: the client's files name no further models. */
  readonly withSamples?: (choice: Choice, samples: readonly Sample[]) => Choice
  /** The next sample to request. Undefined: none is left. */
  readonly nextSample?: (choice: Choice) => Promise<ProbeRequest | undefined>
}

export type Answer<Choice> =
  | { readonly kind: 'works'; readonly choice: Choice; readonly results: readonly ProbeResult[] }
  | FailedAsk<Choice>
  /** The user named no model for it. */
  | { readonly kind: 'skipped' }

/** No choice is served, as far as is known. A busy gateway says nothing about the client. */
export interface FailedAsk<Choice> {
  readonly kind: 'failed'
  readonly error: UserError
  /** What the gateway rejected. Absent: nothing was requested. */
  readonly rejected?: { readonly choice: Choice; readonly rejection: RejectedModel }
}

export interface Proof<Choice> {
  /** With the base URLs and the key header that have answered. */
  readonly access: GatewayAccess
  readonly list: CatalogAnswer
  /** One for each ask, in their order. Empty after a fault. */
  readonly answers: readonly Answer<Choice>[]
  /** Why nobody can use the gateway now: the key, the account, the network, the address. */
  readonly fault?: UserError
}

/** The user goes on without the client of an ask. */
export class Skipped extends UserError {}

export async function prove<Choice>(
  session: Steps,
  requester: GatewayRequester,
  question: {
    /** The command can do without the list. */
    readonly isModelKnown: boolean
    readonly asksFor: (
      list: CatalogAnswer,
    ) => readonly Ask<Choice>[] | Promise<readonly Ask<Choice>[]>
  },
): Promise<Proof<Choice>> {
  const list = await session.step(
    'Asking the gateway for its models',
    requester.requestCatalog({ isOptional: question.isModelKnown }),
  )
  if (list.kind === 'failed' && !mayStillServe(list.error))
    return { access: requester.access, list, answers: [], fault: list.error }
  if (list.kind === 'received') session.addFindings(...(list.catalog.findings ?? []))

  const asks = await question.asksFor(list)
  const proving = new Proving<Choice>(session, requester, list)
  try {
    return { list, answers: await proving.answersTo(asks), access: requester.access }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { access: requester.access, list, answers: [], fault: error.cause as UserError }
  }
}

/** How progress is shown, and what is wrong with the list. */
type Steps = Pick<Session, 'step' | 'addFindings'>

/** Ends all asks. */
class Fault extends Error {}

/** An ask that has no answer yet, with the choice that is requested next. */
interface OpenAsk<Choice> {
  readonly kind: 'open'
  readonly ask: Ask<Choice>
  readonly choice: Choice
}

class Proving<Choice> {
  readonly #session: Steps
  readonly #requester: GatewayRequester
  readonly #list: CatalogAnswer
  readonly #requests = new Map<Choice, Promise<readonly ProbeRequest[]>>()
  /** By what `requestId` identifies. */
  readonly #sent = new Map<string, Promise<PromiseSettledResult<ProbeResult>>>()
  /** An API has served a request with this key, or rejected it for another reason than the key. */
  #hasAnswered = false

  constructor(session: Steps, requester: GatewayRequester, list: CatalogAnswer) {
    this.#session = session
    this.#requester = requester
    this.#list = list
  }

  /** The rounds end, because an ask has a limited number of choices (docs/choosing-models.md). */
  async answersTo(asks: readonly Ask<Choice>[]): Promise<readonly Answer<Choice>[]> {
    let rows: (OpenAsk<Choice> | Answer<Choice>)[] = []
    // One after the other, because each may ask the user.
    for (const ask of asks)
      rows.push(
        await this.#answerOr(async () => ({ kind: 'open', ask, choice: await ask.first() })),
      )

    while (rows.some(({ kind }) => kind === 'open')) {
      await this.#sendRound(rows.filter((row) => row.kind === 'open'))
      const next: typeof rows = []
      for (const row of rows)
        next.push(row.kind === 'open' ? await this.#answerOr(() => this.#nextOf(row)) : row)
      rows = next
    }

    const answers = await this.#addSamples(asks, rows as Answer<Choice>[])
    const isAnyWorking = answers.some(({ kind }) => kind === 'works')
    const errors = answers.flatMap((answer) => (answer.kind === 'failed' ? [answer.error] : []))
    // With one answer that works, a rejected key or account was about one model or one protocol.
    const fault = isAnyWorking ? undefined : faultIn(errors)
    if (fault !== undefined) throw new Fault('', { cause: fault })
    return answers
  }

  /**
   * The samples of one client are sent one after the other, over the connection that is open; those of several
   * clients at once. They decide what else a client offers, and never whether it works.
   */
  async #addSamples(
    asks: readonly Ask<Choice>[],
    answers: readonly Answer<Choice>[],
  ): Promise<readonly Answer<Choice>[]> {
    const samples = asks.map((): Sample[] => [])
    for (;;) {
      const current = answers.map((answer, index) => {
        if (answer.kind !== 'works') return answer
        const { withSamples } = asks[index]!
        return withSamples
          ? { ...answer, choice: withSamples(answer.choice, samples[index]!) }
          : answer
      })
      const requests = await Promise.all(
        current.map((answer, index) =>
          answer.kind === 'works' ? asks[index]!.nextSample?.(answer.choice) : undefined,
        ),
      )
      const next = requests.flatMap((request) => request ?? [])
      if (next.length === 0) return current

      const models = [...new Set(next.map(({ model }) => model))]
      const sent = Promise.all(
        requests.map(async (request, index) => {
          if (request !== undefined) samples[index]!.push(await this.#sampleFrom(request))
        }),
      )
      await this.#session.step(`Asking ${models.join(', ')} for one word`, sent)
    }
  }

  async #sampleFrom(request: ProbeRequest): Promise<Sample> {
    const { model, protocol } = request
    const result = await this.#send(request)
    if (result.status === 'fulfilled') return { model, protocol }
    const error: unknown = result.reason
    if (!canContinueAfter(error)) throw error
    const isBusy = error instanceof BusyError || traitsOf(error)?.blames === 'connection'
    return { model, protocol, error, isBusy }
  }

  /** Made once, because it reads the client's files. */
  #requestsOf({ ask, choice }: OpenAsk<Choice>): Promise<readonly ProbeRequest[]> {
    const requests = this.#requests.get(choice) ?? Promise.resolve(ask.requestsOf(choice))
    this.#requests.set(choice, requests)
    return requests
  }

  /** Sends what the open asks request now, as far as it was not sent before. */
  async #sendRound(open: readonly OpenAsk<Choice>[]): Promise<void> {
    const requests = await Promise.all(open.map((row) => this.#requestsOf(row)))
    const unsent = requests.flat().filter((request) => !this.#sent.has(requestId(request)))
    if (unsent.length === 0) return

    const models = [...new Set(unsent.map(({ model }) => model))]
    await this.#session.step(`Asking ${models.join(', ')} for one word`, this.#sendAll(unsent))
  }

  async #sendAll(requests: readonly ProbeRequest[]): Promise<void> {
    for (const [index, request] of requests.entries()) {
      if (this.#hasAnswered) {
        await Promise.all(requests.slice(index).map((each) => this.#send(each)))
        return
      }
      const result = await this.#send(request)
      if (result.status === 'rejected' && concernsAll(result.reason))
        throw new Fault('', { cause: result.reason })
    }
  }

  #send(request: ProbeRequest): Promise<PromiseSettledResult<ProbeResult>> {
    const id = requestId(request)
    const sent = this.#sent.get(id)
    if (sent !== undefined) return sent

    const probe = this.#requester.probe({ ...request, catalog: this.#list })
    const result = Promise.allSettled([probe]).then(([settled]) => {
      if (settled.status === 'fulfilled' || hasAnswered(settled.reason)) this.#hasAnswered = true
      return settled
    })
    this.#sent.set(id, result)
    return result
  }

  async #nextOf(open: OpenAsk<Choice>): Promise<OpenAsk<Choice> | Answer<Choice>> {
    const { ask, choice } = open
    const results: ProbeResult[] = []
    const rejections: RejectedModel[] = []
    for (const request of await this.#requestsOf(open)) {
      const result = await this.#send(request)
      if (result.status === 'fulfilled') results.push(result.value)
      else if (!(result.reason instanceof UserError)) throw result.reason
      else rejections.push({ ...request, error: result.reason })
    }

    const [rejection, ...others] = rejections
    if (rejection === undefined) return { kind: 'works', choice, results }
    try {
      const next = await ask.next?.(choice, [rejection, ...others])
      if (next !== undefined) return { kind: 'open', ask, choice: next }
    } catch (error) {
      const isVerdict = canContinueAfter(error) && !(error instanceof Skipped)
      if (!isVerdict || concernsAll(error)) throw error
      return { kind: 'failed', error, rejected: { choice, rejection } }
    }
    return { kind: 'failed', error: rejection.error, rejected: { choice, rejection } }
  }

  /** @throws Fault if the error concerns all asks; UserError if the user cancels the command */
  async #answerOr(
    work: () => Promise<OpenAsk<Choice> | Answer<Choice>>,
  ): Promise<OpenAsk<Choice> | Answer<Choice>> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof Skipped) return { kind: 'skipped' }
      if (!canContinueAfter(error)) throw error
      if (concernsAll(error) && !this.#hasAnswered) throw new Fault('', { cause: error })
      return { kind: 'failed', error }
    }
  }
}

/** Why no ask can be answered: one reason that holds for all, or an address at which none finds an API. */
function faultIn(errors: readonly UserError[]): UserError | undefined {
  const isElsewhere = errors.every((error) => isAboutAddress(error))
  return errors.find(concernsAll) ?? (isElsewhere ? errors[0] : undefined)
}

/** Equal requests are sent once for all clients that accept the same responses. */
function requestId({ protocol, model, sender }: ProbeRequest): string {
  const { body, headers, safeguards, accepts }: Partial<Sender> = sender ?? {}
  return JSON.stringify([protocol, model, body, headers, safeguards, accepts])
}

/** Whether the gateway has answered something else than that the key or the address is wrong. */
function hasAnswered(error: unknown): boolean {
  return error instanceof UserError && !isAboutAddress(error) && !concernsAll(error)
}

/** Whether the same is true for every client of the gateway. */
export function concernsAll(error: unknown): boolean {
  const traits = error instanceof UserError ? traitsOf(error) : undefined
  return traits !== undefined && isSharedByClients[traits.blames]
}

/** Whether all clients share what a failure blames. */
const isSharedByClients: Readonly<Record<Culprit, boolean>> = {
  key: true,
  // The other protocols may be at this address.
  address: false,
  connection: true,
  header: true,
  quota: true,
  model: false,
  route: false,
  gateway: false,
  policy: false,
}
