import type { IncomingMessage, ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import { keyChecker, readKey } from './auth.ts'
import { readBody, unpacked } from './body.ts'
import { inTokens, type ProtocolName, type StreamEncoder, wholeOf } from './codecs/codec.ts'
import type { ModelEvent } from './codecs/events.ts'
import { failures } from './codecs/failure.ts'
import { createControl, isOwnHost } from './control.ts'
import type { Circumstances, ModelAnswer } from './decide.ts'
import { decide, isModelAnswer, isRecorded } from './decide.ts'
import { answerIds, requestIds } from './ids.ts'
import { type LogEntry, openEntry, type RequestLog } from './log/request-log.ts'
import { messagesModel, plainModel, type ServedModels } from './model/catalog.ts'
import type { Limits, Upstream } from './options.ts'
import { createPage } from './page/page.ts'
import { Pipelines } from './pipeline.ts'
import { reasonOfFailure, reasonOfKey, reasonOfRoute } from './reason.ts'
import { Reply } from './reply.ts'
import { pathOf, type Route, readsApiKey, routeOf } from './routes.ts'
import { describeFault, type Fault, type Faults, faultFailure } from './settings/faults.ts'
import type { Recorder } from './settings/recorder.ts'
import type { RawReply } from './settings/scenario.ts'
import { answerStored, StoredResponses } from './store/responses.ts'
import { passOn } from './upstream.ts'

/** What the handler works with. */
export interface HandlerParts {
  readonly host: string
  readonly key: string
  readonly limits: Limits
  readonly catalog: ServedModels
  readonly faults: Faults
  readonly log: RequestLog
  readonly upstream: Upstream | undefined
  readonly play: Circumstances['play']
  readonly recorder: Recorder | undefined
}

export interface Handler {
  readonly pipelines: Pipelines
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  openStreams(): number
}

/** The group that every key of this gateway belongs to. */
const group = 'default'

/** From a request on the wire to an answer on it, in the service's order of checks. */
export function createHandler(parts: HandlerParts): Handler {
  const { limits, catalog, faults, log, upstream } = parts
  const checkKey = keyChecker(parts.key)
  const page = createPage()
  const control = createControl({ ...parts, page })
  const pipelines = new Pipelines()
  const newRequestId = requestIds()
  const newAnswerId = answerIds()
  const store = new StoredResponses()
  let openStreams = 0

  const circumstances: Circumstances = {
    catalog,
    group,
    strike: (target) => faults.strike(target),
    play: parts.play,
    wholeInput: (body) => store.wholeInput(body),
    newCallId: (protocol) => `${protocol === 'messages' ? 'toolu_' : 'call_'}${newAnswerId()}`,
  }

  return { pipelines, handle, openStreams: () => openStreams }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pipeline = pipelines.of(request.socket)
    if (!pipeline.begin(response)) return

    const route = routeOf(request.method ?? 'GET', pathOf(request))
    if (route.kind === 'control') {
      await control(request, response, pipeline).catch(() => request.socket.destroy())
      return
    }

    const entry = entryOf(request, route)
    const onEnd = () => {
      if (entry.number > 0) log.finish(entry)
    }
    const reply = new Reply({ request, response, pipeline, entry, limits, onEnd })
    if (!isPageLoad(request)) log.add(entry)
    try {
      await answer(reply, route)
    } catch (error) {
      reply.crash(error)
    }
  }

  function entryOf(request: IncomingMessage, route: Route): LogEntry {
    const at = new Date()
    const { auth, key } = readKey(request, readsApiKey(pathOf(request)))
    const arrival = {
      id: newRequestId(at),
      at,
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      protocol: route.kind === 'inference' ? route.protocol : undefined,
      auth,
      key,
      keyMatches: checkKey(key),
    }
    return openEntry(arrival, request.rawHeaders, performance.now())
  }

  async function answer(reply: Reply, route: Route): Promise<void> {
    const { request, entry } = reply
    const path = pathOf(request)
    if (route.kind === 'web') return answerWeb(reply, path)
    if (entry.method === 'OPTIONS' && request.headers.origin !== undefined)
      return reply.send({ status: 204, type: plainType, text: '', more: preflightHeaders })
    const isPassedOn = upstream !== undefined && path.startsWith('/v1/')
    if (route.kind === 'unknown' && !isPassedOn)
      return reply.fail(failures.wrongRoute(entry.method, path), reasonOfRoute(entry.method, path))
    if (!entry.keyMatches)
      return reply.fail(
        failures.invalidToken(),
        reasonOfKey(entry, path, request.headers, parts.key),
      )
    if (upstream === undefined && route.kind === 'not-implemented')
      return reply.fail(failures.notImplemented())
    if (upstream === undefined && route.kind === 'stored') return answerGiven(reply, route)
    if (upstream === undefined && route.kind !== 'inference') return answerCatalog(reply, route)

    const body = await bodyOf(reply)
    if (body === undefined) return
    if (upstream !== undefined) passOn({ reply, upstream, body, recorder: parts.recorder })
    else if (route.kind === 'inference') await answerInference(reply, route.protocol)
  }

  /** Undefined: there is none to go on with, and the reply has ended. */
  async function bodyOf(reply: Reply): Promise<Buffer | undefined> {
    const { request, entry } = reply
    const sent = await readBody(request, limits.maxBodyBytes).catch(() => 'gone' as const)
    if (sent === 'gone') {
      reply.abandon()
      return undefined
    }
    if (sent === undefined) {
      reply.fail(failures.bodyTooLarge())
      return undefined
    }

    entry.requestBytes = sent.length
    const encoding = request.headers['content-encoding']
    const body = await unpacked(sent, encoding, limits.maxBodyBytes).catch(() => 'broken' as const)
    if (body === undefined || body === 'broken') {
      reply.fail(body === undefined ? failures.bodyTooLarge() : failures.notJson())
      return undefined
    }
    entry.requestBody = body.toString()
    return body
  }

  function answerWeb(reply: Reply, path: string): void {
    const isRoot = path === '/'
    reply.entry.reason = reasonOfRoute(reply.entry.method, path)
    if (isRoot && !isOwnHost(reply.request.headers.host, parts.host))
      reply.send({
        status: 403,
        type: plainType,
        text: 'This page is for this machine only.\n',
      })
    else sendPage(reply, isRoot ? page.htmlWithToken : page.html)
  }

  function sendPage(reply: Reply, html: string): void {
    const more = { 'Cache-Control': 'no-cache', 'Content-Security-Policy': page.policy }
    reply.send({ type: 'text/html; charset=utf-8', text: html, more })
  }

  async function answerCatalog(reply: Reply, route: Route): Promise<void> {
    const fault = faults.strike({ route: 'models', model: undefined })
    if (!(await comesThrough(reply, fault))) return

    // Claude Code asks with a Bearer key and gets the plain shape all the same.
    const { 'x-api-key': apiKey, 'anthropic-version': version } = reply.request.headers
    const isMessagesShape = Boolean(apiKey && version)
    const failure = fault && faultFailure(fault, '', group)
    if (failure !== undefined) return reply.fail(failure)
    if (route.kind !== 'model')
      return reply.json(isMessagesShape ? catalog.messagesList : catalog.list)

    const model = catalog.find(route.id)
    if (model === undefined) return reply.fail(failures.noSuchModel(route.id))
    return reply.json(JSON.stringify(isMessagesShape ? messagesModel(model) : plainModel(model)))
  }

  async function answerInference(reply: Reply, protocol: ProtocolName): Promise<void> {
    const { request, entry } = reply
    const isJson = request.headers['content-type']?.startsWith('application/json') ?? false
    const decision = decide(circumstances, { protocol, body: entry.requestBody, isJson })
    const { result, fault, isStream } = decision
    entry.modelAsked = decision.modelAsked
    entry.modelServed = decision.modelServed
    entry.stream = isStream

    if (!(await comesThrough(reply, fault))) return
    if (isRecorded(result)) await giveAgain(reply, result.raw)
    else if (!isModelAnswer(result))
      reply.fail(result, reasonOfFailure(result, entry, request.headers['content-type'], catalog))
    else if (isStream) stream(reply, result, fault)
    else sendWhole(reply, result, fault)
  }

  async function giveAgain(
    reply: Reply,
    { status, type, afterMs, body = '', events = [] }: RawReply,
  ): Promise<void> {
    if (afterMs > 0 && !(await reply.wait(afterMs))) return
    if (events.length === 0) {
      reply.send({ status, type, text: body })
      return
    }
    openStreams++
    reply.streamSlowly({
      status,
      type,
      frames: events.map(({ text }) => text),
      betweenMs: (next) => events[next]?.afterMs ?? 0,
      ending: 'end',
      onEnd: () => openStreams--,
    })
  }

  function answerGiven(reply: Reply, { id, isInput }: Extract<Route, { kind: 'stored' }>): void {
    const { method, path } = reply.entry
    const query = new URLSearchParams(path.split('?')[1])
    const answer = answerStored(store, { method, id, isInput, query })
    if (answer === undefined) reply.fail(failures.noSuchResponse(id))
    else reply.json(JSON.stringify(answer))
  }

  /** What an answer carries beside its events; its tokens are noted down, and it is kept if it is to be. */
  function factsOf({ entry }: Reply, { codec, body, input, model, events }: ModelAnswer) {
    const finish = events.at(-1)
    const usage = finish?.type === 'finish' ? finish.usage : undefined
    entry.inputTokens = usage?.inputTokens
    entry.outputTokens = usage?.outputTokens
    const facts = {
      id: newAnswerId(),
      model,
      createdAt: Math.floor(entry.at.getTime() / 1000),
      inputTokens: usage?.inputTokens ?? 0,
      cachedTokens: usage?.cachedTokens ?? 0,
    }
    if (codec.protocol === 'responses' && body['store'] !== false)
      store.keep({ facts, body, input, events, size: entry.requestBody.length })
    return facts
  }

  function sendWhole(reply: Reply, answer: ModelAnswer, fault: Fault | undefined): void {
    const { codec, body, events } = answer
    const text = JSON.stringify(codec.fold(body, factsOf(reply, answer), wholeOf(events)))
    if (fault?.errorAfter !== undefined) reply.fail(failures.upstream(500))
    else if (fault?.cutAfter !== undefined) reply.sendHalf(text)
    else reply.json(text, vendorHeaders(codec.protocol, reply.entry))
  }

  function stream(reply: Reply, answer: ModelAnswer, fault: Fault | undefined): void {
    if (openStreams >= limits.maxOpenStreams) {
      reply.fail(failures.upstream(503, 'too many open streams'))
      return
    }

    const { codec, body, events } = answer
    const encoder = codec.encodeStream(body, factsOf(reply, answer))
    const frames = framesOf(encoder, events, fault)
    const ending = fault?.cutAfter === undefined ? 'end' : 'cut'
    const betweenMs = fault?.betweenMs ?? 0
    if (betweenMs === 0) {
      reply.streamAtOnce(frames, ending)
      return
    }
    openStreams++
    reply.streamSlowly({ frames, betweenMs: () => betweenMs, ending, onEnd: () => openStreams-- })
  }

  /** Carries out the parts of a fault that come before any answer. Returns whether one is to be given. */
  async function comesThrough(reply: Reply, fault: Fault | undefined): Promise<boolean> {
    if (fault === undefined) return true
    reply.entry.fault = describeFault(fault)
    if (fault.delayMs !== undefined && !(await reply.wait(fault.delayMs))) return false

    if (fault.reset) reply.reset()
    else if (fault.webPage) sendPage(reply, page.html)
    return !fault.reset && !fault.webPage
  }
}

