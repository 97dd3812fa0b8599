import { expect, onTestFinished, test } from 'vitest'
import { cancel } from '../support/dialogue.ts'
import { aHome } from '../support/home.ts'
import { askInProcess } from '../support/terminal.ts'

test('a narrow terminal breaks a question between words, and names no keys of a list that is empty', async () => {
  const home = aHome({}, onTestFinished)
  const run = askInProcess(home, [], { columns: 34 })
  await run.shows(/Gateway address, for\s+example\s+openrouter\.ai:/)
  expect(run.screen()).not.toContain('navigate')
  run.type('openr')
  await run.shows('openr')
  await cancel(run)
  expect(run.screen()).not.toMatch(/open\s+router|examp\s+le/)
})
