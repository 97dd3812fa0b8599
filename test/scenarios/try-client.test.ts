import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { aServer } from '../gateway/forged.ts'
import { runCli } from '../support/cli.ts'
import { cancel } from '../support/dialogue.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { keys, runOnTerminal } from '../support/terminal.ts'

const canary = 'sk-canary-708192a3b47f3a9b2c4d5e6f'

const gateway = await withGateway({ key: canary })

/** A home with a `codex` that is a shell script. test/clients tries real clients. */
function withCodex(script: string): Home {
  const home = aHome()
  home.put('bin/codex', `#!/bin/sh\n${script}\n`, 0o755)
  return home
}

/** What repoint gets: a key, and the programs of the home. */
function environment(home: Home): Record<string, string> {
  return { REPOINT_API_KEY: canary, PATH: `${home.at('bin')}:${process.env['PATH']}` }
}

/** Sets clients up, and tries them. */
function tryClients(
  home: Home,
  clients: string,
  { env, cwd }: { env?: Record<string, string>; cwd?: string } = {},
) {
  const flags = ['--base-url', gateway.url, '--yes', '--json', '--try-client']
  return runInProcess(home, [...clients.split(' '), ...flags], {
    env: { ...environment(home), ...env },
    cwd,
  })
}

/** Waits until a program has written its pid. */
async function pidIn(home: Home): Promise<number> {
  const pid = () => (existsSync(home.at('pid')) ? Number(home.text('pid')) : 0)
  while (pid() === 0) await new Promise((settle) => setTimeout(settle, 20))
  return pid()
}

const tryCodex = (home: Home) => tryClients(home, 'codex')

test('--try-client: reports the answer of the client to the prompt ping', async () => {
  const { json, status } = await tryCodex(withCodex('echo "heard: $*"'))
  expect(json).toMatchObject({
    changed: true,
    tried: [
      {
        client: 'codex',
        ok: true,
        seconds: expect.any(Number),
        said: expect.stringMatching(/^heard: exec .*ping$/),
      },
    ],
  })
  expect(status).toBe(0)
})

test('--try-client: fails if the client sends another key first, whatever it answers', async () => {
  const asking = (key: string) =>
    `${process.execPath} -e "fetch('${gateway.url}/v1/models', {headers: {authorization: 'Bearer ${key}'}})"`
  const right = await tryCodex(withCodex(`${asking(canary)} && echo pong`))
  expect(right).toMatchObject({ status: 0, json: { tried: [{ said: 'pong' }] } })

  const script = `${asking('sk-saved-login')} && ${asking(canary)} && echo pong`
  const { json, status, stdout } = await tryCodex(withCodex(script))
  expect({ json, status }).toMatchObject({
    status: 8,
    json: {
      error: { code: 'client-failed', message: expect.stringContaining('sent another key') },
    },
  })
  expect(stdout).not.toContain('sk-saved-login')
})

test('--try-client: the client runs in an empty folder of ours, which is removed afterwards', async () => {
  const home = withCodex('echo "$(stat -c %a .) $(ls -A | wc -l) $PWD $(pwd -P)"; touch left')
  const project = home.at('project')
  home.put('project/opencode.json', '{"provider": {}}')
  const { json } = await tryClients(home, 'codex', { cwd: project, env: { PWD: project } })
  const { said } = (json as { tried: { said: string }[] }).tried[0]!
  const [mode, entries, pwd, folder] = said.split(' ')
  expect([mode, entries]).toEqual(['700', '0'])
  expect(pwd).toBe(folder)
  expect(folder).toContain(home.at('.local/state/repoint/'))
  expect(existsSync(folder!)).toBe(false)
  expect((await runInProcess(home, ['rollback', '--yes', '--json'])).json).toMatchObject({
    changed: true,
  })
})

test('repoint asks a client for its version in the home, not in a project', async () => {
  const home = withCodex('pwd > "$HOME/where"; echo 0.169.0')
  home.put('project/opencode.json', '{"provider": {}}')
  await runCli(home, ['doctor', '--no-verify'], {
    cwd: home.at('project'),
    env: { PATH: `${home.at('bin')}:${process.env['PATH']}` },
  })
  expect(home.text('where')).toBe(`${home.path}\n`)
})

test('--try-client: Ctrl-C ends the client too, and the error describes the state of the files', async () => {
  const home = withCodex('[ "$1" = exec ] && { echo $$ > "$HOME/pid"; exec sleep 60; }')
  const run = runOnTerminal(home, ['codex', '--base-url', gateway.url, '--yes', '--try-client'], {
    env: environment(home),
  })
  await run.shows('Trying Codex')
  const pid = await pidIn(home)
  await cancel(run)
  expect(run.screen()).toContain('The files were changed')
  expect(() => process.kill(pid, 0)).toThrow()
  expect(readdirSync(home.at('.local/state/repoint')).join(' ')).not.toContain('.try-')
})

