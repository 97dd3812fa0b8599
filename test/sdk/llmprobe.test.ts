import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { aGateway } from '../serve/support/gateway.ts'

/**
 * A public conformance suite, part by part. These failures are intentional:
 *
 * - responses: `data: [DONE]` at the end of a stream, which the vendor does not send, and a name that
 *   the built-in model should remember; limits of fewer than 16 tokens, which the vendor refuses
 * - two routes that the service does not have
 */
const expectedPasses: Readonly<Record<string, number>> = {
  models: 4,
  chat: 65,
  responses: 59,
  messages: 57,
}

test('llmprobe: no protocol conforms less than before', async () => {
  // The suite sends tools and max_tokens to gpt-5.6 on chat, which OpenAI rejects.
  const gateway = await aGateway({ families: 'rewritten' })
  const home = await mkdtemp(join(tmpdir(), 'repoint-'))
  const program = resolve('.cache/sdk/node_modules/llmprobe/bin/dist/llmprobe.mjs')
  const address = [`${gateway.url}/v1`, '-k', gateway.key, '-m', 'gpt-5.6-sol']
  const options = { env: { PATH: process.env['PATH'], HOME: home }, maxBuffer: 64 * 1024 * 1024 }
  const args = [program, ...address, '--json', '--no-save', '--no-bench']
  // The suite has exit status 1 if any part fails.
  const { stdout } = await promisify(execFile)(process.execPath, args, options).catch(
    (failed: { stdout: string }) => failed,
  )
  await rm(home, { recursive: true })

  const { conformance, coverage } = JSON.parse(stdout)
  const surfaces: { surface: string; passed: number }[] = conformance.bySurface
  const passed = Object.fromEntries(surfaces.map(({ surface, passed }) => [surface, passed]))
  for (const [surface, count] of Object.entries(expectedPasses))
    expect([surface, passed[surface]! >= count]).toEqual([surface, true])
  expect(conformance.pct).toBeGreaterThanOrEqual(97.3)
  expect(coverage.byTier[0]).toMatchObject({ tier: 'core', pct: 100 })
}, 120_000)
