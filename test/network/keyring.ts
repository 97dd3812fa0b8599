import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Of Debian's libsecret-tools, gnome-keyring and dbus-daemon. */
const programs = ['secret-tool', 'gnome-keyring-daemon', 'dbus-daemon']

export const missingPrograms = programs.filter(
  (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0,
)

/** Nothing starts by itself on this bus: neither a second daemon nor a window that asks for a password. */
const busConfig = (folder: string) => `<busconfig>
  <type>session</type>
  <listen>unix:path=${folder}/bus</listen>
  <policy context="default">
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
    <allow own="*"/>
  </policy>
</busconfig>
`

/**
 * A real Secret Service on a bus of its own. Its `secret-tool` writes down its own arguments and those
 * of the process that has started it, before it does what it is asked.
 */
export class Keyring {
  #folder = ''
  #bus: ChildProcess | undefined
  #daemon: ChildProcess | undefined

  /** What a program needs to find it. */
  get env(): Record<string, string> {
    return {
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${this.#folder}/bus`,
      PATH: `${this.#folder}/bin:${process.env['PATH']}`,
    }
  }

  async start(): Promise<void> {
    this.#folder = mkdtempSync(join(tmpdir(), 'repoint-keyring-'))
    for (const name of ['bin', 'home', 'run']) mkdirSync(join(this.#folder, name), { mode: 0o700 })
    const real = spawnSync('sh', ['-c', 'command -v secret-tool'], { encoding: 'utf8' })
    const witness = join(this.#folder, 'bin/secret-tool')
    writeFileSync(
      witness,
      `#!/bin/sh
{ printf '%s\\n' "$*"; tr '\\0' ' ' < /proc/$PPID/cmdline; } >> '${this.#folder}/arguments'
exec ${real.stdout.trim()} "$@"
`,
    )
    chmodSync(witness, 0o755)
    writeFileSync(join(this.#folder, 'bus.conf'), busConfig(this.#folder))
    this.#bus = this.#spawn('dbus-daemon', [
      '--nofork',
      '--config-file',
      join(this.#folder, 'bus.conf'),
    ])
    await this.unlock()
  }

  async stop(): Promise<void> {
    await end(this.#daemon)
    await end(this.#bus)
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** A daemon that runs takes no password any more: another takes its place. */
  async unlock(): Promise<void> {
    await this.#restart(['--unlock'], 'a password')
  }

  async lock(): Promise<void> {
    await this.#restart([], '')
  }

  /** Runs `secret-tool` itself. */
  ask(args: readonly string[], input = '') {
    const { status, stdout } = spawnSync('secret-tool', args, {
      env: { ...process.env, ...this.env },
      input,
      encoding: 'utf8',
      timeout: 10_000,
    })
    return { status, stdout }
  }

  /** The arguments of every call so far. */
  arguments(): string {
    return readFileSync(join(this.#folder, 'arguments'), 'utf8')
  }

  async #restart(args: readonly string[], password: string): Promise<void> {
    await end(this.#daemon)
    const always = ['--foreground', '--components=secrets']
    this.#daemon = this.#spawn('gnome-keyring-daemon', [...always, ...args], password)
    for (let tries = 0; tries < 100; tries++) {
      if (this.ask(['search', 'nothing', 'nowhere']).status === 0) return
      await sleep(50)
    }
    throw new Error('gnome-keyring-daemon did not start')
  }

  #spawn(command: string, args: readonly string[], input = ''): ChildProcess {
    const child = spawn(command, args, {
      env: {
        ...process.env,
        ...this.env,
        HOME: join(this.#folder, 'home'),
        XDG_RUNTIME_DIR: join(this.#folder, 'run'),
      },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    child.stdin!.on('error', () => {})
    child.stdin!.end(input)
    return child
  }
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}
