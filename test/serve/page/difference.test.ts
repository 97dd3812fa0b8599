import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compare } from '../../../src/serve/page/read/difference.ts'
import type { Question } from '../../../src/serve/requests/reading/turns.ts'

function aQuestion(words: readonly string[], more: Partial<Question> = {}): Question {
  const turns = words.map((text) => ({ role: 'user', parts: [{ type: 'text', text }] }) as const)
  return { system: '', turns, tools: [], settings: {}, follows: undefined, ...more }
}

function marks(before: readonly string[], now: readonly string[]): string[] {
  const { turns } = compare(aQuestion(before), aQuestion(now))
  const signs = { same: '=', new: '+', gone: '-' }
  return turns.map(({ turn, mark }) => signs[mark] + turn.parts[0]!.text)
}

test.each([
  ['a', 'a b c', '=a +b +c'],
  ['a b', 'a b', '=a =b'],
  ['a b c d', 'a x c d e', '=a -b +x =c =d +e'],
  ['a b c', 'summary c d', '-a -b +summary =c +d'],
  ['a b', '', '-a -b'],
])('the difference: what becomes of %j by %j', (before, now, marked) => {
  const words = (text: string) => text.split(' ').filter(Boolean)
  expect(marks(words(before), words(now)).join(' ')).toBe(marked)
})

test('the difference: both sides can be read from it', () => {
  const words = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })
  fc.assert(
    fc.property(words, words, (before, now) => {
      const all = marks(before, now)
      const side = (signs: string) =>
        all.filter((one) => signs.includes(one[0]!)).map((one) => one.slice(1))
      expect(side('=-')).toEqual(before)
      expect(side('=+')).toEqual(now)
    }),
  )
})

test('the difference: tools, settings and the system prompt', () => {
  const tool = (name: string, definition: unknown = {}) => ({ name, definition })
  const earlier = {
    tools: [tool('a'), tool('b'), tool('c')],
    settings: { max_tokens: 1, top_p: 1 },
  }
  const tools = [tool('a'), tool('c', 1), tool('d')]
  const before = aQuestion([], earlier)
  const now = aQuestion([], { system: 'x', tools, settings: { max_tokens: 2, stop: ['x'] } })
  expect(compare(before, now)).toMatchObject({
    isSystemNew: true,
    addedTools: ['d'],
    removedTools: ['b'],
    changedTools: ['c'],
    settings: [
      { name: 'max_tokens', before: 1, now: 2 },
      { name: 'top_p', before: 1, now: undefined },
      { name: 'stop', before: undefined, now: ['x'] },
    ],
  })
})
