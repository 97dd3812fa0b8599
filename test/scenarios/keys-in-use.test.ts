import { expect, onTestFinished, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { aHomeWith } from '../support/setup.ts'
import { askInProcess, keys, type TerminalRun } from '../support/terminal.ts'

const canary = 'sk-canary-00aa11bb22cc33dd44ee55ff'

const gateway = await withGateway({ key: canary })

/** Accepts the offered address, and the key that Codex has for it. */
async function takeKeyInUse(run: TerminalRun, url: string): Promise<void> {
  await run.shows(url)
  run.type(keys.enter)
  await run.shows('API key (Enter: the key of Codex)')
  run.type(keys.enter)
}

test('a setup of the next client offers the key that the first client has for that address', async () => {
  const home = await aHomeWith('codex', gateway)
  const run = askInProcess(home, ['claude'])
  await takeKeyInUse(run, gateway.url)
  await run.shows('Apply?')
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  expect(run.raw()).not.toContain(canary.slice(3, 12))
  expect(JSON.parse(home.text('.claude/settings.json')).env).toMatchObject({
    ANTHROPIC_AUTH_TOKEN: canary,
  })

  const other = await withGateway({ key: `${canary}-2` }, onTestFinished)
  const elsewhere = askInProcess(home, ['opencode', '--base-url', other.url])
  await elsewhere.shows(`API key for ${other.url}:`)
  elsewhere.type(keys.enter)
  await elsewhere.shows('The key is empty')
  elsewhere.type(keys.ctrlC)
  expect(await elsewhere.ended).toBe(130)
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
  await run.shows('Gateway address')
  run.type(`${keys.ctrlU}${other.url}${keys.enter}`)
  await run.shows('API key:')
  expect(other.requests()).toEqual([])
  run.type(keys.ctrlC)
  expect(await run.ended).toBe(130)
})

test('a key in use that is no longer valid is not offered', async () => {
  const home = await aHomeWith('codex', gateway)
  home.put('.codex/auth.json', '{"OPENAI_API_KEY": "sk-two words"}\n')
  const run = askInProcess(home, ['claude', '--base-url', gateway.url])
  await run.shows(`API key for ${gateway.url}:`)
  run.type(keys.ctrlC)
  expect(await run.ended).toBe(130)
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
  await run.shows(`API key for ${url}:`)
  run.type(`${renewed}${keys.enter}`)
  await run.shows('Apply?')
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  expect(JSON.parse(home.text('.codex/auth.json'))).toEqual({ OPENAI_API_KEY: renewed })
})

test('repoint asks again for an address that does not answer, and for a key that the gateway rejects', async () => {
  const home = aHome()
  const run = askInProcess(home, ['codex'])
  await run.shows('Gateway address')
  run.type(`http://127.0.0.1:9${keys.enter}`)
  await run.shows('API key')
  run.type(`sk-wrong-0123456789abcdef${keys.enter}`)
  await run.shows('✗ ')
  await run.shows('Gateway address')
  run.type(`${keys.ctrlU}${gateway.url}${keys.enter}`)
  await run.shows('✗ ')
  await run.shows('API key')
  run.type(`${canary}${keys.enter}`)
  await run.shows('Apply?')
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  expect(run.raw()).not.toContain('sk-wrong-0123456789abcdef')
})
