import { expect } from 'vitest'
import { main } from '../../../src/cli.ts'
import { nodePlatform } from '../../../src/platform/node.ts'
import type { Files as FileCalls } from '../../../src/platform/platform.ts'
import { Home } from '../home.ts'
import { worldIn } from '../world.ts'
import type { Files } from './client-files.ts'

export const gateways = [
  {
    name: 'one',
    url: 'https://one.example',
    keys: ['sk-canary-one-01234567', 'sk-canary-one-89abcdef'],
  },
  {
    name: 'two',
    url: 'https://two.example',
    keys: ['sk-canary-two-01234567', 'sk-canary-two-89abcdef'],
  },
] as const
export const canaries: readonly string[] = gateways.flatMap(({ keys }) => keys)
/** What someone writes into files by hand. */
export const handKey = 'sk-hand-0123456789abcdef'
export const handAddress = 'https://hand.example'

/** Created only once, because it listens for signals. */
const platform = nodePlatform()

export interface Result {
  readonly args: readonly string[]
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: the tests read what each command prints
  readonly json: any
}

/** The calls that change a disk. A run can be killed before each of them. */
const changes = new Set<string>([
  ...['mkdir', 'rmdir', 'createNew', 'write', 'fsync', 'fchmod', 'fchown', 'close'],
  ...['rename', 'unlink', 'fsyncFolder'],
])

/** A home in which whole commands run in this process, a minute apart. */
export class Machine {
  readonly home: Home
  #minutes = 0

  constructor(given: Readonly<Record<string, string>>) {
    this.home = new Home(given)
    // A umask that closes new files would hide that repoint leaves one open.
    for (const name of Object.keys(given)) this.home.put(name, given[name]!, 0o644)
  }

  files(): Files {
    return this.home.snapshot()
  }

  async run(args: readonly string[], key?: string): Promise<Result> {
    const { status, output } = await this.#main(args, key)
    const json = JSON.parse(output)
    expect(json.error?.code, `${args.join(' ')}: ${output}`).not.toBe('internal')
    expect(status, `${args.join(' ')}: ${output}`).not.toBe(1)
    return { args, status, json }
  }

  /** Starts a command whose process dies before the call `at` of those that change the disk. */
  async kill(args: readonly string[], at: number, key?: string): Promise<void> {
    let calls = 0
    await this.#main(args, key, (files) => {
      return new Proxy(files, {
        get: (target, name) => {
          const call = target[name as keyof FileCalls] as (...args: unknown[]) => unknown
          return (...values: unknown[]) => {
            if (changes.has(String(name))) calls++
            if (calls >= at) throw new Error('killed')
            return call.apply(target, values)
          }
        },
      })
    })
  }

  async #main(
    args: readonly string[],
    key: string | undefined,
    wrap: (files: FileCalls) => FileCalls = (files) => files,
  ) {
    let output = ''
    const note = (text: string) => {
      output += text
    }
    const world = worldIn(this.home, key === undefined ? {} : { REPOINT_API_KEY: key })
    const status = await main(
      {
        ...platform,
        ...world,
        files: wrap(world.files),
        clock: { now: () => new Date(Date.UTC(2026, 0, 1, 0, ++this.#minutes)) },
        processes: { ...world.processes, which: () => undefined },
        terminal: { ...platform.terminal, canAsk: false, out: note, err: note },
      },
      [...args.map((word) => (word === 'team.json' ? this.home.at(word) : word)), '--json'],
    )
    for (const secret of [...canaries, handKey]) expect(output).not.toContain(secret)
    return { status, output }
  }
}
