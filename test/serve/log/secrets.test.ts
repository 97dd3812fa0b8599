import { describe, expect, test } from 'vitest'
import { hideKeys, hideKeysInEvents, maskKey } from '../../../src/serve/log/secrets.ts'
import { fc } from '../../support/fast-check.ts'

const key = 'sk-canary-0123456789-ABCDEF'
const masked = maskKey(key)

test('keys: enough is shown to tell two apart, not enough to use one', () => {
  expect(maskKey(key)).toBe('sk-…CDEF')
  expect(maskKey('sk-123456789')).toBe('***')
  expect(maskKey('')).toBe('')
})

test('keys: are hidden as they are, in JSON, in JSON within JSON, and in addresses', () => {
  const odd = 'sk-"quoted"\\<b>&/?%$&-key'
  const json = JSON.stringify({ said: odd })
  const goJson = json.replace(/[<>&]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)
  for (const text of [odd, json, JSON.stringify(json), goJson, `?k=${encodeURIComponent(odd)}`])
    expect(hideKeys(`<${text}>`, [odd])).not.toMatch(/quoted|%22/)
})

test('keys: one that holds another is hidden whole, whichever comes first', () => {
  const longer = `${key}-and-more`
  for (const keys of [
    [key, longer],
    [longer, key],
  ]) {
    const shown = hideKeys(`a ${longer} b ${key} c`, keys)
    expect(shown).toBe(`a ${maskKey(longer)} b ${masked} c`)
  }
})

test('keys: what is left of one where a text was cut is hidden too', () => {
  expect(hideKeys(`my key is ${key.slice(0, 20)}`, [key])).toBe(`my key is ${masked}`)
  expect(hideKeys('sk-canary', [key])).toBe(masked)
  expect(hideKeys('a sk-can', [key])).toBe('a sk-can')
})

test('keys: a text without one stays as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(hideKeys(text, [key])).toBe(text)
      expect(hideKeysInEvents(text, [key])).toBe(text)
    }),
  )
})

describe('a key in pieces', () => {
  /** All places where texts of the three protocols come in pieces. */
  const frames: Readonly<Record<string, (text: string) => string>> = {
    'chat text': (text) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`,
    'chat arguments': (text) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: 1, function: { arguments: text } }] } }] })}\n\n`,
    'messages text': (text) =>
      `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })}\n\n`,
    'messages arguments': (text) =>
      `event: content_block_delta\r\ndata:${JSON.stringify({ type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: text } })}\r\n\r\n`,
    'responses text': (text) =>
      `event: response.output_text.delta\ndata: ${JSON.stringify({ type: 'response.output_text.delta', item_id: 'a', delta: text })}\n\n`,
    'responses arguments': (text) =>
      `event: response.function_call_arguments.delta\ndata: ${JSON.stringify({ type: 'response.function_call_arguments.delta', item_id: 'b', delta: text })}\n\n`,
  }

  test.each(Object.entries(frames))('a key in pieces: %s', (_, frame) => {
    const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 60, maxLength: 60 })
    fc.assert(
      fc.property(cuts, fc.boolean(), (lengths, isCut) => {
        const said = `curl -H "Authorization: Bearer ${key}" and on`
        const text = isCut ? said.slice(0, said.indexOf(key) + 20) : said
        const pieces: string[] = []
        let at = 0
        for (const length of lengths) {
          pieces.push(text.slice(at, at + length))
          at += length
        }
        const shown = hideKeysInEvents(pieces.map(frame).join(''), [key])
        const whole = isCut ? said.slice(0, said.indexOf(key)) + masked : said.replace(key, masked)
        expect(textIn(shown)).toBe(whole)
        expect(shown).not.toContain(key.slice(3, 12))
      }),
      { numRuns: 40 },
    )
  })

  function textIn(stream: string): string {
    return stream
      .split('\n')
      .filter((line) => line.startsWith('data:'))
      .map((line) => {
        const data = JSON.parse(line.slice(5))
        const delta = data.choices?.[0].delta ?? data.delta
        if (typeof delta === 'string') return delta
        const called = delta.tool_calls?.[0].function.arguments
        return delta.content ?? called ?? delta.text ?? delta.partial_json
      })
      .join('')
  }

  test('a key in pieces: calls that come by turns are told apart', () => {
    const arguments_ = (index: number, text: string) =>
      `data: ${JSON.stringify({ type: 'content_block_delta', index, delta: { partial_json: text } })}\n\n`
    const [one, other] = [key.slice(0, 9), key.slice(9)]
    const stream =
      arguments_(0, one) + arguments_(1, 'mine ') + arguments_(0, other) + arguments_(1, 'too')
    const shown = hideKeysInEvents(stream, [key])
    expect(shown).toBe(
      arguments_(0, masked) + arguments_(1, 'mine ') + arguments_(0, '') + arguments_(1, 'too'),
    )
  })

  test('a key in pieces: events that cannot be read hide what they hold as a whole', () => {
    const nested = `${'{"a":'.repeat(50_000)}"${key}"${'}'.repeat(50_000)}`
    const deep = `data: {"delta":"x","a":${nested}}\n\ndata: {oops ${key}\n\n`
    const shown = hideKeysInEvents(deep, [key])
    expect(shown).not.toContain(key)
    expect(shown.split(masked)).toHaveLength(3)
  })
})
