import type { IncomingMessage, ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import { InferenceHandler } from './answers/inference-handler.ts'
import { type RequestKey, readRequestKey } from './auth.ts'
import { failures } from './codecs/failure.ts'
import { type Control, createControl, isAllowedHost } from './control.ts'
import { failureOf } from './faults/faults.ts'
import { decompress, readBody } from './http/body.ts'
import { Reply } from './http/reply.ts'
import { requestIds } from './ids.ts'
import { createEntry, type LogEntry } from './log/entry.ts'
import { keyReason, routeReason } from './log/reasons.ts'
import type { RequestLog } from './log/request-log.ts'
import { anthropicModel, openaiModel, type ServedCatalog } from './model/catalog.ts'
import type { Limits } from './options.ts'
import { findRoute, type Route, requestPath } from './routes.ts'
import type { Scope, Scopes } from './scopes.ts'
import { forwardRequest } from './upstream.ts'

interface HandlerOptions {
  readonly host: string
  readonly limits: Limits
  readonly catalog: ServedCatalog
  readonly log: RequestLog
  /** The scope of the gateway itself. Its key may change the faults. */
  readonly mainScope: Scope
  readonly scopes: Scopes
}

/** Handles a request, with the checks in the imitated gateway's order. */
export class Handler {
  refusedKeys = 0
  readonly #options: HandlerOptions
  readonly #control: Control
  readonly #inference: InferenceHandler
  readonly #newRequestId = requestIds()

  constructor(options: HandlerOptions) {
    this.#options = options
    this.#inference = new InferenceHandler(options)
    const counters = () => ({ refusedKeys: this.refusedKeys, openStreams: this.openStreams })
    this.#control = createControl({ ...options, counters })
  }

  get openStreams(): number {
    return this.#inference.openStreams
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = findRoute(request.method ?? 'GET', requestPath(request))
    if (route.kind === 'control') {
      await this.#control(request, response).catch(() => request.socket.destroy())
      return
    }

    const { log, limits, scopes } = this.#options
    const requestKey = readRequestKey(request)
    const scope = scopes.find(requestKey.key)
    const entry = this.#createEntry(request, route, requestKey, scope)
    const isLogged = !isPageLoad(request)
    if (isLogged) log.add(entry)
    const onEnd = () => {
      if (isLogged) log.finish(entry)
    }
    const reply = new Reply({ request, response, entry, limits, onEnd })

    try {
      await this.#answer(reply, route, scope)
    } catch (error) {
      reply.crash(error)
    }
  }

  #createEntry(
    request: IncomingMessage,
    route: Route,
    { auth, key }: RequestKey,
    scope?: Scope,
  ): LogEntry {
    const at = new Date()
    return createEntry({
      id: this.#newRequestId(at),
      at,
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      protocol: 'protocol' in route ? route.protocol : undefined,
      auth,
      key,
      keyMatches: scope !== undefined,
      rawHeaders: request.rawHeaders,
      startedMs: performance.now(),
    })
  }

  async #answer(reply: Reply, route: Route, scope: Scope | undefined): Promise<void> {
    const { request, entry } = reply
    const path = requestPath(request)
    if (route.kind === 'web') return this.#sendPage(reply, path)
    if (entry.method === 'OPTIONS' && request.headers.origin !== undefined)
      return reply.send({ status: 204, type: plainTextType, text: '', headers: preflightHeaders })

    const { upstream } = scope ?? this.#options.mainScope
    const isForwarded = upstream !== undefined && path.startsWith('/v1/')
    if (route.kind === 'unknown' && !isForwarded)
      return reply.fail(failures.wrongRoute(entry.method, path), routeReason(entry.method, path))

    if (scope === undefined) return this.#rejectKey(reply, path)
    if (upstream === undefined) return this.#answerLocally(reply, route, scope)

    const body = await this.#readBody(reply)
    if (body === undefined) return
    const isAnswered =
      route.kind === 'inference' &&
      (await this.#inference.answerIfWritten(reply, route.protocol, scope))
    if (!isAnswered) forwardRequest({ reply, upstream, body, recording: scope.recording })
  }

  async #answerLocally(reply: Reply, route: Route, scope: Scope): Promise<void> {
    const { method, path } = reply.entry
    switch (route.kind) {
      case 'models':
      case 'model':
        return this.#sendCatalog(reply, route, scope)
      case 'stored':
        return this.#inference.sendStored(reply, route)
      case 'unsupported':
        return reply.fail(failures.unsupportedRoute(method, path))
      case 'not-implemented':
        return reply.fail(failures.notImplemented())
      case 'count-tokens':
        if ((await this.#readBody(reply)) === undefined) return
        return this.#inference.sendCount(reply, route.protocol, scope)
      case 'inference':
        if ((await this.#readBody(reply)) === undefined) return
        await this.#inference.answer(reply, route.protocol, scope)
    }
  }

  #sendPage(reply: Reply, path: string): void {
    reply.entry.reason = routeReason(reply.entry.method, path)
    if (path === '/' && !isAllowedHost(reply.request.headers.host, this.#options.host))
      reply.send({
        status: 403,
        type: plainTextType,
        text: 'This page is for this machine only.\n',
      })
    else reply.page()
  }

  #rejectKey(reply: Reply, path: string): void {
    this.refusedKeys++
    const { key } = this.#options.mainScope
    const reason = keyReason(reply.entry, path, reply.request.headers, key)
    reply.fail(failures.invalidToken(), reason)
  }

  async #sendCatalog(
    reply: Reply,
    route: Extract<Route, { kind: 'models' | 'model' }>,
    scope: Scope,
  ): Promise<void> {
    const { catalog } = this.#options
    const target = { route: 'models', model: undefined } as const
    const effects = scope.faults.nextEffects(target)
    if (!(await reply.delayOrReplace(effects))) return

    // Claude Code sends a Bearer key and accepts the OpenAI shape.
    const { 'x-api-key': apiKey, 'anthropic-version': version } = reply.request.headers
    const isMessagesShape = Boolean(apiKey && version)

    const failure = failureOf(effects, target)
    if (failure !== undefined) return reply.fail(failure)
    if (route.kind === 'models') {
      const query = reply.entry.path.split('?')[1]
      return reply.json(isMessagesShape ? catalog.messagesList(query) : catalog.list(query))
    }

    const model = catalog.find(route.id)
    if (model === undefined) return reply.fail(failures.noSuchModel(route.id))

    return reply.json(JSON.stringify(isMessagesShape ? anthropicModel(model) : openaiModel(model)))
  }

  /** Reads the body and logs it. Undefined: that failed, and the reply has ended. */
  async #readBody(reply: Reply): Promise<Buffer | undefined> {
    const { request, entry } = reply
    const { maxBodyBytes } = this.#options.limits
    let body = await readBody(request, maxBodyBytes)
    if (typeof body !== 'string') {
      entry.requestBytes = body.length
      body = await decompress(body, request.headers['content-encoding'], maxBodyBytes)
    }

    switch (body) {
      case 'disconnected':
        reply.abandon()
        return undefined
      case 'too-large':
        reply.fail(failures.bodyTooLarge())
        return undefined
      case 'wrong-encoding':
        reply.fail(failures.notJson())
        return undefined
      default:
        entry.requestBody = body.toString()
        return body
    }
  }
}

const plainTextType = 'text/plain; charset=utf-8'

const preflightHeaders = {
  'Access-Control-Allow-Methods': 'GET,POST,PUT,DELETE,OPTIONS',
  'Access-Control-Allow-Headers': '*',
  'Access-Control-Max-Age': 43200,
} as const

/** Whether a browser opens our page or its icon. Such requests are not logged. */
function isPageLoad({ method, url, headers }: IncomingMessage): boolean {
  return method === 'GET' && 'sec-fetch-mode' in headers && (url === '/' || url === '/favicon.ico')
}