/** Requests and tokens a minute that the vendors are said to allow; only faults limit them here. */
const allowed = { requests: 10_000, tokens: 10_000_000 }

/** Headers of the vendor behind, which the service copies on answers in one piece. */
function vendorHeaders(
  protocol: ProtocolName,
  { id, at }: LogEntry,
): Record<string, string | number> {
  const { requests, tokens } = allowed
  if (protocol === 'messages') {
    const reset = at.toISOString()
    return {
      'request-id': `req_${id}`,
      'anthropic-ratelimit-requests-limit': requests,
      'anthropic-ratelimit-requests-remaining': requests - 1,
      'anthropic-ratelimit-requests-reset': reset,
      'anthropic-ratelimit-tokens-limit': tokens,
      'anthropic-ratelimit-tokens-remaining': tokens,
      'anthropic-ratelimit-tokens-reset': reset,
    }
  }
  return {
    'x-request-id': `req_${id}`,
    'x-ratelimit-limit-requests': requests,
    'x-ratelimit-remaining-requests': requests - 1,
    'x-ratelimit-reset-requests': '6ms',
    'x-ratelimit-limit-tokens': tokens,
    'x-ratelimit-remaining-tokens': tokens,
    'x-ratelimit-reset-tokens': '0s',
  }
}

/** The frames of a stream, as far as a fault lets it go. */
function framesOf(
  encoder: StreamEncoder,
  events: readonly ModelEvent[],
  { errorAfter, cutAfter }: Fault = {},
): readonly string[] {
  const most = Math.min(errorAfter ?? Infinity, cutAfter ?? Infinity)
  const frames = [encoder.open()]
  for (const event of inTokens(events)) {
    if (frames.length > most) break
    const frame = encoder.frames(event)
    if (frame !== '') frames.push(frame)
  }
  if (errorAfter !== undefined)
    frames.push(encoder.fail({ message: 'upstream error', code: 'bad_response' }))
  return frames
}

const plainType = 'text/plain; charset=utf-8'

const preflightHeaders = {
  'Access-Control-Allow-Methods': 'GET,POST,PUT,DELETE,OPTIONS',
  'Access-Control-Allow-Headers': '*',
  'Access-Control-Max-Age': 43200,
} as const

/** A browser that opens our page or looks for its icon is no client and not worth a line. */
function isPageLoad({ method, url, headers }: IncomingMessage): boolean {
  return method === 'GET' && 'sec-fetch-mode' in headers && (url === '/' || url === '/favicon.ico')
}
