import { describe, expect, test } from 'vitest'
import { emptyState } from '../../src/clients/contract/state.ts'
import { expectUsableOptions } from '../../src/clients/list.ts'
import { byId, catalog, earlierIn, findingsOn, inputFor, planOn, written } from './support.ts'

const refused = expect.objectContaining({
  code: 'usage',
  hint: expect.stringContaining('--provider-id'),
})

describe.each(['codex', 'opencode'] as const)('%s', (family) => {
  test.each(['gateway', 'gw2', 'My-Gateway_1', '7', 'constructor'])(
    'a setup accepts the provider ID %s',
    (id) => {
      const client = byId(family)
      expect(() => expectUsableOptions(client, { providerId: id })).not.toThrow()
      const { machine, edits, target } = planOn(client, {}, { options: { providerId: id } })
      expect(findingsOn(client, written({}, machine, edits), machine)).toEqual([])
      expect(target.providerId).toBe(id)
    },
  )

  test.each(['', 'a/b', 'a.b', '-a', '_a', '__proto__', 'a b', 'a"b', 'a\n', 'é', 'openai'])(
    'repoint rejects the provider ID %j before it plans anything',
    (providerId) => {
      expect(() => expectUsableOptions(byId(family), { providerId })).toThrow(refused)
    },
  )
})

test.each([
  ['codex', 'ollama'],
  ['codex', 'lmstudio'],
  ['codex', 'amazon-bedrock'],
  ['opencode', 'anthropic'],
  ['opencode', 'google'],
  ['opencode', 'opencode'],
  ['opencode', 'github-copilot'],
  ['opencode', 'openrouter'],
] as const)('%s reserves %s', (family, id) => {
  expect(() => expectUsableOptions(byId(family), { providerId: id })).toThrow(refused)
})

test('an ID that one client reserves is valid for another', () => {
  expect(() => expectUsableOptions(byId('codex'), { providerId: 'anthropic' })).not.toThrow()
  expect(() => expectUsableOptions(byId('opencode'), { providerId: 'ollama' })).not.toThrow()
})

test('a provider with an ID that repoint would reject keeps its model', () => {
  const state = { ...emptyState, options: { model: 'gpt-5.4', providerId: 'my.gw' } }
  for (const client of [byId('codex'), byId('opencode')])
    expect(client.resolve(inputFor(catalog, {}, earlierIn(client, state))).model).toBe('gpt-5.4')
})
