import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { compact } from '../../src/compact.ts'
import { builtInCatalog, type GatewayOptions } from '../../src/serve/index.ts'
import { accessTo, aServer, goodGateway, sendJson, tlsFile } from '../gateway/forged.ts'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'
import { killedBefore } from '../support/runs.ts'
import { setUp } from '../support/setup.ts'

const keys = { one: 'sk-canary-one-5e6f708192a3b47f', two: 'sk-canary-two-d1c0b9a8f7e6d5c4' }

const gatewayOne = await withGateway({ key: keys.one })
const [entry] = builtInCatalog.filter(({ id }) => id === 'gpt-5.6-sol')
const models = ['gpt-5.5-sol', 'gpt-5.4', 'gpt-5.4-mini'].map((id) => ({ ...entry!, id }))
const gatewayTwo = await withGateway({ key: keys.two, models })

/** These clients are set up for `one`, and `two` is saved. The programs only print a version. */
async function aHomeBetween(...clients: readonly string[]): Promise<Home> {
  return fill(aHome(), clients)
}

async function fill(home: Home, clients: readonly string[]): Promise<Home> {
  for (const name of ['codex', 'claude', 'opencode', 'other']) {
    home.put(`bin/${name}`, '#!/bin/sh\necho 9.9.9\n', 0o755)
  }
  await setUp(home, 'codex --name two --model gpt-5.5-sol', gatewayTwo)
  for (const client of clients) await setUp(home, `${client} --name one`, gatewayOne)
  return home
}

/** Codex is set up in it. For tests that change nothing. */
const sharedHome = await fill(aHome({}, afterAll), ['codex'])

/** What `repoint run` starts, without starting it. */
async function started(home: Home, words: readonly string[], env: Record<string, string> = {}) {
  let child:
    | { args: readonly string[]; env: Readonly<Record<string, string | undefined>> }
    | undefined
  const before = home.snapshot()
  const { status, stderr } = await runInProcess(home, ['run', ...words], {
    env: { PATH: pathOf(home), ...env },
    runInForeground: async (_, args, options) => {
      child = { args, env: compact(options.env ?? {}) }
      return { reason: 'exited', exitStatus: 0 }
    },
  })
  expect(home.snapshot()).toEqual(before)
  expect({ status, stderr }).toMatchObject({ status: 0 })
  for (const key of Object.values(keys)) expect(child!.args.join(' ') + stderr).not.toContain(key)
  return { ...child!, stderr }
}

function pathOf(home: Home): string {
  return `${home.at('bin')}:${process.env['PATH']}`
}

/** `repoint run` that ends before it starts anything. */
const refused = (home: Home, words: readonly string[]) =>
  runInProcess(home, ['run', ...words], { env: { PATH: pathOf(home) } })

/** A program that prints its arguments and environment as JSON. */
const reportsItsStart = `#!/bin/sh
[ "$1" = --version ] && echo 9.9.9 && exit
exec '${process.execPath}' -e 'console.log(JSON.stringify({ args: process.argv.slice(1), env: process.env }))' -- "$@"
`

