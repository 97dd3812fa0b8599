import { describe, expect, onTestFinished, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { fixtureCatalog, withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'

/** The installed client decides which id a slot means. Here it is a stub that prints its version. */

const key = 'sk-installed-5f0a83c1b7d96e24'

async function aGatewayWithout(...ids: string[]): Promise<Gateway> {
  const models = fixtureCatalog.filter(({ id }) => !ids.includes(id))
  const gateway = await withGateway({ key, models }, onTestFinished)
  return gateway
}

function aHomeWith(version: string, command = 'claude'): Home {
  const home = aHome()
  home.put(`bin/${command}`, `#!/bin/sh\necho '${version} (Claude Code)'\n`, 0o755)
  return home
}

function repoint(home: Home, gateway: Gateway, ...args: string[]) {
  return runInProcess(home, [...args, '--json'], {
    env: {
      REPOINT_API_KEY: key,
      REPOINT_BASE_URL: gateway.url,
      PATH: `${home.at('bin')}:${process.env['PATH']}`,
    },
  })
}

const asked = (gateway: Gateway) =>
  gateway
    .requests()
    .filter(({ method }) => method === 'POST')
    .map(({ modelAsked }) => modelAsked)

describe('with an installed Claude Code', () => {
  test('a setup checks the id that this version sends, and fails if the gateway does not serve it', async () => {
    const gateway = await aGatewayWithout('claude-opus-5')
    const home = aHomeWith('2.1.238')
    const failed = await repoint(home, gateway, 'claude', '--slot', 'opus', '--yes')
    expect(failed.status).toBe(5)
    expect(failed.json).toMatchObject({
      error: {
        code: 'model-unknown',
        message: expect.stringContaining('claude-opus-5'),
        hint: 'Claude Code 2.1.238 sends it for opus. Pin another: repoint claude --slot opus --opus-model claude-opus-4-8',
        filesChanged: false,
      },
    })

    const pin = ['--slot', 'opus', '--opus-model', 'claude-opus-4-8']
    const pinned = await repoint(home, gateway, 'claude', ...pin, '--yes')
    expect(pinned).toMatchObject({ status: 0, json: { changed: true, warnings: [] } })
    expect(new Set(asked(gateway))).toEqual(new Set(['claude-opus-5', 'claude-opus-4-8']))
  })

  test('doctor checks the id that the client sends, also after an update of the client', async () => {
    const gateway = await aGatewayWithout('claude-sonnet-5')
    const home = aHomeWith('2.1.329')
    expect(await repoint(home, gateway, 'claude', '--yes')).toMatchObject({ status: 0 })
    expect(await repoint(home, gateway, 'doctor', 'claude')).toMatchObject({ status: 0 })

    home.put('bin/claude', "#!/bin/sh\necho '2.1.197 (Claude Code)'\n", 0o755)
    const { status, json } = await repoint(home, gateway, 'doctor', 'claude')
    expect(status).toBe(5)
    expect(json).toMatchObject({
      checks: expect.arrayContaining([
        {
          about: 'claude',
          id: 'model-unknown',
          result: 'problem',
          message: expect.stringContaining('claude-sonnet-5'),
          cure: 'Claude Code 2.1.197 sends it for sonnet. Pin another: repoint claude --sonnet-model claude-sonnet-4-6',
        },
      ]),
    })
  })

  test('doctor accepts "opus[1m]", which the client itself writes', async () => {
    const gateway = await aGatewayWithout()
    const home = aHomeWith('2.1.285')
    await repoint(home, gateway, 'claude', '--slot', 'opus', '--yes')
    home.replace('.claude/settings.json', '"opus"', '"opus[1m]"')
    expect(await repoint(home, gateway, 'doctor', 'claude')).toMatchObject({ status: 0 })
    const again = await repoint(home, gateway, 'claude', '--slot', 'opus', '--yes')
    expect(again.json).toMatchObject({ changed: false })
  })
})

test('a setup checks the id also at a gateway whose list of models fails', async () => {
  const gateway = await aGatewayWithout()
  gateway.setFaults([{ route: 'models', status: 404 }])
  const home = aHomeWith('2.1.197')
  const { json, status } = await repoint(home, gateway, 'claude', '--slot', 'opus', '--yes')
  expect(status).toBe(0)
  expect(json).toMatchObject({ changed: true, warnings: [{ code: 'catalog-unavailable' }] })
  expect(asked(gateway)).toEqual(['claude-opus-4-8'])
})

test('without an installed client, a setup looks for every id that the slot may mean', async () => {
  const gateway = await aGatewayWithout('claude-sonnet-5')
  const home = aHome()
  home.put('bin/claude', '#!/bin/sh\nexit 1\n', 0o755)
  const { json, status } = await repoint(home, gateway, 'claude', '--yes')
  expect(status).toBe(0)
  expect(json).toMatchObject({
    warnings: [
      { code: 'client-version-unknown' },
      {
        code: 'slot-id-missing',
        message: expect.stringContaining('claude-sonnet-5 (from 2.1.197 on)'),
        hint: expect.stringContaining('--sonnet-model claude-sonnet-5-5'),
      },
    ],
  })
})

test('a setup finds a version that the client prints on standard error', async () => {
  const gateway = await aGatewayWithout()
  const home = aHome()
  home.put('bin/pi', '#!/bin/sh\necho 0.73.1 >&2\n', 0o755)
  const { json } = await repoint(home, gateway, 'doctor', 'pi')
  expect(json).toMatchObject({
    checks: expect.arrayContaining([
      expect.objectContaining({ id: 'installed', result: 'ok', message: 'pi 0.73.1' }),
    ]),
  })
})

describe('a client version that does not work', () => {
  test.each([
    ['pi', '0.50.7', '0.51.0', ['pi', '--yes']],
    ['qwen', '0.8.2', '0.10.1', ['qwen', '--yes', '--no-verify', '--model', 'glm-5']],
    ['droid', '0.117.0', '0.215.0', ['setup', 'codex', 'droid', '--yes']],
    ['claude', '2.1.44', '2.1.45', ['claude', '--yes']],
    ['copilot', '1.0.2', '1.0.20', ['copilot']],
    ['opencode', '1.2.6', '1.2.11', ['run', '--', 'opencode']],
    ['openclaw', '2026.4.29', '2026.5.2', ['run', '--', 'openclaw']],
    // This client ends its line with a full stop.
    ['copilot', '1.0.12.', '1.0.20', ['run', '--', 'copilot']],
    ['pi', '0.50.7', '0.51.0', ['run', '--', 'pi']],
  ])(
    '%s %s is refused, and the error names the oldest supported version, %s: %j',
    async (command, version, oldest, args) => {
      const gateway = await aGatewayWithout()
      const home = aHomeWith(version, command)
      const before = home.snapshot()
      const env = { REPOINT_API_KEY: key, PATH: `${home.at('bin')}:${process.env['PATH']}` }
      const [first = '', ...others] = args
      const at = ['--base-url', gateway.url, '--key-env', 'REPOINT_API_KEY']
      const { status, stderr } = await runInProcess(home, [first, ...at, ...others], { env })
      expect(stderr).toContain(version.replace(/\.$/, ''))
      expect(stderr).toContain(oldest)
      expect(status).toBe(8)
      expect(asked(gateway)).toEqual([])
      expect(home.snapshot()).toEqual(before)
    },
  )

  test.each([
    ['pi', '0.50.7', 'problem', /0\.51\.0/],
    ['opencode', '1.1.31', 'warning', /older/],
    ['pi', '0.87.0', 'ok', /^pi 0\.87\.0$/],
    ['pi', '1.99.0', 'warning', /newer/],
    ['pi', '99.0.0', 'warning', /new major version/],
  ])('doctor reports %s %s: %s', async (client, version, result, message) => {
    const gateway = await aGatewayWithout()
    const { json } = await repoint(
      aHomeWith(version, client),
      gateway,
      'doctor',
      client,
      '--no-verify',
    )
    const { checks } = json as { checks: { result: string; message: string }[] }
    expect(checks[0]).toMatchObject({ result, message: expect.stringMatching(message) })
  })

  test('gets a new key anyway', async () => {
    const gateway = await aGatewayWithout()
    const home = aHomeWith('0.87.1', 'pi')
    expect(await repoint(home, gateway, 'pi', '--yes')).toMatchObject({ status: 0 })
    home.put('bin/pi', "#!/bin/sh\necho '0.50.7'\n", 0o755)
    expect(await repoint(home, gateway, 'key', 'pi', '--yes')).toMatchObject({ status: 0 })
  })
})

describe('a new major version that no test has run', () => {
  const setUp = async (version: string, ...more: string[]) => {
    const gateway = await aGatewayWithout()
    const home = aHomeWith(version, 'opencode')
    return { home, ...(await repoint(home, gateway, 'opencode', ...more)) }
  }

  test('needs consent, which a script gives with --yes', async () => {
    const refused = await setUp('2.0.12')
    expect(refused.status).toBe(2)
    expect(refused.json).toMatchObject({
      error: {
        code: 'confirmation-needed',
        message: expect.stringMatching(/opencode 2\.0\.12 is a new major version/),
        filesChanged: false,
      },
    })
    expect(refused.home.snapshot()).not.toHaveProperty(['.config/opencode/opencode.json'])

    const accepted = await setUp('2.0.12', '--yes')
    expect(accepted.status).toBe(0)
    expect(accepted.json).toMatchObject({
      changed: true,
      warnings: [{ code: 'client-untested', message: expect.stringContaining('2.0.12') }],
    })
  })

  test('a newer version of a tested major version needs none', async () => {
    expect(await setUp('1.99.0', '--yes')).toMatchObject({ status: 0, json: { warnings: [] } })
  })
})
