import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** The programs that tests start, and those that the program starts. A test that needs a missing one is skipped. */
const programs = [
  ...['bash', 'busybox', 'dash', 'fish', 'sh', 'zsh'],
  ...['cat', 'chmod', 'chown', 'cp', 'cut', 'date', 'dirname', 'env', 'find', 'grep', 'head', 'id'],
  ...['ln', 'ls', 'mkdir', 'mkfifo', 'mktemp', 'mv', 'ps', 'pwd', 'readlink', 'rm', 'sed', 'sleep'],
  ...[
    'sort',
    'stat',
    'stty',
    'tail',
    'tee',
    'test',
    'touch',
    'tr',
    'true',
    'uname',
    'wc',
    'which',
    'yes',
  ],
  ...['chattr', 'getfacl', 'getfattr', 'mount', 'setfacl', 'setfattr', 'umount'],
  ...['git', 'openssl', 'python3'],
]

/** Before PATH, where a version manager may put a script with the name of a program. */
const systemFolders = ['/usr/bin', '/bin', '/usr/sbin', '/sbin']

/** The variables for the tests themselves. */
const ours =
  /^(?:REPOINT_(?:PROPERTY_RUNS|PROPERTY_SEED|EVERY_CASE|CORPUS)|UPDATE_FIXTURES|TMPDIR|NODE_ENV|VITEST.*)$/

/**
 * Hides the user's machine from all test files of a run: environment variables, programs in PATH (a real client would
 * be started), files of the home, and the mode of new files.
 */
export default function useOwnMachine(): (() => void) | undefined {
  if (process.platform === 'win32') return undefined
  const folder = mkdtempSync(join(tmpdir(), 'repoint-machine-'))
  const [bin, home] = [join(folder, 'bin'), join(folder, 'home')]
  for (const path of [bin, home]) mkdirSync(path, { mode: 0o755 })
  linkPrograms(bin)

  const previous = { env: { ...process.env }, umask: process.umask(0o022) }
  for (const name of Object.keys(process.env)) if (!ours.test(name)) delete process.env[name]
  Object.assign(process.env, {
    PATH: bin,
    HOME: home,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    TZ: 'UTC',
    GIT_CONFIG_NOSYSTEM: '1',
  })

  return () => {
    Object.assign(process.env, previous.env)
    process.umask(previous.umask)
    rmSync(folder, { recursive: true, force: true })
  }
}

function linkPrograms(bin: string): void {
  const folders = [...systemFolders, ...(process.env['PATH'] ?? '').split(delimiter)]
  symlinkSync(process.execPath, join(bin, 'node'))
  for (const name of programs) {
    const folder = folders.find((path) => path !== '' && existsSync(join(path, name)))
    if (folder !== undefined) symlinkSync(join(folder, name), join(bin, name))
  }
}
