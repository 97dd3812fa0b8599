import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { main } from '../../src/cli.ts'
import { familyRows, loadClients } from '../../src/clients/list.ts'
import { nodePlatform } from '../../src/platform/node.ts'
import { fc } from '../support/fast-check.ts'
import { livedInHome } from '../support/fixtures.ts'
import { Home } from '../support/home.ts'
import { triesAll } from '../support/sample.ts'
import { worldIn } from '../support/world.ts'

const numRuns = triesAll ? 60 : 5
vi.setConfig({ testTimeout: 300_000 })

const canaries = ['sk-canary-one-0123456789', 'sk-canary-two-0123456789'] as const
/** The user already has the first gateway, with another key. */
const gateways = ['https://own.example', 'https://gateway.example'] as const
const plain = '.config/opencode/opencode.json'
const commented = '.config/opencode/opencode.jsonc'
const handMade = {
  '.claude/settings.json':
    '{"env":{"ANTHROPIC_BASE_URL":"https://own.example","ANTHROPIC_AUTH_TOKEN":"sk-own-0123456789"}}',
  '.codex/config.toml': '# mine\nmodel = "o3"\n',
  '.codex/auth.json': '{"OPENAI_API_KEY": "sk-own-0123456789"}',
  [plain]:
    '{\n  "model": "gateway/mine",\n  "provider": {"gateway": {"npm": "n", "options": {"baseURL": "https://own.example/v1"}}}\n}\n',
  '.local/share/opencode/auth.json': '{"gateway": {"type": "api", "key": "sk-own-0123456789"}}',
}

const families = (await loadClients(familyRows)).flatMap((client) => {
  const machine = { os: 'linux', env: {}, home: '/', cwd: '/' } as const
  const files = client.files(machine, {
    exists: () => false,
    entries: () => [],
    readStart: () => '',
  })
  const targets = files.filter(({ use }) => use === 'editable')
  return targets.length === 0 ? [] : [{ id: client.id, targets }]
})
const clients = families.map(({ id }) => id)
const given: Readonly<Record<string, string>> = {
  ...Object.assign(
    {},
    ...clients.filter((id) => !['codex', 'claude', 'opencode'].includes(id)).map(livedInHome),
  ),
  ...handMade,
}
/** The files that may contain a key of a setup. */
const keyFiles = families.flatMap(({ targets }) =>
  targets.filter(({ holdsSecret }) => holdsSecret).map(({ path }) => path.slice(1)),
)

type Step = (home: Home, run: Run) => Promise<void> | void
type Run = (args: readonly string[], key?: string) => Promise<Result>
interface Result {
  readonly status: number
  readonly changed: boolean
  readonly code: string | undefined
  /** The files in which an undo kept settings. */
  readonly kept: readonly string[]
}
/** A step with the name that a failing sequence prints. */
function named(name: string, step: Step): Step {
  return Object.assign(step, { [fc.toStringMethod]: () => name })
}
/** Created only once, because it listens for signals. */
const platform = nodePlatform()

/** Runs command lines in this process, a minute apart. */
function runIn(home: Home): Run {
  let minutes = 0
  return async (args, key) => {
    let output = ''
    const world = worldIn(home, key === undefined ? {} : { REPOINT_API_KEY: key })
    const note = (text: string) => {
      output += text
    }
    const status = await main(
      {
        ...platform,
        ...world,
        clock: { now: () => new Date(Date.UTC(2026, 0, 1, 0, ++minutes)) },
        processes: { ...world.processes, which: () => undefined },
        terminal: { ...platform.terminal, canAsk: false, out: note, err: note },
      },
      [...args, '--yes', '--json'],
    )
    for (const canary of canaries) expect(output).not.toContain(canary)
    const document = JSON.parse(output)
    expect(document.error?.code, output).not.toBe('internal')
    const files: { path: string; kept?: string[] }[] = document.files ?? []
    return {
      status,
      changed: document.changed === true,
      code: document.error?.code,
      kept: files.filter(({ kept = [] }) => kept.length > 0).map(({ path }) => path),
    }
  }
}

/** Runs a command, checks that rollback restores every byte, and runs the command again. */
function command(args: readonly string[], key?: string): Step {
  return named(args.join(' '), async (home, run) => {
    const before = home.snapshot()
    const { status, changed } = await run(args, key)
    const after = home.snapshot()
    if (!changed) expect(after).toEqual(before)
    const isUndo = args[0] === 'rollback'
    // 10: rollback keeps what others have changed since.
    expect(isUndo ? [0, 8, 10] : [0, 8]).toContain(status)
    const ways = [
      isUndo ? ['rollback', '--redo'] : ['rollback'],
      isUndo ? args : ['rollback', '--redo'],
    ]
    for (const [index, expected] of (changed ? [before, after] : []).entries()) {
      const now = home.snapshot()
      const back = await run(ways[index]!)
      expect(home.snapshot()).toEqual(afterUndo(home, back, now, expected))
      if (back.status !== 0) break
    }
  })
}

