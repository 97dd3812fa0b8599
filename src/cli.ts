import {
  Command,
  CommanderError,
  type CommandUnknownOpts,
  Option,
} from '@commander-js/extra-typings'
import packageJson from '../package.json' with { type: 'json' }
import { environmentRows, rows } from './clients/list.ts'
import { asUsageError, examples, type ListedCommand, refuseKeys } from './commands/command.ts'
import { Declined, Session } from './commands/screen/session.ts'
import { exitStatus, renderError, UserError } from './errors.ts'
import type { Platform } from './platform/platform.ts'

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
  /** What else people call it: suggested, never taken. */
  readonly alsoCalled?: string
  readonly load: () => Promise<{ readonly command: ListedCommand }>
}

/** In the order of the help. */
const commands: readonly Listed[] = [
  ...rows.map((row) => ({
    name: row.id,
    load: async () => ({ command: (await import('./commands/setup.ts')).commandFor(row) }),
  })),
  ...environmentRows.map((row) => ({
    name: row.id,
    load: async () => ({
      command: (await import('./commands/gateways/by-environment.ts')).commandFor(row),
    }),
  })),
  { name: 'setup', load: () => import('./commands/setup-clients.ts') },
  { name: 'key', load: () => import('./commands/key.ts') },
  { name: 'editor', alsoCalled: 'cursor', load: () => import('./commands/editor.ts') },
  { name: 'use', load: () => import('./commands/gateways/use.ts') },
  { name: 'run', load: () => import('./commands/gateways/run.ts') },
  { name: 'gateways', load: () => import('./commands/gateways/gateways.ts') },
  { name: 'rollback', alsoCalled: 'undo', load: () => import('./commands/rollback.ts') },
  { name: 'forget', load: () => import('./commands/forget.ts') },
  { name: 'models', load: () => import('./commands/models.ts') },
  { name: 'status', load: () => import('./commands/status.ts') },
  { name: 'doctor', load: () => import('./commands/doctor.ts') },
  { name: 'serve', load: () => import('./commands/serve.ts') },
  { name: 'demo', load: () => import('./commands/demo.ts') },
  { name: 'completion', load: () => import('./commands/completion/completion.ts') },
  { name: 'complete', isHidden: true, load: () => import('./commands/completion/complete.ts') },
]

async function runCommandLine(
  session: Session,
  args: readonly string[],
  ownArgs: readonly string[],
): Promise<number> {
  let status = 0
  const program = programFor(session)
  const addAll = async (needed: readonly Listed[]) => {
    for (const { load, isHidden = false } of needed) {
      const { command } = await load()
      const made = command(session, (ended) => {
        status = ended
      })
      const settled = withCommonFlags(made.copyInheritedSettings(program))
      program.addCommand(settled, { hidden: isHidden })
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
  await program.parseAsync([...args], { from: 'user' })
  return status
}

/** A run that may have nothing to ask keeps off the terminal: it may be in the background. */
function isSureToAsk(args: readonly string[]): boolean {
  const isSetup = ['setup', 'key'].includes(args[0]!) || rows.some(({ id }) => id === args[0])
  return isSetup && !args.some((arg) => ['--yes', '--dry-run', '-h', '--help'].includes(arg))
}

/** One that is named is loaded alone; help and a misspelt name need all. */
function neededFor(args: readonly string[]): readonly Listed[] {
  const [first = ''] = args
  if (first === '-V' || first === '--version') return []
  // Of the words that are completed one may be a command.
  const words = first === 'complete' ? args : [first]
  const named = commands.filter(({ name }) => words.includes(name))
  return named.some(({ isHidden }) => !isHidden) ? named : commands
}

function programFor(session: Session): CommandUnknownOpts {
  const { terminal } = session.platform
  return (
    new Command('repoint')
      .description(
        'Points a coding client at another model gateway: proves it, loses nothing, undoes it.',
      )
      .version(packageJson.version, '-V, --version', 'print the version')
      .helpOption('-h, --help', 'print this help')
      // Columns that a description has at least; commander's 40 would overflow a narrow terminal.
      .configureHelp({ minWidthToWrap: 20 })
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
      .addHelpText(
        'after',
        examples(['repoint codex', 'repoint codex --help', 'repoint status', 'repoint rollback']),
      )
      .exitOverride()
      .showSuggestionAfterError()
      .enablePositionalOptions()
  )
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
  const meant = commands.find(
    ({ alsoCalled }) => alsoCalled !== undefined && alsoCalled === args[0],
  )
  return showError(session, asUsageError(error, args, meant?.name), args)
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
  const { platform, files, wayBack } = session
  const shown = renderError(error, {
    json,
    redact: (text) => (json ? session.redact(text) : session.forPeople(text)),
    files,
    wayBack,
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