const printsConfiguration = '{"mcp":{"env":{"DB":"other-secret-01"}}} is invalid'
const printsJson =
  'ERROR: {"type":"error","error":{"message":"The \\"window\\" is full"},"env":"other-secret-01"}'

test.each<[string, string, unknown]>([
  [
    'its last words',
    'echo "stream error: 401 Invalid token" >&2',
    expect.stringContaining('stream error: 401 Invalid token'),
  ],
  [
    'the last line in which it reports an error',
    'echo "error: not logged in"; echo "Good bye"',
    expect.stringContaining('failed with status 1: error: not logged in'),
  ],
  [
    'the message that it prints as JSON',
    `echo '${printsJson}' >&2`,
    'Codex failed with status 1: The "window" is full',
  ],
  [
    'nothing of the configuration that it prints',
    `echo '${printsConfiguration}'`,
    expect.any(String),
  ],
])(
  '--try-client: the error of a client that fails has %s, and says that the files were changed',
  async (_, script, message) => {
    const { status, json, stdout } = await tryCodex(withCodex(`${script}; exit 1`))
    const error = { code: 'client-failed', message, filesChanged: true }
    expect({ status, json }).toMatchObject({ status: 8, json: { error } })
    expect(stdout).not.toContain('other-secret-01')
  },
)

test('--try-client: the failure of one client is in the document with the answers of the others', async () => {
  const home = withCodex('echo pong')
  home.put('bin/claude', '#!/bin/sh\necho "API Error: 401 invalid x-api-key" >&2; exit 1\n', 0o755)
  const { json, status } = await tryClients(home, 'setup codex claude')
  expect({ status, json }).toMatchObject({
    status: 8,
    json: {
      error: { code: 'client-failed', filesChanged: true },
      tried: [
        { client: 'codex', ok: true, said: 'pong' },
        { client: 'claude', ok: false, said: expect.stringContaining('401 invalid x-api-key') },
      ],
    },
  })
})

describe('after a setup on a terminal', () => {
  const onTerminal = (home: Home, words: readonly string[], env: Record<string, string> = {}) =>
    runOnTerminal(home, [...words, '--yes'], { env: { ...environment(home), ...env } })
  const codex = ['codex', '--base-url', gateway.url]
  const isPing = '[ "$1" = exec ] &&'

  test('the changed clients answer one word, at a price that is named before', async () => {
    const home = withCodex(`${isPing} echo pong || echo 0.171.0`)
    const run = onTerminal(home, codex)
    expect(await run.ended).toBe(0)
    const screen = run.screen()
    const order = [
      'Done. Undo: repoint rollback',
      'Trying Codex',
      'Codex answers: pong',
      'Now run: codex',
    ]
    expect(
      order
        .map((text) => screen.indexOf(text))
        .every((at, index, all) => at > (all[index - 1] ?? 0)),
    ).toBe(true)
    expect(screen.replace(/\s+/g, ' ')).toContain('one word, about 11,400 tokens. Ctrl-C skips.')

    // Nothing changes, so nothing is tried.
    const again = onTerminal(home, codex)
    expect(await again.ended).toBe(0)
    expect(again.screen()).not.toContain('Trying')
  })

  test('a failure shows the words of the client, then the cause, and the setup stays', async () => {
    const home = withCodex(
      `${isPing} { echo "stream error: 401 Invalid token" >&2; exit 1; }; echo 0.171.0`,
    )
    const run = onTerminal(home, codex, { CODEX_ACCESS_TOKEN: 'someone' })
    expect(await run.ended).toBe(0)
    const screen = run.screen().replace(/\s+/g, ' ')
    expect(screen).toMatch(
      /✗ Codex failed with status 1: stream error: 401 Invalid token \(\d+ s\) CODEX_ACCESS_TOKEN/,
    )
    expect(home.text('.codex/config.toml')).toContain(gateway.url)
  })

  test('doctor --try-client starts the clients that use a gateway, and a failure is an error', async () => {
    const home = withCodex(`${isPing} exit 1; echo 0.171.0`)
    const env = environment(home)
    expect(await onTerminal(home, [...codex, '--no-try-client']).ended).toBe(0)
    const checked = await runInProcess(home, ['doctor', '--json'], { env })
    expect([checked.status, checked.json]).toEqual([
      0,
      expect.not.objectContaining({ tried: expect.anything() }),
    ])

    const tried = await runInProcess(home, ['doctor', '--json', '--try-client'], { env })
    expect(tried).toMatchObject({ status: 8, json: { tried: [{ client: 'codex', ok: false }] } })
  })

  test('Ctrl-C skips it, ends the client, and leaves the setup', async () => {
    const home = withCodex(`${isPing} { echo $$ > "$HOME/pid"; exec sleep 60; }; echo 0.171.0`)
    const run = onTerminal(home, codex)
    await run.shows('Trying Codex')
    const pid = await pidIn(home)
    run.type(keys.ctrlC)
    expect(await run.ended).toBe(0)
    expect(run.screen()).toContain('Skipped. The setup stays.')
    expect(() => process.kill(pid, 0)).toThrow()
  })

  test.each([['--no-try-client'], ['--no-verify --model gpt-5.6-sol'], ['--dry-run']])(
    '%s starts nothing',
    async (flag) => {
      const home = withCodex(`${isPing} touch "$HOME/started"; echo 0.171.0`)
      const run = onTerminal(home, [...codex, ...flag.split(' ')])
      expect(await run.ended).toBe(0)
      expect(existsSync(home.at('started'))).toBe(false)
    },
  )

  test('key and use try the clients, too; a slow client only on request', async () => {
    const home = withCodex(`${isPing} echo pong || echo 0.171.0`)
    home.put(
      'bin/kilo',
      '#!/bin/sh\n[ "$1" = run ] && touch "$HOME/kilo-started"; echo 7.8.9\n',
      0o755,
    )
    const words = ['setup', 'codex', 'kilo', '--base-url', gateway.url, '--no-try-client']
    expect(await onTerminal(home, words).ended).toBe(0)
    const other = await withGateway({ key: 'sk-canary-other-51b47f3a9b2c4d5e6f' })
    const added = await runCli(home, ['gateways', 'add', other.url, '--name', 'other'], {
      env: { REPOINT_API_KEY: 'sk-canary-other-51b47f3a9b2c4d5e6f' },
    })
    expect(added.status).toBe(0)

    const used = onTerminal(home, ['use', 'other'])
    expect(await used.ended).toBe(0)
    expect(used.screen()).toContain('Codex answers: pong')
    expect(existsSync(home.at('kilo-started'))).toBe(false)
  })
})

