import { posix, win32 } from 'node:path'
import type { Platform } from '../../platform/platform.ts'
import { codexHome } from './files.ts'

/**
 * The server that Codex's terminal UI leaves running. It keeps the API key that it read at its
 * start: after a switch the next UI sends the old key to the new gateway. `codex exec` does not use
 * it. Run against 0.169.0, 2026-11-21.
 */
export interface CodexDaemon {
  readonly pid: number
}

type World = Pick<Platform, 'files' | 'processes' | 'machine'>

/** Stopping waits for running turns: it took 5 s with none. In ms. */
const stopTimeoutMs = 30_000

/** A pid file has about 430 bytes in 0.169.0. */
const maxPidFileBytes = 10_000

/**
 * Looks at the daemon's pid file and at whether that process lives; starts nothing. A pid that
 * another process has taken since looks like a daemon; `stopCodexDaemon` asks Codex itself.
 */
export function findCodexDaemon(world: World): CodexDaemon | undefined {
  const { join } = world.machine.os === 'win32' ? win32 : posix
  const path = join(codexHome(world.machine), 'app-server-daemon', 'daemon.pid')
  const pid = readPid(world, path)
  return pid !== undefined && world.processes.startTime(pid) !== undefined ? { pid } : undefined
}

function readPid(world: World, path: string): number | undefined {
  try {
    const record: unknown = JSON.parse(
      new TextDecoder().decode(world.files.read(path, maxPidFileBytes)),
    )
    const pid = (record as { pid?: unknown } | null)?.pid
    return typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    // No file, no daemon; an unreadable one says nothing either.
    return undefined
  }
}

/** `failed`: it may still run; `why` says what Codex said. */
export type StoppedDaemon =
  | { readonly outcome: 'stopped' | 'not-running' }
  | { readonly outcome: 'failed'; readonly why: string }

/** The command that a person can type for the same. */
export const stopDaemonCommand = 'codex app-server daemon stop'

/** Asks Codex to stop its daemon. */
export async function stopCodexDaemon(world: World): Promise<StoppedDaemon> {
  const command = world.processes.which('codex') ?? daemonsOwnBinary(world)
  if (command === undefined) return { outcome: 'failed', why: 'codex is not in PATH' }
  const result = await world.processes.run(command, ['app-server', 'daemon', 'stop'], {
    timeoutMs: stopTimeoutMs,
    env: world.machine.env,
  })
  const status = /"status"\s*:\s*"(\w+)"/.exec(result.stdout)?.[1]
  if (result.exitStatus === 0 && status === 'stopped') return { outcome: 'stopped' }
  if (result.exitStatus === 0 && status === 'notRunning') return { outcome: 'not-running' }
  return { outcome: 'failed', why: whyFailed(result.reason, result.stderr, status) }
}

/** The copy that Codex 0.169.0 keeps for its daemon. */
function daemonsOwnBinary(world: World): string | undefined {
  const { join } = world.machine.os === 'win32' ? win32 : posix
  const folder = join(codexHome(world.machine), 'packages', 'app-server-daemon', 'current', 'bin')
  const path = join(folder, world.machine.os === 'win32' ? 'codex.exe' : 'codex')
  try {
    return world.files.stat(path).kind === 'file' ? path : undefined
  } catch {
    return undefined
  }
}

function whyFailed(reason: string, stderr: string, status: string | undefined): string {
  if (reason === 'timed-out') return `it did not end within ${stopTimeoutMs / 1000} s`
  const error = stderr.split('\n').find((line) => line.startsWith('Error'))
  return (
    error ?? (status === undefined ? 'codex did not answer as expected' : `codex says ${status}`)
  )
}
