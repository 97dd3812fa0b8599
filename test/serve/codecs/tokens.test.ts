import { expect, test } from 'vitest'
import { frameTemplate, sseFrame } from '../../../src/serve/codecs/sse.ts'
import { splitTokens } from '../../../src/serve/codecs/tokens.ts'
import { fc } from '../../support/fast-check.ts'

const tokensOf = (text: string) => splitTokens({ type: 'text', text })

test('tokens: are words with the space before them, split if they are long', () => {
  expect(tokensOf('')).toEqual([])
  expect(tokensOf(' Hi  you\n')).toEqual([' Hi', ' ', ' you', '\n'])
  expect(tokensOf('a 12345678901234567 b')).toEqual(['a', ' 1234567890123456', '7', ' b'])
  expect(tokensOf('123456789012345\u{1f600}x')).toEqual(['123456789012345\u{1f600}', 'x'])
})

test('tokens: arguments are split into pieces of 4 to 8 characters', () => {
  const text = '{"command":"git status --short","path":"./a/b"}'
  const pieces = splitTokens({ type: 'call', text })
  expect(pieces.join('')).toBe(text)
  expect(pieces.length).toBeGreaterThan(6)
  for (const piece of pieces.slice(0, -1)) expect(piece).toMatch(/^.{4,8}$/)
  expect(splitTokens({ type: 'call', text: 'abc\u{1f600}x' })).toEqual(['abc\u{1f600}x'])
})

test('tokens: are the text if they are joined', () => {
  const piece = fc.constantFrom(' ', 'a', 'bcdefgh', '\n', '\u{1f600}', '\ud83d', '\ude00', 'é')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const text = pieces.join('')
      const tokens = tokensOf(text)
      expect(tokens.join('')).toBe(text)
      for (const token of tokens) expect(token.length).toBeLessThanOrEqual(18)
    }),
    { numRuns: 500 },
  )
})

test('frames: a template writes the same as a whole frame', () => {
  const event = (number: number, piece: string) => ({ type: 'x', number, a: { piece, b: [] } })
  const frameOf = frameTemplate(event)
  for (const piece of ['', 'a', '"<slot 1>"\n\u2028', '\ud800', '$&'])
    expect(frameOf(7, piece)).toBe(sseFrame(event(7, piece)))
})
