import { describe, expect, test } from 'vitest'
import { runKeyVariable } from '../../src/clients/client.ts'
import type { Finding } from '../../src/finding.ts'
import type { Machine } from '../../src/platform/platform.ts'
import {
  aMachine,
  byId,
  type Disk,
  key,
  obstaclesOn,
  planOn,
  readValues,
  type StateValues,
  text,
} from './support.ts'

const cline = byId('cline')
const file = '.cline/data/settings/providers.json'
const path = `/home/ada/${file}`

const ours = {
  provider: 'openai-compatible',
  apiKey: 'sk-a',
  model: 'big',
  baseUrl: 'https://gw.example/v1',
}
const entry = { settings: ours, updatedAt: '2026-11-23T00:00:00.000Z', tokenSource: 'manual' }
const own = { baseUrl: ours.baseUrl, model: 'big', key: 'sk-a', keyPath: path }

/** As a setup leaves it, with something else in its place. */
function home(more: object = {}, settings: object = {}, others: object = {}): Disk {
  return {
    [file]: JSON.stringify({
      version: 1,
      lastUsedProvider: 'openai-compatible',
      providers: {
        ...others,
        'openai-compatible': { ...entry, settings: { ...ours, ...settings } },
      },
      ...more,
    }),
  }
}

const login = {
  cline: { ...entry, settings: { provider: 'cline', auth: { accessToken: 'token' } } },
}
const broken = (why: string) => ({ broken: expect.stringContaining(why) })

/** Each was run with 3.0.57 or 3.0.65, 2026-11-23. */
describe('what it believes', () => {
  test.each<readonly [string, Disk, StateValues]>([
    ['nothing', {}, {}],
    ['a setup', home(), own],
    ['what it does not know beside it', home({ extra: 1 }, { more: 2 }), own],
    ['a window', home({}, { contextWindow: 9000 }), { ...own, contextWindow: 9000 }],
    [
      'a key in a header of its own',
      home({}, { apiKey: undefined, headers: { 'api-key': 'sk-b', 'X-Team': 'a' } }),
      {
        ...own,
        key: 'sk-b',
        keyHeader: 'api-key',
        headers: [{ name: 'x-team', value: 'a' }],
      },
    ],
    ['another provider', home({ lastUsedProvider: 'ollama' }), {}],
    [
      'a login',
      home({ lastUsedProvider: 'cline' }, {}, login),
      { login: 'the login of its provider cline' },
    ],
    [
      'a token that goes in the place of the key',
      home({}, { auth: { accessToken: 'token' } }),
      { login: 'the login of its provider openai-compatible' },
    ],
    ['a comment', { [file]: `// mine\n${home()[file]}` }, broken('a comment')],
    ['a byte order mark', { [file]: `\ufeff${home()[file]}` }, broken('a byte order mark')],
    ['no version', home({ version: undefined }), broken('version is missing')],
    ['an address that is none', home({}, { baseUrl: 'gw' }), broken('settings.baseUrl')],
    [
      'an entry of another provider that is none',
      home({}, {}, { ollama: { ...entry, updatedAt: '2026-11-23T00:00:00+02:00' } }),
      broken('providers.ollama.updatedAt has a value'),
    ],
    [
      'where it came from is no word of its own',
      home({}, {}, { ollama: { ...entry, tokenSource: 'me' } }),
      broken('providers.ollama.tokenSource'),
    ],
  ])('%s', (_, disk, expected) => {
    expect(readValues(cline, aMachine(), disk)).toEqual(expected)
  })
})

describe('what is in the way', () => {
  const codesOf = (found: readonly Finding[]) => found.map(({ code }) => code)
  const keyed = { apiKey: undefined, headers: { 'api-key': 'sk-b' } }

  test.each<readonly [string, Disk, Partial<Machine['env']>]>([
    ['cline-providers-unreadable', { [file]: `{"version": 1,}` }, {}],
    ['cline-sandbox', home(), { CLINE_SANDBOX: '1' }],
    ['cline-no-key', home({}, { apiKey: undefined, baseUrl: 'https://b.example/v1' }), {}],
    ['cline-second-key', home({}, keyed), { OPENAI_API_KEY: 'sk-env' }],
    ['cline-placeholder-key', home({}, { apiKey: 'PROXY_MANAGED' }), {}],
    ['cline-proxy', home({}, { baseUrl: 'http://127.0.0.1:9/v1' }), { HTTP_PROXY: 'http://p' }],
    ['cline-base-url-version', home({}, { baseUrl: 'https://gw.example' }), {}],
    ['cline-relative-folder', {}, { CLINE_DIR: 'here' }],
  ])('%s', (code, disk, env) => {
    const ownRoots = [ours.baseUrl]
    expect(codesOf(obstaclesOn(cline, disk, aMachine({ env }), { ownRoots }))).toEqual([code])
  })

  test('a second key does no harm beside one of the file', () => {
    expect(obstaclesOn(cline, home(), aMachine({ env: { OPENAI_API_KEY: 'sk-env' } }))).toEqual([])
  })

  test.each<readonly [string, Disk, string]>([
    ['cline-provider-conflict', home({}, { baseUrl: 'https://b.example/v1' }), 'b.example'],
    ['cline-login', home({ lastUsedProvider: 'cline' }, {}, login), 'provider cline'],
  ])('%s is asked for before a setup', (code, disk, said) => {
    const found = planOn(cline, disk).obstacles.find((one) => one.code === code)
    expect(found?.message).toContain(said)
    expect(found?.consent).toBeDefined()
  })
})

