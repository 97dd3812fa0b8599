import { describe, expect, test } from 'vitest'
import { formatOf } from '../../src/edits/format.ts'
import { addToList, removeFromList, type SettingChange } from '../../src/edits/types.ts'
import { fc } from '../support/fast-check.ts'
import { bytesOf, decodeJson, decodeToml, show } from './helpers.ts'
import { undoOurs } from './undo-ours.ts'

const numRuns = Number(process.env['REPOINT_PROPERTY_RUNS'] ?? 150)

const names = ['a', 'b', 'c', 'd', 'e']
const subset = fc.subarray(names)
const plainGap = fc.constantFrom(', ', ',', ' , ', ',\n  ', '\n  , ')
const notedGap = fc.constantFrom(
  ', // why\n  ',
  ' /* what */, ',
  ', /* what */ ',
  ',\n  // next\n  ',
)

/** Members with the text between them, before the first and after the last. */
function membersOf(gap: fc.Arbitrary<string>, edge: fc.Arbitrary<string>) {
  return fc
    .record({
      held: subset,
      gaps: fc.array(gap, { minLength: 5, maxLength: 5 }),
      open: edge,
      close: edge,
    })
    .map(({ held, gaps, open, close }) => ({
      held,
      textOf: (spell: (name: string) => string) =>
        open +
        held.map((name, index) => (index === 0 ? '' : gaps[index]) + spell(name)).join('') +
        close,
    }))
}

const strict = membersOf(plainGap, fc.constantFrom('', ' ', '\n  ', '\n'))
const noted = membersOf(
  fc.oneof(plainGap, notedGap),
  fc.constantFrom('', ' ', '\n  ', ' // edge\n'),
)
const work = fc.record({ gone: subset, added: fc.subarray(['x', 'y', 'z']) })

function edited(format: 'json' | 'toml', before: string, changes: readonly SettingChange[]) {
  const written = formatOf(format).edit(bytesOf(before), changes, 'FILE')
  const mark = format === 'toml' ? '# on top\n' : '// on top\n'
  const now = bytesOf(mark + show(written))
  const paths = changes.map(({ path }) => path)
  const undone = undoOurs(
    formatOf(format),
    { before: bytesOf(before), written, now },
    paths,
    'FILE',
  )
  expect(show(undone.bytes)).toBe(mark + before)
  return show(written) as string
}

function commentsIn(text: string): string[] {
  return text.match(/\/\/[^\n]*|\/\*.*?\*\/|#[^\n]*/g) ?? []
}

describe('an edit that removes and adds several members', () => {
  test.each(['object', 'list'])('keeps strict JSON strict in a JSON %s', (kind) => {
    fc.assert(
      fc.property(strict, work, ({ held, textOf }, { gone, added }) => {
        const isList = kind === 'list'
        const inner = textOf((name) => (isList ? `"${name}"` : `"${name}": 1`))
        const before = isList ? `{"t": [${inner}]}` : `{"t": {${inner}}}`
        const after = JSON.parse(edited('json', before, changesOf(isList, gone, added)))
        const wanted = [...held.filter((name) => !gone.includes(name)), ...added]
        expect(isList ? after.t : Object.keys(after.t)).toEqual(wanted)
      }),
      { numRuns },
    )
  })

  test.each(['json', 'toml'] as const)('keeps every comment in a %s list', (format) => {
    fc.assert(
      fc.property(noted, work, ({ held, textOf }, { gone, added }) => {
        const inner = textOf((name) => `"${name}"`)
        const toToml = (text: string) => text.replace(/\/\*.*?\*\//g, '').replaceAll('//', '#')
        const before = format === 'json' ? `{"t": [${inner}]}` : `t = [${toToml(inner)}]\n`
        const written = edited(format, before, changesOf(true, gone, added))
        const after =
          format === 'json' ? decodeJson(bytesOf(written)) : decodeToml(bytesOf(written))
        expect(after['t']).toEqual([...held.filter((name) => !gone.includes(name)), ...added])
        expect(commentsIn(written)).toEqual(commentsIn(before))
      }),
      { numRuns },
    )
  })
})

function changesOf(
  isList: boolean,
  gone: readonly string[],
  added: readonly string[],
): SettingChange[] {
  if (isList) {
    return [
      ...gone.map((name) => removeFromList(['t'], name)),
      ...added.map((name) => addToList(['t'], name)),
    ]
  }
  return [
    ...gone.map((name) => ({ path: ['t', name], value: undefined })),
    ...added.map((name) => ({ path: ['t', name], value: 2 })),
  ]
}
