/** The installed program of a client: whether it is there, its version, and the models that it prints. */

import { posix, win32 } from 'node:path'
import type { Client } from '../../../clients/contract/client.ts'
import type { ProgramFacts } from '../../../clients/contract/program.ts'
import { isBefore, type Version } from '../../../clients/program/tested.ts'
import { ifPossible, UserError } from '../../../errors.ts'
import type { Findings } from '../../../finding.ts'
import { asObject, jsonIn } from '../../../gateway/foreign-text.ts'
import type { Machine, Platform } from '../../../platform/platform.ts'
import type { Session } from '../../screen/session.ts'

/** What is known of a client's program. Empty: it is not installed, or nothing depends on its version. */
export interface InstalledProgram extends ProgramFacts {
  /** Why the version of the installed program is unknown. */
  readonly versionProblem?: string
}

/** An installed program that was asked only for its version. */
export type ProgramVersion = Pick<InstalledProgram, 'version' | 'versionProblem'>

/** Some clients take a second for their version; on a loaded machine, ten times as long. */
const versionTimeoutMs = 20_000

/** How long a client may take to print its models. Best effort. */
const printTimeoutMs = 10_000

/** Whether a client's command is in PATH. */
export function isInstalled({ platform }: Session, { program }: Pick<Client, 'program'>): boolean {
  return platform.processes.which(program.command) !== undefined
}

/** The version of the npm package that contains a client's program. Starts nothing. */
export function versionOfPackage(
  { platform }: Session,
  { program }: Pick<Client, 'program'>,
): Version {
  const path = platform.processes.which(program.command)
  return path && packagedVersion(platform, path, program.packages)
}

/**
 * The version of an installed client: that of the npm package that contains its program. The program
 * is started only if there is no such package.
 */
async function readVersion(
  { platform }: Session,
  { program }: Pick<Client, 'program'>,
): Promise<ProgramVersion> {
  const path = platform.processes.which(program.command)
  if (path === undefined) return {}

  const packaged = packagedVersion(platform, path, program.packages)
  if (packaged !== undefined && !program.updatesItself) return { version: packaged }

  const printed = await startForVersion(platform, path, program.command)
  // A program that has replaced itself is at least as new as its package.
  return packaged !== undefined && printed.version === undefined ? { version: packaged } : printed
}

async function startForVersion(
  { processes, machine }: Platform,
  program: string,
  command: string,
): Promise<ProgramVersion> {
  const { stdout, stderr, reason } = await processes.run(program, ['--version'], {
    timeoutMs: versionTimeoutMs,
    // The configuration of a project could make the client run something.
    cwd: machine.home,
  })
  // Some clients print it on standard error if their output is no terminal.
  const version = versionIn(stdout) ?? versionIn(stderr)
  if (version !== undefined) return { version }

  const problem =
    reason === 'timed-out'
      ? `did not answer within ${versionTimeoutMs / 1000} s`
      : 'prints no version'
  return { versionProblem: `\`${command} --version\` ${problem}` }
}

/** The version, without the full stop that Copilot prints: `GitHub Copilot CLI 1.0.12.` (2026-11-24). */
function versionIn(text: string): string | undefined {
  return /\d+\.\d+\.\d+\w*(?:[.+-]\w+)*/.exec(text)?.[0]
}

/** What a version is read for: `show` shows it, and the others only compare it with the oldest that works. */
type Purpose = 'setup' | 'launch' | 'show'

/** The oldest version that works after a setup, or with `repoint run`. */
function oldestFor(
  { minVersion, minVersionForLaunch = minVersion }: Client['program'],
  purpose: Purpose,
) {
  return purpose === 'launch' ? minVersionForLaunch : minVersion
}

/**
 * Whether the version of a client decides anything. A setup always asks: a new major version may read other files
 * (opencode 2, which has no npm package).
 */
function needsVersion({ program }: Client, purpose: Purpose): boolean {
  return (
    purpose !== 'launch' ||
    program.needsVersion === true ||
    oldestFor(program, purpose) !== undefined
  )
}