describe('what is written', () => {
  test('a token that would go in the place of the key goes', () => {
    const { edits } = planOn(cline, home({}, { auth: { accessToken: 'token' } }))
    expect(text(edits[0]!.after!)).not.toContain('token"')
  })

  const ofLimit = (maxOutputTokens: number) => ({
    catalog: { models: [{ id: 'big', contextWindow: 200_000, maxOutputTokens }] },
  })

  test.each([
    [8_000, false],
    [32_000, true],
  ])('a model that gives %d tokens: it is told the window: %s', (limit, isTold) => {
    const options = { model: 'big' }
    const { edits, choice } = planOn(cline, {}, { ...ofLimit(limit), options })
    expect(text(edits[0]!.after!).includes('200000')).toBe(isTold)
    expect(choice.resolved.findings.map(({ code }) => code)).toEqual(
      isTold ? [] : ['context-window-left-out'],
    )
    const said = { ...options, contextWindow: 90_000 }
    for (const more of [{ options: said }, { kept: { options: said } }]) {
      const { edits, choice } = planOn(cline, {}, { ...ofLimit(limit), ...more })
      expect(text(edits[0]!.after!)).toContain('90000')
      expect(choice.resolved.findings).toEqual([])
    }
  })
})

describe('one process', () => {
  const asked = { args: ['hi there'], env: { [runKeyVariable]: key }, tempFolder: '/run' }
  const run = (more: Partial<typeof asked>, keyHeader?: 'api-key') => {
    const { texts, choice } = planOn(cline, home({}, { headers: { 'x-own': 'a' } }))
    return cline.launchSettings!(texts, { ...choice, keyHeader }, { ...asked, ...more })
  }

  test('has a file of its own without the key, and leaves no daemon behind', () => {
    const { args, env, files } = run({})
    expect(args).toEqual(asked.args)
    expect(env).toMatchObject({
      CLINE_PROVIDER_SETTINGS_PATH: '/run/cline-providers.json',
      OPENAI_API_KEY: key,
      CLINE_SESSION_BACKEND_MODE: 'local',
    })
    const [content = ''] = Object.values(files ?? {})
    expect(content).not.toContain(key)
    expect(content).not.toContain('x-own')
    expect(readValues(cline, aMachine(), { [file]: content })).toMatchObject({
      baseUrl: 'https://gw.example/v1',
    })
  })

  test.each([
    [{ args: ['--data-dir', '/x', 'hi there'] }, undefined, '--data-dir'],
    [{ args: ['--provider=ollama', 'hi there'] }, undefined, '--provider'],
    [{ args: ['-Pollama', 'hi there'] }, undefined, '-P'],
    [{ args: ['-vPollama', 'hi there'] }, undefined, '-vP'],
    [{ args: ['-kollama', 'hi there'] }, undefined, '-k'],
    [{ env: { CLINE_SANDBOX: '1' } }, undefined, 'CLINE_SANDBOX'],
    [{}, 'api-key' as const, 'api-key'],
  ])('is refused with %j and the key as %s', (more, keyHeader, said) => {
    const refused = () => run(more as Partial<typeof asked>, keyHeader)
    expect(refused).toThrow(said)
    expect(refused).not.toThrow('ollama')
  })

  test.each([
    [[]],
    [['mcp']],
    [['-i']],
    [['-vi', 'hi there']],
    [['--id=1', 'hi there']],
    [['-z', 'hi there']],
    [['-s', 'You are terse']],
  ])('is refused with %j: a program would stay that keeps the key', (args) => {
    expect(() => run({ args })).toThrow('leaves a program running')
  })
})
