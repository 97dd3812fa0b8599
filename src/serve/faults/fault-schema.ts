import * as v from 'valibot'
import { choice, flag, InvalidData, integer, object, parseData, text } from '../../schema.ts'
import type { Fault } from './faults.ts'
import { faultNames } from './faults.ts'

const delayMs = integer(0, 86_400_000)
const positiveCount = integer(1, 1_000_000_000)
const eventCount = integer(0, 1_000_000_000)

/** The members that select the requests of a fault. */
const selection = {
  route: v.exactOptional(choice(['models', 'chat', 'responses', 'messages'])),
  model: v.exactOptional(text),
  holds: v.exactOptional(text),
  every: v.exactOptional(positiveCount),
  times: v.exactOptional(positiveCount),
}

/** The effects of a fault. An answer of a scenario may have them too. */
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
}

const faultMembers = { ...selection, ...effects }

export const faultSchema = object(faultMembers)

/** @throws InvalidData */
export function acceptFaults(input: unknown): readonly Fault[] {
  const faults = Array.isArray(input) ? input : [input]
  return faults.map((fault, index) => parseData(faultSchema, fault, ['faults', index]))
}

/** The members of a fault by their names in `--fault`. */
export const flagNames: Readonly<Record<string, keyof Fault>> = {
  route: 'route',
  model: 'model',
  holds: 'holds',
  every: 'every',
  times: 'times',
  status: 'status',
  message: 'message',
  'retry-after': 'retryAfter',
  delay: 'delayMs',
  between: 'betweenMs',
  cut: 'cutAfter',
  'error-event': 'errorAfter',
}

const faultWords = [...faultNames, 'reset', 'web-page'] as const

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
    if (word === 'web-page') return { webPage: true }
    return word === 'reset' ? { reset: true } : { error: word }
  }

  const word = part.slice(0, equals)
  const key = Object.hasOwn(flagNames, word) ? flagNames[word] : undefined
  if (key === undefined)
    throw new InvalidData([word], `is unknown. Use one of: ${Object.keys(flagNames).join(', ')}`)

  const value = part.slice(equals + 1)
  const isText = ['route', 'model', 'holds', 'message'].includes(key)
  const number = value === '' ? undefined : Number(value)
  return { [key]: parseData<unknown>(faultMembers[key].wrapped, isText ? value : number, [word]) }
}
