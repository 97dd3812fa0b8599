import { compact } from '../../compact.ts'
import type { LoadedFile } from '../contract/files.ts'
import { readStrictly } from '../files/strict-json.ts'

/** The contents of auth.json as Codex reads them. */
interface CodexAuth {
  /** The API key that it sends. */
  readonly usableKey?: string
  /** A key in the file that Codex does not use, because a login overrides it. */
  readonly shadowedKey?: string
  /** A login that Codex uses instead of a key, as shown after `a` or `your`. */
  readonly login?: string
  /** Fields that other tools write a key into. Codex does not read them. */
  readonly unreadKeys?: readonly string[]
  /** Why Codex silently ignores the file. */
  readonly whyIgnored?: string
}

/** Fields next to the key that do not change what Codex sends. */
const harmless = new Set(['OPENAI_API_KEY', 'auth_mode', 'tokens', 'last_refresh'])

/**
 * Reads auth.json as Codex does: with a byte order mark, a comment or broken JSON, it ignores the whole file.
 * ChatGPT tokens override a key.
 */
export function readCodexAuth(file: LoadedFile): CodexAuth {
  const { root, whyIgnored } = readStrictly(file)
  if (whyIgnored !== undefined) return { whyIgnored }

  const key = root['OPENAI_API_KEY']
  const mode = root['auth_mode']
  const hasTokens = root['tokens'] !== undefined && root['tokens'] !== null
  const others = Object.keys(root).filter((name) => !harmless.has(name) && root[name] !== null)
  const keyText = typeof key === 'string' && key !== '' ? key : undefined
  const shadowed = compact({ shadowedKey: keyText })

  if (mode === 'chatgpt' || mode === 'chatgptAuthTokens' || hasTokens)
    return { login: 'ChatGPT login', ...shadowed }
  if (mode !== undefined && mode !== null && mode !== 'apikey')
    return { login: `login of the kind ${JSON.stringify(mode)}`, ...shadowed }
  if (keyText === undefined) {
    const unreadKeys = others.filter((name) => /_(?:KEY|TOKEN)$/.test(name))
    const logins = others.filter((name) => !unreadKeys.includes(name))
    if (logins.length > 0) return { login: `login (${logins.join(', ')})` }
    return unreadKeys.length === 0 ? {} : { unreadKeys }
  }

  if (/[\r\n]/.test(keyText))
    return { whyIgnored: 'its key contains a line break', shadowedKey: keyText }
  return { usableKey: keyText }
}
