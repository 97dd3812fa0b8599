/** Schemas for data that people write, such as scenario files and team files, with messages for them. */
import * as v from 'valibot'

/** A problem in the data, with the path from the root. */
export class InvalidData extends Error {
  readonly path: DataPath

  constructor(path: DataPath, problem: string) {
    super(`${formatPath(path) || 'the document'} ${problem}`)
    this.path = path
  }
}

export type DataPath = readonly PropertyKey[]

/** Formats a path of keys and indexes: `answers[0].reply`. */
export function formatPath(path: DataPath): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`
      return index === 0 ? String(step) : `.${String(step)}`
    })
    .join('')
}

/**
 * @param path the path of the data in its document
 * @throws InvalidData
 */
export function parseData<Fitting>(
  schema: v.GenericSchema<unknown, Fitting>,
  data: unknown,
  path: DataPath = [],
): Fitting {
  const result = v.safeParse(schema, data)
  if (result.success) return result.output

  // An unknown key is more likely the mistake than the problems that it causes.
  const issue = result.issues.find(isUnknownKey) ?? result.issues[0]
  const place = issue.path?.map(({ key }) => key as PropertyKey) ?? []
  throw new InvalidData([...path, ...place], issue.message)
}

function isUnknownKey({ type, expected }: v.BaseIssue<unknown>): boolean {
  return type === 'strict_object' && expected === 'never'
}

export const text = v.string(({ input }) => `must be text, not ${describeKind(input)}`)
export const flag = v.boolean(({ input }) => `must be true or false, not ${describeKind(input)}`)

export function integer(minimum: number, maximum: number) {
  const message = `must be a whole number from ${minimum} to ${maximum}`
  return v.pipe(
    v.number(message),
    v.integer(message),
    v.minValue(minimum, message),
    v.maxValue(maximum, message),
  )
}

export function choice<const Choices extends readonly string[]>(choices: Choices) {
  return v.picklist(choices, `must be one of ${choices.join(', ')}`)
}

export function list<Item extends v.GenericSchema>(item: Item) {
  return v.array(item, ({ input }) => `must be a list, not ${describeKind(input)}`)
}

/** An object without other keys. */
export function object<const Entries extends v.ObjectEntries>(entries: Entries) {
  return v.strictObject(entries, (issue) => {
    if (isUnknownKey(issue)) return `is unknown. Use one of: ${Object.keys(entries).join(', ')}`
    return issue.expected === 'Object'
      ? `must be a mapping, not ${describeKind(issue.input)}`
      : 'is missing'
  })
}

/** An object, or a string as a short form of an object with this member. */
export function textOr<Whole extends v.GenericSchema>(member: string, whole: Whole) {
  return v.pipe(
    v.unknown(),
    v.transform((value) => (typeof value === 'string' ? { [member]: value } : value)),
    whole,
  )
}

function describeKind(value: unknown): string {
  if (value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  return typeof value === 'string' ? 'text' : `a ${typeof value}`
}
