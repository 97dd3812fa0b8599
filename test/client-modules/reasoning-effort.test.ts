import { expect, test } from 'vitest'
import type { SetupHistory } from '../../src/clients/contract/setup.ts'
import { aHistory, byId, planOn, readValues, text, written } from './support.ts'

test.each(['opencode', 'kilo'])(
  '%s: --defaults removes an empty table of options only if a setup created it',
  (id) => {
    const client = byId(id)
    const first = planOn(client, {}, { options: { reasoningEffort: 'low' } })
    const disk = written({}, first.machine, first.edits)
    const afterReset = (earlierVersionsOf: SetupHistory['earlierVersionsOf']) => {
      const input = { requested: {}, resetToDefaults: true }
      const { edits, machine } = planOn(client, disk, {
        target: { input, history: aHistory({ earlierVersionsOf }) },
      })
      return JSON.stringify(written(disk, machine, edits), (_, value) =>
        value instanceof Uint8Array ? text(value) : value,
      )
    }

    const emptyTable = /"options\\*": *\{\s*(?:\\n\s*)*\}/
    expect(afterReset(() => [null])).not.toMatch(emptyTable)
    expect(afterReset(() => [])).toMatch(emptyTable)
  },
)

test('a setup does not change an effort that repoint does not know', () => {
  const codex = byId('codex')
  const disk = { '.codex/config.toml': 'model_reasoning_effort = "xhigh"\n' }
  const { edits, machine } = planOn(codex, disk)
  const state = readValues(codex, machine, written(disk, machine, edits))
  expect(state.reasoningEffort).toBeUndefined()
  expect(new TextDecoder().decode(edits.at(-1)!.after!)).toContain(
    'model_reasoning_effort = "xhigh"',
  )
})
