import { chmodSync, copyFileSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/serve/index.ts'
import {
  inWindows,
  nodeExe,
  repoint,
  startWindows,
  stopWindows,
  WindowsHome,
  type WindowsRun,
} from './wine.ts'

/** The Node of Windows runs the packed package under Wine. PowerShell is not available there. */

const key = 'sk-canary-windows-6a1e9f0c4d2b8357'

const codexConfig =
  '# mine\r\nmodel = "o3" # the slow one\r\n\r\n[tui]\r\nnotifications = false\r\n'
const claudeSettings = '{\r\n  "model": "opus",\r\n  "env": { "MINE": "1" }\r\n}\r\n'

let gateway: Gateway
beforeAll(async () => {
  await startWindows()
  gateway = await startGateway({ families: 'rewritten', key })
})
afterAll(async () => {
  await gateway?.close()
  await stopWindows()
})

function access() {
  return { REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url }
}

async function expectDone(home: WindowsHome, args: readonly string[], run: WindowsRun = {}) {
  const ended = await repoint(home, args, { ...run, env: { ...access(), ...run.env } })
  expect(ended.status, `${args.join(' ')}\n${ended.stdout}${ended.stderr}`).toBe(0)
  expect(ended.stdout + ended.stderr).not.toContain(key)
  return ended
}

describe.each(['node20', 'node22'] as const)('Windows under Wine, %s', (node) => {
  test('all four setups, status, doctor and rollback work in a home with blanks and umlauts', async () => {
    const given = { '.codex/config.toml': codexConfig, '.claude/settings.json': claudeSettings }
    const home = new WindowsHome(`Zoë Müller ${node}`, given)

    for (const client of ['codex', 'claude', 'claude-gpt', 'opencode'])
      await expectDone(home, [client, '--yes', '--json'], { node })
    const config = home.text('.codex/config.toml')!
    expect(config.replaceAll('\r\n', '')).not.toContain('\n')
    expect(config).toContain('# mine\r\n')
    expect(JSON.parse(home.text('.codex/auth.json')!)).toEqual({ OPENAI_API_KEY: key })
    expect(JSON.parse(home.text('.claude/settings.json')!)).toMatchObject({
      env: { MINE: '1', ANTHROPIC_AUTH_TOKEN: key },
    })
    expect(home.text('.config/opencode/opencode.json')).toContain(`${gateway.url}/v1`)

    const { stdout } = await expectDone(home, ['status', '--all'], { node })
    expect(stdout).toContain('~\\.codex\\config.toml  as repoint wrote it')
    await expectDone(home, ['doctor', '--json'], { node })

    await expectDone(home, ['rollback', '--original', '--yes', '--json'], { node })
    for (const [path, text] of Object.entries(given)) expect(home.text(path)).toBe(text)
    expect(home.text('.codex/auth.json')).toBeNull()
    expect(home.text('.config/opencode/opencode.json')).toBeNull()
  })
})

test('the demo works', async () => {
  const { stdout } = await expectDone(new WindowsHome('Demo'), ['demo'])
  expect(stdout).toContain('byte for byte')
})

test('a second run changes nothing, and a rollback keeps later changes', async () => {
  const home = new WindowsHome('Three Ways', { '.codex/config.toml': codexConfig })
  await expectDone(home, ['codex', '--yes', '--json'])
  const again = await expectDone(home, ['codex', '--yes', '--json'])
  expect(JSON.parse(again.stdout)).toMatchObject({ changed: false })

  home.put('.codex/config.toml', `${home.text('.codex/config.toml')}\r\n[mine]\r\nadded = true\r\n`)
  await expectDone(home, ['rollback', '--yes', '--json'])
  expect(home.text('.codex/config.toml')).toBe(`${codexConfig}\r\n[mine]\r\nadded = true\r\n`)
})

test('a foreign setting does not block the undo, a changed address does, and --original ends the stack', async () => {
  const home = new WindowsHome('Foreign', { '.codex/config.toml': codexConfig })
  await expectDone(home, ['codex', '--yes', '--json'])
  home.put('.codex/auth.json', JSON.stringify({ auth_mode: 'apikey', OPENAI_API_KEY: key }))
  await expectDone(home, ['rollback', '--yes', '--json'])
  expect(home.text('.codex/config.toml')).toBe(codexConfig)
  expect(JSON.parse(home.text('.codex/auth.json')!)).toEqual({ auth_mode: 'apikey' })

  await expectDone(home, ['codex', '--yes', '--json'])
  const moved = home.text('.codex/config.toml')!.replaceAll(gateway.url, 'https://mine.example')
  home.put('.codex/config.toml', moved)
  const held = await repoint(home, ['rollback', '--yes', '--json'], { env: access() })
  expect(held.status).toBe(10)
  expect(JSON.parse(held.stdout).heldBack).toContainEqual(
    expect.objectContaining({
      path: home.windowsPath('.codex/config.toml'),
      setting: 'openai_base_url',
      why: 'you changed it after the setup',
    }),
  )

  await expectDone(home, ['rollback', '--original', '--force', '--yes', '--json'])
  expect(home.text('.codex/config.toml')).toBe(codexConfig)
  const { stdout } = await expectDone(home, ['rollback', '--yes', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ undoes: null, heldBack: [] })
})

test('off removes a known key that has lost its address', async () => {
  const home = new WindowsHome('Off')
  await expectDone(home, ['codex', '--yes', '--json'])
  rmSync(home.at('.codex/config.toml'))
  const status = await repoint(home, ['status', '--json'], { env: access() })
  expect(status.stdout).toContain('client-key-left')
  await expectDone(home, ['off', '--yes', '--json'])
  expect(home.text('.codex/auth.json')).toBeNull()
})

test('a setup waits for a file that another program holds open for a moment', async () => {
  const home = new WindowsHome('Held', { '.codex/config.toml': codexConfig })
  const holder = holdOpen(home, '.codex/config.toml', 700)
  await holder.isHeld
  await expectDone(home, ['codex', '--yes', '--json'])
  await holder.ended
  expect(home.text('.codex/config.toml')).toContain('model_providers.gateway')
})

test('a setup reports a file that stays open in another program, and changes nothing', async () => {
  const home = new WindowsHome('Kept', { '.codex/config.toml': codexConfig })
  const holder = holdOpen(home, '.codex/config.toml', 180_000)
  await holder.isHeld
  const { status, stdout } = await repoint(home, ['codex', '--yes', '--json'], { env: access() })
  expect({ status, error: JSON.parse(stdout).error }).toMatchObject({
    status: 8,
    error: { filesChanged: false },
  })
  expect(home.text('.codex/config.toml')).toBe(codexConfig)
  expect(home.text('.codex/auth.json')).toBeNull()
  holder.release()
  await holder.ended
})

test('a killed setup is complete or undone after the next start', async () => {
  const seen = new Set<boolean>()
  for (const killAfterMs of [300, 600, 900, 1_200, 1_500, 1_800, 180_000]) {
    const home = new WindowsHome(`Killed ${killAfterMs}`, { '.codex/config.toml': codexConfig })
    await repoint(home, ['codex', '--yes', '--json'], { env: access(), killAfterMs })
    await repoint(home, ['status', '--json'], { env: access() })

    const config = home.text('.codex/config.toml')
    const isNew = config !== codexConfig
    seen.add(isNew)
    expect([killAfterMs, home.text('.codex/auth.json') !== null]).toEqual([killAfterMs, isNew])
    if (isNew) expect(config).toContain('model_provider = "gateway"')
    const leftovers = readdirSync(home.at('.codex')).filter((name) => /repoint/.test(name))
    expect(leftovers).toEqual([])
  }
  expect([...seen].sort()).toEqual([false, true])
})

test('a client is found as a .cmd on PATH, and not in the working folder', async () => {
  const home = new WindowsHome('Shims', {
    'npm/codex.cmd': '@echo codex-cli 0.169.0\r\n',
    'claude.cmd': '@echo 2.1.330 (Claude Code)\r\n',
  })
  const env = { ...access(), WINEPATH: home.windowsPath('npm') }
  const { stdout } = await repoint(home, ['doctor', '--no-verify', '--json'], { env })
  expect(stdout).toContain('0.169.0')
  expect(stdout).not.toContain('2.1.330')
})

test('a setup reports a read-only file with its cure, and changes nothing', async () => {
  const home = new WindowsHome('Read only', { '.codex/config.toml': codexConfig })
  // Wine shows a file without write permission as read-only, and the reverse.
  chmodSync(home.at('.codex/config.toml'), 0o444)
  const { status, stdout } = await repoint(home, ['codex', '--yes', '--json'], { env: access() })
  expect({ status, error: JSON.parse(stdout).error }).toMatchObject({
    status: 8,
    error: { code: 'not-permitted', filesChanged: false },
  })
  expect(JSON.parse(stdout).error.hint).toContain('attrib -R "C:\\users')
  expect(home.text('.codex/config.toml')).toBe(codexConfig)
  expect(home.text('.codex/auth.json')).toBeNull()

  await inWindows(home, ['attrib', '-R', home.windowsPath('.codex/config.toml')])
  await expectDone(home, ['codex', '--yes', '--json'])
})

test('repoint starts the programs of Windows by their full paths, not from the working folder', async () => {
  const hang = 'setTimeout(() => {}, 60_000)'
  const home = new WindowsHome('Planted', {
    'npm/codex.cmd': `@"${nodeExe()}" -e "${hang}"\r\n`,
    'marker.cjs': `const name = require('path').win32.basename(process.execPath)
require('fs').appendFileSync(${JSON.stringify('C:\\users\\Planted\\started')}, name + ' ')`,
  })
  for (const name of ['tasklist.exe', 'taskkill.exe']) copyFileSync(nodeExe(), home.at(name))
  const env = {
    WINEPATH: home.windowsPath('npm'),
    NODE_OPTIONS: `--require ${JSON.stringify(home.windowsPath('marker.cjs'))}`,
  }
  // The lock of an ended run, for which repoint calls tasklist, and a client that does not end.
  const { stdout: host } = await inWindows(home, [nodeExe(), '-p', 'os.hostname()'])
  home.put(`AppData/Local/repoint/lock/4000001,node.exe,,${host.trim()},1`, '')
  await expectDone(home, ['codex', '--yes', '--json'], { env })
  await repoint(home, ['doctor', '--no-verify', '--json'], { env })
  expect(new Set(home.text('started')?.trim().split(' '))).toEqual(new Set(['node.exe']))
})

test('a setup works in a home whose path is longer than 260 characters', async () => {
  const deep = `deep/${'a-folder-with-a-long-name/'.repeat(10)}`
  const home = new WindowsHome('Long', { [`${deep}config.toml`]: codexConfig })
  const env = { ...access(), CODEX_HOME: home.windowsPath(deep).replace(/\\$/, '') }
  const { status, stdout } = await repoint(home, ['codex', '--yes', '--json'], { env })
  expect(status, stdout).toBe(0)
  expect(home.text(`${deep}config.toml`)).toContain('model_providers.gateway')
  await repoint(home, ['rollback', '--yes', '--json'], { env })
  expect(home.text(`${deep}config.toml`)).toBe(codexConfig)
})

/**
 * A program that holds a file open without letting others rename or delete it, for so many ms or until
 * `release`. In wine, a setup can take half a minute.
 */
function holdOpen(home: WindowsHome, path: string, ms: number) {
  const marker = home.at('held')
  const hold = [
    "const { existsSync, writeFileSync } = require('fs'); writeFileSync('held', '')",
    `setTimeout(() => process.exit(), ${ms})`,
    "setInterval(() => existsSync('release') ? process.exit() : 0, 100)",
  ].join('; ')
  // cmd.exe opens the target of a redirection without FILE_SHARE_DELETE, and the child inherits it.
  home.put('hold.cmd', `@"${nodeExe()}" -e "${hold}" >> "${home.windowsPath(path)}"\r\n`)
  const ended = inWindows(home, ['cmd', '/c', 'hold.cmd'])
  const isHeld = (async () => {
    for (let tries = 0; !existsSync(marker); tries++) {
      if (tries > 1_200) throw new Error('The file was never held')
      await new Promise((settle) => setTimeout(settle, 50))
    }
  })()
  return { isHeld, ended, release: () => home.put('release', '') }
}
