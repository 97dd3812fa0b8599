import { describe, expect, test } from 'vitest'
import { planFixes } from '../../src/clients/plan/edit-file.ts'
import { describeEdit } from '../../src/edits/describe.ts'
import type { FileEdit } from '../../src/edits/types.ts'
import { claudeHome, codexHome, opencodeHome } from './findings/homes.ts'
import { aMachine, byId, type Disk, filesOf, findingsOn, key, planOn } from './support.ts'

/** Does not look like a known kind of token. Some of its keys do not sound like secrets either. */
const secret = 'users-own-credential-1'

const homes: readonly (readonly [
  client: string,
  file: string,
  credential: string,
  path: readonly string[],
  disk: Disk,
])[] = [
  ...(['ANTHROPIC_API_KEY', 'ANTHROPIC_CUSTOM_HEADERS'] as const).map(
    (name) =>
      [
        'claude',
        'settings.json',
        name,
        ['env', name],
        claudeHome({}, { [name]: `x-api-key: ${secret}` }),
      ] as const,
  ),
  [
    'claude',
    'settings.json',
    'apiKeyHelper',
    ['apiKeyHelper'],
    claudeHome({ apiKeyHelper: secret }),
  ],
  [
    'codex',
    'config.toml',
    'experimental_bearer_token',
    ['model_providers', 'gateway', 'experimental_bearer_token'],
    codexHome(`experimental_bearer_token = "${secret}"\n`),
  ],
  [
    'opencode',
    'opencode.json',
    'options.apiKey',
    ['provider', 'gateway', 'options', 'apiKey'],
    opencodeHome({}, { options: { baseURL: 'https://gw.example/v1', apiKey: secret } }),
  ],
]

describe.each(homes)('%s: in %s, the value of %s', (id, file, _, path, disk) => {
  const client = byId(id)
  const written = { writtenBaseUrls: ['https://gw.example/v1'] }

  const check = (edits: readonly FileEdit[]) => {
    const edit = edits.find((one) => one.path.endsWith(file))!
    const change = edit.changes.find((one) => one.path.join('\0') === path.join('\0'))
    expect(change).toMatchObject({ isSecret: true, role: 'key' })
    const shown = describeEdit(edit, { showPath: (one) => one })
    expect(shown.join('\n')).not.toContain(secret)
  }

  test('is masked in the setup that removes it, and is undone together with the address', () => {
    check(planOn(client, disk).edits)
  })

  test('is masked in the fix that removes it', () => {
    const repairs = findingsOn(client, disk, aMachine(), written).flatMap(({ fix }) =>
      fix ? [fix] : [],
    )
    check(planFixes(client, filesOf(client, aMachine(), disk), repairs))
  })

  test('is not in any finding', () => {
    const all = [...findingsOn(client, disk, aMachine(), written), ...planOn(client, disk).findings]
    expect(all.length).toBeGreaterThan(1)
    expect(JSON.stringify(all)).not.toContain(secret)
  })
})

test('codex: the tokens of a login are masked in the fix that removes them', () => {
  const disk = {
    ...codexHome(),
    '.codex/auth.json': `{\n"auth_mode":"chatgpt",\n"OPENAI_API_KEY":"sk-a",\n"tokens":{"id":"${secret}"}\n}`,
  }
  const repairs = findingsOn(byId('codex'), disk).flatMap(({ fix }) => (fix ? [fix] : []))
  const [edit] = planFixes(byId('codex'), filesOf(byId('codex'), aMachine(), disk), repairs)
  const shown = describeEdit(edit!, { showPath: (one) => one }).join('\n')
  expect(shown).toContain('tokens')
  expect(shown).not.toContain(secret)
})

describe('opencode: the edit of an entry in auth.json', () => {
  const auth = '.local/share/opencode/auth.json'
  const shown = (disk: Disk) => {
    const { edits } = planOn(byId('opencode'), disk)
    return { edit: edits[0]!, lines: describeEdit(edits[0]!, { showPath: () => 'auth.json' }) }
  }

  test('shows the end of the key, and the type of the entry', () => {
    expect(shown({}).lines).toEqual([
      'auth.json (will be created)',
      '  + gateway.type = "api"',
      `  + gateway.key = ....${key.slice(-4)}`,
    ])
  })

  test('keeps other members', () => {
    const { edit } = shown({ [auth]: '{"gateway":{"type":"api","key":"sk-old","note":1}}' })
    expect(JSON.parse(new TextDecoder().decode(edit.after!))).toEqual({
      gateway: { type: 'api', key, note: 1 },
    })
  })

  test('replaces another kind of login completely, and does not show it', () => {
    const { edit, lines } = shown({
      [auth]: `{"gateway":{"type":"oauth","refresh":"${secret}"}}`,
    })
    expect(JSON.parse(new TextDecoder().decode(edit.after!))).toEqual({
      gateway: { type: 'api', key },
    })
    expect(lines.join('\n')).not.toContain(secret)
  })
})
