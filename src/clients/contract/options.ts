import type { SettingPath } from '../../edits/types.ts'
import type { Protocol } from '../../gateway/types.ts'

/** The provider entry that a setup writes, unless the user or an earlier setup chose another ID. */
export const defaultProviderId = 'gateway'

/**
 * The options that the user can choose for a client: by flags, a team's file, an import link or a prompt.
 *
 * Most clients have one `model`. Claude Code has slots, which hold a model each, and starts with one of them:
 *
 *     repoint codex --model a                              { model: 'a' }
 *     repoint claude --slot opus --model a                 { slot: 'opus', model: 'a' }
 *     the same, as its files say afterwards                { slot: 'opus', slotModels: { opus: 'a' } }
 *     repoint claude --slot opus --haiku-model b           { slot: 'opus', slotModels: { haiku: 'b' } }
 *     files with "model": "c", which is not a slot         { startModel: 'c' }
 */
export interface ClientOptions extends EnumOptions {
  /** For a client with slots: of the slot that it starts with. Its files have it in `slotModels`. */
  readonly model?: string
  /** For titles and other small work. */
  readonly smallModel?: string
  readonly providerId?: string
  /** For a client that supports several. */
  readonly protocol?: Protocol
  /** In tokens. */
  readonly contextWindow?: number
  /** In tokens. */
  readonly outputLimit?: number
  readonly images?: boolean
  readonly reasoning?: boolean

  // For a client with slots.

  /** The slot that it starts with. */
  readonly slot?: string
  /** The pinned models. Any other slot has the client's own model. */
  readonly slotModels?: Readonly<Record<string, string>>
  /** The model that the client starts with, if it is in no slot. No flag sets it: the files of a client may. */
  readonly startModel?: string
  readonly subagentModel?: string

  // For Claude Code.

  /** It lists the gateway's models in its picker. */
  readonly isDiscovering?: boolean
  /** It does not send its attribution block. */
  readonly hidesAttribution?: boolean
  /** It sends no experimental betas, and nothing that belongs to them. */
  readonly sendsNoBetas?: boolean

  // For Codex.

  /** auth.json keeps its login, and the gateway's key is in a separate file. */
  readonly keepsLogin?: boolean
  /** It reads its models from a file of repoint's. */
  readonly hasModelsFile?: boolean
  /** The earlier provider keeps its old key, in config.toml. */
  readonly keepOldGateway?: boolean
}

/** The options that hold one value of a fixed list, which is in the flag of each: see `EnumFlag`. */
export interface EnumOptions {
  /** How long the model reasons. */
  readonly reasoningEffort?: string
  /** How Codex searches the web, with a tool that only the vendor's server runs. */
  readonly webSearch?: string
}

export type OptionName = keyof ClientOptions

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
