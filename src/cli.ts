import {
  Command,
  CommanderError,
  type CommandUnknownOpts,
  Option,
} from '@commander-js/extra-typings'
import packageJson from '../package.json' with { type: 'json' }
import { GatewayArgument } from './commands/command-line/arguments.ts'
import { refuseKeys } from './commands/command-line/command.ts'
import { helpFor } from './commands/command-line/help.ts'
import { usageError } from './commands/command-line/usage-error.ts'
import { type CommandEntry, commands } from './commands/list.ts'
import { paint, textStyleFor } from './commands/screen/drawing.ts'
import { Declined, Session } from './commands/screen/session.ts'
import { errorCodes } from './error-codes.ts'
import { renderError, UserError } from './errors.ts'
import type { Platform } from './platform/platform.ts'

/**
 * Runs one command line and returns its exit status. Catches everything that is thrown.
 *
 * @param args without the program and the script: `['codex', '--yes']`
 */
export async function main(platform: Platform, args: readonly string[]): Promise<number> {
  const line = readCommandLine(args)
  const session = new Session(platform, { isJson: line.isJson })

  const status = await runCommandLine(session, line).catch((error: unknown) => {
    if (error instanceof Declined) return showDeclined(session)
    if (!(error instanceof CommanderError)) return showError(session, error, line)
    return error.exitCode === 0 ? 0 : showError(session, usageError(error, line.ownArgs), line)
  })
  platform.ask.acceptTyping()

  // A reader that closed the pipe (`| head`) is not our failure.
  const { outFailure } = platform.terminal
  if (outFailure === undefined || outFailure === 'EPIPE') return status
  // The command has done its work; only its output is lost.
  const message = `Cannot write to standard output (${outFailure})`
  showError(session, new UserError({ code: 'io-failed', message }), line, { isJson: false })
  return status || errorCodes.internal.exitStatus
}

/** What repoint reads from the arguments before Commander parses them. */
interface CommandLine {
  /** For Commander. */
  readonly args: readonly string[]
  /** The arguments without those of another program: after `--`, and after `run NAME`. */
  readonly ownArgs: readonly string[]
  /** Errors are JSON too, even the error that a flag is wrong. */
  readonly isJson: boolean
  /** Without any argument but `--json`, repoint asks for everything. */
  readonly isGuided: boolean
  /** The help shows every command and flag. */
  readonly isHelpWhole: boolean
  /** Whether the file of a command is loaded. Of the others, only the name and the summary are known. */
  readonly needs: (entry: CommandEntry) => boolean
}

function readCommandLine(typed: readonly string[]): CommandLine {
  // A `--` before the command changes nothing.
  const command = typed.findIndex((arg) => !arg.startsWith('-'))
  const isAfterCommand = (index: number) => command !== -1 && index > command
  const args = typed.filter((arg, index) => arg !== '--' || isAfterCommand(index))
  const [first, ...otherArgs] = args
  const ownArgs = withoutForeignCommand(args)
  const isHelp = first === 'help' || ownArgs.includes('-h') || ownArgs.includes('--help')
  const isHelpWhole = isHelp && ownArgs.includes('--all')
  // After its `--`, `complete` gets the words of a command line of repoint.
  const words = first === 'complete' ? args : ownArgs

  let forCommander = args
  // In the first versions, the name of `-v` was `-V`. Commander's `help` accepts no flags.
  if (first === '-V') forCommander = ['-v', ...otherArgs]
  if (first === 'help') forCommander = args.filter((arg) => arg !== '--all')

  return {
    args: forCommander,
    ownArgs,
    isJson: ownArgs.includes('--json'),
    isGuided: ownArgs.every((arg) => arg === '--json'),
    isHelpWhole,
    needs: ({ name }) => isHelpWhole || words.includes(name),
  }
}

function withoutForeignCommand(args: readonly string[]): readonly string[] {
  const ownArgs = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
  const name = ownArgs.findIndex((arg, index) => index > 0 && !arg.startsWith('-'))
  return ownArgs[0] === 'run' && name !== -1 ? ownArgs.slice(0, name + 1) : ownArgs
}

