import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blocksOf, needsSdk } from '../support/doc-blocks.ts'
import { aHome, type Home } from '../support/home.ts'
import { keys, runOnTerminal } from '../support/terminal.ts'

/** The package may get a scope, but the command stays `repoint`. */
const { name } = JSON.parse(readFileSync('package.json', 'utf8')) as { name: string }
const canary = 'sk-canary-5b1f0c9d8e7a6f5b4c3d2e1f'

interface Bundled {
  readonly name: string
  readonly version: string
}

let folder: string
let tarball: string
let installation: string
let server: { url: string; end(): void }

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'repoint-pack-'))
  // Packing runs the build first (prepack).
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    encoding: 'utf8',
  })
  tarball = join(folder, packed.trim().split('\n').at(-1)!)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  // Offline and with an empty cache, so that npm can install only the tarball.
  const result = spawnSync(
    'npm',
    [
      'install',
      '--offline',
      '--no-audit',
      '--no-fund',
      '--foreground-scripts',
      '--cache',
      join(folder, 'cache'),
      tarball,
    ],
    { cwd: folder, encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: folder } },
  )
  installation = `${result.stdout}${result.stderr}`
  expect(result.status, installation).toBe(0)
  server = await serveFromInstallation()
})
afterAll(() => {
  server?.end()
  rmSync(folder, { recursive: true, force: true })
})

/** `repoint serve` from the installed package, for the tests that follow. */
async function serveFromInstallation() {
  const child = spawn(join(folder, 'node_modules/.bin/repoint'), ['serve', '--json'], {
    env: { PATH: process.env['PATH'], HOME: folder, REPOINT_API_KEY: canary },
  })
  const line = await new Promise<string>((settle) =>
    child.stdout.once('data', (data) => settle(`${data}`)),
  )
  return { url: JSON.parse(line).url as string, end: () => child.kill() }
}

/** The folder of the installed package. */
function installed(): string {
  return join(folder, 'node_modules', name)
}

/** The environment of a machine on which no client runs. */
function environment(home: Home) {
  home.put('bin/pgrep', '#!/bin/sh\nexit 1\n')
  chmodSync(home.at('bin/pgrep'), 0o755)
  return {
    PATH: `${home.at('bin')}:${process.env['PATH']}`,
    HOME: home.path,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
    npm_config_cache: join(folder, 'cache'),
  }
}

/** Runs repoint with npx, as a user types it, in a pipe. */
function npx(home: Home, ...args: string[]) {
  return spawnSync('npx', ['--no-install', 'repoint', ...args], {
    cwd: folder,
    encoding: 'utf8',
    input: canary,
    env: environment(home),
  })
}

