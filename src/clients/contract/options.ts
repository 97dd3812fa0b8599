import type { SettingPath } from '../../edits/types.ts'
import type { Protocol } from '../../gateway/types.ts'

/** The provider entry that a setup writes, unless the user or an earlier setup chose another ID. */
export const defaultProviderId = 'gateway'

/** The options that the user can choose for a client: by flags, a team's file, an import link or a prompt. */
export interface ClientOptions extends EnumOptions {
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
  /** The earlier provider keeps its old key, in config.toml. */
  readonly keepOldGateway?: boolean | undefined
}

/** The options that hold one value of a fixed list, which is in the flag of each: see `EnumFlag`. */
export interface EnumOptions {
  /** How long the model reasons. Absent: the client's default. */
  readonly reasoningEffort?: string | undefined
}

export type OptionName = keyof ClientOptions

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

/** The flag of an option with a fixed list of values. */
export interface EnumFlag extends ClientFlag {
  readonly option: keyof EnumOptions
  readonly choices: readonly string[]
}

/** An option that one setting of a client's file holds. src/clients/plan/setting-options.ts reads and writes it. */
export interface SettingOption extends EnumFlag {
  readonly path: SettingPath
}

/** A kind of value that is checked before it is used: see src/commands/command-line/client-flags.ts. */
export type ValueKind = 'tokens' | 'model'
