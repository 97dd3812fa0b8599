import { ifPossible } from '../errors.ts'
import { secretMask } from '../text.ts'

/** Longest piece of a gateway's own words that is shown, in characters. */
const longestShown = 200

/**
 * Text from outside, fit for a terminal: one line, without control, escape and direction
 * characters, without our secrets, cut.
 */
export function cleanForeignText(text: string, secrets: readonly string[] = []): string {
  let clean = text
    .slice(0, 20_000)
    // Escape sequences as a whole, so that no "[31m" stays behind.
    .replace(/\p{Cc}[[(][0-?]*[ -/]*[@-~]/gu, (sequence) =>
      sequence[0] === '\x1b' ? '' : sequence,
    )
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\p{Cf}\p{Co}\p{Cs}]/gu, '')
    .replace(/\s+/g, ' ')
    .trim()

  // Only now: a secret with an invisible character inside would have been missed.
  for (const form of secrets.flatMap(secretForms)) clean = clean.replace(form, secretMask)

  const characters = [...clean]
  return characters.length <= longestShown
    ? clean
    : `${characters.slice(0, longestShown - 1).join('')}…`
}

/** Shortest secrets that are looked for, and that are in other forms than their own, in characters. */
const shortestMasked = 4
const shortestVaried = 8

/**
 * What finds a secret in a text: as it is, in other letters' case, and as base64, wherever it stands
 * in what was encoded. Whoever means to hide it better can; this is for what gateways do.
 */
export function secretForms(secret: string): readonly RegExp[] {
  // Short ones would tear words apart, and are shown by nobody.
  if (secret.length < shortestMasked) return []
  if (secret.length < shortestVaried) return [new RegExp(literal(secret), 'g')]
  return [
    new RegExp(literal(secret), 'gi'),
    new RegExp(base64Forms(secret).map(literal).join('|'), 'g'),
  ]
}

function literal(text: string): string {
  return text.replace(/[^\w]/g, '\\$&')
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

export function jsonIn(text: string): unknown {
  return ifPossible(() => JSON.parse(text))
}

/** What stands at a path such as `data.limits.0`; undefined: nothing. */
export function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((found, name) => {
    const isThere = typeof found === 'object' && found !== null && Object.hasOwn(found, name)
    return isThere ? (found as Record<string, unknown>)[name] : undefined
  }, value)
}

export function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined
}
