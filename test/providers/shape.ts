import type { ErrorCode } from '../../src/errors.ts'
import type { Protocol } from '../../src/serve/index.ts'

/** What a provider serves below a root. */
export type Route = 'models' | Protocol

export const routePaths: Readonly<Record<Route, string>> = {
  models: '/models',
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
}

/** Where a key may come; `authorization` holds it behind `Bearer`. */
export type KeyHeader = 'authorization' | 'x-api-key' | 'api-key'

/**
 * An answer of the provider's own: JSON, or text as it stands (a page where it begins with `<`).
 * `$MODEL`, `$METHOD` and `$PATH` in it are those of the request.
 */
export interface Reply {
  readonly status: number
  readonly body: unknown
}

/** A root and what lies below it. What it leaves out is as the provider says. */
export interface Root extends Partial<Rules> {
  /** Behind the host: `/v1`. */
  readonly at: string
  readonly routes: readonly Route[]
}

export interface Rules {
  /** Each of them counts; none: whatever comes, or nothing. */
  readonly key: readonly KeyHeader[]
  /** Whether the list of models is for everybody. */
  readonly isListPublic?: boolean
  /** The list of models, or what is answered in its place. */
  readonly list: Reply
  /** Ids that are served, whether they are listed or not; `*` is any part of an id. */
  readonly models: readonly string[]
  /** For a wrong key, and for a model that is none of `models`. */
  readonly wrongKey: Reply
  readonly wrongModel: Reply
}

/** Where a fact was read, and when it was said there. */
export interface Source {
  readonly url: string
  /** `2026-11-22`, `2026-06`: of what was read, or of the reading where that has no date. */
  readonly date: string
}

/** What a person enters for clients of one protocol, and what must come of it. */
export interface Setup {
  /** Behind the host, as the documentation has it. */
  readonly paste: string
  /** Beside the address and the key. */
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** What it is refused with, and what the message or the hint must hold; absent: proven. */
  readonly refused?: { readonly code: ErrorCode; readonly says: RegExp }
  /** What is special, for the page. */
  readonly note?: string
}

/** A gateway or vendor, forged after what is known of it. */
export interface Shape extends Rules {
  readonly name: string
  /** What its documentation writes before the paths. */
  readonly host: string
  readonly roots: readonly Root[]
  /** Everything that is none of the routes, whatever the key. */
  readonly wrongRoute: Reply
  /** A header that must come along. */
  readonly needs?: { readonly header: string; readonly value: string; readonly otherwise: Reply }
  /** Whom it serves beside its list, by the beginning of the user agent. */
  readonly agents?: {
    readonly names: readonly string[]
    readonly otherwise: Reply
    /** The IDs of the clients that have such a name, and whose probe is their own request. */
    readonly admits: readonly string[]
  }
  /** By protocol, or by a client's id where that one differs from the others of its protocol. */
  readonly setups: Readonly<Partial<Record<Protocol, Setup>>> &
    Readonly<Record<string, Setup | undefined>>
  /** What several clients at once are refused with; absent: set up from the address for chat. */
  readonly severalRefused?: Setup['refused']
  /** Addresses that people take for the right one. */
  readonly wrongAddresses?: readonly (Setup & { readonly client: string })[]
  readonly sources: readonly Source[]
  /** What was found nowhere, and is a guess. */
  readonly unchecked: readonly string[]
}

export const everyRoute: readonly Route[] = ['models', 'chat', 'responses', 'messages']

/** A list of models as the chat protocol has it. */
export function listOf(ids: readonly string[], more: object = {}): Reply {
  const data = ids.map((id) => ({ id, object: 'model', created: 1_760_000_000, ...more }))
  return { status: 200, body: { object: 'list', data } }
}

/** An error as the chat protocol has it. */
export function refusal(status: number, error: object): Reply {
  return { status, body: { error } }
}

/** An error as the messages protocol has it. */
export function messagesRefusal(status: number, type: string, message: string): Reply {
  return { status, body: { type: 'error', error: { type, message } } }
}

/** The ids of Claude Code's slots: of one vendor's spelling, as `anthropic/` with dots. */
export function claudeIds(prefix: string, dot = '-'): readonly string[] {
  return ['opus-5', 'sonnet-5', 'haiku-5', 'fable-5'].map(
    (name, index) => `${prefix}claude-${name}${dot}${index === 3 ? 2 : 5}`,
  )
}
