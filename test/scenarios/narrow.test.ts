import { expect, onTestFinished, test } from 'vitest'
import { aHome } from '../support/home.ts'
import { askInProcess, keys } from '../support/terminal.ts'

test('a narrow terminal breaks a question between words, and names no keys of a list that is empty', async () => {
  const home = aHome({}, onTestFinished)
  const run = askInProcess(home, [], { columns: 34 })
  await run.shows(/Gateway address, for\s+example\s+openrouter\.ai:/)
  expect(run.screen()).not.toContain('navigate')
  run.type('openr')
  await run.shows('openr')
  run.type(keys.ctrlC)
  expect(await run.ended).toBe(130)
  expect(run.screen()).not.toMatch(/open\s+router|examp\s+le/)
})
