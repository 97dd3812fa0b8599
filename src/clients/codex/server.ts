import { ifPossible } from '../../errors.ts'
import type { Findings } from '../../finding.ts'
import { isNewer, runningServer, serverFinding } from '../checks/background-server.ts'
import type { ClientWorld } from '../contract/client.ts'
import { pathsOf } from '../files/paths.ts'
import { codexName } from '../names.ts'
import { codexHome } from './files.ts'
import { keyFileName } from './providers/key-command.ts'

/** How long to wait for Codex to stop, in ms. It waits for running turns: without any it took 5 s. */
const stopTimeoutMs = 30_000

/**
 * The server that Codex's terminal UI leaves running. It keeps the API key that it read at its start: after a
 * switch, the next UI sends the old key to the new gateway. `codex exec` does not use it.
 *
 * Reads the server's pid file and checks whether that process runs; starts nothing. `stop` asks Codex itself,
 * because another process may have taken the pid. A server that started after the files with keys were written
 * has the key in them.
 */
export function* oldServerFindings(world: ClientWorld): Findings {
  const { join } = pathsOf(world.machine)
  const home = codexHome(world.machine)
  const path = join(home, 'app-server-daemon', 'daemon.pid')
  const pid = runningServer(world, path)
  const keyFiles = ['auth.json', keyFileName].map((name) => join(home, name))
  const written = keyFiles.filter((file) => ifPossible(() => world.files.stat(file)) !== undefined)
  const isFresh = written.length > 0 && written.every((file) => isNewer(world, path, file))
  if (pid === undefined || isFresh) return

  const process = { stopCommand: 'codex app-server daemon stop', stop: () => stop(world) }
  yield serverFinding(codexName, pid, process)
}

async function stop(world: ClientWorld): Promise<string | undefined> {
  const command = world.processes.which('codex') ?? serversOwnBinary(world)
  if (command === undefined) return 'codex is not in PATH'
  const result = await world.processes.run(command, ['app-server', 'daemon', 'stop'], {
    timeoutMs: stopTimeoutMs,
    env: world.machine.env,
  })
  const status = /"status"\s*:\s*"(\w+)"/.exec(result.stdout)?.[1]
  const hasEnded = status === 'stopped' || status === 'notRunning'
  if (result.exitStatus === 0 && hasEnded) return undefined
  return whyFailed(result.reason, result.stderr, status)
}

/** The copy of its program that Codex 0.169.0 keeps for its server. */
function serversOwnBinary(world: ClientWorld): string | undefined {
  const { join } = pathsOf(world.machine)
  const folder = join(codexHome(world.machine), 'packages', 'app-server-daemon', 'current', 'bin')
  const path = join(folder, world.machine.os === 'win32' ? 'codex.exe' : 'codex')
  return ifPossible(() => world.files.stat(path))?.kind === 'file' ? path : undefined
}

function whyFailed(reason: string, stderr: string, status: string | undefined): string {
  if (reason === 'timed-out') return `it did not end within ${stopTimeoutMs / 1000} s`
  const error = stderr.split('\n').find((line) => line.startsWith('Error'))
  return (
    error ?? (status === undefined ? 'codex did not answer as expected' : `codex says ${status}`)
  )
}
