import { chmodSync, rmSync } from 'node:fs'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { fc } from '../support/fast-check.ts'
import { livedInHome } from '../support/fixtures.ts'
import { foreignHome } from '../support/foreign-homes.ts'
import { clients } from '../support/walk/client-files.ts'
import { Expectation, type Undoing } from '../support/walk/expectation.ts'
import { handKey, Machine } from '../support/walk/machine.ts'
import { rollBack, type Step, steps } from '../support/walk/steps.ts'

const firstSeed = Number(process.env['REPOINT_PROPERTY_SEED'] ?? 1)
/**
 * Walks for each client. Many more by hand, to search: `REPOINT_PROPERTY_SEED=$RANDOM REPOINT_PROPERTY_RUNS=5000
 * npx vitest run --project unit test/scenarios/walk.test.ts -t 'pi '`. CI takes the same walks each time.
 */
const numRuns = Math.max(1, Math.round(Number(process.env['REPOINT_PROPERTY_RUNS'] ?? 0) / 500))
vi.setConfig({ testTimeout: 30_000_000 })

/** What a client's files are before the first command. */
const homes: Readonly<Record<string, (client: string) => Readonly<Record<string, string>>>> = {
  empty: () => ({}),
  'lived in': livedInHome,
  'of another tool': foreignHome,
}

type Ending = (expected: Expectation, machine: Machine) => Promise<void>
const endings: Readonly<Record<string, Ending>> = {
  'rollback until nothing is left': async (expected, machine) => {
    for (let count = 0; ; count++) {
      expect(count, 'rollback never ends').toBeLessThan(60)
      const undoing = { what: 'newest', client: undefined, isForced: false } as const
      const { status, json } = await rollBack(expected, machine, undoing)
      if (status === 0 && json.undoes === null) break
      if (status === 0) continue
      const forced = await rollBack(expected, machine, { ...undoing, isForced: true })
      if (forced.status !== 0) return
    }
  },
  'rollback --original --force': async (expected, machine) => {
    await rollBack(expected, machine, { what: 'original', client: undefined, isForced: true })
  },
  off: async (expected, machine) => {
    const before = machine.files()
    const result = await machine.run(['off', '--yes'])
    expect([0, 8]).toContain(result.status)
    expected.changed(before, result)
    expected.checkOff(result, [])
  },
}

async function walk(
  client: string,
  other: string,
  { home, ending, commands }: { home: string; ending: string; commands: Iterable<Step> },
): Promise<void> {
  const machine = new Machine({ ...homes[home]!(client), ...homes[home]!(other) })
  const expected = new Expectation(machine)
  try {
    await fc.asyncModelRun(() => ({ model: expected, real: machine }), commands)
    await endings[ending]!(expected, machine)
    expected.checkFiles(ending)
  } finally {
    machine.home.remove()
  }
}

function aWalk(client: string, other: string) {
  return fc.record({
    home: fc.constantFrom(...Object.keys(homes)),
    ending: fc.constantFrom(...Object.keys(endings)),
    commands: fc.array(fc.oneof(...steps([client, other])), {
      minLength: 3,
      maxLength: 14,
      size: 'max',
    }),
  })
}

describe.each(clients.map((client, index) => [client, clients[(index + 1) % clients.length]!]))(
  '%s',
  (client, other) => {
    test('commands, undos and edits by others leave what a user expects', async () => {
      await fc.assert(
        fc.asyncProperty(aWalk(client, other), (one) => walk(client, other, one)),
        { numRuns, seed: firstSeed + clients.indexOf(client) },
      )
    })
  },
)

/** A walk whose steps are written out. */
function aWalkByHand(files: Readonly<Record<string, string>> = {}) {
  const machine = new Machine(files)
  onTestFinished(() => machine.home.remove())
  const expected = new Expectation(machine)
  return {
    machine,
    home: machine.home,
    expected,
    change: async (args: readonly string[], key?: string) => {
      const before = machine.files()
      expected.changed(before, await machine.run([...args, '--yes'], key))
    },
    undo: (undoing: Pick<Undoing, 'what'> & Partial<Undoing>) =>
      rollBack(expected, machine, { client: undefined, isForced: false, ...undoing }),
  }
}

const key = 'sk-canary-one-01234567'

describe('a held repair is over once a forced undo of the setup restored the original', () => {
  test.each([
    ['a redo for another client', { what: 'redo', client: 'opencode' }],
    ['another rollback', { what: 'newest' }],
  ] as const)('after %s', async (_, undoing) => {
    const files = { ...foreignHome('claude'), ...foreignHome('opencode') }
    const { machine, home, expected, change, undo } = aWalkByHand(files)
    const original = machine.files()
    const file = '.claude/settings.json'
    const at = ['--base-url', 'https://one.example', '--name', 'one']

    await change(['claude', ...at, '--no-verify'], key)
    rmSync(home.at(file))
    expected.othersWrote()
    // It also closes opencode's file, so its undo is about both clients.
    await change(['doctor', '--fix', '--no-verify'])
    home.replace(file, key, handKey)
    expected.othersWrote()
    expect((await undo({ what: 'newest' })).status).toBe(10)
    home.replace(file, handKey, 'sk-hand-another')
    expected.othersWrote()
    await undo(undoing)

    await endings['rollback until nothing is left']!(expected, machine)
    expect(machine.files()).toEqual(original)
  })
})

test('a redo keeps the order of the setups that one undo took back together', async () => {
  const { machine, home, expected, change, undo } = aWalkByHand()
  const at = ['--base-url', 'https://one.example', '--name', 'one']
  const setup = ['cline', ...at, '--no-verify', '--model', 'gpt-5.6-sol']
  const undone = async (what: 'newest' | 'redo') => {
    const { status, json } = await undo({ what })
    expect([status, json.changed]).toEqual([0, true])
  }

  await change(setup, key)
  await change(['off'])
  await change(setup, key)
  const file = '.cline/data/settings/providers.json'
  rmSync(home.at(file))
  expected.othersWrote()
  // The second setup has nothing left to undo, so its undo is that of `off` too.
  await undone('newest')
  await undone('redo')
  await undone('newest')
  chmodSync(home.at(file), 0o644)
  expected.othersWrote(file)
  await endings['rollback until nothing is left']!(expected, machine)
  expect(machine.files()).toEqual({})
})
