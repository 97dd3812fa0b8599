import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import type { Client } from '../clients/contract/client.ts'
import type { ProcessToStart } from '../clients/contract/program.ts'
import { loadAllClients } from '../clients/list.ts'
import { protocolOf } from '../clients/models/protocols.ts'
import { compact } from '../compact.ts'
import { UserError } from '../errors.ts'
import { GatewayRequester } from '../gateway/gateway-requester.ts'
import type { GatewayAccess } from '../gateway/types.ts'
import type { Platform } from '../platform/platform.ts'
import type { SavedFolder } from '../state/folders.ts'
import type { SavedGateway } from '../state/gateway-list.ts'
import {
  findGatewayName,
  noGatewayHint,
  savedGateway,
  savedGateways,
} from '../state/saved-gateways.ts'
import { listWords } from '../text.ts'
import { stateNow } from './client-state/client-files.ts'
import { installedVersions } from './client-state/program/installed-program.ts'
import { newTempPath, withTempFiles } from './client-state/program/temp-folder.ts'
import { recoverAndReport } from './client-state/recorded-runs.ts'
import { ForeignArgument, GatewayArgument } from './command-line/arguments.ts'
import { commandOf, examples, otherWays, refuseKeys } from './command-line/command.ts'
import { type GatewayFlags, gatewayCommand, modelId } from './command-line/flags.ts'
import { accessToSaved } from './find-gateway/access.ts'
import { findGateway } from './find-gateway/find-gateway.ts'
import { folderHere, gatewayOfFolder, shownFolder } from './find-gateway/folder-gateway.ts'
import type { Launch } from './resolve/point-client.ts'
import { confirmFolders } from './run/confirm-folders.ts'
import {
  clientsCalled,
  exitStatusOf,
  gatewayEnv,
  type LaunchRequest,
  pointProgram,
  readList,
} from './run/launch.ts'
import type { Session } from './screen/session.ts'

function define() {
  return gatewayCommand('run')
    .description('run one command, or a shell, with a gateway; changes no file')
    .addArgument(
      new GatewayArgument(
        '[name]',
        'a saved gateway; without it: --base-url, or the gateway of the folder',
      ),
    )
    .addArgument(new ForeignArgument('[command...]', 'what to run; without it: a shell'))
    .passThroughOptions()
    .option('--model <id>', 'the model (default: the model that the client has)', modelId)
    .option('--no-verify', 'do not test the gateway first')
    .option('--by-folder', 'without a gateway for this folder, run the command unchanged')
    .addHelpText('after', otherWays('run'))
    .addHelpText(
      'after',
      examples([
        'repoint run work -- codex',
        'repoint run work --model gpt-5.4 -- codex',
        'repoint run work',
        'repoint run -- codex',
        'repoint run --base-url https://gw.example --key-env KEY -- codex',
      ]),
    )
}

/** Launches the program, or a shell if the user typed none, and returns its exit status. */
export const command = commandOf(define, async (session, _word, _moreWords, _flags, self) => {
  const { name, program: typed } = readWords(self)
  refuseKeys(self)

  const flags = self.opts()
  const { model, verify, timeout, byFolder, baseUrl } = flags
  const folder = (name ?? baseUrl) === undefined ? folderHere(session) : undefined
  if (byFolder && folder === undefined && typed.length > 0) return launchUnchanged(session, typed)

  const isShell = typed.length === 0
  const program = isShell ? shellOf(session) : typed
  const clients = await loadAllClients()
  const called = clientsCalled(session, clients, program[0]!)

  const saved =
    baseUrl === undefined ? findSaved(session, { name, folder, client: called[0] }) : undefined
  const gateway: GatewayToUse = saved
    ? { access: accessToSaved(session, saved, timeout * 1000), saved }
    : { access: await findUnsaved(session, flags) }

  // The clients that the process is, or that the user may start in the shell.
  const clientsToCheck = isShell ? firstInstalled(session, clients) : called.slice(0, 1)

  const { platform } = session
  const process = processFor(platform, program, gateway.access)
  await confirmFolders(session, gateway.access, clientsToCheck, process.args, { isShell })
  const versions = await installedVersions(session, clientsToCheck)
  const requester = new GatewayRequester(gateway.access)
  const list = verify ? undefined : ({ kind: 'not-requested' } as const)
  const request = { requester, list, process, model, saved, versions }
  const launch = isShell
    ? pointShell(session, clients, request)
    : pointProgram(session, called, request)
  const { args, env, files, summary, access } = await launch
  await requester.hangUp()

  session.showFindings()
  const notes = [summary, folder && describeFolder(session, folder, called[0])].filter(Boolean)
  if (notes.length > 0) session.remark(`note: ${notes.join('. ')}`)
  if (isShell || called.length === 0) noteUnsetHeaders(session, access)
  platform.ask.acceptTyping()

  const result = await withTempFiles(platform, process.tempFolder, files, () =>
    platform.runInForeground(program[0]!, args, { env }),
  )
  return exitStatusOf(result, program[0]!, 'Check the spelling of the command.')
})

