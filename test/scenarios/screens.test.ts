import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { accept, answer, cancel } from '../support/dialogue.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'
import { aHomeWith } from '../support/setup.ts'
import { askInProcess, keys, runOnTerminal, type TerminalRun } from '../support/terminal.ts'

const canary = 'sk-canary-4d3c2b1a09f8e7d6c5b4a392'

const gateway = await withGateway({ key: canary })

/** A home with programs of these names, by what they do. */
function homeWith(programs: Readonly<Record<string, string>>): Home {
  const home = aHome()
  for (const [name, text] of Object.entries(programs))
    home.put(`bin/${name}`, `#!/bin/sh\n${text}\n`, 0o755)
  return home
}

/** A program that answers as soon as the test puts its gate into the home. */
function gated(name: string, answer: string): string {
  return `until test -e "\${0%/*}/../${name}-may"; do sleep 0.02; done; echo ${answer}`
}

function withBin(home: Home, env: Record<string, string> = {}) {
  return { PATH: `${home.at('bin')}:${process.env['PATH']}`, ...env }
}

/** The guided setup, once it has asked the gateway. */
async function atList(home: Home): Promise<TerminalRun> {
  const env = withBin(home, { REPOINT_API_KEY: canary, REPOINT_BASE_URL: gateway.url })
  const run = askInProcess(home, [], { env })
  await answer(run, `❯ ${gateway.url}`)
  return run
}

describe('the list of clients', () => {
  test('is shown at once, and each version appears when the client answers', async () => {
    const home = homeWith({
      codex: gated('codex', 'codex-cli 0.169.0'),
      claude: gated('claude', '2.1.330'),
    })
    const run = await atList(home)
    await run.shows(/Not installed: opencode,/)
    await run.shows(/Codex \.\.\. /)
    home.put('claude-may', '')
    await run.shows(/Codex \.\.\. +its own service\s+.*Claude Code 2\.1\.330 +its own service/)
    home.put('codex-may', '')
    await run.shows(/Codex 0\.169\.0 +its own service/)
    await cancel(run)
  })

  test.each([0, 1])('accepts Enter once the versions are shown, after %i s', async (seconds) => {
    const wait = seconds === 0 ? '' : `sleep ${seconds}; `
    const home = homeWith({
      codex: `${wait}echo codex-cli 0.169.0`,
      claude: `${wait}echo 2.1.330`,
    })
    const run = await atList(home)
    await run.shows(/Codex 0\.169\.0 +its own service/)
    await new Promise((settle) => setTimeout(settle, 500))
    run.type(keys.enter)
    await run.shows('Apply?')
    await cancel(run)
  })

  test('keeps the ticks of the user when a version appears', async () => {
    const home = homeWith({
      codex: gated('codex', 'codex-cli 0.169.0; touch "${0%/*}/../answered"'),
    })
    const run = await atList(home)
    await run.shows(/◉ Codex \.\.\./)
    run.type(keys.space)
    await run.shows(/◯ Codex \.\.\./)
    home.put('codex-may', '')
    await expect.poll(() => existsSync(home.at('answered'))).toBe(true)
    await new Promise((settle) => setTimeout(settle, 300))
    run.type(keys.enter)
    await run.shows('Select at least one')
    expect(run.screen()).not.toContain('0.169.0')
    await cancel(run)
  })

  test('a dumb terminal gets one line for each step', async () => {
    const home = homeWith({ codex: 'echo codex-cli 0.169.0' })
    const env = { TERM: 'dumb', REPOINT_API_KEY: canary, REPOINT_BASE_URL: gateway.url }
    const run = askInProcess(home, [], { env: withBin(home, env) })
    await answer(run, `❯ ${gateway.url}`)
    await run.shows(/Asking the gateway for its models …\r?\n/)
    await run.shows(/Looking for clients …\r?\n/)
    await answer(run, /Codex 0\.169\.0/)
    await run.shows(/Asking gpt-5\.6-sol for one word …\r?\n/)
    await run.shows('✔ Codex: gpt-5.6-sol answers, with tools')
    await cancel(run)
  })
})

