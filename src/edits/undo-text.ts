/**
 * Undoes a run in the text of a file that someone edited since.
 *
 * For example, a run inserted `b` between `a` and `c`, and then someone changed `c` to `d`:
 *
 *     before: a c      written: a b c      now: a b d      undone: a d
 *
 * The texts are compared line by line, then word by word. A word is also a string, a row of blanks or one
 * other character. A changed range is undone if the words that the run wrote are still next to each other.
 */
import { diffArrays } from 'diff'
import { applySplices, type Splice } from './text.ts'

/** A file before our run, as the run left it, and as it is now. */
export interface Versions<Version> {
  readonly before: Version
  readonly written: Version
  readonly now: Version
}

interface Text {
  readonly text: string
}

/**
 * Undoes our changes in the text, as far as what we wrote is still there.
 *
 * @param tryText parses a text and returns it if it is a valid result
 * @returns undefined if nothing can be undone
 */
export function undoText<Parsed extends Text>(
  versions: Versions<Text>,
  tryText: (text: string) => Parsed | undefined,
): Parsed | undefined {
  const { text } = versions.now
  const splices = splicesToUndo(versions)
  const allUndone = tryText(applySplices(text, splices))
  if (allUndone) return allUndone

  let undone: Parsed | undefined
  let accepted: readonly Splice[] = []
  for (const splice of splices) {
    const parsed = tryText(applySplices(text, [...accepted, splice]))
    if (parsed === undefined) continue
    accepted = [...accepted, splice]
    undone = parsed
  }

  return undone
}

/** The splices that undo our changes, for changes whose words are still contiguous. */
function splicesToUndo({ before, written, now }: Versions<Text>): readonly Splice[] {
  const ourChanges = diffWords(before.text, written.text)
  const laterChanges = diffWords(written.text, now.text)
  const places = placesNow(laterChanges, splitIntoWords(written.text).length)

  const wordsBefore = splitIntoWords(before.text)
  const offsets = prefixSums(splitIntoWords(now.text).map((word) => word.length))

  return ourChanges.flatMap((change) => {
    const span = contiguousSpan(change, places)
    if (span === undefined) return []
    const [start, end] = span.map((place) => offsets[place]!) as [number, number]
    return [{ start, end, text: wordsBefore.slice(change.oldStart, change.oldEnd).join('') }]
  })
}

/**
 * The place in the text now of each word that we wrote; undefined if it was removed. For example, if
 * `a b c` became `x a c`, the places are 1, undefined, 2.
 */
function placesNow(laterChanges: readonly ChangedRange[], length: number): (number | undefined)[] {
  const places: (number | undefined)[] = []
  let shift = 0
  for (const { oldStart, oldEnd, newEnd } of laterChanges) {
    while (places.length < oldStart) places.push(places.length + shift)
    while (places.length < oldEnd) places.push(undefined)
    shift = newEnd - oldEnd
  }
  while (places.length < length) places.push(places.length + shift)
  return places
}

/** The range of our words in the text now, if they are still contiguous. */
function contiguousSpan(
  { newStart, newEnd }: ChangedRange,
  places: readonly (number | undefined)[],
): readonly [number, number] | undefined {
  const start = newStart === newEnd ? gapPosition(newStart, places) : places[newStart]
  if (start === undefined) return undefined
  const isContiguous = places
    .slice(newStart, newEnd)
    .every((place, index) => place === start + index)
  return isContiguous ? [start, start + newEnd - newStart] : undefined
}

/** Where we removed text: after the word before it; else before the word after it. */
function gapPosition(index: number, places: readonly (number | undefined)[]): number | undefined {
  const previous = places[index - 1]
  if (previous !== undefined) return previous + 1
  return places.length === 0 ? 0 : places[index]
}

/** The words (or lines) `oldStart..oldEnd` became `newStart..newEnd`, from 0, ends exclusive. */
interface ChangedRange {
  readonly oldStart: number
  readonly oldEnd: number
  readonly newStart: number
  readonly newEnd: number
}

/** A text with more changed lines or words than this counts as rewritten. */
const maxEditLength = 1_000

function splitIntoLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+/g) ?? []
}

