import { describe, expect, test } from 'vitest'
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

describe.each([
  ['rollback', ['rollback', '--yes']],
  ['rollback --dry-run', ['rollback', '--dry-run']],
  ['forget with the name of a gateway', ['forget', 'work', '--yes']],
  ['forget --all', ['forget', '--all', '--yes']],
])('%s', (_, args) => {
  test('says that Kilo keeps a copy of the key, and how to remove it', async () => {
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

  test('says which copy of its file OpenClaw has left with the key in it', async () => {
    const home = await aHomeWith('openclaw')
    const copy = '.openclaw/openclaw.json.bak'
    home.put(copy, `{ apiKey: '${canary}' }`)
    home.put(`${copy}.1`, "{ apiKey: 'sk-another' }")
    const { json, text } = await runHere(home, args)
    const warnings = json['warnings'] as readonly { readonly code: string }[]
    const keyCopies = warnings.filter(({ code }) => code === 'key-copied')
    expect(keyCopies).toMatchObject([{ hint: `To remove it: delete ${home.at(copy)}` }])
    expect(text).not.toContain(canary)
  })

  test('says that opencode has left a copy of the key in account.json', async () => {
    const home = await aHomeWith('opencode')
    const copy = '.local/share/opencode/account.json'
    // As opencode 1.17.0 writes it.
    const credential = { type: 'api', key: canary }
    home.put(copy, JSON.stringify({ version: 2, accounts: { a: { serviceID: 'x', credential } } }))
    const { json, text } = await runHere(home, args)
    const warnings = json['warnings'] as readonly { readonly code: string }[]
    const keyCopies = warnings.filter(({ code }) => code === 'key-copied')
    expect(keyCopies).toMatchObject([{ hint: `To remove it: delete ${home.at(copy)}` }])
    expect(text).not.toContain(canary)
  })

  test.each([
    ['opencode', 'has no such file'],
    ['kilo', 'was never started'],
    ['codex', 'keeps none'],
  ])('reports no copy of %s, which %s', async (client) => {
    const home = await aHomeWith(client)
    if (client !== 'kilo') home.put(database, 'its own')
    expect((await runHere(home, args)).text).not.toContain('key-copied')
  })
})
