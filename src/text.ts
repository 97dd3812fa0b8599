import { stripVTControlCharacters } from 'node:util'
import cells from 'fast-string-width'

/**
 * Removes escape sequences and all characters of Unicode's category C except the line feed. Text from
 * outside must not move the cursor, colour the terminal or reorder other text.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(/[^\P{C}\n]/gu, '')
}

/** Like `printable`, on one line. */
export function printableLine(text: string): string {
  return printable(text).replaceAll('\n', ' ').trimEnd()
}

/** The text with a full stop, so that another sentence can follow. */
export function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/** Replaces a secret in all output. ASCII, so that every terminal can show it. */
export const secretMask = '....'

/** The shortest secret whose last characters are shown. */
const minHintedLength = 12

/** A gateway's error without the ID of the request, which only the gateway's operator can use. */
export function withoutRequestId(message: string): string {
  return message.replace(/ \(request id: [^)]*\)/g, '')
}

/** Masks a secret. The last 4 characters of a long secret stay, so that people can recognize it. */
export function maskSecret(secret: string): string {
  return secret.length >= minHintedLength ? secretMask + secret.slice(-4) : secretMask
}

/** Whether a word begins like a key, or is an import link. */
export function beginsLikeKey(word: string): boolean {
  return /^(?:sk|pk)-/.test(word) || isImportLink(word)
}

/** Whether a key is an ordinary word, such as `ollama`, `EMPTY` or `not-needed`: our own sentences may have it. */
export function isPlainWord(secret: string): boolean {
  return /^(?:[A-Z]?[a-z]+|[A-Z]+)(?:-(?:[a-z]+|[A-Z]+))*$/.test(secret) && secret.length < 20
}

export function isImportLink(text: string): boolean {
  return /^\s*["'<]?ccswitch:/i.test(text)
}

/** Whether a word may be a key: it begins like one, or is long and contains a digit. */
export function looksLikeKey(word: string): boolean {
  return beginsLikeKey(word) || /^(?=.*\d)[\w-]{24,}$/.test(word)
}

/** Whether a word is an address rather than a name, or the start of one. */
export function looksLikeAddress(word: string): boolean {
  return /[./:]/.test(word)
}

/** Whether a setting has a name that is typical of secrets. */
export function isSecretName(name: string): boolean {
  return secretName.test(name) && !tokenCount.test(name) && !secretLocation.test(name)
}

const secretName =
  /api_?key|apikeyhelper|token|secret|password|authorization|credential|bearer|^auth$|^key$|^query_params$/i

/** Names of limits, not of tokens: `max_tokens`, `maxTokens`, `CLAUDE_CODE_MAX_CONTEXT_TOKENS`. */
const tokenCount = /(?:^|_)max_?(?:[a-z]+_)?tokens$/i

/** Names of places for secrets, not of secrets: `cli_auth_credentials_store`. */
const secretLocation = /_store$/i

/**
 * Masks recognizable secrets in a text: tokens of well-known forms, and the login and all query values
 * of URLs.
 */
export function maskSecretsIn(text: string): string {
  return (
    text
      .replace(/\b(?:sk-|pk-|gh[pousr]_|xox[abps]-|eyJ)[\w.-]{12,}/g, secretMask)
      .replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi, `$1${secretMask}@`)
      // Without a scheme: `user:password@host`.
      .replace(/(^|[\s"'`(=:])([^\s/:@"'`(=]+):[^\s/@"'`]+@(?=[\w[])/g, `$1$2:${secretMask}@`)
      .replace(/([?&][\w.~%[\]-]*=)[^\s&"'#]+/g, `$1${secretMask}`)
      .replace(
        /(\b[a-z][a-z0-9+.-]*:\/\/[^\s?#"']*\?)[^\s&"'#=]+(?=[\s"'#]|$)/gi,
        `$1${secretMask}`,
      )
  )
}

/** Abbreviates the home folder to `~`: `~/.codex/config.toml`. */
export function shortPath(home: string, path: string): string {
  const isBelow = path.startsWith(home) && /^[\\/]/.test(path.slice(home.length))
  return isBelow ? `~${path.slice(home.length)}` : path
}

/** Longer names are not compared: they are no typos, and comparing them with a whole catalog is slow. */
const maxComparedLength = 100

/**
 * The names that are similar to `typed`, the most similar first: at most 60 % of the letters differ.
 *
 * @param comparedPart selects the part of a name that is compared
 */
export function closestNames(
  typed: string,
  names: readonly string[],
  comparedPart: (name: string) => string = (name) => name,
): readonly string[] {
  const typedPart = comparedPart(typed).toLowerCase()
  if (typedPart.length > maxComparedLength) return []
  return names
    .map((name) => ({ name, part: comparedPart(name).toLowerCase() }))
    .filter(({ part }) => part.length <= maxComparedLength)
    .map(({ name, part }) => ({ name, part, distance: editDistance(typedPart, part) }))
    .filter(({ part, distance }) => distance <= Math.max(typedPart.length, part.length) * 0.6)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name)
}

/**
 * The only name that begins with `word`, or that differs from it by one typo. Of several, the one with which all others
 * begin. Else undefined.
 */
export function guessName(word: string, names: readonly string[]): string | undefined {
  if (word.length < minPrefixLength || word.length > maxComparedLength) return undefined
  const candidates = names.filter((name) => {
    const isLong = Math.min(word.length, name.length) >= minTypoLength
    const isTypo = isLong && editDistance(word, name) <= 1
    return isTypo || name.startsWith(word)
  })
  // `claud` is `claude`, although `claude-gpt` begins with it too.
  const [shortest] = candidates.toSorted((a, b) => a.length - b.length)
  return candidates.every((name) => name.startsWith(shortest!)) ? shortest : undefined
}

const minPrefixLength = 2

/** In a shorter word, one typo could make any other word. */
const minTypoLength = 3

/**
 * The edit distance. Two swapped letters count as one edit. If one name begins with the other, the
 * distance is halved.
 */
function editDistance(a: string, b: string): number {
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

/** `a`, `a and b`, or `a, b and c`. */
export function listWords(words: readonly string[], conjunction: 'and' | 'or' = 'and'): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} ${conjunction} ${last}`
}

/** `1 model`, `2 models`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Splits `text` into lines of at most `width` columns. A longer word gets a line for itself. */
export function wrapWords(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line === undefined || cells(line) + 1 + cells(word) > width) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}

/** Terminals with fewer columns get no wrapping: the text would not be readable anyway. */
export const minWrapColumns = 30

/** Whether the terminal can show more than ASCII, according to its locale. */
export function isUtf8(env: Readonly<Record<string, string | undefined>>): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  return /utf-?8/i.test(locale) || env['WT_SESSION'] !== undefined
}