async function runCommandLine(session: Session, line: CommandLine): Promise<number> {
  let status = 0
  const program = programFor(session, line)

  for (const entry of commands) {
    const { name, summary, group, isHidden = false } = entry
    const command = line.needs(entry)
      ? (await entry.load()).command(session, (exitStatus) => {
          status = exitStatus
        })
      : new Command(name)
    if (command.description() === '') command.description(summary)
    withCommonFlags(command.copyInheritedSettings(program), session, line, entry)
    command.summary(summary).helpGroup(`${group}:`)
    program.addCommand(command, { hidden: isHidden })
  }

  if (line.isGuided) {
    if (session.canAsk) session.platform.ask.discardTyping()
    const { guided } = await import('./commands/guided.ts')
    return guided(session, () => program.outputHelp())
  }

  await program.parseAsync(line.args, { from: 'user' })
  return status
}

function programFor(session: Session, { isHelpWhole }: CommandLine): CommandUnknownOpts {
  const { terminal } = session.platform

  return new Command('repoint')
    .description('Points coding clients at another model gateway. Tests it first; can undo it.')
    .version(packageJson.version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help; with --all, of every command and flag')
    .helpCommand('help [command]', 'print the help of a command')
    .configureHelp(helpFor({ isWhole: isHelpWhole, columns: terminal.columns }))
    .configureOutput({
      writeOut: (text) => printHelp(session.platform, text),
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

/** Help has no colours, because its flags start like the removed lines of a diff. */
function printHelp({ terminal, machine }: Platform, text: string): void {
  const style = textStyleFor(machine.env, terminal.stdoutIsTerminal)
  terminal.out(paint(text, { ...style, hasColour: false }))
}

/** Adds help, and rejects a key before other flags can swallow it. */
function withCommonFlags(
  command: CommandUnknownOpts,
  session: Session,
  line: CommandLine,
  { asksFirst }: CommandEntry,
): void {
  const { platform, canAsk } = session
  command
    .helpOption('-h, --help', 'print this help')
    .addOption(new Option('--key [key]').hideHelp())
    .addOption(new Option('--api-key [key]').hideHelp())
    .hook('preAction', (_, { options, registeredArguments, args }) => {
      refuseKeys(command)
      const gateway = registeredArguments.findIndex((one) => one instanceof GatewayArgument)
      session.typed = {
        args: line.ownArgs,
        flags: options.flatMap(({ long }) => long ?? []),
        address: args[gateway],
        startsProgram: line.ownArgs.length < line.args.length,
      }
      const { yes, dryRun } = command.opts()
      // Otherwise the terminal is left alone: the command may run in the background.
      if (asksFirst && canAsk && !yes && !dryRun) platform.ask.discardTyping()
    })
}

/** The user said no, which is not a failure. */
function showDeclined(session: Session): number {
  session.say('Nothing changed.')
  return 0
}

function showError(
  session: Session,
  error: unknown,
  line: CommandLine,
  { isJson }: { readonly isJson: boolean } = session,
): number {
  const { platform, filesState, undoCommand } = session
  const isHinted = error instanceof UserError && error.hint !== undefined
  const complete = isHinted ? error.with({ hint: session.completeHint(error.hint) }) : error
  const shown = renderError(complete, {
    json: isJson,
    redact: (text) => (isJson ? session.redact(text) : session.forPeople(text)),
    filesState,
    undoCommand,
    command: commandNamed(line.ownArgs),
  })
  if (isJson) platform.terminal.out(shown.text)
  else {
    session.showFindings()
    session.printToStderr(shown.text)
  }
  return shown.exitStatus
}

/** The command's name for JSON documents. Any other word can be anything, even a key: returns null. */
function commandNamed(args: readonly string[]): string | null {
  const [first = 'setup'] = args.filter((arg) => arg !== '--json')
  return commands.some(({ name }) => name === first) ? first : null
}
