import { describe, expect, test } from 'vitest'
import { sweepFaults } from '../support/fault-sweep.ts'
import { pairSweeps } from '../support/pair-machines.ts'

const faults = [
  { code: 'ENOSPC', expected: 'disk-full' },
  { code: 'EACCES', expected: 'not-permitted' },
  { code: 'EIO', expected: 'io-failed' },
]

describe.each(pairSweeps)('faults, $what of $name', ({ workOf, start }) => {
  test.each(faults)(
    '$code at any call leaves all files unchanged or complete, and the error is correct',
    (fault) => {
      const { points, codes, violations } = sweepFaults(workOf(start()), { code: fault.code })
      expect(violations).toEqual([])
      expect(points).toBeGreaterThan(40)
      expect([...codes.keys()]).toContain(fault.expected)
    },
  )

  test('a full disk at any write changes nothing, and the error says so', () => {
    const kinds = ['createNew', 'write', 'mkdir', 'fsync'] as const
    const sweep = sweepFaults(workOf(start()), { code: 'ENOSPC', isLasting: true, kinds })
    expect(sweep.violations).toEqual([])
    expect([...sweep.codes.keys()]).toEqual(['disk-full'])
    // Only the list of first copies is written after the commit, and may fail: the next run writes it.
    expect(sweep.done).toBe(3)
  })
})
