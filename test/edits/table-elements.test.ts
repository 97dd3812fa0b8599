import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatOf } from '../../src/edits/format.ts'
import type { Bytes, SettingChange } from '../../src/edits/types.ts'
import { failureOf } from '../support/failure.ts'
import { bytesOf, show } from './helpers.ts'
import { undoOurs } from './undo-ours.ts'

const json = formatOf('json')
const toml = formatOf('toml')
const formats = { json, toml }
const ours = { element: { id: 'ours' } }
const setUrl = { path: ['models', ours, 'url'], value: 'new' }
const setKey = { path: ['models', { element: { id: 'ours' } }, 'key'], value: 'k', isSecret: true }
const changes: readonly SettingChange[] = [setUrl, setKey]
const paths = changes.map(({ path }) => path)

function lines(...all: string[]): string {
  return `${all.join('\n')}\n`
}

type Row = readonly [name: string, format: 'json' | 'toml', before: string, after: string]

const rows: readonly Row[] = [
  [
    'behind others, as they are written',
    'json',
    lines('{', '  "models": [', '    // mine', '    { "id": "a" } // first', '  ]', '}'),
    lines(
      '{',
      '  "models": [',
      '    // mine',
      '    { "id": "a" }, // first',
      '    {',
      '      "id": "ours",',
      '      "url": "new",',
      '      "key": "k"',
      '    }',
      '  ]',
      '}',
    ),
  ],
  [
    'on one line',
    'json',
    '{"models":[{"id":"a"}]}',
    '{"models":[{"id":"a"},{"id":"ours","url":"new","key":"k"}]}',
  ],
  [
    'into an empty list',
    'json',
    '{ "models": [] }\n',
    '{ "models": [{ "id": "ours", "url": "new", "key": "k" }] }\n',
  ],
  [
    'into a list that does not exist',
    'json',
    '{ "x": 1 }\n',
    '{ "x": 1, "models": [{ "id": "ours", "url": "new", "key": "k" }] }\n',
  ],
  [
    'members into an existing table among others',
    'json',
    lines(
      '{ "models": [',
      '  { "id": "a", "url": "old" },',
      '  { "url": "old", "id": "ours" /* by us */, "theirs": 1 },',
      '  { "id": "b" }, ],',
      '}',
    ),
    lines(
      '{ "models": [',
      '  { "id": "a", "url": "old" },',
      '  { "url": "new", "id": "ours" /* by us */, "theirs": 1, "key": "k" },',
      '  { "id": "b" }, ],',
      '}',
    ),
  ],
  [
    'next to a value that is not a table',
    'json',
    '{ "models": ["ours", null, 3] }',
    '{ "models": ["ours", null, 3, { "id": "ours", "url": "new", "key": "k" }] }',
  ],
  [
    'inline tables',
    'toml',
    'models = [{ id = "a" }, { id = "ours", url = "old" }] # why\n',
    'models = [{ id = "a" }, { id = "ours", url = "new", key = "k" }] # why\n',
  ],
]