describe('the tarball', () => {
  test('installs one package, without a registry, and runs no script', () => {
    const packages = readdirSync(join(folder, 'node_modules')).filter((one) => one[0] !== '.')
    expect(packages).toEqual([name.split('/')[0]])
    expect(installation).toContain('added 1 package')
    expect(installation).not.toMatch(/^> \S+@\d/m)
    const manifest = JSON.parse(readFileSync(join(installed(), 'package.json'), 'utf8'))
    expect(manifest).not.toHaveProperty('dependencies')
    for (const script of ['preinstall', 'install', 'postinstall', 'prepare'])
      expect(manifest.scripts).not.toHaveProperty(script)
  })

  test('is at most 870 kB packed', () => {
    expect(statSync(tarball).size).toBeLessThanOrEqual(870_000)
  })

  test('names the licence of each package that is bundled', () => {
    const licences = readFileSync(join(installed(), 'THIRD-PARTY-LICENSES.md'), 'utf8')
    for (const name of ['commander', 'undici', 'execa', '@inquirer/prompts', 'smol-toml', 'yaml'])
      expect(licences).toMatch(new RegExp(`^## ${name} \\d`, 'm'))
    expect(licences.match(/^## /gm)?.length).toBeLessThan(70)
    expect(readFileSync(join(installed(), 'LICENSE'), 'utf8')).toContain('MIT')
  })

  test('lists for programs exactly the packages whose licences it names', () => {
    const root = installed()
    const { components } = JSON.parse(readFileSync(join(root, 'dist/sbom.json'), 'utf8'))
    const licences = readFileSync(join(root, 'THIRD-PARTY-LICENSES.md'), 'utf8')
    const named = [...licences.matchAll(/^## (\S+) (\d\S*)$/gm)].map(([, ...one]) => one.join('@'))
    expect(components.map(({ name, version }: Bundled) => `${name}@${version}`)).toEqual(named)
    for (const { purl } of components) expect(purl).toMatch(/^pkg:npm\/(%40[^@]+|[^@]+)@\d/)
  })

  test('can be published: npm publish --dry-run accepts it', () => {
    const publish = ['publish', '--dry-run', '--ignore-scripts', '--tag', 'next', '--json', tarball]
    const { status, stdout, stderr } = spawnSync('npm', publish, { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
    expect(stdout).toContain(`"${name}@`)
    expect(stdout).not.toContain('dist/binary')
  })

  test('contains every page and picture that its pages link to, except the picture of serve', () => {
    const root = installed()
    const docs = readdirSync(join(root, 'docs')).filter((page) => page.endsWith('.md'))
    const pages = [
      'README.md',
      'README.zh.md',
      'SECURITY.md',
      ...docs.map((page) => `docs/${page}`),
    ]
    const missing = pages.flatMap((page) => {
      const text = readFileSync(join(root, page), 'utf8')
      const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, link]) => link!)
      return links.filter((link) => !existsSync(join(root, page, '..', link)))
    })
    expect(missing).toEqual(['images/serve.png'])
  })

  test('contains no path of this machine, no address of a registry and no sources', () => {
    const root = installed()
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
      statSync(join(root, name)).isFile(),
    )
    expect(files).toContain(join('dist', 'cli.mjs'))
    expect(files.filter((name) => /\.(map|tgz)$|^src|^test|(?<!\.d)\.ts$/.test(name))).toEqual([])
    for (const name of files) {
      const text = readFileSync(join(root, name), 'latin1')
      expect(text.includes(`${resolve('.')}/`), name).toBe(false)
      expect(text.includes(`${homedir()}/`), name).toBe(false)
      expect(/registry\.npmjs|"resolved"/.test(text), name).toBe(false)
    }
  })
})

/** Runs the commands and examples of the page as typed. vitest is linked, because there is no registry. */
test('docs/gateway.md: the setup and its examples work in a project', () => {
  const page = blocksOf('docs/gateway.md')
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const setup = page.find(({ text }) => text.startsWith('npm install --save-dev'))!.text
  expect(setup).toContain(`npm install --save-dev vitest ../repoint/${name}-${version}.tgz`)
  expect(tarball).toMatch(new RegExp(`/${name}-${version}\\.tgz$`))

  symlinkSync(resolve('node_modules/vitest'), join(folder, 'node_modules/vitest'))
  const examples = page.filter((one) => one.language === 'js' && !needsSdk(one))
  for (const [index, { text }] of examples.entries())
    writeFileSync(join(folder, `example-${index}.test.js`), text)
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [vitest, 'run'], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: folder },
  })
  expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('passed')])
})

