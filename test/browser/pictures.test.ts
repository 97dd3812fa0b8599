import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { withPage } from './browser.ts'

const opened = withPage()

/** Part of a line. */
interface Run {
  readonly text: string
  /** The number of characters that the browser draws. */
  readonly drawn: number
  readonly width: number
}

const drawnRuns = `[...document.querySelectorAll('tspan')].map((one) => ({
  text: one.textContent,
  drawn: one.getNumberOfChars(),
  width: one.textLength.baseVal.value,
}))`

const pictures = readdirSync('docs/images').filter((name) => name.endsWith('.svg'))

test('there are pictures', () => {
  expect(pictures).toContain('doctor.svg')
})

test.each(pictures)(
  'docs/images/%s: the browser draws every character in its column',
  async (name) => {
    const { page } = opened
    await page.setContent(readFileSync(`docs/images/${name}`, 'utf8'))
    const runs = await page.evaluate<readonly Run[]>(drawnRuns)
    expect(runs.length).toBeGreaterThan(10)
    for (const { text, drawn, width } of runs) {
      expect([text, drawn]).toEqual([text, text.length])
      expect(text).not.toMatch(/ {2}|^ | $/)
      expect(width / text.length).toBeCloseTo(8.4, 1)
    }
  },
)
