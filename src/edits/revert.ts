import { diffArrays } from 'diff'
import { applySplices, type Splice } from './text.ts'

/** A file before our run, as the run left it, and as it is now. */
export interface Versions<Version> {
  readonly before: Version
  readonly written: Version
  readonly current: Version
}

interface Text {
  readonly text: string
}

/**
 * Puts back what we changed, where it still stands as we wrote it.
 *
 * @param tryText gives the parsed text if a change may be taken back so
 * @returns undefined where nothing can be put back
 */
export function revertText<Parsed extends Text>(
  versions: Versions<Text>,
  tryText: (text: string) => Parsed | undefined,
): Parsed | undefined {
  const { text } = versions.current
  const splices = reversals(versions)
  const atOnce = tryText(applySplices(text, splices))
  if (atOnce) return atOnce

  let reverted: Parsed | undefined
  let taken: readonly Splice[] = []
  for (const splice of splices) {
    const tried = tryText(applySplices(text, [...taken, splice]))
    if (tried === undefined) continue
    taken = [...taken, splice]
    reverted = tried
  }

  return reverted
}

/** What takes each change of ours back in the current text, where its words stand together. */
function reversals({ before, written, current }: Versions<Text>): readonly Splice[] {
  const old = wordsOf(before.text)
  const byOthers = changedWords(written.text, current.text)
  const places = placesIn(byOthers, wordsOf(written.text).length)
  const offsets = totals(wordsOf(current.text).map((word) => word.length))
  return changedWords(before.text, written.text).flatMap((change) => {
    const span = spanOf(change, places)
    if (span === undefined) return []
    const [start, end] = span.map((place) => offsets[place]!) as [number, number]
    return [{ start, end, text: old.slice(change.oldStart, change.oldEnd).join('') }]
  })
}

/** For each piece that we wrote, which one it is by now; undefined where it is gone. */
function placesIn(byOthers: readonly Stretch[], length: number): (number | undefined)[] {
  const places: (number | undefined)[] = []
  let shift = 0
  for (const { oldStart, oldEnd, newEnd } of byOthers) {
    while (places.length < oldStart) places.push(places.length + shift)
    while (places.length < oldEnd) places.push(undefined)
    shift = newEnd - oldEnd
  }
  while (places.length < length) places.push(places.length + shift)
  return places
}

/** From which to which piece of the current text our pieces stand, one behind the other. */
function spanOf(
  { newStart, newEnd }: Stretch,
  places: readonly (number | undefined)[],
): readonly [number, number] | undefined {
  const start = newStart === newEnd ? gapAt(newStart, places) : places[newStart]
  if (start === undefined) return undefined
  const isTogether = places.slice(newStart, newEnd).every((place, index) => place === start + index)
  return isTogether ? [start, start + newEnd - newStart] : undefined
}

/** Behind the piece that stood before what we took out; else before the one that stood behind it. */
function gapAt(index: number, places: readonly (number | undefined)[]): number | undefined {
  const previous = places[index - 1]
  if (previous !== undefined) return previous + 1
  return places.length === 0 ? 0 : places[index]
}

/** Pieces `oldStart..oldEnd` became pieces `newStart..newEnd`, from 0, ends exclusive. */
interface Stretch {
  readonly oldStart: number
  readonly oldEnd: number
  readonly newStart: number
  readonly newEnd: number
}

/** Beyond this many changed pieces a text counts as written anew. */
const maxEditLength = 1_000

function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+/g) ?? []
}

/** Strings, words, blanks, line breaks, and any other character. None goes beyond its line. */
function wordsOf(text: string): readonly string[] {
  return text.match(/"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[\w.-]+|[ \t]+|\r\n|[\s\S]/g) ?? []
}

/** What differs between two texts, in words; each of the changed stretches of lines is looked at alone. */
function changedWords(old: string, fresh: string): readonly Stretch[] {
  const [oldLines, newLines] = [linesOf(old), linesOf(fresh)]
  const [oldByLine, newByLine] = [oldLines.map(wordsOf), newLines.map(wordsOf)]
  const [oldWords, newWords] = [oldByLine.flat(), newByLine.flat()]
  const [oldAt, newAt] = [oldByLine, newByLine].map((lines) =>
    totals(lines.map((words) => words.length)),
  ) as [number[], number[]]

  return changedPieces(oldLines, newLines, () => true).flatMap((lines) => {
    const [oldFrom, newFrom] = [oldAt[lines.oldStart] ?? 0, newAt[lines.newStart] ?? 0]
    return changedPieces(
      oldWords.slice(oldFrom, oldAt[lines.oldEnd]),
      newWords.slice(newFrom, newAt[lines.newEnd]),
      // Commas and braces stand everywhere: what is alike in them tells nothing.
      (word) => /[\w"']/.test(word),
    ).map(({ oldStart, oldEnd, newStart, newEnd }) => ({
      oldStart: oldStart + oldFrom,
      oldEnd: oldEnd + oldFrom,
      newStart: newStart + newFrom,
      newEnd: newEnd + newFrom,
    }))
  })
}

/** The sum of all numbers before each, and of all of them at the end. */
function totals(numbers: readonly number[]): number[] {
  let sum = 0
  return [0, ...numbers.map((number) => (sum += number))]
}

/** What differs between two lists of pieces; only pieces that tell are compared. */
function changedPieces(
  old: readonly string[],
  fresh: readonly string[],
  tells: (piece: string) => boolean,
): readonly Stretch[] {
  const stretches: Stretch[] = []
  const atEnd = [old.length, fresh.length] as const
  let [oldStart, newStart] = [0, 0]

  // Between each two pieces that are the same, and behind the last of them.
  for (const [oldEnd, newEnd] of [...sameIn(old, fresh, tells), atEnd]) {
    const stretch = withoutSame(old, fresh, { oldStart, oldEnd, newStart, newEnd })
    const isEmpty = stretch.oldStart === stretch.oldEnd && stretch.newStart === stretch.newEnd
    if (!isEmpty) stretches.push(stretch)

    oldStart = oldEnd + 1
    newStart = newEnd + 1
  }
  return stretches
}

/** A stretch without what is the same at its start and at its end. */
function withoutSame(
  old: readonly string[],
  fresh: readonly string[],
  { oldStart, oldEnd, newStart, newEnd }: Stretch,
): Stretch {
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

/** Which piece of the one is which of the other; none where they have too little in common. */
function sameIn(
  old: readonly string[],
  fresh: readonly string[],
  tells: (piece: string) => boolean,
): (readonly [number, number])[] {
  const [oldTelling, newTelling] = [old, fresh].map((pieces) =>
    [...pieces.keys()].filter((index) => tells(pieces[index] ?? '')),
  ) as [number[], number[]]
  const parts = diffArrays(
    oldTelling.map((index) => old[index]),
    newTelling.map((index) => fresh[index]),
    { maxEditLength },
  )

  let [oldAt, newAt] = [0, 0]
  return (parts ?? []).flatMap(({ count, added, removed }) => {
    const same = Array.from({ length: added || removed ? 0 : count }, (_, index) => {
      return [oldTelling[oldAt + index] ?? 0, newTelling[newAt + index] ?? 0] as const
    })
    if (!added) oldAt += count
    if (!removed) newAt += count
    return same
  })
}
