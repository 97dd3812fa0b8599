import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { type Gateway, startGateway } from '../../src/serve/index.ts'
import { fixtureCatalog, withGateway } from '../support/gateway.ts'
import { Ansible, type Played } from './ansible.ts'
import { bridge, Fleet } from './hosts.ts'

/** The life of a fleet. Each test starts with the hosts as the last one left them. */
const key = 'sk-canary-fleet-5d2c7a90b1e4f683'
const rotated = 'sk-canary-fleet-rotated-77aa10cc'
/** An address at which nothing answers. */
const elsewhere = `http://${bridge}:9`
const own = {
  '.codex/config.toml': '# mine\nmodel = "o3"\n\n[mcp_servers.files]\ncommand = "mcp-files"\n',
  '.codex/auth.json': '{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":"x"}}\n',
  '.claude/settings.json': '{\n  "model": "opus",\n  "hooks": {}\n}\n',
}

let fleet: Fleet
let ansible: Ansible
let gateway: Gateway
let before: Record<string, string>

beforeAll(async () => {
  fleet = new Fleet(2)
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', fleet.folder], {
    encoding: 'utf8',
  })
  const tarball = packed.trim().split('\n').at(-1)!
  for (const host of fleet.hosts) {
    copyFileSync(join(fleet.folder, tarball), fleet.shared(host, 'repoint.tgz'))
    for (const [name, text] of Object.entries(own)) fleet.put(host, 'alice', name, text)
  }
  gateway = await startGateway({
    families: 'rewritten',
    host: bridge,
    port: 0,
    key,
    models: fixtureCatalog,
  })
  ansible = new Ansible(fleet, {
    repoint_version: packageJson.version,
    repoint_package: '/srv/repoint.tgz',
    repoint_prefix: '/srv',
    repoint_users: ['alice', 'bob'],
    repoint_clients: ['codex', 'claude'],
    repoint_base_url: gateway.url,
    repoint_flags: ['--allow-http', '--name', 'work'],
    repoint_key: '{{ vault_repoint_key }}',
  })
  await Promise.all(fleet.hosts.map((host) => fleet.start(host)))
  before = fleet.snapshot()
})
afterAll(async () => {
  await gateway?.close()
  await fleet?.end()
})

function expectPlayed(
  played: Played,
  wanted: { changed: number; failed?: readonly string[]; hosts?: readonly string[] },
) {
  const { failed = [], hosts = fleet.hosts } = wanted
  expect(played.output).not.toContain('sk-canary')
  expect(played.seen).toEqual([])
  expect(Object.keys(played.recap).sort()).toEqual(hosts)
  for (const host of hosts) {
    const isFailed = failed.includes(host)
    expect(played.recap[host], `${host}\n${played.output}`).toMatchObject({
      failed: isFailed ? 1 : 0,
      ...(isFailed ? {} : { changed: wanted.changed }),
    })
  }
  expect(played.status).toBe(failed.length === 0 ? 0 : 2)
}

/** The arguments that limit a play to these hosts. */
function only(...hosts: readonly string[]): string[] {
  return ['--limit', hosts.join(',')]
}

test('check mode on fresh hosts is a dry run that sends requests to the gateway, and leaves nothing', async () => {
  const { recap, output } = await ansible.play('setup.yml', key, { args: ['--check'] })
  for (const host of fleet.hosts) {
    expect(recap[host], output).toMatchObject({ changed: 3, failed: 0 })
    expect(fleet.hasProgram(host)).toBe(false)
  }
  expect(fleet.snapshot()).toEqual(before)
})

test('without a vault the play says which key is missing', async () => {
  const { status, output } = await ansible.play('setup.yml', undefined, { args: only('host1') })
  expect(status).toBe(2)
  expect(output).toContain('No key: the play has no vault_repoint_key')
  expect(fleet.snapshot()).toEqual(before)
})