describe('a table in a list', () => {
  test.each(rows)('%s (%s)', (_, name, before, after) => {
    const format = formats[name]
    const written = format.edit(bytesOf(before), changes, 'FILE')
    expect(show(written)).toBe(after)
    expect(format.edit(written, changes, 'FILE')).toBe(written)

    const onTop = name === 'toml' ? '# on top\n' : '// on top\n'
    const now = bytesOf(onTop + after)
    const undone = undoOurs(format, { before: bytesOf(before), written, now }, paths, 'FILE')
    expect(show(undone.bytes)).toBe(onTop + before)
    expect(undone.kept).toEqual([])
  })

  test.each(['json', 'toml'] as const)('in a new file (%s)', (name) => {
    const written = formats[name].edit(null, changes, 'FILE')
    expect(formats[name].read(written, 'FILE').get(['models', ours])).toEqual({
      id: 'ours',
      url: 'new',
      key: 'k',
    })
    const versions = { before: null, written, now: bytesOf(`${show(written)}\n`) }
    expect(undoOurs(formats[name], versions, paths, 'FILE')).toEqual({ bytes: null, kept: [] })
  })

  test.each([
    [
      '{ "models": [{ "id": "a" }] }',
      '{ "models": [{ "id": "ours", "url": "new" }, { "id": "a" }] }',
    ],
    [
      '{\n  "models": [\n    // mine\n    { "id": "a" }\n  ]\n}',
      '{\n  "models": [\n    {\n      "id": "ours",\n      "url": "new"\n    },\n    // mine\n    { "id": "a" }\n  ]\n}',
    ],
    ['{ "models": [] }', '{ "models": [{ "id": "ours", "url": "new" }] }'],
    ['{ "models": [1, { "id": "ours" }] }', '{ "models": [1, { "id": "ours", "url": "new" }] }'],
  ])('is added first if it is new: %s', (before, after) => {
    const path = ['models', { ...ours, isFirst: true as const }, 'url']
    const written = json.edit(bytesOf(before), [{ path, value: 'new' }], 'FILE')
    expect(show(written)).toBe(after)
    const now = bytesOf(`${after}\n`)
    const undone = undoOurs(json, { before: bytesOf(before), written, now }, [path], 'FILE')
    expect(show(undone.bytes)).toBe(`${before}\n`)
  })

  test('is removed as a whole, without others', () => {
    const before = '{ "models": [{ "id": "a" }, { "id": "ours", "x": 1 }] }'
    const gone = [{ path: ['models', ours], value: undefined }]
    const written = json.edit(bytesOf(before), gone, 'FILE')
    expect(show(written)).toBe('{ "models": [{ "id": "a" }] }')
    const now = bytesOf('{"models":[{"id":"a"},{"id":"b"}]}')
    const undone = undoOurs(
      json,
      { before: bytesOf(before), written, now },
      [gone[0]!.path],
      'FILE',
    )
    expect(show(undone.bytes)).toBe('{"models":[{"id":"a"},{"id":"b"},{ "id": "ours", "x": 1 }]}')
  })

  test('a list written in several places is refused, with the lines to add', () => {
    const error = failureOf(() => toml.edit(bytesOf('[[models]]\nid = "a"\n'), changes, 'FILE'))
    expect(error.code).toBe('config-conflict')
    expect(error.hint).toBe(
      'Add these yourself:\nmodels = [{ id = "ours", url = "new", key = "<your key>" }]',
    )

    const below = [{ path: ['t', 'models', ours, 'url'], value: 'new' }]
    expect(failureOf(() => toml.edit(bytesOf('[[t.models]]\n'), below, 'FILE')).message).toBe(
      'Cannot edit FILE: t.models is a list, not a single value (line 1, column 1)',
    )
  })
})

describe('an undo of a table in a list', () => {
  function undo(before: string, byOthers: (text: string) => string) {
    const written = json.edit(bytesOf(before), changes, 'FILE')
    const now = bytesOf(byOthers(show(written)!))
    const { bytes, kept } = undoOurs(json, { before: bytesOf(before), written, now }, paths, 'FILE')
    return { text: show(bytes), kept }
  }
  const rewrite = (change: (root: { models: [object, ...object[]] }) => void) => (text: string) => {
    const root = JSON.parse(text)
    change(root)
    return JSON.stringify(root)
  }

  test('finds it where others moved it in a rewritten file', () => {
    const { text, kept } = undo(
      '{ "models": [{ "id": "a" }] }',
      rewrite((root) => root.models.reverse().splice(1, 0, { id: 'b' })),
    )
    expect([text, kept]).toEqual(['{"models":[{"id":"b"},{"id":"a"}]}', []])
  })

  test('removes the additions of others with it', () => {
    const { text, kept } = undo(
      '{ "models": [{ "id": "a" }] }',
      rewrite((root) => Object.assign(root.models.at(-1)!, { theirs: 1 })),
    )
    expect([text, kept]).toEqual(['{"models":[{"id":"a"}]}', []])
  })

  test('keeps a member that was changed since, with its table, and reports it', () => {
    const { text, kept } = undo(
      '{ "x": 1 }',
      rewrite((root) => Object.assign(root.models[0], { url: 'theirs', more: 1 })),
    )
    expect([text, kept]).toEqual([
      '{"x":1,"models":[{"id":"ours","url":"theirs","more":1}]}',
      [setUrl.path],
    ])
  })

  test('keeps a member of another table that was changed since, and reports it', () => {
    const { text, kept } = undo(
      '{ "models": [{ "id": "ours", "url": "old" }] }',
      rewrite((root) => Object.assign(root.models[0], { url: 'theirs' })),
    )
    expect(JSON.parse(text!)).toEqual({ models: [{ id: 'ours', url: 'theirs' }] })
    expect(kept).toEqual([setUrl.path])
  })

  test('does nothing if it was removed', () => {
    const { text } = undo(
      '{ "models": [] }',
      rewrite((root) => root.models.pop()),
    )
    expect(text).toBe('{"models":[]}')
  })

  test('is exact next to any neighbours', () => {
    const entry = fc.oneof(
      fc.record({ id: fc.constantFrom('a', 'b'), url: fc.string() }, { requiredKeys: ['id'] }),
      fc.constantFrom('ours', null, 7, [], { url: 'new', key: 'k' }),
    )
    const list = fc.array(entry, { maxLength: 4 })
    const one = fc.option(fc.record({ id: fc.constant('ours'), url: fc.string(), x: fc.string() }))
    const indent = fc.constantFrom(undefined, 2, '\t')
    fc.assert(
      fc.property(list, one, list, list, indent, (front, own, back, later, unit) => {
        const models = [...front, ...(own ? [own] : []), ...back]
        const before = JSON.stringify({ models, z: 1 }, null, unit)
        const written = json.edit(bytesOf(before), changes, 'FILE')
        const root = JSON.parse(show(written)!)
        const at = own ? front.length : models.length
        expect(root.models[at]).toEqual({ ...own, id: 'ours', url: 'new', key: 'k' })
        expect(root.models.toSpliced(at, 1)).toEqual(models.toSpliced(at, own ? 1 : 0))

        root.models.push(...later)
        const now = bytesOf(JSON.stringify(root))
        const undone = undoOurs(json, { before: bytesOf(before), written, now }, paths, 'FILE')
        expect(undone.kept).toEqual([])
        expect(JSON.parse(show(undone.bytes)!)).toEqual({ models: [...models, ...later], z: 1 })
      }),
      { numRuns: 60 },
    )
  })
})

