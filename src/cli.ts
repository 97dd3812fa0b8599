import {
  Command,
  CommanderError,
  type CommandUnknownOpts,
  Option,
} from '@commander-js/extra-typings'
import packageJson from '../package.json' with { type: 'json' }
import { clientRows, environmentRows } from './clients/list.ts'
import { asUsageError, type ListedCommand, refuseKeys } from './commands/command-line/command.ts'
import { helpFor } from './commands/command-line/help.ts'
import { Declined, Session } from './commands/screen/session.ts'
import { errorCodes } from './error-codes.ts'
import { renderError, UserError } from './errors.ts'
import type { Platform } from './platform/platform.ts'
import { guessName } from './text.ts'

/**
 * Runs one command line and returns its exit status. Catches everything that is thrown.
 *
 * @param args without the program and the script: `['codex', '--yes']`
 */
export async function main(platform: Platform, args: readonly string[]): Promise<number> {
  const repointArgs = argsForRepoint(args)
  const session = new Session(platform, { isJson: repointArgs.includes('--json') })

  const status = await runCommandLine(session, args, repointArgs).catch((error: unknown) => {
    if (error instanceof Declined) return showDeclined(session)
    if (!(error instanceof CommanderError)) return showError(session, error, repointArgs)
    return error.exitCode === 0 ? 0 : showUsageError(session, error, repointArgs)
  })
  platform.ask.release()

  // A reader that closed the pipe (`| head`) is not our failure.
  const { outFailure } = platform.terminal
  if (outFailure === undefined || outFailure === 'EPIPE') return status
  // The command has done its work; only its output is lost.
  const message = `Cannot write to standard output (${outFailure})`
  showError(session, new UserError({ code: 'io-failed', message }), repointArgs, false)
  return status || errorCodes.internal.exitStatus
}

/** The arguments before `--`, and before the command of `run NAME`: the rest is another program's command. */
function argsForRepoint(args: readonly string[]): readonly string[] {
  const repointArgs = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
  const name = repointArgs.findIndex((arg, index) => index > 0 && !arg.startsWith('-'))
  return repointArgs[0] === 'run' && name !== -1 ? repointArgs.slice(0, name + 1) : repointArgs
}

/** A command of the command line, before its file is loaded. */
interface CommandEntry {
  readonly name: string
  /** One line of the help. The description too, if the command has no longer one. */
  readonly summary: string
  /** Only scripts use it; the help leaves it out. */
  readonly isHidden?: boolean
  /** The group's heading in the help. Absent: the group of the previous command. */
  readonly group?: string
  /** Other names that people use for it. repoint suggests the command, but does not accept these names. */
  readonly alsoCalled?: readonly string[] | undefined
  readonly load: () => Promise<{ readonly command: ListedCommand }>
}