test('the first run installs repoint and sets up every user', async () => {
  expectPlayed(await ansible.play('setup.yml', key), { changed: 3 })
  const after = fleet.snapshot()
  for (const host of fleet.hosts)
    for (const user of ['alice', 'bob']) {
      expect(after[`${host} ${user} .codex/auth.json`]).toMatch(/^600 200[12] .*canary/s)
      expect(after[`${host} ${user} .codex/config.toml`]).toContain(gateway.url)
      expect(after[`${host} ${user} .claude/settings.json`]).toContain(gateway.url)
    }
})

test('the second run changes nothing', async () => {
  const after = fleet.snapshot()
  expectPlayed(await ansible.play('setup.yml', key), { changed: 0 })
  expect(fleet.snapshot()).toEqual(after)
})

test('check mode reports the changes, and makes none', async () => {
  const config = readFileSync(fleet.homeFile('host2', 'bob', '.codex/config.toml'), 'utf8')
  fleet.put('host2', 'bob', '.codex/config.toml', config.replaceAll(gateway.url, elsewhere))
  const drifted = fleet.snapshot()
  const args = ['--check', ...only('host1', 'host2')]
  const { recap, output } = await ansible.play('setup.yml', key, { args })
  expect(recap, output).toMatchObject({ host1: { changed: 0 }, host2: { changed: 1, failed: 0 } })
  expect(fleet.snapshot()).toEqual(drifted)
})

test('status --exit-code reports drift, and the next run repairs it', async () => {
  const played = await ansible.play('drift.yml', key)
  expectPlayed(played, { changed: 0, failed: ['host2'] })
  expect(played.output).toContain(`bob: status 11, points at ${elsewhere}`)
  const hosts = ['host1', 'host2']
  const args = only(...hosts)
  const healed = await ansible.play('setup.yml', key, { args })
  expect(healed.recap).toMatchObject({ host1: { changed: 0 }, host2: { changed: 1 } })
  expectPlayed(await ansible.play('drift.yml', key, { args }), { changed: 0, hosts })
})

test('a host whose gateway is down fails without the others, or is skipped, and nothing is changed', async () => {
  const after = fleet.snapshot()
  const host1 = { repoint_base_url: elsewhere, repoint_flags: ['--allow-http'] }
  const hosts = ['host1', 'host2']
  const args = only(...hosts)
  const played = await ansible.play('setup.yml', key, { args, hostVars: { host1 } })
  expectPlayed(played, { changed: 0, failed: ['host1'], hosts })
  expect(played.output).toContain('alice: status 6')

  const tolerant = { ...host1, repoint_tolerated: [6, 7] }
  const passed = await ansible.play('setup.yml', key, { args, hostVars: { host1: tolerant } })
  expectPlayed(passed, { changed: 0, hosts })
  expect(passed.output).toContain('alice: status 6')
  expect(fleet.snapshot()).toEqual(after)
})

test('a broken file of one user is reported with its place, and the others are set up', async () => {
  const right = fleet.snapshot()['host1 bob .codex/config.toml']!
  fleet.put('host1', 'bob', '.codex/config.toml', 'model = {{{\n')
  const hosts = ['host1', 'host2']
  const played = await ansible.play('setup.yml', key, { args: only(...hosts) })
  expectPlayed(played, { changed: 0, failed: ['host1'], hosts })
  expect(played.output).toMatch(/bob: status 8, .*config\.toml/)
  fleet.put('host1', 'bob', '.codex/config.toml', right.replace(/^\d+ \d+ /, ''))
})

test('a rotated key changes the key and nothing else', async () => {
  const after = JSON.stringify(fleet.snapshot())
  const { port } = gateway
  await gateway.close()
  gateway = await startGateway({
    families: 'rewritten',
    host: bridge,
    port,
    key: rotated,
    models: fixtureCatalog,
  })
  expectPlayed(await ansible.play('key.yml', rotated), { changed: 1 })
  expectPlayed(await ansible.play('setup.yml', rotated), { changed: 0 })
  expect(JSON.stringify(fleet.snapshot())).toBe(after.replaceAll(key, rotated))
})

