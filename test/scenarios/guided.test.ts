import { expect, onTestFinished, test } from 'vitest'
import {
  builtInCatalog,
  type CatalogEntry,
  type Fault,
  type Gateway,
} from '../../src/serve/index.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'
import { askInProcess, keys, typeAddress } from '../support/terminal.ts'

const canary = 'sk-canary-7788990011aabbccddeeff22'

const gateway = await withGateway({ key: canary })
const models = builtInCatalog.filter(({ id }) => !id.startsWith('claude'))
/** It has no Claude model. */
const gptAlone = await withGateway({ key: canary, models })

test('--yes on a terminal does not ask for values that the environment has', async () => {
  const home = aHome()
  const run = askInProcess(home, ['codex', '--yes'], {
    env: { REPOINT_BASE_URL: gateway.url, REPOINT_API_KEY: canary },
  })
  expect(await run.ended).toBe(0)
  expect(run.screen()).not.toContain('Gateway address')
  expect(home.text('.codex/config.toml')).toContain(gateway.url)
})

/** Selects Codex and Claude Code at a gateway that has no model for the slots of Claude Code. */
async function askedForAModel(home: Home) {
  const run = askInProcess(home, [], {
    env: { REPOINT_BASE_URL: gptAlone.url, REPOINT_API_KEY: canary },
  })
  await run.shows(`❯ ${gptAlone.url}`)
  run.type(keys.enter)
  await run.shows(/Claude Code +not installed, asks for its model/)
  run.type(`${keys.space}${keys.down}${keys.space}${keys.enter}`)
  await run.shows('no model for the slot sonnet')
  await run.shows('Which model should Claude Code use?')
  return run
}

test('at a gateway without models for a client, the user leaves it out and sets up the others', async () => {
  const home = aHome()
  const run = await askedForAModel(home)
  await run.shows('none: skip Claude Code')
  run.type(keys.enter)
  await run.shows('Apply?')
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  expect(home.text('.codex/config.toml')).toContain(gptAlone.url)
  expect(home.snapshot()).not.toHaveProperty('.claude')
})

test('at a gateway without models for a client, the user chooses one for all its slots, in the same run', async () => {
  const home = aHome()
  const run = await askedForAModel(home)
  run.type('gpt-5.4-mini')
  await run.shows('gpt-5.4-mini')
  run.type(keys.enter)
  await run.shows('Apply?')
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  expect(home.text('.codex/config.toml')).toContain(gptAlone.url)
  const { env } = JSON.parse(home.text('.claude/settings.json'))
  for (const slot of ['OPUS', 'SONNET', 'HAIKU', 'FABLE'])
    expect(env[`ANTHROPIC_DEFAULT_${slot}_MODEL`]).toBe('gpt-5.4-mini')
})

test('at a gateway without models for a client, a script gets an error', async () => {
  const home = aHome()
  const args = ['claude', '--base-url', gptAlone.url, '--yes']
  const result = await runHere(home, args, { REPOINT_API_KEY: canary })
  expect(result).toMatchObject({ status: 5, json: { error: { code: 'model-unknown' } } })
  expect(home.snapshot()).toEqual({})
})

/** A home in which these programs report these versions. */
function homeWith(programs: Readonly<Record<string, string>>): Home {
  const home = aHome()
  for (const [name, version] of Object.entries(programs))
    home.put(`bin/${name}`, `#!/bin/sh\necho ${version}\n`, 0o755)
  return home
}

function pathOf(home: Home): string {
  return `${home.at('bin')}:${process.env['PATH']}`
}

/** A gateway without chat completions. It lists two models that it does not serve. */
function aNarrowGateway(): Promise<Gateway> {
  const entry = (id: string, endpointTypes: string[], isNotForChat = false): CatalogEntry => ({
    id,
    ownedBy: 'team',
    endpointTypes,
    isNotForChat,
  })
  const models = [
    entry('gpt-5.6-sol', ['openai-response'], true),
    entry('gpt-5.4', ['openai-response']),
    entry('claude-sonnet-5-5', ['anthropic'], true),
    entry('claude-opus-5-5', ['anthropic']),
    entry('claude-haiku-5-5', ['anthropic']),
    entry('claude-fable-5-2', ['anthropic']),
  ]
  return withGateway({ key: canary, models }, onTestFinished)
}

