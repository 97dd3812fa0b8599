import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientRows } from '../src/clients/list.ts'
import { withGateway } from './support/gateway.ts'
import { Home } from './support/home.ts'
import { runInProcess } from './support/in-process.ts'

/** What the pages tell people to type is typed, against the local gateway. */

const key = 'sk-canary-docs-2c8e4b7f90d1a365'

const gateway = await withGateway({ key })
let home: Home
beforeAll(async () => {
  home = aMachine()
  expect((await type('repoint codex --yes --name work')).status).toBe(0)
})
afterAll(() => home.remove())

/** Without README.zh.md: docs.test.ts holds that it has the commands of README.md. */
const pages = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md'].concat(
  readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
)

/** Lines of blocks, and in the README what stands in a table's first cell, without what is said about them. */
function typedIn(page: string): readonly string[] {
  const text = readFileSync(page, 'utf8')
  const blocks = [...text.matchAll(/^```(?:\w*)\n(.*?)^```/gms)].flatMap(([, block]) =>
    // A block with a screen marks what is typed.
    block!.split('\n').filter((line) => !block!.startsWith('$ ') || line.startsWith('$ ')),
  )
  const cells = !page.startsWith('README')
    ? []
    : [...text.matchAll(/^\| `(repoint[^`]*)`/gm)].map(([, cell]) => cell!)
  return [...blocks.map((line) => line.replace(/^\$ | +# .*$/g, '').trim()), ...cells]
    .filter((line) => /^(?:[A-Z_]+=\S+ )*repoint(?: |$)/.test(line))
    .filter((line) => !/\[|SHELL/.test(line))
}

/** Programs that the lines start. */
const programs = ['codex', 'npm', 'npx']

function aMachine(): Home {
  const home = new Home()
  const program = resolve('bin/repoint.js')
  home.put('bin/repoint', `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`, 0o755)
  for (const name of programs) home.put(`bin/${name}`, '#!/bin/sh\nexit 0\n', 0o755)
  return home
}

/** Whether a line needs a shell, a file of the working folder, or a program: the others run in this process. */
function needsShell(line: string): boolean {
  return /['"$=]|--key-file|^repoint (?:serve|run)/.test(line)
}

/** A server is ended as soon as it listens. */
async function type(line: string): Promise<{ status: number | null; said: string }> {
  const env = {
    HOME: home.path,
    PATH: `${home.at('bin')}:${process.env['PATH']}`,
    REPOINT_BASE_URL: gateway.url,
    REPOINT_API_KEY: key,
    PORTKEY_KEY: 'pk-canary-1',
    KEY: key,
  }
  if (!needsShell(line)) {
    const [, ...words] = line.split(' ')
    const { status, stdout, stderr } = await runInProcess(home, words, { env })
    return { status, said: stdout + stderr }
  }
  return new Promise((settle) => {
    const child = spawn('sh', ['-c', line], {
      cwd: home.path,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let said = ''
    const hear = (data: Buffer) => {
      said += data
      if (
        /^ *repoint serve(?! --)|serve --(?:log|port|record|scenario|upstream)/.test(line) &&
        /http:\/\/127/.test(said)
      )
        process.kill(-child.pid!, 'SIGTERM')
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.on('close', (status) => settle({ status, said }))
  })
}

describe.each(pages.filter((page) => typedIn(page).length > 0))('%s', (page) => {
  test.each(typedIn(page))('%s', async (line) => {
    const here = line
      .replaceAll('https://gw.example', gateway.url)
      .replaceAll('…', key)
      .replaceAll('NAME', 'work')
    // What a person is asked there, a script says; the guided setup asks too much for one.
    const isSetup =
      clientRows.some(({ id }) => line.startsWith(`repoint ${id}`)) ||
      ['repoint key', 'repoint off', 'repoint rollback'].includes(line) ||
      /^repoint use \w+ \w/.test(line)
    const consent = line === 'repoint' ? ' --help' : isSetup ? ' --yes' : ''
    const link = `ccswitch://v1/import?app=codex&endpoint=${gateway.url}&apiKey=${key}`
    if (line.includes('link.txt')) home.put('link.txt', link)
    if (line.includes('gw.pem')) home.put('gw.pem', readFileSync('test/fixtures/tls/good.pem'))
    if (/--(scenario|record)/.test(line)) home.put('answers.yaml', 'answers: []\n')
    const { status, said } = await type(here + consent)
    expect(said).not.toContain('sk-canary')
    expect([status, said]).toEqual([expect.toBeOneOf([0, null, 143]), said])
  })
})