describe('the output of a setup', () => {
  test('has the findings, two lines for each client, every setting on request, and what to type next', async () => {
    const home = homeWith({ codex: 'echo codex-cli 0.169.0', pgrep: 'exit 1' })
    const env = withBin(home, { REPOINT_API_KEY: canary })
    const run = askInProcess(home, ['codex', '--base-url', gateway.url], { env })
    const { host } = new URL(gateway.url)
    await run.shows(new RegExp(`✔ ${host} answers: \\d+ models, over chat, responses and messages`))
    await run.shows('✔ Codex: gpt-5.6-sol answers, with tools')
    await run.shows(`Codex: ${gateway.url}, model gpt-5.6-sol`)
    await run.shows(/auth\.json \(will be created\), ~\/\.codex\/config\.toml \(will be created\)/)
    await run.shows('Apply? (Y/n, d shows every line)')
    expect(run.screen()).not.toContain('wire_api')
    run.type(`x${keys.enter}`)
    await answer(run, /Type y, n or d.*\s+\? Apply\?/, 'd')
    await run.shows('model_providers.gateway.wire_api')
    await answer(run, 'Apply?')
    await run.shows('✔ Done. Undo: repoint rollback')
    expect(await run.ended).toBe(0)
    expect(run.screen().trimEnd().split(/\r?\n/).at(-1)).toBe('  Now run: codex')
    expect(run.screen()).not.toContain('Close every')
  })

  test.each([
    ['tells the user to close a client that runs', 'exit 0', true],
    ['does not tell the user to close a client that does not run', 'exit 1', false],
    ['tells the user to close a client if it may run', 'exit 3', true],
  ])('%s', async (_, pgrep, isTold) => {
    const home = homeWith({ pgrep })
    const args = ['codex', '--base-url', gateway.url, '--yes']
    const env = withBin(home, { REPOINT_API_KEY: canary })
    const { stdout, stderr } = await runInProcess(home, args, { env })
    expect(stdout.includes('Close every running Codex')).toBe(isTold)
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('  Now run: codex (not installed here)')
    // A pipe gets a line for each finished step too.
    expect(stderr).toContain('✔ The gateway answers a request of Codex for gpt-5.6-sol, with tools')

    const undo = await runInProcess(home, ['rollback', '--yes'], { env })
    expect(undo.stdout.includes('Close every running Codex')).toBe(isTold)
  })

  test.each([
    ['--yes', false],
    ['--details', true],
    ['--dry-run', true],
  ])('shows every setting with %s: %s', async (flag, isShown) => {
    const args = ['codex', '--base-url', gateway.url, '--yes', flag]
    const { stdout } = await runInProcess(aHome(), [...new Set(args)], {
      env: { REPOINT_API_KEY: canary },
    })
    expect(stdout.includes('+ model_providers.gateway.wire_api')).toBe(isShown)
    expect(stdout).not.toContain(canary)
  })

  test('shows in full what needs consent, before a question whose default is no', async () => {
    const home = aHome({ '.codex/auth.json': '{"tokens": {"access_token": "eyJ0"}}\n' })
    const run = askInProcess(home, ['codex', '--base-url', gateway.url], {
      env: { REPOINT_API_KEY: canary },
    })
    await answer(run, 'Keep your ChatGPT login? (Y/n)', 'n')
    await run.shows('! Replace your ChatGPT login in auth.json by the key')
    await answer(run, 'marked "!"? (y/N')
    expect(await run.ended).toBe(0)
    expect(home.text('.codex/auth.json')).toContain('eyJ0')
  })

  test('breaks no word on 60 columns', async () => {
    const home = aHome()
    const run = runOnTerminal(home, ['codex', '--base-url', gateway.url, '--yes', '--details'], {
      env: { REPOINT_API_KEY: canary },
      columns: 60,
    })
    expect(await run.ended).toBe(0)
    const lines = run.screen().split(/[\r\n]+/)
    expect(lines.filter((line) => line.length > 60)).toEqual([])
    expect(run.screen()).toMatch(/created\),?|Undo: repoint rollback/)
  })
})

