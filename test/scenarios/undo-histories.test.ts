import { rmSync } from 'node:fs'
import { describe, expect, test, vi } from 'vitest'
import { main } from '../../src/cli.ts'
import type { Client } from '../../src/clients/contract/client.ts'
import { clientRows, loadClient } from '../../src/clients/list.ts'
import { readClientFiles } from '../../src/commands/client-state/client-files.ts'
import type { Session } from '../../src/commands/screen/session.ts'
import { nodePlatform } from '../../src/platform/node.ts'
import { fc } from '../support/fast-check.ts'
import { livedInHome } from '../support/fixtures.ts'
import { Home } from '../support/home.ts'
import { worldIn } from '../support/world.ts'

/** Histories for each client. `npm run test:properties` tries many more. */
const numRuns = Math.max(1, Math.round(Number(process.env['REPOINT_PROPERTY_RUNS'] ?? 0) / 150))
const firstSeed = Number(process.env['REPOINT_PROPERTY_SEED'] ?? 1)
vi.setConfig({ testTimeout: 3_000_000 })

const gateways = ['https://one.example', 'https://two.example'] as const
const keys = ['sk-canary-one-0123456789', 'sk-canary-two-0123456789'] as const
const handKey = 'sk-hand-0123456789'
const handAddress = 'https://hand.example'
/** Created only once, because it listens for signals. */
const platform = nodePlatform()
const clients = await Promise.all(clientRows.map(loadClient))

/** One client in its home. The program runs in this process. */
class Machine {
  readonly home: Home
  readonly client: Client
  /** The connections that runs found, as JSON. */
  readonly #found = new Set<string>()
  #minutes = 0

  constructor(client: Client) {
    this.client = client
    this.home = new Home(livedInHome(client.id))
  }