test('a switch to another gateway, and back by its name', async () => {
  const after = fleet.snapshot()
  const other = await withGateway({ host: bridge, key }, onTestFinished)
  const vars = {
    repoint_base_url: other.url,
    repoint_flags: ['--allow-http', '--name', 'spare'],
    repoint_gateway: 'work',
  }
  const hostVars = Object.fromEntries(fleet.hosts.map((host) => [host, vars]))
  expectPlayed(await ansible.play('setup.yml', key, { hostVars }), { changed: 2 })
  expect(fleet.snapshot()['host1 bob .codex/config.toml']).toContain(other.url)
  expectPlayed(await ansible.play('use.yml', key, { hostVars }), { changed: 1 })
  expect(fleet.snapshot()).toEqual(after)
})

test('rollback restores every account, and with --force also what someone changed in between', async () => {
  const played = await ansible.play('rollback.yml', rotated)
  expectPlayed(played, { changed: 1, failed: ['host2'] })
  expect(played.output).toContain('bob: status 10')

  const host2 = { repoint_force: true }
  const [hosts, args] = [['host2'], only('host2')]
  const forced = await ansible.play('rollback.yml', rotated, { args, hostVars: { host2 } })
  expectPlayed(forced, { changed: 1, hosts })
  expect(fleet.snapshot()).toEqual(before)
  expectPlayed(await ansible.play('rollback.yml', rotated), { changed: 0 })
})

test('a host that is killed during a run is complete after the next run', async () => {
  await fleet.stop('host1')
  await fleet.start('host1', {
    NODE_OPTIONS: '--import=/srv/kill-hook.mjs',
    // All files are switched, and the run is not committed.
    KILL_BEFORE: '^rename .*/journal.json',
  })
  const hosts = ['host1']
  const args = only(...hosts)
  const played = await ansible.play('setup.yml', rotated, { args })
  expect(played.recap, played.output).toMatchObject({ host1: { failed: 1 } })
  for (const user of ['alice', 'bob'] as const)
    expect(existsSync(fleet.homeFile('host1', user, '.local/state/repoint/journal.json'))).toBe(
      true,
    )
  await fleet.stop('host1')
  await fleet.start('host1')

  // The host is a container, so nobody can tell whether the run of the last one still lives, until its lock is old.
  const early = await ansible.play('setup.yml', rotated, { args })
  expect(early.output).toContain('bob: status 9, Another run of repoint is in progress')
  for (const user of ['alice', 'bob'] as const) makeLockOld(user)
  expectPlayed(await ansible.play('setup.yml', rotated, { args }), { changed: 2, hosts })
  expectPlayed(await ansible.play('setup.yml', rotated, { args }), { changed: 0, hosts })
  expectPlayed(await ansible.play('rollback.yml', rotated, { args }), { changed: 1, hosts })
  expect(fleet.snapshot()).toEqual(before)
})

/** Sets the time of the lock to eleven minutes ago. */
function makeLockOld(user: 'alice' | 'bob'): void {
  const lock = fleet.homeFile('host1', user, '.local/state/repoint/lock')
  const old = Date.now() / 1000 - 11 * 60
  for (const name of readdirSync(lock)) utimesSync(join(lock, name), old, old)
}

test('a host without Node gets the single executable, which sets up and undoes the same', async () => {
  execFileSync(process.execPath, ['scripts/build-binary.js'], { stdio: 'ignore' })
  await fleet.stop('host2')
  rmSync(fleet.shared('host2', 'bin/repoint'))
  await fleet.start('host2', {}, false)
  const hosts = ['host2']
  const args = only(...hosts)
  const refused = await ansible.play('setup.yml', rotated, { args })
  expect(refused.output).toContain('and here is none')

  const host2 = { repoint_program: resolve('dist/binary/repoint') }
  const play = (playbook: string) => ansible.play(playbook, rotated, { args, hostVars: { host2 } })
  expectPlayed(await play('setup.yml'), { changed: 3, hosts })
  expect(fleet.snapshot()['host2 bob .codex/config.toml']).toContain(gateway.url)
  expectPlayed(await play('setup.yml'), { changed: 0, hosts })
  expectPlayed(await play('rollback.yml'), { changed: 1, hosts })
  expect(fleet.snapshot()).toEqual(before)
}, 240_000)
