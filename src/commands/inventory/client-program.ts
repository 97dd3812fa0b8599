import type { Carrying, Client, Settings } from '../../clients/client.ts'
import { isBefore } from '../../clients/tested.ts'
import { UserError } from '../../errors.ts'
import { catalogOrError } from '../../gateway/catalog.ts'
import { mayRefuse } from '../../gateway/http/authorities.ts'
import { hangUp } from '../../gateway/http/request.ts'
import type { Authorities, GatewayAccess } from '../../gateway/types.ts'
import type { Notice } from '../../notice.ts'
import type { Machine } from '../../platform/platform.ts'
import type { Consent, Session } from '../screen/session.ts'

/** What a client's program says of itself, as far as something depends on it. */
export type Program = Pick<Carrying, 'version' | 'clientTable'>

/** Asking a client for its version takes some of them a second. */
const versionTimeoutMs = 10_000

/** Whether a client's command is in PATH. */
export function isInstalled({ platform }: Session, { binary }: Pick<Client, 'binary'>): boolean {
  return platform.processes.which(binary.command) !== undefined
}

/** `0.169.0`, as the client's command tells it; undefined: it is not here, or does not say. */
export async function versionOf(
  { platform: { processes, machine } }: Session,
  { binary }: Client,
): Promise<string | undefined> {
  const path = processes.which(binary.command)
  if (path === undefined) return undefined

  const { stdout, stderr } = await processes.run(path, ['--version'], {
    timeoutMs: versionTimeoutMs,
    // Not in a project, whose configuration could make it run something.
    cwd: machine.home,
  })
  const versionIn = (said: string) => /\d+\.\d+\.\d+[\w.-]*/.exec(said)?.[0]
  // Some say it there where their output is no terminal.
  return versionIn(stdout) ?? versionIn(stderr)
}

/** The installed version, where something depends on it: asking can take a second. */
export async function installedVersion(
  session: Session,
  client: Client,
): Promise<string | undefined> {
  const { sendsByVersion, binary } = client
  const isAsked =
    sendsByVersion || binary.worksSince !== undefined || binary.runsSince !== undefined
  return isAsked ? versionOf(session, client) : undefined
}

/** The same with what it prints, asked side by side. */
export async function programOf(session: Session, client: Client): Promise<Program> {
  const asked = [installedVersion(session, client), tableOf(session, client)] as const
  const [version, clientTable] = await Promise.all(asked)
  return { version, clientTable }
}

/** The versions of several, by their program, asked side by side. */
export async function installedVersions(
  session: Session,
  clients: readonly Client[],
): Promise<ReadonlyMap<string, string | undefined>> {
  const byProgram = new Map(clients.map((client) => [client.binary.command, client]))
  const versions = [...byProgram].map(
    async ([command, client]) => [command, await installedVersion(session, client)] as const,
  )
  return new Map(await Promise.all(versions))
}

/** @throws UserError `client-too-old` for one that was never seen to work so */
export function expectWorking(
  { id, label, binary }: Pick<Client, 'id' | 'label' | 'binary'>,
  version: string | undefined,
  use: 'setup' | 'run' = 'setup',
): void {
  const { worksSince, runsSince = worksSince } = binary
  const oldest = use === 'setup' ? worksSince : runsSince
  if (version === undefined || oldest === undefined || !isBefore(version, oldest)) return

  const isRunAlone = worksSince === undefined || !isBefore(version, worksSince)
  throw new UserError({
    code: 'client-too-old',
    message: `${label} ${version} is too old ${isRunAlone ? 'for one run at a gateway' : 'for a gateway of your own'}: the oldest that works is ${oldest}`,
    hint: `Update ${label}${isRunAlone ? `, or set it up: repoint ${id}` : ', then run the command again'}.`,
  })
}

/** What the client prints of the models that it knows; undefined: it is not here, or prints none. */
export async function tableOf(
  { platform: { processes, machine } }: Session,
  { binary: { command, tableArgs } }: Client,
): Promise<string | undefined> {
  const path = tableArgs && processes.which(command)
  if (path === undefined) return undefined
  const options = { timeoutMs: versionTimeoutMs, cwd: machine.home }
  const { exitStatus, stdout } = await processes.run(path, tableArgs!, options)
  return exitStatus === 0 ? stdout : undefined
}

/** @throws UserError `client-failed` where the client cannot be run at all */
export function expectInstalled(session: Session, client: Client): string {
  const path = session.platform.processes.which(client.binary.command)
  if (path !== undefined) return path
  throw new UserError({
    code: 'client-failed',
    message: `${client.label} cannot be tried: there is no ${client.binary.command} in PATH`,
    hint: 'Install it, or leave out --try-client.',
  })
}