/**
 * The files after an undo. 8: nothing changed. 10: a client that would have a problem keeps its settings, and
 * the other clients of the run are undone.
 */
function afterUndo(
  home: Home,
  { status, kept }: Result,
  now: Readonly<Record<string, string>>,
  expected: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (status === 8) return now
  if (status === 10) expect(kept).not.toEqual([])
  const stays = (name: string) =>
    kept.some((path) => path === home.at(name) || path.startsWith(`${home.at(name)}/`))
  const names = Object.keys({ ...now, ...expected })
  const left = names.map((name) => [name, (stays(name) ? now : expected)[name]] as const)
  return Object.fromEntries(left.filter(([, what]) => what !== undefined)) as Record<string, string>
}

function setup(client: string, gateway: 0 | 1): Step {
  const model = client === 'claude' ? [] : ['--model', 'gpt-5.6-sol']
  return command(
    [client, '--base-url', gateways[gateway], '--no-verify', ...model],
    canaries[gateway],
  )
}

/** A user's change of an existing file. */
function byHand(what: string, name: string, work: (home: Home) => void): Step {
  return named(`${what} ${name}`, (home) => {
    if (existsSync(home.at(name))) work(home)
  })
}

const names = [...Object.keys(given), commented]
const step: fc.Arbitrary<Step> = fc.oneof(
  fc
    .tuple(fc.constantFrom(...clients), fc.constantFrom(0, 1))
    .map(([client, gateway]) => setup(client, gateway as 0 | 1)),
  fc.subarray(['--original', '--force']).map((flags) => command(['rollback', ...flags])),
  fc.constantFrom(...clients).map((client) => command(['rollback', client])),
  fc.constant(command(['doctor', '--fix', '--no-verify'])),
  fc.constantFrom([], ...clients.map((client) => [client])).map((ids) => command(['off', ...ids])),
  fc.constantFrom([plain, commented], [commented, plain]).map(([from, to]) =>
    byHand('rename', from!, (home) => {
      if (!existsSync(home.at(to!))) renameSync(home.at(from!), home.at(to!))
    }),
  ),
  fc
    .constantFrom(...names)
    .map((name) => byHand('open', name, (home) => chmodSync(home.at(name), 0o644))),
  fc
    .constantFrom(...names)
    .map((name) =>
      byHand('edit', name, (home) =>
        home.put(name, home.text(name).replaceAll('own', 'new').replace('mine', 'ours')),
      ),
    ),
  fc
    .constantFrom(...names)
    .map((name) =>
      byHand('end lines otherwise in', name, (home) =>
        home.put(name, home.text(name).replaceAll('\n', '\r\n').replaceAll('\r\r', '\r')),
      ),
    ),
  fc.constantFrom(...names).map((name) => byHand('delete', name, (home) => rmSync(home.at(name)))),
)

test('rollback undoes each command of a random sequence, and all of them at the end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), async (steps) => {
      const home = new Home(given)
      try {
        const run = runIn(home)
        for (const one of steps) {
          await one(home, run)
          for (const [name, what] of Object.entries(home.snapshot()))
            expect(holdsKey(what) && !keyFiles.includes(name), name).toBe(false)
        }
        for (const client of clients) await undoAll(client, home, run)
        for (const what of Object.values(home.snapshot())) expect(holdsKey(what)).toBe(false)
      } finally {
        home.remove()
      }
    }),
    { numRuns },
  )
})

/**
 * Undoes every run of a client. repoint refuses that if someone renamed opencode's file: the renamed one
 * still has our address, and the undo would restore the user's earlier key for it. Without that file
 * nothing is refused.
 */
async function undoAll(client: string, home: Home, run: Run): Promise<void> {
  const before = home.snapshot()
  const undo = () => run(['rollback', client, '--original', '--force'])
  const { status, code } = await undo()
  if (status === 0) return

  expect([client, code]).toEqual(['opencode', 'config-conflict'])
  expect(home.snapshot()).toEqual(before)
  for (const name of [plain, commented]) rmSync(home.at(name), { force: true })
  expect((await undo()).status).toBe(0)
}

function holdsKey(what: string): boolean {
  const text = Buffer.from(what.split(' ').at(-1)!, 'base64').toString()
  return canaries.some((canary) => text.includes(canary))
}
