import { expect, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'

const canary = 'sk-canary-9b8a7c6d5e4f30211f2e3d4c'

const gateway = await withGateway({ key: canary })

/** A home that is set up with one client, and what someone did to it since. */
interface Changed {
  readonly client: string
  readonly change: (home: Home) => void
  /** The code that both commands report. */
  readonly code: string
}

function replaceIn(path: string, from: string, to: string): Changed['change'] {
  return (home) => home.put(path, home.text(path).replaceAll(from, to))
}

const cases: readonly (readonly [string, Changed])[] = [
  [
    'another address',
    {
      client: 'codex',
      change: (home) => replaceIn('.codex/config.toml', gateway.url, 'http://127.0.0.1:9')(home),
      code: 'drifted',
    },
  ],
  [
    'a file that others may read',
    {
      client: 'codex',
      change: (home) => home.put('.codex/auth.json', home.text('.codex/auth.json'), 0o644),
      code: 'private',
    },
  ],
  [
    'a file that the client cannot read',
    {
      client: 'codex',
      change: (home) => home.put('.codex/config.toml', 'model = '),
      code: 'codex-config-invalid',
    },
  ],
  [
    'no key, and no word of the client about it',
    {
      client: 'claude',
      change: (home) => {
        home.put('.claude/settings.json', '{"env":{"ANTHROPIC_BASE_URL":"https://gw.example"}}')
      },
      code: 'key-missing',
    },
  ],
  [
    'a key in a variable that is not set',
    {
      client: 'codex',
      change: (home) => {
        const table = 'name = "X"\nbase_url = "http://127.0.0.1:4000/v1"\nenv_key = "X_KEY"\n'
        home.put('.codex/config.toml', `model_provider = "x"\n[model_providers.x]\n${table}`)
      },
      code: 'codex-no-key',
    },
  ],
  [
    'a login in place of the key',
    {
      client: 'codex',
      change: (home) => home.put('.codex/auth.json', '{"tokens":{}}', 0o600),
      code: 'codex-login',
    },
  ],
]

test.each(cases)(
  'status and doctor report the same, each cause once: %s',
  async (_, { client, change, code }) => {
    const home = aHome()
    const env = { REPOINT_API_KEY: canary, REPOINT_BASE_URL: gateway.url }
    expect((await runInProcess(home, [client, '--yes'], { env })).status).toBe(0)
    change(home)

    const status = await runInProcess(home, ['status', client, '--json'])
    const doctor = await runInProcess(home, ['doctor', client, '--no-verify', '--json'])
    for (const { stdout, stderr } of [status, doctor]) expect(stdout + stderr).not.toContain(canary)

    const { clients } = status.json as { clients: { obstacles: { code: string }[] }[] }
    const { checks } = doctor.json as { checks: { id: string; about: string; result: string }[] }
    const inStatus = clients[0]!.obstacles.map(({ code }) => code)
    const inDoctor = checks.filter(
      ({ id, about, result }) => about !== 'machine' && id !== 'installed' && result !== 'ok',
    )
    expect(inStatus).toContain(code)
    expect(inDoctor.map(({ id }) => id)).toEqual(inStatus)
    expect(new Set(inStatus).size).toBe(inStatus.length)
  },
)

test('run does not start Codex with a file that it cannot read, and says why', async () => {
  const home = aHome()
  const env = { REPOINT_API_KEY: canary, REPOINT_BASE_URL: gateway.url }
  const setup = await runInProcess(home, ['codex', '--yes', '--name', 'here'], { env })
  expect(setup.status).toBe(0)
  home.put('.codex/config.toml', 'model = ')

  const { status, stdout, stderr } = await runInProcess(home, ['run', 'here', '--', 'codex'])
  expect({ status, stderr }).toMatchObject({
    status: 8,
    stderr: expect.stringContaining('Codex does not start: Cannot read ~/.codex/config.toml'),
  })
  expect(stdout + stderr).not.toContain(canary)
})

test('status names the error of a client whose files repoint cannot read', async () => {
  const home = aHome({ '.codex/config.toml/a-folder': '' })
  const { json } = await runInProcess(home, ['status', 'codex', '--json'])
  const code = 'config-conflict'
  expect(json).toMatchObject({
    clients: [{ error: { code, message: expect.any(String) }, obstacles: [{ code }] }],
  })
})
