import { describe, expect, test } from 'vitest'
import { codeSettings, desktopProfiles } from '../../../src/clients/claude/checks.ts'
import type { Machine } from '../../../src/platform/platform.ts'
import { aHome, type Home } from '../../support/home.ts'
import { runInProcess } from '../../support/in-process.ts'

const key = 'sk-canary-desktop-9f8e7d6c5b4a3f2e'
const url = 'https://gw.example'
const settings = JSON.stringify({ env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: key } })

interface Obstacle {
  readonly code: string
  readonly message: string
  readonly place: string
}

async function obstaclesIn(home: Home): Promise<readonly Obstacle[]> {
  home.put('.claude/settings.json', settings, 0o600)
  const { stdout, json } = await runInProcess(home, ['status', 'claude', '--json'])
  expect(stdout).not.toContain(key)
  const { clients } = json as { clients: readonly { obstacles: readonly Obstacle[] }[] }
  return clients[0]!.obstacles
}

describe('the settings of VS Code for the extension of Claude Code', () => {
  const path = '.config/Code/User/settings.json'
  const withVariables = (...elements: readonly object[]) =>
    `// comment\n${JSON.stringify({ 'claudeCode.disableLoginPrompt': true, 'claudeCode.environmentVariables': elements }, null, 2)}`

  test.each([
    ['ANTHROPIC_BASE_URL', 'https://old.example/api?token=x', 'may use https://old.example/api'],
    ['ANTHROPIC_AUTH_TOKEN', 'sk-canary-other-1a2b3c4d', 'may send another key'],
    ['ANTHROPIC_API_KEY', 'sk-canary-other-1a2b3c4d', 'may send another key'],
    ['CLAUDE_CODE_USE_BEDROCK', '1', 'may use another service'],
  ])('%s = %s is reported with its line', async (name, value, effect) => {
    const home = aHome({ [path]: withVariables({ name: 'EDITOR', value: 'x' }, { name, value }) })
    const [found, ...more] = await obstaclesIn(home)
    expect(found).toMatchObject({
      code: 'claude-vscode-variable',
      message: expect.stringContaining(effect),
      place: expect.stringMatching(/settings\.json:\d+$/),
    })
    expect(JSON.stringify(found)).not.toContain('sk-canary-other')
    expect(more).toEqual([])
  })

  test.each([
    [{ name: 'ANTHROPIC_BASE_URL', value: `${url}/` }],
    [{ name: 'ANTHROPIC_AUTH_TOKEN', value: key }],
    [{ name: 'CLAUDE_CODE_USE_BEDROCK', value: '' }],
    [{ name: 'ANTHROPIC_BASE_URL' }],
    ['ANTHROPIC_BASE_URL'],
  ])('%j is no problem', async (element) => {
    expect(await obstaclesIn(aHome({ [path]: withVariables(element as object) }))).toEqual([])
  })

  test.each([
    ['linux', {}, '/home/me/.config/Code/User/settings.json'],
    ['linux', { XDG_CONFIG_HOME: '/c' }, '/c/Code/User/settings.json'],
    ['darwin', {}, '/home/me/Library/Application Support/Code/User/settings.json'],
    ['win32', { APPDATA: 'C:\\R' }, 'C:\\R\\Code\\User\\settings.json'],
  ] as const)('on %s with %j: %s', (os, env, first) => {
    const machine: Machine = { os, env, home: '/home/me', cwd: '/' }
    expect(codeSettings(machine)[0]).toBe(first)
  })
})

describe('the gateway of Claude Desktop', () => {
  const profile = (address: string) =>
    JSON.stringify({ inferenceProvider: 'gateway', inferenceGatewayBaseUrl: address })
  const path = '.config/Claude-3p/configLibrary/one.json'

  test('is reported if Claude Code uses another one', async () => {
    expect(await obstaclesIn(aHome({ [path]: profile('https://old.example') }))).toMatchObject([
      { code: 'claude-desktop-gateway', message: expect.stringContaining('https://old.example') },
    ])
  })

  test.each([profile(url), '{"inferenceProvider":"bedrock"}', '{'])(
    'is no problem: %s',
    async (content) => {
      expect(await obstaclesIn(aHome({ [path]: content }))).toEqual([])
    },
  )

  test('is in a profile, and not in the list of profiles', () => {
    const machine: Machine = { os: 'darwin', env: {}, home: '/Users/me', cwd: '/' }
    const disk = {
      exists: () => true,
      entries: () => ['_meta.json', 'a.json', 'notes.txt'],
      readStart: () => '',
    }
    expect(desktopProfiles(machine, disk)).toEqual([
      '/Users/me/Library/Application Support/Claude-3p/configLibrary/a.json',
    ])
  })
})
