/**
 * Codex and opencode both call a file auth.json. A setup must not write one client's key into the other's.
 */
import type { LoadedFile } from '../contract/files.ts'
import { readStrictly } from './strict-json.ts'
import { isTable } from './tables.ts'

/** Whether the file has opencode's logins: an entry for each provider, each with a type. */
export function isOpencodeAuth(file: LoadedFile): boolean {
  const types = ['api', 'oauth', 'wellknown']
  return Object.values(readStrictly(file, { allowsBom: true }).root).some(
    (entry) => isTable(entry) && types.some((type) => entry['type'] === type),
  )
}

/** Whether the file has Codex's key or login. */
export function isCodexAuth(file: LoadedFile): boolean {
  const { root } = readStrictly(file, { allowsBom: true })
  return ['OPENAI_API_KEY', 'auth_mode', 'tokens'].some((name) => Object.hasOwn(root, name))
}
