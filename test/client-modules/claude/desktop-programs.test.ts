import { posix, win32 } from 'node:path'
import { describe, expect, test } from 'vitest'
import { codeSettings, desktopProfiles } from '../../../src/clients/claude/checks.ts'
import type { Machine } from '../../../src/platform/platform.ts'
import { aHome, type Home } from '../../support/home.ts'
import { runInProcess } from '../../support/in-process.ts'
import { byId, type Disk, findingsOn } from '../support.ts'

const key = 'sk-canary-desktop-9f8e7d6c5b4a3f2e'
const url = 'https://gw.example'
const settings = JSON.stringify({ env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: key } })

/** What Claude Code's settings at the gateway, next to these files, are reported to have in the way. */
const obstaclesIn = (disk: Disk) =>
  findingsOn(byId('claude'), { ...disk, '.claude/settings.json': settings }).filter(
    ({ severity }) => severity !== 'ok',
  )

describe('the settings of VS Code for the extension of Claude Code', () => {
  const withVariables = (...elements: readonly unknown[]): Disk => ({
    '.config/Code/User/settings.json': `// comment\n${JSON.stringify({ 'claudeCode.disableLoginPrompt': true, 'claudeCode.environmentVariables': elements }, null, 2)}`,
  })

  test.each([
    ['ANTHROPIC_BASE_URL', 'https://old.example/api?token=x', 'may use https://old.example/api'],
    ['ANTHROPIC_AUTH_TOKEN', 'sk-canary-other-1a2b3c4d', 'may send another key'],
    ['ANTHROPIC_API_KEY', 'sk-canary-other-1a2b3c4d', 'may send another key'],
    ['CLAUDE_CODE_USE_BEDROCK', '1', 'may use another service'],
    ['ANTHROPIC_BEDROCK_BASE_URL', 'https://b.example', 'may use another service'],
  ])('%s = %s is reported with its line', (name, value, effect) => {
    const [found, ...more] = obstaclesIn(
      withVariables({ name: 'EDITOR', value: 'x' }, { name, value }),
    )
    expect(found).toMatchObject({
      code: 'claude-vscode-variable',
      message: expect.stringContaining(`${effect} (not tested)`),
      location: '/home/ada/.config/Code/User/settings.json:9',
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
  ])('%j is no problem', (element) => {
    expect(obstaclesIn(withVariables(element))).toEqual([])
  })

  test.each([
    ['linux', {}, '/home/me/.config'],
    ['linux', { XDG_CONFIG_HOME: '/c' }, '/c'],
    ['darwin', {}, '/home/me/Library/Application Support'],
    ['win32', { APPDATA: 'C:\\R' }, 'C:\\R'],
  ] as const)('on %s with %j are below %s', (os, env, folder) => {
    const machine: Machine = { os, env, home: '/home/me', cwd: '/' }
    const { join } = os === 'win32' ? win32 : posix
    expect(codeSettings(machine)).toEqual([
      { kind: 'vscode', path: join(folder, 'Code/User/settings.json') },
      { kind: 'vscode-insiders', path: join(folder, 'Code - Insiders/User/settings.json') },
      { kind: 'vscodium', path: join(folder, 'VSCodium/User/settings.json') },
    ])
  })
})

describe('doctor --fix, for the extension of Claude Code in VS Code', () => {
  const path = '.config/Code/User/settings.json'
  const otherKey = 'sk-canary-other-1a2b3c4d'
  const before = `{
  // Mine.
  "editor.fontSize": 13,
  "claudeCode.environmentVariables": [
    { "name": "EDITOR", "value": "code" }, // keep
    { "name": "ANTHROPIC_BASE_URL", "value": "https://old.example" },
    { "name": "ANTHROPIC_AUTH_TOKEN", "value": "${otherKey}" },
  ],
}
`

  function homeWith(text: string) {
    return aHome({ [path]: text, '.claude/settings.json': settings })
  }

  async function fix(home: Home, ...flags: string[]) {
    const result = await runInProcess(home, ['doctor', 'claude', '--no-verify', '--fix', ...flags])
    for (const canary of [key, otherKey])
      expect(result.stdout + result.stderr).not.toContain(canary)
    return result
  }

  test('it removes another gateway and the question for a login, and rollback restores the bytes', async () => {
    const home = homeWith(before)
    await fix(home, '--yes')
    expect(home.text(path)).toBe(`{
  // Mine.
  "editor.fontSize": 13,
  "claudeCode.environmentVariables": [
    { "name": "EDITOR", "value": "code" }, // keep
  ],
  "claudeCode.disableLoginPrompt": true,
}
`)
    expect((await runInProcess(home, ['rollback', '--yes'])).status).toBe(0)
    expect(home.text(path)).toBe(before)
  })

  test('it changes nothing there without consent', async () => {
    const home = homeWith(before)
    await fix(home)
    expect(home.text(path)).toBe(before)
  })

  test('off restores the question for a login, and not the other gateway', async () => {
    const home = homeWith(before)
    await fix(home, '--yes')
    const { status } = await runInProcess(home, ['off', 'claude', '--yes'])
    expect(status).toBe(0)
    expect(home.text(path)).not.toContain('disableLoginPrompt')
    expect(home.text(path)).not.toContain('old.example')
  })

  test('a setup names them, and a broken file stops nothing', async () => {
    const home = homeWith(before)
    const args = ['claude', '--base-url', 'https://new.example', '--no-verify', '--yes']
    const setup = await runInProcess(home, args, { env: { REPOINT_API_KEY: key } })
    expect(setup.status).toBe(0)
    expect(setup.stdout + setup.stderr).toContain('repoint doctor claude --fix')
    expect(home.text(path)).toBe(before)

    home.put(path, '{ "claudeCode.x": ')
    expect((await runInProcess(home, args, { env: { REPOINT_API_KEY: key } })).status).toBe(0)
    await fix(home, '--yes')
    expect(home.text(path)).toBe('{ "claudeCode.x": ')
  })
})

describe('the gateway of Claude Desktop', () => {
  const profile = (address: string) =>
    JSON.stringify({ inferenceProvider: 'gateway', inferenceGatewayBaseUrl: address })
  const path = '.config/Claude-3p/configLibrary/one.json'

  test('is reported if Claude Code uses another one', () => {
    expect(obstaclesIn({ [path]: profile('https://old.example') })).toMatchObject([
      { code: 'claude-desktop-gateway', message: expect.stringContaining('https://old.example') },
    ])
  })

  test.each([profile(url), '{"inferenceProvider":"bedrock"}', '{'])(
    'is no problem: %s',
    (content) => {
      expect(obstaclesIn({ [path]: content })).toEqual([])
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
