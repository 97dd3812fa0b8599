import { beforeAll, describe, expect, test } from 'vitest'
import { formatOf } from '../../src/edits/format.ts'
import type { Bytes, ConfigValue, SettingChange } from '../../src/edits/types.ts'
import { failureOf } from '../support/failure.ts'
import { bytesOf, show } from './helpers.ts'
import { undoOurs } from './undo-ours.ts'

const toml = formatOf('toml')

const edit = (text: string | null, ...changes: SettingChange[]) =>
  show(toml.edit(text === null ? null : bytesOf(text), changes, '~/.codex/config.toml'))
const set = (path: string, value: ConfigValue) => ({ path: path.split('.'), value })

describe('toml edit', () => {
  test('creates a file that does not exist', () => {
    expect(edit(null, set('model', 'x'), set('a.b', 1))).toBe('model = "x"\n\n[a]\nb = 1\n')
    expect(edit(null)).toBe('')
  })

  test.each([
    ['a"b', '"a\\"b"'],
    ['a\nb\r\n[x]', '"a\\nb\\r\\n[x]"'],
    ['\u0000\u0001\u001b[31m\u007f', '"\\u0000\\u0001\\u001b[31m\\u007f"'],
    ["it's \\ fine", '"it\'s \\\\ fine"'],
    ['"""', '"\\"\\"\\""'],
    ['# no comment', '"# no comment"'],
  ])('keeps the value %j inside its quotes', (value, source) => {
    expect(edit('', set('model', value))).toBe(`model = ${source}\n`)
    expect(toml.read(bytesOf(`model = ${source}\n`), 'x').get(['model'])).toBe(value)
  })

  test.each(['a.b', 'a b', '"', '', "'\n[x]", 'é'])('quotes the key %j where needed', (key) => {
    const written = toml.edit(null, [{ path: ['t', key], value: 1 }], 'x')
    expect(toml.read(written, 'x').get(['t', key])).toBe(1)
    expect(Object.keys(toml.read(written, 'x').root)).toEqual(['t'])
  })

  test.each([
    ['half a character', 'a\ud800'],
    ['null', null],
  ])('refuses %s, which no file can contain, and suggests no line to add by hand', (_, value) => {
    const error = failureOf(() => edit('', set('model', value)))
    expect(error.code).toBe('config-conflict')
    expect(error.hint).toBe('Change the file yourself.')
  })

  test('writes integers, floats, lists and tables', () => {
    const changes = [
      set('window', 272_000),
      set('big', 2n ** 62n),
      set('ratio', 1.5),
      set('list', ['a', 1, true, {}]),
      set('t', { x: { y: 'z' }, e: {} }),
    ]
    const written = edit('', ...changes) as string
    expect(written).toBe(
      'window = 272_000\nbig = 4_611_686_018_427_387_904\nratio = 1.5\nlist = ["a", 1, true, {}]\n\n[t.x]\ny = "z"\n\n[t]\ne = {}\n',
    )
  })

  test('sets a whole table key by key: removes other keys and keeps comments', () => {
    const before = '[t]\n# one\na = 1 # first\n# two\nb = 2\n'
    expect(edit(before, set('t', { a: 3, c: 4 }))).toBe('[t]\n# one\na = 3 # first\nc = 4\n# two\n')
    expect(edit('[t]\n', set('t', { a: 1 }))).toBe('[t]\na = 1\n')
  })

  test('edits the syntax that is new in TOML 1.1', () => {
    const before = 't = { # why\n  a = "\\e",\n}\nb = 1\n'
    expect(edit(before, set('b', 2))).toBe(before.replace('b = 1', 'b = 2'))
  })

  test.each([
    ['a = 1\nb = 2', 'a = 1'],
    ['a = 1\r\nb = 2', 'a = 1'],
    ['a = 1\nb = 2\n', 'a = 1\n'],
    ['b = 2', ''],
    ['# about b\nb = 2 # two\n# about c\nc = 3', '# about b\n# about c\nc = 3'],
  ])('removes the line of a key from %j and no other', (text, result) => {
    expect(edit(text, { path: ['b'], value: undefined })).toBe(result)
  })

  test('distinguishes an integer from a float', () => {
    expect(edit('n = 1.0\n', set('n', 1))).toBe('n = 1\n')
  })

  test('shows the lines to add by hand, with a placeholder for the secret', () => {
    const changes = [
      { ...set('gateway.key', 'sk-secret'), isSecret: true },
      set('model', 'm'),
      { path: ['old'], value: undefined },
    ]
    const error = failureOf(() => edit('old = 1\ngateway = "x"\n', ...changes))
    expect(error.code).toBe('config-conflict')
    expect(error.message).toBe(
      'Cannot edit ~/.codex/config.toml: gateway is a single value, not a table (line 2, column 1)',
    )
    expect(error.hint).toBe(
      'Remove these yourself: old\nAdd these yourself:\nmodel = "m"\n\n[gateway]\nkey = "<your key>"',
    )
  })

  test('never quotes the file in an error, because it may contain secrets', () => {
    const error = failureOf(() => edit('key = "sk-secret"\nkey2 = sk-secret-two\n', set('a', 1)))
    expect(`${error.message}${error.hint}`).not.toContain('sk-')
  })
})

