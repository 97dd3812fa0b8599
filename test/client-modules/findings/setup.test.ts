import { describe, expect, test } from 'vitest'
import { aMachine, byId, catalogWithWindows, type Disk, findingsOn, planOn } from '../support.ts'
import { codexAuth, codexConfig, codexHome } from './homes.ts'

describe('a setup', () => {
  const cases: readonly (readonly [client: string, code: string, disk: Disk])[] = [
    [
      'codex',
      'codex-provider-conflict',
      {
        '.codex/config.toml':
          '[model_providers.gateway]\nname = "Other"\nbase_url = "https://other.example/v1"\n',
      },
    ],
    [
      'codex',
      'codex-openai-base-url',
      { '.codex/config.toml': 'openai_base_url = "https://other.example/v1"\n' },
    ],
    [
      'codex',
      'codex-context-window',
      { '.codex/config.toml': 'model = "other"\nmodel_context_window = 1000\n' },
    ],
    [
      'opencode',
      'opencode-provider-conflict',
      {
        '.config/opencode/opencode.json':
          '{"provider":{"gateway":{"options":{"baseURL":"https://me:pw@other.example/v1"}}}}',
      },
    ],
  ]
  test.each(cases)('of %s finds %s', (id, code, disk) => {
    const { findings } = planOn(byId(id), disk)
    expect(findings.map((one) => one.code)).toContain(code)
  })

  test('of codex finds nothing about a window in the file if the gateway reports it', () => {
    const config = 'model = "other"\nmodel_context_window = 1000\n'
    const setup = { options: { model: 'gpt-5.6-sol' }, catalog: catalogWithWindows }
    expect(planOn(byId('codex'), { '.codex/config.toml': config }, setup).findings).toEqual([])
  })

  test('does not show a password in an address', () => {
    const disk = cases.find(([, code]) => code === 'opencode-provider-conflict')![2]
    expect(JSON.stringify(planOn(byId('opencode'), disk).findings)).not.toContain('pw')
  })

  test.each([
    'https://me:pw@other.example/v1?key=pw#pw',
    'https://me:p@pw@other.example',
    'https://me:pw/?#pw@other.example/v1',
    'me:pw@other.example?k=pw',
  ])('shows no secret part of the address %s', (url) => {
    const codexDisk = { '.codex/config.toml': `[model_providers.gateway]\nbase_url = "${url}"\n` }
    const opencodeDisk = {
      '.config/opencode/opencode.json': JSON.stringify({
        provider: { gateway: { options: { baseURL: url } } },
      }),
    }
    for (const [id, disk] of [
      ['codex', codexDisk],
      ['opencode', opencodeDisk],
    ] as const) {
      const { findings } = planOn(byId(id), disk)
      expect(JSON.stringify(findings)).toContain('other.example')
      expect(JSON.stringify(findings)).not.toContain('pw')
    }
  })

  test.each<readonly [string, string, string, Disk]>([
    [
      'codex',
      'codex-login',
      'Replace your ChatGPT login in auth.json by the key. To keep it, add --keep-login. repoint rollback restores it.',
      { '.codex/auth.json': '{"OPENAI_API_KEY":null,"tokens":{"access_token":"t"}}' },
    ],
    [
      'codex',
      'codex-other-key',
      'Replace the API key in auth.json. repoint rollback restores it.',
      codexAuth,
    ],
    [
      'codex',
      'codex-unread-key',
      'Remove GLM_API_KEY from auth.json. repoint rollback restores it.',
      { '.codex/auth.json': '{"GLM_API_KEY":"sk-zcf"}' },
    ],
    [
      'opencode',
      'opencode-other-key',
      'Replace the login for gateway in auth.json. repoint rollback restores it.',
      { '.local/share/opencode/auth.json': '{"gateway":{"type":"oauth"}}' },
    ],
  ])(
    'of %s with %s says once what is lost, and names no command except in the question',
    (id, code, consent, disk) => {
      const found = planOn(byId(id), disk).findings.filter((one) => one.code === code)
      expect(found).toMatchObject([{ needsConsentTo: consent }])
      expect(`${found[0]!.message} ${found[0]!.hint}`).not.toMatch(
        /repoint (?:codex|opencode)|rollback/,
      )
    },
  )

  test.each(['codex', 'opencode'])('of %s replaces a placeholder key without a question', (id) => {
    const { findings } = planOn(byId(id), {
      '.codex/auth.json': '{"OPENAI_API_KEY":"PROXY_MANAGED"}',
      '.local/share/opencode/auth.json': '{"gateway":{"type":"api","key":"PROXY_MANAGED"}}',
    })
    expect(findings).toEqual([])
  })

  test('of codex needs no consent for a new key if repoint wrote the address', () => {
    const { findings } = planOn(byId('codex'), codexHome(), {
      target: { baseUrl: 'https://new.example/v1' },
      context: { writtenBaseUrls: ['https://gw.example/v1'] },
    })
    expect(findings).toEqual([])
  })

  test('of codex accepts a newer model that the gateway has, or that Codex did not offer', () => {
    const answered = '[notice.model_migrations]\n"gpt-5.6-sol" = "gpt-6-sol"\n'
    const found = (answer: string, knownModels: readonly string[]) => {
      const config = codexConfig.replace(/^model = .*$/m, 'model = "gpt-6-sol"') + answer
      const context = { writtenBaseUrls: ['https://gw.example/v1'], knownModels }
      const disk = { ...codexAuth, '.codex/config.toml': config }
      return findingsOn(byId('codex'), disk, aMachine(), context).map(({ code }) => code)
    }
    expect(found(answered, ['gpt-5.6-sol'])).toEqual(['codex-model-migrated'])
    expect(found(answered, ['gpt-5.6-sol', 'gpt-6-sol'])).toEqual([])
    expect(found('', ['gpt-5.6-sol'])).toEqual([])
  })

  test('of claude accepts a pin in the environment for a slot that it sets', () => {
    const { findings } = planOn(
      byId('claude-gpt'),
      {},
      {
        machine: aMachine({ env: { ANTHROPIC_DEFAULT_OPUS_MODEL: 'x' } }),
      },
    )
    expect(findings).toEqual([])
  })
})
