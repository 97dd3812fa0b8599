import { chmodSync, rmSync, statSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { familyRows } from '../../src/clients/list.ts'
import { aServer, key as forgedKey, goodGateway, sendJson } from '../gateway/forged.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'
import { setUp, setUpOffline } from '../support/setup.ts'
import { askInProcess } from '../support/terminal.ts'

const canary = 'sk-canary-92a3b47f3a9b2c4d5e6f7081'

const gateway = await withGateway({ key: canary })

interface Check {
  readonly about: string
  readonly id: string
  readonly result: string
  readonly cure?: string
}

async function checksOf(home: Home, ...args: readonly string[]) {
  const { status, json } = await runHere(home, ['doctor', ...args])
  return { status, checks: json['checks'] as readonly Check[] }
}
const aCheck = (members: Partial<Check & { readonly message: string }>) =>
  expect.objectContaining(members)

test('doctor: a client of the messages protocol does not need the list of models', async () => {
  const faults = [{ route: 'models', error: 'overloaded' }] as const
  const listless = await withGateway({ key: canary, faults }, onTestFinished)
  const home = aHome()
  const env = { REPOINT_API_KEY: canary }
  const args = ['claude', '--base-url', listless.url, '--model', 'claude-sonnet-5-5', '--yes']
  expect((await runInProcess(home, args, { env })).status).toBe(0)

  expect(await checksOf(home, 'claude')).toEqual({
    status: 0,
    checks: expect.arrayContaining([
      aCheck({ id: 'network', result: 'ok' }),
      aCheck({ id: 'catalog', result: 'warning' }),
      aCheck({ id: 'probe', result: 'ok' }),
    ]),
  })
})

describe('repoint status', () => {
  test('in a fresh home, every client uses its own service', async () => {
    const { json, status } = await runInProcess(aHome(), ['status', '--json'])
    expect(status).toBe(0)
    expect(json).toMatchObject({
      command: 'status',
      clients: familyRows.map(({ id }) => ({ id, key: null })),
    })
    const { clients } = json as { clients: readonly { files: readonly { state: string }[] }[] }
    const states = clients.flatMap(({ files }) => files.map(({ state }) => state))
    expect(new Set(states)).toEqual(new Set(['absent']))
  })

  test('clients that are not installed share a line, unless they are named', async () => {
    const home = aHome({ '.claude/settings.json': '{"model":"opus"}' })
    await setUp(home, 'codex', gateway)
    const others = familyRows
      .filter(({ id }) => id !== 'codex' && id !== 'claude')
      .map(({ label }) => label)
    const linesOf = async (...args: string[]) => (await runInProcess(home, args)).stdout.split('\n')

    const status = await linesOf('status')
    expect(status).toEqual([
      `  CLIENT       GATEWAY                 MODEL        STATE`,
      `✔ Codex        ${gateway.url.padEnd(22)}  gpt-5.6-sol  ok`,
      `✔ Claude Code  its own service         opus         ok`,
      `Not installed: ${others.join(', ')}`,
      '',
    ])
    expect(await linesOf('status', 'kilo')).toEqual([
      'Its own service',
      '  ✔ Kilo  its default model',
      '          ~/.local/share/kilo/auth.json  does not exist',
      '          ~/.config/kilo/kilo.jsonc  does not exist',
      '',
    ])
    expect((await linesOf('status', '--all')).join('\n')).toContain('~/.claude/settings.json  not')

    const doctor = await linesOf('doctor', '--no-verify')
    expect(doctor.at(-2)).toBe(`Not installed: ${others.join(', ')}`)
    expect(doctor.join('\n')).not.toContain('✔ Kilo')
    expect(await linesOf('doctor', 'kilo', '--no-verify')).toEqual([
      'Its own service',
      '  ✔ Kilo  its default model',
      '          ✔ Kilo is not installed',
      '',
    ])
    const kilo = { about: 'kilo', result: 'ok' }
    expect((await checksOf(home, '--no-verify')).checks).toContainEqual({
      ...kilo,
      id: 'installed',
      message: 'Kilo is not installed',
    })
    expect((await checksOf(home, 'kilo')).checks).toContainEqual({
      ...kilo,
      id: 'gateway',
      message: 'Kilo uses its own service',
    })
  })

  test('reports the files as written after a setup, and as changed, with the keys, after an edit', async () => {
    const home = aHome()
    await setUp(home, 'codex', gateway)
    const codexNow = async () => {
      const { json } = await runHere(home, ['status'])
      return (json['clients'] as { id: string }[]).find(({ id }) => id === 'codex')
    }
    expect(await codexNow()).toMatchObject({
      baseUrl: gateway.url,
      key: `....${canary.slice(-4)}`,
      files: [{ state: 'as-written' }, { state: 'as-written' }],
    })
    home.replace('.codex/config.toml', 'sol', 'luna')
    expect(await codexNow()).toMatchObject({
      files: [{ state: 'as-written' }, { state: 'changed-since', changedKeys: ['model'] }],
    })
    // The model was chosen at the gateway, so it is undone together with the gateway.
    await runInProcess(home, ['rollback', '--yes'])
    const { stdout } = await runInProcess(home, ['status', 'codex'])
    expect(stdout).toContain('Its own service')
    expect(stdout).not.toContain('gpt-5.6')
  })

  test('names what overrides the files: the environment, and the line of a shell profile', async () => {
    const home = aHome({ '.bashrc': '# mine\nexport CODEX_API_KEY=sk-old-0123456789ab\n' })
    await setUp(home, 'codex', gateway)
    const env = { CODEX_API_KEY: 'sk-old-0123456789ab' }
    const overview = await runInProcess(home, ['status'], { env })
    expect(overview.stdout).toMatch(/^. Codex .* 2 settings override it$/m)
    expect(overview.stdout).toMatch(/^Details: repoint status codex$/m)
    expect(overview.stdout).not.toContain('.bashrc')

    const { stdout } = await runInProcess(home, ['status', 'codex'], { env })
    expect(stdout.match(/settings override your gateway/g)).toHaveLength(1)
    expect(stdout).toContain('~/.bashrc:2')
    expect(stdout).toContain('environment')
    expect(stdout).not.toContain('sk-old-0123456789ab')
  })

  test('names the tool whose placeholder is written instead of a key', async () => {
    const env = { ANTHROPIC_AUTH_TOKEN: 'PROXY_MANAGED', ANTHROPIC_BASE_URL: gateway.url }
    const home = aHome({ '.claude/settings.json': JSON.stringify({ env }) })
    const { stdout } = await runInProcess(home, ['status', 'claude'])
    expect(stdout).toContain('cc-switch replaced the key')
  })

  test('names the file of each value, also if files are merged', async () => {
    const home = aHome({
      '.config/opencode/config.json': '{"small_model":"gateway/mine"}',
      '.config/opencode/opencode.json':
        '{"model":"gateway/big","provider":{"gateway":{"options":{"baseURL":"https://gw.example/v1"}}}}',
    })
    const { stdout } = await runInProcess(home, ['status', 'opencode'])
    expect(stdout).toContain('address   https://gw.example in ~/.config/opencode/opencode.json')
    expect(stdout).toContain('big over chat in ~/.config/opencode/opencode.json')
    expect(stdout).toContain('mine in ~/.config/opencode/config.json')
  })

  test('a file with invalid TOML does not mean that the client uses its own service', async () => {
    const home = aHome({ '.codex/config.toml': '[[[' })
    const { stdout, status } = await runInProcess(home, ['status'])
    expect(stdout).toMatch(/^✗ Codex +\? .*not readable$/m)
    expect(status).toBe(8)
    expect((await runInProcess(home, ['status', 'codex'])).stdout).toContain('line 1')
    expect((await checksOf(home, 'codex')).checks).not.toContainEqual(aCheck({ id: 'gateway' }))
  })

  test('sends no request', async () => {
    const home = aHome()
    await setUp(home, 'codex', gateway)
    const seen = gateway.requests().length
    await runInProcess(home, ['status'])
    expect(gateway.requests().length).toBe(seen)
  })
})

test.each(['status --all', 'doctor'])(
  '%s reports the other clients if one cannot be read',
  async (command) => {
    const home = aHome({ '.codex/config.toml/a-folder': '' })
    await setUp(home, 'claude', gateway)
    const { stdout } = await runInProcess(home, command.split(' '))
    expect(stdout).toContain('.codex/config.toml')
    expect(stdout).toContain(gateway.url)
  },
)

describe('repoint doctor', () => {
  test('a correct setup passes every check: status 0', async () => {
    const home = aHome()
    await setUp(home, 'codex', gateway)
    const { checks, status } = await checksOf(home, 'codex')
    const right = { about: 'codex', result: 'ok', message: expect.any(String) }
    const message = `${new URL(gateway.url).host} answers`
    expect(checks).toEqual(
      expect.arrayContaining([
        { ...right, id: 'catalog' },
        { ...right, id: 'probe' },
        { ...right, id: 'network', message },
      ]),
    )
    expect(checks.map(({ id }) => id)).not.toContain('protocol')
    expect(status).toBe(0)
  })

  test.each<[string, string, string, string, RegExp]>([
    ['opencode', '.local/share/opencode/auth.json', '{broken', 'auth-unreadable', /Fix the file/],
    ['opencode', '.local/share/opencode/auth.json', '{"a":1,}', 'auth-unreadable', /commas/],
    ['opencode', '.local/share/opencode/auth.json', '{}', 'no-key', /repoint opencode/],
    ['codex', '.codex/auth.json', '{broken', 'auth-unreadable', /repoint codex/],
    ['codex', '.codex/auth.json', '{"tokens":{}}', 'login', /repoint codex/],
  ])(
    '%s without a key in %s (%s) has one problem, with its cure',
    async (client, file, text, code, cure) => {
      const home = aHome()
      await setUp(home, client, gateway)
      home.put(file, text)
      const { checks, status } = await checksOf(home, client)
      const problems = checks.filter(({ result }) => result === 'problem')
      expect(problems.map(({ id }) => id)).toEqual([`${client}-${code}`])
      expect(checks.map(({ id }) => id)).not.toContain('gateway')
      expect(problems[0]!.cure).toMatch(cure)
      expect(status).toBe(8)
    },
  )

  test.each([
    ['auth = { command = "pass" }', 'a key that repoint cannot see'],
    ['', 'no key'],
  ])('a provider with %j is not asked: Codex sends it %s', async (line, key) => {
    const config = `model_provider = "x"\n[model_providers.x]\nname = "X"\nbase_url = "${gateway.url}/v1"\n${line}\n`
    const home = aHome({ '.codex/config.toml': config })
    const message = expect.stringContaining(`sends ${key} to`)
    expect((await checksOf(home, 'codex')).checks).toContainEqual(
      aCheck({ id: 'gateway', message }),
    )
  })

  test.each([
    ['a setup of repoint', true, /^repoint key /],
    ['settings by hand', false, /^repoint claude --base-url /],
  ])('the cure for a rejected key of %s is a command that works', async (_, isOurs, cure) => {
    const home = aHome()
    await setUp(home, 'claude', gateway)
    const file = '.claude/settings.json'
    home.replace(file, canary, 'sk-other-0123456789abcdef')
    if (!isOurs) rmSync(home.at('.local/state/repoint'), { recursive: true })
    expect((await checksOf(home, 'claude')).checks).toContainEqual(
      aCheck({ id: 'key-rejected', cure: expect.stringMatching(cure) }),
    )
  })

  test.each([
    [-10, '10 minutes ahead of'],
    [10, '10 minutes behind'],
    [4, undefined],
  ])(
    'a gateway whose clock differs by %i minutes: this machine is %s it',
    async (minutes, words) => {
      const { port } = await aServer((_, response) => {
        response.setHeader('date', new Date(Date.now() + minutes * 60_000).toUTCString())
        sendJson(response, 200, { data: [{ id: 'gpt-5.6-sol' }] })
      })
      const home = aHome()
      await setUpOffline(home, 'codex', { ...gateway, url: `http://127.0.0.1:${port}` })
      const { checks } = await checksOf(home, 'codex')
      expect(checks.filter(({ id }) => id === 'clock')).toEqual(
        words === undefined
          ? []
          : [
              aCheck({
                about: 'machine',
                message: expect.stringContaining(words),
                cure: 'Set the clock.',
              }),
            ],
      )
    },
  )

  test('a missing key at a server of this machine is a problem of Claude Code', async () => {
    const home = aHome({
      '.claude/settings.json': `{"env":{"ANTHROPIC_BASE_URL":"${gateway.url}"}}`,
    })
    expect((await checksOf(home, 'claude')).checks).toContainEqual(aCheck({ id: 'claude-no-key' }))
  })

  test('the cure for an unreachable gateway names the commands for another address and for none', async () => {
    const home = aHome()
    await setUpOffline(home, 'codex', { ...gateway, url: 'http://127.0.0.1:1' })
    const { stdout, status } = await runInProcess(home, ['doctor', 'codex'])
    expect(status).toBe(6)
    expect(stdout).toMatch(
      /Start the program that listened there, .*: repoint codex --base-url URL, .*: repoint off codex\n/,
    )
  })

  test('a secret that others may read is a problem, with its cure', async () => {
    const home = aHome()
    await setUp(home, 'codex', gateway)
    chmodSync(home.at('.codex/auth.json'), 0o644)
    const { stdout, status } = await runInProcess(home, ['doctor', 'codex', '--no-verify'])
    expect(status).toBe(8)
    expect(stdout).toMatch(/✗ Codex(?:.|\n)*auth\.json.*644\)\n +→ chmod 600/)
  })

  test.each([
    ['codex', '.codex/auth.json', ''],
    ['claude', '.claude/settings.json', ''],
    ['opencode', '.local/share/opencode/auth.json', ''],
    ['codex', '.codex/auth.json', 'cli_auth_credentials_store = "keyring"\n'],
  ])(
    '--fix closes a secret of %s in %s to others, and rollback opens it again %s',
    async (client, file, broken) => {
      const home = aHome()
      await setUp(home, client, gateway)
      if (broken) home.put('.codex/config.toml', broken + home.text('.codex/config.toml'))
      chmodSync(home.at(file), 0o644)
      const open = home.snapshot()
      const fixed = await runInProcess(home, ['doctor', client, '--fix', '--no-verify', '--json'])
      expect(fixed).toMatchObject({ status: 0, json: { changed: true } })
      expect(statSync(home.at(file)).mode & 0o777).toBe(0o600)
      const closed = home.snapshot()
      const again = await runInProcess(home, ['doctor', client, '--fix', '--no-verify', '--json'])
      expect(again.json).toMatchObject({ changed: false, run: null })
      const back = await runInProcess(home, ['rollback', '--yes'])
      expect(back.stdout).toContain('mode: 0644')
      expect(home.snapshot()).toEqual(open)
      await runInProcess(home, ['rollback', '--yes', '--redo'])
      expect(home.snapshot()).toEqual(closed)
    },
  )

  test.each([
    ['codex', '.codex/config.toml'],
    ['opencode', '.config/opencode/opencode.json'],
  ])('a missing /v1 in the files of %s is a problem that --fix cures', async (client, file) => {
    const home = aHome()
    await setUp(home, client, gateway)
    const right = home.text(file)
    home.put(file, right.replace(`${gateway.url}/v1`, gateway.url))
    const { checks, status } = await checksOf(home, client)
    expect(checks).toContainEqual(aCheck({ id: `${client}-base-url-version`, result: 'problem' }))
    expect(status).toBe(8)
    expect((await runInProcess(home, ['doctor', client, '--fix'])).status).toBe(0)
    expect(home.text(file)).toBe(right)
  })

  test('status reports the same checks, as far as they need no network', async () => {
    const home = aHome()
    await setUp(home, 'codex', gateway)
    chmodSync(home.at('.codex/auth.json'), 0o644)
    const { stdout } = await runInProcess(home, ['status', 'codex'])
    expect(stdout).toMatch(/^ {2}✗ Codex/m)
    expect(stdout).toMatch(/^ +Other users can read ~\/\.codex\/auth\.json/m)
    expect(stdout).toMatch(/^ +→ chmod 600 /m)
  })

  test('--fix says what was wrong, and which command undoes the repair', async () => {
    const home = aHome()
    await setUp(home, 'claude', gateway)
    const settings = JSON.parse(home.text('.claude/settings.json'))
    settings.env.ANTHROPIC_BASE_URL += '/v1'
    home.put('.claude/settings.json', JSON.stringify(settings), 0o644)

    const words = ['doctor', 'claude', '--fix', '--no-verify']
    const { status, stdout } = await runInProcess(home, words)
    expect(status).toBe(0)
    expect(stdout).toMatch(/^Will fix:$/m)
    expect(stdout).toMatch(/^ {2}~\/\.claude\/settings\.json \(will be updated\)\n {4}~ env\.ANTH/m)
    expect(stdout).toMatch(/^✔ Fixed\. Undo: repoint rollback$/m)
    expect(stdout).toMatch(/^ {2}claude: ANTHROPIC_BASE_URL ends in \/v1, .*settings\.json/m)
    expect(stdout).toMatch(/^ {2}claude: Other users could read ~\/\.claude\/settings\.json$/m)
    expect((await runHere(home, words)).json).toMatchObject({ changed: false, fixed: [] })
  })

  test('--fix --dry-run shows the repairs, and changes nothing', async () => {
    const home = aHome()
    await setUp(home, 'codex', gateway)
    chmodSync(home.at('.codex/auth.json'), 0o644)
    const before = home.snapshot()
    const args = ['doctor', 'codex', '--fix', '--dry-run', '--no-verify']
    const { status, stdout } = await runInProcess(home, args)
    expect(status).toBe(8)
    expect(stdout).toContain('Will fix:\n  codex: Other users could read ~/.codex/auth.json')
    expect(stdout).toContain('Dry run: nothing changed.\n')
    expect((await runInProcess(home, [...args, '--json'])).json).toMatchObject({
      changed: false,
      dryRun: true,
      run: null,
      files: [{ changes: ['~ mode: 0600'] }],
      checks: expect.arrayContaining([aCheck({ id: 'private' })]),
    })
    expect(home.snapshot()).toEqual(before)
  })

  test('--fix --dry-run names the question that --fix would ask', async () => {
    const home = aHome()
    await setUp(home, 'codex', gateway)
    home.replace('.codex/config.toml', 'sol', 'luna')
    const args = ['doctor', 'codex', '--fix', '--dry-run', '--no-verify']
    const { stdout } = await runInProcess(home, args)
    expect(stdout).toContain('Would ask before it fixes:\n  Codex: model ')
    expect(stdout).toContain('Dry run: nothing changed.\n')
    expect((await runInProcess(home, [...args, '--yes'])).stdout).not.toContain('Would ask')
  })

  test('--fix without consent fixes nothing that it would ask about, and its cure stays', async () => {
    const home = aHome()
    await setUp(home, 'codex', gateway)
    home.replace('.codex/config.toml', 'sol', 'luna')
    const before = home.snapshot()
    const { stdout } = await runInProcess(home, ['doctor', 'codex', '--fix', '--no-verify'])
    expect(stdout).not.toMatch(/Would ask|Fixed/)
    expect(home.snapshot()).toEqual(before)

    expect(stdout).toContain('repoint doctor codex --fix --yes')
  })

  test('a problem that --fix would ask about keeps its cure, if --fix could not ask', async () => {
    const home = aHome()
    await setUp(home, 'claude', gateway)
    home.put('.claude/settings.json', `// Mine.\n${home.text('.claude/settings.json')}`)
    expect((await checksOf(home, 'claude', '--fix', '--no-verify')).checks).toContainEqual(
      aCheck({ cure: expect.stringContaining('repoint doctor claude --fix --yes') }),
    )
  })

  test('on a terminal, --fix asks about each change of the user, and once about the safe fixes', async () => {
    const home = aHome()
    await setUp(home, 'codex', gateway)
    const questionsOf = async () => {
      const questions: string[] = []
      const confirm = async ({ message }: { message: string }) => {
        questions.push(message)
        return true
      }
      await runInProcess(home, ['doctor', 'codex', '--fix', '--no-verify'], { ask: { confirm } })
      return questions
    }
    home.replace('.codex/config.toml', 'sol', 'luna')
    expect(await questionsOf()).toEqual(['Restore the setup?'])
    chmodSync(home.at('.codex/auth.json'), 0o644)
    expect(await questionsOf()).toEqual(['Apply these fixes?'])
    expect(await questionsOf()).toEqual([])
  })

  test('a gateway and its problem are reported once for all its clients', async () => {
    const secondGateway = await withGateway({ key: canary }, onTestFinished)
    const home = aHome()
    await setUp(home, 'setup codex claude --name work', secondGateway)
    const right = (await runInProcess(home, ['doctor'])).stdout
    expect(right.split('\n')[0]).toMatch(/^http\S+ \(work\) {2}answers, takes the key, \d+ models$/)
    expect(right).toMatch(/^ {2}! Codex {8}gpt-5\.6-sol answers, with tools$/m)
    expect(right.match(/takes the key/g)).toHaveLength(1)
    expect(right).not.toContain('auth.json')
    expect((await runInProcess(home, ['doctor', '--all'])).stdout).toContain('auth.json is private')

    await secondGateway.close()
    const doctor = await runInProcess(home, ['doctor'])
    expect(doctor.status).toBe(6)
    expect(doctor.stdout.match(/Nothing listens/g)).toHaveLength(1)
    expect(doctor.stdout).toMatch(/^ {2}✗ Codex {8}gpt-5\.6-sol$/m)
    const { checks } = await checksOf(home)
    expect(checks.filter(({ id }) => id === 'refused').map(({ about }) => about)).toEqual([
      'codex',
      'claude',
    ])
    expect(checks.map(({ id }) => id)).not.toContain('network')
    const members = Object.keys(checks.find(({ id }) => id === 'refused')!)
    expect(members.sort()).toEqual(['about', 'cure', 'id', 'message', 'result'])
  })

  test.each(['status codex', 'doctor'])(
    '%s says who changed what, and names one command',
    async (name) => {
      const home = aHome()
      await setUp(home, 'codex', gateway)
      home.replace('.codex/config.toml', 'sol', 'luna')
      const { stdout } = await runInProcess(home, name.split(' '))
      expect(stdout).toMatch(/^ *! Codex {2}.*changed manually$/m)
      expect(stdout).toContain('Codex: model gpt-5.6-luna (repoint set ')
      expect(stdout).toContain('→ Restore the setup: repoint doctor codex --fix --yes.')
    },
  )

  test.each([60, 80])(
    'with %i columns, no line is longer and no word is broken',
    async (columns) => {
      const home = aHome()
      await setUp(home, 'codex', gateway)
      chmodSync(home.at('.codex/auth.json'), 0o644)
      const terminal = askInProcess(home, ['status', 'codex'], {
        columns,
        env: { TERM: 'dumb', NO_COLOR: '1' },
      })
      expect(await terminal.ended).toBe(8)
      const lines = terminal.screen().split(/\r?\n/)
      for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(columns)
      expect(terminal.raw()).not.toContain('\x1b[3')
      expect(lines.join(' ').replace(/ +/g, ' ')).toContain('→ chmod 600 ~/.codex/auth.json')
    },
  )
})

