import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from '../../src/serve/index.ts'
import { blocksOf } from '../support/doc-blocks.ts'
import { fixtureCatalog } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { installedClient, putInBin } from './support/install.ts'

const key = 'sk-canary-pages-6b1d8f3a5c7e9024'

test('docs/ci.md: the first command works as typed with the real Codex, outside of a Git folder', async () => {
  const gateway = await startGateway({ families: 'rewritten', key, models: fixtureCatalog })
  onTestFinished(() => gateway.close())
  const home = aHome()
  putInBin(home, 'codex', installedClient('codex'), true)
  putInBin(home, 'repoint', [process.execPath, resolve('bin/repoint.js')], true)
  mkdirSync(home.at('build'))

  const [folder, command] = blocksOf('docs/ci.md').filter(({ language }) => language === '')
  expect(command?.text).toContain('https://gw.example')
  const line = `${folder?.text}${command?.text}`.replace('https://gw.example', gateway.url)
  const { exitCode, stdout, stderr } = await execa('sh', ['-c', line], {
    cwd: home.at('build'),
    env: { HOME: home.path, PATH: `${home.at('bin')}:/usr/bin:/bin`, KEY: key },
    extendEnv: false,
    reject: false,
    input: '',
  })
  expect([exitCode, stderr]).toEqual([0, stderr])
  expect(stdout).toContain('say hello')
  expect(stdout + stderr).not.toContain(key)
})
