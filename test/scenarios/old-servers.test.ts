import { expect, test } from 'vitest'
import { aHome } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'
import { setUpOffline } from '../support/setup.ts'

const gateway = { url: 'https://gw.example', key: 'sk-canary-of-old-servers-41c7d2' }
const advice = expect.stringContaining('Stop the server of Codex, which still uses the old key')

test('a setup, off and a rollback name a server with the old key that repoint cannot stop', async () => {
  // The server is this process. Codex's program, which would stop it, is not in PATH.
  const pidFile = '.codex/app-server-daemon/daemon.pid'
  const home = aHome({ [pidFile]: JSON.stringify({ pid: process.pid }) })

  const { json: setup } = await setUpOffline(home, 'codex', gateway)
  expect(setup['next']).toContainEqual(advice)
  const { json: off } = await runHere(home, ['off', 'codex', '--yes'])
  expect(off['next']).toContainEqual(advice)
  const { json: rollback } = await runHere(home, ['rollback', '--yes'])
  expect(rollback['next']).toContainEqual(advice)

  // These change no file of Codex.
  const { json: again } = await setUpOffline(home, 'codex', gateway)
  expect(again).toMatchObject({ changed: false, next: [] })
  const { json: other } = await setUpOffline(home, 'claude', gateway)
  expect(other['next']).not.toContainEqual(advice)
  const { json: offOther } = await runHere(home, ['off', 'claude', '--yes'])
  expect(offOther['next']).not.toContainEqual(advice)
  const { json: rollbackOther } = await runHere(home, ['rollback', '--yes'])
  expect(rollbackOther['next']).not.toContainEqual(advice)
})
