import { describe, expect, test } from 'vitest'
import type { Client } from '../../src/clients/contract/client.ts'
import { byId, type Disk, key, planOn, text, written } from './support.ts'

const ours = { writtenBaseUrls: ['https://gw.example/v1'] }

/** The disk after a setup with the default ID, which keeps the user's lines. */
function afterSetup(client: Client): Disk {
  const disk = { '.codex/config.toml': '# mine\n[mcp_servers.x]\ncommand = "y"\n' }
  const { machine, edits } = planOn(client, disk)
  return written(disk, machine, edits)
}

/** The findings of a setup with another ID, and the files after it. */
function renamed(client: Client, disk: Disk, baseUrl: string, context = ours) {
  const { findings, edits } = planOn(client, disk, {
    options: { providerId: 'gw2' },
    target: { baseUrl: `${baseUrl}/v1` },
    context,
  })
  const former = findings.filter(({ code }) => code.includes('former'))
  return { former, texts: edits.map(({ after }) => text(after)) }
}

describe('codex: a setup with another provider ID', () => {
  const client = byId('codex')
  const changed = (from: string, to: string): Disk => {
    const disk = afterSetup(client)
    const path = '/home/ada/.codex/config.toml'
    return { ...disk, [path]: text(disk[path] as Uint8Array).replace(from, to) }
  }

  test('for the same address removes the earlier table, with consent', () => {
    const { former, texts } = renamed(client, afterSetup(client), 'https://gw.example')
    expect(former).toMatchObject([{ needsConsentTo: expect.stringContaining('provider gateway') }])
    expect(texts[1]).not.toContain('model_providers.gateway')
    expect(texts[1]).toContain('[model_providers.gw2]')
    expect(texts[1]).toContain('# mine\n[mcp_servers.x]\ncommand = "y"\n')
  })

  test('keeps a table that repoint did not write, that a profile uses, or that has another address', () => {
    const byHand = changed('supports_websockets = false', '')
    expect(renamed(client, byHand, 'https://gw.example').former).toEqual([])
    const disk = afterSetup(client)
    expect(renamed(client, disk, 'https://new.example').former).toEqual([])
    const chosen = { ...disk, '.codex/deep.config.toml': 'model_provider = "gateway"\n' }
    expect(renamed(client, chosen, 'https://gw.example').former).toEqual([])
  })
})

describe('opencode: a setup with another provider ID', () => {
  const client = byId('opencode')

  test('for the same address removes the earlier provider and its key', () => {
    const { former, texts } = renamed(client, afterSetup(client), 'https://gw.example')
    expect(former.map(({ code }) => code)).toEqual([
      'opencode-former-provider',
      'opencode-former-key',
    ])
    expect(former[0]!.needsConsentTo).toMatch(/gateway.*with its key.*rollback/)
    expect(Object.keys(JSON.parse(texts[0]!))).toEqual(['gw2'])
    expect(Object.keys(JSON.parse(texts[1]!).provider)).toEqual(['gw2'])
  })

  test('for another address keeps both, and reports that', () => {
    const { former, texts } = renamed(client, afterSetup(client), 'https://new.example')
    expect(former).toMatchObject([{ code: 'opencode-former-provider' }])
    expect(former[0]!.fix).toBeUndefined()
    expect(former[0]!.needsConsentTo).toBeUndefined()
    expect(Object.keys(JSON.parse(texts[0]!)).sort()).toEqual(['gateway', 'gw2'])
    expect(Object.keys(JSON.parse(texts[1]!).provider).sort()).toEqual(['gateway', 'gw2'])
  })

  test('keeps a provider that repoint did not write', () => {
    const disk = afterSetup(client)
    expect(renamed(client, disk, 'https://gw.example', { writtenBaseUrls: [] }).former).toEqual([])
  })
})

describe.each(['pi', 'openclaw', 'kimi', 'grok'])('%s: a setup with another provider ID', (id) => {
  const client = byId(id)
  const setup = planOn(client, {})
  const disk = written({}, setup.machine, setup.edits)
  const code = `${id}-former-provider`

  test('for the same address removes the earlier provider, with consent', () => {
    const { former, texts } = renamed(client, disk, 'https://gw.example')
    expect(former).toMatchObject([
      { code, needsConsentTo: expect.stringContaining('with its key') },
    ])
    expect(texts.join().split(key)).toHaveLength(2)
  })

  test('for the same address with a slash at its end, does so too', () => {
    const withSlash = Object.fromEntries(
      Object.entries(disk).map(([path, content]) => [
        path,
        text(content as Uint8Array).replaceAll('gw.example/v1"', 'gw.example/v1/"'),
      ]),
    )
    const { former } = renamed(client, withSlash, 'https://gw.example')
    expect(former).toMatchObject([{ code, fix: expect.anything() }])
  })

  test('for another address keeps it, and reports that', () => {
    const { former, texts } = renamed(client, disk, 'https://new.example')
    expect(former.map(({ fix, needsConsentTo }) => [fix, needsConsentTo])).toEqual([
      [undefined, undefined],
    ])
    expect(texts.join().split(key)).toHaveLength(3)
  })

  test('keeps a provider that repoint did not write', () => {
    expect(renamed(client, disk, 'https://gw.example', { writtenBaseUrls: [] }).former).toEqual([])
  })

  test('is no reason to report the provider itself', () => {
    expect(planOn(client, disk, { context: ours }).findings).toEqual([])
  })
})

test.each(['codex', 'opencode'])('%s: a second setup with the new ID changes nothing', (id) => {
  const client = byId(id)
  const setup = { options: { providerId: 'gw2' }, context: ours }
  const first = planOn(client, afterSetup(client), setup)
  const second = planOn(client, written(afterSetup(client), first.machine, first.edits), setup)
  for (const edit of second.edits) expect(edit.after).toEqual(edit.before)
  expect(second.findings).toEqual([])
})