/** What these clients believe, all that one of them does. */
export function authoritiesOf(
  env: Machine['env'],
  clients: readonly Pick<Client, 'label' | 'binary'>[],
): Authorities {
  const all = clients.map(({ binary }) => binary.authorities(env))
  const [alone] = all

  const of = clients.map(({ label }) => label).join(', ')
  if (alone !== undefined && all.length === 1) return { ...alone, of }
  return {
    of,
    system: all.some(({ system }) => system),
    files: [...new Set(all.flatMap(({ files }) => files))],
    folders: [...new Set(all.flatMap(({ folders }) => folders))],
  }
}

/**
 * What several clients believe together may be more than one of them does: where no public authority
 * vouches for the gateway, its list is asked for once more, as this client would judge it.
 *
 * @param asAll with what all of them believe, as it was asked so far
 * @throws UserError `tls`
 */
export async function expectBelieved(
  client: Client,
  access: GatewayAccess,
  asAll = access,
): Promise<void> {
  const asClient = { ...access, authorities: authoritiesOf(access.env, [client]) }
  if (!mayRefuse(asClient, asAll)) return

  const answer = await catalogOrError(asClient)
  await hangUp(asClient)
  if (answer instanceof UserError && answer.code === 'tls') throw answer
}

/**
 * What a client still needs to trust the authorities of `caFile`: what our own check trusts is no
 * matter to it.
 */
export function* authorityNotices(
  { platform }: Session,
  { label, binary }: Client,
  settings: Pick<Settings, 'caFile'>,
  caFile: string | undefined,
): Generator<Notice> {
  const { os, env } = platform.machine
  const set = binary.authorityVariables.find((name) => env[name])
  const [variable, ...others] = binary.authorityVariables
  const named = settings.caFile ?? (set && env[set])
  if (caFile === undefined || named === caFile) return

  const code = 'authority-unknown'
  const older = others.length === 0 ? '' : ` (older versions: ${others.join(', ')})`
  const setting = os === 'win32' ? `setx ${variable} "${caFile}"` : `export ${variable}='${caFile}'`
  if (named !== undefined)
    yield {
      code,
      message: `${label} takes further authorities from ${named} (${set ?? variable}), and the gateway's from ${caFile} may not be there`,
      hint: `Add it to that file, or name ${caFile} in its place.`,
    }
  else
    yield {
      code,
      message: `${label} does not know the authorities in ${caFile}, unless this machine does: it looks for such a file in ${variable}, which is not set${older}`,
      hint: `Before it starts: ${setting} (in the shell's profile, to keep it).`,
    }
}

/**
 * Stops what clients have left running, because it still holds the key from before. Where
 * nobody consents it is left running, and said.
 *
 * @returns what a person has still to do, one line each
 */
export async function stopLeftRunning(
  session: Session,
  clients: readonly Client[],
  consent: Consent,
): Promise<readonly string[]> {
  const { platform } = session
  const toDo: string[] = []
  for (const { label, leftRunning } of clients) {
    const server = leftRunning?.(platform)
    if (server === undefined) continue

    const isWanted = await session.wants(consent, {
      message: `A server that ${label} left running still holds the old key. Stop it?`,
      default: true,
    })

    const byHand = `Stop the server that ${label} left running; it still sends the old key: ${server.stopCommand}`
    const why = isWanted
      ? await session.step(`Stopping the server of ${label}`, server.stop())
      : undefined
    if (isWanted && why === undefined)
      session.say(`Stopped the server that ${label} had left running with the old key.`)
    else toDo.push(why === undefined ? byHand : `${byHand} (${why})`)
  }
  return toDo
}

/**
 * What a person must do about clients that are running. Where the system cannot be asked for its
 * processes, it may be any.
 */
export async function adviceForRunning(
  session: Session,
  clients: readonly Client[],
): Promise<readonly string[]> {
  const { processes } = session.platform
  const pgrep = processes.which('pgrep')
  if (pgrep === undefined) return clients.map(({ restartAdvice }) => restartAdvice)

  const asked = clients.map(async ({ binary, restartAdvice }) => {
    // A program of its own, or a script that node or bun runs: not an editor that has such a file open.
    const itself = `^([^ ]*/)?((node|bun)( --[^ ]*)* )?([^ ]*/)?${binary.command}( |$)`
    const args = ['-U', String(processes.uid), '-f', itself]
    const { exitStatus } = await processes.run(pgrep, args, { timeoutMs: 2_000 })
    return exitStatus === 1 ? [] : [restartAdvice]
  })
  return (await Promise.all(asked)).flat()
}

/** The next thing to type. */
export function nowRun(session: Session, clients: readonly Client[]): string {
  const commands = clients.map((client) => {
    const { command } = client.binary
    return isInstalled(session, client) ? command : `${command} (not installed here)`
  })
  return `Now run: ${[...new Set(commands)].join(', or ')}`
}

export function absentText(clients: readonly Pick<Client, 'label'>[]): string {
  return `Not installed, and not set up: ${clients.map(({ label }) => label).join(', ')}`
}
