import { expect, onTestFinished, test } from 'vitest'
import { aServer, sendJson } from '../gateway/forged.ts'
import { type Demands, startFront } from '../support/front.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'

const key = 'sk-canary-balance-6e1d0b9c8a7f5432'

const gateway = await withGateway({ key })

type Balance = Demands['balance']

/** A home with two clients at a gateway that reports a balance, and what the setup printed about it. */
async function setUpAt(balance: Balance) {
  const front = await startFront(gateway, { key, ...(balance && { balance }) })
  onTestFinished(() => front.close())
  const home = aHome()
  const words = ['setup', 'codex', 'claude', '--base-url', front.url, '--name', 'work', '--yes']
  const setup = await runHere(home, words, { REPOINT_API_KEY: key })
  expect(setup.status).toBe(0)
  return { home, front, setup: setup.json }
}

test('a setup shows the balance to a person', async () => {
  const front = await startFront(gateway, { key, balance: { left: 7_100_000 } })
  onTestFinished(() => front.close())
  const words = ['codex', '--base-url', front.url, '--yes']
  const { stderr } = await runInProcess(aHome(), words, { env: { REPOINT_API_KEY: key } })
  expect(stderr).toContain('✔ The key has 14.20 USD left\n')
})

test.each<[string, Balance, unknown, RegExp]>([
  ['an amount', { left: 7_100_000 }, { remaining: 14.2, unit: 'USD' }, /14\.20 USD left/g],
  [
    'a key without a limit',
    { left: -12, isUnlimited: true },
    { remaining: 'unlimited', unit: 'USD' },
    /no limit/g,
  ],
  ['nothing if the balance is unknown', undefined, undefined, /no limit|left/g],
])('setup, check and doctor report %s, once for each gateway', async (_, given, balance, shown) => {
  const { home, setup, front } = await setUpAt(given)
  const times = given === undefined ? null : expect.toSatisfy((all) => all.length === 1)
  expect(setup['balance']).toEqual(balance)
  expect(front.urls.some((url) => url.startsWith('/api/'))).toBe(given !== undefined)

  const { stdout } = await runInProcess(home, ['check'])
  expect(stdout.match(shown)).toEqual(times)
  expect(stdout).not.toMatch(/(?:left|limit) left/)
  const { json } = await runHere(home, ['check'])
  expect(json['balance']).toEqual(balance)
  expect((await runInProcess(home, ['doctor'])).stdout.match(shown)).toEqual(times)
})

test('a setup that the gateway serves anyway and doctor report a key without balance', async () => {
  const { home, setup } = await setUpAt({ left: 0 })
  expect(setup['warnings']).toContainEqual(expect.objectContaining({ code: 'quota' }))
  const { status, json } = await runHere(home, ['doctor'])
  expect(status).toBe(7)
  const problem = { id: 'quota', result: 'problem', message: 'the key has nothing left' }
  expect(json['checks']).toContainEqual(expect.objectContaining(problem))
})

test('a setup neither waits for a gateway that never reports the balance, nor fails because of it', async () => {
  const begun = performance.now()
  await setUpAt(undefined)
  const answered = performance.now()
  const { setup } = await setUpAt({ left: 'silent' })
  expect(setup).not.toHaveProperty('balance')
  // Otherwise the setup would wait for 3 s.
  expect(performance.now() - answered).toBeLessThan(2_500 + (answered - begun))
})

test('a key that is used up, as New API reports, is not reported as a wrong key', async () => {
  const message = '该令牌额度已用尽 TokenStatusExhausted[sk-can***432]'
  const server = await aServer((_, response) =>
    sendJson(response, 401, { error: { code: '', message, type: 'new_api_error' } }),
  )
  const words = ['codex', '--base-url', `http://127.0.0.1:${server.port}`, '--yes']
  const { status, json } = await runHere(aHome(), words, { REPOINT_API_KEY: key })
  expect({ status, error: json['error'] }).toMatchObject({ status: 7, error: { code: 'quota' } })
})
