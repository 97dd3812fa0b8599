import { Command, type CommandUnknownOpts, type Option } from '@commander-js/extra-typings'
import { rememberedModels } from '../state/remembered.ts'
import { unmaskedGatewaysIfReadable } from '../state/saved-gateways.ts'
import { ForeignArgument, GatewayArgument } from './command-line/arguments.ts'
import { commandOf } from './command-line/command.ts'

interface Candidate {
  readonly word: string
  readonly description: string
}

/** The candidates for a word. `files`: the shell completes file names itself. */
type Completion = readonly Candidate[] | 'files'

function define() {
  return new Command('complete')
    .description('print the candidates for the word that is being typed')
    .addArgument(new ForeignArgument('[words...]', 'the words before it'))
    .option('--typed <word>', 'the word', '')
}

/**
 * The scripts of `repoint completion` call this at each press of the Tab key. It prints one candidate per
 * line, then a tab and the description; or `:files`.
 */
export const command = commandOf(define, (session, words, { typed }, self) => {
  const { platform } = session
  const completion = completionOf(self.parent!, words, typed, {
    models: () => rememberedModels(platform),
    gateways: () => unmaskedGatewaysIfReadable(platform).map(({ name }) => name),
    variables: () => Object.keys(platform.machine.env),
  })
  const lines =
    completion === 'files'
      ? [':files']
      : completion.map(({ word, description }) => `${word}\t${description}`)
  platform.terminal.out(lines.map((line) => `${line}\n`).join(''))
  return 0
})

/** Candidates that the program's definition does not contain. */
interface OtherWords {
  readonly gateways: () => readonly string[]
  /** The models of the last catalog. */
  readonly models: () => readonly string[]
  readonly variables: () => readonly string[]
}

/** The candidates for the word `typed` after `words`. */
function completionOf(
  program: CommandUnknownOpts,
  words: readonly string[],
  typed: string,
  known: OtherWords,
): Completion {
  // After `--` comes another program's command.
  if (words.includes('--')) return 'files'

  const help = program.createHelp()
  const commands = help.visibleCommands(program)
  const name = words.find((word) => !word.startsWith('-'))
  const command = commands.find((candidate) => candidate.name() === name)
  if (name !== undefined && command === undefined) return []
  const options = name === 'help' ? [] : help.visibleOptions(command ?? program)

  // A value follows its flag, or is part of the same word (`--flag=value`).
  const start = /^--[\w-]+=/.exec(typed)?.[0] ?? ''
  const flag = start === '' ? words.at(-1) : start.slice(0, -1)
  const option = options.find(
    ({ long, required, optional }) => (required || optional) && long === flag,
  )
  if (option !== undefined) {
    const values = valuesOf(option, known)
    if (values === 'files') return values
    const candidates = values.map((value) => start + value)
    return startingWith(typed, candidates)
  }

  const commandNames = commands.map((listed) => ({
    word: listed.name(),
    description: listed.description(),
  }))
  const flags = options.map(({ long, flags, description }) => ({
    word: long ?? flags,
    description,
  }))
  if (command === undefined) return startingWith(typed, [...commandNames, ...flags])
  if (name === 'help')
    return startingWith(
      typed,
      commandNames.filter(({ word }) => word !== 'help'),
    )
  const otherWords = words.slice(words.indexOf(name!) + 1)
  const values = argumentValues(command, argumentsIn(otherWords, options).length, known)
  return startingWith(typed, [...values, ...flags])
}

/** The words of a command that are neither flags nor the values of flags. */
function argumentsIn(words: readonly string[], options: readonly Option[]): readonly string[] {
  const takesValue = (word: string | undefined) =>
    options.some(({ long, required, optional }) => (required || optional) && long === word)
  return words.filter((word, index) => !word.startsWith('-') && !takesValue(words[index - 1]))
}

/** The values of a command's next argument, after `count` others. The last argument can be repeatable. */
function argumentValues(
  { registeredArguments: all }: CommandUnknownOpts,
  count: number,
  known: OtherWords,
): readonly string[] {
  const last = all.at(-1)
  const next = all[count] ?? (last?.variadic ? last : undefined)
  const names = next instanceof GatewayArgument ? known.gateways() : []
  return [...names, ...(next?.argChoices ?? [])]
}

function startingWith(typed: string, words: readonly (string | Candidate)[]): Candidate[] {
  return words
    .map((word) => (typeof word === 'string' ? { word, description: '' } : word))
    .filter(({ word }) => word.startsWith(typed))
}

/** The known values of a flag. The flag's placeholder tells whether it takes a file. */
function valuesOf(
  { argChoices, flags, long }: Option,
  known: OtherWords,
): readonly string[] | 'files' {
  if (argChoices !== undefined) return argChoices
  if (/[<[](?:path|file)[>\]]/.test(flags)) return 'files'
  if (/env$/.test(long ?? '')) return known.variables()
  if (/model$/.test(long ?? '')) return known.models()
  return []
}