/** The gateway of a launch. `saved` is absent for a gateway that flags name. */
interface GatewayToUse {
  readonly access: GatewayAccess
  readonly saved?: SavedGateway
}

/** The process to start, before it points at the gateway. */
function processFor(
  platform: Platform,
  program: readonly string[],
  { caFile }: GatewayAccess,
): ProcessToStart {
  return {
    args: program.slice(1),
    // Node adds these to its own certificate authorities, and many terminal programs run on Node. Clients
    // get their own variables.
    env: { ...platform.machine.env, ...compact({ NODE_EXTRA_CA_CERTS: caFile }) },
    tempFolder: newTempPath(platform),
  }
}

/** The saved gateway that the user named, or else that of this folder, that in the client's files, or the only one. */
function findSaved(
  session: Session,
  {
    name,
    folder,
    client,
  }: {
    readonly name: string | undefined
    readonly folder: SavedFolder | undefined
    readonly client: Client | undefined
  },
): SavedGateway {
  recoverAndReport(session)
  if (name !== undefined) return savedGateway(session, name)
  if (folder !== undefined) return gatewayOfFolder(session, folder)

  const all = savedGateways(session)
  const inFiles = client && gatewayInFiles(session, client)
  const ofClient = all.find((saved) => saved.name === inFiles)
  if (ofClient !== undefined) return ofClient
  if (all.length === 1) return all[0]!
  const program = client?.program.command ?? 'COMMAND'
  if (all.length === 0)
    throw new UserError({
      code: 'usage',
      message: 'No gateway is saved yet',
      hint: `${noGatewayHint}. Or for one start: repoint run --base-url URL -- ${program}`,
    })
  const commands = all.map(({ name: saved }) => `repoint run ${saved} -- ${program}`)
  throw new UserError({
    code: 'usage',
    message: 'Which gateway? Neither this folder nor the client has a saved one',
    hint: `Name one: ${listWords(commands.slice(0, 3), 'or')}. For this folder: repoint folder ${all[0]!.name}`,
  })
}

/** Launches the program of a shell's hook as it is, because no remembered folder contains this one. */
async function launchUnchanged(
  { platform }: Session,
  [program = '', ...args]: readonly string[],
): Promise<number> {
  platform.ask.acceptTyping()
  const result = await platform.runInForeground(program, args, { env: platform.machine.env })
  return exitStatusOf(result, program, 'Check its name.')
}

/**
 * Names the folder's gateway, and the gateway in the client's own files if that is another one. The folder
 * decides: code in a customer's folder must use that customer's gateway.
 */
function describeFolder(session: Session, folder: SavedFolder, client: Client | undefined): string {
  const text = `Folder ${shownFolder(session, folder)} uses gateway ${folder.gateway}`
  if (client === undefined) return text

  const inFiles =
    gatewayInFiles(session, client) ??
    stateNow(session, client).endpoint.baseUrl ??
    'its own service'
  return inFiles === folder.gateway ? text : `${text}. ${client.label}'s files say ${inFiles}`
}

/** The gateway that the flags name for this one process. repoint writes no files and saves nothing. */
async function findUnsaved(session: Session, flags: GatewayFlags): Promise<GatewayAccess> {
  const { access, findings } = await findGateway(session, flags)
  session.addFindings(...findings)
  return access
}

/** Names the headers that no variable can set in a program that is not one of our clients. */
function noteUnsetHeaders(
  session: Session,
  { headers = [], query = [], keyHeader }: GatewayAccess,
): void {
  const names = [
    ...[...headers, ...query].map(({ name }) => name),
    ...(keyHeader === 'authorization' ? [] : [keyHeader]),
  ]
  if (names.length > 0)
    session.remark(
      `note: Other programs do not get ${names.join(', ')} of this gateway: no variable exists for it.`,
    )
}

/** The name of the saved gateway that the client's own files say. */
function gatewayInFiles(session: Session, client: Client): string | undefined {
  const { endpoint, options } = stateNow(session, client)
  return findGatewayName(session, protocolOf(client, options), endpoint)
}

/** The words without repoint's flags. */
export interface RunWords {
  /** The name of a saved gateway. */
  readonly name: string | undefined
  /** The program and its arguments. Empty: a shell. */
  readonly program: readonly string[]
}