describe('the installed program', () => {
  test('prints version, help, setup, status and rollback in a pipe as in the transcript', async () => {
    const home = aHome({ '.codex/config.toml': '# mine\nmodel = "o3"\n' })
    environment(home)
    const before = home.snapshot()
    const typed = [
      ['--version'],
      ['--help'],
      ['codex', '--base-url', server.url, '--key-stdin', '--yes'],
      ['codex', '--base-url', server.url, '--key-stdin', '--yes'],
      ['status'],
      ['rollback', '--yes'],
      ['rolback'],
    ]
    const transcript = typed.map((args) => {
      const { status, stdout, stderr } = npx(home, ...args)
      return `$ npx repoint ${args.join(' ')}\n${stdout}${stderr}(status ${status})\n`
    })
    const text = transcript.join('\n')
    expect(text).not.toContain(canary)
    expect(home.snapshot()).toEqual(before)
    await expect(settled(text)).toMatchFileSnapshot('transcript-pipe.txt')
  })

  test('asks for address and key on a terminal and sets up as in the transcript', async () => {
    const home = aHome()
    const run = runOnTerminal(home, [resolve(folder, 'node_modules/.bin/repoint'), 'codex'], {
      command: process.execPath,
      env: environment(home),
    })
    await run.shows('Gateway address')
    run.type(`${server.url}${keys.enter}`)
    await run.shows('API key')
    run.type(`${canary}${keys.enter}`)
    await run.shows('Apply?')
    run.type(keys.enter)
    expect(await run.ended).toBe(0)
    expect(run.raw()).not.toContain(canary)
    await expect(settled(lastScreen(run.raw()))).toMatchFileSnapshot('transcript-terminal.txt')
  })
})

/** Text that is drawn and then cleared. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what the terminal gets
const progress = /\r?[^\n]*\u001b\[2K/g

/** The final screen of a terminal: rewritten lines count once, and progress does not count. */
function lastScreen(raw: string): string {
  const lines = stripVTControlCharacters(raw.replace(progress, ''))
    .split(/\r?\n/)
    .map((line) => line.slice(line.lastIndexOf('\r') + 1).trimEnd())
  return `${lines.filter((line, index) => line !== lines[index - 1]).join('\n')}`
}

/** Replaces everything that differs between machines and days. */
function settled(text: string): string {
  return (
    text
      .replaceAll(new URL(server.url).host, '127.0.0.1:8787')
      // The width of the column depends on the real port in the address.
      .replace(/GATEWAY {2,}(?=MODEL)/g, 'GATEWAY                ')
      .replace(/\d{8}T\d{6}Z-[0-9a-f]+/g, '20261121T090000Z-0001')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-11-21T09:00:00.000Z')
  )
}

describe('the export /gateway of the package', () => {
  test('can be imported from JavaScript', () => {
    writeFileSync(
      join(folder, 'consumer.js'),
      `import { startGateway, builtInCatalog } from '${name}/gateway'
const gateway = await startGateway({ families: 'rewritten', port: 0 })
const answer = await fetch(gateway.url + '/v1/models', { headers: { authorization: 'Bearer ' + gateway.key } })
const { data } = await answer.json()
console.log(answer.status, data.length === builtInCatalog.length, gateway.requests().length)
await gateway.close()`,
    )
    const { stdout, stderr } = spawnSync(process.execPath, ['consumer.js'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect({ stdout, stderr }).toEqual({ stdout: '200 true 1\n', stderr: '' })
  })

  test('accepts a correct TypeScript program, and rejects a wrong one', () => {
    writeFileSync(
      join(folder, 'right.ts'),
      `import { type Gateway, type GatewayOptions, startGateway } from '${name}/gateway'
const options: GatewayOptions = { port: 0, onRequest: (request) => console.log(request) }
const gateway: Gateway = await startGateway(options)
const url: string = gateway.url
console.log(url)
await gateway.close()`,
    )
    writeFileSync(
      join(folder, 'wrong.ts'),
      `import { startGateway } from '${name}/gateway'
await startGateway({ families: 'rewritten', port: 'any' })`,
    )
    expect(compile('right.ts')).toEqual({ status: 0, stdout: '' })
    expect(compile('wrong.ts').stdout).toContain("Type 'string' is not assignable to type 'number'")
  })

  function compile(file: string) {
    const { status, stdout } = spawnSync(
      process.execPath,
      [
        resolve('node_modules/typescript/bin/tsc'),
        ...['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022'],
        ...['--skipLibCheck', 'false', '--typeRoots', resolve('node_modules/@types')],
        ...['--types', 'node', file],
      ],
      { cwd: folder, encoding: 'utf8' },
    )
    return { status, stdout }
  }
})