describe('repoint run', () => {
  test('codex gets -c options with the provider id of its files, and the key in a variable', async () => {
    const { args, env, stderr } = await started(sharedHome, [
      'two',
      '--',
      'codex',
      'exec',
      '--json',
    ])
    expect(args).toEqual(
      expect.arrayContaining([
        'model_provider="gateway"',
        `model_providers.gateway.base_url="${gatewayTwo.url}/v1"`,
        'model_providers.gateway.env_key="REPOINT_RUN_KEY"',
        'model_providers.gateway.requires_openai_auth=false',
        'shell_environment_policy.exclude=["REPOINT_RUN_KEY"]',
      ]),
    )
    expect(args.slice(-2)).toEqual(['exec', '--json'])
    expect(args.join(' ')).not.toContain('openai_base_url')
    expect(env).toMatchObject({ REPOINT_RUN_KEY: keys.two })
    expect(env).not.toHaveProperty('OPENAI_API_KEY')
    expect(stderr).toContain('note: Codex: ')
  })

  test('codex gets a model by the rules if the catalog does not have the model of its files', async () => {
    expect((await started(sharedHome, ['one', 'codex'])).args.join(' ')).not.toContain('model=')
    const { args } = await started(sharedHome, ['two', 'codex'])
    expect(args).toContain('model="gpt-5.5-sol"')
  })

  test('starts no client with a model that the gateway does not serve', async () => {
    const words = ['two', '--model', 'gpt-5.5-soll', '--', 'codex']
    const { status, stderr } = await refused(sharedHome, words)
    expect(status).toBe(5)
    expect(stderr).toMatch(/does not serve the model gpt-5\.5-soll .*\n.*--model gpt-5\.5-sol/)
    const listed = await started(sharedHome, ['two', '--model', 'gpt-5.5-sol', '--', 'codex'])
    expect(listed.stderr).not.toContain('does not list')
  })

  test('claude gets the ids of the gateway in every slot', async () => {
    const home = await aHomeBetween('claude-gpt')
    const [entry] = builtInCatalog.filter(({ id }) => id === 'claude-sonnet-5')
    const ids = ['up/claude-opus-5', 'up/claude-sonnet-5', 'up/claude-haiku-5']
    const models = ids.map((id) => ({ ...entry!, id }))
    const up = await withGateway({ key: keys.two, models }, onTestFinished)
    for (const [name, { url, key }] of Object.entries({ up, one: gatewayOne }))
      await runHere(home, ['claude', '--name', name, '--base-url', url, '--yes'], {
        REPOINT_API_KEY: key,
      })
    expect(home.text('.claude/settings.json')).not.toContain('up/')
    const { args } = await started(home, ['up', 'claude'])
    expect(JSON.parse(args[1] ?? '').env).toMatchObject({
      ANTHROPIC_BASE_URL: up.url,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'up/claude-haiku-5',
      ANTHROPIC_DEFAULT_FABLE_MODEL: 'up/claude-opus-5',
    })
  })

  test('codex gets a new provider id if headers of its files would be sent to another address', async () => {
    const home = await aHomeBetween('codex')
    const headers = '$&\nhttp_headers = { "x-team" = "secret" }'
    home.replace('.codex/config.toml', /^base_url = .*/m, headers)
    const { args } = await started(home, ['two', 'codex'])
    expect(args).toContain('model_provider="repoint-run"')
  })

  test('claude gets --settings and a key helper, and those parts of the mapping that the catalog has', async () => {
    const home = await aHomeBetween('claude-gpt')
    const { args, env } = await started(home, ['one', '--', 'claude', '-p', 'hi'], {
      ANTHROPIC_API_KEY: 'sk-ant-mine-0123456789',
    })
    const [flag, text = '', ...moreArgs] = args
    expect([flag, ...moreArgs]).toEqual(['--settings', '-p', 'hi'])
    expect(JSON.parse(text)).toMatchObject({
      apiKeyHelper: 'printenv REPOINT_RUN_KEY',
      env: {
        ANTHROPIC_BASE_URL: gatewayOne.url,
        ANTHROPIC_AUTH_TOKEN: '',
        ANTHROPIC_DEFAULT_OPUS_MODEL: 'gpt-5.6-sol',
      },
    })
    expect(env).toMatchObject({ REPOINT_RUN_KEY: keys.one })
    expect(env).not.toHaveProperty('ANTHROPIC_API_KEY')
    const second = await started(home, ['two', 'claude'])
    expect(second.args[1]).not.toContain('gpt-5.6-sol')
  })

  test('claude starts without what a setup would remove', async () => {
    const home = await aHomeBetween('claude')
    home.replace(
      '.claude/settings.json',
      '"env": {',
      '$& "CLAUDE_CODE_USE_BEDROCK": "1", "NO_PROXY": "x.example",',
    )
    const { args, env, stderr } = await started(home, ['two', 'claude'], {
      ANTHROPIC_UNIX_SOCKET: '/x',
    })
    expect(JSON.parse(args[1]!).env).toMatchObject({
      CLAUDE_CODE_USE_BEDROCK: '',
      NO_PROXY: 'x.example,127.0.0.1,localhost',
    })
    expect(env).not.toHaveProperty('ANTHROPIC_UNIX_SOCKET')
    expect(stderr).toContain('It starts without ')
  })

  test('codex does not start with a setting that run cannot replace', async () => {
    const home = await aHomeBetween('codex')
    home.put('.codex/config.toml', `profile = "x"\n${home.text('.codex/config.toml')}`)
    const { status, stderr } = await refused(home, ['two', 'codex'])
    expect(status).toBe(8)
    expect(stderr).toContain('Codex does not start with `profile`')
  })

  test('another program keeps every variable', async () => {
    const { env } = await started(sharedHome, ['two', '--', 'other'], { CODEX_ACCESS_TOKEN: 'x' })
    expect(env).toHaveProperty('CODEX_ACCESS_TOKEN')
  })

  test('claude: --settings of the user is refused, because Claude Code reads only one', async () => {
    const home = await aHomeBetween('claude-gpt')
    const result = await refused(home, ['two', 'claude', '--settings', '{}'])
    expect([result.status, result.stdout]).toEqual([2, ''])
  })

  test('opencode gets its content variable, merged into the existing value', async () => {
    const home = await aHomeBetween('opencode')
    const { args, env, stderr } = await started(home, ['two', 'opencode', 'run', 'hi'], {
      OPENCODE_CONFIG_CONTENT: '{"share":"disabled","provider":{"mine":{}}}',
    })
    expect(args).toEqual(['run', 'hi'])
    expect(JSON.parse(env['OPENCODE_CONFIG_CONTENT']!)).toMatchObject({
      share: 'disabled',
      provider: {
        mine: {},
        gateway: { options: { baseURL: `${gatewayTwo.url}/v1`, apiKey: '{env:REPOINT_RUN_KEY}' } },
      },
      model: 'gateway/gpt-5.5-sol',
    })
    expect(stderr).toContain('keeps its model: opencode run -c')
    const { stdout } = await runInProcess(home, ['status', 'opencode'])
    expect(stdout).toContain('opencode run -c keeps the provider and model of an old conversation')
  })

  test('droid gets a private file, which is removed with the process', async () => {
    const home = await aHomeBetween('codex')
    home.put(
      'bin/droid',
      `#!/bin/sh
[ "$1" = --version ] && echo 9.9.9 && exit
path=$FACTORY_RUNTIME_SETTINGS_PATH
ls -ld "$path" | cut -c1-10
ls -ld "$(dirname "$path")" | cut -c1-10
echo "$path"
cat "$path"
`,
      0o755,
    )
    const env = { PATH: pathOf(home) }
    const { stdout, stderr } = await runCli(home, ['run', 'two', 'droid', 'exec', 'hi'], { env })
    expect(stdout + stderr).not.toContain(keys.two)
    const [fileMode, folderMode, path, ...lines] = stdout.split('\n')
    expect([fileMode, folderMode]).toEqual(['-rw-------', 'drwx------'])
    expect(JSON.parse(lines.join('\n'))).toMatchObject({
      customModels: [{ baseUrl: `${gatewayTwo.url}/v1`, apiKey: '${REPOINT_RUN_KEY}' }],
    })
    expect(existsSync(path!)).toBe(false)
  })

  test('a client gets the authorities of the gateway, in the variable that it reads', async () => {
    const home = await aHomeBetween('codex')
    const list = '.local/state/repoint/gateways.json'
    home.put('ca.pem', readFileSync(tlsFile('ca.pem'), 'utf8'))
    const entry = `"name": "two", "caFile": ${JSON.stringify(home.at('ca.pem'))}`
    home.replace(list, '"name": "two"', entry)
    const codex = await started(home, ['two', 'codex'])
    expect(codex.env).toMatchObject({ CODEX_CA_CERTIFICATE: home.at('ca.pem') })
    // This variable would replace the authorities of this machine in every program.
    expect(codex.env).not.toHaveProperty('SSL_CERT_FILE')
    const other = await started(home, ['two', 'other'])
    expect(other.env).toMatchObject({ NODE_EXTRA_CA_CERTS: home.at('ca.pem') })
  })

  test('any other program gets the usual variables', async () => {
    const { args, env } = await started(sharedHome, ['two', '--', 'other', '--', '--json'])
    expect(args).toEqual(['--', '--json'])
    expect(env).toMatchObject({
      OPENAI_BASE_URL: `${gatewayTwo.url}/v1`,
      OPENAI_API_KEY: keys.two,
      ANTHROPIC_BASE_URL: gatewayTwo.url,
      ANTHROPIC_AUTH_TOKEN: keys.two,
    })
  })

  test('a shell gets all variables, and a note about clients that ignore them', async () => {
    const home = await aHomeBetween('codex', 'claude-gpt', 'opencode')
    for (const name of ['copilot', 'droid'])
      home.put(`bin/${name}`, '#!/bin/sh\necho 9.9.9\n', 0o755)
    home.put('bin/opencode', reportsItsStart, 0o755)
    const env = { PATH: pathOf(home), SHELL: '/bin/sh' }
    const { stdout, stderr, status } = await runCli(home, ['run', 'two'], {
      env,
      stdin: 'opencode; exit 7\n',
    })
    expect(status).toBe(7)
    expect(JSON.parse(stdout).env).toMatchObject({
      OPENAI_API_KEY: keys.two,
      OPENCODE_CONFIG_CONTENT: expect.stringContaining(gatewayTwo.url),
      COPILOT_PROVIDER_BASE_URL: `${gatewayTwo.url}/v1`,
      FACTORY_RUNTIME_SETTINGS_PATH: expect.stringContaining('droid.json'),
      REPOINT_RUN_KEY: keys.two,
    })
    expect(stderr).toContain(
      'codex ignores these variables. Start it with: repoint run two -- codex',
    )
  })

  test('the next run removes the files of a killed one, and nothing else', async () => {
    const home = await aHomeBetween('codex')
    const state = home.at('.local/state/repoint')
    const leftovers = () => readdirSync(state).filter((name) => name.startsWith('.try-'))
    const script = "require('node:fs').writeFileSync(process.env.HOME + '/up', String(process.pid))"
    home.put(
      'bin/droid',
      `#!${process.execPath}\nif (process.argv[2] === '--version') console.log('9.9.9')\nelse {${script}; setTimeout(() => {}, 9e4)}\n`,
    )
    chmodSync(home.at('bin/droid'), 0o755)
    const start = () =>
      spawn(process.execPath, [resolve('bin/repoint.js'), 'run', '--no-verify', 'two', 'droid'], {
        env: { PATH: `${home.at('bin')}:${process.env['PATH']}`, HOME: home.path },
        stdio: 'ignore',
      })
    const isUp = async () => {
      // The file exists before its text does, and pid 0 would signal our whole process group.
      const pid = () => (existsSync(home.at('up')) ? Number(home.text('up')) : 0)
      while (pid() === 0) await new Promise((settle) => setTimeout(settle, 20))
      const started = pid()
      rmSync(home.at('up'))
      onTestFinished(() => void process.kill(started))
    }

    const killed = start()
    await isUp()
    const dead = leftovers()
    expect(dead).toHaveLength(1)
    killed.kill('SIGKILL')
    await new Promise((ended) => killed.once('close', ended))
    const [, , mark] = dead[0]!.split('-')
    const otherBoots = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'].map((boot) => `.try-1-${boot}-0123456789ab`)
    for (const name of otherBoots) home.put(`.local/state/repoint/${name}/x`, '')
    const longAgo = new Date(Date.now() - 25 * 60 * 60_000)
    utimesSync(`${state}/${otherBoots[1]}`, longAgo, longAgo)
    home.put('mine/file', 'x')
    const link = `.try-${killed.pid}-${mark}-0123456789ab`
    symlinkSync(home.at('mine'), `${state}/${link}`)
    home.put(`.local/state/repoint/.try-mine/x`, '')

    const living = start()
    onTestFinished(() => void living.kill('SIGTERM'))
    await isUp()
    const [ownFolder] = leftovers().filter((name) => name.startsWith(`.try-${living.pid}-`))
    expect(leftovers().toSorted()).toEqual([ownFolder, link, otherBoots[0], '.try-mine'].toSorted())
    await runCli(home, ['run', '--no-verify', 'two', '--', process.execPath, '-e', ''])
    expect(leftovers()).toContain(ownFolder)
    expect(home.text('mine/file')).toBe('x')
  })

  test.each([
    ['its status', 'process.exit(23)', 23],
    ['a signal', "process.kill(process.pid, 'SIGKILL'); setTimeout(() => {}, 9e4)", 137],
  ])('%s passes through', async (_, script, expected) => {
    const args = ['run', '--no-verify', 'two', '--', process.execPath, '-e', script]
    expect((await runInProcess(sharedHome, args)).status).toBe(expected)
  })

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    '%s is passed to the command',
    async (name) => {
      const script = `process.on('${name}', () => { console.log('received ${name}'); process.exit(5) }); console.log('up'); setTimeout(() => {}, 9e4)`
      const args = ['run', '--no-verify', 'two', '--', process.execPath, '-e', script]
      const child = spawn(process.execPath, [resolve('bin/repoint.js'), ...args], {
        env: { PATH: process.env['PATH'], HOME: sharedHome.path },
      })
      let out = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        if (out === '' && text.includes('up')) child.kill(name)
        out += text
      })
      const status = await new Promise((ended) => child.once('close', ended))
      expect({ out, status }).toEqual({ out: `up\nreceived ${name}\n`, status: 5 })
    },
  )

  describe('at a gateway with only models that no rule chooses', async () => {
    const [entry] = builtInCatalog
    const models = ['up/one', 'up/two'].map((id) => ({ ...entry!, id }))
    const three = await withGateway({ key: keys.one, models })

    async function aHomeWithThree(): Promise<Home> {
      const home = await aHomeBetween('codex')
      const line = `opencode --name three --model up/one --base-url ${three.url} --yes`
      await runHere(home, line.split(' '), { REPOINT_API_KEY: keys.one })
      return home
    }

    test('uses the model of --model, before or after the name of the gateway', async () => {
      const home = await aHomeWithThree()
      const lines = ['--model up/two three claude', 'three --timeout 9 --model up/two -- claude']
      for (const line of [...lines, 'three --model=up/two claude'])
        expect((await started(home, [...line.split(' '), '-p'])).args.join(' ')).toMatch(
          /"model":"sonnet".*up\/two.* -p$|up\/two.* -p$/,
        )
    })

    test('uses the model of the last successful check if none is named', async () => {
      const home = await aHomeWithThree()
      const { args, stderr } = await started(home, ['three', 'codex', '--model', 'its-own'])
      expect(stderr).toContain('model up/one')
      expect(args.slice(-2)).toEqual(['--model', 'its-own'])
    })
  })

  test('--help after the name shows the help of run', async () => {
    const { status, stdout } = await runInProcess(sharedHome, ['run', 'two', '--help'])
    expect(status).toBe(0)
    expect(stdout).toContain('Usage: repoint run')
  })

  test.each([
    ['an unknown flag after the name', ['two', '--json'], 2, "Unknown option '--json'"],
    ['a key after the name', ['two', '--key', keys.one], 2, 'no key on the command line'],
    ['an empty model', ['two', '--model', '', 'other'], 2, 'the ID of a model'],
    ['a model with two lines', ['two', '--model', 'a\nb', 'other'], 2, 'is one line of at most'],
    [
      'a model of 201 characters',
      ['two', '--model', 'x'.repeat(201), 'other'],
      2,
      'is one line of at most',
    ],
    ['an unknown name', ['tow', 'other'], 2, 'Did you mean: repoint run two -- …'],
    ['a missing command', ['two', 'no-such-program'], 2, 'There is no command no-such-program'],
  ])('reports %s', async (_, args, status, words) => {
    const result = await runInProcess(sharedHome, ['run', ...args])
    expect(result.status).toBe(status)
    expect(result.stderr).toContain(words)
  })

  test('says that the gateway has no list of models, if no rule can choose one', async () => {
    const gateway = await aServer((request, response) =>
      request.method === 'GET'
        ? sendJson(response, 404, { detail: 'Not Found' })
        : goodGateway(request, response),
    )
    const { address } = accessTo(gateway)
    const env = { PATH: pathOf(sharedHome), REPOINT_API_KEY: keys.one }
    const words = ['run', '--base-url', address, '--', 'codex']
    const { status, stderr } = await runInProcess(aHome(), words, { env })
    expect(status).toBe(4)
    expect(stderr).toContain('If the gateway has no list, name a model: --model ID')
    expect(stderr).not.toContain('--no-verify')
  })

  test.each([['two'], ['--base-url', 'http://127.0.0.1:9']])(
    'recovers a run that was killed, before it starts a client with %s',
    async (...gateway) => {
      const home = await aHomeBetween('codex')
      const before = home.snapshot()
      killedBefore(home, '.codex/config.toml')
      expect(home.snapshot()).not.toEqual(before)

      let atStart: unknown
      const words = ['run', ...gateway, '--no-verify', '--model', 'gpt-5.4', '--', 'codex']
      const { status, stderr } = await runInProcess(home, words, {
        env: { PATH: pathOf(home), REPOINT_API_KEY: keys.one },
        runInForeground: async () => {
          atStart = home.snapshot()
          return { reason: 'exited', exitStatus: 0 }
        },
      })
      expect({ status, stderr }).toMatchObject({ status: 0 })
      expect(stderr).toContain('was interrupted, and repoint undid it')
      expect(atStart).toEqual(before)
    },
  )

  test('reports that the gateway rejects the key, before it starts anything', async () => {
    const home = await aHomeBetween('codex')
    const file = '.local/state/repoint/gateways.json'
    home.replace(file, keys.two, 'sk-old-0123456789abcdef')
    const env = { PATH: pathOf(home) }
    const starts: string[] = []
    const options = {
      env,
      runInForeground: async (command: string) => {
        starts.push(command)
        return { reason: 'exited', exitStatus: 0 } as const
      },
    }
    const rejected = await runInProcess(home, ['run', 'two', 'other'], options)
    expect({ starts, status: rejected.status }).toEqual({ starts: [], status: 3 })
    const unverified = await runInProcess(home, ['run', '--no-verify', 'two', 'other'], options)
    expect({ starts, status: unverified.status }).toEqual({ starts: ['other'], status: 0 })
  })
})

describe('codex at an address', () => {
  async function errorOutputAt(options: Omit<GatewayOptions, 'key'>): Promise<string> {
    const { url } = await withGateway({ key: keys.one, ...options }, onTestFinished)
    const home = aHome()
    home.put('bin/codex', '#!/bin/sh\necho codex-cli 0.169.0\n', 0o755)
    const { stderr } = await runInProcess(home, ['run', '--base-url', url, '--', 'codex'], {
      env: { REPOINT_API_KEY: keys.one, PATH: pathOf(home) },
    })
    return stderr
  }

  test('of a gateway that rejects everything is reported once', async () => {
    expect((await errorOutputAt({ faults: [{ status: 502 }] })).match(/HTTP 502/g)).toHaveLength(1)
  })

  test('of a gateway with an unknown window: the hint names the client', async () => {
    const stderr = await errorOutputAt({ models: ['gpt-6.2-sol'] })
    expect(stderr).toContain('repoint codex --context-window TOKENS')
  })
})
