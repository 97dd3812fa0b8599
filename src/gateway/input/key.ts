import { UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { isSecretName } from '../../text.ts'

/** The most that is read for a key, in bytes. A key is one line. */
export const maxKeyBytes = 64 * 1024

/** Placeholders for the key in instructions, after an optional `sk-`. */
const placeholders: readonly RegExp[] = [
  // <your key>
  /^[<{[(].*[>}\])]$/s,
  // $OPENAI_API_KEY, ${KEY}
  /^\$\{?\w+\}?$/,
  /^\$env:\w+$/i,
  /^%\w+%$/,
  // xxxx, ****, but not xxab
  /^(?:[x.…*•·_-]{2,}|…)$/iu,
  // your-api-key, but not your-9f3a: a digit can be part of a key
  /^(?:your|insert|enter|paste|put|replace)[-_ ][a-z_ -]+$/i,
  // my_api_key, key-goes-here, but not mykey1
  /^(?:(?:your|my|the|api|access|auth|secret)[-_ ]?)*(?:key|token)(?:[-_ ]?(?:goes[-_ ])?here)?$/i,
  /^(?:change-?me|todo|placeholder|replaceme)$/i,
  /你的|您的|密钥|令牌|填写|替换/u,
]

/** Web pages show keys like this: without the middle. */
const maskedMiddle = /\*{3,}|•|…|\.{3,}/u

const quotes = /^["'`“”‘’«»「」]+|["'`“”‘’«»「」]+$/gu

/** The characters of a key (RFC 4648, 5). The next lines of a wrapped key have no others. */
const keyCharacters = /^[\w-]+$/

/**
 * Extracts the key from a pasted text: removes spaces, line breaks, quotes, `Bearer`, an assignment,
 * comment lines and zero-width characters. Several lines are joined only if they must be one wrapped
 * key. Otherwise they may be other secrets, which must not be sent. No message ever contains the key
 * or a part of it.
 *
 * @throws UserError `key-missing`, `key-placeholder`, or `usage` if the text cannot be a key
 */
export function cleanKey(input: string): { key: string; findings: Finding[] } {
  // Files and pipes end with a line break. Its removal needs no notice.
  const withoutLineEnd = input.replace(/\r?\n$/, '')
  const withoutComments = withoutLineEnd.replace(/^\s*#.*(?:[\r\n]+|$)/gm, '')
  const { text, removed } = removeWrappings(withoutComments)
  if (withoutComments !== withoutLineEnd) removed.push('comment lines')
  rejectControlCharacters(text)

  const lines = text.split(/[\r\n\u2028\u2029]+/).map((line) => line.trim())
  const key = lines.join('')
  if (lines.length > 1) {
    rejectSeveralLines(lines, removed.includes(assignmentLabel))
    removed.push('line breaks')
  }

  rejectPlaceholder(key)
  rejectNonKey(key)
  return { key, findings: removed.length === 0 ? [] : [keyCleaned(removed)] }
}

function keyCleaned(removed: readonly string[]): Finding {
  const list = new Intl.ListFormat('en').format(removed)
  return { code: 'key-cleaned', severity: 'note', message: `Removed ${list} from the key` }
}

function rejectSeveralLines(lines: readonly string[], isAssigned: boolean): void {
  if (lines.slice(1).some((line) => line.startsWith('sk-'))) {
    throw invalidKey('This is more than one key', 'Use one key.')
  }
  if (!isAssigned && lines.every((line) => keyCharacters.test(line))) return
  throw invalidKey(
    `The key has ${lines.length} lines, and a key is one line`,
    `Use only the line with the key. ${keyUsage}`,
    pasteKeyHint,
  )
}

/** Control characters are not removed, because the rest would not be the key. */
function rejectControlCharacters(text: string): void {
  if (!/(?![\t\r\n])\p{Cc}/u.test(text)) return
  throw invalidKey(
    'The key contains control characters',
    'Copy the key again. If it is in a file, save the file as plain text (UTF-8).',
  )
}

/** Removes the text around a key, layer by layer. @returns the key, and the names of what was removed */
function removeWrappings(input: string): { text: string; removed: string[] } {
  const removed: string[] = []
  let text = input
  for (let previous: string | undefined; previous !== text; ) {
    previous = text
    for (const [name, take] of keyWrappings) {
      const unwrapped = take(text)
      if (unwrapped !== text && !removed.includes(name)) removed.push(name)
      text = unwrapped
    }
  }

  return { text, removed }
}

const assignmentLabel = 'the assignment'

const keyWrappings: readonly (readonly [name: string, take: (text: string) => string])[] = [
  // A terminal can wrap a paste in escape sequences: ESC [ 200 ~.
  ['invisible characters', (text) => text.replace(/\p{Cc}\[20[01]~|\p{Cf}/gu, '')],
  ['spaces', (text) => text.trim()],
  [assignmentLabel, withoutAssignment],
  ['quotes', (text) => text.replace(quotes, '').trim()],
  ['punctuation', (text) => text.replace(/[,;]+$/, '').trim()],
  [
    '"Bearer"',
    (text) => text.replace(/^authorization\s*:\s*/i, '').replace(/^bearer(?:\s+|$)/i, ''),
  ],
]

function rejectPlaceholder(text: string): void {
  // A comment inside quotes or after a name is not a key.
  if (text === '' || text.startsWith('#')) {
    throw new UserError({
      code: 'key-missing',
      message: 'The key is empty',
      hint: keyUsage,
      hintAtPrompt: pasteKeyHint,
    })
  }

  if (placeholders.some((pattern) => pattern.test(text.replace(/^sk-/, '')))) {
    throw new UserError({
      code: 'key-placeholder',
      message: 'The key is a placeholder from instructions',
      hint: `Use your own key instead. ${keyUsage}`,
      hintAtPrompt: pasteKeyHint,
    })
  }

  if (maskedMiddle.test(text)) {
    throw new UserError({
      code: 'key-placeholder',
      message: 'The key is incomplete: its middle is masked',
      hint: 'Copy the whole key with the copy button of the web page.',
    })
  }
}

function invalidKey(message: string, hint: string, hintAtPrompt?: string): UserError {
  return new UserError({ code: 'usage', message, hint, hintAtPrompt })
}

const keyUsage = 'Pass it with --key-env NAME, --key-file PATH or --key-stdin.'
const pasteKeyHint = 'Paste only your own key.'

/** Removes `export OPENAI_API_KEY=` or `{"apiKey":`, but not `tid=`, with which a key can begin. */
function withoutAssignment(text: string): string {
  const assignment =
    /^\{?\s*(?:\w+\s+|\$env:)?["']?[A-Za-z][\w.-]*(?:key|token|secret|password)["']?\s*(?:[:=]\s*|\s(?=["']))(?=\S)/i
  if (/^(?:\w+\s+)?[A-Z_]+=$/.test(text)) return ''
  const without = text.replace(assignment, '')
  return without === text ? text : without.replace(/\}$/, '').trim()
}

/** Whether a key consists of pairs: `tid=…;exp=…`, like GitHub Copilot's tokens (2026-11-23). */
function consistsOfPairs(text: string): boolean {
  if (!/^[\w-]+=[^;,&"']*(?:;[\w-]+=[^;,&"']*)+$/.test(text)) return false
  return text.split(';').every((pair) => !isSecretName(pair.split('=', 1)[0]!))
}

function rejectNonKey(text: string): void {
  if (/^https?:\/\//i.test(text)) {
    throw invalidKey(
      'The key is a web address',
      `Pass the address with --base-url. ${keyUsage}`,
      pasteKeyHint,
    )
  }

  if (/\s/.test(text)) {
    throw invalidKey('The key has spaces inside', 'Copy only the key, without the text around it.')
  }

  if (/[,;&]["'{]*\w+["']?[:=]/.test(text) && !consistsOfPairs(text)) {
    throw invalidKey(
      'The key contains another setting',
      `Copy only the key. ${keyUsage}`,
      pasteKeyHint,
    )
  }
  if (/[^!-~]/.test(text)) {
    throw invalidKey(
      'The key contains characters that no key has',
      'Copy the key again from the web page. A chat or a word processor may have changed it.',
    )
  }
}

export function keyOnCommandLineError(): UserError {
  return new UserError({
    code: 'usage',
    message:
      'repoint accepts no key on the command line: other users can see it, and it stays in the shell history',
    hint: 'Use --key-env NAME, --key-file PATH, --key-stdin, or REPOINT_API_KEY.',
  })
}
