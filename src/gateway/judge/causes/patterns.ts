/**
 * The parts that patterns for error messages are made of. Every gateway writes its own sentences, but each
 * sentence names a thing and its state: a key is wrong, an account is blocked, a balance is used up.
 * {@link near} finds such a pair in either order. english.ts and chinese.ts list the things and the states.
 */

/**
 * A list of phrases, each a part of a pattern. ` | ` or a new line separates them. A `|` without spaces
 * belongs to its phrase.
 */
export function phrases(
  { raw }: TemplateStringsArray,
  ...parts: readonly string[]
): readonly string[] {
  return String.raw({ raw }, ...parts)
    .split(/ \| |\n/)
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== '')
}

/** A part of a pattern that matches if one of the alternatives does. */
export function either(...alternatives: readonly string[]): string {
  return `(?:${alternatives.join('|')})`
}

/** Like `either`, for whole words: `key` does not match in `keyboard`. */
export function wholeWords(...alternatives: readonly string[]): string {
  return String.raw`\b${either(...alternatives)}\b`
}

/** A pattern that matches if one of the alternatives does, in upper or lower case. */
export function anyOf(...alternatives: readonly string[]): RegExp {
  return new RegExp(alternatives.map((alternative) => `(?:${alternative})`).join('|'), 'i')
}

/** Anything up to `length` characters within one sentence. The dot of `gpt-5.6-sol` does not end it. */
export function within(length: number, without = ''): string {
  const skipped = without === '' ? '' : `(?!${without})`
  return String.raw`(?:${skipped}(?:[^.;。；!！?？\n]|\.(?=\S))){0,${length}}?`
}

interface Distance {
  /** The most characters between a state and the thing after it: `invalid API key`. */
  readonly before?: number
  /** The most characters between a thing and the state after it: `the key you sent has expired`. */
  readonly after?: number
  /** Words that must not be between the two. */
  readonly without?: string
}

/** A pattern for a thing and its state, in either order, in one sentence. */
export function near(
  thing: string,
  state: string,
  { before = 25, after = 50, without = '' }: Distance = {},
): string {
  return `${thing}${within(after, without)}${state}|${state}${within(before, without)}${thing}`
}

/** After "token": it is no key, as in "token limit". */
export const notOfKeys = '(?! (?:count|limit|length|budget|usage|bucket|quota|id|type|pool|error))'
