import type { ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import { keyChecker, readKey } from './auth.ts'
import type { BodyRequest } from './body.ts'
import { encodeAll, inTokens, type ProtocolName } from './codecs/codec.ts'
import { failures } from './codecs/failure.ts'
import { createControl, isOwnHost } from './control.ts'
import type { Answer, World } from './decide.ts'
import { decide, isAnswer } from './decide.ts'
import { headerOf } from './headers.ts'
import { answerIds, requestIds } from './ids.ts'
import type { LogEntry, RequestLog } from './log/request-log.ts'
import type { Catalog } from './model/catalog.ts'
import { messagesModelOf, modelOf } from './model/catalog.ts'
import type { Limits, Upstream } from './options.ts'
import { Exchange } from './reply.ts'
import type { Route } from './routes.ts'
import { readsApiKey, routeOf } from './routes.ts'
import type { Fault, Faults } from './settings/faults.ts'
import { describeFault, failureOf } from './settings/faults.ts'
import { passOn } from './upstream.ts'

/** What the handler works with. */
export interface HandlerParts {
  readonly host: string
  readonly key: string
  readonly limits: Limits
  readonly catalog: Catalog
  readonly faults: Faults
  readonly log: RequestLog
  readonly upstream: Upstream | undefined
  /** Undefined: there is no scenario. */
  readonly play: World['play'] | undefined
}

export interface Handler {
  handle(request: BodyRequest, response: ServerResponse): void
  openStreams(): number
}

/** The group that every key of this gateway belongs to. */
const group = 'default'

/** From a request on the wire to an answer on it, in the service's order of checks. */
export function createHandler(parts: HandlerParts): Handler {
  const { limits, catalog, faults, log } = parts
  const checkKey = keyChecker(parts.key)
  const control = createControl(parts)
  const newRequestId = requestIds()
  const newAnswerId = answerIds()
  let openStreams = 0

  const world: World = {
    catalog,
    group,
    strike: (target) => faults.strike(target),
    play: parts.play ?? (() => undefined),
    newCallId: (protocol) => `${protocol === 'messages' ? 'toolu_' : 'call_'}${newAnswerId()}`,
  }

  return { handle, openStreams: () => openStreams }

  function handle(request: BodyRequest, response: ServerResponse): void {
    const method = request.method ?? 'GET'
    const url = request.url ?? '/'
    const path = pathOf(url)
    const route = routeOf(method, path)
    if (route.kind === 'control') {
      control(request, response, path)
      return
    }
    const at = Date.now()
    const { auth, key } = readKey(request, readsApiKey(path))
    const entry: LogEntry = {
      id: newRequestId(at),
      number: 0,
      at,
      method,
      path: url,
      protocol: route.kind === 'inference' ? route.protocol : undefined,
      rawHeaders: request.rawHeaders,
      auth,
      key,
      keyMatches: checkKey(key),
      modelAsked: undefined,
      modelServed: undefined,
      stream: false,
      state: 'open',
      status: undefined,
      startedMs: performance.now(),
      firstByteMs: Number.NaN,
      totalMs: Number.NaN,
      inputTokens: undefined,
      outputTokens: undefined,
      fault: undefined,
      requestBytes: 0,
      responseBytes: 0,
    }
    const exchange = new Exchange(request, response, entry, limits, finish)
    if (!isPageLoad(request)) log.add(entry)
    exchange.guard(() => answer(exchange, route, path))
  }

  function finish(
    { entry, requestBody }: Exchange,
    sent: string | Uint8Array,
    isPacked: boolean,
  ): void {
    if (entry.number > 0) log.finish(entry, requestBody, sent, isPacked)
  }

  function answer(exchange: Exchange, route: Route, path: string): void {
    const { request, entry } = exchange
    if (route.kind === 'web') {
      if (path === '/' && !isOwnHost(request.headers.host, parts.host))
        exchange.send(403, 'text/plain; charset=utf-8', 'This page is for this machine only.\n')
      else exchange.webPage()
    } else if (entry.method === 'OPTIONS' && headerOf(request, 'origin') !== undefined)
      exchange.send(204, 'text/plain; charset=utf-8', '', preflightHeaders)
    else if (route.kind === 'unknown') exchange.fail(failures.wrongRoute(entry.method, path))
    else if (!entry.keyMatches) exchange.fail(failures.invalidToken())
    else if (route.kind === 'not-implemented' && parts.upstream === undefined)
      exchange.fail(failures.notImplemented())
    else if (route.kind === 'inference' || parts.upstream !== undefined)
      request.readBody(limits.maxBodyBytes, (end, bytes) => {
        entry.requestBytes = bytes.length
        if (end === 'too-large') exchange.fail(failures.bodyTooLarge())
        else if (end === 'cut') exchange.abandon()
        else
          exchange.guard(() => {
            exchange.requestBody = bytes
            if (parts.upstream !== undefined) passOn(exchange, parts.upstream, bytes)
            else if (route.kind === 'inference') answerInference(exchange, route.protocol, bytes)
          })
      })
    else answerCatalog(exchange, route)
  }

  function answerCatalog(exchange: Exchange, route: Route): void {
    const { request } = exchange
    const fault = faults.strike({ route: 'models', model: undefined })
    withFault(exchange, fault, () => {
      const failure = fault && failureOf(fault, '', group)
      // Claude Code asks with a Bearer key and gets the plain shape all the same.
      const isMessagesShape = Boolean(
        headerOf(request, 'x-api-key') && headerOf(request, 'anthropic-version'),
      )
      if (failure !== undefined) exchange.fail(failure)
      else if (route.kind !== 'model')
        exchange.json(200, isMessagesShape ? catalog.messagesList : catalog.list)
      else {
        const model = catalog.find(route.id)
        if (model === undefined) exchange.fail(failures.noSuchModel(route.id))
        else
          exchange.json(
            200,
            JSON.stringify(isMessagesShape ? messagesModelOf(model) : modelOf(model)),
          )
      }
    })
  }

  function answerInference(exchange: Exchange, protocol: ProtocolName, bytes: Buffer): void {
    const { entry } = exchange
    const type = headerOf(exchange.request, 'content-type')
    const isJson = type?.startsWith('application/json') ?? false
    const decision = decide(world, protocol, bytes.toString(), isJson)
    entry.modelAsked = decision.modelAsked
    entry.modelServed = decision.modelServed
    entry.stream = decision.isStream
    const { result, fault } = decision
    withFault(exchange, fault, () => {
      if (isAnswer(result)) writeAnswer(exchange, result, decision.isStream, fault)
      else exchange.fail(result)
    })
  }

  function writeAnswer(
    exchange: Exchange,
    { codec, body, model, events }: Answer,
    isStream: boolean,
    fault: Fault | undefined,
  ): void {
    const { entry } = exchange
    const finish = events.at(-1)
    const usage = finish?.type === 'finish' ? finish.usage : undefined
    entry.inputTokens = usage?.inputTokens
    entry.outputTokens = usage?.outputTokens
    const facts = {
      id: newAnswerId(),
      model,
      createdAt: Math.floor(entry.at / 1000),
      inputTokens: usage?.inputTokens ?? 0,
    }
    const errorAfter = fault?.errorAfter
    const cutAfter = fault?.cutAfter
    if (!isStream) {
      const text = codec.fold(body, facts, events)
      if (errorAfter !== undefined) exchange.fail(failures.upstream(500))
      else if (cutAfter !== undefined) exchange.sendHalf('application/json', text)
      else exchange.json(200, text)
      return
    }
    if (openStreams >= limits.maxOpenStreams) {
      exchange.fail(failures.upstream(503, 'too many open streams'))
      return
    }
    const betweenMs = fault?.betweenMs ?? 0
    const ending = cutAfter === undefined ? 'end' : 'cut'
    if (betweenMs === 0 && errorAfter === undefined && ending === 'end') {
      exchange.streamAtOnce(encodeAll(codec.encodeStream(body, facts), events), ending)
      return
    }
    const encoder = codec.encodeStream(body, facts)
    const frames = [encoder.open()]
    for (const event of inTokens(events)) {
      if (frames.length > Math.min(errorAfter ?? Infinity, cutAfter ?? Infinity)) break
      const frame = encoder.frames(event)
      if (frame !== '') frames.push(frame)
    }
    if (errorAfter !== undefined)
      frames.push(encoder.fail({ message: 'upstream error', code: 'bad_response' }))
    if (betweenMs === 0) {
      exchange.streamAtOnce(frames, ending)
      return
    }
    openStreams++
    exchange.streamSlowly(frames, betweenMs, ending, () => openStreams--)
  }

  /** Carries out the parts of a fault that come before any answer. */
  function withFault(exchange: Exchange, fault: Fault | undefined, proceed: () => void): void {
    if (fault === undefined) {
      proceed()
      return
    }
    exchange.entry.fault = describeFault(fault)
    const act = () => {
      if (fault.reset) exchange.reset()
      else if (fault.webPage) exchange.webPage()
      else proceed()
    }
    if (fault.delayMs === undefined) act()
    else exchange.after(fault.delayMs, act)
  }
}

const preflightHeaders = {
  'Access-Control-Allow-Methods': 'GET,POST,PUT,DELETE,OPTIONS',
  'Access-Control-Allow-Headers': '*',
  'Access-Control-Max-Age': 43200,
} as const

/** The path of a request target, without the query; a target may be a whole address too. */
function pathOf(url: string): string {
  const end = url.indexOf('?')
  const path = end === -1 ? url : url.slice(0, end)
  if (path.startsWith('/')) return path
  return /^https?:\/\/[^/]*(\/.*)?$/i.exec(path)?.[1] ?? '/'
}

/** A browser that opens our page or looks for its icon is no client and not worth a line. */
function isPageLoad({ method, url, headers }: BodyRequest): boolean {
  return method === 'GET' && 'sec-fetch-mode' in headers && (url === '/' || url === '/favicon.ico')
}
