import { expect, test, vi } from 'vitest'
import { remembering } from '../../src/edits/remembering.ts'

const large = (letter: string) => letter.repeat(10_000)

test('a large text is parsed once, and is known again by what it says', () => {
  const parse = vi.fn((text: string) => ({ text }))
  const remembered = remembering(parse)
  const first = remembered(large('a'))
  expect(remembered(Buffer.from(large('a')).toString())).toBe(first)
  expect(remembered(large('b'))).not.toBe(first)
  expect(parse).toHaveBeenCalledTimes(2)
})

test('small texts are parsed each time and push no large one out', () => {
  const parse = vi.fn((text: string) => ({ text }))
  const remembered = remembering(parse)
  const first = remembered(large('a'))
  for (const small of ['x', 'x', 'y', 'z', 'u', 'v']) remembered(small)
  expect(remembered(large('a'))).toBe(first)
  expect(parse).toHaveBeenCalledTimes(7)
})

test('only the newest large texts are kept', () => {
  const parse = vi.fn((text: string) => ({ text }))
  const remembered = remembering(parse)
  const first = remembered(large('a'))
  for (const letter of 'bcde') remembered(large(letter))
  expect(remembered(large('a'))).not.toBe(first)
})

test('a refusal is not remembered: it names the place that is asked about', () => {
  const refusing = remembering((_text: string, place: string): never => {
    throw new Error(`not ${place}`)
  })
  expect(() => refusing(large('a'), 'here')).toThrow('not here')
  expect(() => refusing(large('a'), 'there')).toThrow('not there')
})
