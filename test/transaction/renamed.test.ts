import { existsSync, renameSync, symlinkSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { FileEdit } from '../../src/edits/plan.ts'
import { applyPlan } from '../../src/transaction/apply.ts'
import {
  applyRollback,
  planRollback,
  type RollbackOptions,
} from '../../src/transaction/rollback.ts'
import { aPlan, keysEdit, providerEdits } from '../support/a-plan.ts'
import { aHome, type Home } from '../support/home.ts'
import { sourceIn, worldIn } from '../support/world.ts'

const auth = '.local/share/opencode/auth.json'
const plain = '.config/opencode/opencode.json'
const commented = '.config/opencode/opencode.jsonc'
const own = '{\n  "share": "disabled"\n}\n'
const ownAuth = '{"gateway": {"type": "api", "key": "sk-old"}}'

function setUp(home: Home, edits: readonly FileEdit[]) {
  return applyPlan(worldIn(home), aPlan(edits, 'opencode')).run!
}

function rollBack(home: Home, options: RollbackOptions = {}) {
  const plan = planRollback(worldIn(home), options)!
  return { ...plan, applied: applyRollback(worldIn(home), plan) }
}

function rename(home: Home, from: string, to: string): void {
  renameSync(home.at(from), home.at(to))
}

describe('a file that its user gave the other ending of JSON', () => {
  test.each([
    [plain, commented],
    [commented, plain],
  ])('%s is undone as %s, to the byte, and goes forward again there', (then, now) => {
    const home = aHome({ [then]: own, [auth]: ownAuth })
    const [key, address] = providerEdits(sourceIn(home))
    const before = home.text(then)
    setUp(home, [key!, keysOf(home, then, address!)])
    rename(home, then, now)
    const written = home.text(now)
    const { files } = rollBack(home)
    expect(files.map(({ path, action }) => [path, action])).toEqual([
      [home.at(now), 'updated'],
      [home.at(auth), 'updated'],
    ])
    expect(home.text(now)).toBe(before)
    expect(home.text(auth)).toBe(ownAuth)
    expect(existsSync(home.at(then))).toBe(false)
    rollBack(home)
    expect(home.text(now)).toBe(written)
  })

  test('keeps what was written into it since', () => {
    const home = aHome({ [plain]: own, [auth]: ownAuth })
    setUp(home, providerEdits(sourceIn(home)))
    rename(home, plain, commented)
    home.put(commented, home.text(commented).replace('{\n', '{\n  // mine\n'))
    rollBack(home)
    expect(home.text(commented)).toBe(own.replace('{\n', '{\n  // mine\n'))
    expect(home.text(auth)).toBe(ownAuth)
  })

  test('is one file to a way back through runs of both names', () => {
    const home = aHome({ [plain]: own, [auth]: ownAuth })
    const first = setUp(home, providerEdits(sourceIn(home), 'https://first.example/v1', 'sk-1'))
    rename(home, plain, commented)
    const [key] = providerEdits(sourceIn(home), 'https://second.example/v1', 'sk-2')
    const address = keysEdit(
      sourceIn(home),
      commented,
      [
        {
          path: ['provider', 'gateway', 'options', 'baseURL'],
          value: 'https://second.example/v1',
          isBound: true,
        },
      ],
      { client: 'opencode' },
    )
    setUp(home, [key!, address])
    rollBack(home, { run: first.id })
    expect(home.text(commented)).toBe(own)
    expect(home.text(auth)).toBe(ownAuth)
  })

  test('keeps its new name on the way back to before a rollback that took it away', () => {
    const home = aHome()
    setUp(home, providerEdits(sourceIn(home)))
    const away = rollBack(home).applied.run!
    rollBack(home)
    rename(home, plain, commented)
    const written = home.text(commented)
    rollBack(home, { run: away.id, force: true })
    expect(home.text(commented)).toBe(written)
    expect(existsSync(home.at(plain))).toBe(false)
    rollBack(home, { original: true })
    expect([commented, plain, auth].map((name) => existsSync(home.at(name)))).toEqual([
      false,
      false,
      false,
    ])
  })

  test('is not taken for ours when it names another address', () => {
    const home = aHome({ [plain]: own, [auth]: ownAuth })
    setUp(home, providerEdits(sourceIn(home)))
    rename(home, plain, commented)
    const theirs = home.text(commented).replace('gateway.example', 'theirs.example')
    home.put(commented, theirs)
    const written = home.text(auth)
    rollBack(home)
    expect(home.text(commented)).toBe(theirs)
    expect(home.text(auth)).toBe(written)
  })

  test('is refused like any other place that leads to no regular file', () => {
    const home = aHome({ [plain]: own, [auth]: ownAuth, 'elsewhere/x': '' })
    setUp(home, providerEdits(sourceIn(home)))
    rename(home, plain, 'elsewhere/opencode.json')
    symlinkSync(home.at('elsewhere'), home.at(commented))
    const before = home.snapshot()
    rollBack(home)
    expect(home.snapshot()).toEqual(before)
  })
})

/** The same edit of a file with another name. */
function keysOf(home: Home, name: string, { changes, client }: FileEdit): FileEdit {
  return keysEdit(sourceIn(home), name, changes, { client })
}
