import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { withPage } from './browser.ts'

const opened = withPage()

/** A piece of a line. */
interface Run {
  readonly text: string
  /** How many characters the browser draws. */
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
    await page.goto(pathToFileURL(resolve('docs/images', name)).href)
    const runs = await page.evaluate<readonly Run[]>(drawnRuns)
    expect(runs.length).toBeGreaterThan(10)
    for (const { text, drawn, width } of runs) {
      expect([text, drawn]).toEqual([text, text.length])
      expect(text).not.toMatch(/ {2}|^ | $/)
      expect(width / text.length).toBeCloseTo(8.4, 1)
    }
  },
)
