import { describe, expect, test } from 'vitest'
import { errorCodes } from '../../../src/error-codes.ts'
import { bodies, key, newApiRows, otherGateways, pages } from '../../fixtures/gateway/answers.ts'
import { diagnoseRow } from './diagnosed.ts'

const rows = [...newApiRows, ...otherGateways, ...pages, ...bodies]

describe('diagnose: an answer has exactly one outcome', () => {
  test.each(rows.map((row) => [row[0], row[4], row] as const))('%s: %s', (_name, expected, row) => {
    expect(diagnoseRow(row)?.code ?? 'fine').toBe(expected)
  })
})

test('diagnose: the table has at least 60 answers, each with a different name', () => {
  expect(rows.length).toBeGreaterThanOrEqual(60)
  expect(new Set(rows.map(([name]) => name)).size).toBe(rows.length)
})

describe('diagnose: every outcome', () => {
  const bad = rows.filter(([, , , , expected]) => expected !== 'fine')

  test.each(bad.map((row) => [row[0], row] as const))(
    '%s: is one line without the key and names a next step',
    (_name, row) => {
      const { code, message, hint } = diagnoseRow(row)!
      expect(errorCodes[code].exitStatus).toBeGreaterThan(1)
      for (const line of [message, hint]) {
        expect(line).not.toMatch(/\p{Cc}/u)
        expect(line).not.toContain(key)
        expect(line.length).toBeGreaterThan(10)
        expect(line.length).toBeLessThan(500)
      }
      expect(message).not.toMatch(/\.$/)
      expect(hint).not.toMatch(/\.\.$/)
      expect(hint.replace(/\{--[^}]*\}/g, '')).not.toMatch(/--(?:base-url|model|ca-file|timeout) /)
    },
  )
})
