import type { ConfigDocument } from './edit.ts'
import { decodeText, encodeText } from './text.ts'
import type { Bytes, SettingChange, SettingPath } from './types.ts'
import type { UndoDecision, UndoVersions } from './undo.ts'

/** The setting that stands for the text of a key file. */
const keyName = 'key'

/**
 * The operations on a file with a key and nothing else, for a client that runs a command which prints the file. Its
 * one setting is `key`, and the file ends in a line break. See `Format`.
 */
export const keyFileFormat = {
  read(bytes: Bytes, fileName: string): ConfigDocument {
    const key = keyIn(decodeText(bytes, fileName).text)
    const root: ConfigDocument['root'] = key === undefined ? {} : { [keyName]: key }
    return {
      root,
      get: (path) => (path.length === 0 ? root : isKey(path) ? key : undefined),
      lineOf: (path) => (isKey(path) && key !== undefined ? 1 : undefined),
    }
  },

  edit(bytes: Bytes | null, changes: readonly SettingChange[], fileName: string): Bytes {
    const now = bytes ?? new Uint8Array()
    const change = changes.findLast(({ path }) => isKey(path))
    if (change === undefined || change.value === keyIn(decodeText(now, fileName).text)) return now
    const text = typeof change.value === 'string' ? `${change.value}\n` : ''
    return encodeText({ text, hasBom: false })
  },

  undo({ before, now }: UndoVersions, { restore }: UndoDecision): Bytes | null {
    return restore.length > 0 ? before : now
  },

  isBlank: (text: string) => keyIn(text) === undefined,
}

/** The key in a text, without the blanks around it. Undefined: there are only blanks. */
function keyIn(text: string): string | undefined {
  return text.trim() === '' ? undefined : text.trim()
}

function isKey(path: SettingPath): boolean {
  return path.length === 1 && path[0] === keyName
}
