import type { Files } from '../../src/platform/platform.ts'
import type { World } from '../../src/transaction/record.ts'
import { type ForgetfulFiles, PowerLoss } from './forgetful-files.ts'

export const home = '/home/someone'
export const stateFolder = `${home}/.local/state/repoint`

/** A machine in memory. `boot` counts its starts. */
export function worldOf(files: Files, boot: number): World {
  return {
    files,
    machine: { os: 'linux', env: {}, home, cwd: home },
    processes: {
      pid: 1000 + boot,
      uid: 1000,
      bootId: () => `boot-${boot}`,
      startTime: (pid) => (pid === 1000 + boot ? 'now' : undefined),
      which: () => undefined,
      run: () => Promise.reject(new Error('nothing runs here')),
    },
    clock: { now: () => new Date(Date.UTC(2026, 10, 21, 9, 0, boot)) },
  }
}

export interface Sweep {
  /** The machine before the work. All of its files are durable. */
  readonly start: ForgetfulFiles
  readonly work: (world: World) => void
  /** Checks the files after a power loss. Returns the problems. */
  readonly check: (files: ForgetfulFiles, hasEnded: boolean) => string[]
  /** Adds a deliberate mistake to the file calls. The sweep ends at the first violation. */
  readonly mistake?: ((files: Files) => Files) | undefined
  readonly boot?: number
}

export interface Swept {
  readonly points: number
  readonly states: number
  readonly violations: readonly string[]
}

/** Repeats the work. Each time the power is lost at the next of its file calls. */
export function sweepPowerLoss({ start, work, check, mistake, boot = 1 }: Sweep): Swept {
  const random = seededRandom(boot)
  const violations: string[] = []
  let points = 0
  let states = 0
  for (let at = 1, hasEnded = false; !hasEnded; at++) {
    const files = start.afterSync()
    files.powerLossAt = at
    hasEnded = hasFinished(() => work(worldOf(mistake?.(files) ?? files, boot)))
    points++
    for (const after of files.afterPowerLoss(random)) {
      states++
      for (const violation of check(after, hasEnded))
        violations.push(`power lost at call ${at}: ${violation}`)
      if (mistake && violations.length > 0) return { points, states, violations }
    }
  }
  return { points, states, violations }
}

function hasFinished(work: () => void): boolean {
  try {
    work()
    return true
  } catch (error) {
    if (error instanceof PowerLoss) return false
    throw error
  }
}

/** Random numbers that are the same in every run, so that a failure can be repeated. */
function seededRandom(seed: number): () => number {
  let state = seed * 2654435761
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