test('doctor names the closest models of the catalog', async () => {
  const faults = [{ route: 'responses', error: 'model-unknown' }] as const
  const { url, key } = await withGateway({ key: canary, faults }, onTestFinished)
  const home = aHome()
  const setup = ['codex', '--base-url', url, '--model', 'gpt-5.6-sol', '--no-verify', '--yes']
  await runHere(home, setup, { REPOINT_API_KEY: key! })
  const { status, checks } = await checksOf(home, 'codex')
  expect(status).toBe(5)
  expect(checks).toContainEqual(
    aCheck({
      id: 'model-unknown',
      message: expect.stringContaining('although it lists it'),
      cure: expect.stringMatching(/--model gpt-\S+, or --model /),
    }),
  )
  const ids = checks.map(({ id }) => id).filter((id) => id === 'network' || id === 'catalog')
  expect(ids).toEqual(['network', 'catalog'])
})

test.each([
  ['once what fails both alike', 500, { error: 'oops' }, ['gateway-fault']],
  ['both failures', 503, { error: { code: 'model_not_found' } }, ['catalog', 'model-unknown']],
])(
  'if the list of models fails and then the first request, doctor reports %s',
  async (_, status, body, expected) => {
    const { port } = await aServer(({ method }, response) =>
      method === 'GET'
        ? sendJson(response, 500, { error: 'oops' })
        : sendJson(response, status, body),
    )
    const home = aHome()
    await setUpOffline(home, 'codex', { ...gateway, url: `http://127.0.0.1:${port}` })
    const ids = (await checksOf(home, 'codex')).checks.map(({ id }) => id)
    expect(ids.filter((id) => /catalog|gateway-fault|model-unknown/.test(id))).toEqual(expected)
  },
)

