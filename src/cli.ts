import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import type { ClientFlag, SetupOptions } from './clients/client.ts'
import { rowOf, rows } from './clients/list.ts'
import type { Shell } from './commands/completion.ts'
import type { GatewayOptions } from './commands/credentials.ts'
import { Session } from './commands/screen/session.ts'
import { exitStatus, renderError, UserError } from './errors.ts'
import type { Platform } from './platform/platform.ts'

/**
 * Runs one command line and returns its exit status. Everything that is thrown ends here.
 *
 * @param args without the program and the script: `['codex', '--yes']`
 */
export async function main(platform: Platform, args: readonly string[]): Promise<number> {
  const ownArgs = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
  const isJson = ownArgs.includes('--json')
  const session = new Session(platform, { isJson })
  if (session.canAsk && asking.has(ownArgs[0] ?? '')) platform.ask.hold()
  const status = await run(session, args, ownArgs)
  platform.ask.release()

  // A reader that has gone away (`| head`) is no failure of ours.
  const { outFailure } = platform.terminal
  if (outFailure === undefined || outFailure === 'EPIPE') return status
  session.printBeside(
    shownError(
      session,
      new UserError({
        code: 'io-failed',
        message: `Standard output cannot be written (${outFailure})`,
      }),
      { json: false },
    ).text,
  )
  return status || exitStatus.internal
}

async function run(
  session: Session,
  args: readonly string[],
  ownArgs: readonly string[],
): Promise<number> {
  let status = 0
  try {
    const program = commandLine(session, (result) => {
      status = result
    })
    if (ownArgs.every((arg) => arg === '--json')) {
      const { guided } = await import('./commands/guided.ts')
      return await guided(session, () => program.outputHelp())
    }
    await program.parseAsync([...args], { from: 'user' })
    return status
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    const { isJson, platform } = session
    const thrown = error instanceof CommanderError ? asUsageError(error, ownArgs) : error
    const shown = shownError(session, thrown, { json: isJson })
    if (isJson) platform.terminal.out(shown.text)
    else session.printBeside(shown.text)
    return shown.exitStatus
  }
}

function shownError(session: Session, thrown: unknown, { json }: { json: boolean }) {
  return renderError(thrown, {
    json,
    redact: (text) => (json ? session.redact(text) : session.forPeople(text)),
    files: session.files,
  })
}