/** In the order of the help. */
const commands: readonly CommandEntry[] = [
  ...clientRows.map((row) => ({
    name: row.id,
    summary: row.description,
    alsoCalled: row.alsoCalled,
    load: async () => ({ command: (await import('./commands/client.ts')).commandFor(row) }),
  })),
  ...environmentRows.map((row) => ({
    name: row.id,
    summary: row.description,
    alsoCalled: row.alsoCalled,
    load: async () => ({
      command: (await import('./commands/environment-client.ts')).commandFor(row),
    }),
  })),
  {
    name: 'setup',
    summary: 'set up several clients in one run',
    alsoCalled: ['install'],
    load: () => import('./commands/setup.ts'),
  },
  {
    name: 'editor',
    summary: 'what to enter in Cursor, VS Code or Zed',
    alsoCalled: ['cursor', 'vscode', 'zed'],
    load: () => import('./commands/editor.ts'),
  },
  {
    name: 'use',
    summary: 'point clients at a saved gateway',
    group: 'Change',
    alsoCalled: ['switch'],
    load: () => import('./commands/use.ts'),
  },
  {
    name: 'key',
    summary: 'test a new key and write it to its clients',
    alsoCalled: ['login', 'auth', 'setkey'],
    load: () => import('./commands/key.ts'),
  },
  {
    name: 'off',
    summary: 'point clients back at their own service',
    alsoCalled: ['disable'],
    load: () => import('./commands/off.ts'),
  },
  {
    name: 'folder',
    summary: 'choose a gateway for this folder',
    load: () => import('./commands/folder.ts'),
  },
  {
    name: 'run',
    summary: 'run a command with a gateway; changes no file',
    group: 'Try',
    load: () => import('./commands/run.ts'),
  },
  {
    name: 'serve',
    summary: 'run a gateway on this machine',
    load: () => import('./commands/serve.ts'),
  },
  {
    name: 'demo',
    summary: 'try it all in a temporary home',
    load: () => import('./commands/demo.ts'),
  },
  {
    name: 'status',
    summary: 'what each client uses now',
    group: 'Look',
    alsoCalled: ['whoami', 'show', 'current'],
    load: () => import('./commands/status.ts'),
  },
  {
    name: 'check',
    summary: 'which clients work with a gateway',
    load: () => import('./commands/check.ts'),
  },
  {
    name: 'doctor',
    summary: 'find problems, and fix them with --fix',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'models',
    summary: 'list the models of a gateway',
    load: () => import('./commands/models.ts'),
  },
  {
    name: 'gateways',
    summary: 'list, add or export saved gateways',
    alsoCalled: ['list'],
    load: () => import('./commands/gateways.ts'),
  },
  {
    name: 'rollback',
    summary: 'undo the newest run',
    group: 'Undo',
    alsoCalled: ['undo', 'restore', 'revert', 'reset', 'uninstall', 'unset'],
    load: () => import('./commands/rollback.ts'),
  },
  {
    name: 'forget',
    summary: 'delete a saved gateway or old runs',
    alsoCalled: ['remove', 'delete', 'logout'],
    load: () => import('./commands/forget.ts'),
  },
  {
    name: 'completion',
    summary: 'print a shell completion script',
    group: 'Shell',
    load: () => import('./commands/completion.ts'),
  },
  {
    name: 'complete',
    summary: 'print what the shell can complete',
    isHidden: true,
    load: () => import('./commands/complete.ts'),
  },
]

async function runCommandLine(
  session: Session,
  args: readonly string[],
  repointArgs: readonly string[],
): Promise<number> {
  let status = 0
  const program = programFor(session, repointArgs)

  const addAll = async ({ entries, mustLoad }: NeededCommands) => {
    let heading = 'Set up'
    for (const { name, summary, load, group, isHidden = false } of entries) {
      const command = mustLoad(name)
        ? (await load()).command(session, (ended) => {
            status = ended
          })
        : new Command(name)
      if (command.description() === '') command.description(summary)
      heading = group ?? heading
      const settled = withCommonFlags(command.copyInheritedSettings(program))
      settled.summary(summary).helpGroup(`${heading}:`)
      program.addCommand(settled, { hidden: isHidden })
    }
  }

  const isBare = repointArgs.every((arg) => arg === '--json')
  if (session.canAsk && (isBare || isSureToAsk(repointArgs))) session.platform.ask.hold()
  if (isBare) {
    const { guided } = await import('./commands/guided.ts')
    return guided(session, async () => {
      await addAll({ entries: commands, mustLoad: () => false })
      program.outputHelp()
    })
  }

  await addAll(commandsFor(args))
  await program.parseAsync(asParsed(args), { from: 'user' })
  return status
}

/** The first versions called `-v` `-V`. Commander's `help` accepts no flags. */
function asParsed(args: readonly string[]): string[] {
  const [first, ...otherArgs] = args
  if (first === '-V') return ['-v', ...otherArgs]
  return args.filter((arg) => first !== 'help' || arg !== '--all')
}

/** Whether the command will ask. Otherwise it leaves the terminal alone: it may run in the background. */
function isSureToAsk(args: readonly string[]): boolean {
  const isSetup = ['setup', 'key'].includes(args[0]!) || clientRows.some(({ id }) => id === args[0])
  return isSetup && !args.some((arg) => ['--yes', '--dry-run', '-h', '--help'].includes(arg))
}

