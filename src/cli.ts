import {
  Command,
  CommanderError,
  type CommandUnknownOpts,
  Option,
} from '@commander-js/extra-typings'
import packageJson from '../package.json' with { type: 'json' }
import { environmentRows, rows } from './clients/list.ts'
import { asUsageError, type ListedCommand, refuseKeys } from './commands/command.ts'
import { helpFor } from './commands/help.ts'
import { Declined, Session } from './commands/screen/session.ts'
import { exitStatus, renderError, UserError } from './errors.ts'
import type { Platform } from './platform/platform.ts'
import { guessName } from './text.ts'

/**
 * Runs one command line and returns its exit status. Everything that is thrown ends here.
 *
 * @param args without the program and the script: `['codex', '--yes']`
 */
export async function main(platform: Platform, args: readonly string[]): Promise<number> {
  const ownArgs = ownPart(args)
  const session = new Session(platform, { isJson: ownArgs.includes('--json') })

  const status = await runCommandLine(session, args, ownArgs).catch((error: unknown) => {
    if (error instanceof Declined) return showDeclined(session)
    if (!(error instanceof CommanderError)) return showError(session, error, ownArgs)
    return error.exitCode === 0 ? 0 : showUsageError(session, error, ownArgs)
  })
  platform.ask.release()

  // A reader that has gone away (`| head`) is no failure of ours.
  const { outFailure } = platform.terminal
  if (outFailure === undefined || outFailure === 'EPIPE') return status
  // What was asked for has been done; only the result could not be told.
  const message = `Standard output cannot be written (${outFailure})`
  showError(session, new UserError({ code: 'io-failed', message }), ownArgs, false)
  return status || exitStatus.internal
}

/** Behind `--`, and behind the name that `run` takes, stands somebody else's command. */
function ownPart(args: readonly string[]): readonly string[] {
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
  const name = own.findIndex((arg, index) => index > 0 && !arg.startsWith('-'))
  return own[0] === 'run' && name !== -1 ? own.slice(0, name + 1) : own
}

/** A command of the command line, before its file is loaded. */
interface Listed {
  readonly name: string
  /** It is for scripts alone. */
  readonly isHidden?: boolean
  /** Of the help; absent: that of the command before. */
  readonly group?: string
  /** What else people call it: suggested, never taken. */
  readonly alsoCalled?: readonly string[] | undefined
  readonly load: () => Promise<{ readonly command: ListedCommand }>
}

/** In the order of the help. */
const commands: readonly Listed[] = [
  ...rows.map((row) => ({
    name: row.id,
    alsoCalled: row.alsoCalled,
    load: async () => ({ command: (await import('./commands/setup.ts')).commandFor(row) }),
  })),
  ...environmentRows.map((row) => ({
    name: row.id,
    alsoCalled: row.alsoCalled,
    load: async () => ({
      command: (await import('./commands/gateways/by-environment.ts')).commandFor(row),
    }),
  })),
  { name: 'setup', alsoCalled: ['install'], load: () => import('./commands/setup-clients.ts') },
  {
    name: 'editor',
    alsoCalled: ['cursor', 'vscode', 'zed'],
    load: () => import('./commands/editor.ts'),
  },
  {
    name: 'use',
    group: 'Change',
    alsoCalled: ['switch'],
    load: () => import('./commands/gateways/use.ts'),
  },
  { name: 'key', alsoCalled: ['login', 'auth', 'setkey'], load: () => import('./commands/key.ts') },
  { name: 'off', alsoCalled: ['disable'], load: () => import('./commands/off.ts') },
  { name: 'folder', load: () => import('./commands/gateways/folder.ts') },
  { name: 'run', group: 'Try', load: () => import('./commands/gateways/run.ts') },
  { name: 'serve', load: () => import('./commands/serve.ts') },
  { name: 'demo', load: () => import('./commands/demo.ts') },
  {
    name: 'status',
    group: 'Look',
    alsoCalled: ['whoami', 'show', 'current'],
    load: () => import('./commands/status.ts'),
  },
  { name: 'check', load: () => import('./commands/check.ts') },
  { name: 'doctor', load: () => import('./commands/doctor.ts') },
  { name: 'models', load: () => import('./commands/models.ts') },
  { name: 'gateways', alsoCalled: ['list'], load: () => import('./commands/gateways/gateways.ts') },
  {
    name: 'rollback',
    group: 'Undo',
    alsoCalled: ['undo', 'restore', 'revert', 'reset', 'uninstall', 'unset'],
    load: () => import('./commands/rollback.ts'),
  },
  {
    name: 'forget',
    alsoCalled: ['remove', 'delete', 'logout'],
    load: () => import('./commands/forget.ts'),
  },
  { name: 'completion', group: 'Shell', load: () => import('./commands/completion/completion.ts') },
  { name: 'complete', isHidden: true, load: () => import('./commands/completion/complete.ts') },
]

