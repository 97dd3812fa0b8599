import { UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { isSecretName } from '../../text.ts'

/** Of what is read for a key: a key is a line. */
export const maxKeyBytes = 64 * 1024

/** The ways in which instructions leave a gap for the key, behind the `sk-` that some show. */
const gaps: readonly RegExp[] = [
  /^[<{[(].*[>}\])]$/s,
  /^\$\{?\w+\}?$/,
  /^\$env:\w+$/i,
  /^%\w+%$/,
  /^(?:[x.…*•·_-]{2,}|…)$/iu,
  /^(?:your|insert|enter|paste|put|replace)[-_ ][a-z_ -]+$/i,
  /^(?:(?:your|my|the|api|access|auth|secret)[-_ ]?)*(?:key|token)(?:[-_ ]?(?:goes[-_ ])?here)?$/i,
  /^(?:change-?me|todo|placeholder|replaceme)$/i,
  /你的|您的|密钥|令牌|填写|替换/u,
]

/** A web page shows keys like this: the middle is gone. */
const masked = /\*{3,}|•|…|\.{3,}/u

const quotes = /^["'`“”‘’«»「」]+|["'`“”‘’«»「」]+$/gu

/** A wrapped key goes on with nothing but what keys are made of (RFC 4648, 5). */
const keyPiece = /^[\w-]+$/

/**
 * The key in what people paste: without spaces, line breaks, quotes, `Bearer`, an assignment
 * around it, comment lines, or characters of no width. Further lines count as one wrapped key only
 * where they can be nothing else: they may be other secrets, which must not be sent along. No
 * message ever holds the key or a part of it.
 *
 * @throws UserError `key-missing`, `key-placeholder`, or `usage` for what cannot be a key
 */
export function cleanKey(input: string): { key: string; notices: Finding[] } {
  // A single line break at the end is how files and pipes end: nothing to talk about.
  const given = input.replace(/\r?\n$/, '')
  const withoutComments = given.replace(/^\s*#.*(?:[\r\n]+|$)/gm, '')
  const { text, removed } = bareKey(withoutComments)
  if (withoutComments !== given) removed.push('comment lines')
  refuseControlCharacters(text)

  const lines = text.split(/[\r\n\u2028\u2029]+/).map((line) => line.trim())
  const key = lines.join('')
  if (lines.length > 1) {
    refuseSeveralLines(lines, removed.includes(assignmentLabel))
    removed.push('line breaks')
  }
  refuseGaps(key)
  refuseWhatIsNoKey(key)

  const notices =
    removed.length === 0
      ? []
      : [{ code: 'key-cleaned', message: `The key was cleaned: ${removed.join(', ')} removed` }]
  return { key, notices }
}

function refuseSeveralLines(lines: readonly string[], isAssigned: boolean): void {
  if (lines.slice(1).some((line) => line.startsWith('sk-'))) {
    throw badKey('This is more than one key', 'Give one key.')
  }
  if (!isAssigned && lines.every((line) => keyPiece.test(line))) return
  throw badKey(
    `The key is followed by other text: these are ${lines.length} lines, and a key is one`,
    `Give the line with the key alone. ${howToGive}`,
    pasteKey,
  )
}

/** Cleaning them away would make a key of what is none. */
function refuseControlCharacters(text: string): void {
  if (!/(?![\t\r\n])\p{Cc}/u.test(text)) return
  throw badKey(
    'The key holds control characters',
    'Copy the key again; a file with it must be plain text (UTF-8, not UTF-16).',
  )
}

/** What stands around a key, taken away layer by layer; and the names of what was taken. */
function bareKey(given: string): { text: string; removed: string[] } {
  const removed: string[] = []
  let text = given
  for (let previous: string | undefined; previous !== text; ) {
    previous = text
    for (const [name, take] of wrappings) {
      const rest = take(text)
      if (rest !== text && !removed.includes(name)) removed.push(name)
      text = rest
    }
  }

  return { text, removed }
}

const assignmentLabel = 'the assignment around it'

const wrappings: readonly (readonly [name: string, take: (text: string) => string])[] = [
  // A paste in a terminal may bring its bracketing along: ESC [ 200 ~.
  ['invisible characters', (text) => text.replace(/\p{Cc}\[20[01]~|\p{Cf}/gu, '')],
  ['spaces around it', (text) => text.trim()],
  [assignmentLabel, withoutAssignment],
  ['quotes', (text) => text.replace(quotes, '').trim()],
  ['the punctuation behind it', (text) => text.replace(/[,;]+$/, '').trim()],
  [
    '"Bearer"',
    (text) => text.replace(/^authorization\s*:\s*/i, '').replace(/^bearer(?:\s+|$)/i, ''),
  ],
]

function refuseGaps(text: string): void {
  // What begins like a comment was one, inside of quotes or behind a name.
  if (text === '' || text.startsWith('#')) {
    throw new UserError({
      code: 'key-missing',
      message: 'The key is empty',
      hint: howToGive,
      hintAtPrompt: pasteKey,
    })
  }

  if (gaps.some((pattern) => pattern.test(text.replace(/^sk-/, '')))) {
    throw new UserError({
      code: 'key-placeholder',
      message: 'The key is still a placeholder from the instructions',
      hint: `Put your own key in its place. ${howToGive}`,
      hintAtPrompt: pasteKey,
    })
  }

  if (masked.test(text)) {
    throw new UserError({
      code: 'key-placeholder',
      message: 'The key is masked: its middle is missing',
      hint: "Copy the whole key with the web page's copy button.",
    })
  }
}

function badKey(message: string, hint: string, hintAtPrompt?: string): UserError {
  return new UserError({ code: 'usage', message, hint, hintAtPrompt })
}

const howToGive = 'Give it with --key-stdin, --key-file PATH or --key-env NAME.'
const pasteKey = 'Paste your own key alone.'

function withoutAssignment(text: string): string {
  const assignment =
    /^\{?\s*(?:\w+\s+|\$env:)?["']?[A-Za-z][\w.-]*(?:key|token|secret|password)["']?\s*(?:[:=]\s*|\s(?=["']))(?=\S)/i
  if (/^(?:\w+\s+)?[A-Z_]+=$/.test(text)) return ''
  const without = text.replace(assignment, '')
  return without === text ? text : without.replace(/\}$/, '').trim()
}

/** A key that consists of settings itself: `tid=…;exp=…`, as GitHub Copilot's tokens (2026-11-23). */
function isOfPairs(text: string): boolean {
  if (!/^[\w-]+=[^;,&"']*(?:;[\w-]+=[^;,&"']*)+$/.test(text)) return false
  return text.split(';').every((pair) => !isSecretName(pair.split('=', 1)[0]!))
}

function refuseWhatIsNoKey(text: string): void {
  if (/^https?:\/\//i.test(text)) {
    throw badKey(
      'The key is a web address',
      `The address belongs to --base-url. ${howToGive}`,
      pasteKey,
    )
  }

  if (/\s/.test(text)) {
    throw badKey('The key has spaces inside', 'Copy the key alone, without the text around it.')
  }

  if (/[,;&]["'{]*\w+["']?[:=]/.test(text) && !isOfPairs(text)) {
    throw badKey(
      'The key is followed by another setting',
      `Copy the key alone. ${howToGive}`,
      pasteKey,
    )
  }
  if (/[^!-~]/.test(text)) {
    throw badKey(
      'The key holds characters that no key has (outside of ASCII)',
      'Copy the key again from the web page; a chat or a word processor may have changed it.',
    )
  }
}

/** Why a key in the arguments is refused. */
export function keyOnCommandLine(): UserError {
  return new UserError({
    code: 'usage',
    message:
      'A key on the command line is not accepted: other users see it in the process list, and it stays in the shell history',
    hint: 'Use --key-stdin, --key-file PATH, --key-env NAME, or REPOINT_API_KEY.',
  })
}
