import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
// @ts-expect-error plain JavaScript, shared with the script
import { modulesOf } from '../../scripts/install.js'

/**
 * The Node of Windows under Wine, with drives, backslashes and file locks as on Windows. Node 24 and
 * 26 run out of memory at their start there (Debian's Wine 8.0, 2026-11-22).
 */
export type WindowsNode = 'node20' | 'node22'

export interface Ended {
  /** Undefined if the program was killed. */
  readonly status: number | undefined
  readonly stdout: string
  readonly stderr: string
}

const prefix = resolve('.cache/wine')
const users = join(prefix, 'drive_c/users')
const environment = { WINEPREFIX: prefix, WINEDEBUG: '-all', WINEARCH: 'win64' }

/** Creates the Windows that all tests share, and unpacks the package into it. */
export async function startWindows(): Promise<void> {
  if (!existsSync(join(prefix, 'system.reg'))) {
    await execa('wineboot', ['-i'], { env: environment, timeout: 110_000, stdio: 'ignore' })
    const version = ['reg', 'add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f']
    await execa('wine', version, { env: environment, timeout: 60_000, stdio: 'ignore' })
  }

  const folder = mkdtempSync(join(tmpdir(), 'repoint-windows-'))
  try {
    const pack = ['pack', '--silent', '--pack-destination', folder]
    const packed = execFileSync('npm', pack, { encoding: 'utf8' })
    const tarball = join(folder, packed.trim().split('\n').at(-1)!)
    rmSync(join(prefix, 'drive_c/package'), { recursive: true, force: true })
    execFileSync('tar', ['-xzf', tarball, '-C', join(prefix, 'drive_c')])
    writeFileSync(join(prefix, 'drive_c/home.cjs'), takeHome)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Wine names the home after the Linux user, whatever the environment says. */
const takeHome = `const { TEST_HOME } = process.env
process.env.USERPROFILE = TEST_HOME
process.env.LOCALAPPDATA = TEST_HOME + '\\\\AppData\\\\Local'
`

export function stopWindows(): Promise<unknown> {
  return execa('wineserver', ['-k'], { env: environment, reject: false })
}

/** A user's home on drive C. */
export class WindowsHome {
  readonly name: string

  /** @param name may have blanks and non-ASCII letters */
  constructor(name: string, given: Readonly<Record<string, string>> = {}) {
    this.name = name
    rmSync(this.at(''), { recursive: true, force: true })
    mkdirSync(this.at(''), { recursive: true })
    for (const [path, text] of Object.entries(given)) this.put(path, text)
  }

  /** The path on Linux. */
  at(path: string): string {
    return join(users, this.name, path)
  }

  /** The path on Windows. */
  windowsPath(path = ''): string {
    return `C:\\users\\${this.name}${path && `\\${path.replaceAll('/', '\\')}`}`
  }

  put(path: string, text: string): void {
    mkdirSync(join(this.at(path), '..'), { recursive: true })
    writeFileSync(this.at(path), text)
  }

  /** Null if there is no such file. */
  text(path: string): string | null {
    return existsSync(this.at(path)) ? readFileSync(this.at(path), 'utf8') : null
  }
}

export interface WindowsRun {
  readonly node?: WindowsNode
  readonly env?: Readonly<Record<string, string>>
  /** After this time the program is killed, in ms. */
  readonly killAfterMs?: number
}

/**
 * Runs `repoint ARGS` of the packed package. Wine has once ended Node with status 1 before any output (of
 * some hundred starts, 2026-11-22), which repoint never does: such a start is tried again.
 */
export async function repoint(
  home: WindowsHome,
  args: readonly string[],
  run: WindowsRun = {},
): Promise<Ended> {
  const program = [nodeExe(run.node), '--require', 'C:\\home.cjs', 'C:\\package\\bin\\repoint.js']
  const ended = await inWindows(home, [...program, ...args], run)
  const isSilent = ended.status === 1 && ended.stdout === '' && ended.stderr === ''
  return isSilent ? inWindows(home, [...program, ...args], run) : ended
}

export function nodeExe(node: WindowsNode = 'node20'): string {
  return `${modulesOf('windows')}/${node}/bin/node.exe`
}

/** Runs any program of Windows. Its streams are files, because Wine gives Node no pipes. */
export async function inWindows(
  home: WindowsHome,
  [program, ...args]: readonly string[],
  run: WindowsRun = {},
): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'repoint-wine-'))
  const [stdout, stderr] = [join(folder, 'out'), join(folder, 'err')]
  const streams = [openSync(stdout, 'w'), openSync(stderr, 'w')] as const
  try {
    const child = spawn('wine', [program!, ...args], {
      env: {
        ...environment,
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        LANG: 'C.UTF-8',
        TEST_HOME: home.windowsPath(),
        ...run.env,
      },
      cwd: home.at(''),
      stdio: ['ignore', ...streams],
      timeout: run.killAfterMs ?? 180_000,
      killSignal: 'SIGKILL',
    })
    const [status] = (await once(child, 'close')) as [number | null]
    return {
      status: status ?? undefined,
      stdout: readFileSync(stdout, 'utf8'),
      stderr: readFileSync(stderr, 'utf8'),
    }
  } finally {
    for (const stream of streams) closeSync(stream)
    rmSync(folder, { recursive: true })
  }
}
