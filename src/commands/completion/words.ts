import type { Command, Option } from 'commander'

/** What can be typed, as plain data: what the scripts for the shells are made from. */
export interface CompletedCommand {
  readonly name: string
  readonly description: string
  readonly flags: readonly CompletedFlag[]
  /** What can stand in the place of its first argument. */
  readonly values: readonly string[]
}

export interface CompletedFlag {
  /** `--model` */
  readonly name: string
  readonly description: string
  readonly takes: FlagValue
}

export type FlagValue =
  | { readonly kind: 'nothing' }
  /** Something that only the user knows. */
  | { readonly kind: 'text' }
  | { readonly kind: 'file' }
  /** The name of an environment variable. */
  | { readonly kind: 'variable' }
  /** A model of the last catalog. */
  | { readonly kind: 'model' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }

/** Hidden flags and commands are left out. */
export function completedCommands(program: Command): CompletedCommand[] {
  const help = program.createHelp()
  const commands = help.visibleCommands(program)
  const names = commands.map((command) => command.name()).filter((name) => name !== 'help')
  return commands.map((command) => {
    const name = command.name()
    // commander's own, which takes no flags and the name of any other.
    const isHelp = name === 'help'
    return {
      name,
      description: command.description(),
      flags: isHelp ? [] : help.visibleOptions(command).map(flagOf),
      values: isHelp ? names : (command.registeredArguments[0]?.argChoices ?? []),
    }
  })
}

/** The flags that go without a command. */
export function programFlags(program: Command): CompletedFlag[] {
  return program.createHelp().visibleOptions(program).map(flagOf)
}

function flagOf(option: Option): CompletedFlag {
  return {
    name: option.long ?? option.flags,
    description: option.description,
    takes: takenBy(option),
  }
}

function takenBy(option: Option): FlagValue {
  if (!option.required && !option.optional) return { kind: 'nothing' }
  if (option.argChoices !== undefined) return { kind: 'choice', choices: option.argChoices }
  const placeholder = /[<[](\w+)/.exec(option.flags)?.[1] ?? ''
  if (/^(path|file)$/i.test(placeholder)) return { kind: 'file' }
  if (/env$/.test(option.long ?? '')) return { kind: 'variable' }
  if (/model$/.test(option.long ?? '')) return { kind: 'model' }
  return { kind: 'text' }
}
