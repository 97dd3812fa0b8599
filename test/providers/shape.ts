import type { ErrorCode } from '../../src/error-codes.ts'
import type { Protocol } from '../../src/serve/index.ts'

/** What a provider serves below a root. */
export type Route = 'models' | Protocol

export const routePaths: Readonly<Record<Route, string>> = {
  models: '/models',
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
}

/** The header that may hold the key. In `authorization`, `Bearer` precedes it. */
export type KeyHeader = 'authorization' | 'x-api-key' | 'api-key'

/**
 * A response that the provider words itself: a JSON value, or a text that is sent unchanged (as HTML if it
 * begins with `<`). `$MODEL`, `$METHOD` and `$PATH` in it are replaced by those of the request.
 */
export interface Reply {
  readonly status: number
  readonly body: unknown
}

/** A base URL and its routes. Rules that it does not state are those of the provider. */
export interface Root extends Partial<Rules> {
  /** The path after the host: `/v1`. */
  readonly at: string
  readonly routes: readonly Route[]
}

export interface Rules {
  /** The headers in which a key is accepted. Empty: no key is needed. */
  readonly key: readonly KeyHeader[]
  /** The list of models needs no key. */
  readonly isListPublic?: boolean
  /** The list of models, or the response instead of it. */
  readonly list: Reply
  /** The IDs of the models that it serves, listed or not; `*` matches any part of an ID. */
  readonly models: readonly string[]
  /** The responses to a wrong key, and to a model that is not in `models`. */
  readonly wrongKey: Reply
  readonly wrongModel: Reply
}

/** Where a fact was read. */
export interface Source {
  readonly url: string
  /** The date of the page (`2026-11-22`, `2026-06`), or of the reading if the page has none. */
  readonly date: string
}

/** What a person enters for clients of one protocol, and the expected result. */
export interface Setup {
  /** The path after the host, as in the documentation. */
  readonly paste: string
  /** Arguments besides the address and the key. */
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The expected error, and what its message or hint must contain. Absent: the setup succeeds. */
  readonly refused?: { readonly code: ErrorCode; readonly says: RegExp }
  /** A remark for docs/providers.md. */
  readonly note?: string
}

/** A simulated gateway or vendor, built from its documentation. */
export interface Shape extends Rules {
  readonly name: string
  /** The scheme and host in its documentation. */
  readonly host: string
  readonly roots: readonly Root[]
  /** The response to every path that is not a route, with any key. */
  readonly wrongRoute: Reply
  /** A header that every request must have. */
  readonly needs?: { readonly header: string; readonly value: string; readonly otherwise: Reply }
  /** Requests must have a user agent that begins with one of `names`. The list of models is for everybody. */
  readonly agents?: {
    readonly names: readonly string[]
    readonly otherwise: Reply
    /** The clients whose user agent, and so whose probe, has such a name: `qwen`, or `qwen over messages`. */
    readonly admits: readonly string[]
  }
  /** By protocol, or by a client's ID if this client differs from the others of its protocol. */
  readonly setups: Readonly<Partial<Record<Protocol, Setup>>> &
    Readonly<Record<string, Setup | undefined>>
  /** The expected error of one setup of several clients. Absent: it succeeds with the address for chat. */
  readonly severalRefused?: Setup['refused']
  /** Wrong addresses that people often enter. */
  readonly wrongAddresses?: readonly (Setup & { readonly client: string })[]
  readonly sources: readonly Source[]
  /** Facts that no source states: guesses. */
  readonly unchecked: readonly string[]
}

export const everyRoute: readonly Route[] = ['models', 'chat', 'responses', 'messages']

/** A list of models in the form of the chat protocol. */
export function listOf(ids: readonly string[], more: object = {}): Reply {
  const data = ids.map((id) => ({ id, object: 'model', created: 1_760_000_000, ...more }))
  return { status: 200, body: { object: 'list', data } }
}

/** An error in the form of the chat protocol. */
export function refusal(status: number, error: object): Reply {
  return { status, body: { error } }
}

/** An error in the form of the messages protocol. */
export function messagesRefusal(status: number, type: string, message: string): Reply {
  return { status, body: { type: 'error', error: { type, message } } }
}

/** The IDs of Claude Code's four models in a vendor's spelling, such as `anthropic/` with dots. */
export function claudeIds(prefix: string, dot = '-'): readonly string[] {
  return ['opus-5', 'sonnet-5', 'haiku-5', 'fable-5'].map(
    (name, index) => `${prefix}claude-${name}${dot}${index === 3 ? 2 : 5}`,
  )
}

/** OpenAI's models and errors, which gateways pass on. */
export const openAiKey = refusal(401, {
  message:
    'Incorrect API key provided: sk-provi**********4860. You can find your API key at https://platform.openai.com/account/api-keys.',
  type: 'invalid_request_error',
  param: null,
  code: 'invalid_api_key',
})
export const openAiModel = refusal(404, {
  message: 'The model `$MODEL` does not exist or you do not have access to it.',
  type: 'invalid_request_error',
  param: null,
  code: 'model_not_found',
})
export const gptIds = ['gpt-5.6-sol', 'gpt-5.6-terra', 'gpt-5.4', 'gpt-5.4-mini']
