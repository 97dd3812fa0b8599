import { expect, onTestFinished, test } from 'vitest'
import { answer, cancel } from '../support/dialogue.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { askInProcess, keys, runOnTerminal, typeAddress } from '../support/terminal.ts'

const canary = 'sk-canary-00aa11bb22cc33dd44ee55ff'

const gateway = await withGateway({ key: canary })

test('a key that is typed before the question for the address is not shown', async () => {
  const run = runOnTerminal(aHome(), [])
  await run.shows('Gateway address')
  run.type(canary)
  await answer(run, '❯ ....')
  await run.shows('looks like a key')
  await typeAddress(run, gateway.url)
  await answer(run, 'API key', canary)
  await run.shows('Which clients')
  run.type(`${canary}${keys.ctrlC}`)
  expect(await run.ended).toBe(130)
  expect(run.raw()).not.toContain(canary.slice(3, 12))
})

test('an address that is pasted with its line break is accepted, so that no key is added to it', async () => {
  const run = runOnTerminal(aHome(), [])
  await answer(run, 'Gateway address', gateway.url)
  await answer(run, 'API key', canary)
  await run.shows('Which clients')
  await cancel(run)
  expect(run.raw()).not.toContain(canary.slice(3, 12))
})

test('text that is typed before the list of clients selects none of them', async () => {
  const slow = await withGateway(
    {
      key: canary,
      faults: [{ delayMs: 1_000 }],
    },
    onTestFinished,
  )
  const run = runOnTerminal(aHome(), [], {
    env: { REPOINT_API_KEY: canary, REPOINT_BASE_URL: slow.url },
  })
  await answer(run, `❯ ${slow.url}`)
  await answer(run, 'Asking the gateway', '123 ai ')
  await answer(run, /◯ Codex[\s\S]*space select/)
  await run.shows('Select at least one')
  await cancel(run)
  expect(run.screen()).not.toContain('◉')
})

test('a key that is typed during a request to the gateway is not shown', async () => {
  const slow = await withGateway(
    {
      key: canary,
      faults: [{ delayMs: 1_000 }],
    },
    onTestFinished,
  )
  const home = aHome()
  const run = runOnTerminal(home, ['codex', '--base-url', slow.url], {
    env: { REPOINT_API_KEY: canary },
  })
  await run.shows('Asking the gateway')
  run.type(canary)
  await answer(run, 'Apply?', 'n')
  expect(await run.ended).toBe(0)
  expect(home.snapshot()).toEqual({})
  expect(run.raw()).not.toContain(canary.slice(3, 12))
})

test('a key that is typed as the address is shown as dots', async () => {
  const run = askInProcess(aHome(), ['codex'])
  await answer(run, 'Gateway address', canary)
  await run.shows('looks like a key')
  await cancel(run)
  expect(run.raw()).not.toContain(canary.slice(3, 12))
})
