/** A stream of more bytes than this is written in three pieces, a shorter one in two. */
const longStreamBytes = 16 * 1024

/**
 * Splits a stream into the pieces that are written one after the other, as a network delivers it. No
 * piece but the last ends with a whole frame, and the first cut is inside a character of several bytes
 * if there is one. A client that parses each piece alone fails on it.
 */
export function fragmentsOf(frames: readonly string[]): readonly Buffer[] {
  const text = frames.join('')
  const bytes = Buffer.from(text)
  const hasWideCharacters = bytes.length > text.length
  const count = bytes.length > longStreamBytes ? 3 : 2

  const pieces: Buffer[] = []
  let start = 0
  for (let nth = 1; nth < count; nth++) {
    const at = cutNear(bytes, Math.trunc((bytes.length * nth) / count), hasWideCharacters)
    if (at <= start) continue
    pieces.push(bytes.subarray(start, at))
    start = at
  }
  return start < bytes.length ? [...pieces, bytes.subarray(start)] : pieces
}

/** The place in the data of a frame that is nearest to `at`, or the next one behind it. */
function cutNear(bytes: Buffer, at: number, hasWideCharacters: boolean): number {
  if (hasWideCharacters) {
    const inside = bytes.findIndex((byte, index) => index >= at && isContinuation(byte))
    return inside === -1 ? bytes.findLastIndex(isContinuation) : inside
  }
  const lineStart = bytes.lastIndexOf('\n', at - 1) + 1
  if (bytes.indexOf(dataStart, lineStart) === lineStart && at > lineStart + dataStart.length)
    return at
  return bytes.indexOf(dataStart, at) + dataStart.length + 1
}

const dataStart = 'data: '

/** Whether this is the second or a later byte of a character in UTF-8. */
function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}
