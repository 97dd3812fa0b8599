import { expect, test } from 'vitest'
import { piecesOf } from '../../../src/serve/codecs/tokens.ts'
import { fc } from '../../support/fast-check.ts'

const tokensOf = (text: string) => piecesOf({ type: 'text', text })

test('tokens: words with the space before them, cut where they are long', () => {
  expect(tokensOf('')).toEqual([])
  expect(tokensOf(' Hi  you\n')).toEqual([' Hi', ' ', ' you', '\n'])
  expect(tokensOf('a 12345678901234567 b')).toEqual(['a', ' 1234567890123456', '7', ' b'])
  expect(tokensOf('123456789012345\u{1f600}x')).toEqual(['123456789012345\u{1f600}', 'x'])
})

test('tokens: arguments are cut by their length alone', () => {
  const text = `{"command":"${'a '.repeat(10)}"}\n`
  expect(piecesOf({ type: 'call', text })).toEqual([text.slice(0, 24), text.slice(24)])
})

test('tokens: joined they are the text', () => {
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
