import { expect, test } from 'vitest'
import {
  aMachine,
  byId,
  type Disk,
  filesOf,
  planOn,
  readValues,
  type StateValues,
  written,
} from './support.ts'

const provider = '[model_providers.gw]\nname = "Gw"\nbase_url = "https://gw.example/v1/"\n'
const withAuth = `model_provider = "gw"\nmodel = "m"\n${provider}requires_openai_auth = true\n`
const auth = (text: string) => ({ '.codex/auth.json': text })

test.each<readonly [string, string, Disk, StateValues]>([
  ['codex', 'nothing', {}, {}],
  [
    'codex',
    'a pair',
    { '.codex/config.toml': withAuth, ...auth('{"OPENAI_API_KEY":"sk"}') },
    {
      baseUrl: 'https://gw.example/v1',
      model: 'm',
      providerId: 'gw',
      key: 'sk',
      keyPath: '/home/ada/.codex/auth.json',
      alsoSendsTo: 'https://api.openai.com',
    },
  ],
  [
    'codex',
    "a pair, with the gateway's address for earlier conversations",
    {
      '.codex/config.toml': `openai_base_url = "https://gw.example/v1"\n${withAuth}`,
      ...auth('{"OPENAI_API_KEY":"sk"}'),
    },
    {
      baseUrl: 'https://gw.example/v1',
      model: 'm',
      providerId: 'gw',
      key: 'sk',
      keyPath: '/home/ada/.codex/auth.json',
    },
  ],
  [
    'codex',
    "Codex's own provider at another address",
    {
      '.codex/config.toml': 'openai_base_url = "https://gw.example/v1"\n',
      ...auth('{"OPENAI_API_KEY":"sk"}'),
    },
    {
      baseUrl: 'https://gw.example/v1',
      key: 'sk',
      keyPath: '/home/ada/.codex/auth.json',
    },
  ],
  [
    'codex',
    'a provider that sends no key',
    {
      '.codex/config.toml': `model_provider = "gw"\n${provider}`,
      ...auth('{"OPENAI_API_KEY":"sk"}'),
    },
    {
      baseUrl: 'https://gw.example/v1',
      providerId: 'gw',
    },
  ],
  ...[
    ['without a name', '[model_providers.old]\nstream_max_retries = 3\n', /old\] has no name/],
    ['of the old kind', '[model_providers.x]\nname = "X"\nwire_api = "chat"\n', /"chat"/],
    ['with a reserved ID', '[model_providers.openai]\nname = "X"\n', /Codex reserves/],
    ['that is missing', 'model_provider = "gone"\n', /"gone" has no table/],
  ].map(([what, config, why]): readonly [string, string, Disk, StateValues] => [
    'codex',
    `a provider ${what}, with which Codex does not start`,
    { '.codex/config.toml': config as string },
    expect.objectContaining({ broken: expect.stringMatching(why!) }) as unknown as StateValues,
  ]),
  ['codex', 'an empty key', auth('{"OPENAI_API_KEY":""}'), {}],
  ['codex', 'a login', auth('{"tokens":{}}'), { login: 'a ChatGPT login' }],
  [
    'codex',
    'a newer kind of login',
    auth('{"auth_mode":"agentIdentity","OPENAI_API_KEY":"sk"}'),
    { login: 'a login of the kind "agentIdentity"' },
  ],
  [
    'codex',
    'a broken file',
    { '.codex/config.toml': 'model = ' },
    { broken: expect.stringMatching(/config\.toml.*line 1/) as unknown as string },
  ],
  ['claude', 'nothing', {}, { model: 'opus', slot: 'opus', unsetOptions: ['slot'] }],
  [
    'claude',
    'a mapping',
    {
      '.claude/settings.json': JSON.stringify({
        env: {
          ANTHROPIC_BASE_URL: 'https://gw.example/',
          ANTHROPIC_AUTH_TOKEN: 'sk',
          ANTHROPIC_DEFAULT_OPUS_MODEL: 'a',
          CLAUDE_CODE_SUBAGENT_MODEL: 'b',
          ANTHROPIC_SMALL_FAST_MODEL: 'c',
        },
        model: 'haiku',
      }),
    },
    {
      baseUrl: 'https://gw.example',
      key: 'sk',
      keyPath: '/home/ada/.claude/settings.json',
      model: 'haiku',
      slot: 'haiku',
      slotModels: { opus: 'a' },
      subagentModel: 'b',
      smallModel: 'c',
    },
  ],
  [
    'claude',
    'a file that the client skips',
    { '.claude/settings.json': '{"env":{"ANTHROPIC_AUTH_TOKEN":"sk"}} // mine' },
    { broken: '/home/ada/.claude/settings.json line 1, column 39: a comment' },
  ],
  [
    'claude',
    'a saved login without a token',
    { '.claude/.credentials.json': '{}' },
    { model: 'opus', slot: 'opus', unsetOptions: ['slot'], login: 'a saved login' },
  ],
  ['opencode', 'nothing', {}, {}],
  [
    'opencode',
    'merged files with the key in auth.json',
    {
      '.config/opencode/config.json':
        '{"model":"x/y","provider":{"gw":{"options":{"baseURL":"https://gw.example/v1"}}}}',
      '.config/opencode/opencode.json': '{"provider":{"gw":{"options":{"timeout":5}}}}',
      '.config/opencode/opencode.jsonc': '{"model":"gw/a/b","small_model":"other/c", /* , */}',
      '.local/share/opencode/auth.json': '{"gw":{"type":"api","key":"sk"}}',
    },
    {
      baseUrl: 'https://gw.example/v1',
      protocol: 'chat',
      unsetOptions: ['protocol'],
      providerId: 'gw',
      model: 'a/b',
      smallModel: 'other/c',
      key: 'sk',
      keyPath: '/home/ada/.local/share/opencode/auth.json',
    },
  ],
  [
    'opencode',
    'the protocol of a model, with the base URL for it',
    {
      '.config/opencode/opencode.json':
        '{"model":"gw/a","provider":{"gw":{"options":{"baseURL":"https://gw.example/v1"},"models":{"a":{"provider":{"npm":"@ai-sdk/anthropic"}}}}}}',
    },
    { baseUrl: 'https://gw.example', protocol: 'messages', providerId: 'gw', model: 'a' },
  ],
  [
    'opencode',
    'an empty inline key, which hides the key in auth.json',
    {
      '.config/opencode/opencode.json':
        '{"model":"gw/a","provider":{"gw":{"options":{"apiKey":""}}}}',
      '.local/share/opencode/auth.json': '{"gw":{"type":"api","key":"sk"}}',
    },
    { providerId: 'gw', model: 'a' },
  ],
  [
    'opencode',
    'a broken file next to a good one',
    {
      '.config/opencode/opencode.json': '{"model":"gw/a"}',
      '.config/opencode/opencode.jsonc': '{"model":',
    },
    {
      providerId: 'gw',
      model: 'a',
      broken: expect.stringMatching(/opencode\.jsonc.*line 1/) as unknown as string,
    },
  ],
])('%s: reads back %s', (id, _, disk, expected) => {
  expect(readValues(byId(id), aMachine(), disk)).toEqual(expected)
})

test('a list as long as that of a gateway with 20,000 models can be read again', () => {
  const client = byId('opencode')
  // Fewer models, with longer IDs.
  const models = Array.from({ length: 6_000 }, (_, n) => {
    const id = `vendor/${'m'.repeat(180)}-${n}`
    return { id, displayName: id, contextWindow: 128_000 }
  })
  const { machine, edits, target } = planOn(client, {}, { catalog: { models } })
  const disk = written({}, machine, edits)
  expect(Math.max(...edits.map(({ after }) => after?.length ?? 0))).toBeGreaterThan(2_500_000)
  const { endpoint, findings } = client.read(filesOf(client, machine, disk))
  expect([endpoint.baseUrl, endpoint.key, findings]).toEqual([target.baseUrl, target.key, []])
}, 60_000)