/** The strings, words, blanks, line breaks and other characters of a text, each within one line. */
function splitIntoWords(text: string): readonly string[] {
  return text.match(/"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[\w.-]+|[ \t]+|\r\n|[\s\S]/g) ?? []
}

/** A text in lines and in words. */
interface SplitText {
  readonly lines: readonly string[]
  readonly words: readonly string[]
  /** For each line, the index of its first word. The number of words at the end. */
  readonly firstWords: readonly number[]
}

function splitText(text: string): SplitText {
  const lines = splitIntoLines(text)
  const wordsByLine = lines.map(splitIntoWords)
  const firstWords = prefixSums(wordsByLine.map((words) => words.length))
  return { lines, words: wordsByLine.flat(), firstWords }
}

/** Compares two texts line by line, then compares each changed range of lines word by word. */
function diffWords(oldText: string, newText: string): readonly ChangedRange[] {
  const old = splitText(oldText)
  const fresh = splitText(newText)

  return diffPieces(old.lines, fresh.lines, () => true).flatMap((lines) => {
    const oldFrom = old.firstWords[lines.oldStart] ?? 0
    const newFrom = fresh.firstWords[lines.newStart] ?? 0

    return diffPieces(
      old.words.slice(oldFrom, old.firstWords[lines.oldEnd]),
      fresh.words.slice(newFrom, fresh.firstWords[lines.newEnd]),
      // Commas and braces are everywhere, so equal ones are no evidence of unchanged text.
      (word) => /[\w"']/.test(word),
    ).map(({ oldStart, oldEnd, newStart, newEnd }) => ({
      oldStart: oldStart + oldFrom,
      oldEnd: oldEnd + oldFrom,
      newStart: newStart + newFrom,
      newEnd: newEnd + newFrom,
    }))
  })
}

/** The sum of the numbers before each index, and the total at the end. */
function prefixSums(numbers: readonly number[]): number[] {
  let sum = 0
  return [0, ...numbers.map((number) => (sum += number))]
}

/** The ranges that differ between two lists of pieces. Only significant pieces are compared. */
function diffPieces(
  old: readonly string[],
  fresh: readonly string[],
  isSignificant: (piece: string) => boolean,
): readonly ChangedRange[] {
  const ranges: ChangedRange[] = []
  const end = [old.length, fresh.length] as const
  let [oldStart, newStart] = [0, 0]

  // One range before each matching pair of pieces, and one after the last pair.
  for (const [oldEnd, newEnd] of [...matchPieces(old, fresh, isSignificant), end]) {
    const range = trimEqual(old, fresh, { oldStart, oldEnd, newStart, newEnd })
    const isEmpty = range.oldStart === range.oldEnd && range.newStart === range.newEnd
    if (!isEmpty) ranges.push(range)

    oldStart = oldEnd + 1
    newStart = newEnd + 1
  }

  return ranges
}

/** Trims equal pieces from the start and the end of a range. */
function trimEqual(
  old: readonly string[],
  fresh: readonly string[],
  { oldStart, oldEnd, newStart, newEnd }: ChangedRange,
): ChangedRange {
  const length = Math.min(oldEnd - oldStart, newEnd - newStart)

  let first = 0
  while (first < length && old[oldStart + first] === fresh[newStart + first]) first++

  let last = 0
  while (last < length - first && old[oldEnd - 1 - last] === fresh[newEnd - 1 - last]) last++

  return {
    oldStart: oldStart + first,
    oldEnd: oldEnd - last,
    newStart: newStart + first,
    newEnd: newEnd - last,
  }
}

/** The pairs of matching pieces. None if the texts have too little in common. */
function matchPieces(
  old: readonly string[],
  fresh: readonly string[],
  isSignificant: (piece: string) => boolean,
): (readonly [number, number])[] {
  const significantIndexes = (pieces: readonly string[]) =>
    [...pieces.keys()].filter((index) => isSignificant(pieces[index] ?? ''))
  const oldIndexes = significantIndexes(old)
  const newIndexes = significantIndexes(fresh)
  const parts = diffArrays(
    oldIndexes.map((index) => old[index]),
    newIndexes.map((index) => fresh[index]),
    { maxEditLength },
  )

  let [oldAt, newAt] = [0, 0]

  return (parts ?? []).flatMap(({ count, added, removed }) => {
    const same = Array.from({ length: added || removed ? 0 : count }, (_, index) => {
      return [oldIndexes[oldAt + index] ?? 0, newIndexes[newAt + index] ?? 0] as const
    })
    if (!added) oldAt += count
    if (!removed) newAt += count
    return same
  })
}
