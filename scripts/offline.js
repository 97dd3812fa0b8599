// Runs a command that can reach nothing but loopback, where the system lets us: `unshare -n` as root
// on Linux. Elsewhere it runs the command as it is, and says so.
import { spawnSync } from 'node:child_process'

const [command, ...args] = process.argv.slice(2)
const canUnshare =
  process.platform === 'linux' &&
  process.getuid() === 0 &&
  spawnSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' }).status === 0

if (!canUnshare) console.error('No network namespace here: the network stays reachable.')
const { status } = canUnshare
  ? spawnSync(
      'unshare',
      ['-n', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', command, ...args],
      { stdio: 'inherit' },
    )
  : spawnSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' })
process.exitCode = status ?? 1
