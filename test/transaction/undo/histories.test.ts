import { expect, test } from 'vitest'
import { activeRuns } from '../../../src/transaction/undo/active-runs.ts'
import { redo, undoAll, undoNewest } from '../../../src/transaction/undo/choose-runs.ts'
import { fc } from '../../support/fast-check.ts'
import { settingsPath, UndoMachine } from '../../support/undo-values.ts'

const original = '{\n  // mine\n  "url": "vendor",\n  "theme": "dark" // dark\n}\n'

type Step = (machine: UndoMachine) => void

const setup: fc.Arbitrary<Step> = fc
  .record({ gateway: fc.nat(2), model: fc.nat(3), limit: fc.nat(2) })
  .map(({ gateway, model, limit }) => (machine) => {
    const values = { url: `gw${gateway}`, token: `k${gateway}`, model: `gw/${model}`, limit }
    machine.setUp(values)
  })
// Without the runs of `repoint off`, which remove what a setup writes.
const rollback: fc.Arbitrary<Step> = fc.constant((machine) => {
  const { runs, contents } = machine
  machine.apply(undoNewest(runs, contents, {}))
})
const redoing: fc.Arbitrary<Step> = fc.constant((machine) => {
  const { runs, contents } = machine
  machine.apply(redo(runs, contents, {}))
})

/** Settings of others: each edit has a different name. */
const foreignEdit: fc.Arbitrary<Step> = fc.nat(9).map((name) => (machine) => {
  machine.edit({ [`note-${name}`]: name })
})
const comment: fc.Arbitrary<Step> = fc.constant((machine) => {
  machine.write(settingsPath, `// a comment\n${machine.text(settingsPath)}`)
})
const rewrite: fc.Arbitrary<Step> = fc.constant((machine) => {
  const text = machine.text(settingsPath) ?? ''
  const root = Function(`return (${text.replace(/^(\/\/.*\n)*/, '')})`)()
  machine.write(settingsPath, `${JSON.stringify(root, undefined, 4)}\n`)
})
const ourKeyEdit: fc.Arbitrary<Step> = fc
  .constantFrom({ limit: 7 }, { model: 'gw/9' }, { url: 'mine' }, { token: 'mine' })
  .map((edit) => (machine) => machine.edit(edit))

const alone = fc.oneof({ weight: 3, arbitrary: setup }, rollback, redoing)
const withForeign = fc.oneof({ weight: 3, arbitrary: alone }, foreignEdit, comment, rewrite)
const withAll = fc.oneof({ weight: 3, arbitrary: withForeign }, ourKeyEdit)

function afterSteps(steps: readonly Step[]): UndoMachine {
  const machine = new UndoMachine({ [settingsPath]: original })
  for (const step of steps) step(machine)
  return machine
}

/** Rolls back until nothing is left. Each rollback must go at least one run further back. */
function rollBackAll(machine: UndoMachine, force = false): void {
  for (let left = activeRuns(machine.runs).length; ; ) {
    const { runs, contents } = machine
    if (machine.apply(undoNewest(runs, contents, { force })) === undefined) return
    const now = activeRuns(machine.runs).length
    if (!force) expect(now).toBeLessThan(left)
    left = now
    if (force && left === 0) return
  }
}

const many = (step: fc.Arbitrary<Step>) => fc.array(step, { minLength: 1, maxLength: 12 })

test('rollbacks restore the original bytes if nobody else wrote', () => {
  fc.assert(
    fc.property(many(alone), (steps) => {
      const machine = afterSteps(steps)
      rollBackAll(machine)
      expect(machine.text(settingsPath)).toBe(original)
    }),
  )
})

test('rollbacks keep every edit of others, and nothing of ours', () => {
  fc.assert(
    fc.property(many(withForeign), (steps) => {
      const machine = afterSteps(steps)
      const isForeign = (line: string) => line.includes('note-') || line.includes('a comment')
      const foreign = (text: string) => text.split('\n').filter(isForeign).map(withoutComma)
      const before = foreign(machine.text(settingsPath) ?? '')
      rollBackAll(machine)
      const text = machine.text(settingsPath) ?? ''
      expect(foreign(text)).toEqual(expect.arrayContaining(before))
      expect(text).not.toMatch(/gw|"k\d"/)
      expect(text).toContain('"url": "vendor"')
      expect(text).not.toContain('limit')
    }),
  )
})

function withoutComma(line: string): string {
  return line.trim().replace(/,$/, '')
}

test('each rollback makes progress, whatever someone changed', () => {
  fc.assert(fc.property(many(withAll), (steps) => rollBackAll(afterSteps(steps))))
})

test('rollbacks by force restore the first copy, whatever someone changed', () => {
  fc.assert(
    fc.property(setup, many(withAll), (first, steps) => {
      const machine = afterSteps([first, ...steps])
      const { runs, contents } = machine
      machine.apply(undoAll(runs, contents, { force: true }))
      expect(machine.text(settingsPath)).toBe(original)
    }),
  )
})

test('all runs at once give the same file as single rollbacks', () => {
  fc.assert(
    fc.property(many(withAll), (steps) => {
      const [singly, together] = [afterSteps(steps), afterSteps(steps)]
      rollBackAll(singly)
      const { runs, contents } = together
      together.apply(undoAll(runs, contents, {}))
      expect(together.text(settingsPath)).toBe(singly.text(settingsPath))
    }),
  )
})

test('a merged list of runs undoes to the same file', () => {
  fc.assert(
    fc.property(many(withForeign), fc.integer({ min: 1, max: 4 }), (steps, limit) => {
      const [whole, short] = [afterSteps(steps), afterSteps(steps)]
      rollBackAll(whole)
      short.prune(limit)
      rollBackAll(short)
      expect(short.text(settingsPath)).toBe(whole.text(settingsPath))
    }),
  )
})

test('the list is bounded: it has the newest runs, and older ones only while an undo of them has a record', () => {
  const four = fc.array(setup, { minLength: 4, maxLength: 4 })
  fc.assert(
    fc.property(fc.array(alone, { maxLength: 40 }), four, (steps, last) => {
      const machine = afterSteps([...steps, ...last])
      const records = machine.runs.length
      machine.prune(4)
      expect(machine.runs).toHaveLength(records > 4 ? 5 : records)
    }),
  )
})