test('--try-client: names the price of all clients that it starts', async () => {
  const home = withCodex('echo pong')
  home.put('bin/claude', '#!/bin/sh\necho pong\n', 0o755)
  const words = ['setup', 'codex', 'claude', '--base-url', gateway.url, '--yes', '--try-client']
  const { stderr } = await runInProcess(home, words, { env: environment(home) })
  expect(stderr.replace(/\s+/g, ' ')).toMatch(
    /Trying Codex and Claude Code: one word each, about [\d,]+ tokens/,
  )
})

test('--try-client: starts a client with the variables of a single word', async () => {
  const home = aHome()
  home.put(
    'bin/pi',
    '#!/bin/sh\n[ "$1" = --version ] && echo 1.5.2 || echo "offline: $PI_OFFLINE"\n',
    0o755,
  )
  const { json } = await tryClients(home, 'pi')
  expect(json).toMatchObject({ tried: [{ client: 'pi', said: 'offline: 1' }] })
})

test('--try-client: the key is not in the client’s environment', async () => {
  const home = withCodex('env; echo done')
  const { stdout } = await tryCodex(home)
  expect(stdout).toContain('done')
  expect(stdout).not.toContain('REPOINT_API_KEY')
})

describe('a gateway that rejects the request of repoint', () => {
  const onlyClients = {
    status: 403,
    message: 'This plan is currently only available for Coding Agents such as Codex.',
  }

  async function setUpAt(
    home: Home,
    { status, message } = onlyClients,
    given: Record<string, string> = {},
  ) {
    const { port, seen } = await aServer(({ method }, response) => {
      const list = { data: [{ id: 'gpt-5.6-sol' }] }
      response.writeHead(method === 'GET' ? 200 : status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(method === 'GET' ? list : { error: { message } }))
    })
    const url = `http://127.0.0.1:${port}`
    const words = ['codex', '--base-url', url, '--yes', '--json']
    const env = { ...environment(home), ...given }
    return { ...(await runInProcess(home, words, { env })), url, seen }
  }

  async function gatewaysIn(home: Home) {
    return (await runInProcess(home, ['gateways', '--json'])).json
  }

  test('is checked with the installed client, without a flag and before anything is written', async () => {
    const home = withCodex(
      'ls -A "$HOME" > "$PWD/../../../../../asked"; echo "$HOME $PWD" >> "$PWD/../../../../../asked"; echo pong',
    )
    const { status, json, seen, url } = await setUpAt(home)
    expect({ status, json }).toMatchObject({
      status: 0,
      json: { changed: true, verified: { before: true, after: true } },
    })
    expect((json as { warnings: { code: string }[] }).warnings).toContainEqual(
      expect.objectContaining({ code: 'proven-by-client' }),
    )
    expect(seen.filter(({ method }) => method === 'POST')).toHaveLength(1)
    expect(await gatewaysIn(home)).toMatchObject({ gateways: [{ baseUrl: url, proven: null }] })

    const [place = ''] = home.text('asked').trim().split('\n').slice(-1)
    const [itsHome = '', folder = ''] = place.split(' ')
    for (const path of [itsHome, folder]) {
      expect(path).toContain(home.at('.local/state/repoint/.try-'))
      expect(existsSync(path)).toBe(false)
    }
  })

  test.each([
    ['a part of the request', { status: 400, message: "Unsupported parameter: 'reasoning'" }],
    ['tools', { status: 400, message: 'This model does not support tools' }],
    ['a request without words', { status: 400, message: 'invalid request' }],
    ['the protocol', { status: 400, message: 'The responses API is not supported for this model' }],
  ])('is judged by the installed client if it rejects %s', async (_what, rejection) => {
    const answering = await setUpAt(withCodex('echo pong'), rejection)
    expect(answering).toMatchObject({ status: 0, json: { changed: true } })
    expect((answering.json as { warnings: unknown }).warnings).toContainEqual(
      expect.objectContaining({
        code: 'proven-by-client',
        message: expect.stringMatching(/^Codex itself gets answers/),
      }),
    )
    const rejected = await setUpAt(withCodex('echo "error 400 Bad Request" >&2; exit 1'), rejection)
    expect(rejected).toMatchObject({
      status: 5,
      json: {
        error: { message: expect.stringContaining('Codex itself failed with status 1: error 400') },
      },
    })
    const failing = await setUpAt(withCodex('echo "error: not logged in" >&2; exit 1'), rejection)
    expect(failing).toMatchObject({
      status: 5,
      json: { error: { message: expect.stringContaining('not logged in, which decides nothing') } },
    })
  })

  test.each([
    ['key', { status: 401, message: 'Invalid API key' }],
    ['account', { status: 402, message: 'Insufficient balance' }],
    ['model', { status: 404, message: 'The model does not exist' }],
  ])('needs no client to say that it is the %s', async (_what, rejection) => {
    const home = withCodex('[ "$1" = exec ] && touch "$PWD/../../../../../asked"; echo 0.171.0')
    await setUpAt(home, rejection)
    expect(existsSync(home.at('asked'))).toBe(false)
  })

  test('asks the client in a home that no variable of the user replaces', async () => {
    const home = withCodex(
      'case "$*" in *exec*) env > "$PWD/../../../../../env" ;; esac; echo pong',
    )
    home.put('own/config.toml', '# mine\n')
    const env = { CODEX_HOME: home.at('own'), EMPTY: '' }
    expect((await setUpAt(home, onlyClients, env)).status).toBe(0)
    expect(home.text('env')).not.toContain('CODEX_HOME')
    expect(home.text('env')).toMatch(/^EMPTY=$/m)
  })

  test('is passed to the client with address and key, for this one process', async () => {
    const home = withCodex(
      'echo "$*" > "$PWD/../../../../../args"; env > "$PWD/../../../../../env"; echo pong',
    )
    const { url } = await setUpAt(home)
    const received = home.text('args') + home.text('env')
    expect(received).toContain(url)
    expect(received).toContain(canary)
    expect(home.text('args')).not.toContain(canary)
  })

  test('is not set up if the client fails', async () => {
    const home = withCodex('echo "stream error: 403 Forbidden" >&2; exit 1')
    home.put('.codex/config.toml', '# mine\nmodel = "o3"\n')
    const before = home.snapshot()
    const { status, json } = await setUpAt(home)
    expect({ status, json }).toMatchObject({
      status: 7,
      json: {
        changed: false,
        error: {
          code: 'client-refused',
          message: expect.stringContaining('stream error: 403 Forbidden'),
          filesChanged: false,
        },
      },
    })
    expect(home.snapshot()).toEqual(before)
    expect(await gatewaysIn(home)).toMatchObject({ gateways: [] })
  })
})

test('--try-client: writes nothing without the client', async () => {
  const home = aHome()
  const { json } = await tryCodex(home)
  expect(json).toMatchObject({ error: { code: 'client-failed', filesChanged: false } })
  expect(home.snapshot()).toEqual({})
})
