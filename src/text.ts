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

export function beginsLikeKey(word: string): boolean {
  return /^sk-/.test(word) || isImportLink(word)
}

/** Whether a text is the link of a gateway's page that brings a key along. */
export function isImportLink(text: string): boolean {
  return /^\s*["'<]?ccswitch:/i.test(text)
}

/** Whether a word may be a key: it begins like one, or is long and holds a digit. */
export function looksLikeKey(word: string): boolean {
  return beginsLikeKey(word) || /^(?=.*\d)[\w-]{24,}$/.test(word)
}

/** Whether a key of a configuration is called like one that holds a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name) && !tokenCount.test(name) && !secretPlace.test(name)
}

const secretName =
  /api_?key|apikeyhelper|token|secret|password|authorization|credential|bearer|^auth$|^key$|^query_params$/i

/** `max_tokens`, `maxTokens`, `CLAUDE_CODE_MAX_CONTEXT_TOKENS`: how many, not which. */
const tokenCount = /(?:^|_)max_?(?:[a-z]+_)?tokens$/i

/** `cli_auth_credentials_store`: where secrets lie, not which. */
const secretPlace = /_store$/i

/**
 * Masks what gives itself away as a secret: tokens of well-known forms, and in addresses the login
 * and every value of the query, whatever its name.
 */
export function maskTellTale(text: string): string {
  return (
    text
      .replace(/\b(?:sk-|pk-|gh[pousr]_|xox[abps]-|eyJ)[\w.-]{12,}/g, dots)
      .replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi, `$1${dots}@`)
      // Without a scheme: `user:password@host`.
      .replace(/(^|[\s"'`(=:])([^\s/:@"'`(=]+):[^\s/@"'`]+@(?=[\w[])/g, `$1$2:${dots}@`)
      .replace(/([?&][\w.~%[\]-]*=)[^\s&"'#]+/g, `$1${dots}`)
      .replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s?#"']*\?)[^\s&"'#=]+(?=[\s"'#]|$)/gi, `$1${dots}`)
  )
}

/** A path as a person writes it: `~/.codex/config.toml`. */
export function shortPath(home: string, path: string): string {
  const isBelow = path.startsWith(home) && /^[\\/]/.test(path.slice(home.length))
  return isBelow ? `~${path.slice(home.length)}` : path
}

/** Longer names are no slip of the fingers, and comparing them with a whole catalog takes long. */
const longestCompared = 100

/**
 * Those of `names` that look like `asked`, the likest first.
 *
 * @param coreOf the part of a name that is compared
 */
export function nearestTo(
  asked: string,
  names: readonly string[],
  coreOf: (name: string) => string = (name) => name,
): readonly string[] {
  const wanted = coreOf(asked).toLowerCase()
  if (wanted.length > longestCompared) return []
  return names
    .filter(({ length }) => length <= longestCompared)
    .map((name) => ({ name, distance: distance(wanted, coreOf(name).toLowerCase()) }))
    .filter(({ name, distance: steps }) => steps <= Math.max(wanted.length, name.length) * 0.6)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name)
}

/** The one of `names` that a word means which is its beginning, or which one slip has misspelt. */
export function meantBy(word: string, names: readonly string[]): string | undefined {
  if (word.length < shortestMisspelt || word.length > longestCompared) return undefined
  const meant = names.filter((name) => {
    const isSlip = name.length >= shortestMisspelt && distance(word, name) <= 1
    return isSlip || name.startsWith(word)
  })
  return meant.length === 1 ? meant[0] : undefined
}

/** One slip in a shorter word makes it any other. */
const shortestMisspelt = 3

/**
 * Edit distance, two letters in the wrong order being one slip; an id that begins with the other one
 * is near, whatever follows.
 */
function distance(a: string, b: string): number {
  let above: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)

  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwapped ? above[j - 2]! + 1 : replaced
      next.push(Math.min(replaced, swapped, row[j]! + 1, next[j - 1]! + 1))
    }
    above = row
    row = next
  }

  const isPrefix = a !== '' && (b.startsWith(a) || a.startsWith(b))
  return isPrefix ? row[b.length]! / 2 : row[b.length]!
}
