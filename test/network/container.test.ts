import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { resolve } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { blocksOf } from '../support/doc-blocks.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'

/** Runs repoint as in a container: as root, in a mount namespace in which HOME is read-only. */

const key = 'sk-canary-container-4f7a2b9c6d1e8035'

const gateway = await withGateway({ key })

/** A home with programs that print their arguments and environment. */
function aContainer(): Home {
  const home = aHome({ '.codex/config.toml': 'model = "o3"\n' })
  const versions = { codex: '0.169.0', claude: '2.1.330', opencode: '1.18.34', other: '1.0.0' }
  for (const [name, version] of Object.entries(versions)) {
    const program = `if [ "$*" = --version ]; then echo ${version}; else echo "$0 $*"; env; fi`
    home.put(`bin/${name}`, `#!/bin/sh\n${program}\n`)
    chmodSync(home.at(`bin/${name}`), 0o755)
  }
  return home
}

async function inContainer(
  home: Home,
  words: readonly string[],
  env: Record<string, string> = {},
  uid = 0,
) {
  const readOnly = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
  const asUser = uid === 0 ? [] : ['setpriv', '--clear-groups', `--reuid=${uid}`, `--regid=${uid}`]
  const program = [...asUser, process.execPath, resolve('bin/repoint.js'), ...words]
  const { exitCode, stdout, stderr } = await execa(
    'unshare',
    ['--mount', 'sh', '-c', readOnly, home.path, ...program],
    {
      cwd: home.path,
      env: { HOME: home.path, PATH: `${home.at('bin')}:/usr/bin:/bin`, KEY: key, ...env },
      extendEnv: false,
      reject: false,
      input: '',
    },
  )
  return { status: exitCode, stdout, stderr }
}

test.each(['codex', 'claude', 'opencode'])(
  'run without a saved gateway proves and starts %s, and writes nothing',
  async (client) => {
    const home = aContainer()
    const before = home.everything()
    const address = ['--base-url', gateway.url, '--key-env', 'KEY']
    const { status, stdout, stderr } = await inContainer(home, [
      'run',
      ...address,
      '--',
      client,
      'hi',
    ])
    expect(stderr).not.toContain(key)
    expect({ status, stderr }).toMatchObject({ status: 0 })
    expect(stdout).toContain(`${home.at('bin')}/${client}`)
    expect(stdout).toContain(`REPOINT_RUN_KEY=${key}`)
    expect(home.everything()).toEqual(before)
  },
)

test('run starts another program with the usual variables, and rejects an unknown model or key before', async () => {
  const home = aContainer()
  const address = ['--base-url', gateway.url, '--key-env', 'KEY']
  const other = await inContainer(home, ['run', ...address, '--', 'other'])
  expect(other.stdout).toContain(`OPENAI_BASE_URL=${gateway.url}/v1`)

  const unknownModel = await inContainer(home, [
    'run',
    ...address,
    '--model',
    'gpt-0',
    '--',
    'codex',
  ])
  expect(unknownModel).toMatchObject({ status: 5, stdout: '' })
  const refused = await inContainer(home, ['run', ...address, '--', 'codex'], { KEY: 'sk-wrong-1' })
  expect(refused).toMatchObject({ status: 3, stdout: '' })
})

/** The examples of docs/ci.md, with this test's gateway. */
const [action, dockerfile, devContainer] = ['yaml', 'dockerfile', 'json'].map((wantedLanguage) => {
  const block = blocksOf('docs/ci.md').find(({ language }) => language === wantedLanguage)
  return () => block!.text.replaceAll('https://gw.example', gateway.url)
})

function wordsOf(line: string): readonly string[] {
  const words = line.match(/"[^"]*"|\S+/g) ?? []
  return words.map((word) => word.replaceAll('"', ''))
}

test('docs/ci.md: the step for GitHub Actions runs, and uses no package name that anyone could publish', async () => {
  const steps = parse(action!()) as { run: string; env: Record<string, string> }[]
  const { run, env } = steps.at(-1)!
  expect(Object.keys(env)).toEqual(['KEY'])
  const [program, ...words] = wordsOf(run)
  expect(program).toBe('repoint')

  const { status, stdout, stderr } = await inContainer(aContainer(), words)
  expect({ status, stderr }).toMatchObject({ status: 0 })
  expect(stdout).toContain('exec --skip-git-repo-check review the last commit')
})

test.each([
  ['the Dockerfile, as root', 0],
  ['the Dockerfile, as another user', 12_345],
])('docs/ci.md: %s runs the command of the dev container', async (_, uid) => {
  const home = aContainer()
  const mounted = aHome({ 'codex/config.toml': 'model = "o3" # mine\n' })
  const before = mounted.text('codex/config.toml')
  const text = dockerfile!().replaceAll('/work', mounted.path)
  const env = Object.fromEntries([...text.matchAll(/(\w+)=(\S+)/g)].map(([, ...pair]) => pair))
  const { containerEnv, remoteEnv, postCreateCommand } = JSON.parse(devContainer!())
  expect(Object.keys(remoteEnv)).toEqual(['KEY'])
  expect(Object.keys(containerEnv)).toEqual(Object.keys(env))

  if (uid !== 0) execFileSync('chown', ['-R', `${uid}:${uid}`, home.path, mounted.path])
  const [, ...words] = wordsOf(postCreateCommand)
  const result = await inContainer(home, words, env, uid)
  expect(result.stderr).not.toContain('error')
  expect(result.status).toBe(0)
  expect(mounted.text('codex/config.toml')).toContain(gateway.url)

  expect((await inContainer(home, ['rollback', '--yes'], env, uid)).status).toBe(0)
  expect(mounted.text('codex/config.toml')).toBe(before)
})
