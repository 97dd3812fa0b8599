import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { aHome } from '../support/home.ts'

// Node 22 and later can keep compiled code in a folder below the shared temporary folder, where another
// user may have put code of theirs first. `npm run test:nodes` runs this on those Nodes.
test('a start leaves no file in the shared temporary folder that could influence the next start', () => {
  const home = aHome()
  const shared = home.at('shared')
  mkdirSync(shared)
  const before = home.snapshot()
  for (const args of [['--version'], ['status'], ['completion', 'bash']])
    execFileSync(process.execPath, [resolve('bin/repoint.js'), ...args], {
      env: {
        PATH: process.env['PATH'],
        HOME: home.path,
        TMPDIR: shared,
        TMP: shared,
        TEMP: shared,
      },
    })
  expect(home.snapshot()).toEqual(before)
})
