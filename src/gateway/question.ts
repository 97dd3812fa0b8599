import type { RequestSpec } from './http/request.ts'
import { maxAnswerBytes } from './judge/answer.ts'
import { limitNames } from './judge/carried.ts'
import { isComplete } from './judge/proof.ts'
import type { FirstRequest, Protocol } from './types.ts'

/** How the one question of a proof is asked. */
export interface QuestionForm {
  readonly protocol: Protocol
  readonly model: string
  /** With a small limit of our own; absent: only where the protocol wants one. */
  readonly isLimited?: boolean
  /** With a tool that nobody needs. */
  readonly hasTool?: boolean
  /** With all that a client sends along. */
  readonly carried?: FirstRequest | undefined
}

/** Reads like work: filters of gateways refuse a bare `ping` as a test of the key (2026-11-23). */
const prompt = 'In one word: which type does this JavaScript have? const total = 1 + 1'

/** Most tokens to ask for. The responses protocol refuses fewer than 16. */
const maxTokens = 16

/** Whether a client names a limit of tokens itself. */
export function hasLimit(carried: FirstRequest | undefined): boolean {
  return limitNames.some((name) => carried?.body[name] !== undefined)
}

/** The one question, to the gateway at `root`. */
export function requestAt(root: string, form: QuestionForm): RequestSpec {
  const { protocol, model, isLimited = false, hasTool = false, carried } = form
  const { headers, limit, body } = questions[protocol]
  const isLimitOurs = (isLimited || protocol === 'messages') && !hasLimit(carried)
  return {
    method: 'POST',
    url: root + routes[protocol],
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
      ...headers,
      ...carried?.headers,
      ...betaHeader(carried),
    },
    body: JSON.stringify({
      model,
      ...body,
      stream: true,
      ...(isLimitOurs ? { [limit]: maxTokens } : {}),
      ...(hasTool ? { tools: [emptyTools[protocol]] } : {}),
      ...carried?.body,
      ...safeguardsMember(carried),
    }),
    maxBytes: maxAnswerBytes,
    isEnough: (text) => isComplete(protocol, text),
  }
}

function safeguardsMember({ safeguards }: FirstRequest = { body: {} }) {
  return typeof safeguards === 'object' ? { safeguards: safeguards.body } : {}
}

/** The betas of a client with that of its safeguards. */
function betaHeader({ headers = {}, safeguards }: FirstRequest = { body: {} }) {
  if (typeof safeguards !== 'object') return {}
  const betas = [headers['anthropic-beta'], safeguards.beta].filter(Boolean)
  return { 'anthropic-beta': betas.join(',') }
}

/** Behind the root of its protocol. Messages: as Claude Code 2.1.197 and 2.1.329 ask (2026-11-21). */
const routes: Readonly<Record<Protocol, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/v1/messages?beta=true',
}

/** Where the question goes, without what stands behind its path. */
export function placeOf(root: string, protocol: Protocol): string {
  return root + routes[protocol].split('?')[0]
}

interface ProtocolQuestion {
  readonly headers?: Readonly<Record<string, string>>
  /** How it calls a limit of tokens. */
  readonly limit: (typeof limitNames)[number]
  readonly body: Readonly<Record<string, unknown>>
}

const messages = [{ role: 'user', content: prompt }]
export const input = [
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: prompt }] },
]

const questions: Readonly<Record<Protocol, ProtocolQuestion>> = {
  chat: { limit: 'max_tokens', body: { messages } },
  responses: { limit: 'max_output_tokens', body: { input, store: false } },
  messages: {
    headers: { 'anthropic-version': '2023-06-01' },
    limit: 'max_tokens',
    body: { messages },
  },
}

const tool = { name: 'noop', description: 'Does nothing.' }
const noParameters = { type: 'object', properties: {} }

/** A tool that nobody needs, as each protocol describes one. */
export const emptyTools: Readonly<Record<Protocol, object>> = {
  chat: { type: 'function', function: { ...tool, parameters: noParameters } },
  responses: { type: 'function', ...tool, parameters: noParameters, strict: false },
  messages: { ...tool, input_schema: noParameters },
}
