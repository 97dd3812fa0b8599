import { describe, expect, test } from 'vitest'
import {
  proxyFindings,
  unknownVariableFindings,
  variableFindings,
  variablesToRemove,
} from '../../src/clients/checks/environment.ts'
import { loadAllClients } from '../../src/clients/list.ts'
import { aContext, aMachine, byId, windows } from './support.ts'

const clients = await loadAllClients()
const families = clients.filter(
  (client, index) => clients.findIndex(({ family }) => family === client.family) === index,
)

describe.each(families.map((client) => [client.id, client] as const))('%s', (_, client) => {
  const { variables } = client.config
  const [family = ''] = variables.families

  test('a run starts without harmful and unknown variables, and keeps the others', () => {
    const removed = variables.harmful.filter(({ isLeftToLaunch }) => !isLeftToLaunch)
    const harmless = variables.harmless.map((name) => name.replaceAll('*', 'X'))
    const env = Object.fromEntries(
      [
        ...variables.harmful.map(({ name }) => name),
        ...harmless,
        ...['NEW_TOKEN', 'NEW_BASE_URL', 'NEW_AUTH_FILE', 'NEW_API_KEY', 'NEW_IDENTITY'].map(
          (name) => family + name,
        ),
        `${family}NEW_TOKENS`,
        `${family}NEW_TIMEOUT`,
        'OTHER_API_KEY',
      ].map((name) => [name, 'x']),
    )
    expect([...variablesToRemove(client, env)].sort()).toEqual(
      [
        ...removed.map(({ name }) => name),
        ...['NEW_TOKEN', 'NEW_BASE_URL', 'NEW_AUTH_FILE', 'NEW_API_KEY', 'NEW_IDENTITY'].map(
          (name) => family + name,
        ),
      ].sort(),
    )
  })
})

test.each([
  ['opencode', 'OPENCODE_CONFIG_CONTENT'],
  ['kilo', 'KILO_CONFIG_CONTENT'],
  ['kimi', 'KIMI_MODEL_NAME'],
])('%s: a run extends or replaces %s itself', (id, name) => {
  expect(variablesToRemove(byId(id), { [name]: '{}' })).toEqual([])
})

describe('a client with a proxy', () => {
  const here = 'http://127.0.0.1:4000'

  test.each<readonly [string, string, Record<string, string>, string | undefined]>([
    ['HTTP_PROXY', here, { HTTP_PROXY: 'http://p' }, 'HTTP_PROXY'],
    ['http_proxy', here, { http_proxy: 'http://p' }, 'http_proxy'],
    ['HTTPS_PROXY for https', 'https://localhost:1', { HTTPS_PROXY: 'http://p' }, 'HTTPS_PROXY'],
    ['HTTP_PROXY for https', 'https://localhost:1', { HTTP_PROXY: 'http://p' }, undefined],
    ['ALL_PROXY that it does not read', here, { ALL_PROXY: 'http://p' }, undefined],
    ['another host', 'https://gw.example', { HTTPS_PROXY: 'http://p' }, undefined],
    ['NO_PROXY', here, { HTTP_PROXY: 'http://p', NO_PROXY: 'a, 127.0.0.1' }, undefined],
    ['no_proxy', here, { HTTP_PROXY: 'http://p', no_proxy: '127.0.0.1' }, undefined],
    ['NO_PROXY for all', here, { HTTP_PROXY: 'http://p', NO_PROXY: '*' }, undefined],
    ['NO_PROXY for IPv6', 'http://[::1]:1', { HTTP_PROXY: 'http://p', NO_PROXY: '::1' }, undefined],
    ['another NO_PROXY', here, { HTTP_PROXY: 'http://p', NO_PROXY: 'a' }, 'HTTP_PROXY'],
  ])('at its gateway on this machine: %s', (_, url, env, variable) => {
    const [found] = proxyFindings(byId('codex'), url, env)
    expect(found?.message.split(' ')[0]).toBe(variable)
  })

  test('keeps the hosts of NO_PROXY, and asks unless it has a fix', () => {
    const env = { HTTP_PROXY: 'http://p', NO_PROXY: 'a, b' }
    const fix = { fileKind: 'settings', changes: [] }
    let exempt = ''
    const parts = (proxy: { readonly exempt: string }) => {
      exempt = proxy.exempt
      return { fix }
    }
    const [fixed] = proxyFindings(byId('claude'), here, env, { parts })
    expect([exempt, fixed?.needsConsentTo]).toEqual(['a,b,127.0.0.1', undefined])
    expect([...proxyFindings(byId('codex'), here, env)][0]?.needsConsentTo).toBeDefined()
  })
})

describe('a harmful variable', () => {
  const codex = byId('codex')
  const variable = { name: 'X_KEY', code: 'x', effect: 'it harms', severity: 'error' } as const
  const shellProfiles = [{ path: '/home/ada/.bashrc', text: 'export X_KEY=1\n' }]
  const found = (
    changes: Parameters<typeof aMachine>[0],
    more: Parameters<typeof aContext>[3] = {},
    change: object = {},
  ) => [
    ...variableFindings(aContext(codex, aMachine(changes), {}, more), [{ ...variable, ...change }]),
  ]
  const env = { X_KEY: '1' }

  test('of this shell only: somebody must find out what sets it', () => {
    expect(found({ env })).toMatchObject([
      { location: 'environment', hint: expect.stringMatching(/^Find out .*: unset X_KEY$/) },
    ])
    const [onWindows] = found({ ...windows, env })
    expect(onWindows?.hint).toMatch(/Remove-Item Env:X_KEY$/)
  })

  test('of a shell profile too: each has its place', () => {
    expect(found({ env }, { shellProfiles })).toMatchObject([
      { location: 'environment', hint: 'unset X_KEY' },
      { location: '/home/ada/.bashrc:1' },
    ])
  })

  test.each([
    ['an error without a fix', {}, true],
    ['an error with a fix', { fix: { fileKind: 'config', changes: [] } }, false],
    ['a warning', { severity: 'warning' }, false],
  ])('needs consent: %s', (_, change, needsConsent) => {
    const [first] = found({ env }, {}, change)
    expect(first?.needsConsentTo !== undefined).toBe(needsConsent)
  })

  test('that repoint does not know is reported, also in a shell profile', () => {
    const unknown = [{ path: '/home/ada/.bashrc', text: 'export CODEX_NEW_TOKEN=1\n' }]
    const context = aContext(codex, aMachine(), {}, { shellProfiles: unknown })
    expect([...unknownVariableFindings(codex, context)]).toMatchObject([
      { code: 'unknown-variable', location: '/home/ada/.bashrc:1' },
    ])
    const known = aContext(codex, aMachine({ env: { CODEX_API_KEY: 'x' } }), {})
    expect([...unknownVariableFindings(codex, known)]).toEqual([])
  })
})
