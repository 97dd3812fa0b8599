import type { IncomingMessage, ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import { Inference } from './answers/inference.ts'
import { readKey } from './auth.ts'
import { failures } from './codecs/failure.ts'
import { type Control, createControl, isOwnHost } from './control.ts'
import { readBody, unpacked } from './http/body.ts'
import { Reply } from './http/reply.ts'
import { requestIds } from './ids.ts'
import { type LogEntry, openEntry, type RequestLog } from './log/request-log.ts'
import { messagesModel, plainModel, type ServedModels } from './model/catalog.ts'
import type { Limits, Upstream } from './options.ts'
import { reasonOfKey, reasonOfRoute } from './reason.ts'
import { pathOf, type Route, readsApiKey, routeOf } from './routes.ts'
import type { Scope, Scopes } from './scopes.ts'
import { faultFailure } from './settings/faults.ts'
import type { Recorder } from './settings/recorder.ts'
import { passOn } from './upstream.ts'

/** What the handler works with. */
interface HandlerParts {
  readonly host: string
  readonly limits: Limits
  readonly catalog: ServedModels
  readonly log: RequestLog
  /** The gateway's own answers and faults; its key may change what goes wrong. */
  readonly own: Scope
  readonly scopes: Scopes
  readonly upstream: Upstream | undefined
  readonly recorder: Recorder | undefined
}

/** From a request on the wire to an answer on it, in the service's order of checks. */
export class Handler {
  refusedKeys = 0
  readonly #parts: HandlerParts
  readonly #control: Control
  readonly #inference: Inference
  readonly #newRequestId = requestIds()

  constructor(parts: HandlerParts) {
    this.#parts = parts
    this.#inference = new Inference(parts)
    const counters = () => ({ refusedKeys: this.refusedKeys, openStreams: this.openStreams })
    this.#control = createControl({ ...parts, counters })
  }

  get openStreams(): number {
    return this.#inference.openStreams
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = routeOf(request.method ?? 'GET', pathOf(request))
    if (route.kind === 'control') {
      await this.#control(request, response).catch(() => request.socket.destroy())
      return
    }

    const { log, limits, scopes } = this.#parts
    const seen = readKey(request, readsApiKey(pathOf(request)))
    const scope = scopes.of(seen.key)
    const entry = this.#entryOf(request, route, seen, scope)
    const onEnd = () => {
      if (entry.number > 0) log.finish(entry)
    }
    const reply = new Reply({ request, response, entry, limits, onEnd })
    if (!isPageLoad(request)) log.add(entry)

    try {
      await this.#answer(reply, route, scope)
    } catch (error) {
      reply.crash(error)
    }
  }

  #entryOf(
    request: IncomingMessage,
    route: Route,
    { auth, key }: ReturnType<typeof readKey>,
    scope?: Scope,
  ): LogEntry {
    const at = new Date()
    return openEntry({
      id: this.#newRequestId(at),
      at,
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      protocol: route.kind === 'inference' ? route.protocol : undefined,
      auth,
      key,
      keyMatches: scope !== undefined,
      rawHeaders: request.rawHeaders,
      startedMs: performance.now(),
    })
  }

  async #answer(reply: Reply, route: Route, scope: Scope | undefined): Promise<void> {
    const { request, entry } = reply
    const path = pathOf(request)
    if (route.kind === 'web') return this.#givePage(reply, path)
    if (entry.method === 'OPTIONS' && request.headers.origin !== undefined)
      return reply.send({ status: 204, type: plainType, text: '', more: preflightHeaders })

    const { upstream } = this.#parts
    const isPassedOn = upstream !== undefined && path.startsWith('/v1/')
    if (route.kind === 'unknown' && !isPassedOn)
      return reply.fail(failures.wrongRoute(entry.method, path), reasonOfRoute(entry.method, path))

    if (scope === undefined) return this.#refuseKey(reply, path)
    if (upstream === undefined) return this.#answerHere(reply, route, scope)
    const body = await this.#bodyOf(reply)
    if (body !== undefined) passOn({ reply, upstream, body, recorder: this.#parts.recorder })
  }

  async #answerHere(reply: Reply, route: Route, scope: Scope): Promise<void> {
    const { method, path } = reply.entry
    switch (route.kind) {
      case 'models':
      case 'model':
        return this.#giveCatalog(reply, route, scope)
      case 'stored':
        return this.#inference.giveStored(reply, route)
      case 'not-implemented':
        return reply.fail(
          route.leftOut ? failures.leftOut(method, path) : failures.notImplemented(),
        )
      case 'inference':
        if ((await this.#bodyOf(reply)) === undefined) return
        await this.#inference.answer(reply, route.protocol, scope)
    }
  }

  #givePage(reply: Reply, path: string): void {
    reply.entry.reason = reasonOfRoute(reply.entry.method, path)
    if (path === '/' && !isOwnHost(reply.request.headers.host, this.#parts.host))
      reply.send({
        status: 403,
        type: plainType,
        text: 'This page is for this machine only.\n',
      })
    else reply.page()
  }

  #refuseKey(reply: Reply, path: string): void {
    this.refusedKeys++
    const { key } = this.#parts.own
    const reason = reasonOfKey(reply.entry, path, reply.request.headers, key)
    reply.fail(failures.invalidToken(), reason)
  }

  async #giveCatalog(
    reply: Reply,
    route: Extract<Route, { kind: 'models' | 'model' }>,
    scope: Scope,
  ): Promise<void> {
    const { catalog } = this.#parts
    const target = { route: 'models', model: undefined } as const
    const fault = scope.faults.strike(target)
    if (!(await reply.comesThrough(fault))) return

    // Claude Code asks with a Bearer key and gets the plain shape all the same.
    const { 'x-api-key': apiKey, 'anthropic-version': version } = reply.request.headers
    const isMessagesShape = Boolean(apiKey && version)

    const failure = fault && faultFailure(fault, target)
    if (failure !== undefined) return reply.fail(failure)
    if (route.kind === 'models')
      return reply.json(isMessagesShape ? catalog.messagesList : catalog.list)

    const model = catalog.find(route.id)
    if (model === undefined) return reply.fail(failures.noSuchModel(route.id))
    return reply.json(JSON.stringify(isMessagesShape ? messagesModel(model) : plainModel(model)))
  }

  /** Undefined: there is none to go on with, and the reply has ended. */
  async #bodyOf(reply: Reply): Promise<Buffer | undefined> {
    const { request, entry } = reply
    const { maxBodyBytes } = this.#parts.limits
    let sent: Buffer | undefined
    try {
      sent = await readBody(request, maxBodyBytes)
      entry.requestBytes = sent?.length ?? 0
      const body = sent && (await unpacked(sent, request.headers['content-encoding'], maxBodyBytes))
      entry.requestBody = body?.toString() ?? ''
      if (body === undefined) reply.fail(failures.bodyTooLarge())
      return body
    } catch {
      // The client has gone, or what it sent is not packed as it says.
      if (sent === undefined) reply.abandon()
      else reply.fail(failures.notJson())
      return undefined
    }
  }
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
