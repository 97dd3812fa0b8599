/**
 * Deeper than this no client nests, and parsing and writing it again would run out of stack. Go's
 * decoder, which the service uses, stops at 10,000.
 */
const maxDepth = 1000

const quote = 0x22
const backslash = 0x5c

/** Whether JSON text nests too deeply to be handled. Brackets inside strings do not count. */
export function isTooDeep(text: string): boolean {
  if (text.length <= maxDepth) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = endOfString(text, at)
      if (at === -1) return false
      // `{` and `[`, and what closes them: they differ in one bit.
    } else if ((code | 0x20) === 0x7b) {
      if (++depth > maxDepth) return true
    } else if ((code | 0x20) === 0x7d) depth--
  }
  return false
}

/** The place of the closing quote; -1: there is none. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1) {
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === backslash) backslashes++
    if (backslashes % 2 === 0) return end
    end = text.indexOf('"', end + 1)
  }
  return -1
}
