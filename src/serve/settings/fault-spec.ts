import type { Path } from './check.ts'
import {
  checkBoolean,
  checkChoice,
  checkNumber,
  checkObject,
  checkString,
  Misfit,
} from './check.ts'
import type { Fault } from './faults.ts'
import { faultNames } from './faults.ts'

/** A day, in ms. */
const longestDelayMs = 86_400_000
const many = 1_000_000_000

type Check = (value: unknown, path: Path) => unknown

/** When a fault strikes. */
const selection = {
  route: (value, path) => checkChoice(value, path, ['models', 'chat', 'responses', 'messages']),
  model: checkString,
  every: (value, path) => checkNumber(value, path, 1, many),
  times: (value, path) => checkNumber(value, path, 1, many),
} satisfies Record<string, Check>

/** What it does. */
const effects = {
  error: (value, path) => checkChoice(value, path, faultNames),
  status: (value, path) => checkNumber(value, path, 400, 599),
  message: checkString,
  retryAfter: (value, path) => checkNumber(value, path, 0, 86_400),
  webPage: checkBoolean,
  reset: checkBoolean,
  delayMs: (value, path) => checkNumber(value, path, 0, longestDelayMs),
  betweenMs: (value, path) => checkNumber(value, path, 0, longestDelayMs),
  cutAfter: (value, path) => checkNumber(value, path, 0, many),
  errorAfter: (value, path) => checkNumber(value, path, 0, many),
} satisfies Record<string, Check>

const everything: Readonly<Record<string, Check>> = { ...selection, ...effects }

const faultKeys = Object.keys(everything)
/** The keys that an answer of a scenario may carry as well. */
export const effectKeys = Object.keys(effects)

/**
 * Reads a fault from plain data.
 *
 * @param keys which of the object's keys belong to the fault
 * @throws Misfit
 */
export function readFault(value: unknown, path: Path, keys: readonly string[] = faultKeys): Fault {
  const object = checkObject(value, path, keys)
  return faultIn(object, path, keys)
}

/** The part of an object that is a fault; its other keys are left alone. */
export function faultIn(
  object: Readonly<Record<string, unknown>>,
  path: Path,
  keys: readonly string[],
): Fault {
  const fault: Record<string, unknown> = {}
  for (const key of keys) {
    const check = everything[key]
    if (check !== undefined && object[key] !== undefined)
      fault[key] = check(object[key], [...path, key])
  }
  return fault
}

/** The words of `--fault` for the keys of a fault. */
const flagWords: Readonly<Record<string, keyof Fault>> = {
  route: 'route',
  model: 'model',
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

/**
 * Reads what `--fault` takes: words and settings with commas between, such as
 * `rate-limited,every=3` or `delay=500,route=messages`.
 *
 * @throws Misfit
 */
export function parseFault(text: string): Fault {
  const fault: Record<string, unknown> = {}
  for (const part of text.split(',').map((word) => word.trim())) {
    const equals = part.indexOf('=')
    const word = equals === -1 ? part : part.slice(0, equals)
    const value = part.slice(equals + 1)
    const key = Object.hasOwn(flagWords, word) ? flagWords[word] : undefined
    if (equals === -1 && (part === 'reset' || part === 'web-page'))
      fault[part === 'reset' ? 'reset' : 'webPage'] = true
    else if (equals === -1) fault['error'] = checkChoice(part, [part || 'the fault'], faultWords)
    else if (key === undefined)
      throw new Misfit([word], `is not known; known are ${Object.keys(flagWords).join(', ')}`)
    else {
      const check = everything[key]!
      const isText = key === 'route' || key === 'model' || key === 'message'
      fault[key] = check(isText ? value : value === '' ? undefined : Number(value), [word])
    }
  }
  if (!Object.keys(fault).some((key) => effectKeys.includes(key)))
    throw new Misfit(['the fault'], `says when but not what; say one of ${faultWords.join(', ')}`)
  return fault
}

const faultWords = [...faultNames, 'reset', 'web-page'] as const
