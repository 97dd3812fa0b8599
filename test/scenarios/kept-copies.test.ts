import { expect, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'

const canary = 'sk-canary-9e8d7c6b5a4f3e2d1c0b9a8f'
const database = '.local/share/kilo/kilo.db'

const gateway = await withGateway({ key: canary })

async function aHomeWith(client: string, ...flags: string[]): Promise<Home> {
  const home = aHome()
  const line = [client, ...flags, '--base-url', gateway.url, '--name', 'work', '--yes']
  expect((await runHere(home, line, { REPOINT_API_KEY: canary })).status).toBe(0)
  return home
}

const rollback = ['rollback', '--yes']

test.each([
  ['rollback', rollback],
  ['rollback --dry-run', ['rollback', '--dry-run']],
  ['forget with the name of a gateway', ['forget', 'work', '--yes']],
  ['forget --all', ['forget', '--all', '--yes']],
])('%s says that Kilo keeps a copy of the key, and how to remove it', async (_, args) => {
  const home = await aHomeWith('kilo', '--provider-id', 'team')
  home.put(database, 'its own')
  const { json, text } = await runHere(home, args)
  expect(json['warnings']).toContainEqual({
    code: 'key-copied',
    message: expect.stringContaining(home.at(database)),
    hint: expect.stringContaining(
      `sqlite3 ${home.at(database)} "delete from credential where integration_id = 'team'`,
    ),
  })
  expect(text).not.toContain(canary)
  expect(home.text(database)).toBe('its own')
})

test.each([
  [
    'OpenClaw',
    'openclaw',
    '.openclaw/openclaw.json.bak',
    `{ apiKey: '${canary}' }`,
    { '.openclaw/openclaw.json.bak.1': "{ apiKey: 'sk-another' }" },
  ],
  [
    'opencode',
    'opencode',
    '.local/share/opencode/account.json',
    // As opencode 1.17.0 writes it.
    `{"version":2,"accounts":{"a":{"serviceID":"x","credential":{"type":"api","key":"${canary}"}}}}`,
    {},
  ],
])(
  'a rollback names the copy with the key that %s has left',
  async (_, client, copy, text, more) => {
    const home = await aHomeWith(client)
    for (const [name, content] of Object.entries({ [copy]: text, ...more })) home.put(name, content)
    const result = await runHere(home, rollback)
    const warnings = result.json['warnings'] as readonly { readonly code: string }[]
    const keyCopies = warnings.filter(({ code }) => code === 'key-copied')
    expect(keyCopies).toMatchObject([{ hint: `To remove it: delete ${home.at(copy)}` }])
    expect(result.text).not.toContain(canary)
  },
)

test.each([
  ['opencode', 'has no such file'],
  ['kilo', 'was never started'],
  ['codex', 'keeps none'],
])('a rollback reports no copy of %s, which %s', async (client) => {
  const home = await aHomeWith(client)
  if (client !== 'kilo') home.put(database, 'its own')
  expect((await runHere(home, rollback)).text).not.toContain('key-copied')
})
