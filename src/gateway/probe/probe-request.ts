import type { RequestSpec } from '../http/request.ts'
import { isComplete } from '../judge/inference.ts'
import { limitNames } from '../judge/request-parts.ts'
import { maxResponseBytes } from '../judge/types.ts'
import type { FirstRequest, Protocol } from '../types.ts'
import { plainBody } from './plain-body.ts'

/** How a probe's request is made. */
export interface RequestForm {
  readonly protocol: Protocol
  readonly model: string
  /** With a small token limit of repoint's. Absent: only if the protocol requires a limit. */
  readonly isLimited?: boolean
  /** The client waits until the gateway ends the response. */
  readonly needsEnd?: boolean
  /** Tools that the model does not need. `noop`: a tool of repoint's. */
  readonly tools?: readonly unknown[] | 'noop'
  /** The request of a client, with its messages and tools. Absent: a minimal request of repoint's. */
  readonly clientRequest?: FirstRequest
}

/** The token limit. The responses protocol rejects fewer than 16. */
const maxTokens = 16

/** How long the end of a response may take after its last event, in ms, for a client that waits for it. */
const slowEndMs = 3_000

/** Whether a client sends a token limit itself. */
export function hasLimit(clientRequest: FirstRequest | undefined): boolean {
  return limitNames.some((name) => clientRequest?.body[name] !== undefined)
}

/** The probe's request for the gateway at `baseUrl`. */
export function requestAt(baseUrl: string, form: RequestForm): RequestSpec {
  const { protocol, model, isLimited = false, needsEnd = false, tools, clientRequest } = form
  const { headers, limitName } = protocolDetails[protocol]
  const addsLimit = (isLimited || protocol === 'messages') && !hasLimit(clientRequest)

  return {
    method: 'POST',
    url: urlAt(baseUrl, protocol, clientRequest),
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
      // A client that sends no version of the API fails where the gateway needs one, as Grok Build 1.0.41 does.
      ...(clientRequest ? clientRequest.headers : headers),
      ...betaHeader(clientRequest),
      ...agentHeader(clientRequest),
      ...encodingHeader(clientRequest),
    },
    body: JSON.stringify({
      model,
      ...(clientRequest?.body ?? plainBody(protocol)),
      ...(addsLimit ? { [limitName]: maxTokens } : {}),
      ...(tools ? { tools: tools === 'noop' ? [noopTools[protocol]] : tools } : {}),
      ...safeguardsMember(clientRequest),
    }),
    maxBytes: maxResponseBytes,
    isEnough: (text) => isComplete(protocol, text),
    endWithinMs: needsEnd ? slowEndMs : undefined,
  }
}

function safeguardsMember(clientRequest: FirstRequest | undefined) {
  const safeguards = clientRequest?.safeguards
  return typeof safeguards === 'object' ? { safeguards: safeguards.body } : {}
}

/** The client's betas and the beta of its safeguards. */
function betaHeader(clientRequest: FirstRequest | undefined): FirstRequest['headers'] {
  const { headers = {}, safeguards } = clientRequest ?? {}
  if (typeof safeguards !== 'object') return {}
  const betas = [headers['anthropic-beta'], safeguards.beta].filter(Boolean)
  return { 'anthropic-beta': betas.join(',') }
}

/** Some gateways admit a client by its User-Agent. Their operators can still tell a probe from the client. */
function agentHeader(clientRequest: FirstRequest | undefined): FirstRequest['headers'] {
  const agent = clientRequest?.headers?.['user-agent']
  return agent === undefined ? {} : { 'user-agent': `${agent} repoint` }
}

/** Node decodes zstd from 22.15 on. Before, a gateway must not use it for repoint. */
function encodingHeader(clientRequest: FirstRequest | undefined): FirstRequest['headers'] {
  const encodings = clientRequest?.headers?.['accept-encoding']?.split(/,\s*/)
  if (encodings === undefined) return {}
  const readable = encodings.filter((name) => name !== 'zstd' || process.versions['zstd'])
  return { 'accept-encoding': readable.join(',') }
}

/** The paths after the base URL. */
const routes: Readonly<Record<Protocol, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/v1/messages',
}

/** Without a client, the probe requests messages as Claude Code 2.1.197 and 2.1.329 do (2026-11-21). */
function urlAt(
  baseUrl: string,
  protocol: Protocol,
  clientRequest: FirstRequest | undefined,
): string {
  const usual = protocol === 'messages' ? 'beta=true' : undefined
  const query = clientRequest === undefined ? usual : clientRequest.query
  return probeUrl(baseUrl, protocol) + (query === undefined ? '' : `?${query}`)
}

/** The URL of the probe without its query. */
export function probeUrl(baseUrl: string, protocol: Protocol): string {
  return baseUrl + routes[protocol]
}

interface ProtocolDetails {
  readonly headers?: Readonly<Record<string, string>>
  /** The protocol's name for the token limit. */
  readonly limitName: (typeof limitNames)[number]
}

const protocolDetails: Readonly<Record<Protocol, ProtocolDetails>> = {
  chat: { limitName: 'max_tokens' },
  responses: { limitName: 'max_output_tokens' },
  messages: {
    headers: { 'anthropic-version': '2023-06-01' },
    limitName: 'max_tokens',
  },
}

const tool = { name: 'noop', description: 'Does nothing.' }
const noParameters = { type: 'object', properties: {} }

/** A tool that the model does not need, in the format of each protocol. */
const noopTools: Readonly<Record<Protocol, object>> = {
  chat: { type: 'function', function: { ...tool, parameters: noParameters } },
  responses: { type: 'function', ...tool, parameters: noParameters, strict: false },
  messages: { ...tool, input_schema: noParameters },
}
