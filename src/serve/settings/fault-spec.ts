import * as v from 'valibot'
import type { Fault } from './faults.ts'
import { faultNames } from './faults.ts'
import { accept, choice, count, flag, Misfit, mapping, text } from './schema.ts'

const delayMs = count(0, 86_400_000)
const times = count(1, 1_000_000_000)
const events = count(0, 1_000_000_000)

/** When a fault strikes. */
const selection = {
  route: v.exactOptional(choice(['models', 'chat', 'responses', 'messages'])),
  model: v.exactOptional(text),
  holds: v.exactOptional(text),
  every: v.exactOptional(times),
  times: v.exactOptional(times),
}

/** What it does; an answer of a scenario may carry it as well. */
export const effects = {
  error: v.exactOptional(choice(faultNames)),
  status: v.exactOptional(count(400, 599)),
  message: v.exactOptional(text),
  retryAfter: v.exactOptional(count(0, 86_400)),
  webPage: v.exactOptional(flag),
  reset: v.exactOptional(flag),
  delayMs: v.exactOptional(delayMs),
  betweenMs: v.exactOptional(delayMs),
  cutAfter: v.exactOptional(events),
  errorAfter: v.exactOptional(events),
}

const members = { ...selection, ...effects }

export const faultSchema = mapping(members)

/** @throws Misfit */
export function acceptFaults(given: unknown): readonly Fault[] {
  const faults = Array.isArray(given) ? given : [given]
  return faults.map((fault, index) => accept(faultSchema, fault, ['faults', index]))
}

/** The words of `--fault` for the members of a fault. */
export const flagWords: Readonly<Record<string, keyof Fault>> = {
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
 * Reads what `--fault` takes: words and settings with commas between, such as
 * `rate-limited,every=3` or `delay=500,route=messages`.
 *
 * @throws Misfit
 */
export function parseFault(written: string): Fault {
  const parts = written.split(',').map((part) => parsePart(part.trim()))
  const fault = Object.assign({}, ...parts) as Fault
  if (!Object.keys(fault).some((key) => key in effects))
    throw new Misfit(['the fault'], `says when but not what; say one of ${faultWords.join(', ')}`)
  return fault
}

function parsePart(part: string): Fault {
  const equals = part.indexOf('=')
  if (equals === -1) {
    const word = accept(choice(faultWords), part, [part || 'the fault'])
    if (word === 'web-page') return { webPage: true }
    return word === 'reset' ? { reset: true } : { error: word }
  }

  const word = part.slice(0, equals)
  const key = Object.hasOwn(flagWords, word) ? flagWords[word] : undefined
  if (key === undefined)
    throw new Misfit([word], `is not known; known are ${Object.keys(flagWords).join(', ')}`)

  const value = part.slice(equals + 1)
  const isText = ['route', 'model', 'holds', 'message'].includes(key)
  const number = value === '' ? undefined : Number(value)
  return { [key]: accept<unknown>(members[key].wrapped, isText ? value : number, [word]) }
}
