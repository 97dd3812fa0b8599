import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** The users of every host, by number. */
export const users = { alice: 2001, bob: 2002 } as const
export type User = keyof typeof users

/** The bridge to the hosts. The gateways and Ansible are on this side of it. */
export const bridge = '10.213.77.1'
const bridgeName = 'repoint-fleet'

const filesBelow = { recursive: true, encoding: 'utf8' } as const

/** Hosts in separate namespaces, each with sshd, users and homes, until `end`. */
export class Fleet {
  readonly folder = mkdtempSync(join(tmpdir(), 'repoint-fleet-'))
  readonly hosts: readonly string[]
  readonly #running = new Map<string, ChildProcess>()

  constructor(count: number) {
    this.hosts = Array.from({ length: count }, (_, index) => `host${index + 1}`)
    for (const name of ['ssh_host_key', 'user_key'])
      run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', this.#at(name)])
    removeNetwork(this.hosts)
    run('ip', ['link', 'add', bridgeName, 'type', 'bridge'])
    run('ip', ['addr', 'add', `${bridge}/24`, 'dev', bridgeName])
    run('ip', ['link', 'set', bridgeName, 'up'])
    for (const host of this.hosts) this.#make(host)
  }

  addressOf(host: string): string {
    return `10.213.77.${this.hosts.indexOf(host) + 11}`
  }

  /** The file of a user, seen from here. */
  homeFile(host: string, user: User, name = ''): string {
    return this.#at(host, 'home', user, name)
  }

  hasProgram(host: string): boolean {
    return existsSync(this.#at(host, 'srv/bin/repoint'))
  }

  /** A file below /srv, which every user of the host can read. */
  shared(host: string, name: string): string {
    return this.#at(host, 'srv', name)
  }

  put(host: string, user: User, name: string, text: string): void {
    const path = this.homeFile(host, user, name)
    const home = this.homeFile(host, user)
    const folders: string[] = []
    for (let one = dirname(path); one.startsWith(home) && one !== home; one = dirname(one))
      folders.push(one)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    for (const one of [...folders, path]) chownSync(one, users[user], users[user])
  }

  /**
   * Starts sshd there, and waits for it.
   *
   * @param env what every login finds
   * @param hasNode false: Node cannot be started there
   */
  async start(
    host: string,
    env: Readonly<Record<string, string>> = {},
    hasNode = true,
  ): Promise<void> {
    const config = [
      `HostKey ${this.#at('ssh_host_key')}`,
      `AuthorizedKeysFile ${this.#at('user_key.pub')}`,
      'PermitRootLogin prohibit-password',
      'StrictModes no',
      'UsePAM no',
      'PidFile none',
      `SetEnv ${Object.entries({ PATH: '/srv/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...env })
        .map(([name, value]) => `"${name}=${value}"`)
        .join(' ')}`,
    ]
    writeFileSync(this.#at(host, 'sshd_config'), `${config.join('\n')}\n`)
    const mounts = ['home', 'srv', 'root'].map(
      (name) => `mount --bind ${this.#at(host, name)} /${name}`,
    )
    const accounts = ['passwd', 'group', 'shadow'].map(
      (name) => `mount --bind ${this.#at(host, name)} /etc/${name}`,
    )
    const script = [
      'mount -t tmpfs none /run',
      'mkdir /run/sshd',
      `hostname ${host}`,
      ...mounts,
      ...accounts,
      ...(hasNode ? [] : [`mount --bind /dev/null ${realpathSync(process.execPath)}`]),
      `mount --bind ${this.#at(host, 'sudoers')} /etc/sudoers`,
      `exec /usr/sbin/sshd -D -e -f ${this.#at(host, 'sshd_config')}`,
    ].join(' && ')
    const inside = 'unshare --mount --uts --pid --fork --kill-child --mount-proc sh -c'.split(' ')
    const child = spawn('ip', ['netns', 'exec', namespaceOf(host), ...inside, script], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env['PATH'] },
    })
    let sshdOutput = ''
    child.stderr!.on('data', (data) => {
      sshdOutput += data
    })
    this.#running.set(host, child)
    await reachable(this.addressOf(host), () => sshdOutput)
  }

  /** Every file of every user but repoint's own state: host, user and path → mode and contents. */
  snapshot(): Record<string, string> {
    const entries: Record<string, string> = {}
    for (const host of this.hosts)
      for (const user of Object.keys(users) as User[])
        for (const name of readdirSync(this.homeFile(host, user), filesBelow)) {
          const path = this.homeFile(host, user, name)
          const { mode, uid } = lstatSync(path)
          if (/^\.local(\/state|$)/.test(name) || !lstatSync(path).isFile()) continue
          entries[`${host} ${user} ${name}`] =
            `${(mode & 0o777).toString(8)} ${uid} ${readFileSync(path, 'utf8')}`
        }
    return entries
  }

