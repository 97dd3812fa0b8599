import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { FileText } from '../../src/clients/client.ts'
import { loadClient, rowOf } from '../../src/clients/list.ts'
import { startGateway } from '../../src/serve/index.ts'
import { runCli } from '../support/cli.ts'
import { aHome } from '../support/home.ts'
import { inferences, prompt } from './support/prompt.ts'

/** What a client is told of a model reaches the gateway: images, and the wish that it reasons. */

const key = 'sk-abilities-6b0e93d1c7a2f485'
/** One pixel. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const question = 'what is in this picture'

/** What a real client, set up by repoint, sends to the gateway with a picture beside its question. */
async function sentBy(client: string, args: readonly string[], asked: string): Promise<string> {
  const gateway = await startGateway({ key })
  const home = aHome({ 'work/.keep': '' })
  writeFileSync(home.at('work/pic.png'), picture)
  const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url }
  const done = await runCli(home, [client, '--yes', '--json'], { env })
  expect(done.status).toBe(0)

  gateway.clearRequests()
  await prompt(client, { home: home.path, cwd: home.at('work'), args, prompt: asked })
  const bodies = inferences(gateway.requests()).map(({ requestBody }) => requestBody)
  await gateway.close()
  return bodies.join('\n')
}

describe('a picture arrives at the gateway', () => {
  test.each([
    ['opencode', ['-f', 'pic.png', '--'], question],
    ['kilo', ['-f', 'pic.png', '--'], question],
    ['pi', ['@pic.png'], question],
    ['openclaw', [], '#call view_image {"path": "pic.png"}'],
    ['qwen', [], `${question} @pic.png`],
    ['codex', ['-i', 'pic.png', '--'], question],
    ['cline', [], '#call read_files {"files":[{"path":"pic.png"}]}'],
  ])('%s', async (client, args, asked) => {
    expect(await sentBy(client, args, asked)).toMatch(/data:image\\?\/(?:png|jpeg|webp);base64,/)
  })
})

test('pi asks a model that reasons to do so', async () => {
  expect(await sentBy('pi', [], 'ping')).toMatch(/"reasoning(?:_effort)?\\?":/)
})

test('Claude Code sends what the proof has carried', async () => {
  const gateway = await startGateway({ key })
  const home = aHome()
  const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url }
  expect((await runCli(home, ['claude', '--yes'], { env })).status).toBe(0)
  await prompt('claude 2.1.330', { home: home.path })
  const [sent] = inferences(gateway.requests()).slice(-1)
  await gateway.close()

  const settings = { role: 'settings', path: home.at('.claude/settings.json') } as FileText
  const { body, headers } = (await loadClient(rowOf('claude'))).carries(
    [{ ...settings, bytes: readFileSync(settings.path) }],
    { model: 'claude-sonnet-5-5', protocol: 'messages', version: '2.1.330', env: {} },
  )
  for (const [name, value] of Object.entries(headers!))
    for (const part of value.split(',')) expect(sent!.headers[name]).toContain(part)
  for (const name of Object.keys(body)) expect(sent!.requestBody).toContain(`"${name}":`)
})
