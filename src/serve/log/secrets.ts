/** The shortest key that the gateway accepts. The log masks no shorter one, because it would mask too much. */
export const minKeyLength = 8

/** Masks a key, so that people can distinguish keys but not use them. */
export function maskKey(key: string): string {
  if (key === '') return ''
  if (key.length < 16) return '***'
  return `${key.slice(0, 3)}…${key.slice(-4)}`
}

/** Masks the known keys in a text. Encoded or split keys are not found. */
export function maskKeys(text: string, keys: readonly string[]): string {
  // A key may contain another one.
  const longestFirst = keys
    .filter(({ length }) => length >= minKeyLength)
    .sort((a, b) => b.length - a.length)
  return longestFirst.reduce((masked, key) => masked.replaceAll(key, () => maskKey(key)), text)
}
