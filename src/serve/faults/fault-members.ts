/**
 * What each member of a fault may be, and how people write it. `Fault` says what the members mean: for a new
 * one, TypeScript demands a line in each table here.
 */
import * as v from 'valibot'
import { choice, flag, InvalidData, integer, object, parseData, text } from '../../schema.ts'
import {
  type Fault,
  type FaultEffects,
  type FaultName,
  type FaultSelection,
  faultNames,
} from './faults.ts'

const delayMs = integer(0, 86_400_000)
const positiveCount = integer(1, 1_000_000_000)
const eventCount = integer(0, 1_000_000_000)

/** The values of the members that select requests. */
const selection = {
  route: v.exactOptional(choice(['models', 'chat', 'responses', 'messages'])),
  model: v.exactOptional(text),
  holds: v.exactOptional(text),
  every: v.exactOptional(positiveCount),
  times: v.exactOptional(positiveCount),
} satisfies Readonly<Record<keyof FaultSelection, unknown>>

/** The values of the effects. An answer of a scenario may have them too. */
export const effects = {
  error: v.exactOptional(choice(faultNames)),
  status: v.exactOptional(integer(400, 599)),
  message: v.exactOptional(text),
  retryAfter: v.exactOptional(integer(0, 86_400)),
  webPage: v.exactOptional(flag),
  reset: v.exactOptional(flag),
  delayMs: v.exactOptional(delayMs),
  betweenMs: v.exactOptional(delayMs),
  cutAfter: v.exactOptional(eventCount),
  errorAfter: v.exactOptional(eventCount),
} satisfies Readonly<Record<keyof FaultEffects, unknown>>

const memberValues = { ...selection, ...effects }

export const faultSchema = object(memberValues)

/** @throws InvalidData */
export function readFaults(input: unknown): readonly Fault[] {
  const faults = Array.isArray(input) ? input : [input]
  return faults.map((fault, index) => parseData(faultSchema, fault, ['faults', index]))
}

/** How people write a member of a fault, and what the log says about it. */
interface MemberForm {
  /** In `--fault`, the member is `FLAG=VALUE`. */
  readonly flag?: string
  /** In `--fault`, the member is this word, and means `true`. */
  readonly word?: string
  readonly isText?: true
  /** With the value instead of `%`. Absent: the log does not mention the member. */
  readonly log?: string
}

const memberForms: Readonly<Record<keyof Fault, MemberForm>> = {
  route: { flag: 'route', isText: true },
  model: { flag: 'model', isText: true },
  holds: { flag: 'holds', isText: true },
  every: { flag: 'every' },
  times: { flag: 'times' },
  // In `--fault`, each of the errors is a word.
  error: { log: '%' },
  status: { flag: 'status', log: 'status %' },
  message: { flag: 'message', isText: true },
  retryAfter: { flag: 'retry-after' },
  reset: { word: 'reset', log: 'reset' },
  webPage: { word: 'web-page', log: 'web page' },
  delayMs: { flag: 'delay', log: 'delay % ms' },
  betweenMs: { flag: 'between', log: 'between % ms' },
  cutAfter: { flag: 'cut', log: 'cut after %' },
  errorAfter: { flag: 'error-event', log: 'error after %' },
}

const memberNames = Object.keys(memberForms) as readonly (keyof Fault)[]

/** The members of a fault by their names in `--fault`. */
export const flagNames = membersBy('flag')
export const wordNames = membersBy('word')

function membersBy(form: 'flag' | 'word'): ReadonlyMap<string, keyof Fault> {
  return new Map(
    memberNames.flatMap((member) => {
      const name = memberForms[member][form]
      return name === undefined ? [] : [[name, member] as const]
    }),
  )
}

/** Describes a fault for the log. Empty: the log does not mention its members. */
export function describeFault(fault: Fault): string {
  return memberNames
    .flatMap((member) => {
      const { log } = memberForms[member]
      const value = fault[member]
      return log === undefined || value === undefined || value === false
        ? []
        : log.replace('%', String(value))
    })
    .join(', ')
}

const faultWords = [...faultNames, ...wordNames.keys()]

/**
 * Parses the value of `--fault`: words and settings, separated by commas, such as `rate-limited,every=3`
 * or `delay=500,route=messages`.
 *
 * @throws InvalidData
 */
export function parseFault(text: string): Fault {
  const parts = text.split(',').map((part) => parsePart(part.trim()))
  const fault = Object.assign({}, ...parts) as Fault
  if (!Object.keys(fault).some((key) => key in effects))
    throw new InvalidData(
      ['the fault'],
      `says when but not what; say one of ${faultWords.join(', ')}`,
    )
  return fault
}

function parsePart(part: string): Fault {
  const equals = part.indexOf('=')
  if (equals === -1) {
    const word = parseData(choice(faultWords), part, [part || 'the fault'])
    const member = wordNames.get(word)
    return member === undefined ? { error: word as FaultName } : { [member]: true }
  }

  const name = part.slice(0, equals)
  const member = flagNames.get(name)
  if (member === undefined)
    throw new InvalidData([name], `is unknown. Use one of: ${[...flagNames.keys()].join(', ')}`)

  const valueText = part.slice(equals + 1)
  const number = valueText === '' ? undefined : Number(valueText)
  const value = memberForms[member].isText ? valueText : number
  return { [member]: parseData<unknown>(memberValues[member].wrapped, value, [name]) }
}
