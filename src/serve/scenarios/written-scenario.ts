import type { Protocol } from '../../protocols.ts'
import type { Fault, FaultEffects } from '../faults/faults.ts'
import type { Script } from '../model/build-answer.ts'
import type { Turn } from '../requests/turns/turns.ts'

/** A scenario as people write it. docs/gateway.md describes it. */
export interface WrittenScenario {
  readonly answers?: readonly WrittenRule[]
  readonly faults?: readonly Fault[]
}

export interface WrittenRule {
  /**
   * Absent: matches every request. A string: the last user text contains it. A function (only in a
   * program): decides.
   */
  readonly when?: string | WrittenCondition | ((question: GatewayQuestion) => boolean)
  /** The answers in order, one for each matching request. */
  readonly reply: string | WrittenReply | readonly (string | WrittenReply)[]
  /** After the last reply: repeat it (`last`, the default), start again, or stop matching. */
  readonly repeat?: 'last' | 'loop' | 'never'
}

/** All given members must match. */
export interface WrittenCondition {
  readonly text?: string
  /** A regular expression in RE2's syntax. */
  readonly pattern?: string
  readonly model?: string
  readonly protocol?: Protocol
  /** Whether the request ends with tool results. */
  readonly afterTool?: boolean
  /** The system prompt contains this. Case does not matter. */
  readonly system?: string
  /** One of the last tool results contains this. Case does not matter. */
  readonly toolResult?: string
  /** The number of the request in its conversation, from 1. */
  readonly turn?: number
  /** Header names, each with a text that the header contains. */
  readonly header?: Readonly<Record<string, string>>
  /** Only in a program: decides by the whole request. */
  readonly test?: (question: GatewayQuestion) => boolean
}

/** One answer: its text, its tool calls, its faults. */
export interface WrittenReply extends FaultEffects {
  readonly text?: string
  readonly thinking?: string
  readonly refusal?: string
  /** A tool of the client. `with` has its arguments. */
  readonly call?: string
  readonly with?: object | string
  /** Several parallel calls. */
  readonly calls?: readonly { readonly tool: string; readonly with?: object | string }[]
  readonly finish?: NonNullable<Script['finish']>
  readonly usage?: NonNullable<Script['usage']>
}

/** A request as rules and answer functions see it. */
export interface GatewayQuestion {
  /** The last user text. */
  readonly text: string
  /** The name that the client sent. */
  readonly model: string
  readonly protocol: Protocol
  /** Whether the request ends with tool results. */
  readonly afterTool: boolean
  /** The names of the tools that may be called. */
  readonly tools: readonly string[]
  /** The whole conversation. */
  readonly messages: readonly Turn[]
  /** The system prompt; empty if there is none. */
  readonly system: string
  readonly toolResults: readonly string[]
  /** The number of the request in its conversation, from 1: the model's earlier answers plus one. */
  readonly turn: number
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
}