/**
 * The installed version. The program is started to ask for it only if something depends on it, because a
 * start can take a second.
 */
export async function installedVersion(
  session: Session,
  client: Client,
  purpose: Purpose,
): Promise<ProgramVersion> {
  if (needsVersion(client, purpose)) return readVersion(session, client)
  const { platform } = session
  const program = platform.processes.which(client.program.command)
  return { version: program && packagedVersion(platform, program, client.program.packages) }
}

/** What a setup needs to know of a client's program, or what is shown of it. */
export async function programOf(
  session: Session,
  client: Client,
  purpose: Purpose,
): Promise<InstalledProgram> {
  const [version, printedModels] = await Promise.all([
    installedVersion(session, client, purpose),
    readPrintedModels(session, client),
  ])
  return { ...version, printedModels }
}

/** What `repoint run` needs to know of the versions of several clients, by their command. */
export async function installedVersions(
  session: Session,
  clients: readonly Client[],
): Promise<ReadonlyMap<string, ProgramVersion>> {
  const byProgram = new Map(clients.map((client) => [client.program.command, client]))
  const versions = [...byProgram].map(
    async ([command, client]) =>
      [command, await installedVersion(session, client, 'launch')] as const,
  )
  return new Map(await Promise.all(versions))
}

/**
 * Reports a new major version, such as opencode 2: no test has run it, and it may read other files. A setup asks
 * before it counts.
 */
export function* newMajorFindings(
  { id, label, program }: Pick<Client, 'id' | 'label' | 'program'>,
  { version }: ProgramVersion,
): Findings {
  const newest = program.testedVersions.at(-1)
  if (version === undefined || newest === undefined) return
  if (Number.parseInt(version, 10) <= Number.parseInt(newest, 10)) return

  const untested = `${label} ${version} is a new major version, and repoint was tested up to ${newest}`
  yield {
    code: 'client-untested',
    severity: 'warning',
    message: `${untested}: ${program.nextMajor ?? 'it may not use what repoint writes'}`,
    hint: `Update repoint, or try the client: repoint ${id} --try-client`,
    needsConsentTo: `Set up ${label} although it may not work: ${untested}.`,
  }
}

/** Reports a version that is too old, or that repoint cannot find out. */
export function* versionFindings(
  { id, label, program }: Pick<Client, 'id' | 'label' | 'program'>,
  { version, versionProblem }: ProgramVersion,
  purpose: Purpose = 'setup',
): Findings {
  const oldest = oldestFor(program, purpose)
  if (versionProblem !== undefined) {
    const tryIt = `Try: ${program.command} --version`
    const code = 'client-version-unknown'
    if (oldest === undefined)
      yield {
        code,
        severity: 'note',
        message: `Cannot find out the version of ${label}: ${versionProblem}`,
        hint: tryIt,
      }
    else
      yield {
        code,
        severity: 'error',
        message: `repoint needs ${label} ${oldest} or newer, and cannot find out its version: ${versionProblem}`,
        hint: `${tryIt}. Once it answers, run the command again.`,
      }
    return
  }
  if (oldest === undefined || version === undefined || !isBefore(version, oldest)) return

  const { minVersion } = program
  const isOnlyRunAffected = minVersion === undefined || !isBefore(version, minVersion)
  const code = 'client-too-old'
  const needed = `it needs ${oldest} or newer`
  if (isOnlyRunAffected)
    yield {
      code,
      severity: 'error',
      message: `${label} ${version} is too old for repoint run: ${needed}`,
      hint: `Update ${label}, or set it up: repoint ${id}.`,
    }
  else
    yield {
      code,
      severity: 'error',
      message: `${label} ${version} is too old for another gateway: ${needed}`,
      hint: `Update ${label}, then run the command again.`,
    }
}

