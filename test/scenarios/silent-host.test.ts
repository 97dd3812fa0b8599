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

/** Runs a command that gets no answer before its time is over. Returns what happened at the host. */
async function eventsAfter(args: readonly string[], context: TestContext) {
  const { expect, onTestFinished } = context
  const { url, events } = await aSilentHost(context)
  const command = args.map((word) => (word === 'HOST' ? url : word))
  const env = { REPOINT_API_KEY: 'sk-canary-51e9c7a3b8f0d264' }
  const result = await runInProcess(aHome({}, onTestFinished), command, { env })
  expect(result).toMatchObject({ status: 6, json: { error: { code: 'timeout' } } })
  return events
}

// The tests only wait, so they wait together.
test.concurrent.for<readonly [string, readonly string[]]>([
  ['models', ['models', '--base-url', 'HOST']],
  ['editor', ['editor', '--for', 'zed', '--base-url', 'HOST']],
  ['gateways add', ['gateways', 'add', 'HOST']],
])(
  'a silent host: %s gives up after the catalog if no model is named',
  async ([, args], context) => {
    const events = await eventsAfter([...args, ...scaled], context)
    context.expect(events.filter((event) => event.endsWith('sent'))).toEqual(['GET sent'])
  },
)

test.concurrent.for<readonly [string, readonly string[]]>([
  ['codex', ['codex', '--yes', '--base-url', 'HOST']],
  ['editor', ['editor', '--for', 'zed', '--base-url', 'HOST']],
  ['copilot', ['copilot', '--base-url', 'HOST']],
  ['gateways add', ['gateways', 'add', 'HOST']],
])('a silent host: %s asks for the named model after 2 s', async ([, args], context) => {
  const { expect } = context
  const events = await eventsAfter([...args, ...model, ...ordered], context)
  expect(events.slice(0, 3)).toEqual(['GET sent', 'GET given up', 'POST sent'])
  expect(events.filter((event) => event === 'POST sent')).toHaveLength(1)
})
