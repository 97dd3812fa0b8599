// Installs what `npm run test:network` runs against, where it is missing: Debian's nginx and tinyproxy.
import { spawnSync } from 'node:child_process'

const path = `${process.env.PATH}:/usr/sbin:/sbin`
const isThere = (command) =>
  spawnSync('sh', ['-c', `command -v ${command}`], { env: { PATH: path } }).status === 0

const missing = ['nginx', 'tinyproxy'].filter((command) => !isThere(command))
if (missing.length > 0) {
  const root = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  for (const line of [
    ['apt-get', '-qq', 'update'],
    ['apt-get', '-qq', 'install', '-y', '--no-install-recommends', ...missing],
  ]) {
    const [command, ...args] = [...root, ...line]
    const { status } = spawnSync(command, args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
    if (status !== 0) {
      console.error(`Cannot install ${missing.join(', ')}: ${line.join(' ')} failed`)
      process.exit(1)
    }
  }
}
