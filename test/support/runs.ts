import { rmSync } from 'node:fs'
import { expect } from 'vitest'
import type { FileEdit } from '../../src/edits/types.ts'
import { applyPlan } from '../../src/transaction/apply-plan.ts'
import {
  applyRollback,
  planRollback,
  type RollbackOptions,
  type RollbackPlan,
} from '../../src/transaction/plan-rollback.ts'
import type { RunRecord, World } from '../../src/transaction/record.ts'
import { statePaths } from '../../src/transaction/records/state-folder.ts'
import { aPairPlan, aPlan } from './a-plan.ts'
import type { Home } from './home.ts'
import { sourceIn, worldIn } from './world.ts'

/** Applies the edits. Throws if they change nothing. */
export function setUp(home: Home, edits: readonly FileEdit[], world = worldIn(home)): RunRecord {
  const { run } = applyPlan(world, aPlan(edits))
  if (!run) throw new Error('nothing changed')
  return run
}

/** Undoes the latest run. Throws if there is none. */
export function rollBack(home: Home, options: RollbackOptions = {}) {
  const plan = planRollback(worldIn(home), options)
  if (!plan) throw new Error('there is nothing to undo')
  return { ...plan, applied: applyRollback(worldIn(home), plan) }
}

/** The paths of the settings that a rollback keeps. */
export function keptPaths(plan: Pick<RollbackPlan, 'kept'> | undefined) {
  return plan?.kept.map(({ path }) => path)
}

/** A run that dies just before it renames something to `target` (or unlinks it), and cleans nothing up. */
export function killedBefore(
  home: Home,
  target: string | RegExp,
  work = (world: World): unknown => applyPlan(world, aPairPlan(sourceIn(home))),
  lastCall: 'rename' | 'unlink' = 'rename',
): void {
  const world = worldIn(home)
  const killed = new Error('killed')
  let isDead = false
  const dying = new Proxy(world.files, {
    get: (files, name) => {
      const call = files[name as keyof typeof files] as (...args: unknown[]) => unknown
      return (...args: unknown[]) => {
        const to = String(args.at(-1))
        const isMeant = typeof target === 'string' ? to.endsWith(target) : target.test(to)
        if (name === lastCall && isMeant) isDead = true
        if (isDead) throw killed
        return call(...args)
      }
    },
  })
  expect(() => work({ ...world, files: dying })).toThrow(killed)
  rmSync(statePaths(world.machine).lock, { recursive: true })
}
