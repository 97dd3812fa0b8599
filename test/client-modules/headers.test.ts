import { describe, expect, test } from 'vitest'
import type { Client } from '../../src/clients/contract/client.ts'
import type { SetupTarget } from '../../src/clients/contract/setup.ts'
import { demoFiles } from '../../src/clients/demo-files.ts'
import { loadClients } from '../../src/clients/list.ts'
import { sendingFindings } from '../../src/clients/plan/headers.ts'
import { describeEdit } from '../../src/edits/describe.ts'
import { formatOf } from '../../src/edits/format.ts'
import { unusualKeyHeader } from '../../src/gateway/input/header.ts'
import type { ExtraHeader } from '../../src/gateway/types.ts'
import { undoOurs } from '../edits/undo-ours.ts'
import {
  aHistory,
  aMachine,
  byId,
  type Disk,
  filesOf,
  findingsOn,
  key,
  planOn,
  readValues,
  text,
  waysOf,
  written,
} from './support.ts'

const secret = 'pk-canary-header-d1c0b9a8f7e6d5c4'
const headers: readonly ExtraHeader[] = [
  { name: 'x-portkey-provider', value: 'openai' },
  { name: 'x-portkey-api-key', value: secret, isSecret: true },
]
const clients = await loadClients()

describe.each(
  clients.filter(({ sends }) => sends.headers).map((client) => [client.id, client] as const),
)('%s', (_, client) => {
  const ways = waysOf(client).map(
    ({ way, options, keyHeader }) => [way, { options, target: { headers, keyHeader } }] as const,
  )

  test.each(ways)('%s: the values are read back, masked and undone', (_, setup) => {
    const files = demoFiles[client.id] ?? {}
    const first = planOn(client, files, setup)
    const after = written(files, first.machine, first.edits)
    const state = readValues(client, first.machine, after)
    const sent = state.headers?.map(({ name, value }) => ({ name, value }))
    expect(sent).toEqual(headers.map(({ name, value }) => ({ name, value })))
    expect([state.key, state.keyHeader]).toEqual([key, unusualKeyHeader(first.target.keyHeader)])
    const blocking = findingsOn(client, after).filter(({ severity }) => severity === 'error')
    expect(blocking).toEqual([])

    for (const edit of first.edits) {
      if (text(edit.after).includes(secret)) expect(edit.holdsSecret).toBe(true)
      const shown = describeEdit(edit, { showPath: (path) => path }).join('\n')
      for (const canary of [secret, key]) expect(shown).not.toContain(canary)
      if (edit.scope === 'whole') continue
      const versions = { before: edit.before, written: edit.after, now: edit.after }
      const paths = edit.changes.map(({ path }) => path)
      expect(undoOurs(formatOf(edit.format), versions, paths, '').bytes).toEqual(edit.before)
    }
    const second = planOn(client, after, setup)
    expect(second.edits.every(({ before, after }) => before === after)).toBe(true)
  })

  test.each(ways)(
    '%s: a setup for another gateway removes the headers, and a run passes them without a secret in its arguments',
    (_, setup) => {
      const first = planOn(client, {}, setup)
      const between = written({}, first.machine, first.edits)
      const other = { baseUrl: 'https://other.example/v1', history: aHistory({ headers }) }
      const second = planOn(client, between, { ...setup, target: other })
      const after = written(between, first.machine, second.edits)
      expect(Object.values(after).join('\n')).not.toMatch(/portkey|\[object/)
      const state = readValues(client, first.machine, after)
      expect(state).toMatchObject({ key })
      expect(state).not.toHaveProperty('headers')
      expect(state).not.toHaveProperty('keyHeader')

      const launchInput = {
        args: ['say hello'],
        tempFolder: '/home/ada/run',
        env: { REPOINT_RUN_KEY: key },
      }
      const run = () => client.launchSettings(first.files, first.target, launchInput)
      // A run may not write the key into a file, and some clients cannot read every value from outside their files.
      if (first.target.keyHeader !== 'authorization' && isRefused(run)) return
      const { args, env, files = {} } = run()
      for (const canary of [secret, key]) expect(args.join(' ')).not.toContain(canary)
      expect(JSON.stringify(files)).not.toContain(key)
      expect(JSON.stringify([env, files])).toContain(secret)
      expect(JSON.stringify([args, env, files])).toContain('x-portkey-provider')
    },
  )
})

test('a setup reports headers that the client cannot send', () => {
  const plain: Client = { ...byId('codex'), label: 'Plain', sends: { headers: false } }
  const messages = (client: Client, gateway: Partial<SetupTarget>) =>
    [...sendingFindings(client, { keyHeader: 'authorization', ...gateway })].map(
      ({ message }) => message,
    )
  expect(messages(plain, { headers })).toEqual([
    expect.stringContaining('Plain cannot send additional headers'),
  ])
  for (const client of [plain, byId('claude')])
    expect(messages(client, { keyHeader: 'api-key' })).toEqual([
      expect.stringContaining('only as api-key'),
    ])
  // A header that the client can send over one of its protocols is no problem: `resolve` chooses it.
  const overMessages: Client = {
    ...plain,
    sends: { headers: true, otherKeyHeaders: { messages: ['x-api-key'] } },
  }
  expect(messages(overMessages, { keyHeader: 'x-api-key' })).toEqual([])
  expect(messages(plain, { headers: [] })).toEqual([])
})

describe('headers that exist before a setup', () => {
  const table = (line: string) =>
    `[model_providers.gateway]\nname = "G"\nbase_url = "https://gw.example/v1"\n${line}\n`

  test("codex: the user's headers keep their spelling and position", () => {
    const disk = {
      '.codex/config.toml': table(
        'http_headers = { "X-Team" = "a", "X-Portkey-Provider" = "old" } # mine',
      ),
    }
    const { edits } = planOn(byId('codex'), disk, { target: { headers } })
    const after = text(edits.find(({ path }) => path.endsWith('config.toml'))?.after)
    expect(after).toContain('"X-Team" = "a", "X-Portkey-Provider" = "openai"')
    expect(after).toContain('} # mine')
  })

  test("claude: a setup keeps the user's lines, and removes a credential among them with consent", () => {
    const env = {
      ANTHROPIC_CUSTOM_HEADERS: 'X-Team:  a\nx-api-key: sk-old\nx-portkey-provider: old',
    }
    const disk = { '.claude/settings.json': JSON.stringify({ env }) }
    const { edits, findings } = planOn(byId('claude'), disk, { target: { headers } })
    expect(JSON.parse(text(edits[0]!.after)).env.ANTHROPIC_CUSTOM_HEADERS).toBe(
      `X-Team:  a\nx-portkey-provider: openai\nx-portkey-api-key: ${secret}`,
    )
    expect(findings.map(({ code }) => code)).toEqual(['claude-custom-headers'])
  })

  test('claude: with the key as x-api-key only, Claude Code asks the user, and after "No" it would send a saved login', () => {
    const target = { keyHeader: 'x-api-key' } as const
    const code = (disk: Record<string, string>) => {
      const { findings } = planOn(byId('claude'), disk, { target })
      return findings.map((one) => [one.code, one.needsConsentTo !== undefined])
    }
    const login = { '.claude/.credentials.json': '{"claudeAiOauth":{}}' }
    const answered = (list: string) => ({
      '.claude.json': JSON.stringify({ customApiKeyResponses: { [list]: [key.slice(-20)] } }),
    })
    expect(code({})).toEqual([['claude-asks-for-key', false]])
    expect(code(login)).toEqual([['claude-asks-for-key', true]])
    expect(code({ ...login, ...answered('rejected') })).toEqual([['claude-asks-for-key', true]])
    expect(code({ ...login, ...answered('approved') })).toEqual([])
    const token = aMachine({ env: { ANTHROPIC_AUTH_TOKEN: 'sk-shell', ANTHROPIC_API_KEY: 'sk-x' } })
    const { edits, findings } = planOn(byId('claude'), answered('approved'), {
      target,
      machine: token,
    })
    expect(findings.map(({ code }) => code)).toEqual(['claude-shell-variable'])
    expect(JSON.parse(text(edits[0]!.after)).env).toMatchObject({
      ANTHROPIC_API_KEY: key,
      ANTHROPIC_AUTH_TOKEN: '',
    })
  })

  test('claude: a run at another address passes no lines of the file, even if they contain every header', () => {
    const lines = `x-portkey-provider: openai\nx-tenant: acme`
    const settingsFor = (url: string): Disk => ({
      '.claude/settings.json': JSON.stringify({
        env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_CUSTOM_HEADERS: lines },
      }),
    })
    const { machine, target } = planOn(byId('claude'), {}, { target: { headers: [headers[0]!] } })
    const launchInput = { args: [], tempFolder: '/home/ada/run', env: {} }
    const run = (disk: Disk) =>
      byId('claude').launchSettings(filesOf(byId('claude'), machine, disk), target, launchInput)

    expect(run(settingsFor(target.baseUrl)).env['ANTHROPIC_CUSTOM_HEADERS']).toBe(lines)
    expect(() => run(settingsFor('https://old.example'))).toThrow('ANTHROPIC_CUSTOM_HEADERS in ')
  })

  test('codex: if the key is in a header, a setup removes a ChatGPT login with consent', () => {
    const disk = { '.codex/auth.json': '{"auth_mode":"chatgpt","tokens":{"access_token":"t"}}' }
    const { edits, findings } = planOn(byId('codex'), disk, { target: { keyHeader: 'api-key' } })
    expect(findings.map(({ code }) => code)).toContain('codex-login')
    expect(edits[0]).toMatchObject({ scope: 'whole', after: null })
  })

  test('opencode: a setup rejects a value that opencode would replace', () => {
    const target = { headers: [{ name: 'x-a', value: '{env:HOME}' }] }
    expect(() => planOn(byId('opencode'), {}, { target })).toThrow('the header x-a')
  })
})

function isRefused(run: () => unknown): boolean {
  try {
    run()
    return false
  } catch (error) {
    expect(error).toMatchObject({ code: 'protocol-unsupported' })
    return true
  }
}
