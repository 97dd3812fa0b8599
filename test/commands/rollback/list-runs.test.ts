import { describe, expect, test } from 'vitest'
import { describeRun, timeAgo } from '../../../src/commands/rollback/list-runs.ts'
import type { RunRecord } from '../../../src/transaction/record.ts'

const now = new Date('2026-11-24T12:00:00Z')
const ago = (ms: number) => new Date(now.getTime() - ms)
const minute = 60_000

describe('the time of a run', () => {
  test.each([
    [20_000, 'a moment ago'],
    [-minute, 'a moment ago'],
    [minute, '1 minute ago'],
    [2 * minute, '2 minutes ago'],
    [60 * minute, '1 hour ago'],
    [25 * 60 * minute, '1 day ago'],
    [59 * 24 * 60 * minute, '59 days ago'],
  ])('%i ms: %s', (ms, expected) => {
    expect(timeAgo(ago(ms), now)).toBe(expected)
  })

  test('is a date after 60 days', () => {
    expect(timeAgo(ago(70 * 24 * 60 * minute), now)).toMatch(/^2026-09-1\d$/)
  })
})

describe('a run in words', () => {
  const run = (id: string, more: Partial<RunRecord>): RunRecord =>
    ({
      id,
      at: ago(2 * minute).toISOString(),
      kind: 'setup',
      command: 'codex',
      clients: ['codex'],
      files: [],
      ...more,
    }) as unknown as RunRecord
  const setup = run('1', {})
  const undo = run('2', { kind: 'undo', undoes: [{ run: '1', client: 'codex' }] })
  const redo = run('3', { kind: 'redo', undoes: [{ run: '2', client: 'codex' }] })

  test.each([
    [setup, "Codex's setup of 2 minutes ago"],
    [undo, "the undo of Codex's setup of 2 minutes ago"],
    [redo, "the redo of Codex's setup of 2 minutes ago"],
    [run('4', { kind: 'repair', command: 'doctor' }), "Codex's repair of 2 minutes ago"],
    [run('4', { command: 'use' }), "Codex's change of gateway of 2 minutes ago"],
    [run('4', { command: 'key' }), "Codex's new key of 2 minutes ago"],
    [run('4', { kind: 'off' }), "Codex's return to its own service of 2 minutes ago"],
    [
      run('4', { kind: 'off', clients: ['codex', 'pi'] }),
      "Codex and pi's return to their own services of 2 minutes ago",
    ],
    [
      run('4', { kind: 'undo', undoes: [{ run: '0', client: 'codex' }] }),
      'the undo of an earlier run of 2 minutes ago',
    ],
    [run('4', { mergedRuns: 3 }), "Codex's setup (with 2 earlier runs) of 2 minutes ago"],
    [
      run('4', { clients: ['codex', 'claude', 'pi'] }),
      "Codex, Claude Code and pi's setup of 2 minutes ago",
    ],
  ])('%#: %s', (run, expected) => {
    expect(describeRun(run, [redo, undo, setup], now)).toBe(expected)
  })

  test('an undo of several runs is called after the oldest', () => {
    const key = run('2', { command: 'key' })
    const undoes = ['1', '2'].map((id) => ({ run: id, client: 'codex' }))
    const both = run('3', { kind: 'undo', undoes })
    expect(describeRun(both, [both, key, setup], now)).toMatch(/^the undo of Codex's setup/)
  })
})
