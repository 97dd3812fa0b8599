import { chmodSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { builtInCatalog } from '../../src/serve/index.ts'
import { aServer } from '../gateway/forged.ts'
import { replaceGateway, withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { setUp } from '../support/setup.ts'
import { keys, runOnTerminal, type TerminalRun, typeAddress } from '../support/terminal.ts'

const canary = 'sk-canary-00aa11bb22cc33dd44ee55ff'

const gateway = await withGateway({ key: canary })

test('codex on a terminal: asks for address and key, hides the key, shows the plan, asks once and applies it', async () => {
  // Every client runs on this version of the operating system.
  const home = aHome({ 'bin/pgrep': '#!/bin/sh\nexit 0\n' })
  chmodSync(home.at('bin/pgrep'), 0o755)
  const env = { PATH: `${home.at('bin')}:${process.env['PATH']}` }
  const run = runOnTerminal(home, ['codex'], { env })
  await run.shows('Gateway address')
  run.type(`${gateway.url}/v1${keys.enter}`)
  await run.shows('API key')
  run.type(canary)
  run.type(keys.ctrlT)
  run.type(keys.enter)
  await run.shows('Apply?')
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  expect(run.raw()).not.toContain(canary)
  expect(run.raw()).not.toContain(canary.slice(3, 12))
  expect(run.screen()).toMatch(/Close every running Codex/)
  expect(JSON.parse(home.text('.codex/auth.json'))).toEqual({ OPENAI_API_KEY: canary })
})

test('a pasted key with a line break in it is accepted as a whole', async () => {
  const home = aHome()
  const run = runOnTerminal(home, ['codex', '--base-url', gateway.url])
  await run.shows('API key')
  run.type(keys.enter)
  await run.shows(/The key is empty.*\r?\n\? API key/)
  run.type(`${canary.slice(0, 15)}\r${canary.slice(15)}\r`)
  await run.shows('line breaks')
  await run.shows('Apply?')
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  expect(run.raw()).not.toContain(canary.slice(3, 12))
  expect(run.raw()).not.toContain(canary.slice(15))
  expect(JSON.parse(home.text('.codex/auth.json'))).toEqual({ OPENAI_API_KEY: canary })
})

test('a rejected answer is discarded: only the address and the key typed after it count', async () => {
  const gateway = await withGateway({ key: canary }, onTestFinished)
  const home = aHome()
  const run = runOnTerminal(home, ['codex'], { columns: 200 })
  await run.shows('Gateway address')
  run.type(`YOUR_BASE_URL${keys.enter}`)
  await run.shows(/placeholder.*\r?\n\? Gateway address/)
  run.type(`${gateway.url}${keys.enter}`)
  await run.shows('API key')
  run.type(`YOUR_API_KEY${keys.enter}`)
  await run.shows(/placeholder.*\r?\n\? API key/)
  run.type(`${canary}${keys.enter}`)
  await run.shows('Apply?')
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  expect(run.screen()).not.toContain('✗ ')
  expect(gateway.requests().map(({ status }) => status)).not.toContain(401)
  expect(JSON.parse(home.text('.codex/auth.json'))).toEqual({ OPENAI_API_KEY: canary })
})

test('codex on a terminal: the next run offers the last base URL', async () => {
  const home = await homeWithCodexAt(gateway.url)
  const run = runOnTerminal(home, ['codex'], { env: { REPOINT_API_KEY: canary } })
  await run.shows(gateway.url)
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  expect(run.screen()).toContain('Nothing changed')
})

test('repoint asks again for a model that the gateway rejects, and offers the nearest first', async () => {
  const home = aHome()
  const args = ['codex', '--base-url', gateway.url, '--model', 'gpt-5.4-minni']
  const run = runOnTerminal(home, args, { env: { REPOINT_API_KEY: canary }, columns: 200 })
  await run.shows('Which model should Codex use?')
  await run.shows('❯ gpt-5.4-mini')
  run.type(keys.enter)
  await run.shows('Apply?')
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  expect(home.text('.codex/config.toml')).toContain('model = "gpt-5.4-mini"')
})

test('the model that the user chooses after a rejection replaces the one of an earlier setup', async () => {
  const home = aHome()
  const env = { REPOINT_API_KEY: canary }
  const first = ['codex', '--base-url', gateway.url, '--model', 'gpt-5.6-sol', '--yes']
  expect(await runInProcess(home, first, { env })).toMatchObject({ status: 0 })

  const run = runOnTerminal(home, ['codex', '--model', 'gpt-5.4-minni'], { columns: 200 })
  await run.shows('Which model should Codex use?')
  await run.shows('❯ gpt-5.4-mini')
  run.type(keys.enter)
  await run.shows('Codex: gpt-5.4-mini answers')
  await run.shows('Apply?')
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  expect(home.text('.codex/config.toml')).toContain('model = "gpt-5.4-mini"')
})

test('a client that cannot use the gateway is left out of several, with the reason', async () => {
  const vendor = await withGateway({ families: 'vendor', key: canary }, onTestFinished)
  const home = aHome()
  const args = ['setup', 'codex', 'cline', '--base-url', vendor.url]
  const run = runOnTerminal(home, args, { env: { REPOINT_API_KEY: canary }, columns: 200 })
  await run.shows('Which model should Cline use?')
  await run.shows('❯ none: skip Cline')
  run.type(keys.enter)
  await run.shows('Apply?')
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  expect(Object.keys(home.snapshot()).join(' ')).not.toContain('.cline')
})

test('Ctrl-C while the gateway does not answer: status 130, nothing changed', async () => {
  const slow = await withGateway(
    {
      key: canary,
      faults: [{ delayMs: 15_000 }],
    },
    onTestFinished,
  )
  const home = aHome()
  const run = runOnTerminal(home, ['codex', '--base-url', slow.url, '--yes'], {
    env: { REPOINT_API_KEY: canary },
  })
  await run.shows('Asking the gateway')
  run.type(keys.ctrlC)
  expect(await run.ended).toBe(130)
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
  const typedAt = performance.now()
  run.type(keys.ctrlC)
  expect(await run.ended).toBe(130)
  expect(performance.now() - typedAt).toBeLessThan(5_000)
})

test('a rollback shows its plan and asks; a no is an answer, not an error', async () => {
  const home = await homeWithCodexAt(gateway.url)
  const before = home.snapshot()
  const asked = async (args: readonly string[], question: string, answer: string) => {
    const run = runOnTerminal(home, args)
    await run.shows('config.toml (will be')
    await run.shows(question)
    run.type(`${answer}${keys.enter}`)
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
  const home = await homeWithCodexAt(gateway.url)
  const again = ['codex', '--yes', '--base-url', gateway.url, '--model', 'gpt-5.4', '--no-verify']
  const second = await runInProcess(home, again, { env: { REPOINT_API_KEY: canary } })
  expect(second.status).toBe(0)

  const run = runOnTerminal(home, ['rollback'])
  await run.shows('What do you want to undo?')
  await run.shows("Codex's setup of a moment ago, and 1 newer run")
  run.type(`${keys.down}${keys.enter}`)
  await run.shows('Undo this?')
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  expect(home.snapshot()).toEqual({})
})

test('Ctrl-C at the question of a rollback: status 130, nothing changed', async () => {
  const home = await homeWithCodexAt(gateway.url)
  const before = home.snapshot()
  const run = runOnTerminal(home, ['rollback'])
  await run.shows('Undo this?')
  run.type(keys.ctrlC)
  expect(await run.ended).toBe(130)
  expect(run.screen()).toContain('Nothing changed')
  expect(home.snapshot()).toEqual(before)
})

test('key on a terminal: asks only for the new key, hides it, and asks again after a rejected one', async () => {
  const old = await withGateway({ key: canary }, onTestFinished)
  const home = await homeWithCodexAt(old.url)
  const newCanary = 'sk-canary-ff99ee88dd77cc66bb55aa44'
  await replaceGateway(old, { key: newCanary })

  const run = runOnTerminal(home, ['key'])
  await run.shows(`API key for ${old.url}:`)
  expect(run.screen()).not.toMatch(/Gateway address|Enter: the key/)
  run.type(`${canary}${keys.enter}`)
  await run.shows(/✗ [\s\S]*API key for http.*:/)
  run.type(`${newCanary}${keys.enter}`)
  await run.shows('Apply?')
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  for (const key of [canary, newCanary]) expect(run.raw()).not.toContain(key.slice(3, 20))
  expect(JSON.parse(home.text('.codex/auth.json'))).toEqual({ OPENAI_API_KEY: newCanary })
})

test('repoint alone: ticks the current one of the two setups of Claude Code', async () => {
  const home = aHome({ 'bin/claude': '#!/bin/sh\necho 2.1.329\n' })
  chmodSync(home.at('bin/claude'), 0o755)
  const env = {
    REPOINT_API_KEY: canary,
    REPOINT_BASE_URL: gateway.url,
    PATH: `${home.at('bin')}:${process.env['PATH']}`,
  }
  const ticked = async () => {
    const run = runOnTerminal(home, [], { env })
    await run.shows(`❯ ${gateway.url}`)
    run.type(keys.enter)
    await run.shows(/Claude Code with GPT models[\s\S]*space select/)
    run.type(keys.ctrlC)
    await run.ended
    return new Set(run.screen().match(/◉ Claude Code.*?(?= \d)/g))
  }
  expect(await ticked()).toEqual(new Set(['◉ Claude Code']))
  await runInProcess(home, ['claude-gpt', '--yes'], { env })
  expect(await ticked()).toEqual(new Set(['◉ Claude Code with GPT models']))
})

test('repoint alone: rejects a selection with two setups of one client, and names them', async () => {
  const run = runOnTerminal(aHome(), [], {
    env: { REPOINT_API_KEY: canary, REPOINT_BASE_URL: gateway.url },
  })
  await run.shows(`❯ ${gateway.url}`)
  run.type(keys.enter)
  await run.shows('Which clients')
  // There is no key that selects all clients.
  run.type('a')
  run.type(keys.enter)
  await run.shows('Select at least one')
  run.type(`${keys.down}${keys.space}${keys.down}${keys.space}${keys.enter}`)
  await run.shows('Claude Code and Claude Code with GPT models are two setups of the same file')
  run.type(keys.ctrlC)
  expect(await run.ended).toBe(130)
})

test('repoint alone: reports an unknown context window for the clients that would guess it', async () => {
  const [flagship] = builtInCatalog
  const ids = ['gpt-5.6-sol', 'gpt-5.5-terra', 'gpt-5.5-luna']
  const models = ids.map((id) => ({ ...flagship!, id }))
  const unknown = await withGateway({ key: canary, models }, onTestFinished)
  const run = runOnTerminal(aHome(), [], {
    env: { REPOINT_API_KEY: canary, REPOINT_BASE_URL: unknown.url },
    columns: 300,
  })
  await run.shows(`❯ ${unknown.url}`)
  run.type(keys.enter)
  await run.shows('Which clients')
  for (const key of [keys.space, keys.down, keys.down, keys.space, keys.enter]) run.type(key)
  await run.shows('Apply?')
  run.type(`n${keys.enter}`)
  await run.ended
  expect(run.screen().match(/does not report the context window of .*/g)).toEqual([
    expect.stringMatching(/ of gpt-5\.5-terra, gpt-5\.5-luna: Claude Code assumes/),
  ])
})

/** A home with a `codex` that prints its version slowly. */
function homeWithSlowCodex(): Home {
  const home = aHome({ 'bin/codex': '#!/bin/sh\nsleep 5\necho codex-cli 0.169.0\n' })
  chmodSync(home.at('bin/codex'), 0o755)
  return home
}

test('a key that is typed before the question for the address is not shown', async () => {
  const run = runOnTerminal(aHome(), [])
  await run.shows('Gateway address')
  run.type(canary)
  await run.shows('❯ ....')
  run.type(keys.enter)
  await run.shows('looks like a key')
  await typeAddress(run, gateway.url)
  await run.shows('API key')
  run.type(`${canary}${keys.enter}`)
  await run.shows('Which clients')
  run.type(`${canary}${keys.ctrlC}`)
  expect(await run.ended).toBe(130)
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
  await run.shows(`❯ ${slow.url}`)
  run.type(keys.enter)
  await run.shows('Asking the gateway')
  run.type(`123 ai ${keys.enter}`)
  await run.shows(/◯ Codex[\s\S]*space select/)
  run.type(keys.enter)
  await run.shows('Select at least one')
  run.type(keys.ctrlC)
  expect(await run.ended).toBe(130)
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
  await run.shows('Apply?')
  run.type(`n${keys.enter}`)
  expect(await run.ended).toBe(0)
  expect(home.snapshot()).toEqual({})
  expect(run.raw()).not.toContain(canary.slice(3, 12))
})

test('a key that is typed as the address is shown as dots', async () => {
  const run = runOnTerminal(aHome(), ['codex'])
  await run.shows('Gateway address')
  run.type(`${canary}${keys.enter}`)
  await run.shows('looks like a key')
  run.type(keys.ctrlC)
  expect(await run.ended).toBe(130)
  expect(run.raw()).not.toContain(canary.slice(3, 12))
})

test('Ctrl-C ends repoint while it looks for clients', async () => {
  const home = homeWithSlowCodex()
  const run = runOnTerminal(home, [], {
    env: {
      PATH: `${home.at('bin')}:${process.env['PATH']}`,
      REPOINT_API_KEY: canary,
      REPOINT_BASE_URL: gateway.url,
    },
  })
  await run.shows(`❯ ${gateway.url}`)
  run.type(keys.enter)
  await run.shows(/Codex +\.\.\./)
  run.type(keys.ctrlC)
  expect(await run.ended).toBe(130)
})

/** A home in which Codex uses the canary as the key of `url`. */
async function homeWithCodexAt(url: string): Promise<Home> {
  const home = aHome()
  await setUp(home, 'codex', { url, key: canary })
  return home
}

/** Accepts the offered address, and the key that Codex has for it. */
async function takeKeyInUse(run: TerminalRun, url: string): Promise<void> {
  await run.shows(url)
  run.type(keys.enter)
  await run.shows('API key (Enter: the key of Codex)')
  run.type(keys.enter)
}

test('a setup of the next client offers the key that the first client has for that address', async () => {
  const home = await homeWithCodexAt(gateway.url)
  const run = runOnTerminal(home, ['claude'])
  await takeKeyInUse(run, gateway.url)
  await run.shows('Apply?')
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  expect(run.raw()).not.toContain(canary.slice(3, 12))
  expect(JSON.parse(home.text('.claude/settings.json')).env).toMatchObject({
    ANTHROPIC_AUTH_TOKEN: canary,
  })

  const other = await withGateway({ key: `${canary}-2` }, onTestFinished)
  const elsewhere = runOnTerminal(home, ['opencode', '--base-url', other.url])
  await elsewhere.shows(`API key for ${other.url}:`)
  elsewhere.type(keys.enter)
  await elsewhere.shows('The key is empty')
  elsewhere.type(keys.ctrlC)
  expect(await elsewhere.ended).toBe(130)
  expect(other.requests()).toEqual([])
})

test('a key in use is sent to no other address, even if its own address is no longer reachable', async () => {
  const first = await withGateway({ key: canary }, onTestFinished)
  const home = await homeWithCodexAt(first.url)
  // Started before `first` is closed: otherwise it may get the same port.
  const other = await withGateway({ key: `${canary}-2` }, onTestFinished)
  await first.close()
  const run = runOnTerminal(home, ['claude'])
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
  const home = await homeWithCodexAt(gateway.url)
  home.put('.codex/auth.json', '{"OPENAI_API_KEY": "sk-two words"}\n')
  const run = runOnTerminal(home, ['claude', '--base-url', gateway.url])
  await run.shows(`API key for ${gateway.url}:`)
  run.type(keys.ctrlC)
  expect(await run.ended).toBe(130)
})

test('repoint asks for a new key if the gateway now rejects the one in use', async () => {
  const { port, url, ...first } = await withGateway({ key: canary }, onTestFinished)
  const home = await homeWithCodexAt(url)
  await first.close()
  const renewed = `${canary}-renewed`
  await withGateway({ port, key: renewed }, onTestFinished)
  const run = runOnTerminal(home, ['codex'])
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
  const run = runOnTerminal(home, ['codex'])
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
