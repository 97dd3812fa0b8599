/** Shortest secret that is looked for in other forms than its own, in characters. */
const shortestVaried = 8

/** Stands for a secret in what others say. */
const dots = '....'

/**
 * Masks a secret in a text: as it is, in other letters' case, and as base64, wherever it stands in
 * what was encoded. Whoever means to hide it better can; this is for what gateways do.
 */
export function maskForms(text: string, secret: string): string {
  // Short ones would tear words apart, and are shown by nobody.
  if (secret.length < 4) return text
  if (secret.length < shortestVaried) return text.replaceAll(secret, dots)
  const anyCase = new RegExp(secret.replace(/[^\w]/g, '\\$&'), 'gi')
  return base64Forms(secret).reduce(
    (masked, form) => masked.replaceAll(form, dots),
    text.replace(anyCase, dots),
  )
}

/** The characters of base64 and base64url that depend on the secret alone, for each offset. */
function base64Forms(secret: string): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.from('\0'.repeat(offset) + secret)
    // 4 characters hold 3 bytes; the first and the last may hold bits of a neighbour.
    const from = Math.ceil((offset * 4) / 3)
    const to = Math.floor((bytes.length * 4) / 3)
    return (['base64', 'base64url'] as const).map((name) => bytes.toString(name).slice(from, to))
  })
}
