import { groupTables } from './toml-scan.ts'

/** In characters: what is smaller is joined with its neighbours. */
const largePiece = 10_000

/**
 * A TOML text in pieces that follow on one another, each but the first from the line of a header on;
 * between them are only line breaks. No two hold tables of one root, as far as the scan tells.
 */
export function piecesOf(text: string): string[] {
  if (text.length < largePiece) return [text]
  const groups = groupTables(text)
  const lastOfRoot = new Map(groups.map(({ root }, index) => [root, index]))
  // What is written with an escape may be any root.
  if (lastOfRoot.has(undefined)) return [text]
  const starts = [0]
  /** The last group of the roots that were met so far. */
  let reach = -1
  for (const [index, { start, root }] of groups.entries()) {
    if (index > reach) starts.push(start)
    reach = Math.max(reach, lastOfRoot.get(root) ?? index)
  }
  const cuts = [0]
  for (const [index, start] of starts.entries()) {
    const size = (starts[index + 1] ?? text.length) - start
    const isOwn = size >= largePiece || start - (cuts.at(-1) ?? 0) >= largePiece
    if (isOwn && start > 0) cuts.push(start)
  }
  return cuts.map((start, index) => text.slice(start, endOf(text, cuts[index + 1] ?? text.length)))
}

/** Line breaks at the end of a piece mean nothing, and come and go with what follows. */
function endOf(text: string, end: number): number {
  let last = end
  while (text[last - 1] === '\n') last -= text[last - 2] === '\r' ? 2 : 1
  return last
}
