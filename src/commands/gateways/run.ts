import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { type Client, emptyState, type ProcessToStart, protocolOf } from '../../clients/client.ts'
import { loadPrograms } from '../../clients/list.ts'
import { compact } from '../../compact.ts'
import { UserError } from '../../errors.ts'
import { catalogOrError, mayStillServe } from '../../gateway/catalog.ts'
import type { Catalog, GatewayAccess } from '../../gateway/types.ts'
import { findGatewayName, savedGateway } from '../../state/find-gateways.ts'
import type { SavedFolder } from '../../state/folders.ts'
import type { SavedGateway } from '../../state/gateways.ts'
import { stateNow } from '../client-state/files.ts'
import { settleInterruptedRun } from '../client-state/history.ts'
import type { PointedRun } from '../client-state/point-client.ts'
import { installedVersions } from '../client-state/program.ts'
import { newFolder, withFiles } from '../client-state/temp-folder.ts'
import {
  commandOf,
  examples,
  ForeignArgument,
  GatewayArgument,
  type GatewayFlags,
  gatewayCommand,
  modelId,
  refuseKeys,
} from '../command.ts'
import { findGateway } from '../find-gateway.ts'
import type { Session } from '../screen/session.ts'
import { folderHere, gatewayOfFolder, shownFolder } from './by-folder.ts'
import {
  clientsCalled,
  gatewayEnv,
  lookAtFolder,
  pointProgram,
  statusOf,
  type Target,
} from './one-run.ts'
import { accessToSaved, withCureFor } from './saved.ts'

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

/** Runs the command, or a shell if there is none, and returns its exit status. */
export const command = commandOf(define, async (session, name, behind, flags, self) => {
  const isBare = flags.baseUrl !== undefined || isCommandBare(self)
  const given = isBare ? (name === undefined ? [] : [name, ...behind]) : commandBehind(self, behind)
  const named = isBare ? undefined : name
  refuseKeys(self)

  const { model, verify, timeout, byFolder, baseUrl } = self.opts()
  const folder = (named ?? baseUrl) === undefined ? folderHere(session) : undefined
  const [asItIs] = byFolder && folder === undefined ? given : []
  if (asItIs !== undefined) return runAsItIs(session, asItIs, given.slice(1))

  const { platform } = session
  const { access, saved } =
    baseUrl === undefined
      ? await remembered(session, folder ?? named, timeout)
      : { access: await unremembered(session, flags), saved: undefined }

  const isShell = given.length === 0
  const program = isShell ? shellOf(session) : given
  const asked: ProcessToStart = {
    args: program.slice(1),
    // Node adds these to its own certificate authorities, and many terminal programs run on Node. Clients
    // get their own variables.
    env: { ...platform.machine.env, ...compact({ NODE_EXTRA_CA_CERTS: access.caFile }) },
    tempFolder: newFolder(platform),
  }

  const clients = await loadPrograms()
  const called = clientsCalled(session, clients, program[0]!)
  const installed = isShell ? firstInstalled(session, clients) : called.slice(0, 1)
  await lookAtFolder(session, access, installed, asked.args)
  const [catalog, versions] = await Promise.all([
    verify ? catalogOf(session, access, saved) : undefined,
    installedVersions(session, installed),
  ])

  const target: Target = {
    access,
    catalog,
    asked,
    model,
    proven: saved?.proven,
    answersSafeguards: saved?.proven?.answersSafeguards,
    versions,
    mayAsk: verify ? (saved ?? 'unremembered') : undefined,
  }
  const { args, env, files, summary } = isShell
    ? await pointShell(session, clients, target)
    : await pointProgram(session, called, target)

  session.showFindings('note')
  const lines = [summary, folder && saidBy(session, folder, called[0])].filter(Boolean)
  if (lines.length > 0) session.remark(`note: ${lines.join('. ')}`)
  if (isShell || called.length === 0) noteUnsaid(session, access)
  platform.ask.release()

  const result = await withFiles(platform, asked.tempFolder, files, () =>
    platform.runInForeground(program[0]!, args, { env }),
  )
  return statusOf(result, program[0]!, 'Check the spelling of the command.')
})

/** Whether the command follows `--` with nothing before it. Commander drops the `--`. */
function isCommandBare(self: CommandUnknownOpts): boolean {
  return self.parent!.args.at(-self.args.length - 1) === '--'
}

/** Arguments between the name and the command are repoint's: no command starts with a dash. */
function commandBehind(self: CommandUnknownOpts, behind: readonly string[]): readonly string[] {
  const { operands, unknown } = self.parseOptions([...behind])
  expectCommand(self, unknown)
  if (self.opts()['baseUrl'] !== undefined)
    throw new UserError({
      code: 'usage',
      message: 'The command names a saved gateway and --base-url',
      hint: 'Use one of them: repoint run NAME -- COMMAND, or repoint run --base-url URL -- COMMAND',
    })
  return [...unknown, ...operands]
}

