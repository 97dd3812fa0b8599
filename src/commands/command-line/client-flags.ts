/** A client's flags, which its row describes as data: on the command line, and in a team's file. */
import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings'
import type { ClientFlag, ClientOptions, ValueKind } from '../../clients/contract/options.ts'
import { mergeOptions } from '../../clients/options/flags.ts'
import { printableLine } from '../../text.ts'
import { modelId, positiveInteger } from './flags.ts'

export type FlagValue = string | number | boolean

const maxValueLength = 200

/** How a kind of value is read. A new kind needs both: the command line has text, a team's file has JSON. */
interface ValueReader {
  /** @throws InvalidArgumentError, UserError `usage` */
  readonly parseText: (text: string) => FlagValue
  readonly isValidJson: (value: unknown) => value is FlagValue
}

const readers: Readonly<Record<ValueKind, ValueReader>> = {
  tokens: {
    parseText: positiveInteger('tokens'),
    isValidJson: (value): value is number => Number.isSafeInteger(value) && Number(value) > 0,
  },
  model: { parseText: modelId, isValidJson: isShortLine },
}

function isShortLine(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= maxValueLength &&
    printableLine(value) === value
  )
}

/** A client's flag as an option of the command line. */
export function optionOf({ flag, help, choices, takes }: ClientFlag): Option {
  const option = new Option(flag, help)
  if (choices !== undefined) option.choices(choices)
  if (takes !== undefined) option.argParser(readers[takes].parseText)
  return option
}

export function typedOptions(
  flags: readonly ClientFlag[],
  command: Pick<CommandUnknownOpts, 'getOptionValue' | 'getOptionValueSource'>,
): ClientOptions {
  const typed = flags.flatMap((flag): ClientOptions[] => {
    const name = optionOf(flag).attributeName()
    // Commander gives a `--no-…` flag a default value that nobody typed.
    if (command.getOptionValueSource(name) !== 'cli') return []
    const value = command.getOptionValue(name) as FlagValue
    return flag.takes === 'model' && value === true ? [] : [flag.toOptions(value)]
  })
  return mergeOptions(typed)
}

/** The options that one flag stands for: `--output-limit 8192`. Undefined: there is no such flag. */
export function optionsOfFlag(
  flags: readonly ClientFlag[],
  typed: string,
): ClientOptions | undefined {
  const [name = '', text] = typed.split(' ')
  const found = flags.find(({ flag }) => flag.split(' ')[0] === name)
  if (found === undefined) return undefined
  if (text === undefined) return found.toOptions(!name.startsWith('--no-'))
  return found.toOptions(found.takes === undefined ? text : readers[found.takes].parseText(text))
}

/** Whether a team's file may give a client's flag this value. */
export function isValidFor(
  { flag, choices, takes }: ClientFlag,
  value: unknown,
): value is FlagValue {
  const hasValue = /[<[]/.test(flag)
  if (!hasValue) return typeof value === 'boolean'
  if (takes !== undefined) return readers[takes].isValidJson(value)
  return isShortLine(value) && (choices === undefined || choices.includes(value))
}
