import { compact } from '../../compact.ts'
import type { LoadedFile } from '../client.ts'
import { readStrictly } from '../strict-json.ts'

/** What Codex makes of its auth.json. */
interface CodexAuth {
  /** The API key that it sends. */
  readonly usableKey?: string
  /** A key that stands in the file but is not used, because a login wins. */
  readonly shadowedKey?: string
  /** A login that it uses in the place of a key, in words. */
  readonly login?: string
  /** Fields that other tools put a key into, which it does not read. */
  readonly unreadKeys?: readonly string[]
  /** Why it ignores the file without a word. */
  readonly ignored?: string
}

/** Fields that may stand beside the key without changing what is sent (0.169.0, 2026-11-21). */
const harmless = new Set(['OPENAI_API_KEY', 'auth_mode', 'tokens', 'last_refresh'])

/**
 * Reads auth.json as Codex 0.169.0 does (2026-11-21): a byte order mark, a comment or broken JSON
 * makes it ignore the whole file; ChatGPT tokens win over a key.
 */
export function readCodexAuth(file: LoadedFile): CodexAuth {
  const { root, ignored } = readStrictly(file)
  if (ignored !== undefined) return { ignored }

  const key = root['OPENAI_API_KEY']
  const mode = root['auth_mode']
  const hasTokens = root['tokens'] !== undefined && root['tokens'] !== null
  const others = Object.keys(root).filter((name) => !harmless.has(name) && root[name] !== null)
  const keyText = typeof key === 'string' && key !== '' ? key : undefined
  const shadowed = compact({ shadowedKey: keyText })

  if (mode === 'chatgpt' || mode === 'chatgptAuthTokens' || hasTokens)
    return { login: 'a ChatGPT login', ...shadowed }
  if (mode !== undefined && mode !== null && mode !== 'apikey')
    return { login: `a login of the kind ${JSON.stringify(mode)}`, ...shadowed }
  if (keyText === undefined) {
    const unreadKeys = others.filter((name) => /_(?:KEY|TOKEN)$/.test(name))
    const logins = others.filter((name) => !unreadKeys.includes(name))
    if (logins.length > 0) return { login: `a login (${logins.join(', ')})` }
    return unreadKeys.length === 0 ? {} : { unreadKeys }
  }

  if (/[\r\n]/.test(keyText)) return { ignored: 'its key holds a line break', shadowedKey: keyText }
  return { usableKey: keyText }
}
