import { expect, test } from 'vitest'
import {
  KeptBytes,
  newPlace,
  type Place,
  slabBytes,
  textAt,
} from '../../../src/serve/log/kept-bytes.ts'

function keep(kept: KeptBytes, body: string | Uint8Array): Place {
  const place = newPlace()
  kept.keep(place, body, Buffer.byteLength(body))
  return place
}

test('kept bytes: what was kept comes back as long as it is not dropped', () => {
  const kept = new KeptBytes()
  const held: { place: Place; text: string }[] = []
  const lasting: typeof held = []
  const slabs = new Set<unknown>()
  for (let count = 0; count < 2000; count++) {
    const text = `${count} ${count % 3 === 0 ? 'ä→😀' : 'plain'} `.repeat(500)
    const place = keep(kept, count % 2 === 0 ? text : Buffer.from(text))
    slabs.add(place.slab)
    // A few stay to the end, alone in their slabs.
    if (count % 400 === 0) lasting.push({ place, text })
    else held.push({ place, text })
    // Not in the order in which they came.
    if (held.length > 50) kept.drop(held.splice((count * 7) % 20, 1)[0]!.place)
    const { place: one, text: itsText } = held[count % held.length] ?? lasting[0]!
    expect(textAt(one)).toBe(itsText)
  }
  for (const { place, text } of [...held, ...lasting]) expect(textAt(place)).toBe(text)
  // 2000 bodies of about 5 to 7 kB would fill more than forty.
  expect(slabs.size).toBeLessThan(12)
})

test('kept bytes: a body that is too long is cut between two characters', () => {
  const kept = new KeptBytes()
  kept.drop(keep(kept, 'x'.repeat(slabBytes)))
  expect(textAt(keep(kept, '→'.repeat(slabBytes)))).toBe('→'.repeat(Math.floor(slabBytes / 3)))
  expect(textAt(keep(kept, 'y'.repeat(slabBytes + 1)))).toBe('y'.repeat(slabBytes))
  for (const lead of ['a', 'ab', 'abc']) {
    const whole = '😀'.repeat(slabBytes / 4 - 1)
    expect(textAt(keep(kept, Buffer.from(`${lead}${whole}😀`)))).toBe(lead + whole)
  }
})