const terminals: readonly (readonly [string, number, Record<string, string>])[] = [
  ['100 columns', 100, {}],
  ['60 columns', 60, {}],
  ['a dumb terminal', 100, { TERM: 'dumb' }],
  ['a terminal without UTF-8', 100, { LC_ALL: 'C' }],
]

test.each(terminals)(
  '%s: asks again for what the gateway rejects, in its place, and for nothing else twice',
  async (_, columns, env) => {
    const narrow = await aNarrowGateway()
    const home = homeWith({ codex: 'codex-cli 0.169.0', cline: '3.1.1' })
    const script = '[ "$1" = --version ] && echo 2.1.330 && exit\necho 503 >&2\nexit 1'
    home.put('bin/claude', `#!/bin/sh\n${script}\n`, 0o755)
    const run = askInProcess(home, [], { env: { PATH: pathOf(home), ...env }, columns })

    // The address, and then the key that was typed for it.
    await typeAddress(run, 'http://127.0.0.1:9')
    await run.shows('API key')
    run.type(`sk-wrong-0123456789abcdef${keys.enter}`)
    await run.shows(/✗ |X /)
    await typeAddress(run, narrow.url)
    await run.shows(/✗ |X /)
    await run.shows('API key')
    run.type(`${canary}${keys.enter}`)
    await run.shows(/answers: 6 models, over responses\s+and\s+messages/)

    // A client that cannot use the gateway cannot be selected.
    await run.shows(/- Cline 3\.1\.1 +not possible:/)
    run.type(keys.enter)

    // Codex gets the newest GPT model. A model, or the client.
    await run.shows('Which model should Claude Code use?')
    await run.shows(/[❯>] none: skip Claude Code/)
    run.type(keys.enter)

    await run.shows('Codex: gpt-5.4 answers')
    await run.shows('Apply?')
    run.type(keys.enter)
    expect(await run.ended).toBe(0)
    expect(run.screen().trimEnd().split(/\r?\n/).at(-1)).toBe('  Now run: codex')
    expect(home.text('.codex/config.toml')).toContain('model = "gpt-5.4"')
    expect(Object.keys(home.snapshot()).filter((path) => /^\.cl/.test(path))).toEqual([])
    for (const secret of [canary, 'sk-wrong-0123456789abcdef'])
      expect(run.raw()).not.toContain(secret.slice(3, 14))
    const lines = run.screen().split(/[\r\n]+/)
    expect(
      lines.filter((line) => line.length > columns && !/\? |navigate|[❯>]/.test(line)),
    ).toEqual([])
    if (env['LC_ALL'] === 'C') expect(run.screen()).not.toMatch(/\P{ASCII}/u)
  },
)

test.each(terminals.filter(([name]) => name !== '100 columns' && name !== 'a dumb terminal'))(
  '%s: leaves out a client that the gateway rejects, and sets up the others',
  async (_, columns, env) => {
    const message = 'This plan is currently only available for Coding Agents such as Claude Code.'
    const faults = [{ status: 403, message, route: 'responses' as const }]
    const picky = await withGateway({ key: canary, faults }, onTestFinished)
    const home = homeWith({ claude: '2.1.330' })
    const script = '[ "$1" = --version ] && echo codex-cli 0.169.0 && exit\necho 403 >&2\nexit 1'
    home.put('bin/codex', `#!/bin/sh\n${script}\n`, 0o755)
    const run = askInProcess(home, [], { env: { PATH: pathOf(home), ...env }, columns })

    await typeAddress(run, picky.url)
    await run.shows('API key')
    run.type(`${canary}${keys.enter}`)
    await run.shows('Which clients')
    run.type(keys.enter)
    await run.shows(/(?:✗|X) Skipped\s+Codex/)
    await run.shows('Apply?')
    run.type(keys.enter)
    expect(await run.ended).toBe(0)
    expect(run.screen().trimEnd().split(/\r?\n/).at(-1)).toBe('  Now run: claude')
    expect(home.text('.claude/settings.json')).toContain(picky.url)
    expect(home.snapshot()).not.toHaveProperty('.codex')
    const lines = run.screen().split(/[\r\n]+/)
    expect(
      lines.filter((line) => line.length > columns && !/\? |navigate|[❯>]/.test(line)),
    ).toEqual([])
  },
)

