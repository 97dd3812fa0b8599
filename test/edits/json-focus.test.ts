import { describe, expect, test, vi } from 'vitest'
import type { Dialect } from '../../src/edits/dialect.ts'
import { editWith } from '../../src/edits/edit.ts'
import { jsonDialect } from '../../src/edits/json.ts'
import type { JsonText } from '../../src/edits/json-parse.ts'
import type { KeyChange } from '../../src/edits/plan.ts'
import { UserError } from '../../src/errors.ts'
import { fc } from '../support/fast-check.ts'
import { bytesOf, show } from './helpers.ts'

const { focus: _, ...wholeDialect } = jsonDialect

const changes: readonly KeyChange[] = [
  { path: ['model'], value: 'sonnet' },
  { path: ['env', 'ANTHROPIC_BASE_URL'], value: 'https://gw.example' },
  { path: ['env', 'OLD'], value: undefined },
  { path: ['provider', 'gateway'], value: { npm: 'x', models: { a: {} } } },
]

const filler = 'f'.repeat(400)
const value = fc.oneof(
  fc.constantFrom<unknown>(1, null, 'short', [], {}, filler.repeat(5)),
  fc.array(fc.constantFrom<unknown>(filler, { nested: [filler] }, '}', '",', 2), { maxLength: 12 }),
  fc.dictionary(fc.constantFrom('a', 'OLD', 'gateway', ']', filler), fc.constantFrom(filler, 1)),
)
const key = fc.constantFrom('model', 'env', 'provider', 'a', 'b "quoted"', 'hooks', 'mcp', '{')

/** Objects of a few members, most of them long, with comments and in several layouts. */
const documents = fc
  .record({
    members: fc.uniqueArray(fc.tuple(key, value), { selector: ([name]) => name, minLength: 2 }),
    indent: fc.constantFrom(0, 2, '\t'),
    hasComments: fc.boolean(),
    hasTrailingComma: fc.boolean(),
    eol: fc.constantFrom('\n', '\r\n'),
  })
  .map(({ members, indent, hasComments, hasTrailingComma, eol }) => {
    let text = JSON.stringify({ ...Object.fromEntries(members), last: filler }, null, indent)
    if (hasComments && indent !== 0) text = text.replaceAll(',\n', ', // why, "{\n')
    if (hasTrailingComma) text = text.replace(/(\s*)\}$/, ',$1}')
    return `${text}\n`.replaceAll('\n', eol)
  })

function edited(dialect: Dialect<JsonText>, text: string): string | null {
  try {
    return show(editWith(dialect, bytesOf(text), changes, 'x'))
  } catch (error) {
    if (error instanceof UserError) return `${error.code}: ${error.message}`
    throw error
  }
}

describe('a large JSON text', () => {
  test('is edited in what the changes concern as it would be in the whole', () => {
    let cut = 0
    fc.assert(
      fc.property(documents, (text) => {
        const paths = changes.map(({ path }) => path)
        if (jsonDialect.focus?.(text, paths) !== undefined) cut++
        expect(edited(jsonDialect, text)).toBe(edited(wholeDialect, text))
      }),
      { numRuns: 1_000 },
    )
    expect(cut).toBeGreaterThan(300)
  })

  test('is judged as a whole before and after, and its tree is built of a part', () => {
    const text = JSON.stringify({ a: filler.repeat(30), env: { OLD: 1 } }, null, 2)
    const parse = vi.fn(jsonDialect.parse)
    const read = vi.fn(jsonDialect.read)
    const dialect = { ...jsonDialect, parse, read }
    const result = show(editWith(dialect, bytesOf(text), changes, 'x'))
    expect(JSON.parse(result as string)).toMatchObject({ model: 'sonnet', a: filler.repeat(30) })
    const isWhole = ([parsed]: [string, string]) => parsed.includes(filler)
    expect(parse.mock.calls.filter(isWhole)).toEqual([])
    expect(read.mock.calls.filter(isWhole)).toHaveLength(2)
  })

  test('is edited as a whole where our key is spelled in another way', () => {
    const text = `{"\\u0065nv": {"OLD": "${filler}"}, "a": "${filler.repeat(30)}"}`
    expect(edited(jsonDialect, text)).toBe(edited(wholeDialect, text))
    expect(JSON.parse(edited(jsonDialect, text) as string).env.OLD).toBeUndefined()
  })

  test.each(['{"a": "x', '{"a": [1, ', '{"a": 01}'])('that is broken is refused: %j', (broken) => {
    const text = broken.replace('"a"', `"b": "${filler.repeat(30)}", "a"`)
    expect(edited(jsonDialect, text)).toMatch(/^config-invalid: .*\(line 1, column \d\d/)
    expect(edited(jsonDialect, text)).toBe(edited(wholeDialect, text))
  })
})
