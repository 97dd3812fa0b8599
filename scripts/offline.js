import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where no name server answers, clients wait: Codex 5 s a run before it gives up (0.169.0, 2026-11-22). */
const resolverFile = fileURLToPath(new URL('../.cache/offline-resolv.conf', import.meta.url))
const resolver = 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n'

const enter = [
  ...['unshare', '--net', '--mount', 'sh', '-c'],
  'ip link set lo up && mount --bind "$0" /etc/resolv.conf && exec "$@"',
  resolverFile,
]

/** What starts the words that follow where nothing but loopback is reached: on Linux, as root. */
export function offline() {
  if (isAble()) return enter
  console.error('No network namespace here: the network stays reachable.')
  return []
}

function isAble() {
  if (process.platform !== 'linux' || process.getuid() !== 0) return false
  mkdirSync(dirname(resolverFile), { recursive: true })
  writeFileSync(resolverFile, resolver)
  const [program, ...words] = [...enter, 'true']
  return spawnSync(program, words, { stdio: 'ignore' }).status === 0
}
