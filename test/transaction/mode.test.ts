import { chmodSync, statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { FileEdit, Plan } from '../../src/edits/types.ts'
import { UserError } from '../../src/errors.ts'
import type { Files } from '../../src/platform/platform.ts'
import { applyPlan } from '../../src/transaction/apply-plan.ts'
import { checkPlannedFiles } from '../../src/transaction/check-planned-files.ts'
import { applyRollback, planRollback } from '../../src/transaction/plan-rollback.ts'
import type { World } from '../../src/transaction/record.ts'
import { recoverRun } from '../../src/transaction/recover.ts'
import { aPairPlan, aPlan, bytesOf, settingsEdit } from '../support/a-plan.ts'
import { faultyFiles } from '../support/faulty-files.ts'
import { ForgetfulFiles } from '../support/forgetful-files.ts'
import { aHome } from '../support/home.ts'
import { home, stateFolder, sweepPowerLoss, worldOf } from '../support/power-loss.ts'
import { sourceIn, withCalls, worldIn } from '../support/world.ts'

const login = '{"OPENAI_API_KEY": "sk-mine"}\n'

/** The contents stay, the mode changes. */
function closing(path: string, text = login): Plan {
  const bytes = bytesOf(text)
  const edit: FileEdit = {
    client: 'codex',
    path,
    format: 'json',
    scope: 'keys',
    changes: [],
    before: bytes,
    after: bytes,
    holdsSecret: true,
    mode: 0o600,
  }
  return aPlan([edit], 'repair')
}

describe('a run that changes only a mode', () => {
  const name = '.codex/auth.json'

  test('does nothing if the mode is already right', () => {
    const real = aHome()
    real.put(name, login, 0o600)
    expect(applyPlan(worldIn(real), closing(real.at(name))).run).toBeUndefined()
  })

  test('refuses a file that was changed in the meantime', () => {
    const real = aHome()
    real.put(name, '{}\n', 0o644)
    expect(() => applyPlan(worldIn(real), closing(real.at(name)))).toThrow(
      'Another program changed',
    )
    expect(statSync(real.at(name)).mode & 0o777).toBe(0o644)
  })

  test.each([
    ['another mode', (path: string) => chmodSync(path, 0o400), 0o400],
    ['another login', () => {}, 0o600],
  ])('is undone without opening a file that got %s since', (what, change, mode) => {
    const real = aHome()
    real.put(name, login, 0o644)
    applyPlan(worldIn(real), closing(real.at(name)))
    change(real.at(name))
    if (what === 'another login') real.put(name, '{"tokens": {}}')
    expect(planRollback(worldIn(real))).toBeUndefined()
    expect(statSync(real.at(name)).mode & 0o777).toBe(mode)
  })

  test('is undone with other runs, without the mode that someone set between two of them', () => {
    const real = aHome()
    real.put(name, login, 0o640)
    applyPlan(worldIn(real), aPairPlan(sourceIn(real)))
    chmodSync(real.at(name), 0o644)
    applyPlan(worldIn(real), closing(real.at(name), real.text(name)))
    applyRollback(worldIn(real), planRollback(worldIn(real), { which: { kind: 'all' } })!)
    expect(real.text(name)).toBe(login)
    expect(statSync(real.at(name)).mode & 0o777).toBe(0o644)
  })
})

describe('an interrupted run that changes only a mode', () => {
  const auth = `${home}/.codex/auth.json`
  const plan = closing(auth)

  function start(): ForgetfulFiles {
    const files = new ForgetfulFiles()
    files.put(auth, login, 0o644)
    return files
  }

  function closed(): ForgetfulFiles {
    const files = start()
    applyPlan(worldOf(files, 1), plan)
    return files.afterSync()
  }

  const works = [
    { what: 'setup', from: start, work: (world: World) => applyPlan(world, plan), end: 0o600 },
    {
      what: 'rollback',
      from: closed,
      work: (world: World) => applyRollback(world, planRollback(world)!),
      end: 0o644,
    },
  ]

  /** The broken guarantees after repoint has started again. */
  function problems(files: ForgetfulFiles, boot: number, end: number | undefined): string[] {
    recoverRun(worldOf(files, boot))
    const found = [
      ...(files.text(auth) === login ? [] : ['the contents are not what they were']),
      ...files.names(`${home}/.codex`).filter((name) => name !== 'auth.json'),
      ...files.names(stateFolder).filter((name) => /journal|draft/.test(name)),
    ]
    const mode = files.mode(auth)
    if (mode !== 0o644 && mode !== 0o600) found.push(`mode ${mode?.toString(8)}`)
    if (end !== undefined && mode !== end) found.push('said to be done, and it is not')
    return found
  }

  test.each(works)(
    '$what: the files are all old or all new after every power loss',
    ({ from, work, end }) => {
      const { states, violations } = sweepPowerLoss({
        start: from(),
        work: (world) => work(world),
        check: (files, hasEnded) => problems(files, 3, hasEnded ? end : undefined),
        boot: 2,
      })
      expect(violations).toEqual([])
      expect(states).toBeGreaterThan(50)
    },
  )

  test.each(works)(
    '$what: the files are unchanged or complete after every fault',
    ({ from, work, end }) => {
      const modeBefore = from().mode(auth)
      for (let at = 1; ; at++) {
        const files = from()
        const faulty = faultyFiles(files, { code: 'EIO', at })
        let failure: unknown
        try {
          work(worldOf(faulty.files as Files, 2))
        } catch (error) {
          failure = error
        }
        if (faulty.failures() === 0) break
        const isUnchanged = failure instanceof UserError && failure.filesState === 'unchanged'
        expect([at, files.mode(auth)]).toEqual([at, isUnchanged ? modeBefore : end])
        expect([at, problems(files, 3, undefined)]).toEqual([at, []])
      }
    },
  )
})

test('a file that a setup closed is opened again, even if coreutils are gone since', () => {
  const aLocal = aHome()
  aLocal.put('.claude/settings.json', '{}\n', 0o664)
  const before = aLocal.snapshot()
  applyPlan(worldIn(aLocal), aPlan([settingsEdit(sourceIn(aLocal))]))

  const world = withCalls(worldIn(aLocal), {
    canCopyAttributes: () => false,
    copyAttributes: () => false,
  })
  const plan = planRollback(world)!
  expect(checkPlannedFiles(world, plan, { rollback: plan })).toMatchObject([
    { code: 'attributes-lost' },
  ])
  applyRollback(world, plan)
  expect(aLocal.snapshot()).toEqual(before)
})

test.runIf(process.platform === 'linux')(
  'a file that gives its group more rights is not closed without coreutils: its undo could open it too far',
  () => {
    const aLocal = aHome()
    aLocal.put('.claude/settings.json', '{}\n', 0o664)
    const before = aLocal.snapshot()
    const world = withCalls(worldIn(aLocal), {
      canCopyAttributes: () => false,
      copyAttributes: () => false,
    })
    for (const work of [checkPlannedFiles, applyPlan]) {
      const plan = aPlan([settingsEdit(sourceIn(aLocal))])
      expect(() => work(world, plan)).toThrow(
        expect.objectContaining({
          code: 'not-permitted',
          hint: expect.stringContaining(`chmod g=o ${aLocal.at('.claude/settings.json')}`),
        }),
      )
    }
    expect(aLocal.snapshot()).toEqual(before)
  },
)
