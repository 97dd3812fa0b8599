/** The types of an edit, from one value in a file to a plan for the files of several clients. */

/** The contents of a file. Where null is allowed, it means that there is no such file. */
export type Bytes = Uint8Array

export function sameBytes(a: Bytes | null, b: Bytes | null): boolean {
  if (a === null || b === null) return a === b
  return Buffer.compare(a, b) === 0
}

/**
 * A path in a TOML, JSON or JSON5 document: the keys from the root, with a `ListElement` for an element
 * of a list. A string element is always the last step. A table element may be followed by its keys.
 */
export type SettingPath = readonly (string | ListElement)[]

/** The path of a whole file, where others are paths of its settings. */
export const wholeFile: SettingPath = []

export function isWholeFile(path: SettingPath): boolean {
  return path.length === 0
}

export function isElementPath(path: SettingPath): boolean {
  return typeof path.at(-1) === 'object'
}

/** An element of a list. It is found by its contents, because others may have moved it. */
export interface ListElement {
  /** A string, or the members that identify a table. A new table is written with these members. */
  readonly element: string | { readonly [member: string]: string }
  /** If the element is new, it is written first, because the client uses the first match. */
  readonly isFirst?: true
}

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

/** A change of one setting. `value: undefined` removes the setting. The value of an element is the element. */
export interface SettingChange {
  readonly path: SettingPath
  readonly value: ConfigValue | undefined
  /** Masked in every description. */
  readonly isSecret?: boolean
  /**
   * An undo restores all of a client's settings with a role, in all of its files, or none of them. Only a model
   * that the user chose can stay alone.
   */
  readonly role?: SettingRole
  /** The client writes this setting at each start, so another value is not a change by the user. */
  readonly rewrittenByClient?: boolean
  /** It removes what may belong to another gateway, and needs the user's consent. */
  readonly isForeign?: boolean
}

export function addToList(list: readonly string[], element: string): SettingChange {
  return { path: [...list, { element }], value: element }
}

export function removeFromList(list: readonly string[], element: string): SettingChange {
  return { path: [...list, { element }], value: undefined }
}

/**
 * `json` accepts comments and trailing commas; `json5` also accepts unquoted names and single quotes. `key`: the file
 * is a key and nothing else, and its one setting is `key`.
 */
type FileFormat = 'toml' | 'json' | 'json5' | 'key'

/**
 * What a run would do to one file, as plain data. A client module creates it, `describe.ts` formats it,
 * and `transaction/apply-plan.ts` applies it.
 */
export interface FileEdit {
  /** The client's ID. */
  readonly client: string
  /** The absolute path that the client uses. Symlinks are followed when the file is written. */
  readonly path: string
  readonly format: FileFormat
  /**
   * The records store these words. `keys`: the user's file with our settings in it. An undo decides setting by
   * setting. `whole`: the whole file is ours after the run; an undo restores all of it or nothing.
   */
  readonly scope: 'keys' | 'whole'
  /** The settings that this edit sets, removes or confirms. In `whole` scope: the settings to show. */
  readonly changes: readonly SettingChange[]
  readonly before: Bytes | null
  readonly after: Bytes | null
  /** A new file with a secret gets mode 0600. Other new files get 0644 minus the umask. */
  readonly holdsSecret: boolean
  /** The permission bits to set, even if the contents stay the same. Absent: the mode stays. */
  readonly mode?: number
}

/**
 * What a run does. `setup` points clients at a gateway, and `off` back at their own service. `repair` fixes
 * files and changes no choice. `undo` undoes these three, and `redo` undoes an undo.
 */
export type RunKind = 'setup' | 'off' | 'repair' | 'undo' | 'redo'

/** What a run would do, as data. */
export interface Plan {
  readonly kind: RunKind
  /** The command that the user typed, without secrets: `codex`, `claude-gpt`, `rollback`. */
  readonly command: string
  /** Absent: `off`, or a repair of clients that use no gateway of repoint's. */
  readonly address?: string
  /** The base URLs of the protocols. Absent: `{address}/v1`, and `{address}` for messages. */
  readonly baseUrls?: { readonly chat: string; readonly messages: string } | undefined
  /** The main model of the first client. */
  readonly model?: string
  /** In write order: see docs/transaction.md. */
  readonly edits: readonly FileEdit[]
}

export type FileAction = 'created' | 'updated' | 'unchanged' | 'removed'

export function actionOf({ before, after, mode }: FileEdit): FileAction {
  if (sameBytes(before, after)) return mode === undefined ? 'unchanged' : 'updated'
  if (before === null) return 'created'
  return after === null ? 'removed' : 'updated'
}
