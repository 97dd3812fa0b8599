import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Fleet } from './hosts.ts'

const examples = resolve('examples/fleet')

export interface Played {
  readonly status: number | null
  /** The recap of each host. */
  readonly recap: Readonly<Record<string, Recap>>
  readonly output: string
  /** Command lines of this machine and its hosts that contained the secret during the run. */
  readonly seen: readonly string[]
}

interface Recap {
  readonly changed: number
  readonly failed: number
}

/** The playbooks of examples/fleet against the hosts, by Debian's Ansible, with the key from a vault. */
export class Ansible {
  readonly #fleet: Fleet
  readonly #folder: string
  readonly #vars: Readonly<Record<string, unknown>>
  /** The path of the vault for each key. */
  readonly #vaults = new Map<string, string>()

  /** @param vars the content of an operator's group_vars/all.yml */
  constructor(fleet: Fleet, vars: Readonly<Record<string, unknown>>) {
    this.#fleet = fleet
    this.#folder = join(fleet.folder, 'ansible')
    this.#vars = vars
    mkdirSync(this.#folder)
    writeFileSync(join(this.#folder, 'password'), 'of the vault\n', { mode: 0o600 })
  }

  /**
   * @param key undefined: there is no vault
   * @param hostVars of some hosts, by name
   */
  async play(
    playbook: string,
    key: string | undefined,
    options: {
      readonly args?: readonly string[]
      readonly hostVars?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    } = {},
  ): Promise<Played> {
    const { args = [], hostVars = {} } = options
    const password = ['--vault-password-file', join(this.#folder, 'password')]
    const vault = key === undefined ? undefined : await this.#vaultOf(key, password)

    const hosts = this.#fleet.hosts.map((host) => [
      host,
      { ansible_host: this.#fleet.addressOf(host), ...this.#vars, ...hostVars[host] },
    ])
    const inventory = join(this.#folder, 'inventory.json')
    writeFileSync(inventory, JSON.stringify({ all: { hosts: Object.fromEntries(hosts) } }))

    const seen = new Set<string>()
    const looking = setInterval(() => {
      for (const line of key === undefined ? [] : commandLinesWith(key)) seen.add(line)
    }, 100)
    const { status, output } = await this.#run('ansible-playbook', [
      join(examples, playbook),
      ...['--inventory', inventory],
      ...(vault === undefined ? [] : ['--extra-vars', `@${vault}`, ...password]),
      ...args,
    ])
    clearInterval(looking)
    return { status, output, recap: recapOf(output), seen: [...seen] }
  }

  /** Creates the vault of a key once. */
  async #vaultOf(key: string, password: readonly string[]): Promise<string> {
    const made = this.#vaults.get(key)
    if (made !== undefined) return made
    const vault = join(this.#folder, `vault-${this.#vaults.size}.yml`)
    writeFileSync(vault, `vault_repoint_key: ${key}\n`)
    await this.#run('ansible-vault', ['encrypt', ...password, vault])
    if (readFileSync(vault, 'utf8').includes(key)) throw new Error('the vault is open')
    this.#vaults.set(key, vault)
    return vault
  }

  #run(command: string, args: readonly string[]) {
    return new Promise<{ status: number | null; output: string }>((settle) => {
      const child = spawn(command, args, {
        env: {
          PATH: `${process.env['PATH']}:/usr/bin`,
          HOME: this.#folder,
          LANG: 'C.UTF-8',
          ANSIBLE_HOST_KEY_CHECKING: 'False',
          ANSIBLE_NOCOLOR: '1',
          ANSIBLE_PIPELINING: 'True',
          ANSIBLE_REMOTE_USER: 'root',
          ANSIBLE_PRIVATE_KEY_FILE: join(this.#fleet.folder, 'user_key'),
          ANSIBLE_PYTHON_INTERPRETER: '/usr/bin/python3',
          ANSIBLE_SSH_ARGS:
            '-o ControlMaster=auto -o ControlPersist=30s -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR',
          ANSIBLE_SSH_CONTROL_PATH_DIR: join(this.#folder, 'cp'),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let output = ''
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text
        })
      child.on('close', (status) => settle({ status, output }))
    })
  }
}

function recapOf(output: string): Record<string, Recap> {
  const lines = output.matchAll(/^(\w+) +: ok=\d+ +changed=(\d+) +unreachable=\d+ +failed=(\d+)/gm)
  return Object.fromEntries(
    [...lines].map(([, host, changed, failed]) => [
      host,
      { changed: Number(changed), failed: Number(failed) },
    ]),
  )
}

function commandLinesWith(secret: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        return line.includes(secret) ? [line] : []
      } catch {
        return []
      }
    })
}
