import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blocksIn, type DocBlock, needsSdk } from '../support/doc-blocks.ts'

/**
 * The commands of the pages for a reader after `git clone`, in their order. A shell runs each line as written.
 * There is no registry: `npm ci` copies the packages of this checkout, and vitest is linked.
 */

const canary = 'sk-canary-8d3b5f1e7a9c2640'

let folder: string
let clone: string
let project: string
beforeAll(() => {
  // A temporary folder can be behind a link, as on macOS.
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'repoint-fresh-')))
  clone = join(folder, 'repoint')
  project = join(folder, 'project')
  execFileSync('git', ['clone', '--quiet', resolve('.'), clone])
  for (const name of ['bin', 'home', 'anywhere', 'project']) mkdirSync(join(folder, name))
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ scripts: { test: 'test -n "$OPENAI_BASE_URL"' } }),
  )
  writeFileSync(join(folder, 'bin/npm'), npmWithoutRegistry())
  chmodSync(join(folder, 'bin/npm'), 0o755)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function npmWithoutRegistry(): string {
  const npm = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim()
  const modules = realpathSync('node_modules')
  const vitest = join(modules, 'vitest')
  return `#!/bin/sh
if [ "$1" = ci ]; then
  rm -rf node_modules
  cp -al '${modules}' node_modules 2>/dev/null || cp -a '${modules}' node_modules
  exit
fi
if [ "$1 $2 $3" = 'install --save-dev vitest' ]; then
  shift 3
  '${npm}' install --save-dev "$@" || exit
  mkdir -p node_modules/.bin
  ln -s '${vitest}' node_modules/vitest
  ln -s '${vitest}/vitest.mjs' node_modules/.bin/vitest
  exit
fi
exec '${npm}' "$@"
`
}

/** Runs a line in a shell. Ends a server as soon as it listens. */
function type(line: string, cwd: string): Promise<{ status: number | null; output: string }> {
  const env = {
    HOME: join(folder, 'home'),
    PATH: `${join(folder, 'bin')}:${join(folder, 'prefix/bin')}:${process.env['PATH']}`,
    REPOINT_API_KEY: canary,
    npm_config_prefix: join(folder, 'prefix'),
    npm_config_cache: join(folder, 'cache'),
    npm_config_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  }
  const isServer = line.startsWith('repoint serve') && !line.includes(' -- ')
  return new Promise((settle) => {
    const child = spawn('sh', ['-c', line], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let output = ''
    const read = (data: Buffer) => {
      output += data
      if (isServer && /http:\/\/127/.test(output)) process.kill(-child.pid!, 'SIGTERM')
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.on('close', (status) => settle({ status, output }))
  })
}

const blocks = (page: string) => blocksIn(readFileSync(join(clone, page), 'utf8'))

function linesOf({ text }: DocBlock): readonly string[] {
  const lines = text.split('\n').map((line) => line.replace(/ +# .*$/, '').trim())
  return lines.filter((line) => line !== '')
}

async function typeAll(lines: readonly string[], cwd: string): Promise<void> {
  expect(lines).not.toEqual([])
  for (const line of lines) {
    const { status, output } = await type(line, cwd)
    expect([line, status, output]).toEqual([line, expect.toBeOneOf([0, null, 143]), output])
    expect(output).not.toContain(canary)
  }
}

// A source archive has no history to clone.
describe.runIf(existsSync('.git'))('in a fresh clone', () => {
  test('docs/gateway.md: the first steps work as typed, and the link is kept', async () => {
    const [install, anywhere, pack, addToProject] = blocks('docs/gateway.md').filter(
      ({ language }) => language === '',
    )
    await typeAll(linesOf(install!), clone)
    const serves = linesOf(anywhere!)
    await typeAll(
      serves.filter((line) => !line.includes('npm test')),
      join(folder, 'anywhere'),
    )
    await typeAll(
      serves.filter((line) => line.includes('npm test')),
      project,
    )

    await typeAll(linesOf(pack!), clone)
    await typeAll(linesOf(addToProject!), project)
    const [example] = blocks('docs/gateway.md').filter(
      (one) => one.language === 'js' && !needsSdk(one),
    )
    const text = readFileSync(join(clone, 'docs/gateway.md'), 'utf8')
    const [, file, command] = /Save the next example as `([^`]+)` and run it with `([^`]+)`/.exec(
      text,
    )!
    writeFileSync(join(project, file!), example!.text)
    await typeAll([command!], project)

    const { status, output } = await type('repoint --version', join(folder, 'anywhere'))
    const { version } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'))
    expect([status, output]).toEqual([0, `${version}\n`])
  })

  test('README.md: the demo and the link work as typed, without more packages', async () => {
    rmSync(join(clone, 'node_modules'), { recursive: true, force: true })
    rmSync(join(clone, 'dist'), { recursive: true, force: true })
    rmSync(join(folder, 'prefix'), { recursive: true, force: true })
    const [first] = blocks('README.md')
    const lines = linesOf(first!)
    expect(lines.at(-1)).toBe('repoint rollback')
    await typeAll(
      lines.filter((line) => line.startsWith('npm')),
      clone,
    )
    // These commands ask questions. Other tests run them.
    await typeAll(
      lines.filter((line) => line.startsWith('repoint')).map((line) => `${line} --help`),
      join(folder, 'anywhere'),
    )
  })
})
