import { describe, expect, test } from 'vitest'
import { pairMachines, rollbackWork, setupWork, sweepRecovery } from '../support/pair-machines.ts'

describe.each(pairMachines)('power loss, $name', ({ start }) => {
  test.each([
    { name: 'a setup', workOf: setupWork },
    { name: 'a rollback', workOf: rollbackWork },
  ])(
    'recovery of $name leaves the files all old or all new, also after two more power losses',
    ({ workOf }) => {
      const work = workOf(start())
      for (const { stride, depth } of [
        { stride: 83, depth: 1 },
        { stride: 503, depth: 2 },
      ] as const) {
        const { points, states, violations } = sweepRecovery(work, stride, depth)
        console.log(`recovery, cut off ${depth}×: ${points} points, ${states} states`)
        expect(violations).toEqual([])
        expect(states).toBeGreaterThan(50)
      }
    },
  )
})
