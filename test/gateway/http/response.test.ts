import { expect, test } from 'vitest'
import { ResponseBuffer } from '../../../src/gateway/http/response.ts'

test('only the end of a long text is examined, so a long response costs no more per chunk', () => {
  const lengths: number[] = []
  const buffer = new ResponseBuffer({
    maxBytes: 4_000_000,
    isEnough: (lastText) => {
      lengths.push(lastText.length)
      return lastText.endsWith('the end')
    },
  })

  for (let sent = 0; sent < 1_000_000; sent += 10_000) {
    expect(buffer.add(Buffer.alloc(10_000, 'a'))).toBe('more')
  }

  expect(Math.max(...lengths)).toBe(200_000)
  expect(buffer.add(Buffer.from('the end'))).toBe('enough')
})
