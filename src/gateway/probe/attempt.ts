/**
 * One attempt of a probe: the client's first request goes to one base URL, and is repeated as the client
 * would repeat it.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { asList, asObject } from '../foreign-text.ts'
import { readErrorBody } from '../judge/error-body.ts'
import { type Judged, judge, type UnusableResponse } from '../judge/judge.ts'
import { rejectsLimit, speaksOfTools } from '../judge/request-parts.ts'
import { mayHelp, traitsOf } from '../judge/traits.ts'
import type { HttpResponse, NetworkFailure, SentRequest } from '../judge/types.ts'
import { sendWithKey } from '../send.ts'
import type { Catalog, CatalogAnswer, GatewayAccess, ModelAndProtocol, Sender } from '../types.ts'
import { hasLimit, type RequestForm, requestAt } from './probe-request.ts'

/** A model to probe over a protocol. */
export interface ProbeRequest extends ModelAndProtocol {
  /** The client that will use the model. Absent: any. */
  readonly sender?: Sender | undefined
  /**
   * The catalog, if it was requested already. It names the nearest models, and saves a request. The probe
   * sends its first request before the catalog arrives, and waits for it to judge the response.
   */
  readonly catalog?: Promise<CatalogAnswer> | undefined
  /** Replaces the usual hint if the gateway does not serve the model to this key. */
  readonly unservedHint?: string | undefined
  /** Absent: the probe may search as often as a single client. */
  readonly searches?: PartSearches | undefined
}

/** A probe that is running: its request, and what its functions share. */
export interface ProbeInput extends ProbeRequest {
  readonly access: GatewayAccess
  readonly searches: PartSearches
}

/** The result at one base URL. `served`: the gateway served the model. */
export type ProbeAttempt = Judged & { readonly baseUrl: string }

/**
 * How many requests may still search for the part of a client's request that the gateway rejects. The probes
 * of one client share the number: a gateway that rejects everything without a reason does so over every
 * protocol and at every address.
 */
export interface PartSearches {
  left: number
}

/** How many requests may search for it. */
const maxSearches = 2

export function newSearches(): PartSearches {
  return { left: maxSearches }
}

/** Sends the first request to one base URL, with the client's repetitions. */
export async function sendAt(input: ProbeInput, baseUrl: string): Promise<ProbeAttempt> {
  const { sender } = input
  const form = formOf(input, {
    isLimited: true,
    ...(sender ? { clientRequest: sender } : { tools: 'noop' }),
  })
  const judged = await repeatAsClient(
    input,
    baseUrl,
    form,
    await sendWithRetry(input, baseUrl, form),
  )
  return { baseUrl, ...judged }
}

/** Sends one request and judges the response. */
export async function send(input: ProbeInput, baseUrl: string, form: RequestForm): Promise<Judged> {
  const result = await sendWithKey(input.access, requestAt(baseUrl, form), input.sender?.keyHeader)
  return judgeResult(input, result)
}

/** The longest wait for a gateway that is busy, in ms. Clients wait for a minute and more. */
const longestWaitMs = 5_000

/** How long a client waits if the response does not say, in ms. */
const usualWaitMs = 1_000

/** Sends a request, and once more if the gateway is busy and the client would try again. */
async function sendWithRetry(
  input: ProbeInput,
  baseUrl: string,
  form: RequestForm,
): Promise<Judged> {
  const judged = await send(input, baseUrl, form)
  if (judged.kind !== 'unusable' || !mayHelp('retry', judged.outcome)) return judged

  const wait = waitMs(judged.response, input.sender?.accepts)
  if (wait === undefined) return judged
  await pause(wait)
  return send(input, baseUrl, form)
}

/** How long a client waits after a response. Undefined: it does not try again, or much later. */
function waitMs(response: HttpResponse, accepts: Sender['accepts']): number | undefined {
  if (accepts === undefined) return undefined
  const { retries, retriesIfTold = [] } = accepts
  const seconds = /^\d{1,6}$/.exec(response.headers['retry-after'] ?? '')?.[0]
  const retriedStatuses = seconds === undefined ? retries : [...retries, ...retriesIfTold]
  if (!retriedStatuses.includes(response.status)) return undefined

  const wait = seconds === undefined ? usualWaitMs : Number(seconds) * 1_000
  return wait <= longestWaitMs ? wait : undefined
}

