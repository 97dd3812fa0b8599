import type { Platform } from '../../platform/platform.ts'

/** How text is to look at its destination. Colour only repeats what a word or a sign already says. */
export interface Looks {
  readonly hasColour: boolean
  /** Whether it can show more than ASCII. */
  readonly isUtf8: boolean
}

/** FORCE_COLOR, NO_COLOR (https://no-color.org) and TERM decide, in this order. */
export function looksOf(env: Platform['machine']['env'], isTerminal: boolean): Looks {
  return {
    hasColour: hasColour(env, isTerminal),
    // What reads a pipe or a file is not told by our locale.
    isUtf8: !isTerminal || isUtf8(env),
  }
}

function hasColour(env: Platform['machine']['env'], isTerminal: boolean): boolean {
  const force = env['FORCE_COLOR']
  if (force !== undefined) return force !== '0' && force !== 'false'
  if (env['NO_COLOR']) return false
  return isTerminal && env['TERM'] !== 'dumb'
}

/** Whether the terminal can show more than ASCII, as its locale says. */
export function isUtf8(env: Platform['machine']['env']): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  return /utf-?8/i.test(locale) || env['WT_SESSION'] !== undefined
}

const bold = 1
const red = 31
const green = 32
const yellow = 33
const cyan = 36

/** What a line begins with, and the colours of that beginning. */
const beginnings: readonly (readonly [RegExp, ...number[]])[] = [
  [/^error:/, bold, red],
  [/^(warning:|warning(?= ))/, bold, yellow],
  [/^(hint|note):/, bold, cyan],
  [/^(Done|ok)\b/, green],
  [/^problem(?= )/, bold, red],
  [/^== .*/, bold],
  [/^ *\+(?!\+).*/, green],
  [/^ *-(?!-).*/, red],
  [/^ *! .*/, yellow],
]

/** `text` as its destination can show it. Its lines hold no escape sequences yet. */
export function paint(text: string, looks: Looks): string {
  const shown = looks.isUtf8 ? text : toAscii(text)
  return looks.hasColour ? shown.split('\n').map(paintLine).join('\n') : shown
}

function paintLine(line: string): string {
  for (const [start, ...codes] of beginnings) {
    const painted = line.replace(start, (found) => `\x1b[${codes.join(';')}m${found}\x1b[0m`)
    if (painted !== line) return painted
  }
  return line
}

/** Our own signs. What stands in the user's files and paths is left as it is. */
const ascii: Readonly<Record<string, string>> = {
  '’': "'",
  '“': '"',
  '”': '"',
  '…': '...',
  '→': '->',
  '–': '-',
  '•': '*',
}

function toAscii(text: string): string {
  return text.replace(/[’“”…→–•]/g, (sign) => ascii[sign] ?? sign)
}
