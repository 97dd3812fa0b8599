import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { aHome } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'

/** A host that accepts requests and answers none. */
async function aSilentHost() {
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

test.each([
  ['models', ['models', '--base-url']],
  ['editor', ['editor', '--for', 'zed', '--base-url']],
  ['gateways add', ['gateways', 'add']],
])('a silent host: %s gives up after the catalog if no model is named', async (_, args) => {
  const { url, events } = await aSilentHost()
  const env = { REPOINT_API_KEY: 'sk-canary-51e9c7a3b8f0d264' }
  const { status, json } = await runInProcess(aHome(), [...args, url, ...scaled], { env })
  expect({ status, json }).toMatchObject({ status: 6, json: { error: { code: 'timeout' } } })
  expect(events.filter((event) => event.endsWith('sent'))).toEqual(['GET sent'])
})

test.each([
  ['codex', ['codex', '--yes', '--base-url']],
  ['editor', ['editor', '--for', 'zed', '--base-url']],
  ['copilot', ['copilot', '--base-url']],
  ['gateways add', ['gateways', 'add']],
])('a silent host: %s asks for the named model before the catalog is given up', async (_, args) => {
  const { url, events } = await aSilentHost()
  const env = { REPOINT_API_KEY: 'sk-canary-51e9c7a3b8f0d264' }
  const run = await runInProcess(aHome(), [...args, url, ...model, ...scaled], { env })
  expect(run).toMatchObject({ status: 6, json: { error: { code: 'timeout' } } })
  expect(events.slice(0, 2)).toEqual(['GET sent', 'POST sent'])
  expect(events.filter((event) => event === 'POST sent')).toHaveLength(1)
})
