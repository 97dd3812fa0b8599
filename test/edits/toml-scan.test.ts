import { describe, expect, test } from 'vitest'
import type { Dialect } from '../../src/edits/dialect.ts'
import { editWith } from '../../src/edits/edit.ts'
import type { KeyChange } from '../../src/edits/plan.ts'
import { lineStart } from '../../src/edits/text.ts'
import { toml, tomlDialect } from '../../src/edits/toml.ts'
import { parseToml, readToml, type TomlText } from '../../src/edits/toml-parse.ts'
import { groupTables } from '../../src/edits/toml-scan.ts'
import { UserError } from '../../src/errors.ts'
import { fc } from '../support/fast-check.ts'
import { tomlDocument } from './generate.ts'
import { bytesOf, show, textOf } from './helpers.ts'

/** Documents for each property. By hand: REPOINT_PROPERTY_RUNS=20000. */
const numRuns = Number(process.env['REPOINT_PROPERTY_RUNS'] ?? 500)

/** What may mislead who looks for headers, in pieces that often fit together. */
const piece = fc.constantFrom(
  '[a]',
  '[a.b]',
  '[[l]]',
  '[ "a b" . c ]',
  "['[x]']",
  '["q\\"]"]',
  '["\\u0061"]',
  '  [t] # [no]',
  'k = ',
  '"k=[" = ',
  "'''\n[no]\n",
  "'''",
  '"""\n[no]\n',
  '"""',
  '""""',
  '"\\\\"',
  '"\\""',
  '\\"""',
  "'\\'",
  '[\n["no"]\n]',
  '[ # ]\n[1],\n]',
  '{ x = [\n[2]] }',
  '{ x = "}" }',
  '1',
  '# "',
  "# it's [no]",
  ',',
  '\n',
  '\n',
  '\r\n',
  ' ',
)
const pieces = fc.array(piece, { maxLength: 30 }).map((all) => all.join(''))

/** Sound statements of the same kind; NN is another number in each. */
const statement = fc.constantFrom(
  '[tNN]',
  "[ 'a]b' . tNN ] # ]",
  '[["q\\"]".tNN]]',
  '# "',
  'kNN = "\\""',
  'kNN = "\\\\"',
  "kNN = '\\'",
  'kNN = ""',
  'kNN = """a""""',
  "kNN = '''a'''''",
  'kNN = """\n\\"""\n[no]\n"""',
  'kNN = """\n\\\\"""',
  "kNN = '''\n[no]\n\\''' # '",
  'kNN = [\n["no"]\n]',
  'kNN = [ # ]\n[1],\n]',
  'kNN = { x = [\n[2]], y = "}" }',
  '"k[NN=" = 1',
)
const statements = fc
  .array(fc.tuple(statement, fc.constantFrom('\n', '\r\n')), { maxLength: 12 })
  .map((all) => all.map(([one, eol], index) => one.replace('NN', String(index)) + eol).join(''))

const mutation = fc.record({ at: fc.nat(10_000), cut: fc.nat(3), add: piece })
const mutated = fc
  .tuple(tomlDocument, fc.array(mutation, { maxLength: 3 }))
  .map(([{ bytes }, mutations]) =>
    mutations.reduce((text, { at, cut, add }) => {
      const place = at % (text.length + 1)
      return text.slice(0, place) + add + text.slice(place + cut)
    }, textOf(bytes)),
  )

/** The text as both parsers see it; undefined where one refuses it. */
function parsed(text: string) {
  try {
    return parseToml(text, 'x')
  } catch (cause) {
    if (cause instanceof UserError) return undefined
    throw cause
  }
}

describe('the scan for tables', () => {
  test('finds each header that the span parser finds, in a group of its own root, and no other', () => {
    let tables = 0
    const property = fc.property(fc.oneof(pieces, statements, mutated), (text) => {
      const headers = parsed(text)?.headers
      if (headers === undefined) return
      const groups = groupTables(text)
      const lines = headers.map((header) => lineStart(text, header.start))
      expect(groups.filter(({ start }) => !lines.includes(start))).toEqual([])
      for (const [index, header] of headers.entries()) {
        tables++
        const group = groups.findLast(({ start }) => start <= lines[index]!)
        const isEscaped = text.slice(header.start, header.end).includes('\\')
        if (!isEscaped || group?.root !== undefined) expect(group?.root).toBe(header.path[0])
      }
    })
    fc.assert(property, { numRuns: numRuns * 4 })
    expect(tables).toBeGreaterThan(numRuns / 2)
  })

  test('a root that is written with an escape is not known', () => {
    expect(groupTables('[a]\n["\\u0061"]\n')).toEqual([
      { start: 0, root: 'a' },
      { start: 4, root: undefined },
    ])
  })

  test('tables of one root that stand together are one group', () => {
    const text = '[p.a]\nx = 1\n[p."b"]\n[q]\n[[l]]\n[[l]]\n'
    expect(groupTables(text).map(({ root }) => root)).toEqual(['p', 'q', 'l'])
  })
})

/** Tables of other roots, more than is worth cutting. */
const projects = Array.from(
  { length: 60 },
  (_, n) => `[projects."/home/me/work/${n}"]\ntrust_level = "trusted"\n`,
).join('\n')

/** A large document: the generated one, with other tables behind it. */
const large = fc
  .tuple(fc.oneof(pieces, mutated), tomlDocument)
  .map(([text, { changes }]) => ({ text: `${text}\n${projects}`, changes }))

const { focus: _, ...wholeDialect } = tomlDialect

function edited(dialect: Dialect<TomlText>, text: string, changes: readonly KeyChange[]) {
  try {
    return show(editWith(dialect, bytesOf(text), changes, 'x'))
  } catch (cause) {
    if (cause instanceof UserError) return { refused: cause.message }
    throw cause
  }
}

describe('a large document, over generated ones', () => {
  test('is edited in part as it is edited as a whole', () => {
    let inPart = 0
    const property = fc.property(large, ({ text, changes }) => {
      if (parsed(text) === undefined) return
      const result = edited(tomlDialect, text, changes)
      expect(result).toEqual(edited(wholeDialect, text, changes))
      if (typeof result === 'string') inPart++
    })
    fc.assert(property, { numRuns })
    expect(inPart).toBeGreaterThan(numRuns / 10)
  })

  test('that the independent parser refuses is refused, with its place in the whole text', () => {
    let refused = 0
    const property = fc.property(large, ({ text, changes }) => {
      if (isSound(text)) return
      refused++
      expect(edited(tomlDialect, text, changes)).toEqual(edited(wholeDialect, text, changes))
    })
    fc.assert(property, { numRuns })
    expect(refused).toBeGreaterThan(numRuns / 10)
  })

  test('is read in part as it is read as a whole', () => {
    const property = fc.property(large, ({ text, changes }) => {
      if (parsed(text) === undefined) return
      const paths = changes.map(({ path }) => path)
      const part = toml.readAt(bytesOf(text), paths, 'x')
      const whole = toml.read(bytesOf(text), 'x')
      for (const path of paths) expect(part.get(path)).toEqual(whole.get(path))
    })
    fc.assert(property, { numRuns })
  })
})

/** Whether the independent parser takes it. */
function isSound(text: string): boolean {
  try {
    return readToml(text, 'x') !== undefined
  } catch (cause) {
    if (cause instanceof UserError) return false
    throw cause
  }
}
