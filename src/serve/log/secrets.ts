/** The shortest key that the gateway accepts. The log hides no shorter one: it would hide half of a text. */
export const minKeyLength = 8

/** Enough of a key to tell two apart, and not enough to use one. */
export function maskKey(key: string): string {
  if (key === '') return ''
  if (key.length < 16) return '***'
  return `${key.slice(0, 3)}…${key.slice(-4)}`
}

/** Masks the known keys in a text, where they are written as they are and in one piece. */
export function maskKeys(text: string, keys: readonly string[]): string {
  // A key may contain another one.
  const longestFirst = keys
    .filter(({ length }) => length >= minKeyLength)
    .sort((a, b) => b.length - a.length)
  return longestFirst.reduce((shown, key) => shown.replaceAll(key, () => maskKey(key)), text)
}
