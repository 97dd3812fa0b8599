import type { Protocol } from '../../protocols.ts'
import type { Script } from '../model/model.ts'
import type { Turn } from '../requests/reading/turns.ts'
import type { Fault } from './faults.ts'

/** A scenario as people write it; docs/gateway.md describes it. */
export interface WrittenScenario {
  readonly answers?: readonly WrittenRule[]
  readonly faults?: readonly Fault[]
}

export interface WrittenRule {
  /** Absent: everything. A text: the last text of a person holds it. A function, in a program: it decides. */
  readonly when?: string | WrittenCondition | ((question: GatewayQuestion) => boolean)
  /** One for each request that fits, in this order. */
  readonly reply: string | WrittenReply | readonly (string | WrittenReply)[]
  /** After the last reply: stay at it (`last`, the default), begin again, or fit no more. */
  readonly repeat?: 'last' | 'loop' | 'never'
}

/** All that is given must fit. */
export interface WrittenCondition {
  readonly text?: string
  /** A regular expression, as RE2 has them. */
  readonly pattern?: string
  readonly model?: string
  readonly protocol?: Protocol
  /** Whether the request ends with the results of tools. */
  readonly afterTool?: boolean
  /** The system prompt holds this, whatever the case. */
  readonly system?: string
  /** One of the results of tools that came last holds this, whatever the case. */
  readonly toolResult?: string
  /** Which request of its conversation it is, from 1. */
  readonly turn?: number
  /** Headers by their names, each of which holds this text. */
  readonly header?: Readonly<Record<string, string>>
  /** In a program: decides by all that is known of the request. */
  readonly test?: (question: GatewayQuestion) => boolean
}

/** One answer: what is said, which tools are called, what goes wrong. */
export interface WrittenReply extends Omit<Fault, 'route' | 'model' | 'every' | 'times'> {
  readonly text?: string
  readonly thinking?: string
  readonly refusal?: string
  /** A tool of the client, and its arguments. */
  readonly call?: string
  readonly with?: object | string
  /** Several at once. */
  readonly calls?: readonly { readonly tool: string; readonly with?: object | string }[]
  readonly finish?: NonNullable<Script['finish']>
  readonly usage?: NonNullable<Script['usage']>
}

/** What a request asks, as rules are held against it and functions that answer are told it. */
export interface GatewayQuestion {
  /** The last text of a person. */
  readonly text: string
  /** As the client named it. */
  readonly model: string
  readonly protocol: Protocol
  /** Whether the request ends with the results of tools. */
  readonly afterTool: boolean
  /** The names of the tools that may be called. */
  readonly tools: readonly string[]
  /** The whole conversation. */
  readonly messages: readonly Turn[]
  /** The system prompt; empty if there is none. */
  readonly system: string
  /** The results of tools that came last. */
  readonly toolResults: readonly string[]
  /** Which request of its conversation it is, from 1: one more than the model has answered. */
  readonly turn: number
  /** By their names in small letters. */
  readonly headers: Readonly<Record<string, string>>
}
