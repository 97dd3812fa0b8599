/** A stream with more characters than this is written in three pieces, a shorter one in two. */
const longStream = 16 * 1024

/**
 * Splits a stream into pieces, as a network may deliver it. No piece except the last ends at the end of
 * a frame, and the first cut is inside a multi-byte character if there is one. A client that parses each
 * piece separately fails.
 */
export function splitStream(frames: readonly string[]): readonly (string | Buffer)[] {
  const text = frames.join('')
  // Strings are faster to write than bytes, and ASCII characters cannot be split.
  const isAscii = Buffer.byteLength(text) === text.length
  const whole = isAscii ? text : Buffer.from(text)
  const count = whole.length > longStream ? 3 : 2

  const pieces: (string | Buffer)[] = []
  let start = 0
  for (let nth = 1; nth <= count; nth++) {
    const end = nth === count ? whole.length : findCut(whole, (whole.length * nth) / count)
    if (end <= start) continue
    pieces.push(typeof whole === 'string' ? whole.slice(start, end) : whole.subarray(start, end))
    start = end
  }

  return pieces
}

/** The offset inside the data of a frame that is nearest to `about`, or the next one after it. */
function findCut(whole: string | Buffer, about: number): number {
  const at = Math.trunc(about)
  if (typeof whole !== 'string') {
    const inside = whole.findIndex((byte, index) => index >= at && isContinuation(byte))
    return inside === -1 ? whole.findLastIndex(isContinuation) : inside
  }
  const lineStart = whole.lastIndexOf('\n', at - 1) + 1
  if (whole.startsWith(dataStart, lineStart) && at > lineStart + dataStart.length) return at
  return whole.indexOf(dataStart, at) + dataStart.length + 1
}

const dataStart = 'data: '

/** Whether a byte is the second or a later one of a character in UTF-8. */
function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}
