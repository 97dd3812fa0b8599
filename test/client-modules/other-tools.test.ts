import { describe, expect, test } from 'vitest'
import {
  foreignOrigin,
  originFinding,
  replacedOriginFinding,
} from '../../src/clients/checks/other-tools.ts'
import { emptyState } from '../../src/clients/contract/state.ts'
import { aMachine, byId, type Disk, emptyWorld, filesOf, findingsOn } from './support.ts'

/** The tool that wrote these values. Which files each tool writes: test/support/tool-homes.ts. */
function originOf(
  values: { readonly baseUrl?: string; readonly key?: string; readonly providerId?: string },
  disk: Disk = {},
  id = 'codex',
) {
  const { baseUrl, key, providerId } = values
  const machine = aMachine()
  const client = byId(id)
  const state = {
    ...emptyState,
    endpoint: { ...emptyState.endpoint, baseUrl, key },
    options: { providerId },
  }
  const folders = Object.keys(disk).map((path) => `/home/ada/${path.split('/')[0]}`)
  const world = emptyWorld(machine)
  const readdir = (path: string) => (folders.includes(path) ? [] : world.files.readdir(path))
  const files = { ...world.files, readdir }
  return foreignOrigin(client, filesOf(client, machine, disk), state, { ...world, files })
}

const config = '.codex/config.toml'

describe('repoint knows the tool', () => {
  test.each([
    ['cc-switch-cli', { baseUrl: 'http://127.0.0.1:15722' }],
    ['cc-switch-cli', { baseUrl: 'http://127.0.0.1:15723/v1' }],
    ['cc-switch-cli', { baseUrl: 'http://127.0.0.1:15724', key: 'PROXY_MANAGED' }],
    ['cc-switch', { baseUrl: 'http://localhost:15721/v1' }],
    ['cc-switch', { providerId: 'ccswitch' }],
    ['cc-switch', { providerId: 'cc-switch-official' }],
    ['cc-switch', { key: 'PROXY_MANAGED' }],
    ['cc-switch', { key: 'proxy-placeholder' }],
    ['claude-code-router', { baseUrl: 'http://[::1]:3456' }],
    ['claude-code-router', { providerId: 'claude-code-router' }],
    ['opencodex', { baseUrl: 'http://127.0.0.1:10100/v1' }],
    ['opencodex', { providerId: 'opencodex' }],
    ['ccs', { key: 'ccs-internal-managed' }],
    ["Vercel's CLI", { baseUrl: 'https://ai-gateway.vercel.sh/claude-code' }],
    ["Vercel's CLI", { baseUrl: 'https://ai-gateway.vercel.sh/codex/v1' }],
    ["Vercel's CLI", { baseUrl: 'https://ai-gateway.vercel.sh/coding-agent/v1' }],
    ['Ollama', { providerId: 'ollama-launch' }],
    ['Ollama', { providerId: 'ollama-launch-codex-app' }],
    ['Ollama', { baseUrl: 'http://localhost:11434/v1' }],
    ['CLIProxyAPI', { baseUrl: 'http://127.0.0.1:8317/v1' }],
    ['9router', { baseUrl: 'http://127.0.0.1:20128/v1' }],
  ])('%s by %j', (name, values) => {
    expect(originOf(values)).toMatchObject({ name, mark: expect.any(String) })
  })

  test.each([
    ['cc-switch', 'model_catalog_json = "cc-switch-model-catalog.json"'],
    ['claude-code-router', '# CLAUDE_AGENT_API_BASE_URL'],
    ['opencodex', '# Auto-injected by opencodex'],
    ['zcf', 'temp_env_key = "x"'],
    ['ccs', '# CCS_DROID_PROVIDER'],
  ])('%s by a text in a file of the client: %s', (name, text) => {
    expect(originOf({}, { [config]: text })).toMatchObject({ name })
    expect(originOf({}, { '/etc/codex/config.toml': text })).toBeUndefined()
  })

  test.each([
    { baseUrl: 'https://gw.example:15721/v1' },
    { baseUrl: 'http://127.0.0.1:1/v1' },
    { baseUrl: 'https://ai-gateway.vercel.sh/v1' },
    { providerId: 'mine', key: 'sk-mine' },
  ])('not by %j', (values) => {
    expect(originOf(values)).toBeUndefined()
  })

  const folders = { '.cc-switch/a': '', '.ufomiao/a': '', '.ccs/a': '' }
  test.each([
    ['codex', 'cc-switch or zcf'],
    ['claude', 'cc-switch, zcf or ccs'],
    ['opencode', 'cc-switch'],
    ['openclaw', 'cc-switch'],
    ['kimi', undefined],
  ])('or says which it may be, by their folders: for %s %s', (id, name) => {
    const origin = originOf({ baseUrl: 'https://gw.example' }, folders, id)
    expect(origin?.name).toBe(name)
    expect(origin?.mark).toBeUndefined()
    if (origin === undefined) return
    expect(originFinding(origin).message).toBe(`the gateway may come from ${name}`)
    expect(replacedOriginFinding(byId(id), origin).message).toContain(`may come from ${name}`)
  })
})

describe('a proxy of another tool', () => {
  const at = (url: string) => ({
    [config]: `model_provider = "x"\n[model_providers.x]\nname = "X"\nbase_url = "${url}"\n`,
  })
  const codesAt = (url: string, writtenBaseUrls: readonly string[] = []) =>
    findingsOn(byId('codex'), at(url), aMachine(), { writtenBaseUrls }).map(({ code }) => code)

  test('is reported only on this machine, and only if repoint did not write its address', () => {
    const url = 'http://127.0.0.1:15721/v1'
    expect(codesAt(url)).toContain('codex-local-proxy')
    expect(codesAt(url, [url])).not.toContain('codex-local-proxy')
    expect(codesAt('https://gw.example:15721/v1')).not.toContain('codex-local-proxy')
  })
})
