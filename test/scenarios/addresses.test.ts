import { expect, onTestFinished, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'

const canary = 'canaryinthequery'

test.each([
  ['http://127.0.0.1:9/v1?k=', 6],
  ['https://docs.gw.example/page?k=', 4],
  ['http://gw.example/v1?k=', 2],
  ['ftp://gw.example/?k=', 2],
])('a value in the query of %s… is never shown, whatever is wrong', async (address, wanted) => {
  for (const args of [[], ['--json']]) {
    const { status, stdout, stderr } = await runInProcess(
      aHome(),
      ['codex', '--yes', '--base-url', address + canary, ...args],
      { env: { REPOINT_API_KEY: 'sk-test-0123456789abcdef' } },
    )
    expect(status).toBe(wanted)
    expect(stdout + stderr).not.toContain(canary)
  }
})

test('a working address shows no query value in the plan or in status: only the files contain it', async () => {
  const gateway = await withGateway({}, onTestFinished)
  const home = aHome()
  const env = { REPOINT_API_KEY: gateway.key }
  const address = `${gateway.url}/v1?k=${canary}`
  const setup = await runInProcess(home, ['codex', '--yes', '--base-url', address], { env })
  expect(setup.status).toBe(0)
  const { stdout } = await runInProcess(home, ['status', '--json'])
  expect(setup.stdout + setup.stderr + stdout).not.toContain(canary)
  expect(home.text('.codex/config.toml')).toContain(canary)
})
