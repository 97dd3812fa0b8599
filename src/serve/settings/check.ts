/** Checks of data that people write: scenario files, catalogs, faults. */

/** What does not fit, and where: the keys from the root. */
export class Misfit extends Error {
  readonly path: Path

  constructor(path: Path, problem: string) {
    super(`${showPath(path)} ${problem}`)
    this.path = path
  }
}

export type Path = readonly (string | number)[]

/** `answers[0].then`, as one would write it. */
function showPath(path: Path): string {
  if (path.length === 0) return 'the document'
  return path
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`,
    )
    .join('')
}

/** An object with no other keys than these. */
export function checkObject(
  value: unknown,
  path: Path,
  keys: readonly string[],
): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Misfit(path, `must be a mapping, not ${kindOf(value)}`)
  for (const key of Object.keys(value))
    if (!keys.includes(key))
      throw new Misfit([...path, key], `is not known here; known are ${keys.join(', ')}`)
  return value as Readonly<Record<string, unknown>>
}

export function checkList(value: unknown, path: Path): readonly unknown[] {
  if (!Array.isArray(value)) throw new Misfit(path, `must be a list, not ${kindOf(value)}`)
  return value
}

export function checkString(value: unknown, path: Path): string {
  if (typeof value !== 'string') throw new Misfit(path, `must be text, not ${kindOf(value)}`)
  return value
}

export function checkBoolean(value: unknown, path: Path): boolean {
  if (typeof value !== 'boolean')
    throw new Misfit(path, `must be true or false, not ${kindOf(value)}`)
  return value
}

export function checkNumber(value: unknown, path: Path, least: number, most: number): number {
  if (!Number.isInteger(value) || (value as number) < least || (value as number) > most)
    throw new Misfit(path, `must be a whole number from ${least} to ${most}`)
  return value as number
}

export function checkChoice<Choice extends string>(
  value: unknown,
  path: Path,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((candidate) => candidate === value)
  if (choice === undefined) throw new Misfit(path, `must be one of ${choices.join(', ')}`)
  return choice
}

function kindOf(value: unknown): string {
  if (value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  return typeof value === 'string' ? 'text' : `a ${typeof value}`
}
