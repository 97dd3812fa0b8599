/** Runs a command without a network, so that a real client reaches nothing but loopback. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Names a server that rejects at once. Without one, clients wait: Codex 5 s per run (0.169.0, 2026-11-22). */
const resolverFile = fileURLToPath(new URL('../.cache/offline-resolv.conf', import.meta.url))
const resolver = 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n'

const enterNamespace = [
  ...['unshare', '--net', '--mount', 'sh', '-c'],
  'ip link set lo up && mount --bind "$0" /etc/resolv.conf && exec "$@"',
  resolverFile,
]

/** The words to put before a command, so that it reaches nothing but loopback. Needs Linux and root. */
export function offline() {
  if (isAble()) return enterNamespace
  console.error('No network namespace here: the network stays reachable.')
  return []
}

function isAble() {
  if (process.platform !== 'linux' || process.getuid() !== 0) return false
  mkdirSync(dirname(resolverFile), { recursive: true })
  writeFileSync(resolverFile, resolver)
  const [program, ...words] = [...enterNamespace, 'true']
  return spawnSync(program, words, { stdio: 'ignore' }).status === 0
}
