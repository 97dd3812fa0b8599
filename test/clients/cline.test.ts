import { readdirSync, readFileSync, statSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { installedClient, putInBin } from './support/install.ts'
import { inferences } from './support/prompt.ts'

const key = 'sk-real-cline-5b1e80c7d94f2a36'

/** The pids of a program's processes in a home. */
function living(program: string, home: string): readonly string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0] !== program) return false
      return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`HOME=${home}`)
    } catch {
      return false
    }
  })
}

test('repoint run leaves the key in no file, the settings as they were, and no daemon', async () => {
  const gateway = await withGateway({ key }, onTestFinished)
  const mine = '{ "version": 1, "lastUsedProvider": "ollama", "providers": {} }'
  const [program] = installedClient('cline')
  const home = aHome({ '.cline/data/settings/providers.json': mine, 'work/.keep': '' })
  putInBin(home, 'cline', [program], true)

  const env = {
    PATH: `${home.at('bin')}:${process.env['PATH']}`,
    REPOINT_KEY: key,
  }
  const args = [
    'run',
    '--base-url',
    gateway.url,
    '--key-env',
    'REPOINT_KEY',
    '--',
    'cline',
    'ping ',
  ]
  const answer = await runCli(home, args, { env, cwd: home.at('work') })
  expect(answer.stdout).toContain('pong')
  expect(inferences(gateway.requests()).length).toBeGreaterThan(0)

  expect(home.text('.cline/data/settings/providers.json')).toBe(mine)
  const files = readdirSync(home.path, { recursive: true, encoding: 'utf8' })
    .map((name) => home.at(name))
    .filter((path) => statSync(path).isFile())
  expect(files.filter((path) => readFileSync(path).includes(key))).toEqual([])
  expect(living(program, home.path)).toEqual([])
})
