import { describe, expect, test } from 'vitest'
import { UserError } from '../../../src/errors.ts'
import { Copies } from '../../../src/transaction/contents.ts'
import { noFirstCopies, removedRuns } from '../../../src/transaction/records/first-copies.ts'
import { foldRuns, withRuns } from '../../../src/transaction/records/prune.ts'
import { settingsPath, UndoMachine } from '../../support/undo-values.ts'

const original = '{\n  "url": "vendor",\n  "theme": "dark"\n}\n'
const first = { url: 'gw', token: 'k1' }
const second = { url: 'gw2', token: 'k2' }

function aMachine(): UndoMachine {
  return new UndoMachine({ [settingsPath]: original })
}

/** Removes the records of all runs. */
function remove({ copies, runs }: UndoMachine, usedCopies: Copies = copies) {
  const removed = removedRuns(foldRuns(usedCopies, withRuns(noFirstCopies, runs), runs))
  expect(removed).toHaveLength(1)
  return removed[0]!
}

describe('runs whose records were removed', () => {
  test('restore the copy from before the oldest run', () => {
    const machine = aMachine()
    const before = machine.contents.get(settingsPath)
    machine.setUp(first)
    machine.setUp(second)
    machine.setUp(first)

    const run = remove(machine)
    expect(run).toMatchObject({ id: '000001', mergedRuns: 3 })
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

    expect(remove(machine).files[0]!.gateways).toEqual([gateways[3], gateways[2], gateways[1]])
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

    const { kind, command, ...run } = remove(machine)
    expect({ kind, command }).toEqual({ kind: 'setup', command: 'codex' })
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

    expect(remove(machine, withoutCopies).files[0]!.before).toEqual(before)
  })

  test('keep what someone wrote between them', () => {
    const machine = aMachine()
    machine.setUp(first)
    machine.edit({ theme: 'light' })
    machine.setUp(second)

    const { before } = remove(machine).files[0]!
    const text = new TextDecoder().decode(machine.copies.bytesOf(before)!)
    expect(JSON.parse(text)).toEqual({ url: 'vendor', theme: 'light' })
  })

  test('know every setting that they wrote', () => {
    const machine = aMachine()
    machine.setUp({ url: 'gw', limit: 1 })
    machine.setUp({ url: 'gw2', model: 'gw/a' })
    const names = remove(machine).files[0]!.settings.map(({ path }) => path[0])
    expect(names.toSorted()).toEqual(['limit', 'model', 'url'])
  })
})