/** Repeats the request as the client does, each time without what the gateway rejects. */
async function repeatAsClient(
  input: ProbeInput,
  baseUrl: string,
  form: RequestForm,
  judged: Judged,
): Promise<Judged> {
  if (judged.kind !== 'unusable') return judged

  const smallerForm =
    withoutRejectedSafeguards(form, judged) ?? withoutRejectedPart(form, judged.response)
  if (smallerForm === undefined) return judged
  return repeatAsClient(input, baseUrl, smallerForm, await send(input, baseUrl, smallerForm))
}

/**
 * The request without the client's safeguards, if the gateway may reject them. Claude Code 2.1.331 omits them
 * after a 400 or 422, whatever the words (2026-11-24). That cannot help if the gateway rejects tools.
 */
function withoutRejectedSafeguards(
  form: RequestForm,
  rejection: UnusableResponse,
): RequestForm | undefined {
  const { clientRequest } = form
  const safeguards = clientRequest?.safeguards
  if (typeof safeguards !== 'object' || !isAboutRequest(rejection)) return undefined

  const { outcome } = rejection
  const { quote = '' } = outcome
  const isNamed = quote.includes('safeguards') || quote.includes(safeguards.beta)
  if (!isNamed && speaksOfTools(outcome)) return undefined
  return { ...form, clientRequest: { ...clientRequest!, safeguards: undefined } }
}

/** The request without the part that the gateway rejects, if the client repeats it so. */
function withoutRejectedPart(form: RequestForm, response: HttpResponse): RequestForm | undefined {
  const { clientRequest } = form
  if (rejectsLimit(response) && !hasLimit(clientRequest)) return { ...form, isLimited: false }

  const { words } = readErrorBody(response)
  const rule = clientRequest?.retryWithout?.find(({ to }) => to.test(words))
  if (clientRequest === undefined || rule === undefined) return undefined

  const { names = [], roles = [] } = rule
  const { messages, ...body } = clientRequest.body
  const acceptedMessages = asList(messages).filter(
    (message) => !roles.includes(String(asObject(message)?.['role'])),
  )

  return {
    ...form,
    clientRequest: {
      ...clientRequest,
      body: {
        ...without(body, names),
        ...(messages !== undefined && { messages: acceptedMessages }),
      },
      headers: without(clientRequest.headers, names),
      retryWithout: clientRequest.retryWithout!.filter((candidate) => candidate !== rule),
    },
  }
}

function without<Value>(
  members: Readonly<Record<string, Value>> = {},
  names: readonly string[],
): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
}

/** The form of a request of this probe. */
export function formOf(
  { protocol, model, sender }: ProbeInput,
  more: Partial<RequestForm>,
): RequestForm {
  const needsEnd = sender?.accepts?.rejects.includes('open') === true
  return { protocol, model, needsEnd, ...more }
}

export async function judgeResult(
  input: ProbeInput,
  result: HttpResponse | NetworkFailure,
  apiAnswered?: SentRequest['apiAnswered'],
): Promise<Judged> {
  const { access, protocol, model, sender } = input
  const catalog = await catalogOf(input)
  const request = { route: protocol, model, sender, apiAnswered }
  return judge(access, result, catalog === undefined ? request : { ...request, catalog })
}

/** Undefined: the catalog was not requested, or cannot be read. */
export async function catalogOf(input: ProbeInput): Promise<Catalog | undefined> {
  const answer = await input.catalog
  return answer?.kind === 'received' ? answer.catalog : undefined
}

/** The status is about the request itself. Without a better clue, the judge blames the model or the gateway. */
export function isAboutRequest({ response, outcome }: UnusableResponse): boolean {
  const blames = traitsOf(outcome)?.blames
  return [400, 413, 422].includes(response.status) && (blames === 'model' || blames === 'gateway')
}