const unusable: readonly (readonly [string, Fault, string])[] = [
  ['a web page', { webPage: true }, 'A web page answers at'],
  ['a 502', { status: 502 }, 'HTTP 502'],
  ['an IP list', { status: 403, message: 'Your IP is not in the allowlist' }, 'allowlist'],
]

test.each(unusable)(
  'at %s, guided setup stops before it asks for clients',
  async (_, fault, cause) => {
    const faulty = await withGateway({ key: canary, faults: [fault] }, onTestFinished)
    // Claude Code needs no list of models, Codex does.
    for (const names of [['codex'], ['codex', 'claude']]) {
      const home = homeWith(Object.fromEntries(names.map((name) => [name, '2.1.330'])))
      const run = askInProcess(home, [], { env: { PATH: pathOf(home) } })
      await typeAddress(run, faulty.url)
      await run.shows('API key')
      run.type(`${canary}${keys.enter}`)
      await run.shows(cause)
      expect(run.screen()).not.toContain('Which clients')
      run.type(keys.ctrlC)
      await run.ended
    }
  },
)

test('asks for no model of a client whose protocol the gateway lacks', async () => {
  const models = ['deepseek-v4', 'glm-5'].map((id) => ({
    id,
    ownedBy: 'team',
    endpointTypes: ['openai'],
  }))
  const chatOnly = await withGateway({ key: canary, models }, onTestFinished)
  const home = homeWith({ codex: 'codex-cli 0.169.0', opencode: '1.18.34' })
  const env = { PATH: pathOf(home), REPOINT_BASE_URL: chatOnly.url, REPOINT_API_KEY: canary }
  const run = askInProcess(home, [], { env })
  await run.shows(`❯ ${chatOnly.url}`)
  run.type(keys.enter)
  await run.shows(/opencode 1\.18\.34 +its own service, asks for its model/)
  run.type(`${keys.space}${keys.down}${keys.space}${keys.enter}`)
  await run.shows('Which model should')
  expect(run.screen()).toContain('Which model should opencode use?')
  run.type(`${keys.down}${keys.enter}`)
  await run.shows('Apply?')
  expect(run.screen()).toMatch(/Skipped Codex: The gateway does not serve deepseek-v4/)
  expect(run.screen()).not.toContain('request id')
  run.type(keys.ctrlC)
  expect(await run.ended).toBe(130)
})

test('guided setup goes on if only the list of models is behind a web page', async () => {
  const listless = await withGateway(
    { key: canary, faults: [{ webPage: true, route: 'models' }] },
    onTestFinished,
  )
  const home = homeWith({ claude: '2.1.330' })
  const run = askInProcess(home, [], { env: { PATH: pathOf(home) } })
  await typeAddress(run, listless.url)
  await run.shows('API key')
  run.type(`${canary}${keys.enter}`)
  await run.shows('Which clients')
  run.type(keys.enter)
  await run.shows('Apply?')
  run.type(keys.ctrlC)
  expect(await run.ended).toBe(130)
})