describe('toml read', () => {
  test('returns safe integers as numbers, others as bigint, and dates as source text', () => {
    const { root } = toml.read(
      bytesOf('a = 1\nb = 9007199254740993\nc = 2026-01-01\nd = [1, 2026-01-01]\n'),
      'x',
    )
    expect({ ...root }).toEqual({
      a: 1,
      b: 9007199254740993n,
      c: '2026-01-01',
      d: [1, '2026-01-01'],
    })
  })

  test('treats __proto__ as a key', () => {
    const document = toml.read(bytesOf('[__proto__]\npolluted = true\n'), 'x')
    expect(document.get(['__proto__', 'polluted'])).toBe(true)
    expect(document.get(['polluted'])).toBeUndefined()
    expect(document.get(['toString'])).toBeUndefined()
  })

  test.each([
    [
      'bytes that are not UTF-8',
      new Uint8Array([0x61, 0x3d, 0x31, 0x0a, 0x23, 0xc3, 0x28]),
      'it is not valid UTF-8 (line 2, column 2)',
    ],
    [
      'UTF-16',
      new Uint8Array([0xff, 0xfe, 0x61, 0x00]),
      'it is not valid UTF-8 (line 1, column 1)',
    ],
    [
      'a character that is cut off',
      new Uint8Array([0x23, 0xe2, 0x82]),
      'it is not valid UTF-8 (line 1, column 2)',
    ],
    [
      'bytes that are not UTF-8 behind a byte order mark',
      new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0x3d, 0x31, 0x0a, 0x23, 0xc3, 0x28]),
      'it is not valid UTF-8 (line 2, column 2)',
    ],
    [
      'a character that is cut off and begins as the sign for such',
      new Uint8Array([0x23, 0xef, 0xbf, 0x41]),
      'it is not valid UTF-8 (line 1, column 2)',
    ],
    [
      'more than 12 MB',
      new Uint8Array(12_000_001).fill(0x0a),
      'it is too large (12000001 bytes, more than 12000000)',
    ],
    [
      'deep nesting',
      bytesOf(`a = ${'['.repeat(5_000)}${']'.repeat(5_000)}`),
      'document contains excessively nested structures. aborting. (line 1, column 1005)',
    ],
    [
      'deep dotted keys',
      bytesOf(`${'a.'.repeat(5_000)}a = 1`),
      'it is nested more than 2000 levels deep (line 1, column 1)',
    ],
  ])('rejects %s', (_, bytes, reason) => {
    const error = failureOf(() => toml.read(bytes, 'FILE'))
    expect(error.code).toBe('config-invalid')
    expect(error.message).toBe(`Cannot read FILE: ${reason}`)
  })

  test.each([
    ['a = 1\n\n[t.u]\nx = 1\n', 't', 3],
    ['a = 1\n[[t]]\nx = 1\n', 't', 2],
    ['a = 1\nt.x = 1\n[t.u]\n', 't', 2],
    ['a = 1\n[t]\nx.y = 1\nx.z = 2\n', 't.x', 3],
    ['a = 1\n[t]\n', 't.x', undefined],
  ])('finds in %j the line of %s, or of its first key: %s', (text, path, line) => {
    expect(toml.read(bytesOf(text), 'x').lineOf(path.split('.'))).toBe(line)
  })

  test('reads 1 MB', () => {
    expect(toml.read(new Uint8Array(1_000_000).fill(0x0a), 'x').root).toEqual({})
  })

  test('reads 2,000 levels below the root and refuses more', () => {
    const nested = (levels: number) => bytesOf(`${'a.'.repeat(levels)}a = 1`)
    expect(toml.read(nested(2_000), 'x').get(['b'])).toBeUndefined()
    expect(failureOf(() => toml.read(nested(2_001), 'x')).message).toContain(
      'nested more than 2000',
    )
  })

  test.each([
    ['a = { b = 1, b = 2 }\n', 'b is set twice (line 1, column 14)'],
    ['a = 1\n\n a  = [\n]\n', 'a is set twice (line 3, column 2)'],
    ['[t]\n[ t.u ]\n[ t.u ] # c\n', 't.u is set twice (line 3, column 2)'],
    ['[t]\n  a\n', 'illegal character in key (line 2, column 4)'],
  ])('reports for %j that %s', (text, reason) => {
    expect(failureOf(() => toml.read(bytesOf(text), 'x')).message).toBe(`Cannot read x: ${reason}`)
  })

  test('refuses to edit a text that one of its two parsers rejects', () => {
    const before = bytesOf('a = 1\nb = 2026-02-30\n')
    const { code, message } = failureOf(() => toml.edit(before, [set('a', 2)], 'x'))
    expect({ code, message }).toEqual({
      code: 'config-invalid',
      message: 'Cannot read x: Unexpected invalid date (line 2, column 14)',
    })
  })

  test('refuses a text that is too long for its parser', () => {
    const before = bytesOf(`model = "a"\nnote = "${'x'.repeat(900_000)}"\n`)
    expect(toml.read(before, 'x').lineOf(['model'])).toBeUndefined()
    const { code, message } = failureOf(() => toml.edit(before, [set('model', 'b')], 'x'))
    expect({ code, message }).toEqual({
      code: 'config-invalid',
      message: 'Cannot read x: a text in it is too long (line 1, column 1)',
    })
  })
})

