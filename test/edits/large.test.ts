import { expect, test } from 'vitest'
import { formatOf } from '../../src/edits/format.ts'
import { maxConfigBytes } from '../../src/edits/text.ts'
import type { SettingChange } from '../../src/edits/types.ts'
import { timed, timesAsLong } from '../support/processor-time.ts'

const models = Array.from(
  { length: 4_000 },
  (_, n): SettingChange => ({
    path: ['provider', 'gateway', 'models', `vendor/m-${n}`],
    value: { name: `Model ${n}`, limit: { context: 128_000, output: 8_000 } },
  }),
)

test('edits: a picker with 4,000 models is written in one pass, and every other byte stays', () => {
  const { edit } = formatOf('json')
  const before = Buffer.from('{\n    "mine" : [ 1,2 ]\n}\n')
  const { result: after, seconds } = timed(() => edit(before, models, 'f'))
  // An edit that set the keys one by one took 25 s, and 49 s the second time, on an idle machine.
  expect(seconds).toBeLessThan(15)
  expect(Buffer.from(after).toString()).toMatch(/^\{\n {4}"mine" : \[ 1,2 \],\n/)
  expect(
    Object.keys(JSON.parse(Buffer.from(after).toString()).provider.gateway.models),
  ).toHaveLength(4_000)

  const again = timed(() => edit(after, models, 'f'))
  expect(again.seconds).toBeLessThan(15)
  expect(Buffer.from(again.result).equals(Buffer.from(after))).toBe(true)
}, 120_000)

test('edits: one list takes about as long as four lists of a quarter of its elements', () => {
  const { edit } = formatOf('json')
  const elements = (count: number) =>
    Array.from({ length: count }, (_, n): SettingChange => {
      const element = { id: `vendor/m-${n}`, envKey: 'KEY' }
      return {
        path: ['modelProviders', 'openai', { element }],
        value: { ...element, generationConfig: { contextWindowSize: 128_000 } },
      }
    })
  const write = (count: number) => () => {
    edit(edit(null, elements(count), 'f'), elements(count), 'f')
  }
  write(200)()
  // An edit that searched the list for each element took four times as long.
  expect(timesAsLong(write(2_000), 4, write(500))).toBeLessThan(3.3)
}, 120_000)

test('edits: one change takes about as long as eight changes of an eighth of its entries', () => {
  const { edit } = formatOf('json')
  const change = (count: number) => {
    const ids = Array.from({ length: count }, (_, n) => `vendor/m-${n}`)
    const entries = ids.map((id) => [id, { limit: { context: 1 } }])
    const text = JSON.stringify({ models: Object.fromEntries(entries) }, null, 2)
    const changes = ids.flatMap((id): SettingChange[] => [
      { path: ['models', id, 'limit', 'context'], value: 2 },
      { path: ['models', id, 'tool_call'], value: true },
    ])
    return () => {
      edit(Buffer.from(text), changes, 'f')
    }
  }
  change(500)()
  // An edit that compared each place with all others took four times as long.
  expect(timesAsLong(change(8_000), 8, change(1_000))).toBeLessThan(2.8)
}, 120_000)

test('edits: refuses a change after which repoint could not read the file again', () => {
  const { edit } = formatOf('json')
  const change = { path: ['a'], value: 'x'.repeat(maxConfigBytes) }
  expect(() => edit(null, [change], 'FILE')).toThrow('FILE: it would be too large (12000014 bytes')
})
