import { ifPossible } from '../errors.ts'
import { secretMask } from '../text.ts'

/** The longest part of a gateway's own words that is shown, in characters. */
const maxShown = 200

/**
 * Makes foreign text safe for a terminal: one line of limited length, without control, escape and
 * direction characters, and without our secrets.
 */
export function cleanForeignText(text: string, secrets: readonly string[] = []): string {
  let clean = text
    .slice(0, 20_000)
    // Removes whole escape sequences, so that no "[31m" remains.
    .replace(/\p{Cc}[[(][0-?]*[ -/]*[@-~]/gu, (sequence) =>
      sequence[0] === '\x1b' ? '' : sequence,
    )
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\p{Cf}\p{Co}\p{Cs}]/gu, '')
    .replace(/\s+/g, ' ')
    .trim()

  // This comes last, because an invisible character inside a secret would hide the secret.
  for (const form of secrets.flatMap(secretForms)) clean = clean.replace(form, secretMask)

  const characters = [...clean]
  return characters.length <= maxShown ? clean : `${characters.slice(0, maxShown - 1).join('')}…`
}

/**
 * The shortest secrets that are searched for, and the shortest that are searched for in other forms too,
 * in characters.
 */
const minMaskedLength = 4
const minEncodedLength = 8

/**
 * Patterns that find a secret in a text: as it is, in other upper and lower case, and as base64 at any
 * offset of the encoded text. A gateway that hides a secret on purpose can still do so; these patterns
 * are for what gateways usually do.
 */
export function secretForms(secret: string): readonly RegExp[] {
  // A short pattern would match parts of words, and nobody shows such a secret.
  if (secret.length < minMaskedLength) return []
  if (secret.length < minEncodedLength) return [new RegExp(literal(secret), 'g')]
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
    // 4 characters encode 3 bytes. The first and the last can contain bits of a neighbour.
    const from = Math.ceil((offset * 4) / 3)
    const to = Math.floor((bytes.length * 4) / 3)
    return (['base64', 'base64url'] as const).map((name) => bytes.toString(name).slice(from, to))
  })
}

/** Parses JSON with or without a byte order mark. Undefined: it is not JSON. */
export function jsonIn(text: string): unknown {
  return ifPossible(() => JSON.parse(text.replace(/^\ufeff/, '')))
}

/** The value at a path such as `['data', 'limits', '0']`. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let inner = value
  for (const name of path) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, name)) return undefined
    inner = (inner as Record<string, unknown>)[name]
  }
  return inner
}

export function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined
}

/** A value as a list. Empty if it is none. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The name of a member without its spelling: `supported_tasks` and `supportedTasks` are `supportedtasks`. */
export function comparableName(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '')
}

export function isFilledText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

export function isFilledList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0
}
