import { UserError } from '../../src/errors.ts'
import type { Files } from '../../src/platform/platform.ts'
import { recoverRun } from '../../src/transaction/recover.ts'
import { type Fault, faultyFiles } from './faulty-files.ts'
import { isNewPair, isOldPair, problems, type Work } from './pair-machines.ts'
import { worldOf } from './power-loss.ts'

export interface FaultSweep {
  readonly points: number
  /** How often the work succeeded despite the fault. */
  readonly done: number
  /** How often each error code was reported. */
  readonly codes: ReadonlyMap<string, number>
  readonly violations: readonly string[]
}

/** Repeats the work. Each time the next of its file calls fails. */
export function sweepFaults(work: Work, fault: Omit<Fault, 'at'>): FaultSweep {
  const violations: string[] = []
  const codes = new Map<string, number>()
  let points = 0
  let done = 0
  for (let at = 1; ; at++) {
    const files = work.start.afterSync()
    const faulty = faultyFiles(files, { ...fault, at })
    const error = failureOf(() => work.run(worldOf(faulty.files as Files, work.boot)))
    if (faulty.failures() === 0) break
    points++
    const complain = (problem: string) => violations.push(`${fault.code} at call ${at}: ${problem}`)
    if (error === undefined) done++
    else if (error instanceof UserError) {
      codes.set(error.code, (codes.get(error.code) ?? 0) + 1)
      if (error.filesState === 'unchanged' && !isOldPair(files, work.ends))
        complain('files are said to be unchanged')
      if (error.filesState === 'pending') {
        recoverRun(worldOf(files, work.boot))
        if (!isOldPair(files, work.ends)) complain('said to be pending, and was not taken back')
      }
      if (error.filesState === 'changed' && !isNewPair(files, work.ends))
        complain('files are said to be changed')
    } else complain(`not a UserError: ${error}`)
    if (error === undefined && !isNewPair(files, work.ends)) complain('said to be done')
    // The process is still running, so the files that it left must not stop the next run.
    for (const problem of problems(files, work.ends, work.boot, error === undefined))
      complain(problem)
  }
  return { points, done, codes, violations }
}

function failureOf(work: () => void): unknown {
  try {
    work()
    return undefined
  } catch (error) {
    return error
  }
}
