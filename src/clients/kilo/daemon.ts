import type { LeftRunning, Outside } from '../client.ts'
import { pathsOf } from '../paths.ts'
import { isNewer, livingServer } from '../server.ts'

/** In ms; Kilo itself gives the server 6 s. */
const stopTimeoutMs = 30_000

/**
 * The server that `kilo daemon start` leaves running. `kilo` and `kilo run` hand what they are asked to
 * it, and it goes on with the address and the key that it read at its start (7.7.9, 2026-11-22;
 * 7.0.33 has none).
 *
 * Looks at its state file and at whether that process lives; starts nothing. One that started after
 * auth.json was written holds the key that is there.
 */
export function leftRunning(world: Outside): LeftRunning | undefined {
  const { join, named } = pathsOf(world.machine)
  const { home } = world.machine
  const stateFolder = named('XDG_STATE_HOME') ?? join(home, '.local', 'state')
  const dataFolder = named('XDG_DATA_HOME') ?? join(home, '.local', 'share')
  const state = join(stateFolder, 'kilo', 'daemon.json')
  const pid = livingServer(world, state)
  if (pid === undefined || isNewer(world, state, join(dataFolder, 'kilo', 'auth.json'))) {
    return undefined
  }
  return { pid, stopCommand: 'kilo daemon stop', stop: () => stop(world) }
}

async function stop({ processes, machine }: Outside): Promise<string | undefined> {
  const command = processes.which('kilo')
  if (command === undefined) return 'kilo is not in PATH'
  const { exitStatus, reason } = await processes.run(command, ['daemon', 'stop'], {
    timeoutMs: stopTimeoutMs,
    // Not in a project, whose configuration could make it run something.
    cwd: machine.home,
    env: machine.env,
  })
  if (exitStatus === 0) return undefined
  return reason === 'timed-out'
    ? `it did not end within ${stopTimeoutMs / 1000} s`
    : `kilo ended with status ${exitStatus}`
}
