import { spawn } from 'node:child_process'
import { basename, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { startGateway } from '../src/serve/index.ts'
import { aHome, type Home } from './support/home.ts'

/** Prints at the end which of our files and of Node's own modules were loaded. */
const hook = `process.on('exit', () => {
  const files = Object.keys(require.cache).filter((path) => !path.endsWith('hook.cjs'))
  const builtins = process.moduleLoadList.flatMap((name) => /^NativeModule (\\w+)$/.exec(name)?.[1] ?? [])
  require('node:fs').writeSync(3, JSON.stringify({ files, builtins }))
})`

interface Loaded {
  readonly files: readonly string[]
  readonly builtins: readonly string[]
}

function loadedBy(home: Home, args: string[], env: Record<string, string> = {}): Promise<Loaded> {
  home.put('hook.cjs', hook)
  return new Promise((settle, fail) => {
    const child = spawn(
      process.execPath,
      ['--require', home.at('hook.cjs'), resolve('bin/repoint.js'), ...args],
      {
        env: { PATH: process.env['PATH'], HOME: home.path, ...env },
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      },
    )
    let report = ''
    child.stdio[3]!.on('data', (data) => {
      report += data
    })
    child.stdout!.resume()
    child.on('error', fail)
    child.on('close', (status) => {
      if (status !== 0) return fail(new Error(`ended with ${status}`))
      const { files, builtins } = JSON.parse(report)
      settle({ files: files.map((path: string) => basename(path)).sort(), builtins })
    })
  })
}

test.each(['--version', '--help'])(
  '%s loads neither the commands nor Node’s streams',
  async (flag) => {
    const { files, builtins } = await loadedBy(aHome(), [flag])
    expect(files).toEqual(['errors.cjs', 'main.cjs', 'repoint.js'])
    for (const name of ['net', 'tty', 'child_process', 'http', 'crypto'])
      expect(builtins).not.toContain(name)
  },
)

test('status loads no prompts, no HTTP client, no process runner and no gateway', async () => {
  const { files, builtins } = await loadedBy(aHome(), ['status'])
  expect(files).toEqual(['commands.cjs', 'errors.cjs', 'main.cjs', 'repoint.js'])
  for (const name of ['net', 'tty', 'child_process', 'http']) expect(builtins).not.toContain(name)
})

test('a scripted setup loads the HTTP client, and of it only what HTTP/1.1 needs', async () => {
  const gateway = await startGateway({ port: 0 })
  try {
    const { files, builtins } = await loadedBy(aHome(), ['codex', '--yes'], {
      REPOINT_BASE_URL: gateway.url,
      REPOINT_API_KEY: gateway.key,
    })
    expect(files).toEqual([
      'commands.cjs',
      'errors.cjs',
      'main.cjs',
      'repoint.js',
      'undici-lib-dispatcher-client.cjs',
    ])
    for (const name of ['http', 'http2', 'child_process']) expect(builtins).not.toContain(name)
  } finally {
    await gateway.close()
  }
})
