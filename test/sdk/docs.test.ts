import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { blocksOf, moduleOf, needsSdk } from '../support/doc-blocks.ts'

const require = createRequire(resolve('.cache/sdk/package.json'))
const blocks = blocksOf('docs/gateway.md').filter(needsSdk)
const names = ['openai', '@anthropic-ai/sdk']

for (const block of blocks)
  describe(`docs/gateway.md: the example in line ${block.line}`, async () => {
    const places = Object.fromEntries(names.map((name) => [name, require.resolve(name)]))
    await import(/* @vite-ignore */ moduleOf(block, places))
  })

test('docs/gateway.md: has an example with the official SDKs', () => {
  expect(blocks).toHaveLength(1)
})
