import { describe, expect, test } from 'vitest'
import { emptyState } from '../../src/clients/client.ts'
import { checkOptions } from '../../src/clients/list.ts'
import {
  byId,
  catalog,
  keptIn,
  obstaclesOn,
  planOn,
  resolvedBy,
  wanted,
  written,
} from './support.ts'

const refused = expect.objectContaining({
  code: 'usage',
  hint: expect.stringContaining('--provider-id'),
})

describe.each(['codex', 'opencode'] as const)('%s', (family) => {
  test.each(['gateway', 'gw2', 'My-Gateway_1', '7', 'constructor'])('can set up %s', (id) => {
    const client = byId(family)
    expect(() => checkOptions(client, { providerId: id })).not.toThrow()
    const { machine, edits, choice } = planOn(client, {}, { options: { providerId: id } })
    expect(obstaclesOn(client, written({}, machine, edits), machine)).toEqual([])
    expect(choice.providerId).toBe(id)
  })

  test.each(['', 'a/b', 'a.b', '-a', '_a', '__proto__', 'a b', 'a"b', 'a\n', 'é', 'openai'])(
    'refuses %j before anything is planned',
    (providerId) => {
      expect(() => checkOptions(byId(family), { providerId })).toThrow(refused)
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
] as const)('%s keeps %s for itself', (family, id) => {
  expect(() => checkOptions(byId(family), { providerId: id })).toThrow(refused)
})

test('what one client keeps for itself another may be given', () => {
  expect(() => checkOptions(byId('codex'), { providerId: 'anthropic' })).not.toThrow()
  expect(() => checkOptions(byId('opencode'), { providerId: 'ollama' })).not.toThrow()
})

test('a provider that its owner named otherwise is still judged by its models', () => {
  const state = { ...emptyState, options: { model: 'gpt-5.4', providerId: 'my.gw' } }
  for (const client of [byId('codex'), byId('opencode')])
    expect(resolvedBy(client, wanted(catalog, {}, keptIn(client, state))).model).toBe('gpt-5.4')
})