/** Every command, flag and help line. `finish` takes the exit status of the command that ran. */
export function commandLine(session: Session, finish: (status: number) => void): Command {
  const { terminal } = session.platform
  const program = new Command('repoint')
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

  for (const { id, description, examples: lines, flags: own } of rows) {
    const command = program.command(id).description(description)
    withGatewayFlags(command)
    for (const flag of own) command.addOption(asOption(flag))
    withSetupFlags(command)
    command.addHelpText('after', examples(lines))
    command.action(async (flags: SetupFlags) => {
      const { setup } = await import('./commands/setup.ts')
      finish(
        await setup(session, {
          command: id,
          clients: [id],
          gateway: gatewayOptions(flags),
          options: setupOptions(own, command.opts()),
          isDryRun: flags.dryRun === true,
          yes: flags.yes === true,
          verify: flags.verify,
          tryClient: flags.tryClient === true,
        }),
      )
    })
  }

  withGatewayFlags(program.command('editor'))
    .description('check the key and print what goes into the settings of the editor Cursor')
    .option('--model <id>', 'the model to enter')
    .option('--json', 'print one JSON document')
    .addHelpText('after', newestGateway)
    .addHelpText('after', examples(['repoint editor', 'repoint editor --json --key-stdin < key']))
    .action(async (flags: GatewayFlags & { model?: string }) => {
      const { editor } = await import('./commands/editor.ts')
      finish(await editor(session, gatewayOptions(flags), flags.model))
    })

  program
    .command('rollback')
    .description('undo the newest run, or the newest of one client')
    .addArgument(new Argument('[client]', 'whose newest run').choices(clientIds))
    .option('--list', 'list the recorded runs, newest first')
    .option('--run <id>', 'go back to before this run, and so to before newer runs of its files')
    .addOption(
      new Option('--original', 'go back to before the first run: your own files').conflicts('run'),
    )
    .option('--force', 'put the old contents back, whatever was changed since')
    .option('--dry-run', 'show what would be undone')
    .option('--yes', 'accept everything that would be asked')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(['repoint rollback', 'repoint rollback codex --dry-run', 'repoint rollback --list']),
    )
    .action(async (client: string | undefined, flags: RollbackFlags) => {
      const { rollback } = await import('./commands/rollback.ts')
      finish(
        await rollback(session, {
          client,
          run: flags.run,
          original: flags.original === true,
          force: flags.force === true,
          list: flags.list === true,
          isDryRun: flags.dryRun === true,
          yes: flags.yes === true,
        }),
      )
    })

  withGatewayFlags(program.command('models'))
    .description('list the gateway’s models, and what repoint would choose them for')
    .option('--json', 'print one JSON document')
    .addHelpText('after', newestGateway)
    .addHelpText('after', examples(['repoint models', 'repoint models --json --key-env MY_KEY']))
    .action(async (flags: GatewayFlags) => {
      const { models } = await import('./commands/models.ts')
      finish(await models(session, gatewayOptions(flags)))
    })

  program
    .command('status')
    .description('show what each client believes now, and what overrides it')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples(['repoint status', 'repoint status --json']))
    .action(async () => {
      const { status } = await import('./commands/status.ts')
      finish(await status(session))
    })

  program
    .command('doctor')
    .description('status plus live checks, each with its cure')
    .addArgument(new Argument('[client]', 'only this client').choices(clientIds))
    .option('--fix', 'carry out the safe cures, as one run that rollback undoes')
    .option('--yes', 'with --fix: also cures that take something of yours out of use')
    .option('--no-verify', 'leave the network alone')
    .option('--ca-file <path>', 'trust the certificate authorities in this PEM file too')
    .addOption(timeoutOption())
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples(['repoint doctor', 'repoint doctor codex --fix']))
    .action(async (client: string | undefined, flags: DoctorFlags) => {
      const { doctor } = await import('./commands/doctor.ts')
      finish(
        await doctor(session, {
          client: client && rowOf(client).family,
          fix: flags.fix === true,
          yes: flags.yes === true,
          verify: flags.verify,
          timeoutSeconds: flags.timeout,
          caFile: flags.caFile,
        }),
      )
    })

  program
    .command('serve')
    .description('run the local gateway, or a command with its environment pointed at it')
    .argument('[command...]', 'after --: runs it beside the gateway and exits with its status')
    .addOption(
      new Option('--port <number>', 'port to listen on; 0 takes any free one')
        .default(0)
        .argParser(portNumber),
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--key-file <path>', 'accept the key in this file')
    .option(
      '--key-env <name>',
      'accept the key in this variable (default: REPOINT_API_KEY, else a new key)',
    )
    .option('--models <file>', 'serve this catalog (JSON or YAML)')
    .option('--scenario <file>', 'answer as this file says (JSON or YAML)')
    .addOption(
      new Option('--fault <fault>', 'let something go wrong: rate-limited,every=3 (repeatable)')
        .default([], 'none')
        .argParser((fault: string, earlier: string[]) => [...earlier, fault]),
    )
    .option('--log', 'print a line for each request, on standard error')
    .option(
      '--upstream <url>',
      'pass requests on to this gateway, with the key in REPOINT_UPSTREAM_KEY',
    )
    .option('--allow-http', 'allow plain http to another machine')
    .option('--json', 'print one line of JSON as soon as it listens')
    .addHelpText(
      'after',
      examples([
        'repoint serve --port 8787 --log',
        'repoint serve --scenario answers.yaml --fault overloaded,every=5',
        'repoint serve -- npm test',
      ]),
    )
    .action(async (command: string[], flags: ServeFlags) => {
      const { serveCommand } = await import('./commands/serve.ts')
      const { fault, json, ...rest } = flags
      finish(
        await serveCommand(session.platform, {
          ...rest,
          faults: fault,
          log: flags.log === true,
          allowHttp: flags.allowHttp === true,
          isJson: json === true,
          command,
        }),
      )
    })

  program
    .command('demo')
    .description(
      'show all of it in a throwaway home against the local gateway, touching nothing of yours',
    )
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples(['repoint demo']))
    .action(async () => {
      const { demo } = await import('./commands/demo.ts')
      finish(await demo(session))
    })

  program
    .command('completion')
    .description('print the script that completes repoint in a shell')
    .addArgument(new Argument('<shell>', 'for this shell').choices(shells))
    .addHelpText(
      'after',
      examples([
        'source <(repoint completion bash)',
        'source <(repoint completion zsh)',
        'repoint completion fish | source',
        'repoint completion powershell | Out-String | Invoke-Expression',
      ]),
    )
    .action(async (shell: Shell) => {
      const { completion } = await import('./commands/completion.ts')
      finish(completion(session, program, shell))
    })

  program
    .command('remembered-models', { hidden: true })
    .description('the models of the last catalog, for the shell’s completion')
    .action(async () => {
      const { printRememberedModels } = await import('./commands/completion.ts')
      finish(printRememberedModels(session))
    })

  for (const command of program.commands)
    command
      .helpOption('-h, --help', 'print this help')
      .addOption(new Option('--key [key]').hideHelp())
      .addOption(new Option('--api-key [key]').hideHelp())
      .hook('preAction', () => {
        const { key, apiKey } = command.opts<{ key?: unknown; apiKey?: unknown }>()
        if (key !== undefined || apiKey !== undefined) throw keyOnCommandLine()
      })
  return program
}