test('text on standard error is wrapped for the terminal even if the result goes into a pipe', async () => {
  const piped = `'${process.execPath}' '${resolve('bin/repoint.js')}' run | cat`
  const run = runOnTerminal(aHome(), ['-c', piped], { command: 'sh', columns: 60 })
  await run.ended
  expect(run.screen().replaceAll(/\s+/g, ' ')).toContain('repoint gateways add URL')
  expect(
    run
      .screen()
      .split(/[\r\n]+/)
      .filter((line) => line.length > 60),
  ).toEqual([])
})

describe('a pasted key', () => {
  test.each([canary, `${canary}${canary}${canary}`])(
    'is shown as eight asterisks, whatever its length: %#',
    async (pasted) => {
      const run = askInProcess(aHome(), ['codex', '--base-url', gateway.url])
      await run.shows('API key')
      expect(run.screen()).not.toContain('*')
      run.type(pasted)
      await run.shows('********')
      await cancel(run)
      expect(run.screen()).not.toContain('*********')
      expect(run.raw()).not.toContain(canary.slice(3, 12))
    },
  )

  test('is not shown at the question to apply', async () => {
    const run = askInProcess(aHome(), ['codex', '--base-url', gateway.url], {
      env: { REPOINT_API_KEY: canary },
    })
    await answer(run, 'Apply?', canary)
    await run.shows('Type y, n or d.')
    await cancel(run)
    expect(run.raw()).not.toContain(canary.slice(3, 12))
  })
})

describe('a change of the model of a client that is set up', () => {
  test('needs one flag, without an address and a key, also without a terminal', async () => {
    const home = await aHomeWith('codex', gateway)
    const { status, json } = await runHere(home, ['codex', '--model', 'gpt-5.4', '--yes'])
    expect({ status, json }).toMatchObject({ json: { changed: true, baseUrl: gateway.url } })
    expect(home.text('.codex/config.toml')).toContain('model = "gpt-5.4"')
    const back = await runHere(home, ['codex', '--defaults', '--yes'])
    expect(back.json).toMatchObject({ changed: true, model: 'gpt-5.6-sol' })
  })

  test('needs a key if an address is named', async () => {
    const home = await aHomeWith('codex', gateway)
    const named = ['codex', '--model', 'gpt-5.4', '--base-url', gateway.url, '--yes']
    expect(await runHere(home, named)).toMatchObject({ json: { error: { code: 'key-missing' } } })
  })

  test('without an ID, offers the models of the gateway that the client can use', async () => {
    const home = await aHomeWith('codex', gateway)
    const run = askInProcess(home, ['codex', '--model'])
    await run.shows('Which model should Codex use?')
    await run.shows('gpt-5.6-sol')
    run.type('5.4-m')
    await answer(run, '❯ gpt-5.4-mini')
    await accept(run)
    expect(run.screen()).not.toMatch(/Gateway address|API key|text-embedding/)
    expect(home.text('.codex/config.toml')).toContain('model = "gpt-5.4-mini"')
  })

  test('without an ID and without a terminal, is a usage error', async () => {
    const home = await aHomeWith('codex', gateway)
    const error = { code: 'usage', hint: 'Name the model: --model ID' }
    for (const more of [[], ['--no-verify']])
      expect(await runHere(home, ['codex', '--yes', ...more, '--model'])).toMatchObject({
        status: 2,
        json: { error },
      })
  })
})

describe('Ctrl-C', () => {
  test.each([
    ['at the address', [], 'Gateway address', {}],
    ['at the key', ['codex', '--base-url'], 'API key', {}],
    ['at the list of models', ['codex', '--model', '--base-url'], 'Which model', { canary }],
    ['at the question to apply', ['codex', '--base-url'], 'Apply?', { canary }],
  ])('%s: status 130, and nothing was changed', async (_, args, question, env) => {
    const home = aHome()
    const all = args.at(-1) === '--base-url' ? [...args, gateway.url] : args
    const key: Record<string, string> = 'canary' in env ? { REPOINT_API_KEY: canary } : {}
    const run = askInProcess(home, all, { env: key })
    await run.shows(question)
    await cancel(run)
    expect(run.screen()).toContain('Nothing changed.')
    expect(home.snapshot()).toEqual({})
  })
})
