import { chmodSync, lstatSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'

/** The tests search for this key in every output and file. */
const canary = 'sk-canary-7f3a9b2c4d5e6f708192a3b4'

const gateway = await withGateway({ key: canary })

function codex(home: Home, args: readonly string[] = [], env: Record<string, string> = {}) {
  return runInProcess(home, ['codex', '--base-url', gateway.url, '--yes', '--json', ...args], {
    env: { REPOINT_API_KEY: canary, ...env },
  })
}

function rollback(home: Home, ...flags: readonly string[]) {
  return runInProcess(home, ['rollback', '--yes', ...flags])
}

/** The codes of the warnings in a document. */
function codesIn({ json }: { readonly json: unknown }): readonly string[] {
  return (json as { warnings: { code: string }[] }).warnings.map(({ code }) => code)
}

const handWritten = `# mine
model = "o3" # the slow one
approval_policy = "on-request"

[mcp_servers.files] # keep
command = "mcp-files"

[model_providers.other]
name = "Other"
base_url = "https://other.example/v1"

[projects."/home/me/shop"]
trust_level = "trusted"
`

describe('repoint codex', () => {
  test('a setup in a fresh home writes both files, checks them and makes them private', async () => {
    const home = aHome()
    const result = await codex(home)
    expect(result).toMatchObject({ status: 0, stderr: '' })
    expect(result.json).toEqual({
      command: 'codex',
      changed: true,
      run: expect.stringMatching(/^\d{8}T\d{6}Z-/),
      baseUrl: gateway.url,
      gateway: '127.0.0.1',
      model: 'gpt-5.6-sol',
      files: [
        {
          path: home.at('.codex/auth.json'),
          action: 'created',
          changes: [`+ OPENAI_API_KEY = ....${canary.slice(-4)}`],
        },
        {
          path: home.at('.codex/config.toml'),
          action: 'created',
          changes: expect.arrayContaining([
            '+ model = "gpt-5.6-sol"',
            '+ model_providers.gateway.wire_api = "responses"',
          ]),
        },
      ],
      verified: { before: true, after: true },
      warnings: expect.any(Array),
      next: expect.arrayContaining([expect.stringContaining('repoint rollback')]),
    })
    expect(home.text('.codex/config.toml')).toBe(`model = "gpt-5.6-sol"
model_provider = "gateway"
openai_base_url = "${gateway.url}/v1"

[notice.model_migrations]
"gpt-5.6-sol" = "gpt-6-sol"

[model_providers.gateway]
name = "Gateway"
base_url = "${gateway.url}/v1"
wire_api = "responses"
requires_openai_auth = true
supports_websockets = false
`)
    expect(JSON.parse(home.text('.codex/auth.json'))).toEqual({ OPENAI_API_KEY: canary })
    expect(statSync(home.at('.codex/auth.json')).mode & 0o777).toBe(0o600)
  })

  test('a setup keeps every line of a handwritten config that is not ours', async () => {
    const home = aHome({ '.codex/config.toml': handWritten })
    expect((await codex(home)).status).toBe(0)
    const lines = home.text('.codex/config.toml').split('\n')
    for (const line of handWritten.split('\n').filter((line) => !line.startsWith('model =')))
      expect(lines).toContain(line)
    expect(lines).toContain('model = "gpt-5.6-sol" # the slow one')
  })

  test('reports an unknown context window once, whether or not one is set for another model', async () => {
    const windowCodes = async (config: string) => {
      const home = aHome({ '.codex/config.toml': config })
      const result = await codex(home, ['--model', 'gpt-5.6-pro', '--dry-run'])
      return codesIn(result).filter((code) => code.includes('window'))
    }
    expect(await windowCodes('model = "o3"\n')).toEqual(['context-window-unknown'])
    expect(await windowCodes('model = "o3"\nmodel_context_window = 1000\n')).toEqual([
      'codex-context-window',
    ])
  })

  test('writes the key into a file of mode 444, closes it to others and keeps it read-only', async () => {
    const home = aHome({ '.codex/auth.json': '{}' })
    chmodSync(home.at('.codex/auth.json'), 0o444)
    expect(codesIn(await codex(home))).toEqual(
      expect.arrayContaining(['mode-closed', 'read-only-file']),
    )
    expect(statSync(home.at('.codex/auth.json')).mode & 0o777).toBe(0o400)
  })

  test('reports no mode of a file without the key, or of one that is private already', async () => {
    const home = aHome({ '.codex/config.toml': '' })
    home.put('.codex/auth.json', '{}', 0o600)
    const codes = codesIn(await codex(home))
    expect(codes.filter((code) => /mode|read-only/.test(code))).toEqual([])
  })

  test('honours CODEX_HOME', async () => {
    const home = aHome({ 'elsewhere/config.toml': '' })
    await codex(home, [], { CODEX_HOME: home.at('elsewhere') })
    expect(home.text('elsewhere/config.toml')).toContain('[model_providers.gateway]')
    expect(Object.keys(home.snapshot())).not.toContain('.codex')
  })

  test('--no-verify sends no request', async () => {
    const home = aHome()
    const seen = gateway.requests().length
    const result = await codex(home, ['--no-verify', '--model', 'my-model'])
    expect(result.json).toMatchObject({
      verified: { before: false, after: false },
      model: 'my-model',
    })
    expect(gateway.requests().length).toBe(seen)
  })

  test('the key is only in its file and in private copies, never in an output, a record or another file', async () => {
    const home = aHome({ '.codex/config.toml': handWritten })
    const outputs = [
      await codex(home),
      await codex(home),
      await runInProcess(home, ['status', '--json']),
      await rollback(home),
      await runInProcess(home, ['rollback', '--list']),
    ]
    for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain(canary)
    const holders = readdirSync(home.path, { recursive: true, encoding: 'utf8' })
      .map((name) => join(home.path, name))
      .filter((path) => lstatSync(path).isFile() && readFileSync(path, 'latin1').includes(canary))
    for (const path of holders) {
      expect(path).toMatch(/[\\/](blobs[\\/]|gateways\.json$)/)
      expect(statSync(path).mode & 0o077).toBe(0)
    }
    expect(holders.length).toBeGreaterThan(0)
  })
})

describe('repoint rollback', () => {
  test.each([
    ['a fresh home', {}],
    [
      'existing files',
      { '.codex/config.toml': handWritten, '.codex/auth.json': '{"tokens":{"id_token":"x"}}\n' },
    ],
    ['CRLF', { '.codex/config.toml': handWritten.replaceAll('\n', '\r\n') }],
    ['a byte order mark', { '.codex/config.toml': `\ufeff${handWritten}` }],
    ['no final newline', { '.codex/config.toml': handWritten.trimEnd() }],
    [
      'a symlink',
      {
        'dotfiles/codex.toml': handWritten,
        '.codex/config.toml': { link: '../dotfiles/codex.toml' },
      },
    ],
  ])('%s: restores every byte', async (_, given) => {
    const home = aHome(given)
    if ('.codex/auth.json' in given) chmodSync(home.at('.codex/auth.json'), 0o640)
    const before = home.snapshot()
    const setup = await codex(home)
    expect(setup.status).toBe(0)
    const after = home.snapshot()
    expect(after).not.toEqual(before)

    const undone = await rollback(home, '--json')
    expect(undone.json).toMatchObject({
      changed: true,
      undoes: (setup.json as { run: string }).run,
    })
    expect(home.snapshot()).toEqual(before)

    await rollback(home, 'codex', '--redo')
    expect(home.snapshot()).toEqual(after)
    await rollback(home, 'codex')
    expect(home.snapshot()).toEqual(before)
  })

  test('lists the runs, undoes a named one, and shows a dry run', async () => {
    const home = aHome({ '.codex/config.toml': handWritten })
    const before = home.snapshot()
    const { run } = (await codex(home)).json as { run: string }
    const after = home.snapshot()
    const list = await runInProcess(home, ['rollback', '--list', '--json'])
    expect(list.json).toMatchObject({ runs: [{ run, command: 'codex', clients: ['codex'] }] })
    expect((await runInProcess(home, ['rollback', '--run', run, '--dry-run'])).status).toBe(0)
    expect(home.snapshot()).toEqual(after)
    expect((await rollback(home, '--run', run)).status).toBe(0)
    expect(home.snapshot()).toEqual(before)
    const { stdout } = await runInProcess(home, ['rollback', '--list'])
    const [head, undone, done] = stdout.split('\n')
    expect(head).toMatch(/^WHEN +WHAT +RUN$/)
    expect(undone).toMatch(/^a moment ago +the undo of Codex's setup +\S+$/)
    expect(done).toMatch(/^a moment ago +Codex's setup, \S+, gpt-5\.6-sol +\S+$/)
    expect(done).toContain(gateway.url)
    expect(done).toContain(run)
  })

  test('keeps and reports a name that someone changed, and undoes the model together with the gateway', async () => {
    const home = aHome({ '.codex/config.toml': handWritten })
    await codex(home)
    home.replace('.codex/config.toml', '"gpt-5.6-sol"', '"gpt-5.4"')
    home.replace('.codex/config.toml', 'name = "Gateway"', 'name = "Work"')
    home.put('.codex/config.toml', `${home.text('.codex/config.toml')}\n[tui]\nx = 1\n`)
    const undone = await rollback(home, '--json')
    const kept = { path: home.at('.codex/config.toml'), kept: ['model_providers.gateway.name'] }
    expect(undone.json).toMatchObject({
      files: expect.arrayContaining([expect.objectContaining(kept)]),
    })
    const configAfter = home.text('.codex/config.toml')
    expect(configAfter).toContain('name = "Work"')
    expect(configAfter).toContain('[tui]\nx = 1')
    expect(configAfter).not.toContain('gpt-5.4')
    expect(configAfter).not.toContain(gateway.url)
  })

  test('reports a login that it restores, in a dry run too', async () => {
    const login = '{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":"x"}}'
    const home = aHome({ '.codex/auth.json': login })
    await codex(home)
    const dry = await runInProcess(home, ['rollback', '--dry-run'])
    const real = await rollback(home)
    for (const { stdout } of [dry, real]) {
      expect(stdout).toContain('- OPENAI_API_KEY\n')
      expect(stdout).toContain('+ tokens (as before)')
      expect(stdout).toContain('Codex will use its own service again, with a ChatGPT login.')
    }
    expect(home.text('.codex/auth.json')).toBe(login)
    expect(real.stdout).toContain('repoint rollback --redo\n')
    const forward = await rollback(home, '--redo')
    expect(forward.stdout).toContain(`Codex will use ${gateway.url} again.`)
    expect(forward.stdout).toContain('repoint rollback\n')
  })

  test('reports that there is nothing to undo', async () => {
    const result = await runInProcess(aHome(), ['rollback', '--yes', '--json'])
    expect(result.status).toBe(0)
    expect(result.json).toMatchObject({ changed: false, run: null, undoes: null })
  })

  test('--run and --original restore the state before an earlier run, and the original', async () => {
    const other = await withGateway({ key: canary }, onTestFinished)
    const home = aHome({ '.codex/config.toml': handWritten })
    const before = home.snapshot()
    const first = (await codex(home)).json as { run: string }
    await codex(home, ['--base-url', other.url])
    const after = home.snapshot()
    const back = await rollback(home, '--run', first.run, '--json')
    expect(back.json).toMatchObject({ changed: true, undoes: first.run })
    expect(home.snapshot()).toEqual(before)
    await rollback(home, '--redo')
    expect(home.snapshot()).toEqual(after)
    await rollback(home, '--original')
    expect(home.snapshot()).toEqual(before)
  })

  test('keeps address and key together if someone changed one of them', async () => {
    const login = '{"tokens":{"id_token":"x"},"auth_mode":"chatgpt"}'
    const home = aHome({ '.codex/auth.json': login })
    await codex(home)
    home.replace('.codex/config.toml', /^base_url = .*/m, 'base_url = "https://gw.example/v1"')
    const edited = home.snapshot()
    const undone = await rollback(home, '--json')
    expect(undone.json).toMatchObject({ changed: false })
    expect(home.snapshot()).toEqual(edited)
    await rollback(home, '--force')
    expect(home.text('.codex/auth.json')).toBe(login)
    expect(Object.keys(home.snapshot())).not.toContain('.codex/config.toml')
  })

  test('a redo never restores the gateway next to a login made since', async () => {
    const login = '{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":"x"}}'
    const home = aHome()
    await codex(home)
    home.put('.codex/auth.json', login)
    expect((await rollback(home)).status).toBe(10)
    const freed = home.snapshot()
    expect(Object.keys(freed)).not.toContain('.codex/config.toml')
    const forward = await rollback(home, '--redo', '--json')
    expect(forward.status).toBe(10)
    expect(forward.json).toMatchObject({ changed: false, warnings: [{ code: 'rollback-held' }] })
    expect(home.snapshot()).toEqual(freed)
  })

  test('an undo of an address alone does not move a login to another gateway', async () => {
    const home = aHome()
    await codex(home)
    const other = gateway.url.replace('127.0.0.1', 'localhost')
    await codex(home, ['--base-url', other])
    home.put('.codex/auth.json', '{"auth_mode":"chatgpt","tokens":{"id_token":"x"}}')
    const before = home.snapshot()
    expect((await rollback(home)).status).toBe(10)
    expect(home.snapshot()).toEqual(before)
    const forced = await rollback(home, '--force', '--json')
    expect(forced.status).toBe(0)
    expect(home.text('.codex/auth.json')).toContain(canary)
  })

  test.each([
    ['a login', '{"auth_mode":"chatgpt","tokens":{"id_token":"x"}}'],
    ['a key', '{"OPENAI_API_KEY":"sk-mine-0123456789"}'],
    ['nothing', undefined],
  ])('removes the key of a deleted config, and restores %s', async (_, auth) => {
    const home = aHome({
      '.codex/config.toml': handWritten,
      ...(auth === undefined ? {} : { '.codex/auth.json': auth }),
    })
    await codex(home)
    rmSync(home.at('.codex/config.toml'))
    const deleted = home.snapshot()
    expect((await rollback(home)).status).toBe(10)
    expect(readdirSync(home.at('.codex'))).toEqual(auth === undefined ? [] : ['auth.json'])
    if (auth !== undefined) expect(home.text('.codex/auth.json')).toBe(auth)
    expect((await rollback(home, '--redo')).status).toBe(0)
    expect(home.snapshot()).toEqual(deleted)
  })

  test.each<[string, (home: Home) => void, elsewhere?: string]>([
    [
      'a profile still names the gateway',
      (home) => home.put('.codex/gw.config.toml', home.text('.codex/config.toml')),
    ],
    [
      'auth.json has another key',
      (home) => home.put('.codex/auth.json', '{"OPENAI_API_KEY":"sk-other-0123456789"}'),
    ],
    ['CODEX_HOME names another installation', () => {}, 'other'],
  ])('keeps the key of a deleted config if %s', async (_, change, elsewhere) => {
    const home = aHome({ '.codex/auth.json': '{"tokens":{"id_token":"x"}}', 'other/x': '' })
    await codex(home)
    change(home)
    rmSync(home.at('.codex/config.toml'))
    const deleted = home.snapshot()
    const env: Record<string, string> = elsewhere ? { CODEX_HOME: home.at(elsewhere) } : {}
    await runInProcess(home, ['rollback', '--yes'], { env })
    expect(home.snapshot()).toEqual(deleted)
  })

  test('does not send the key of an older address elsewhere after the config was deleted', async () => {
    const home = aHome({
      '.codex/auth.json': '{"OPENAI_API_KEY":"sk-mine-0123456789"}',
      '.codex/config.toml':
        'model_provider = "mine"\n[model_providers.mine]\nname = "Mine"\nbase_url = "https://mine.example/v1"\nrequires_openai_auth = true\n',
    })
    await codex(home)
    rmSync(home.at('.codex/config.toml'))
    const deleted = home.snapshot()
    await rollback(home)
    expect(home.snapshot()).toEqual(deleted)
  })

  test('warns about what it keeps, and names the command that undoes it too', async () => {
    const home = aHome({ '.codex/auth.json': '{"OPENAI_API_KEY":"sk-mine-0123456789"}' })
    await codex(home)
    home.replace('.codex/config.toml', /^base_url = .*/m, 'base_url = "http://127.0.0.1:9/v1"')
    const { json } = await rollback(home, '--json')
    expect(json).toMatchObject({
      changed: false,
      warnings: Array(2).fill({
        code: 'rollback-held',
        hint: expect.stringContaining('repoint rollback codex --force'),
      }),
    })
  })

  test('--original and --run exclude each other', async () => {
    const result = await rollback(aHome(), '--original', '--run', 'x', '--json')
    expect(result.json).toMatchObject({ error: { code: 'usage' } })
  })

  test('--force rescues a file that was broken since', async () => {
    const home = aHome({ '.codex/config.toml': handWritten })
    const before = home.snapshot()
    await codex(home)
    home.put('.codex/config.toml', 'model = {{{')
    const plain = await rollback(home)
    expect(plain.status).toBe(8)
    expect(plain.stderr).toContain('--force')
    expect((await rollback(home, '--force')).status).toBe(0)
    expect(home.snapshot()).toEqual(before)
  })
})

describe('a setup with bad input changes nothing', () => {
  const secret = 'sk-on-the-command-line-1'

  test.each<[name: string, words: string, key: string, status: number, code: string, says: RegExp]>(
    [
      ['a wrong key', '', 'sk-wrong-0123456789abcdef', 3, 'key-rejected', /key/i],
      ['a placeholder', '', 'YOUR_API_KEY', 2, 'key-placeholder', /placeholder/],
      ['an unknown model', '--model gpt-5.6-sool', canary, 5, 'model-unknown', /gpt-5\.6-sol/],
      ['no key', '', '', 2, 'key-missing', /--key-stdin/],
      ['a key in the arguments', `--key ${secret}`, canary, 2, 'usage', /command line/],
      ['an unknown flag', '--modle x', canary, 2, 'usage', /--model/],
      ['a key flag without a value', '--key', canary, 2, 'usage', /command line/],
      ['a key as an argument', secret, canary, 2, 'usage', /command line/],
      ['a secret in an unknown flag', `--token=${secret}`, canary, 2, 'usage', /--token/],
      ['a key as the name of a variable', `--key-env ${secret}`, canary, 2, 'usage', /--key-env/],
      ['a reserved provider id', '--provider-id openai', canary, 2, 'usage', /openai/],
    ],
  )('%s', async (_, words, key, status, code, says) => {
    const home = aHome({ '.codex/config.toml': handWritten })
    const before = home.snapshot()
    const args = words === '' ? [] : words.split(' ')
    const result = await codex(home, args, { REPOINT_API_KEY: key })
    expect(result.json).toMatchObject({ error: { code, filesChanged: false } })
    expect(result.stdout).toMatch(says)
    expect(result.stdout).not.toContain(secret)
    expect(result.status).toBe(status)
    expect(home.snapshot()).toEqual(before)
  })

  test('a key in the environment without its address', async () => {
    const { json } = await runInProcess(aHome(), ['codex', '--yes', '--json'], {
      env: { REPOINT_API_KEY: canary },
    })
    const message = expect.stringContaining('REPOINT_API_KEY')
    expect(json).toMatchObject({ error: { code: 'usage', message } })
  })

  test('a wrong address', async () => {
    const home = aHome()
    const result = await codex(home, ['--base-url', `${gateway.url}/nothing-here`])
    expect(result.status).toBe(4)
    expect(home.snapshot()).toEqual({})
  })

  test.each([
    ['not TOML', 'model = "x"\nmodel = "y"\n', 'codex-config-invalid', /line 2/],
    [
      'not UTF-8',
      new Uint8Array([0x61, 0x20, 0x3d, 0x20, 0x22, 0xff, 0x22]),
      'config-invalid',
      /line 1/,
    ],
    ['a scalar in our place', 'model_providers = "x"\n', 'config-conflict', /model_providers/],
  ])('%s', async (_, text, code, says) => {
    const home = aHome({ '.codex/config.toml': text })
    const before = home.snapshot()
    const result = await codex(home)
    expect(result.json).toMatchObject({ error: { code, filesChanged: false } })
    expect(result.stdout).toMatch(says)
    expect(result.status).toBe(8)
    expect(home.snapshot()).toEqual(before)
  })

  test('a setup removes spaces, quotes and Bearer around a key, and reports it', async () => {
    const home = aHome()
    const args = ['codex', '--base-url', gateway.url, '--key-stdin', '--yes', '--json']
    const result = await runInProcess(home, args, { stdin: ` "Bearer ${canary}" \n` })
    expect(result.json).toMatchObject({ changed: true })
    expect(codesIn(result)).toContain('key-cleaned')
    expect(JSON.parse(home.text('.codex/auth.json'))).toEqual({ OPENAI_API_KEY: canary })
  })

  test.each([['--yes'], ['--dry-run']])('codex %s also reports what it disables', async (flag) => {
    const disk = { '.codex/auth.json': '{"auth_mode":"chatgpt","tokens":{"id_token":"x"}}' }
    const args = ['codex', '--base-url', gateway.url, flag]
    const env = { REPOINT_API_KEY: canary }
    const loginWarning =
      'Replace your ChatGPT login in auth.json by the key. To keep it, add --keep-login. repoint rollback restores it.'
    const { stdout } = await runInProcess(aHome(disk), args, { env })
    expect(stdout).toContain(`  ! ${loginWarning}\n`)
    expect((await runInProcess(aHome(disk), [...args, '--json'], { env })).json).toMatchObject({
      warnings: expect.arrayContaining([{ code: 'codex-login', message: loginWarning }]),
    })
  })

  test('without --yes and without a terminal, a setup asks for --yes instead of waiting', async () => {
    const home = aHome()
    const result = await runInProcess(home, ['codex', '--base-url', gateway.url], {
      env: { REPOINT_API_KEY: canary },
    })
    expect(result.status).toBe(2)
    expect(result.stderr).toMatch(/--yes/)
    expect(home.snapshot()).toEqual({})
  })
})
