import { expect, onTestFinished, test } from 'vitest'
import { accept, answer, cancel } from '../support/dialogue.ts'
import { fixtureCatalog, replaceGateway, withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { aHomeWith } from '../support/setup.ts'
import { askInProcess, keys, runOnTerminal } from '../support/terminal.ts'

const canary = 'sk-canary-00aa11bb22cc33dd44ee55ff'

const gateway = await withGateway({ key: canary })

test('codex on a terminal: asks for address and key, hides the key, shows the plan, asks once and applies it', async () => {
  // Every client runs on this version of the operating system.
  const home = aHome()
  home.put('bin/pgrep', '#!/bin/sh\nexit 0\n', 0o755)
  const env = { PATH: `${home.at('bin')}:${process.env['PATH']}` }
  const run = runOnTerminal(home, ['codex'], { env })
  await answer(run, 'Gateway address', `${gateway.url}/v1`)
  await run.shows('API key')
  run.type(canary)
  run.type(keys.ctrlT)
  run.type(keys.enter)
  await accept(run)
  expect(run.raw()).not.toContain(canary)
  expect(run.raw()).not.toContain(canary.slice(3, 12))
  expect(run.screen()).toMatch(/Close every running Codex/)
  expect(JSON.parse(home.text('.codex/auth.json'))).toEqual({ OPENAI_API_KEY: canary })
})

test('a pasted key with a line break in it is accepted as a whole', async () => {
  const home = aHome()
  const run = runOnTerminal(home, ['codex', '--base-url', gateway.url])
  await answer(run, 'API key')
  await run.shows(/The key is empty.*\r?\n\? API key/)
  run.type(`${canary.slice(0, 15)}\r${canary.slice(15)}\r`)
  await run.shows('line breaks')
  await accept(run)
  expect(run.raw()).not.toContain(canary.slice(3, 12))
  expect(run.raw()).not.toContain(canary.slice(15))
  expect(JSON.parse(home.text('.codex/auth.json'))).toEqual({ OPENAI_API_KEY: canary })
})

test('a rejected answer is discarded: only the address and the key typed after it count', async () => {
  const gateway = await withGateway({ key: canary }, onTestFinished)
  const home = aHome()
  const run = askInProcess(home, ['codex'], { columns: 200 })
  await answer(run, 'Gateway address', 'YOUR_BASE_URL')
  await answer(run, /placeholder.*\r?\n\? Gateway address/, gateway.url)
  await answer(run, 'API key', 'YOUR_API_KEY')
  await answer(run, /placeholder.*\r?\n\? API key/, canary)
  await accept(run)
  expect(run.screen()).not.toContain('✗ ')
  expect(gateway.requests().map(({ status }) => status)).not.toContain(401)
  expect(JSON.parse(home.text('.codex/auth.json'))).toEqual({ OPENAI_API_KEY: canary })
})

test('the model that the user chooses after a rejection replaces the one of an earlier setup', async () => {
  const home = aHome()
  const env = { REPOINT_API_KEY: canary }
  const first = ['codex', '--base-url', gateway.url, '--model', 'gpt-5.6-sol', '--yes']
  expect(await runInProcess(home, first, { env })).toMatchObject({ status: 0 })

  const run = askInProcess(home, ['codex', '--model', 'gpt-5.4-minni'], { columns: 200 })
  await run.shows('Which model should Codex use?')
  await answer(run, '❯ gpt-5.4-mini')
  await run.shows('The gateway answers a request of Codex for gpt-5.4-mini')
  await accept(run)
  expect(home.text('.codex/config.toml')).toContain('model = "gpt-5.4-mini"')
})

test('a client that cannot use the gateway is left out of several, with the reason', async () => {
  // OpenAI serves these without tools over chat, and Cline speaks chat only.
  const models = fixtureCatalog.filter(({ id }) => id.startsWith('gpt-5.6'))
  const vendor = await withGateway({ families: 'vendor', key: canary, models }, onTestFinished)
  const home = aHome()
  const args = ['setup', 'codex', 'cline', '--base-url', vendor.url]
  const run = askInProcess(home, args, { env: { REPOINT_API_KEY: canary }, columns: 200 })
  await run.shows('Which model should Cline use?')
  await answer(run, '❯ none: skip Cline')
  await accept(run)
  expect(Object.keys(home.snapshot()).join(' ')).not.toContain('.cline')
})

test('a rollback shows its plan and asks; a no is an answer, not an error', async () => {
  const home = await aHomeWith('codex', gateway)
  const before = home.snapshot()
  const asked = async (args: readonly string[], question: string, typed: string) => {
    const run = askInProcess(home, args)
    await run.shows('config.toml (will be')
    await answer(run, question, typed)
    return { status: await run.ended, screen: run.screen() }
  }

  const no = await asked(['rollback'], 'Undo this?', 'n')
  expect(no).toMatchObject({ status: 0, screen: expect.stringContaining('Nothing changed.') })
  expect(no.screen).not.toMatch(/error|Cancelled/)
  expect(home.snapshot()).toEqual(before)

  expect(await asked(['rollback'], 'Undo this?', 'y')).toMatchObject({ status: 0 })
  expect(home.snapshot()).toEqual({})
  expect(await asked(['rollback', '--redo'], 'Set it up again?', '')).toMatchObject({ status: 0 })
  expect(home.snapshot()).toEqual(before)
})

test('rollback offers the latest runs, and undoes an older one together with the newer ones of its client', async () => {
  const home = await aHomeWith('codex', gateway)
  const again = ['codex', '--yes', '--base-url', gateway.url, '--model', 'gpt-5.4', '--no-verify']
  const second = await runInProcess(home, again, { env: { REPOINT_API_KEY: canary } })
  expect(second.status).toBe(0)

  const run = askInProcess(home, ['rollback'])
  await run.shows('What do you want to undo?')
  await answer(run, "Codex's setup of a moment ago, and 1 newer run", keys.down)
  await answer(run, 'Undo this?')
  expect(await run.ended).toBe(0)
  expect(home.snapshot()).toEqual({})
})

test('key on a terminal: asks only for the new key, hides it, and asks again after a rejected one', async () => {
  const old = await withGateway({ key: canary }, onTestFinished)
  const home = await aHomeWith('codex', old)
  const newCanary = 'sk-canary-ff99ee88dd77cc66bb55aa44'
  await replaceGateway(old, { key: newCanary })

  const run = askInProcess(home, ['key'])
  await run.shows(`API key for ${old.url}:`)
  expect(run.screen()).not.toMatch(/Gateway address|Enter: the key/)
  run.type(`${canary}${keys.enter}`)
  await answer(run, /✗ [\s\S]*API key for http.*:/, newCanary)
  await accept(run)
  for (const key of [canary, newCanary]) expect(run.raw()).not.toContain(key.slice(3, 20))
  expect(JSON.parse(home.text('.codex/auth.json'))).toEqual({ OPENAI_API_KEY: newCanary })
})

test('repoint alone: ticks the current one of the two setups of Claude Code', async () => {
  const home = aHome()
  home.put('bin/claude', '#!/bin/sh\necho 2.1.329\n', 0o755)
  const env = {
    REPOINT_API_KEY: canary,
    REPOINT_BASE_URL: gateway.url,
    PATH: `${home.at('bin')}:${process.env['PATH']}`,
  }
  const ticked = async () => {
    const run = askInProcess(home, [], { env })
    await answer(run, `❯ ${gateway.url}`)
    await run.shows(/Claude Code with GPT models[\s\S]*space select/)
    run.type(keys.ctrlC)
    await run.ended
    // The list appears before the versions of the programs are known.
    return new Set(run.screen().match(/◉ Claude Code(?: with GPT models)?/g))
  }
  expect(await ticked()).toEqual(new Set(['◉ Claude Code']))
  await runInProcess(home, ['claude-gpt', '--yes'], { env })
  expect(await ticked()).toEqual(new Set(['◉ Claude Code with GPT models']))
})

test('repoint alone: rejects a selection with two setups of one client, and names them', async () => {
  const run = askInProcess(aHome(), [], {
    env: { REPOINT_API_KEY: canary, REPOINT_BASE_URL: gateway.url },
  })
  await answer(run, `❯ ${gateway.url}`)
  await run.shows('Which clients')
  // There is no key that selects all clients.
  run.type('a')
  run.type(keys.enter)
  await answer(run, 'Select at least one', `${keys.down}${keys.space}${keys.down}${keys.space}`)
  await run.shows('Claude Code and Claude Code with GPT models are two setups of the same file')
  await cancel(run)
})

test('repoint alone: reports an unknown context window for the clients that would guess it', async () => {
  const [flagship] = fixtureCatalog
  const ids = ['gpt-5.6-sol', 'gpt-5.5-terra', 'gpt-5.5-luna']
  const models = ids.map((id) => ({ ...flagship!, id }))
  const unknown = await withGateway({ key: canary, models }, onTestFinished)
  const run = askInProcess(aHome(), [], {
    env: { REPOINT_API_KEY: canary, REPOINT_BASE_URL: unknown.url },
    columns: 300,
  })
  await answer(run, `❯ ${unknown.url}`)
  await run.shows('Which clients')
  for (const key of [keys.space, keys.down, keys.down, keys.space, keys.enter]) run.type(key)
  await answer(run, 'Apply?', 'n')
  await run.ended
  expect(run.screen().match(/does not report the context window of .*/g)).toEqual([
    expect.stringMatching(/ of gpt-5\.5-terra, gpt-5\.5-luna: Claude Code assumes/),
  ])
})
