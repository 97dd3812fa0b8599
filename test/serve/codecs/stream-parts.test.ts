import { describe, expect, test } from 'vitest'
import {
  bytesOf,
  framed,
  layDown,
  leave,
  pack,
  type StreamPart,
  unpack,
} from '../../../src/serve/codecs/stream-parts.ts'
import { tokensOf } from '../../../src/serve/codecs/tokens.ts'
import { fc } from '../../support/fast-check.ts'

const same = (text: string) => text

/** What the parts stand for, the plain way. */
function whole(parts: readonly StreamPart[]): string {
  return parts
    .map((part) =>
      typeof part === 'string'
        ? part
        : tokensOf(part.text)
            .map((token) => part.before + JSON.stringify(token).slice(1, -1) + part.after)
            .join(''),
    )
    .join('')
}

const anyText = fc.oneof(
  fc.string({ unit: 'binary-ascii', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  // Halves of characters too.
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
    .map((units) => String.fromCharCode(...units)),
)
const around = fc.string({ unit: 'grapheme', maxLength: 300 })
const frames = fc.record({
  before: around,
  text: fc.oneof(
    anyText,
    anyText.map((text) => text.repeat(100)),
  ),
  after: around,
})
const someParts = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), frames), { maxLength: 6 })

describe('a stream that was laid down', () => {
  test('has the bytes of its parts', () => {
    fc.assert(
      fc.property(someParts, (parts) => {
        const laid = layDown(parts)
        const text = whole(parts)
        expect(bytesOf(laid).toString()).toBe(text)
        const size = Buffer.byteLength(text).toString(16)
        const answer = `A: b\r\nTransfer-Encoding: chunked\r\n\r\n${size}\r\n${text}\r\n0\r\n\r\n`
        expect(framed(laid, 'A: b\r\n').toString()).toBe(answer)
      }),
      { numRuns: 300 },
    )
  })

  test('can be packed if one part has tokens, and unpacked again', () => {
    const text = fc.string({ unit: 'grapheme' })
    fc.assert(
      fc.property(text, frames, text, (first, run, last) => {
        const parts = [first, run, last]
        const packed = pack(layDown(parts))
        expect(packed === undefined).toBe(run.text === '')
        if (packed !== undefined) expect(unpack(Buffer.from(packed), same)).toBe(whole(parts))
      }),
      { numRuns: 300 },
    )
    expect(
      pack(
        layDown(['a', { before: '', text: 'b', after: '' }, { before: '', text: 'c', after: '' }]),
      ),
    ).toBe(undefined)
  })

  test('is changed in each of its parts when it is unpacked', () => {
    const parts = [
      'KEY ',
      { before: 'KEY[', text: 'a KEY which-is-cut-into-KEYs', after: ']KEY' },
      ' KEY',
    ]
    const hidden = unpack(pack(layDown(parts))!, (text) => text.replaceAll('KEY', '-'))
    expect(hidden).toBe('- -[a]--[ -]--[ which-is-cut-int]--[o--s]- -')
  })

  test('holds when it was left to its reader, however many follow', () => {
    const one = layDown(['one', { before: '<', text: 'two three', after: '>' }])
    const bytes = bytesOf(one)
    leave(one)
    layDown(['x'.repeat(1000)])
    expect(bytes.toString()).toBe('one<two>< three>')
    leave(one)
    const next = bytesOf(layDown(['y'.repeat(1000)]))
    expect(next.toString()).toBe('y'.repeat(1000))
  })

  test('may be longer than the memory that is used again', () => {
    const run = { before: 'b'.repeat(400), text: 'word '.repeat(1000), after: 'a' }
    const parts = ['first', run, 'é'.repeat(40_000)]
    const laid = layDown(parts)
    expect(bytesOf(laid).toString()).toBe(whole(parts))
    expect(pack(laid)).toBe(undefined)
  })

  test('takes no memory of its own as long as it fits, however long a text of it could be', () => {
    const parts = ['x'.repeat(50_000), { before: '<', text: 'two three', after: '>' }]
    const laid = layDown(parts)
    expect(laid.memory === layDown(['short']).memory).toBe(true)
    expect(pack(layDown(parts))).toBeDefined()
    const text = 'é'.repeat(40_000)
    expect(bytesOf(layDown([text])).toString()).toBe(text)
  })
})
