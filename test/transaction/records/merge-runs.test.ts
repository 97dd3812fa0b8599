import { describe, expect, test } from 'vitest'
import { UserError } from '../../../src/errors.ts'
import { Copies } from '../../../src/transaction/contents.ts'
import type { Runs } from '../../../src/transaction/record.ts'
import { mergeOldest } from '../../../src/transaction/records/merge-runs.ts'
import { activeRuns } from '../../../src/transaction/undo/active-runs.ts'
import { redo, undoNewest } from '../../../src/transaction/undo/choose-runs.ts'
import { settingsPath, UndoMachine } from '../../support/undo-values.ts'

const original = '{\n  "url": "vendor",\n  "theme": "dark"\n}\n'
const first = { url: 'gw', token: 'k1' }
const second = { url: 'gw2', token: 'k2' }

function aMachine(): UndoMachine {
  return new UndoMachine({ [settingsPath]: original })
}

/** Merges all runs into one. The newest run is never merged, so it adds a run on top. */
function merge({ copies, runs }: UndoMachine, usedCopies: Copies = copies) {
  const newest = { ...runs[0]!, id: '999999' }
  const merged = mergeOldest(usedCopies, [newest, ...runs], 2)
  expect(merged.map(({ id }) => id)).toEqual(['999999', runs[0]!.id])
  return merged[1]!
}

describe('merged runs', () => {
  test('restore the copy from before the oldest run', () => {
    const machine = aMachine()
    const before = machine.contents.get(settingsPath)
    machine.setUp(first)
    machine.setUp(second)
    machine.setUp(first)

    const run = merge(machine)
    expect(run).toMatchObject({ id: '000003', mergedRuns: 3 })
    expect(run.replaces?.toSorted()).toEqual(['000001', '000002'])
    expect(run.files.map((file) => file.before)).toEqual([before])
    expect(run.files[0]!.written).toEqual(machine.contents.get(settingsPath))
  })

  test('list each gateway once, newest first', () => {
    const machine = aMachine()
    for (const values of [first, second, first, second]) machine.setUp(values)
    const gateways = [
      { address: 'https://a.example' },
      {
        address: 'https://b.example',
        baseUrls: { chat: 'https://b.example', messages: 'https://b.example' },
      },
      { address: 'https://b.example' },
      { address: 'https://a.example' },
    ]
    machine.runs = machine.runs.map((run, index) => ({ ...run, ...gateways[3 - index]! }))

    expect(merge(machine).files[0]!.gateways).toEqual([gateways[3], gateways[2], gateways[1]])
  })

  test('of a setup and its repair are the setup', () => {
    const machine = aMachine()
    machine.setUp(first)
    machine.setUp(first)
    const [repair, setup] = machine.runs
    const baseUrls = { chat: 'https://b.example', messages: 'https://b.example' }
    machine.runs = [
      { ...repair!, kind: 'repair', command: 'doctor' },
      { ...setup!, baseUrls },
    ]

    const { id, kind, command, ...run } = merge(machine)
    expect({ id, kind, command }).toEqual({ id: repair!.id, kind: 'setup', command: 'codex' })
    expect(run.baseUrls).toEqual(baseUrls)
  })

  test('keep the first copy if a copy between them is missing', () => {
    const machine = aMachine()
    const before = machine.contents.get(settingsPath)
    machine.setUp(first)
    // Someone edits the file, so the undo of the first run has to read the copies.
    machine.edit({ theme: 'light' })
    machine.setUp(second)
    const withoutCopies = new Copies(() => {
      throw new UserError({ code: 'backup-missing', message: 'a copy is missing' })
    })

    expect(merge(machine, withoutCopies).files[0]!.before).toEqual(before)
  })

  test('keep what someone wrote between them', () => {
    const machine = aMachine()
    machine.setUp(first)
    machine.edit({ theme: 'light' })
    machine.setUp(second)

    const { before } = merge(machine).files[0]!
    const text = new TextDecoder().decode(machine.copies.bytesOf(before)!)
    expect(JSON.parse(text)).toEqual({ url: 'vendor', theme: 'light' })
  })

  test('keep the place of a redone run', () => {
    const machine = aMachine()
    machine.setUp({ theme: 'light' })
    machine.setUp(first)
    machine.setUp(second, undefined, 'claude')
    machine.apply(undoNewest(machine.runs, machine.contents, { clients: ['codex'] }))
    machine.apply(redo(machine.runs, machine.contents, {}))
    const newest = (runs: Runs) => activeRuns(runs)[0]?.id
    expect(newest(machine.runs)).toBe('000002')
    expect(newest(mergeOldest(machine.copies, machine.runs, 4))).toBe('000002')
  })
})
