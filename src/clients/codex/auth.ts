import { compact } from '../../compact.ts'
import type { ConfigValue } from '../../edits/types.ts'
import { ifPossible } from '../../errors.ts'
import type { LoadedFile } from '../contract/files.ts'
import { readStrictly } from '../files/strict-json.ts'
import { isTable } from '../files/tables.ts'

/** The contents of auth.json as Codex reads them. */
interface CodexAuth {
  /** The API key that it sends. */
  readonly usableKey?: string
  /** A key in the file that Codex does not use, because a login overrides it. */
  readonly shadowedKey?: string
  /** A login that Codex uses instead of a key, as shown after `a` or `your`. */
  readonly login?: string
  /** A login in the file that Codex does not use, because a key overrides it. */
  readonly shadowedLogin?: string
  /** Fields that other tools write a key into. Codex does not read them. */
  readonly unreadKeys?: readonly string[]
  /** Why Codex silently ignores the file. */
  readonly whyIgnored?: string
}

const chatgptLogin = 'ChatGPT login'

/** Fields next to the key that do not change what Codex sends. */
const harmless = new Set(['OPENAI_API_KEY', 'auth_mode', 'tokens', 'last_refresh'])

/**
 * Reads auth.json as Codex does: with a byte order mark, a comment or broken JSON, it ignores the whole file.
 * `auth_mode` decides between a key and ChatGPT tokens. Without it the key does (`codex login status` of 0.130.0,
 * 0.149.1, 0.162.1 and 0.169.0, 2026-11-28).
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

  const hasKeyMode = mode === 'apikey' || keyText !== undefined
  if (mode === 'chatgpt' || mode === 'chatgptAuthTokens' || (hasTokens && !hasKeyMode))
    return { login: chatgptLogin, ...shadowed }
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
  if (hasTokens && !areTokens(root['tokens']))
    return { whyIgnored: 'Codex does not accept its tokens', shadowedKey: keyText }
  return { usableKey: keyText, ...(hasTokens && { shadowedLogin: chatgptLogin }) }
}

/** Whether Codex accepts the tokens. Otherwise it ignores the whole file, with the key (0.169.0, 2026-11-29). */
function areTokens(value: ConfigValue | undefined): boolean {
  if (!isTable(value)) return false
  const { id_token: id, access_token: access, refresh_token: refresh, account_id: account } = value
  const areTexts = [access, refresh, account ?? ''].every((text) => typeof text === 'string')
  return areTexts && typeof id === 'string' && isWebToken(id)
}

/** Whether a text is a JSON web token with claims in it. Its parts have no padding. */
function isWebToken(text: string): boolean {
  const [, part] = /^[\w-]+\.([\w-]+)\.[\w-]+$/.exec(text) ?? []
  const claims = part && ifPossible(() => JSON.parse(Buffer.from(part, 'base64url').toString()))
  return typeof claims === 'object' && claims !== null
}
