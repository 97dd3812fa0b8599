import type { Format } from './format.ts'
import { decodeText, encodeText } from './text.ts'
import type { SettingChange, SettingPath } from './types.ts'

/** The setting that stands for the text of a key file. */
const keyName = 'key'

/** The key in a text, without the blanks around it. Undefined: there are only blanks. */
function keyIn(text: string): string | undefined {
  return text.trim() === '' ? undefined : text.trim()
}

/**
 * A file with a key and nothing else, for a client that runs a command which prints the file. Its one setting is
 * `key`, and it ends in a line break.
 */
export const keyFileFormat: Format = {
  read(bytes, fileName) {
    const key = keyIn(decodeText(bytes, fileName).text)
    const root = { ...(key !== undefined && { [keyName]: key }) }
    const isKey = (path: SettingPath) => path.length === 1 && path[0] === keyName
    return {
      root,
      get: (path) => (path.length === 0 ? root : isKey(path) ? key : undefined),
      lineOf: (path) => (isKey(path) && key !== undefined ? 1 : undefined),
    }
  },

  edit(bytes, changes, fileName) {
    const now = bytes ?? new Uint8Array()
    const change = changes.findLast(({ path }) => path[0] === keyName)
    const key = keyIn(decodeText(now, fileName).text)
    if (change === undefined || change.value === key) return now
    return encodeText({ text: textWith(change), hasBom: false })
  },

  undo({ before, now }, { restore }) {
    return restore.length > 0 ? before : now
  },

  isBlank: (text) => keyIn(text) === undefined,
}

function textWith({ value }: SettingChange): string {
  return typeof value === 'string' ? `${value}\n` : ''
}
