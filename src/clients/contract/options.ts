import type { Protocol } from '../../gateway/types.ts'

/** The provider entry that a setup writes, unless the user or an earlier setup chose another ID. */
export const defaultProviderId = 'gateway'

/** The options that the user can choose for a client: by flags, a team's file, an import link or a prompt. */
export interface ClientOptions {
  readonly model?: string | undefined
  /** For titles and other small work. */
  readonly smallModel?: string | undefined
  readonly providerId?: string | undefined
  /** For a client that supports several. */
  readonly protocol?: Protocol | undefined
  /** In tokens. */
  readonly contextWindow?: number | undefined
  /** In tokens. */
  readonly maxOutputTokens?: number | undefined
  readonly images?: boolean | undefined
  readonly reasoning?: boolean | undefined
  /** How long the model reasons. Absent: the client's default. */
  readonly reasoningEffort?: ReasoningEffort | undefined

  // Only Claude Code has the following: a model for each slot.

  /** The slot that Claude Code starts with. */
  readonly slot?: Slot | undefined
  /** The pinned models. Any other slot has the client's own model. */
  readonly slotModels?: Readonly<Partial<Record<Slot, string>>> | undefined
  /** A top-level `model` that does not name a slot. Overrides `slot`. */
  readonly startModel?: string | undefined
  readonly subagentModel?: string | undefined
  /** Claude Code lists the gateway's models in its picker. */
  readonly discoverModels?: boolean | undefined
  /** Claude Code does not send its attribution block. */
  readonly disableAttribution?: boolean | undefined

  // Only Codex has the following.

  /** repoint writes a file that describes the gateway's models. */
  readonly writeModelCatalog?: boolean | undefined
  /** The previous provider keeps its old key, in config.toml. */
  readonly keepOldGateway?: boolean | undefined
}

export type OptionName = keyof ClientOptions

export const reasoningEfforts = ['low', 'medium', 'high'] as const

export type ReasoningEffort = (typeof reasoningEfforts)[number]

/** A value in a client's file as an effort. Undefined: the file has none, or another one. */
export function asReasoningEffort(value: unknown): ReasoningEffort | undefined {
  return reasoningEfforts.find((effort) => effort === value)
}

/** The model slots of Claude Code. Newer versions have `fable`. */
export const slots = ['opus', 'sonnet', 'haiku', 'fable'] as const

export type Slot = (typeof slots)[number]

export const defaultSlot: Slot = 'sonnet'

/** A flag of a client's own command. */
export interface ClientFlag {
  /** As help shows it: `--slot <slot>`. */
  readonly flag: string
  readonly help: string
  readonly choices?: readonly string[]
  /** Absent: text, or no value. */
  readonly takes?: ValueKind
  /** @param value true or false for a flag without a value */
  readonly toOptions: (value: string | number | boolean) => ClientOptions
}

/** A kind of value that is checked before it is used: see src/commands/command-line/client-flags.ts. */
export type ValueKind = 'tokens' | 'model'
