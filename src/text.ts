import { stripVTControlCharacters } from 'node:util'

/**
 * Text from outside must not move the cursor, colour the terminal or reorder what is read: escape
 * sequences and all of Unicode's category C but the line feed go.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(/[^\P{C}\n]/gu, '')
}

/** As `printable`, on one line. */
export function printableLine(text: string): string {
  return printable(text).replaceAll('\n', ' ').trimEnd()
}

/** Stands for a secret in all output. ASCII, for every terminal. */
export const dots = '....'

/** Shortest secret of which the last characters are shown. */
const shortestHinted = 12

/** A secret for people: dots, and its last 4 characters if that gives little away. */
export function maskSecret(secret: string): string {
  return secret.length >= shortestHinted ? dots + secret.slice(-4) : dots
}

/** Whether a key of a configuration is called like one that holds a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name) && !tokenCount.test(name)
}

const secretName =
  /api_?key|apikeyhelper|token|secret|password|authorization|credential|bearer|^auth$|^key$/i

/** `max_tokens`, `CLAUDE_CODE_MAX_CONTEXT_TOKENS`: how many, not which. */
const tokenCount = /(?:^|_)max_(?:[a-z]+_)?tokens$/i

/**
 * Masks what gives itself away as a secret: tokens of well-known forms, and in addresses the user
 * part and every value of the query, whatever its name.
 */
export function maskTellTale(text: string): string {
  return text
    .replace(/\b(?:sk-|pk-|gh[pousr]_|xox[abps]-|eyJ)[\w.-]{12,}/g, dots)
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi, `$1${dots}@`)
    .replace(/([?&][\w.~%[\]-]*=)[^\s&"'#]+/g, `$1${dots}`)
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s?#"']*\?)[^\s&"'#=]+(?=[\s"'#]|$)/gi, `$1${dots}`)
}

/** A path as a person writes it: `~/.codex/config.toml`. */
export function shortPath(home: string, path: string): string {
  const isBelow = path.startsWith(home) && /^[\\/]/.test(path.slice(home.length))
  return isBelow ? `~${path.slice(home.length)}` : path
}
