import { expect, onTestFinished, test } from 'vitest'
import { aServer } from '../gateway/forged.ts'
import { answer, cancel } from '../support/dialogue.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { aHomeWith } from '../support/setup.ts'
import { askInProcess, runOnTerminal } from '../support/terminal.ts'

const canary = 'sk-canary-00aa11bb22cc33dd44ee55ff'

const gateway = await withGateway({ key: canary })

test('Ctrl-C while the gateway does not answer: status 130, nothing changed', async () => {
  const slow = await withGateway(
    {
      key: canary,
      faults: [{ delayMs: 120_000 }],
    },
    onTestFinished,
  )
  const home = aHome()
  const run = runOnTerminal(home, ['codex', '--base-url', slow.url, '--yes'], {
    env: { REPOINT_API_KEY: canary },
  })
  await run.shows('Asking the gateway')
  await cancel(run)
  expect(run.screen()).toContain('Nothing changed.')
  expect(home.snapshot()).toEqual({})
})

test('Ctrl-C ends repoint while it reads an absurdly large answer', async () => {
  const ids = Array.from({ length: 130_000 }, (_, n) => ({ id: `gpt-${n}-sol` }))
  const hostile = await aServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    // The answer has no end, so that a fast machine is not done before Ctrl-C is typed.
    response.write(JSON.stringify({ data: ids }).slice(0, -2))
  })
  const run = runOnTerminal(aHome(), ['codex', '--base-url', `http://127.0.0.1:${hostile.port}`], {
    env: { REPOINT_API_KEY: canary },
  })
  await run.shows('Asking the gateway')
  await cancel(run)
})

test('Ctrl-C at the question of a rollback: status 130, nothing changed', async () => {
  const home = await aHomeWith('codex', gateway)
  const before = home.snapshot()
  const run = askInProcess(home, ['rollback'])
  await run.shows('Undo this?')
  await cancel(run)
  expect(run.screen()).toContain('Nothing changed')
  expect(home.snapshot()).toEqual(before)
})

test('Ctrl-C ends repoint while it looks for clients', async () => {
  const home = aHome()
  home.put('bin/codex', '#!/bin/sh\nexec sleep 120\n', 0o755)
  const run = runOnTerminal(home, [], {
    env: {
      PATH: `${home.at('bin')}:${process.env['PATH']}`,
      REPOINT_API_KEY: canary,
      REPOINT_BASE_URL: gateway.url,
    },
  })
  await answer(run, `❯ ${gateway.url}`)
  await run.shows(/Codex +\.\.\./)
  await cancel(run)
})
