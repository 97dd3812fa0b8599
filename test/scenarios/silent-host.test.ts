import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'vitest'
import { aHome } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'

/** A host that accepts requests and answers none. */
async function aSilentHost({ onTestFinished }: TestContext) {
  const events: string[] = []
  const server = http.createServer((request, response) => {
    events.push(`${request.method} sent`)
    response.on('close', () => events.push(`${request.method} given up`))
  })
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, events }
}

const model = ['--model', 'gpt-5.6-sol']

/** The default limit is 30 s: with it, the catalog and the model share 12 s. */
const scaled = ['--timeout', '3', '--json']

/** The catalog gets 2 s of it. */
const ordered = ['--timeout', '9', '--json']

// The tests only wait, so they wait together.
test.concurrent.for<readonly [string, readonly string[]]>([
  ['models', ['models', '--base-url']],
  ['editor', ['editor', '--for', 'zed', '--base-url']],
  ['gateways add', ['gateways', 'add']],
])(
  'a silent host: %s gives up after the catalog if no model is named',
  async ([, args], context) => {
    const { expect } = context
    const { url, events } = await aSilentHost(context)
    const env = { REPOINT_API_KEY: 'sk-canary-51e9c7a3b8f0d264' }
    const { status, json } = await runInProcess(
      aHome({}, context.onTestFinished),
      [...args, url, ...scaled],
      { env },
    )
    expect({ status, json }).toMatchObject({ status: 6, json: { error: { code: 'timeout' } } })
    expect(events.filter((event) => event.endsWith('sent'))).toEqual(['GET sent'])
  },
)

test.concurrent.for<readonly [string, readonly string[]]>([
  ['codex', ['codex', '--yes', '--base-url']],
  ['editor', ['editor', '--for', 'zed', '--base-url']],
  ['copilot', ['copilot', '--base-url']],
  ['gateways add', ['gateways', 'add']],
])('a silent host: %s asks for the named model after 2 s', async ([, args], context) => {
  const { expect } = context
  const { url, events } = await aSilentHost(context)
  const env = { REPOINT_API_KEY: 'sk-canary-51e9c7a3b8f0d264' }
  const run = await runInProcess(
    aHome({}, context.onTestFinished),
    [...args, url, ...model, ...ordered],
    { env },
  )
  expect(run).toMatchObject({ status: 6, json: { error: { code: 'timeout' } } })
  expect(events.slice(0, 3)).toEqual(['GET sent', 'GET given up', 'POST sent'])
  expect(events.filter((event) => event === 'POST sent')).toHaveLength(1)
})
