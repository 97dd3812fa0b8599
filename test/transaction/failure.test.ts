import { describe, expect, test } from 'vitest'
import type { Files } from '../../src/platform/platform.ts'
import { applyPlan } from '../../src/transaction/apply-plan.ts'
import { listRuns } from '../../src/transaction/records/records.ts'
import { aPairPlan } from '../support/a-plan.ts'
import { aHome } from '../support/home.ts'
import { sourceIn, withCalls, worldIn } from '../support/world.ts'

function refusing(syscall: string) {
  return () => {
    throw Object.assign(new Error('EACCES'), { code: 'EACCES', syscall })
  }
}

describe('a permission error names the failed action', () => {
  const cases: readonly (readonly [call: keyof Files, syscall: string, said: string])[] = [
    ['read', 'read', 'cannot be read'],
    ['lstat', 'lstat', 'cannot be read'],
    ['realpath', 'realpath', 'cannot be read'],
    ['createNew', 'open', 'cannot be written'],
    ['mkdir', 'mkdir', 'cannot be written'],
    ['rename', 'rename', 'cannot be written'],
  ]
  test.each(cases)('%s: %s %s', (call, syscall, said) => {
    const home = aHome({ '.codex/config.toml': '' })
    const plan = aPairPlan(sourceIn(home))
    const world = withCalls(worldIn(home), { [call]: refusing(syscall) })
    expect(() => applyPlan(world, plan)).toThrow(
      expect.objectContaining({
        code: 'not-permitted',
        message: expect.stringContaining(`${said}: permission denied`),
      }),
    )
  })

  test('for a state folder that is not readable', () => {
    const home = aHome()
    applyPlan(worldIn(home), aPairPlan(sourceIn(home)))
    const world = withCalls(worldIn(home), { readdir: refusing('scandir') })
    expect(() => listRuns(world)).toThrow('~/.local/state/repoint cannot be read')
  })
})
