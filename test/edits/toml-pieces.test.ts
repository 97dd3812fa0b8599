import { parse, TomlError } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { piecesOf } from '../../src/edits/toml-pieces.ts'
import { parseValues } from '../../src/edits/toml-values.ts'
import { Literal } from '../../src/edits/values.ts'
import { UserError } from '../../src/errors.ts'
import { fc } from '../support/fast-check.ts'
import { largeToml } from './generate-odd-toml.ts'

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
    const property = fc.property(largeToml, (text) => {
      const whole = wholeMeaning(text)
      expect(meaning(text)).toBe(whole)
      if (whole === undefined) return
      taken++
      if (piecesOf(text).length > 1) apart++
    })
    fc.assert(property, { numRuns })
    expect(taken).toBeGreaterThan(numRuns / 10)
    expect(apart).toBeGreaterThan(numRuns / 20)
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

  test('keeps the tables of one root, and what stands between them, in one piece', () => {
    const text = `${large('p')}\n[q]\n\n${large('p', 'b')}`
    expect(piecesOf(text)).toEqual([text.trimEnd()])
  })

  test('is not cut where a root is written with an escape', () => {
    const text = `${large('p')}\n["\\u0070".b]\n`
    expect(piecesOf(text)).toEqual([text])
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
