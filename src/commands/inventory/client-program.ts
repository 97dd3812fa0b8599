import type { Carrying, Client } from '../../clients/client.ts'
import { isBefore } from '../../clients/tested.ts'
import { UserError } from '../../errors.ts'
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
