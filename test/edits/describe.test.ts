import { describe, expect, test } from 'vitest'
import { describeEdit } from '../../src/edits/describe.ts'
import { formatOf } from '../../src/edits/format.ts'
import {
  addToList,
  type ConfigValue,
  type FileEdit,
  removeFromList,
  type SettingChange,
} from '../../src/edits/types.ts'
import { bytesOf } from './helpers.ts'

const options = { showPath: (path: string) => path.replace('/home/ana', '~') }

function anEdit(
  format: 'toml' | 'json',
  before: string | null,
  changes: readonly SettingChange[],
  whole?: string,
): FileEdit {
  const old = before === null ? null : bytesOf(before)
  const after = whole === undefined ? formatOf(format).edit(old, changes, 'x') : bytesOf(whole)
  return {
    client: 'x',
    path: `/home/ana/file.${format}`,
    format,
    scope: whole === undefined ? 'keys' : 'whole',
    changes,
    before: old,
    after,
    holdsSecret: true,
  }
}

describe('describe', () => {
  test('shows what is added, changed and removed, and not what stays', () => {
    const edit = anEdit('toml', 'model = "a"\nprofile = "p"\nsame = 1\n', [
      { path: ['model'], value: 'gpt-5.6-sol' },
      { path: ['same'], value: 1 },
      { path: ['profile'], value: undefined },
      { path: ['never-there'], value: undefined },
      { path: ['model_providers', 'gate way', 'requires_openai_auth'], value: true },
    ])
    expect(describeEdit(edit, options)).toEqual([
      '~/file.toml (will be updated)',
      '  ~ model: "a" -> "gpt-5.6-sol"',
      '  - profile',
      '  + model_providers."gate way".requires_openai_auth = true',
    ])
  })

  test('shows which elements of a list are added and removed', () => {
    const edit = anEdit('json', '{"on":["a"],"off":["x","b"]}', [
      addToList(['on'], 'x'),
      addToList(['on'], 'a'),
      removeFromList(['off'], 'x'),
      removeFromList(['off'], 'y'),
    ])
    expect(describeEdit(edit, options).slice(1)).toEqual(['  + on: "x"', '  - off: "x"'])
  })

  test('shows the path of a list, and the members that identify a table in it', () => {
    const model = { element: { id: 'gpt', at: 'here' } }
    const edit = anEdit('json', null, [
      addToList(['only', 'these', 'models'], 'x'),
      { path: ['models', model, 'url'], value: 'u' },
      { path: ['others', model], value: { id: 'gpt', at: 'here' } },
    ])
    expect(describeEdit(edit, options).slice(1)).toEqual([
      '  + only.these.models: "x"',
      '  + models."gpt here".url = "u"',
      '  + others."gpt here" = {"id":"gpt","at":"here"}',
    ])
  })

  test.each<[string, SettingChange['value'], string]>([
    ['maxOutputTokens', 4096, '4096'],
    ['env.CLAUDE_CODE_MAX_CONTEXT_TOKENS', '200000', '"200000"'],
    ['env.SOME_TOKENS', 'a-b', '....'],
    ['models.maxTokens', 16_384, '16384'],
    ['auth.selectedType', 'openai', '"openai"'],
    ['auth.other', 'sk-secret-1111', '....1111'],
    ['auth.typed', 'sk-secret-2222', '....2222'],
    ['cli_auth_credentials_store', 'file', '"file"'],
  ])('tells by the name and the value whether it is a secret: %s = %j', (path, value, shown) => {
    const change = { path: path.split('.'), value }
    expect(describeEdit(anEdit('json', null, [change]), options)[1]).toBe(`  + ${path} = ${shown}`)
  })

  test('masks a string that is replaced by a number', () => {
    const change = { path: ['maxOutputTokens'], value: 4096 }
    const edit = anEdit('json', '{"maxOutputTokens":"sk-secret-1111"}', [change])
    expect(describeEdit(edit, options)[1]).not.toContain('sk-secret')
  })

  test('shows created, removed and unchanged', () => {
    const changes = [{ path: ['a'], value: 1n }]
    expect(describeEdit(anEdit('json', null, changes), options)).toEqual([
      '~/file.json (will be created)',
      '  + a = 1',
    ])
    const same = anEdit('json', '{"a":1}', changes)
    expect(describeEdit(same, options)).toEqual(['~/file.json (unchanged)'])
    expect(describeEdit({ ...same, before: null, after: null }, options)).toEqual([
      '~/file.json (unchanged)',
    ])
    expect(describeEdit({ ...same, changes: [], after: null }, options)).toEqual([
      '~/file.json (will be removed)',
      '  - a',
    ])
  })

  test('masks a secret and the one that it replaces; a short one completely, an empty one not', () => {
    const change = { path: ['env', 'KEY'], isSecret: true }
    const edit = (old: string, value: string) =>
      describeEdit(anEdit('json', `{"env":{"KEY":"${old}"}}`, [{ ...change, value }]), options)[1]
    expect(edit('old-secret-1111', 'new-secret-2222')).toBe('  ~ env.KEY: ....1111 -> ....2222')
    expect(edit('elevenchars', 'short')).toBe('  ~ env.KEY: .... -> ....')
    expect(edit('elevenchars', '')).toBe('  ~ env.KEY: .... -> ""')
    const changes = [{ ...change, value: { type: 'api', key: 'sk-in-a-table-9999' } }]
    expect(describeEdit(anEdit('json', null, changes), options)[1]).toBe('  + env.KEY = ....')
  })

  test('masks members with names of secrets inside a value, and shows the rest', () => {
    const value = {
      options: { apiKey: 'sk-secret-3333', baseURL: 'u', hasToken: true },
      models: [{ token: 'sk-secret-4444' }, null],
      size: 2n ** 60n,
    }
    const changes = [{ path: ['provider', 'gw'], value }]
    expect(describeEdit(anEdit('json', null, changes), options)[1]).toBe(
      '  + provider.gw = {"options":{"apiKey":"....3333","baseURL":"u","hasToken":true},"models":[{"token":"....4444"},null],"size":"1152921504606846976"}',
    )
  })

  test('shows five or more entries of one table in one line', () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const all = (table: string, value: ConfigValue | undefined, some = names) =>
      some.map((name) => ({ path: ['t', table, name], value }))
    const old = Object.fromEntries(names.map((name) => [name, 1]))
    const edit = anEdit('json', JSON.stringify({ t: { old, few: old } }), [
      ...all('new', {}),
      ...all('old', undefined),
      ...all('few', undefined, names.slice(1)),
      ...all('full', 1),
    ])
    expect(describeEdit(edit, options).slice(1)).toEqual([
      '  + t.new: 5 entries: a, b, c, d, e',
      '  - t.old: 5 entries: a, b, c, d, e',
      ...names.slice(1).map((name) => `  - t.few.${name}`),
      ...names.map((name) => `  + t.full.${name} = 1`),
    ])
  })

  test('shows the new mode of a file, even if the contents stay', () => {
    const changes = [{ path: ['a'], value: 1 }]
    const edit = (before: string) => ({ ...anEdit('json', before, changes), mode: 0o600 })
    expect(describeEdit(edit('{"a":1}'), options)).toEqual([
      '~/file.json (will be updated)',
      '  ~ mode: 0600',
    ])
    expect(describeEdit(edit('{}'), options).slice(1)).toEqual(['  + a = 1', '  ~ mode: 0600'])
  })

  test('names the keys that are removed if a whole file is replaced', () => {
    const before =
      '{"tokens":{"access_token":"t"},"auth_mode":"chatgpt","OPENAI_API_KEY":null,"same":1}'
    const changes = [
      { path: ['OPENAI_API_KEY'], value: 'sk-0123456789', isSecret: true },
      { path: ['auth_mode'], value: undefined },
      { path: ['new'], value: 1 },
    ]
    const after = '{"OPENAI_API_KEY":"sk-0123456789","same":1,"new":1,"back":1}'
    expect(describeEdit(anEdit('json', before, changes, after), options)).toEqual([
      '~/file.json (will be updated)',
      '  + OPENAI_API_KEY = ....6789',
      '  - auth_mode',
      '  + new = 1',
      '  - tokens',
      '  + back (as before)',
    ])
  })

  test('describes the edit of a file that cannot be parsed', () => {
    const edit = anEdit('json', '{ broken', [{ path: ['a'], value: 1 }], '{"a":1}')
    expect(describeEdit(edit, options)).toEqual(['~/file.json (will be updated)', '  + a = 1'])
    const same = { ...edit, after: bytesOf('{ broken') }
    expect(describeEdit(same, options)).toEqual(['~/file.json (unchanged)'])
  })

  test('removes escape characters from values, keys and paths', () => {
    const hostile = '\u001b[31mred\u001b]0;title\u0007\u009b\u202e\r\n'
    const edit = anEdit('json', JSON.stringify({ m: hostile, [hostile]: 1 }), [
      { path: ['m'], value: `${hostile}2` },
      { path: [hostile], value: 2 },
    ])
    const shown = describeEdit(edit, { showPath: () => hostile })
    expect(shown.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })
})
