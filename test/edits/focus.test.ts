import { describe, expect, test, vi } from 'vitest'
import type { Dialect } from '../../src/edits/dialect.ts'
import { editWith } from '../../src/edits/edit.ts'
import type { KeyChange } from '../../src/edits/plan.ts'
import { tomlDialect } from '../../src/edits/toml.ts'
import type { TomlText } from '../../src/edits/toml-parse.ts'
import { bytesOf, show } from './helpers.ts'

const { focus: _, ...wholeDialect } = tomlDialect

/** Tables of other roots, more than is worth cutting. */
const projects = Array.from(
  { length: 60 },
  (_, n) => `[projects."/home/me/work/${n}"] # reviewed\ntrust_level = "trusted"\n`,
).join('\n')
const list = Array.from({ length: 90 }, (_, n) => `[[history]]\nentry = ${n}\n`).join('')

const layouts: readonly (readonly [string, string])[] = [
  ['root keys first', `# mine\nmodel = "o3" # slow\n\n${projects}`],
  ['no root key', `# mine\n\n# about projects\n${projects}`],
  ['our table before', `[model_providers.gateway]\nname = "x" # old\n\n# next\n${projects}`],
  ['our table behind', `${projects}\n[model_providers.gateway]\nname = "x"\n`],
  ['a sibling in the middle', `${projects}\n[model_providers.b]\nname = "b"\n\n${list}`],
  [
    'our table twice cut',
    `${list}\n[model_providers]\n\n${projects}\n[model_providers.c]\n\n${list}`,
  ],
  ['no final newline', `model = "o3"\n\n${projects.trimEnd()}`],
  ['blank lines at the end', `model = "o3"\n\n${projects}\n\n\n`],
  ['an inline root table', `model_providers = { b = { name = "b" } }\n\n${projects}`],
  ['a text that looks like a header', `note = """\n[projects]\n"""\n\n${projects}`],
  [
    'another line break at the first header',
    `[t]\r\na = 1\n\n${projects}[model_providers.b]\nname = "b"\n`,
  ],
  ['indented headers', projects.replace(/^\[/gm, '  [')],
]

const set: readonly KeyChange[] = [
  { path: ['model'], value: 'gpt-5.6-sol' },
  { path: ['model_provider'], value: 'gateway' },
  { path: ['model_providers', 'gateway', 'name'], value: 'Gateway' },
  { path: ['model_providers', 'gateway', 'base_url'], value: 'https://gw.example/v1' },
]
const removal: readonly KeyChange[] = [
  { path: ['model'], value: undefined },
  { path: ['model_providers', 'gateway', 'name'], value: undefined },
]

describe.each(layouts)('a large text: %s', (_, unixText) => {
  test.each([
    ['set', set, unixText],
    ['removed', removal, unixText],
    ['set, CRLF', set, unixText.replaceAll(/\r?\n/g, '\r\n')],
  ])('keys are %s as in an edit of the whole text', (_, changes, text) => {
    const focused = editWith(tomlDialect, bytesOf(text), changes, 'x')
    expect(show(focused)).toBe(show(editWith(wholeDialect, bytesOf(text), changes, 'x')))
  })
})

test('a large text is judged as a whole once before and once after, and its places are looked for in a part', () => {
  const text = `model = "o3"\n\n${projects}`
  const parse = vi.fn(tomlDialect.parse)
  const read = vi.fn(tomlDialect.read)
  editWith({ ...tomlDialect, parse, read }, bytesOf(text), set, 'x')
  const isWhole = ([parsed]: [string, string]) => parsed.includes('/work/59')
  expect(parse.mock.calls.filter(isWhole)).toEqual([])
  expect(read.mock.calls.filter(isWhole)).toHaveLength(2)
})

test('a focus that loses a part is not trusted', () => {
  const text = `model = "o3"\n\n${projects}`
  const losing: Dialect<TomlText> = {
    ...tomlDialect,
    focus: () => ({ text: 'model = "o3"\n', restore: (edited) => edited }),
  }
  const edited = editWith(losing, bytesOf(text), set, 'x')
  expect(show(edited)).toBe(show(editWith(wholeDialect, bytesOf(text), set, 'x')))
})

test('a focus in which all is so already is not trusted either', () => {
  const text = `model = "o3"\n\n${projects}`
  const change = { path: ['model'], value: 'gpt-5.6-sol' }
  const lying: Dialect<TomlText> = {
    ...tomlDialect,
    focus: () => ({ text: 'model = "gpt-5.6-sol"\n', restore: () => text }),
  }
  const edited = editWith(lying, bytesOf(text), [change], 'x')
  expect(show(edited)).toBe(text.replace('o3', 'gpt-5.6-sol'))
})

test('of a cut text only what is still whole and in its order is put back', () => {
  const text = `model = "o3"\n\n${projects}\n[model_providers.b]\nname = "b"\n\n${list}`
  const focus = tomlDialect.focus?.(text, [['model_providers', 'b']])
  const marks = focus?.text.match(/#cut-\d+-\d+\./g) ?? []
  expect(marks).toHaveLength(2)
  const [first = '', second = ''] = marks
  const swapped = focus!.text
    .replace(first, '#')
    .replace(second, first)
    .replace('#\n', `${second}\n`)
  expect(focus?.restore(focus.text)).toBe(text)
  expect(focus?.restore(focus.text.replace(second, ''))).toBeUndefined()
  expect(focus?.restore(`${focus.text}${first}`)).toBeUndefined()
  expect(focus?.restore(swapped)).toBeUndefined()
})

test('what cannot be edited is refused with its place in the whole text', () => {
  const text = `${projects}\n[model]\nx = 1\n`
  const refused = (dialect: Dialect<TomlText>) => {
    try {
      editWith(dialect, bytesOf(text), set, 'x')
      return 'edited'
    } catch (error) {
      return (error as Error).message
    }
  }
  expect(refused(tomlDialect)).toMatch(/line \d+/)
  expect(refused(tomlDialect)).toBe(refused(wholeDialect))
})