/** The commands that may ask for an address or a key. */
const asking = new Set(['', ...rows.map(({ id }) => id), 'editor', 'models'])

const clientIds = rows.map(({ id }) => id)
const shells: readonly Shell[] = ['bash', 'zsh', 'fish', 'powershell']

interface GatewayFlags {
  baseUrl?: string
  keyStdin?: true
  keyFile?: string
  keyEnv?: string
  allowHttp?: true
  caFile?: string
  timeout: number
}

interface SetupFlags extends GatewayFlags {
  dryRun?: true
  yes?: true
  verify: boolean
  tryClient?: true
}

interface ServeFlags {
  port: number
  host: string
  keyFile?: string
  keyEnv?: string
  models?: string
  scenario?: string
  fault: string[]
  log?: true
  upstream?: string
  allowHttp?: true
  json?: true
}

interface DoctorFlags {
  fix?: true
  yes?: true
  verify: boolean
  timeout: number
  caFile?: string
}

interface RollbackFlags {
  original?: true
  force?: true
  list?: true
  run?: string
  dryRun?: true
  yes?: true
}

function withGatewayFlags(command: Command): Command {
  return command
    .option('--base-url <url>', 'address of the gateway (or REPOINT_BASE_URL)')
    .option('--key-stdin', 'read the key from standard input')
    .option('--key-file <path>', 'read the key from a file')
    .option('--key-env <name>', 'read the key from this environment variable')
    .option('--allow-http', 'allow plain http to another machine')
    .option('--ca-file <path>', 'trust the certificate authorities in this PEM file too')
    .addOption(timeoutOption())
}

function timeoutOption(): Option {
  return new Option('--timeout <seconds>', 'longest wait for one answer')
    .default(30)
    .argParser(positive('seconds'))
}

