import { expect, test } from 'vitest'
import { createModelTest, vendorOf } from '../../../../src/serve/requests/checks/generations.ts'

test.each([
  ['gpt>=5.4<5.6', 'gpt-5.4-mini-2026-03-17', true],
  ['gpt>=5.4<5.6', 'gpt-5.6-sol', false],
  ['gpt>=5.6', 'gpt-6-astra', true],
  ['gpt>=5', 'gpt-5-2025-08-07', true],
  ['gpt>=5.1', 'gpt-5-2025-08-07', false],
  ['gpt<5.6', 'gpt-4o', true],
  ['gpt', 'gpt-audio-mini', false],
  ['gpt', 'gpt-image-2', false],
  ['o>=3', 'o3-2025-04-16', true],
  ['opus>=4.6 sonnet', 'claude-opus-4-5-20251101', false],
  ['opus>=4.6 sonnet', 'claude-sonnet-5-5', true],
  ['opus<4.6', 'claude-opus-4-20250514', true],
  ['haiku<4', 'claude-3-5-haiku-20241022', true],
  ['haiku>=5', 'claude-haiku-5-5', true],
  ['mythos', 'claude-mythos-preview', true],
  ['mythos>=5', 'claude-mythos-preview', false],
  ['claude', 'claude-fable-6', true],
])('generations: %s includes %s: %s', (models, id, isIncluded) => {
  expect(createModelTest(models)(id)).toBe(isIncluded)
})

test('generations: a mistake in a rule is found when it is read', () => {
  expect(() => createModelTest('gpt>=5 claude-opus')).toThrow('"claude-opus"')
})

test('generations: an unknown model belongs to no vendor', () => {
  expect(['gpt-6-sol', 'o3', 'claude-opus-6', 'my-model'].map(vendorOf)).toEqual([
    'openai',
    'openai',
    'anthropic',
    undefined,
  ])
})
