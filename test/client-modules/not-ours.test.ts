import { expect, test } from 'vitest'
import { aMachine, byId, type Disk, findingsOn } from './support.ts'

/** Variables that are correct for a client's own service. */
const env = { ANTHROPIC_API_KEY: 'sk-mine', CODEX_API_KEY: 'sk-mine' }

test.each<readonly [client: string, what: string, disk: Disk]>([
  ['codex', 'its own service', { '.codex/auth.json': '{"tokens":{}}' }],
  [
    'codex',
    'a provider with a separate key',
    {
      '.codex/auth.json': '{"OPENAI_API_KEY":"sk-a"}',
      '.codex/config.toml':
        'model_provider = "azure"\n[model_providers.azure]\nname = "Azure"\nbase_url = "https://az.example/v1"\nenv_key = "AZURE"\n',
    },
  ],
  ['claude', 'its own service', { '.claude/settings.json': '{"apiKeyHelper":"/bin/x"}' }],
  [
    'claude',
    'another address with an API key',
    {
      '.claude/settings.json':
        '{"env":{"ANTHROPIC_BASE_URL":"https://x.example","ANTHROPIC_API_KEY":"sk"}}',
    },
  ],
  [
    'opencode',
    'a provider with its key in its options',
    {
      '.config/opencode/opencode.json': JSON.stringify({
        provider: {
          azure: {
            options: { baseURL: 'https://az.example/v1', apiKey: '{env:AZURE}' },
            models: { a: {} },
          },
        },
        model: 'azure/a',
      }),
    },
  ],
])('doctor offers no fix for %s with %s', (id, _, disk) => {
  const client = byId(id)
  const found = findingsOn(client, disk, aMachine({ env }))
  expect(found.filter(({ fix }) => fix !== undefined)).toEqual([])
})