/** The saved gateway with this name, or the gateway of this folder. */
async function remembered(session: Session, by: string | SavedFolder | undefined, timeout: number) {
  if (by === undefined)
    throw new UserError({
      code: 'usage',
      message: 'Which gateway? This folder has none',
      hint: 'Name a saved gateway: repoint run NAME -- COMMAND. For this folder: repoint folder NAME',
    })
  settleInterruptedRun(session)
  const saved = typeof by === 'string' ? savedGateway(session, by) : gatewayOfFolder(session, by)
  return { access: accessToSaved(session, saved, timeout * 1000), saved }
}

/** Without a remembered folder, the shell's hook starts the program unchanged. */
async function runAsItIs(
  { platform }: Session,
  program: string,
  args: readonly string[],
): Promise<number> {
  platform.ask.release()
  const result = await platform.runInForeground(program, args, { env: platform.machine.env })
  return statusOf(result, program, 'Check its name.')
}

/**
 * Code in a customer's folder must use that folder's gateway. The note says if the client's own files
 * name another one.
 */
function saidBy(session: Session, folder: SavedFolder, client: Client | undefined): string {
  const says = `Folder ${shownFolder(session, folder)} uses gateway ${folder.gateway}`
  if (client === undefined) return says

  const { endpoint, options } = stateNow(session, client) ?? emptyState
  const own =
    findGatewayName(session, protocolOf(client, options), endpoint) ??
    endpoint.baseUrl ??
    'its own service'
  return own === folder.gateway ? says : `${says}. ${client.label}'s files say ${own}`
}

/** For this one process. repoint writes no files and saves nothing. */
async function unremembered(session: Session, flags: GatewayFlags): Promise<GatewayAccess> {
  const { access, notices } = await findGateway(session, flags)
  session.addFindings(...notices)
  return access
}

/** Rejects unknown flags, which are not commands either. Prints help for `--help`. */
function expectCommand(self: CommandUnknownOpts, [first]: readonly string[]): void {
  if (first === '-h' || first === '--help') self.help()
  if (first?.startsWith('-')) self.error(`error: unknown option '${first}'`)
}

/** What the user must configure by hand in a program that is not one of our clients. */
function noteUnsaid(
  session: Session,
  { headers = [], query = [], keyHeader }: GatewayAccess,
): void {
  const names = [
    ...[...headers, ...query].map(({ name }) => name),
    ...(keyHeader === undefined ? [] : [keyHeader]),
  ]
  if (names.length > 0)
    session.remark(
      `note: Other programs do not get ${names.join(', ')} of this gateway: no variable exists for it.`,
    )
}

/** Undefined: the gateway has no catalog, but may serve the client anyway. */
async function catalogOf(
  session: Session,
  access: GatewayAccess,
  saved: SavedGateway | undefined,
): Promise<Catalog | undefined> {
  const answer = await session.step('Asking the gateway for its models', catalogOrError(access))
  if (!(answer instanceof UserError)) return answer
  // The next request to the gateway is the command's own.
  if (!mayStillServe(answer)) throw saved === undefined ? answer : withCureFor(saved, answer)
  session.remark(`note: Cannot read the gateway's list of models (${answer.message})`)
  return undefined
}

/** The first installed client for each program that a shell could start. */
function firstInstalled(session: Session, clients: readonly Client[]): readonly Client[] {
  return installedPrograms(session, clients).flatMap((program) =>
    clientsCalled(session, clients, program).slice(0, 1),
  )
}

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
  target: Target,
): Promise<PointedRun> {
  let { access, asked } = target
  // The user may start none of the clients, so only a saved gateway is probed for its messages base URL.
  const mayAsk = target.mayAsk === 'unremembered' ? undefined : target.mayAsk
  const apart: string[] = []
  for (const program of installedPrograms(session, clients)) {
    try {
      const called = clientsCalled(session, clients, program)
      const one = await pointProgram(session, called, { ...target, access, asked, mayAsk })
      access = one.access
      if (one.args.length === 0)
        asked = { ...asked, env: one.env, files: { ...asked.files, ...one.files } }
      else apart.push(program)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      session.remark(`note: ${program} cannot use this gateway: ${error.message}`)
    }
  }

  const called = access.name === undefined ? access.baseUrl : `${access.name} (${access.baseUrl})`
  session.remark(`A shell that uses ${called}. To leave it: exit`)
  const how = access.name ?? `--base-url ${access.baseUrl} --key-env NAME`
  for (const program of apart)
    session.remark(
      `note: ${program} ignores these variables. Start it with: repoint run ${how} -- ${program}`,
    )
  return { ...asked, env: gatewayEnv(access, asked.env), access }
}

function installedPrograms({ platform }: Session, clients: readonly Client[]): readonly string[] {
  const programs = [...new Set(clients.map(({ program }) => program.command))]
  return programs.filter((program) => platform.processes.which(program) !== undefined)
}
