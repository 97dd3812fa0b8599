import { expect, test } from 'vitest'
import type { ClientContext } from '../../../src/clients/contract/client.ts'
import { planFixes } from '../../../src/clients/plan/edit-file.ts'
import type { Machine } from '../../../src/platform/platform.ts'
import { aMachine, byId, type Disk, filesOf, findingsOn, written } from '../support.ts'

/** The expected finding. No other may have its code. */
interface Expected {
  readonly code: string
  /** `~` stands for the home folder. */
  readonly location: string
  readonly severity: 'error' | 'warning'
  /** `none` if repoint may not write the file. */
  readonly fix: 'consent' | 'plain' | 'none'
}

export interface Case extends Expected {
  readonly disk: Disk
  readonly machine?: Partial<Machine>
  readonly context?: Partial<ClientContext>
}

export function expected(
  code: string,
  location: string,
  severity: Expected['severity'],
  fix: Expected['fix'],
): Expected {
  return { code, location, severity, fix }
}

export const profile = (path: string, text: string) => ({ shellProfiles: [{ path, text }] })

/** Each case must be found once, at its place, and its fix must remove it. */
export function testFindings(id: string, healthy: Disk, cases: readonly Case[]): void {
  const client = byId(id)

  test('a working configuration has none', () => {
    expect(findingsOn(client, healthy)).toEqual([])
  })

  test.each(cases.map((one) => [`${one.code} at ${one.location}`, one] as const))(
    'finds %s, and its fix removes it',
    (_, { code, disk, machine: changes, context, location, severity, fix }) => {
      const machine = aMachine(changes)
      const found = findingsOn(client, disk, machine, context).filter((one) => one.code === code)
      expect(found).toHaveLength(1)
      const [finding] = found
      expect(finding!.location?.replace(machine.home, '~')).toBe(location)
      expect(finding!.severity).toBe(severity)
      if (fix === 'none') {
        expect(finding!.fix).toBeUndefined()
        return
      }
      expect(finding!.needsConsentTo === undefined ? 'plain' : 'consent').toBe(fix)
      expect(finding!.needsConsentTo ?? 'A sentence.').toMatch(/\.$/)
      const files = filesOf(client, machine, disk)
      const edits = planFixes(client, files, [finding!.fix!])
      const fixedDisk = written(disk, machine, edits)
      const remaining = findingsOn(client, fixedDisk, machine, context)
      expect(remaining.filter((one) => one.code === code)).toEqual([])
    },
  )
}