/** The commands that one command line needs. Those that are not loaded have only their names and summaries. */
interface NeededCommands {
  readonly entries: readonly CommandEntry[]
  readonly mustLoad: (name: string) => boolean
}

/** A named command is enough for itself. Help and a misspelt name need all of them. */
function commandsFor(args: readonly string[]): NeededCommands {
  if (['-v', '-V', '--version'].includes(args[0] ?? ''))
    return { entries: [], mustLoad: () => false }

  const words = args.filter((arg) => !arg.startsWith('-'))
  // The words to complete, and those after `help`, can contain a command.
  const named = ['complete', 'help'].includes(words[0] ?? '') ? words : words.slice(0, 1)
  const isNamed = ({ name }: CommandEntry) => named.includes(name)
  const isEnough =
    words[0] !== 'help' && commands.some((entry) => isNamed(entry) && !entry.isHidden)
  if (isEnough) return { entries: commands.filter(isNamed), mustLoad: () => true }

  const isWhole = args.includes('--all')
  return { entries: commands, mustLoad: (name) => isWhole || named.includes(name) }
}

function programFor(session: Session, args: readonly string[]): CommandUnknownOpts {
  const { terminal } = session.platform
  const isWhole = args.includes('--all')

  return new Command('repoint')
    .description('Points coding clients at another model gateway. Tests it first; can undo it.')
    .version(packageJson.version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help; with --all, of every command and flag')
    .helpCommand('help [command]', 'print the help of a command')
    .configureHelp(helpFor({ isWhole, columns: terminal.columns }))
    .configureOutput({
      writeOut: (text) => session.printHelp(text),
      // `main` prints all errors, in one format.
      writeErr: () => {},
      getOutHelpWidth: () => terminal.columns,
      getErrHelpWidth: () => terminal.columns,
      // Help is plain text. Checking for colours would load Node's streams.
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride()
    .showSuggestionAfterError()
    .enablePositionalOptions()
}

/** Adds help, and rejects a key before other flags can swallow it. */
function withCommonFlags(command: CommandUnknownOpts): CommandUnknownOpts {
  return command
    .helpOption('-h, --help', 'print this help')
    .addOption(new Option('--key [key]').hideHelp())
    .addOption(new Option('--api-key [key]').hideHelp())
    .hook('preAction', () => refuseKeys(command))
}

function showUsageError(session: Session, error: CommanderError, args: readonly string[]): number {
  return showError(session, asUsageError(error, args, meantIn(error, args[0] ?? '')), args)
}

/** The command or flag that the user meant by a wrong name. Undefined: no sure guess. */
function meantIn({ code, message }: CommanderError, first: string): string | undefined {
  if (code === 'commander.unknownOption') {
    // Commander names the flags only in its message: the typed one, then those of the same spelling.
    const [typed = '', ...similar] = message.match(/--[\w-]+/g) ?? []
    return guessName(typed, similar)
  }

  if (code !== 'commander.unknownCommand') return undefined
  const called = commands.find(({ alsoCalled }) => alsoCalled?.includes(first))
  const names = commands.filter(({ isHidden }) => !isHidden).map(({ name }) => name)
  return called?.name ?? guessName(first, names)
}

/** The user said no, which is not a failure. */
function showDeclined(session: Session): number {
  session.say('Nothing changed.')
  return 0
}

function showError(
  session: Session,
  error: unknown,
  args: readonly string[],
  json = session.isJson,
): number {
  const { platform, filesState, undoCommand } = session
  const shown = renderError(error, {
    json,
    redact: (text) => (json ? session.redact(text) : session.forPeople(text)),
    filesState,
    undoCommand,
    command: commandNamed(args),
  })
  if (json) platform.terminal.out(shown.text)
  else session.printToStderr(shown.text)
  return shown.exitStatus
}

/** The command's name for JSON documents. Any other word can be anything, even a key: returns null. */
function commandNamed(args: readonly string[]): string | null {
  const [first = 'setup'] = args.filter((arg) => arg !== '--json')
  return first === 'setup' || commands.some(({ name }) => name === first) ? first : null
}
