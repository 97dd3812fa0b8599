import { parse, TomlError } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { piecesOf } from '../../src/edits/toml-pieces.ts'
import { parseValues } from '../../src/edits/toml-values.ts'
import { Literal } from '../../src/edits/values.ts'
import { UserError } from '../../src/errors.ts'
import { fc } from '../support/fast-check.ts'
import { largeToml, oddToml } from './generate-odd-toml.ts'

/** Documents for the property. By hand: REPOINT_PROPERTY_RUNS=20000. */
const numRuns = Number(process.env['REPOINT_PROPERTY_RUNS'] ?? 500)

const table = (root: string, name: string | number) =>
  `[${root}.${name}]\nkey = ${'1'.repeat(60)}\n`
const large = (root: string, name = 'a') =>
  Array.from({ length: 160 }, (_, n) => table(root, `${name}${n}`)).join('\n')

describe('a large text in pieces', () => {
  test('means what it means as a whole, or is refused as a whole is', () => {
    let taken = 0
    let apart = 0
    const property = fc.property(largeToml, oddToml, oddToml, (text, head, foot) => {
      for (const version of [text, `${head}\n${text}${foot}`, `${text}\n${foot}`]) {
        const whole = wholeMeaning(version)
        expect(meaning(version)).toBe(whole)
        if (whole === undefined) continue
        taken++
        if (piecesOf(version).filter(Boolean).length > 1) apart++
      }
    })
    fc.assert(property, { numRuns })
    expect(taken).toBeGreaterThan(numRuns / 10)
    expect(apart).toBeGreaterThan(numRuns / 10)
  })

  test('of two versions shares what is the same in both', () => {
    const before = `model = "a"\n\n${large('p')}`
    const after = `model = "b"\n\n${large('p')}\n[ours]\nx = 1\n`
    expect(read(after)['p']).toBe(read(before)['p'])
    expect(read(after.trimEnd())['p']).toBe(read(before.trimEnd())['p'])
    expect(read(after.replaceAll('\n', '\r\n'))['p']).toBe(
      read(before.replaceAll('\n', '\r\n'))['p'],
    )
  })

  test('shares its tables also where they come first', () => {
    expect(read(`model = "b"\n\n${large('p')}`)['p']).toBe(read(large('p'))['p'])
  })

  test('keeps the tables in one piece that take most of it', () => {
    const head = `x = "${'1'.repeat(6000)}"\n\n[q]\ny = 1`
    expect(piecesOf(`${head}\n\n${large('p')}\n[r]\n`)).toEqual([head, large('p').trimEnd(), '[r]'])
  })

  test('is not cut in a comment behind a line break that is none in TOML', () => {
    const text = `x = 1 # \u2028[p.no]\ny = 2\n${large('p')}`
    expect(Object.keys(read(text))).toEqual(['x', 'y', 'p'])
  })

  test('keeps the tables of one root, and what stands amidst them, in one piece', () => {
    const text = `${large('p')}\n[q]\n\n${large('p', 'b')}`
    expect(piecesOf(`x = 1\n${text}`).filter(Boolean)).toEqual(['x = 1', text.trimEnd()])
    expect(meaning(text)).toBe(wholeMeaning(text))
  })

  test.each([
    ['a root with an escape', `${large('p')}\n["\\u0070".b]\nx = 1\n`],
    ['a header with blanks before it', `${large('p')}\n  [p.z]\nx = 1\n`],
    ['a header with blanks in it', `[ p . z ]\nx = 1\n${large('p')}`],
    ['tables in a string', `x = """\n${large('p')}"""\n[q]\n`],
    ['tables in a string between tables', `[p.z]\nx = """\n${large('p')}"""\n[p.y]\n`],
    ['lists in a list', `x = [\n${'["a"],\n'.repeat(2000)}]\n`],
    ['a list of tables', `x = 1\n${'[[l]]\ny = 1\n'.repeat(2000)}`],
  ])('means what it means as a whole: %s', (_, text) => {
    expect(meaning(text)).toBe(wholeMeaning(text))
    expect(meaning(text)).toBeDefined()
  })

  test.each([
    ['a root key of the head again', `p = 1\n${large('p')}`],
    ['a table of an earlier piece again', `${large('p')}\n${large('q')}\n[p.a0]\n`],
    ['a table of a piece twice', `[q]\n${large('p')}\n[p.a0]\n`],
    ['a string that does not end', `${large('p')}\n[q]\nx = """\n${large('r')}`],
  ])('is refused with line and column: %s', (_, text) => {
    expect(() => parseValues(text, 'x')).toThrow(/^Cannot read x: .*\(line \d+, column \d+\)$/)
  })
})

function read(text: string) {
  return parseValues(text, 'x')
}

/** What our reading gives, as text; undefined: refused. */
function meaning(text: string): string | undefined {
  try {
    return shown(read(text))
  } catch (cause) {
    if (cause instanceof UserError) return undefined
    throw cause
  }
}

function wholeMeaning(text: string): string | undefined {
  try {
    return shown(parse(text, { integersAsBigInt: true }))
  } catch (cause) {
    if (cause instanceof TomlError) return undefined
    throw cause
  }
}

function shown(root: unknown): string {
  return JSON.stringify(root, (_, value) => {
    if (value instanceof Literal) return value.source
    return typeof value === 'bigint' || Object.is(value, -0) || !isPlain(value)
      ? `${typeof value} ${Object.is(value, -0) ? '-0' : String(value)}`
      : value
  })
}

/** Not a number that JSON makes null of. */
function isPlain(value: unknown): boolean {
  return typeof value !== 'number' || Number.isFinite(value)
}
