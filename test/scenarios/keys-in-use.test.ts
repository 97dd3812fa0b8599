import { expect, onTestFinished, test } from 'vitest'
import { accept, answer, cancel } from '../support/dialogue.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { aHomeWith } from '../support/setup.ts'
import { askInProcess, keys, type TerminalRun } from '../support/terminal.ts'

const canary = 'sk-canary-00aa11bb22cc33dd44ee55ff'

const gateway = await withGateway({ key: canary })

/** Accepts the offered address, and the key that Codex has for it. */
async function takeKeyInUse(run: TerminalRun, url: string): Promise<void> {
  await answer(run, url)
  await answer(run, 'API key (Enter: the key of Codex)')
}

test('a setup of the next client offers the key that the first client has for that address', async () => {
  const home = await aHomeWith('codex', gateway)
  const run = askInProcess(home, ['claude'])
  await takeKeyInUse(run, gateway.url)
  await accept(run)
  expect(run.raw()).not.toContain(canary.slice(3, 12))
  expect(JSON.parse(home.text('.claude/settings.json')).env).toMatchObject({
    ANTHROPIC_AUTH_TOKEN: canary,
  })

  const other = await withGateway({ key: `${canary}-2` }, onTestFinished)
  const elsewhere = askInProcess(home, ['opencode', '--base-url', other.url])
  await answer(elsewhere, `API key for ${other.url}:`)
  await elsewhere.shows('The key is empty')
  await cancel(elsewhere)
  expect(other.requests()).toEqual([])
})

test('a key in use is sent to no other address, even if its own address is no longer reachable', async () => {
  const first = await withGateway({ key: canary }, onTestFinished)
  const home = await aHomeWith('codex', first)
  // Started before `first` is closed: otherwise it may get the same port.
  const other = await withGateway({ key: `${canary}-2` }, onTestFinished)
  await first.close()
  const run = askInProcess(home, ['claude'])
  await takeKeyInUse(run, first.url)
  await run.shows('✗ ')
  await answer(run, 'Gateway address', `${keys.ctrlU}${other.url}`)
  await run.shows('API key:')
  expect(other.requests()).toEqual([])
  await cancel(run)
})

test('a key in use that is no longer valid is not offered', async () => {
  const home = await aHomeWith('codex', gateway)
  home.put('.codex/auth.json', '{"OPENAI_API_KEY": "sk-two words"}\n')
  const run = askInProcess(home, ['claude', '--base-url', gateway.url])
  await run.shows(`API key for ${gateway.url}:`)
  await cancel(run)
})

test('repoint asks for a new key if the gateway now rejects the one in use', async () => {
  const { port, url, ...first } = await withGateway({ key: canary }, onTestFinished)
  const home = await aHomeWith('codex', { url, key: canary })
  await first.close()
  const renewed = `${canary}-renewed`
  await withGateway({ port, key: renewed }, onTestFinished)
  const run = askInProcess(home, ['codex'])
  await takeKeyInUse(run, url)
  await run.shows('✗ ')
  await answer(run, `API key for ${url}:`, renewed)
  await accept(run)
  expect(JSON.parse(home.text('.codex/auth.json'))).toEqual({ OPENAI_API_KEY: renewed })
})

test('repoint asks again for an address that does not answer, and for a key that the gateway rejects', async () => {
  const home = aHome()
  const run = askInProcess(home, ['codex'])
  await answer(run, 'Gateway address', 'http://127.0.0.1:9')
  await answer(run, 'API key', 'sk-wrong-0123456789abcdef')
  await run.shows('✗ ')
  await answer(run, 'Gateway address', `${keys.ctrlU}${gateway.url}`)
  await run.shows('✗ ')
  await answer(run, 'API key', canary)
  await accept(run)
  expect(run.raw()).not.toContain('sk-wrong-0123456789abcdef')
})