test('the next run offers an address after Ctrl-C and after an error, without its key, until a setup succeeds', async () => {
  const home = aHome()
  const first = askInProcess(home, [])
  await typeAddress(first, `${gateway.url}/v1`)
  await first.shows('API key')
  first.type(keys.ctrlC)
  expect(await first.ended).toBe(130)
  const state = home.text('.local/state/repoint/address.txt')
  expect(state).toBe(`${gateway.url}\n`)

  const second = askInProcess(home, [])
  await second.shows(`❯ ${gateway.url}`)
  second.type(keys.enter)
  await second.shows('API key')
  second.type(`${canary}${keys.enter}`)
  await second.shows('Which clients')
  second.type(`${keys.space}${keys.enter}`)
  await second.shows('Apply?')
  second.type(keys.enter)
  expect(await second.ended).toBe(0)
  expect(home.everything().filter((path) => path.includes('address'))).toEqual([])

  // Now it is a saved gateway, which needs no key.
  const third = askInProcess(home, [], { env: { REPOINT_API_KEY: `${canary}-other` } })
  await third.shows(/❯ 127\.0\.0\.1 +http/)
  third.type(keys.enter)
  await third.shows('Which clients')
  third.type(`${keys.space}${keys.enter}`)
  expect(await third.ended).toBe(0)
  expect(third.screen()).toMatch(
    /the key that is saved for 127\.0\.0\.1,\s+and\s+not\s+REPOINT_API_KEY/,
  )
  expect(third.screen()).not.toContain('API key')
})

test('repoint asks for a new key of a saved gateway that rejects its key, and sends it to no other address', async () => {
  const old = await withGateway({ key: canary }, onTestFinished)
  const home = aHome()
  await runInProcess(home, ['gateways', 'add', old.url, '--name', 'work'], {
    env: { REPOINT_API_KEY: canary },
  })
  await old.close()
  const other = await withGateway({ key: `${canary}-other` }, onTestFinished)

  const secondRun = askInProcess(home, [])
  await secondRun.shows(/❯ work +http/)
  secondRun.type(keys.enter)
  await secondRun.shows(/✗ |X /)
  await typeAddress(secondRun, other.url)
  await secondRun.shows('API key')
  expect(other.requests()).toEqual([])
  secondRun.type(keys.ctrlC)
  expect(await secondRun.ended).toBe(130)

  const renewed = `${canary}-2`
  const port = Number(new URL(old.url).port)
  await withGateway({ port, key: renewed }, onTestFinished)
  const run = askInProcess(home, [])
  await run.shows('Gateway address')
  run.type('work')
  await run.shows(/❯ work +http/)
  run.type(keys.enter)
  await run.shows(/✗ |X /)
  await run.shows('API key')
  run.type(`${renewed}${keys.enter}`)
  await run.shows('Which clients')
  run.type(`${keys.space}${keys.enter}`)
  await run.shows('Apply?')
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  const { json } = await runHere(home, ['gateways'])
  expect(json['gateways']).toMatchObject([{ name: 'work', clients: ['codex'] }])
})

test.each([
  ['openrouter', 'OpenRouter', 'openrouter.ai'],
  ['kimi coding', 'Kimi Code', 'api.kimi.com'],
])('the name of a known host selects its address: %s', async (typed, name, address) => {
  const run = askInProcess(aHome(), [])
  await run.shows('Gateway address')
  expect(run.screen()).not.toContain(name)
  run.type(typed)
  await run.shows(`❯ ${name}  ${address}`)
  run.type(keys.enter)
  await run.shows('API key')
  run.type(keys.ctrlC)
  expect(await run.ended).toBe(130)
})

test('a client whose file is broken cannot be selected; if no client can work, that is the error', async () => {
  const home = homeWith({ codex: 'codex-cli 0.169.0', claude: '2.1.330' })
  home.put('.codex/config.toml', 'model = \n')
  const env = { PATH: pathOf(home), REPOINT_BASE_URL: gateway.url, REPOINT_API_KEY: canary }
  const run = askInProcess(home, [], { env })
  await run.shows(`❯ ${gateway.url}`)
  run.type(keys.enter)
  await run.shows(/◉ Claude Code 2\.1\.330/)
  await run.shows(/- Codex 0\.169\.0 +not possible: Codex does not start/)
  run.type(keys.ctrlC)
  expect(await run.ended).toBe(130)

  const alone = homeWith({ codex: 'codex-cli 0.169.0' })
  alone.put('.codex/config.toml', 'model = \n')
  const none = askInProcess(alone, [], { env: { ...env, PATH: pathOf(alone) } })
  await none.shows(`❯ ${gateway.url}`)
  none.type(keys.enter)
  expect(await none.ended).toBe(8)
  expect(none.screen()).toContain('config.toml')
})