  async run(args: readonly string[], key?: string) {
    let output = ''
    const note = (text: string) => {
      output += text
    }
    const world = worldIn(this.home, key === undefined ? {} : { REPOINT_API_KEY: key })
    this.#found.add(JSON.stringify(this.connection()))
    const status = await main(
      {
        ...platform,
        ...world,
        clock: { now: () => new Date(Date.UTC(2026, 0, 1, 0, ++this.#minutes)) },
        processes: { ...world.processes, which: () => undefined },
        terminal: { ...platform.terminal, canAsk: false, out: note, err: note },
      },
      [...args, '--yes', '--json'],
    )
    for (const secret of [...keys, handKey]) expect(output).not.toContain(secret)
    const json = JSON.parse(output)
    expect(json.error?.code, output).not.toBe('internal')
    return { status, json, output }
  }

  /** The address and key that the client uses. */
  connection(): { readonly root?: string | undefined; readonly key?: string | undefined } {
    const session = { platform: { ...platform, ...worldIn(this.home) } } as unknown as Session
    const { baseUrl, key } = this.client.read(readClientFiles(session, this.client)).endpoint
    return { root: baseUrl, key }
  }

  /**
   * An undo must not create a connection that mixes two gateways. It may restore one that a run found:
   * somebody else made it.
   */
  async undo(args: readonly string[]) {
    const result = await this.run(['rollback', ...args])
    expect([0, 8, 10], result.output).toContain(result.status)
    const after = this.connection()
    if (this.#found.has(JSON.stringify(after))) return result

    for (const [index, gateway] of gateways.entries()) {
      const isThere = after.root?.startsWith(gateway) ?? false
      if (isThere) expect(after.key, `key at ${gateway} after ${args}`).toBe(keys[index])
      if (after.key === keys[index])
        expect(isThere, `key of ${gateway} at ${after.root}`).toBe(true)
    }
    return result
  }

  /** Someone changes every existing file of the client. */
  edit(change: (text: string, name: string) => string): void {
    for (const [name, what] of Object.entries(this.home.snapshot())) {
      if (!what.startsWith('file')) continue
      const text = this.home.text(name)
      const changed = change(text, name)
      if (changed !== text) this.home.put(name, changed)
    }
  }
}

type Step = (machine: Machine) => Promise<unknown> | unknown

/** A step with the name that a failing history prints. */
function named(name: string, step: Step): Step {
  return Object.assign(step, { [fc.toStringMethod]: () => name })
}

const setup: fc.Arbitrary<Step> = fc
  .record({ gateway: fc.nat(1), model: fc.constantFrom('gpt-5.6-sol', 'gpt-5.4') })
  .map(({ gateway, model }) =>
    named(`setup ${gateway} ${model}`, async (machine) => {
      const { id } = machine.client
      const slots = ['--opus-model', model, '--haiku-model', model, '--fable-model', model]
      const models =
        id === 'claude' ? [] : ['--model', model, ...(id === 'claude-gpt' ? slots : [])]
      const args = [id, '--base-url', gateways[gateway]!, '--no-verify', ...models]
      const { status, output } = await machine.run(args, keys[gateway])
      // 8: a setup cannot edit the files as someone left them.
      expect([0, 8], output).toContain(status)
    }),
  )
const off = named('off', async (machine) => {
  const { status, output } = await machine.run(['off', machine.client.id])
  expect([0, 8], output).toContain(status)
  if (status !== 0) return

  const { root, key } = machine.connection()
  expect(root).toBeUndefined()
  expect([...keys, handKey]).not.toContain(key)
})
const undo: fc.Arbitrary<Step> = fc
  .constantFrom([], ['--force'], ['--redo'], ['--original'])
  .map((args) => named(`rollback ${args}`, (machine) => machine.undo(args)))

const edits: Readonly<Record<string, (text: string, name: string) => string>> = {
  ourKey: (text) => text.replaceAll(/sk-canary-(one|two)-0123456789/g, handKey),
  ourAddress: (text) => text.replaceAll(/https:\/\/(one|two)\.example/g, handAddress),
  ourModel: (text) => text.replaceAll('gpt-5.6-sol', 'gpt-5.5'),
  otherKey: (text, name) =>
    name.endsWith('.toml')
      ? `${text}\n[zzz]\nx = 1\n`
      : text.replace(/^\s*\{/, (start) => `${start}"zzz": 1${/\{\s*\}/.test(text) ? '' : ','}`),
  comment: (text, name) =>
    /\.(toml|jsonc)$/.test(name)
      ? `# mine\n${text}`.replace(/^# mine(?=\n\s*\{)/, '// mine')
      : text,
  rewrite: (text) => {
    try {
      return `${JSON.stringify(JSON.parse(text), undefined, 3)}\n`
    } catch {
      return text
    }
  },
  lineEnds: (text) => text.replaceAll(/\r?\n/g, '\r\n'),
}
const foreign: fc.Arbitrary<Step> = fc.oneof(
  fc
    .constantFrom(...Object.entries(edits))
    .map(([name, edit]) => named(`edit ${name}`, (machine) => machine.edit(edit))),
  fc.nat(9).map((index) =>
    named(`delete ${index}`, (machine) => {
      const names = Object.entries(machine.home.snapshot()).filter(([, what]) => /^file/.test(what))
      const name = names[index]?.[0]
      if (name !== undefined) rmSync(machine.home.at(name))
    }),
  ),
)

async function withHistory(
  client: Client,
  steps: readonly Step[],
  check: (machine: Machine) => Promise<void>,
): Promise<void> {
  const machine = new Machine(client)
  try {
    for (const step of steps) await step(machine)
    await check(machine)
  } finally {
    machine.home.remove()
  }
}

describe.each(clients.map((client, index) => [client.id, client, firstSeed + index] as const))(
  '%s',
  (_, client, seed) => {
    test('as many forced rollbacks as runs restore the original bytes', async () => {
      const steps = fc.array(fc.oneof(setup, fc.constant(off)), { minLength: 1, maxLength: 4 })
      await fc.assert(
        fc.asyncProperty(steps, (history) =>
          withHistory(client, [], async (machine) => {
            const original = machine.home.snapshot()
            for (const step of history) await step(machine)
            const { json } = await machine.run(['rollback', '--list'])
            for (const _ of json.runs)
              expect((await machine.undo(['--force'])).json).toMatchObject({ changed: true })
            expect(machine.home.snapshot()).toEqual(original)
            expect((await machine.undo([])).json).toMatchObject({ undoes: null })
          }),
        ),
        { numRuns, seed },
      )
    })

    test('no undo mixes two gateways, and each goes further back, whatever others write', async () => {
      const steps = fc
        .tuple(
          setup,
          fc.array(fc.oneof(setup, foreign, undo, fc.constant(off)), {
            minLength: 2,
            maxLength: 6,
          }),
        )
        .map(([first, others]) => [first, ...others])
      await fc.assert(
        fc.asyncProperty(steps, (history) =>
          withHistory(client, history, async (machine) => {
            const undone: string[] = []
            for (;;) {
              const { status, json } = await machine.undo([])
              // 8: someone left a file that cannot be parsed.
              if (status === 8 || json.undoes === null) break
              expect(undone).not.toContain(json.undoes)
              undone.push(json.undoes)
            }
          }),
        ),
        { numRuns, seed },
      )
    })
  },
)
