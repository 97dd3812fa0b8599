/** Do the clients of this machine have a second home, on Windows? */
import { ifPossible } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import type { Platform } from '../../platform/platform.ts'

/** Where WSL mounts the Windows users' folders, unless /etc/wsl.conf names another place. */
const windowsUsers = '/mnt/c/Users'

/** Folders there that are not a user's home. */
const notHomes = new Set(['All Users', 'Default', 'Default User', 'Public', 'desktop.ini'])

/**
 * Under WSL there are two homes, and a client that runs on Windows reads the other one. repoint reports
 * that, because a setup in WSL does not change it.
 */
export function* wslFinding({
  machine,
  files,
}: Pick<Platform, 'machine' | 'files'>): Generator<Finding> {
  const { env, home, os } = machine
  if (os !== 'linux' || (!env['WSL_DISTRO_NAME'] && !env['WSL_INTEROP'])) return

  const names = ifPossible(() => files.readdir(windowsUsers)) ?? []
  const [user = '', ...otherUsers] = names.filter((name) => !notHomes.has(name))
  const isOnlyUser = user !== '' && otherUsers.length === 0
  const windowsHome = `${windowsUsers}/${isOnlyUser ? user : '<you>'}`
  yield {
    code: 'wsl',
    severity: 'note',
    message: `This is WSL. Clients started here read ${home}; clients started on Windows read ${windowsHome}`,
    hint: 'For the clients on Windows, run repoint in a Windows terminal too.',
  }
}
