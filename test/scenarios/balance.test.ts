import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/serve/index.ts'
import { type Demands, startFront } from '../support/front.ts'
import { aHome } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'

const key = 'sk-canary-balance-6e1d0b9c8a7f5432'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({ port: 0, key })
})
afterAll(() => gateway.close())

/** A home with two clients at a gateway that says what is left. */
async function setUpAt(balance: Demands['balance']) {
  const front = await startFront(gateway, { key, ...(balance && { balance }) })
  onTestFinished(() => front.close())
  const home = aHome()
  const setup = ['setup', 'codex', 'claude', '--base-url', front.url, '--name', 'work', '--yes']
  expect((await runHere(home, setup, { REPOINT_API_KEY: key })).status).toBe(0)
  return home
}

test('what is left on a key is told by gateways --check and, once a gateway, by doctor', async () => {
  const home = await setUpAt({ left: 7_100_000 })
  const listed = await runInProcess(home, ['gateways', '--check'])
  expect(listed).toMatchObject({ status: 0, stdout: expect.stringContaining('14.20 USD left') })
  const { json } = await runHere(home, ['gateways', '--check'])
  expect(json['gateways']).toMatchObject([
    { check: { works: true, balance: { remaining: 14.2, unit: 'USD' } } },
  ])

  const doctor = await runInProcess(home, ['doctor'])
  expect(doctor.stdout.match(/14\.20 USD left/g)).toHaveLength(1)
})

test('a key without a limit is told as that, and nothing is told where nothing is known', async () => {
  const unlimited = await setUpAt({ left: -12, isUnlimited: true })
  expect((await runInProcess(unlimited, ['doctor'])).stdout).toContain('no limit')
  const silent = await setUpAt(undefined)
  expect((await runInProcess(silent, ['doctor'])).stdout).not.toMatch(/ left|no limit/)
})

test('an empty key is a cause of its own, before the client finds out', async () => {
  const home = await setUpAt({ left: 0 })
  const { status, json } = await runHere(home, ['doctor'])
  expect(status).toBe(7)
  expect(json['checks']).toContainEqual(
    expect.objectContaining({
      id: 'balance',
      result: 'problem',
      message: 'the key has nothing left',
    }),
  )
})
