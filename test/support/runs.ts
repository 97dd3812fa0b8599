import type { FileEdit } from '../../src/edits/types.ts'
import { UserError } from '../../src/errors.ts'
import { applyPlan } from '../../src/transaction/apply-plan.ts'
import {
  applyRollback,
  planRollback,
  type RollbackOptions,
} from '../../src/transaction/plan-rollback.ts'
import type { RunRecord } from '../../src/transaction/record.ts'
import { aPlan } from './a-plan.ts'
import type { Home } from './home.ts'
import { worldIn } from './world.ts'

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

/** The UserError that `work` throws. Other errors pass through. */
export function failureOf(work: () => unknown): UserError {
  try {
    work()
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
  throw new Error('there was no error')
}