test('doctor says that a model answers although the gateway does not list it', async () => {
  const server = await aServer((request, response) =>
    request.method === 'GET'
      ? sendJson(response, 200, { data: [{ id: 'gpt-5.4' }] })
      : goodGateway(request, response),
  )
  const home = aHome()
  await setUpOffline(home, 'codex', { key: forgedKey, url: `http://127.0.0.1:${server.port}` })
  const message =
    'gpt-5.6-sol answers over the responses protocol, although the gateway does not list it'
  expect((await checksOf(home, 'codex')).checks).toContainEqual(aCheck({ id: 'probe', message }))
})

test('a list of saved gateways that is damaged is reported, and the cure works', async () => {
  const home = aHome()
  home.put('.local/state/repoint/gateways.json', '{')
  chmodSync(home.at('.local/state/repoint'), 0o700)
  for (const args of [['status'], ['doctor', '--no-verify']]) {
    const { status, stdout, stderr } = await runInProcess(home, args)
    expect(status).toBe(0)
    expect(stdout + stderr).toContain('Cannot read the list of')
  }
  expect((await runInProcess(home, ['forget', '--all', '--yes'])).status).toBe(0)
  expect((await runInProcess(home, ['doctor', '--no-verify'])).stdout).not.toContain('Cannot read')
})
