import { spawnSync } from 'node:child_process'

/** What starts the words that follow where nothing but loopback is reached: on Linux, as root. */
export function offline() {
  const isAble =
    process.platform === 'linux' &&
    process.getuid() === 0 &&
    spawnSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' }).status === 0
  if (isAble) return ['unshare', '-n', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']
  console.error('No network namespace here: the network stays reachable.')
  return []
}
