/** Compares versions of three numbers. */
export function isBefore(version, other) {
  const [a, b] = [version, other].map((text) => text.split('.').map(Number))
  const place = a.findIndex((part, index) => part !== b[index])
  return place !== -1 && a[place] < b[place]
}