/** The list of models that the client prints. */
async function readPrintedModels(
  { platform: { processes, machine } }: Session,
  { program: { command, printModelsArgs } }: Client,
): Promise<string | undefined> {
  if (printModelsArgs === undefined) return undefined
  const path = processes.which(command)
  if (path === undefined) return undefined
  const options = { timeoutMs: printTimeoutMs, cwd: machine.home }
  const { exitStatus, stdout } = await processes.run(path, printModelsArgs, options)
  return exitStatus === 0 ? stdout : undefined
}

/** @throws UserError `client-failed` if the client is not installed */
export function expectInstalled(session: Session, client: Client): string {
  const path = session.platform.processes.which(client.program.command)
  if (path !== undefined) return path
  throw new UserError({
    code: 'client-failed',
    message: `Cannot start ${client.label}: there is no ${client.program.command} in PATH`,
    hint: 'Install it, or leave out --try-client.',
  })
}

/** Enough for a script that a package manager writes to start a program; npm's has 600 bytes. */
const maxScriptBytes = 8_192

const maxManifestBytes = 1_000_000

/** The systems in the names of packages: `darwin-arm64`, `linux-x64-baseline-musl`. */
const systemName =
  /^(?:darwin|linux|linuxmusl|win32|windows)-(?:x64|arm64)(?:-baseline)?(?:-musl)?$/

/**
 * The version of the npm package that contains a program, from its package.json.
 *
 * @param packages as in `Program.packages`: a package.json with another name is ignored
 * @returns undefined if the program is not in such a package
 */
export function packagedVersion(
  { files, machine }: Pick<Platform, 'files' | 'machine'>,
  program: string,
  packages: readonly string[],
): string | undefined {
  const { basename, dirname, join } = pathsFor(machine)
  const file = ifPossible(() => files.realpath(program))
  if (file === undefined) return undefined

  let folder = dirname(scriptTarget({ files, machine }, file) ?? file)
  while (basename(folder) !== 'node_modules') {
    const path = join(folder, 'package.json')
    const text = ifPossible(() => new TextDecoder().decode(files.read(path, maxManifestBytes)))
    const { name, version } = asObject(jsonIn(text ?? '')) ?? {}
    // A package.json without a name only says how Node reads the files next to it.
    if (typeof name === 'string') return matchesName(packages, name) ? release(version) : undefined

    const parent = dirname(folder)
    if (parent === folder) return undefined
    folder = parent
  }
  return undefined
}

/**
 * The file in a package that a script starts. npm writes such scripts on Windows (`claude.cmd`), and
 * pnpm on every system.
 */
function scriptTarget(
  { files, machine }: Pick<Platform, 'files' | 'machine'>,
  script: string,
): string | undefined {
  const { dirname, join } = pathsFor(machine)
  const text = ifPossible(() => new TextDecoder().decode(files.readStart(script, maxScriptBytes)))
  const targets = text?.matchAll(/"(?:%~dp0|%dp0%|\$basedir)([^"]*\bnode_modules\b[^"]*)"/g) ?? []

  for (const [, target = ''] of targets) {
    const path = ifPossible(() => files.realpath(join(dirname(script), target)))
    if (path !== undefined) return path
  }
  return undefined
}

function pathsFor({ os }: Machine) {
  return os === 'win32' ? win32 : posix
}

function matchesName(packages: readonly string[], name: string): boolean {
  return packages.some((pattern) => {
    if (!pattern.endsWith('*')) return pattern === name
    const stem = pattern.slice(0, -1)
    return name.startsWith(stem) && systemName.test(name.slice(stem.length))
  })
}

/** The version without the name of a system, which Codex adds for some packages: `0.169.0-linux-x64`. */
function release(version: unknown): string | undefined {
  const match = typeof version === 'string' ? /^(\d+\.\d+\.\d+)(?:-(.+))?$/.exec(version) : null
  // Sources that were never published have 0.0.0.
  if (match === null || match[1] === '0.0.0') return undefined
  const [, numbers, suffix] = match
  return suffix === undefined || systemName.test(suffix) ? numbers : match[0]
}