describe('toml undo', () => {
  const before = 'model = "a" # mine\n'
  const changes = [
    set('model', 'gw'),
    set('model_providers.gateway.name', 'Gateway'),
    set('model_providers.gateway.base_url', 'https://gw.example/v1'),
  ]
  const paths = changes.map((change) => change.path)
  let written: Bytes
  beforeAll(() => {
    written = toml.edit(bytesOf(before), changes, 'x')
  })
  const undo = (now: string) => {
    const undone = undoOurs(
      toml,
      { before: bytesOf(before), written, now: bytesOf(now) },
      paths,
      'x',
    )
    return { text: show(undone.bytes), kept: undone.kept.map((path) => path.join('.')) }
  }

  test('reports nothing for a key that already has its earlier value', () => {
    expect(undo(before)).toEqual({ text: before, kept: [] })
  })

  test.each([
    [{ path: ['last'], value: undefined }],
    [{ path: ['last'], value: undefined }, set('t.x', 1)],
  ])('restores the line break of the line above after removing the last line (%#)', (...edits) => {
    const mixed = 'first = 1\nmiddle = 2\r\nlast = 3'
    const written = toml.edit(bytesOf(mixed), edits, 'x')
    const versions = {
      before: bytesOf(mixed),
      written,
      now: bytesOf(`# on top\n${show(written)}`),
    }
    const undone = undoOurs(
      toml,
      versions,
      edits.map(({ path }) => path),
      'x',
    )
    expect(show(undone.bytes)).toBe(`# on top\n${mixed}`)
  })

  test('restores a removed table with its comments', () => {
    const old = '[a]\nx = 1\n\n# why\n[a.auth] # helper\ncommand = "c" # here\n\n[b]\n'
    const gone = toml.edit(bytesOf(old), [{ path: ['a', 'auth'], value: undefined }], 'x')
    const now = bytesOf(`# top\n${show(gone)}\n[c]\n`)
    const undone = undoOurs(
      toml,
      { before: bytesOf(old), written: gone, now },
      [['a', 'auth']],
      'x',
    )
    expect(show(undone.bytes)).toBe(`# top\n${old}\n[c]\n`)
  })

  test('refuses if the earlier value has no place any more, and changes nothing', () => {
    const old = bytesOf('[t]\nx = 1\n')
    const gone = toml.edit(old, [{ path: ['t', 'x'], value: undefined }], 'x')
    const versions = { before: old, written: gone, now: bytesOf('t = "scalar"\n') }
    expect(failureOf(() => undoOurs(toml, versions, [['t', 'x']], 'x')).code).toBe(
      'config-conflict',
    )
  })
})