/**
 * Which words of `repoint run` are repoint's, and which are the program's?
 *
 *     after `repoint run`                gateway          program
 *     work -- codex exec                 work             codex exec
 *     work codex exec                    work             codex exec
 *     work --model gpt-5.4 -- codex      work             codex
 *     work                               work             a shell
 *     -- codex exec                      of the folder    codex exec
 *     --base-url URL -- codex exec       at URL           codex exec
 *     --base-url URL                     at URL           a shell
 *
 * A dash before the program starts a flag of repoint, also after the name. All words after the program are the
 * program's, whatever they start with. Commander stops at the first word that is no flag, so this also parses the
 * flags after the name. Afterwards `self.opts()` has all flags.
 */
export function readWords(self: CommandUnknownOpts): RunWords {
  const hasName = self.opts()['baseUrl'] === undefined && !startsWithDashes(self)
  if (!hasName) return { name: undefined, program: self.args }
  const [name, ...moreWords] = self.args
  return { name, program: programAfterName(self, moreWords) }
}

/**
 * Whether no name is before the `--`. Commander drops a `--` before the first word of the command, whose words are
 * the last ones of its parent. So it is the word before them there:
 *
 *                                  self.parent.args               self.args
 *     repoint run -- codex exec    run, --, codex, exec           codex, exec
 *     repoint run work -- codex    run, work, --, codex           work, --, codex
 */
function startsWithDashes(self: CommandUnknownOpts): boolean {
  const allWords = self.parent!.args
  return allWords.at(-self.args.length - 1) === '--'
}

/** @throws UserError `usage` if the flags name another gateway */
function programAfterName(self: CommandUnknownOpts, words: readonly string[]): readonly string[] {
  const { operands, unknown } = self.parseOptions([...words])
  refuseUnknownFlag(self, unknown)
  if (self.opts()['baseUrl'] !== undefined)
    throw new UserError({
      code: 'usage',
      message: 'The command names a saved gateway and --base-url',
      hint: 'Use one of them: repoint run NAME -- COMMAND, or repoint run --base-url URL -- COMMAND',
    })
  return [...unknown, ...operands]
}

/** Rejects flags that repoint does not have. Prints help for `--help`. */
function refuseUnknownFlag(self: CommandUnknownOpts, [first]: readonly string[]): void {
  if (first === '-h' || first === '--help') self.help()
  if (first?.startsWith('-')) self.error(`error: unknown option '${first}'`)
}

/** The first installed client for each program that a shell could start. */
function firstInstalled(session: Session, clients: readonly Client[]): readonly Client[] {
  return installedPrograms(session, clients).flatMap((program) =>
    clientsCalled(session, clients, program).slice(0, 1),
  )
}

/** The program of the user's shell. */
function shellOf({ platform }: Session): readonly [string] {
  const { env, os } = platform.machine
  return os === 'win32' ? [env['ComSpec'] || 'cmd.exe'] : [env['SHELL'] || '/bin/sh']
}

/**
 * Starts a shell with the usual variables and those of every client that needs no arguments. The other
 * clients would use their own files, and repoint reports that.
 */
async function pointShell(
  session: Session,
  clients: readonly Client[],
  request: LaunchRequest,
): Promise<Launch> {
  const list = request.list ?? (await readList(session, request.requester))
  let { process } = request
  let { access } = request.requester
  let files: Launch['files'] = {}
  const needArguments: string[] = []
  for (const program of installedPrograms(session, clients)) {
    try {
      const called = clientsCalled(session, clients, program)
      const launch = await pointProgram(session, called, { ...request, list, process })
      access = launch.access

      if (launch.args.length > 0) needArguments.push(program)
      else {
        process = { ...process, env: launch.env }
        files = { ...files, ...launch.files }
      }
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      session.remark(`note: ${program} cannot use this gateway: ${error.message}`)
    }
  }

  const { name, address } = access
  const gateway = name === undefined ? address : `${name} (${address})`
  session.remark(`A shell that uses ${gateway}. To leave it: exit`)
  const gatewayFlags = name ?? `--base-url ${address} --key-env NAME`
  for (const program of needArguments)
    session.remark(
      `note: ${program} ignores these variables. Start it with: repoint run ${gatewayFlags} -- ${program}`,
    )
  return { args: process.args, env: gatewayEnv(access, process.env), files, access }
}

function installedPrograms({ platform }: Session, clients: readonly Client[]): readonly string[] {
  const programs = [...new Set(clients.map(({ program }) => program.command))]
  return programs.filter((program) => platform.processes.which(program) !== undefined)
}
