/** One file's bytes as they are; null: there is no such file. */
export type Bytes = Uint8Array

export function sameBytes(a: Bytes | null, b: Bytes | null): boolean {
  if (a === null || b === null) return a === b
  return Buffer.compare(a, b) === 0
}

/**
 * A place in a TOML, JSON or JSON5 document: the keys from the root, and an element where the way leads
 * into a list. A text in a list comes last; behind a table in one may follow its keys.
 */
export type SettingPath = readonly (string | ListElement)[]

/** What a list holds. It is known by what it says, since others may have moved it by now. */
export interface ListElement {
  /**
   * A text, or of a table the members by which it is known. A table that is not there yet is written
   * with them.
   */
  readonly element: string | { readonly [member: string]: string }
  /** It is written before all others, where it is not there yet: the client takes the first that fits. */
  readonly isFirst?: true
}

/** A value as it can stand in a configuration file. */
export type ConfigValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly ConfigValue[]
  | { readonly [key: string]: ConfigValue }

/**
 * What a setting decides. An undo restores a client's settings with a role together. If only the key
 * were restored, the user's own key would be sent to the gateway. If only the address were restored,
 * the client would request our model from a service that does not have it.
 */
export type SettingRole = 'address' | 'key' | 'provider' | 'model'

/** One key's change. `value: undefined` removes the key; the value of an element is the element. */
export interface SettingChange {
  readonly path: SettingPath
  readonly value: ConfigValue | undefined
  /** Masked in every description. */
  readonly isSecret?: boolean
  /**
   * Part of what sends a key to an address. An undo takes back all of a client's bound keys, in all
   * of its files, or none: an address without our key would get the user's own.
   */
  readonly undoTogether?: boolean
  /** What it decides, by the client's table. Absent: see `undoTogether`. */
  readonly role?: SettingRole
  /** The client writes it anew whenever it starts: another value by then is nobody's change. */
  readonly rewrittenByClient?: boolean
}

export function addToList(list: readonly string[], element: string): SettingChange {
  return { path: [...list, { element }], value: element }
}

export function removeFromList(list: readonly string[], element: string): SettingChange {
  return { path: [...list, { element }], value: undefined }
}

/** `json` bears comments and trailing commas; `json5` bears unquoted names and single quotes too. */
export type FileFormat = 'toml' | 'json' | 'json5'

/**
 * What one run would do to one file. Plain data: made by a client module, shown by `describe.ts`,
 * carried out by `transaction/apply.ts`.
 */
export interface FileEdit {
  /** The client's id. */
  readonly client: string
  /** Absolute, as the client itself names it; symlinks are followed when writing. */
  readonly path: string
  readonly format: FileFormat
  /**
   * `keys`: our keys inside a file that belongs to the user; an undo looks at each key.
   * `whole`: the file as a whole is ours after the run; an undo takes all or nothing.
   */
  readonly scope: 'keys' | 'whole'
  /** Our keys that this edit sets, removes or confirms. In `whole` scope: what to show. */
  readonly changes: readonly SettingChange[]
  readonly before: Bytes | null
  readonly after: Bytes | null
  /** A file that holds a secret is born with mode 0600; other new files with 0644 less the umask. */
  readonly holdsSecret: boolean
  /** Permission bits that the file is to have, be it with the same contents. Absent: as they are. */
  readonly mode?: number
}

/** What a run would do, as data. */
export interface Plan {
  /** The command as it was typed, without secrets: `codex`, `claude-gpt`, `rollback`. */
  readonly command: string
  readonly baseUrl: string
  /** Where its routes hang; absent: at `{baseUrl}/v1`, and those of messages at `{baseUrl}`. */
  readonly baseUrls?: { readonly chat: string; readonly messages: string } | undefined
  /** The model that the client will use, as far as one name can say it. */
  readonly model: string
  /** In the order in which the files must switch: see docs/transaction.md. */
  readonly edits: readonly FileEdit[]
}

/** What becomes of a file. */
export type FileAction = 'created' | 'updated' | 'unchanged' | 'removed'

/** What an edit does to its file. */
export function actionOf({ before, after, mode }: FileEdit): FileAction {
  if (sameBytes(before, after)) return mode === undefined ? 'unchanged' : 'updated'
  if (before === null) return 'created'
  return after === null ? 'removed' : 'updated'
}
