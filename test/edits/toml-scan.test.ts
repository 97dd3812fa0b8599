import { describe, expect, test } from 'vitest'
import type { Dialect } from '../../src/edits/dialect.ts'
import { editWith } from '../../src/edits/edit.ts'
import type { KeyChange } from '../../src/edits/plan.ts'
import { lineStart } from '../../src/edits/text.ts'
import { tomlDialect } from '../../src/edits/toml.ts'
import { parseToml, readToml, type TomlText } from '../../src/edits/toml-parse.ts'
import { groupTables } from '../../src/edits/toml-scan.ts'
import { UserError } from '../../src/errors.ts'
import { fc } from '../support/fast-check.ts'
import { tomlDocument } from './generate.ts'
import { largeToml, oddToml } from './generate-odd-toml.ts'
import { bytesOf, hasMixedEols, show } from './helpers.ts'

/** Documents for each property. By hand: REPOINT_PROPERTY_RUNS=20000. */
const numRuns = Number(process.env['REPOINT_PROPERTY_RUNS'] ?? 500)

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
    const property = fc.property(oddToml, (text) => {
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

const large = fc.tuple(largeToml, tomlDocument).map(([text, { changes }]) => ({ text, changes }))

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
      // Behind a last line without a break of its own, one of two kinds is a guess.
      if (hasMixedEols(bytesOf(text)) && !text.endsWith('\n')) return
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