test('a table is added before another that is replaced', () => {
  const top = { element: { id: 'top' }, isFirst: true as const }
  const changes: SettingChange[] = [
    { path: ['models', ours], value: { id: 'ours', x: 1 } },
    { path: ['models', top], value: { id: 'top' } },
  ]
  expect(show(json.edit(bytesOf('{"models":[{"id":"ours"}]}'), changes, 'FILE'))).toBe(
    '{"models":[{"id":"top"},{"id":"ours","x":1}]}',
  )
})

test('a table identified by two members does not match one with only one of them', () => {
  const before = '{"models":[{"id":"ours","at":"theirs"}]}'
  const path = ['models', { element: { id: 'ours', at: 'here' } }, 'url']
  const written = json.edit(bytesOf(before), [{ path, value: 'u' }], 'FILE')
  expect(JSON.parse(show(written)!).models).toEqual([
    { id: 'ours', at: 'theirs' },
    { id: 'ours', at: 'here', url: 'u' },
  ])
})

test('reading: a table of a list and its members', () => {
  const document = json.read(bytesOf('{\n "models": [\n  {"id": "ours",\n   "url": "u"}]}'), 'FILE')
  expect(document.get(setUrl.path)).toBe('u')
  expect(document.lineOf(setUrl.path)).toBe(4)
  expect(document.get(['models', { element: { id: 'x' } }, 'url'])).toBeUndefined()
})

test.each([
  [['models'], '{"models": [{"id": "a"}]}'],
  [['t', 'models'], '{"t": {"models": [{"id": "a"}]}}'],
])(
  'an element of %j that was added as a whole is removed with the additions of others',
  (list, text) => {
    const whole = { path: [...list, ours], value: { id: 'ours', size: 5 } }
    const before = bytesOf(text)
    const written = json.edit(before, [whole], 'FILE')
    const undo = (now: Bytes) => undoOurs(json, { before, written, now }, [whole.path], 'FILE')
    const added = bytesOf(show(written)!.replace(/("size": 5)/, '$1, "name": "Mine"'))
    expect(undo(added)).toEqual({ bytes: before, kept: [] })

    const changed = bytesOf(show(written)!.replace('"size": 5', '"size": 6'))
    expect(undo(changed)).toEqual({ bytes: changed, kept: [whole.path] })
  },
)

test('an element that replaced another stays with the additions of others', () => {
  const whole = { path: ['models', ours], value: { id: 'ours', size: 5 } }
  const before = bytesOf('{"models": [{ "id": "ours", "size": 1 }]}')
  const written = json.edit(before, [whole], 'FILE')
  const now = bytesOf(show(written)!.replace(/("size": 5)/, '$1, "name": "Mine"'))
  expect(undoOurs(json, { before, written, now }, [whole.path], 'FILE')).toEqual({
    bytes: now,
    kept: [whole.path],
  })
})