function asOption({ flag, help, choices, default: usual, takes }: ClientFlag): Option {
  const option = new Option(flag, help)
  if (choices !== undefined) option.choices(choices)
  if (usual !== undefined) option.default(usual)
  return takes === undefined ? option : option.argParser(positiveInteger(takes))
}

function withSetupFlags(command: Command): Command {
  return command
    .option('--dry-run', 'prove and show everything, change nothing')
    .option('--yes', 'accept everything that would be asked')
    .option('--no-verify', 'leave the network alone')
    .option('--try-client', 'also run the real client once')
    .option('--json', 'print one JSON document')
}

function gatewayOptions(flags: GatewayFlags): GatewayOptions {
  return {
    baseUrl: flags.baseUrl,
    keyStdin: flags.keyStdin,
    keyFile: flags.keyFile,
    keyEnv: flags.keyEnv,
    allowHttp: flags.allowHttp,
    caFile: flags.caFile,
    timeoutSeconds: flags.timeout,
  }
}

/** What the given flags of a client say together. */
function setupOptions(
  flags: readonly ClientFlag[],
  values: Readonly<Record<string, string | number | boolean | undefined>>,
): SetupOptions {
  const said = flags.flatMap((flag): SetupOptions[] => {
    const value = values[asOption(flag).attributeName()]
    return value === undefined ? [] : [flag.means(value)]
  })
  const slotModels = Object.assign({}, ...said.map((one) => one.slotModels))
  return Object.assign({}, ...said, { slotModels })
}

/** A key in the arguments is refused before anything is done with it. */
function keyOnCommandLine(): UserError {
  return new UserError({
    code: 'usage',
    message:
      'A key on the command line is not accepted: other users see it in the process list, and it stays in the shell history',
    hint: 'Use --key-stdin, --key-file PATH, --key-env NAME, or REPOINT_API_KEY.',
  })
}

function positive(unit: string): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!(value > 0 && value <= 86_400))
      throw new InvalidArgumentError(`It takes a number of ${unit} above 0, up to 86400.`)
    return value
  }
}

function positiveInteger(unit: string): (text: string) => number {
  return (text) => {
    if (!/^[1-9]\d{0,9}$/.test(text))
      throw new InvalidArgumentError(`It takes a number of ${unit}.`)
    return Number(text)
  }
}

function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('It takes a port number, 0 to 65535.')
  return Number(text)
}

/** Below the flags of a command that only asks. */
const newestGateway = '\nThe address and key of the newest setup, unless one of the two is named.'

function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`
}

/** What commander says, without the values of options, which may be secrets. */
function asUsageError(error: CommanderError, args: readonly string[]): UserError {
  const [command = '', ...rest] = args
  const words = rest.filter((arg) => !arg.startsWith('-'))
  const isExcess = error.code === 'commander.excessArguments'
  if (isExcess && words.some(looksLikeKey)) return keyOnCommandLine()
  const isCommand = error.code !== 'commander.unknownCommand' && /^[a-z]/.test(command)
  const help = `See: repoint ${isCommand ? `${command} ` : ''}--help`
  if (error.code === 'commander.help')
    return new UserError({
      code: 'usage',
      message: words[0] === undefined ? '`help` takes a command' : `Unknown command '${words[0]}'`,
      hint: 'See: repoint --help',
    })
  const [message = '', ...suggestion] = error.message
    .replace(/^error: /, '')
    .replace(/(--?[\w-]+)=[^']*/g, '$1')
    .split('\n')
  const isAddress =
    isExcess && !args.includes('--base-url') && words.some((word) => /^https?:\/\//i.test(word))
  return new UserError({
    code: 'usage',
    message: message.charAt(0).toUpperCase() + message.slice(1),
    hint: isAddress
      ? 'The address belongs behind --base-url.'
      : suggestion.join(' ').replace(/^\((.*)\)$/, '$1') || help,
  })
}

function looksLikeKey(text: string): boolean {
  return /^sk-/.test(text) || /^(?=.*\d)[\w-]{24,}$/.test(text)
}
