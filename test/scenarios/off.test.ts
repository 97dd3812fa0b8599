import { rmSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { familyRows } from '../../src/clients/list.ts'
import { accept } from '../support/dialogue.ts'
import { livedInHome } from '../support/fixtures.ts'
import { foreignHome, foreignKey, ownHome } from '../support/foreign-homes.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'
import { aSafeguardsFront } from '../support/safeguards-front.ts'
import { triesAll } from '../support/sample.ts'
import { setUpOffline } from '../support/setup.ts'
import { askInProcess } from '../support/terminal.ts'
import { textsIn } from '../support/texts.ts'

const key = 'sk-canary-of-a-setup-0123456789abcdef'
/** No test sends a request to it. */
const unreached = { url: 'https://gw.example', key }
const families = familyRows.map(({ id }) => id)
/** Codex at a gateway with a separate key. */
const corporate =
  'model_provider = "corp"\n[model_providers.corp]\nname = "Corp"\nbase_url = "https://corp.example/v1"\nenv_key = "CORP_KEY"\n'

/** Runs `off`, which must not print a key. */
async function off(home: Home, args: readonly string[] = [], env: Record<string, string> = {}) {
  const result = await runHere(home, ['off', ...args], env)
  expectNoKey(result.text)
  return result
}

/** Shows every line that `off` would change, which must not print a key either. */
async function preview(home: Home, id: string): Promise<void> {
  const { status, stdout, stderr } = await runInProcess(home, ['off', id, '--dry-run', '--details'])
  expect(status).toBe(0)
  expectNoKey(stdout + stderr)
}

function expectNoKey(text: string): void {
  expect(text).not.toContain(key)
  expect(text).not.toContain(foreignKey)
  expect(text).not.toContain('sk-users-own')
}

describe.each(families)('%s', (id) => {
  test('removes what another tool wrote for a gateway, and changes no other byte', async () => {
    const home = aHome(foreignHome(id))
    const before = home.snapshot()

    await preview(home, id)
    const { status, json } = await off(home, [id, '--yes'])
    expect({ status, json }).toMatchObject({ status: 0, json: { command: 'off', changed: true } })
    expect(textsIn(home)).toEqual(ownHome(id))

    const again = await off(home, [id, '--yes'])
    expect(again).toMatchObject({ status: 0, json: { changed: false, run: null } })
    const state = await runHere(home, ['status', id, '--exit-code'])
    expect(state).toMatchObject({ status: 0, json: { clients: [{ expected: null, drift: [] }] } })
    expect((state.json['clients'] as { baseUrl?: string }[])[0]?.baseUrl).toBeUndefined()

    expect((await runHere(home, ['rollback', '--yes'])).status).toBe(0)
    expect(home.snapshot()).toEqual(before)
  })

  test('restores every byte of the files after a setup', async () => {
    const home = aHome(ownHome(id))
    const textsBefore = textsIn(home)
    await setUpOffline(home, id, unreached)
    const before = home.snapshot()

    expect(await off(home, [id, '--yes'])).toMatchObject({ status: 0, json: { changed: true } })
    expect(textsIn(home)).toEqual(textsBefore)
    expect(await off(home, [id, '--yes'])).toMatchObject({ json: { changed: false } })
    expect((await runHere(home, ['status', id, '--exit-code'])).status).toBe(0)

    expect((await runHere(home, ['rollback', '--yes'])).status).toBe(0)
    expect(home.snapshot()).toEqual(before)
  })
})

describe.each(triesAll ? families : ['codex', 'claude', 'opencode'])('%s', (id) => {
  test('points at neither gateway after a setup over another tool', async () => {
    const home = aHome(foreignHome(id))
    await setUpOffline(home, id, unreached)
    const before = home.snapshot()

    await preview(home, id)
    expect(await off(home, [id, '--yes'])).toMatchObject({ status: 0, json: { changed: true } })
    const state = await runHere(home, ['status', id])
    expect((state.json['clients'] as { baseUrl?: string }[])[0]?.baseUrl).toBeUndefined()
    expect(JSON.stringify(textsIn(home))).not.toContain(key)

    expect((await runHere(home, ['rollback', '--yes'])).status).toBe(0)
    expect(home.snapshot()).toEqual(before)
  })

  test('keeps what someone wrote into the files after a setup', async () => {
    const home = aHome(livedInHome(id))
    await setUpOffline(home, id, unreached)
    const changed = Object.keys(livedInHome(id)).filter((name) => !name.endsWith('auth.json'))
    for (const name of changed) home.put(name, withComment(name, home.text(name)))
    const before = home.snapshot()

    expect(await off(home, [id, '--yes'])).toMatchObject({ status: 0, json: { changed: true } })
    for (const name of changed) expect(home.text(name)).toContain(later)
    expect(JSON.stringify(textsIn(home))).not.toMatch(/gw\.example|of-a-setup/)

    expect((await runHere(home, ['rollback', '--yes'])).status).toBe(0)
    expect(home.snapshot()).toEqual(before)
  })
})

const later = 'written after the setup'

/** A member or a comment that a person adds. */
function withComment(name: string, text: string): string {
  return name.endsWith('.toml')
    ? `# ${later}\n${text}`
    : text.replace('{', `{ "later": "${later}",`)
}

describe('a login that a setup replaced', () => {
  const login = '{"auth_mode":"chatgpt","tokens":{"access_token":"sk-users-own-token-1"}}\n'
  const newLogin = login.replace('token-1', 'token-2')
  const auth = '.codex/auth.json'
  const config = '.codex/config.toml'

  test('is restored, although another tool wrote in between', async () => {
    const home = aHome({ [auth]: login, [config]: 'model = "gpt-5.4"\n' })
    await setUpOffline(home, 'codex', unreached)
    const { json } = await off(home, ['codex', '--yes'])
    expect(json).toMatchObject({ clients: [{ id: 'codex', login: 'a ChatGPT login' }] })
    expect(home.text(auth)).toBe(login)

    for (const [name, text] of Object.entries(foreignHome('codex'))) home.put(name, text)
    expect(await off(home, ['codex', '--yes'])).toMatchObject({ json: { changed: true } })
    expect(home.text(auth)).toBe(login)
    expect(home.text(config)).toContain('model = "gpt-5.4"')
    expect(home.text(config)).not.toContain('ccswitch')
  })

  test('is restored after someone changed the address of the setup', async () => {
    const home = aHome({ [auth]: login })
    await setUpOffline(home, 'codex', unreached)
    home.put(config, home.text(config).replaceAll('gw.example', 'elsewhere.example'))
    await off(home, ['codex', '--yes'])
    expect(textsIn(home)).toEqual({ [auth]: login })
  })

  test('is not restored over a newer login', async () => {
    const home = aHome({ [auth]: login })
    await setUpOffline(home, 'codex', unreached)
    home.put(auth, newLogin)
    await off(home, ['codex', '--yes'])
    expect(textsIn(home)).toEqual({ [auth]: newLogin })
  })

  test('is kept if the gateway has a separate key', async () => {
    const home = aHome({
      [auth]: login,
      [config]: corporate,
    })
    await off(home, ['codex', '--yes'])
    expect(textsIn(home)).toEqual({ [auth]: login, [config]: '' })
  })

  test.each([
    ['of another tool', foreignHome('codex')],
    ['with a key alone', { ...foreignHome('codex'), [auth]: `{"OPENAI_API_KEY":"${foreignKey}"}` }],
    ['of a setup', undefined],
  ])('made after `off` is not sent by a rollback to a gateway %s', async (_, given) => {
    const home = aHome(given)
    if (given === undefined) await setUpOffline(home, 'codex', unreached)
    await off(home, ['codex', '--yes'])
    home.put(auth, newLogin)
    const textsBefore = textsIn(home)

    expect(await runHere(home, ['rollback', '--yes'])).toMatchObject({ status: 10 })
    expect(textsIn(home)).toEqual(textsBefore)
  })

  test('is not restored from damaged records', async () => {
    const home = aHome({ [auth]: login })
    await setUpOffline(home, 'codex', unreached)
    const record = home.everything().find((name) => /\/run-.*\.json$/.test(name))!
    home.put(record, '{}')
    const { status, json } = await off(home, ['codex', '--yes'])
    const damaged = expect.objectContaining({ code: 'record-damaged' })
    expect({ status, json }).toMatchObject({
      status: 0,
      json: { changed: true, warnings: expect.arrayContaining([damaged]) },
    })
    expect(Object.keys(textsIn(home))).toEqual([config])
    expect(home.text(config)).not.toMatch(/gw\.example|model_provider =/)
  })
})

describe('other settings that a setup wrote', () => {
  test.each([
    ['over a file of no tool', { '.claude/settings.json': '{\n  "model": "opus"\n}\n' }],
    [
      'over another tool',
      { '.claude/settings.json': '{"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:1"}}' },
    ],
  ])('%s: removes the permission mode for a gateway without verdicts', async (_, given) => {
    const gateway = await withGateway({ key }, onTestFinished)
    const front = await aSafeguardsFront(gateway, 'drops')
    const home = aHome(given)
    const args = ['claude', '--base-url', `http://127.0.0.1:${front.port}`, '--yes']
    expect((await runHere(home, args, { REPOINT_API_KEY: key })).status).toBe(0)
    expect(home.text('.claude/settings.json')).toContain('disableAutoMode')

    await off(home, ['--yes'])
    expect(home.text('.claude/settings.json')).not.toMatch(
      /defaultMode|disableAutoMode|127\.0\.0\.1/,
    )
  })

  test("removes Codex's catalog and its setting", async () => {
    const home = aHome({
      '.codex/repoint-models.json': '{"models":[]}',
      '.codex/config.toml': '',
    })
    const config = foreignHome('codex')['.codex/config.toml']!
    const path = home.at('.codex/repoint-models.json')
    home.put('.codex/config.toml', `model_catalog_json = "${path}"\n${config}`)
    await off(home, ['--yes'])
    expect(home.text('.codex/config.toml')).not.toContain('model_catalog_json')
    expect(home.everything()).not.toContain('.codex/repoint-models.json')
  })
})

describe('the clients that off changes', () => {
  test('without a name, changes all clients that point at a gateway, in one run', async () => {
    const home = aHome({ ...foreignHome('codex'), ...foreignHome('pi'), ...ownHome('claude') })
    const before = home.snapshot()
    const { status, json } = await off(home, ['--yes'])
    expect(status).toBe(0)
    expect(json['clients']).toMatchObject([{ id: 'codex' }, { id: 'pi' }])
    expect(textsIn(home)).toEqual({ ...ownHome('codex'), ...ownHome('pi'), ...ownHome('claude') })

    const { json: list } = await runHere(home, ['rollback', '--list'])
    expect(list['runs']).toMatchObject([{ command: 'off', clients: ['codex', 'pi'] }])
    await runHere(home, ['rollback', '--yes'])
    expect(home.snapshot()).toEqual(before)
  })

  test('shows which of the named clients change, and only the files that change', async () => {
    const home = aHome({
      ...ownHome('claude'),
      '.codex/auth.json': '{"auth_mode":"chatgpt","tokens":{"id_token":"x"}}',
      '.codex/config.toml': corporate,
    })
    const { stdout } = await runInProcess(home, ['off', 'codex', 'claude', '--dry-run'])
    expect(stdout).toContain('~/.codex/config.toml (will be ')
    expect(stdout).not.toContain('auth.json')
    expect(stdout).toContain('Claude Code: no file points it at a gateway')

    const { json } = await off(home, ['codex', 'claude', '--yes'])
    expect(json).toMatchObject({
      run: expect.any(String),
      clients: [
        { id: 'codex', changed: true, login: 'a ChatGPT login' },
        { id: 'claude', changed: false, login: null },
      ],
    })
    expect(json).not.toHaveProperty('dryRun')
  })

  test('says what the client will use instead of the gateway', async () => {
    const { stdout } = await runInProcess(aHome(foreignHome('claude')), ['off', '--dry-run'])
    expect(stdout).toContain('Claude Code: back to its own service, and may ask you to log in')
    expect(stdout).toContain('Dry run: nothing changed.')
    expect(stdout).not.toContain('Now run')
  })

  test('says once that no file points a client at a gateway', async () => {
    const { stdout } = await runInProcess(aHome(), ['off', 'codex', '--yes'])
    expect(stdout).toBe('No file points a client at a gateway. Nothing changed.\n')
  })

  test.each(['claude', 'claude-gpt'])('%s means Claude Code, whatever its setup', async (id) => {
    const gateway = await withGateway({ key }, onTestFinished)
    const home = aHome()
    const args = ['claude-gpt', '--base-url', gateway.url, '--yes']
    expect((await runHere(home, args, { REPOINT_API_KEY: key })).status).toBe(0)
    expect(await off(home, [id, '--yes'])).toMatchObject({ json: { changed: true } })
    expect(textsIn(home)).toEqual({})
  })

  test('leaves out a client that cannot be read, or reports an error if it was named', async () => {
    const home = aHome({ ...foreignHome('pi'), '.codex/config.toml': '[[[' })
    expect(await off(home, ['codex', '--yes'])).toMatchObject({
      status: 8,
      json: {
        error: { code: 'codex-config-invalid', message: expect.stringContaining('line 1') },
      },
    })
    const { json } = await off(home, ['--yes'])
    expect(json).toMatchObject({
      changed: true,
      clients: [{ id: 'pi' }],
      warnings: [{ code: 'client-left-out', hint: expect.any(String) }],
    })
  })

  test('removes a setting that names a missing provider, because Codex does not start with it', async () => {
    const home = aHome({ '.codex/config.toml': 'model_provider = "gone"\nnotify = []\n' })
    expect(await off(home, ['--yes'])).toMatchObject({ json: { changed: true } })
    expect(home.text('.codex/config.toml')).toBe('notify = []\n')
  })

  test('cleans a file that Claude Code skips, and keeps its comments', async () => {
    const file = '.claude/settings.json'
    const home = aHome({
      [file]: `{\n  // mine\n  "env": {\n    "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",\n    "MINE": "1"\n  }\n}\n`,
    })
    expect(await off(home, ['--yes'])).toMatchObject({
      json: { changed: true, warnings: [{ code: 'broken' }] },
    })
    expect(home.text(file)).toBe(`{\n  // mine\n  "env": {\n    "MINE": "1"\n  }\n}\n`)
  })

  test('removes only the address and key of a provider that opencode ships', async () => {
    const file = '.config/opencode/opencode.json'
    const home = aHome({
      [file]: `{
  "model": "anthropic/claude-sonnet-5",
  "provider": { "anthropic": { "options": { "baseURL": "https://gw.example/v1", "apiKey": "${foreignKey}", "timeout": 9 } } }
}`,
      '.local/share/opencode/auth.json': '{"anthropic":{"type":"oauth","refresh":"sk-users-own"}}',
    })
    await off(home, ['opencode', '--yes'])
    expect(JSON.parse(home.text(file))).toEqual({
      provider: { anthropic: { options: { timeout: 9 } } },
    })
    expect(home.text('.local/share/opencode/auth.json')).toContain('sk-users-own')
  })
})

describe('what repoint does not edit', () => {
  test.each([
    [{ '.zshrc': '# mine\nexport ANTHROPIC_BASE_URL=http://old.example\n' }, '.zshrc:2'],
    [
      { '.claude/settings.local.json': '{"env":{"ANTHROPIC_BASE_URL":"http://old.example"}}' },
      '.claude/settings.local.json:1',
    ],
  ])('%j is reported with its place, and not changed', async (given, place) => {
    for (const files of [foreignHome('claude'), ownHome('claude')]) {
      const home = aHome({ ...files, ...given })
      const before = textsIn(home)
      const { status, json, text } = await off(home, ['--yes'])
      expect(status).toBe(0)
      expect(text).toContain(place)
      expect(json).toMatchObject({ clients: [{ id: 'claude' }] })
      const [name] = Object.keys(given)
      expect(home.text(name!)).toBe(before[name!])
    }
  })

  test('is not reported without a name, if it moves no address', async () => {
    const project = { '.claude/settings.local.json': '{"model":"x"}' }
    const home = aHome({ ...ownHome('claude'), ...project })
    const { json } = await off(home, ['--yes'])
    expect(json).toMatchObject({ changed: false, clients: [], warnings: [] })
    const { json: named } = await off(home, ['claude', '--yes'])
    expect(named['warnings']).toHaveLength(1)
  })

  test('a variable of this shell is reported with the command that unsets it', async () => {
    const { json } = await off(aHome(), ['claude', '--yes'], {
      ANTHROPIC_BASE_URL: 'http://old.example',
      ANTHROPIC_AUTH_TOKEN: foreignKey,
    })
    expect(json).toMatchObject({
      changed: false,
      warnings: [
        { code: 'still-at-gateway', hint: expect.stringContaining('unset ANTHROPIC_BASE_URL') },
        { code: 'still-at-gateway', hint: expect.stringContaining('unset ANTHROPIC_AUTH_TOKEN') },
      ],
    })
  })

  test('opencode merges a weaker file that still has the address', async () => {
    const { '.config/opencode/opencode.jsonc': config = '' } = foreignHome('opencode')
    const home = aHome({
      '.config/opencode/opencode.jsonc': '{}',
      '.config/opencode/opencode.json': config,
      // No gateway is replaced, so that this tool does not write one again.
      '.cc-switch/config.json': '{}',
    })
    const { status, json } = await off(home, ['--yes'])
    expect(status).toBe(0)
    expect(json).toMatchObject({
      changed: false,
      clients: [{ id: 'opencode', changed: false }],
      files: [],
      warnings: [
        {
          code: 'still-at-gateway',
          message: expect.stringContaining('opencode.json'),
          hint: 'Remove the address from that file.',
        },
      ],
    })
    expect(home.text('.config/opencode/opencode.json')).toBe(config)
  })

  test('GitHub Copilot CLI has no file, so its variables are named', async () => {
    const env = { COPILOT_PROVIDER_BASE_URL: 'http://old.example', COPILOT_MODEL: 'x' }
    const { status, json } = await off(aHome(), ['copilot', '--yes'], env)
    expect({ status, json }).toMatchObject({
      status: 0,
      json: {
        changed: false,
        warnings: [
          { hint: expect.stringContaining('unset COPILOT_PROVIDER_BASE_URL') },
          { hint: expect.stringContaining('unset COPILOT_MODEL') },
        ],
      },
    })
  })
})

describe('the question before a change', () => {
  test('without a terminal, off reports a usage error and changes nothing', async () => {
    const home = aHome(foreignHome('codex'))
    const before = home.snapshot()
    expect(await off(home)).toMatchObject({
      status: 2,
      json: { changed: false, error: { code: 'confirmation-needed' } },
    })
    expect(home.snapshot()).toEqual(before)
  })

  test('--dry-run shows every key, and changes nothing', async () => {
    const home = aHome(foreignHome('codex'))
    const before = home.snapshot()
    const { status, json } = await off(home, ['--dry-run'])
    expect({ status, json }).toMatchObject({
      status: 0,
      json: { command: 'off', dryRun: true, changed: true, run: null, next: [] },
    })
    const { stdout } = await runInProcess(home, ['off', '--dry-run'])
    expect(stdout).toContain('- model_providers.ccswitch')
    expect(home.snapshot()).toEqual(before)
  })

  test.each([
    ['offers the details', []],
    ['shows them with --details', ['--details']],
  ])('on a terminal, off %s', async (_, flags) => {
    const home = aHome(foreignHome('codex'))
    let offersDetails = false
    const confirm = async ({ showDetails }: { showDetails?: () => void }) => {
      offersDetails = showDetails !== undefined
      showDetails?.()
      return false
    }
    const { stdout } = await runInProcess(home, ['off', ...flags], { ask: { confirm } })
    expect(offersDetails).toBe(flags.length === 0)
    expect(stdout.match(/- model_providers\.ccswitch$/gm)).toHaveLength(1)
  })

  test('what stays is shown before the question', async () => {
    const local = '{"env":{"ANTHROPIC_BASE_URL":"http://old.example"}}'
    const home = aHome({ ...foreignHome('claude'), '.claude/settings.local.json': local })
    const { stderr } = await runInProcess(home, ['off', '--dry-run'])
    expect(stderr).toContain('settings.local.json')
  })

  test('on a terminal, off asks once, and says what to type next', async () => {
    const home = aHome(foreignHome('codex'))
    const run = askInProcess(home, ['off'])
    await run.shows('Codex: back to its own service')
    await accept(run)
    expect(run.screen()).toContain('Undo: repoint rollback')
    expect(run.screen()).toContain('Now run: codex')
    expect(textsIn(home)).toEqual(ownHome('codex'))
  })
})

describe('doctor, if nothing listens at the address', () => {
  test('names the command that works', async () => {
    const home = aHome({
      ...foreignHome('codex'),
      '.claude/settings.json': JSON.stringify({
        env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:15721', ANTHROPIC_AUTH_TOKEN: foreignKey },
      }),
    })
    const { stdout } = await runInProcess(home, ['doctor'])
    expect(stdout).toMatch(/own services?: repoint off codex claude$/m)

    const [, hint = ''] = /: repoint (off [\w ]+)$/m.exec(stdout) ?? []
    expect((await runInProcess(home, [...hint.split(' '), '--yes'])).status).toBe(0)
    const { stdout: later } = await runInProcess(home, ['status', 'codex', 'claude'])
    expect(later).toContain('Its own service')
    expect(later).not.toContain('127.0.0.1')
  })
})

test('the undo of an off does not restore a key whose address someone deleted', async () => {
  const home = aHome({ '.codex/config.toml': 'model = "gpt-5.5"\n' })
  await setUpOffline(home, 'codex', unreached)
  await off(home, ['codex', '--yes'])
  rmSync(home.at('.codex/config.toml'))

  const held = await runHere(home, ['rollback', '--yes'])
  expect(held).toMatchObject({ status: 10, json: { changed: false } })
  expect(held.text).toContain("the file with the address of the gateway's key is gone")
  expect(textsIn(home)).toEqual({})

  expect((await runHere(home, ['rollback', '--force', '--yes'])).status).toBe(0)
  expect(Object.keys(textsIn(home))).toEqual(['.codex/auth.json', '.codex/config.toml'])
})

test('the undo of an off does not restore a key next to no address, even if the client does not use it', async () => {
  const config = '.config/opencode/opencode.json'
  const login = '{"anthropic":{"type":"api","key":"sk-users-own"}}'
  const home = aHome({
    [config]: '{ "model": "anthropic/claude-sonnet-5" }\n',
    '.local/share/opencode/auth.json': login,
  })
  await setUpOffline(home, 'opencode', unreached)
  await off(home, ['opencode', '--yes'])
  rmSync(home.at(config))
  const before = textsIn(home)

  const held = await runHere(home, ['rollback', '--yes'])
  expect(held).toMatchObject({ status: 10, json: { changed: false } })
  expect(textsIn(home)).toEqual(before)
})

test("off says of Codex's login only what its credential store lets anyone know", async () => {
  const home = aHome({
    '.codex/config.toml': 'cli_auth_credentials_store = "keyring"\n',
    '.codex/auth.json': '{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":"x"}}',
  })
  await setUpOffline(home, 'codex', unreached)
  const { status, stdout } = await runInProcess(home, ['off', '--yes'])
  expect(status).toBe(0)
  expect(stdout).toContain("with the login in the system's keyring, if there is one")
  expect(stdout).not.toContain('ChatGPT')
  expect(home.text('.codex/config.toml')).toBe('cli_auth_credentials_store = "keyring"\n')
})