async function runCommandLine(
  session: Session,
  args: readonly string[],
  ownArgs: readonly string[],
): Promise<number> {
  let status = 0
  const program = programFor(session, ownArgs)

  const addAll = async (needed: readonly Listed[]) => {
    let heading = 'Set up'
    for (const { load, group, isHidden = false } of needed) {
      const { command } = await load()
      const made = command(session, (ended) => {
        status = ended
      })
      heading = group ?? heading
      const settled = withCommonFlags(made.copyInheritedSettings(program))
      program.addCommand(settled.helpGroup(`${heading}:`), { hidden: isHidden })
    }
  }

  const isBare = ownArgs.every((arg) => arg === '--json')
  if (session.canAsk && (isBare || isSureToAsk(ownArgs))) session.platform.ask.hold()
  if (isBare) {
    const { guided } = await import('./commands/guided.ts')
    return guided(session, async () => {
      await addAll(commands)
      program.outputHelp()
    })
  }

  await addAll(neededFor(args))
  await program.parseAsync(asParsed(args), { from: 'user' })
  return status
}

/** `-v` was called `-V` at first, and commander's `help` takes no flags. */
function asParsed(args: readonly string[]): string[] {
  const [first, ...rest] = args
  if (first === '-V') return ['-v', ...rest]
  return args.filter((arg) => first !== 'help' || arg !== '--all')
}

/** A run that may have nothing to ask keeps off the terminal: it may be in the background. */
function isSureToAsk(args: readonly string[]): boolean {
  const isSetup = ['setup', 'key'].includes(args[0]!) || rows.some(({ id }) => id === args[0])
  return isSetup && !args.some((arg) => ['--yes', '--dry-run', '-h', '--help'].includes(arg))
}

/** One that is named is loaded alone; help and a misspelt name need all. */
function neededFor(args: readonly string[]): readonly Listed[] {
  const [first = ''] = args
  if (['-v', '-V', '--version'].includes(first)) return []
  // Of the words that are completed one may be a command.
  const words = first === 'complete' ? args : [first]
  const named = commands.filter(({ name }) => words.includes(name))
  return named.some(({ isHidden }) => !isHidden) ? named : commands
}

function programFor(session: Session, args: readonly string[]): CommandUnknownOpts {
  const { terminal } = session.platform
  const isWhole = args.includes('--all')

  return new Command('repoint')
    .description(
      'Points a coding client at another model gateway: tests it first, loses nothing, undoes it.',
    )
    .version(packageJson.version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help; with --all, of every command and flag')
    .helpCommand('help [command]', 'print the help of a command')
    .configureHelp(helpFor({ isWhole, columns: terminal.columns }))
    .configureOutput({
      writeOut: (text) => session.printHelp(text),
      // Errors are printed by main, in the one form that all errors have.
      writeErr: () => {},
      getOutHelpWidth: () => terminal.columns,
      getErrHelpWidth: () => terminal.columns,
      // Help is plain text; looking for colours would load Node's streams.
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride()
    .showSuggestionAfterError()
    .enablePositionalOptions()
}

/** Help, and the refusal of a key, which other flags must not swallow. */
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

/** The command, client or flag that was misspelt or is called so elsewhere; undefined: none for sure. */
function meantIn({ code, message }: CommanderError, first: string): string | undefined {
  const [typed = '', ...suggested] = message.match(/(?<=')[^']*(?=')|--[\w-]+(?=[,?])/g) ?? []
  if (code === 'commander.unknownOption') return guessName(typed, suggested)
  if (code === 'commander.invalidArgument') {
    const [, choices = ''] = /Allowed choices are (.*)\.$/.exec(message) ?? []
    const ids = choices.split(', ')
    const meant = [...rows, ...environmentRows].find(({ alsoCalled }) =>
      alsoCalled?.includes(typed),
    )
    return meant && ids.includes(meant.id) ? meant.id : guessName(typed, ids)
  }

  if (code !== 'commander.unknownCommand') return undefined
  const called = commands.find(({ alsoCalled }) => alsoCalled?.includes(first))
  const names = commands.filter(({ isHidden }) => !isHidden).map(({ name }) => name)
  return called?.name ?? guessName(first, names)
}

/** An answer is no failure. */
function showDeclined(session: Session): number {
  session.say('Nothing was changed.')
  return 0
}

function showError(
  session: Session,
  error: unknown,
  args: readonly string[],
  json = session.isJson,
): number {
  const { platform, files, undoCommand } = session
  const shown = renderError(error, {
    json,
    redact: (text) => (json ? session.redact(text) : session.forPeople(text)),
    files,
    undoCommand,
    command: commandNamed(args),
  })
  if (json) platform.terminal.out(shown.text)
  else session.printBeside(shown.text)
  return shown.exitStatus
}

/** As its documents name it. What is no command may be anything, even a key. */
function commandNamed(args: readonly string[]): string | null {
  const [first = 'setup'] = args.filter((arg) => arg !== '--json')
  return first === 'setup' || commands.some(({ name }) => name === first) ? first : null
}