  /** Ends the host with all that runs on it. */
  async stop(host: string): Promise<void> {
    const child = this.#running.get(host)
    if (child === undefined) return
    this.#running.delete(host)
    const ended = new Promise((settle) => child.once('close', settle))
    child.kill('SIGKILL')
    await ended
  }

  async end(): Promise<void> {
    for (const host of this.hosts) await this.stop(host)
    removeNetwork(this.hosts)
    rmSync(this.folder, { recursive: true, force: true })
  }

  #at(...names: readonly string[]): string {
    return join(this.folder, ...names)
  }

  #make(host: string): void {
    const namespace = namespaceOf(host)
    const [here, there] = [`rp-${host}`, `rp-${host}-in`]
    run('ip', ['netns', 'add', namespace])
    run('ip', ['link', 'add', here, 'type', 'veth', 'peer', 'name', there])
    run('ip', ['link', 'set', here, 'master', bridgeName, 'up'])
    run('ip', ['link', 'set', there, 'netns', namespace])
    const inside = (...args: string[]) => run('ip', ['-n', namespace, ...args])
    inside('addr', 'add', `${this.addressOf(host)}/24`, 'dev', there)
    inside('link', 'set', there, 'up')
    inside('link', 'set', 'lo', 'up')

    for (const name of ['home', 'srv/bin', 'root'])
      mkdirSync(this.#at(host, name), { recursive: true })
    symlinkSync(process.execPath, this.#at(host, 'srv/bin/node'))
    for (const [user, id] of Object.entries(users)) {
      mkdirSync(this.homeFile(host, user as User), { mode: 0o750 })
      chownSync(this.homeFile(host, user as User), id, id)
    }
    const lines = (line: (user: string, id: number) => string) =>
      Object.entries(users).map(([user, id]) => `${line(user, id)}\n`)
    const account = (name: string, own: readonly string[]) =>
      writeFileSync(this.#at(host, name), readFileSync(`/etc/${name}`, 'utf8') + own.join(''))
    account(
      'passwd',
      lines((user, id) => `${user}:x:${id}:${id}::/home/${user}:/bin/sh`),
    )
    account(
      'group',
      lines((user, id) => `${user}:x:${id}:`),
    )
    // Without passwords: root becomes the others, and logs in with its key.
    const shadow = ['root', ...Object.keys(users)].map((user) => `${user}:*:20000:0:99999:7:::\n`)
    writeFileSync(this.#at(host, 'shadow'), shadow.join(''), { mode: 0o600 })
    // What sshd sets reaches the users too.
    const sudoers = 'Defaults env_keep += "PATH NODE_OPTIONS KILL_BEFORE"\nroot ALL=(ALL:ALL) ALL\n'
    writeFileSync(this.#at(host, 'sudoers'), sudoers, { mode: 0o440 })
    copyFileSync(
      new URL('../crash/kill-hook.mjs', import.meta.url),
      this.shared(host, 'kill-hook.mjs'),
    )
  }
}

function namespaceOf(host: string): string {
  return `repoint-${host}`
}

function removeNetwork(hosts: readonly string[]): void {
  for (const host of hosts) tryRun('ip', ['netns', 'del', namespaceOf(host)])
  for (const host of hosts) tryRun('ip', ['link', 'del', `rp-${host}`])
  tryRun('ip', ['link', 'del', bridgeName])
}

function run(command: string, args: readonly string[]): void {
  const path = `${process.env['PATH']}:/usr/sbin:/sbin`
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: path } })
}

/** Like `run`, but ignores a failure. Removes the possible leftovers of an interrupted run. */
function tryRun(command: string, args: readonly string[]): void {
  try {
    run(command, args)
  } catch {}
}

async function reachable(address: string, said: () => string): Promise<void> {
  const until = performance.now() + 10_000
  while (performance.now() < until) {
    const isThere = await new Promise<boolean>((settle) => {
      const socket = net.connect(22, address, () => settle(true)).on('error', () => settle(false))
      socket.setTimeout(500, () => settle(false)).on('close', () => socket.destroy())
      socket.unref()
      setTimeout(() => socket.destroy(), 600).unref()
    })
    if (isThere) return
    await new Promise((settle) => setTimeout(settle, 50))
  }
  throw new Error(`no sshd at ${address}: ${said()}`)
}
