import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Client } from '../../src/clients/contract/client.ts'
import type { FolderFiles } from '../../src/clients/contract/config.ts'
import { loadAllClients, loadClients } from '../../src/clients/list.ts'
import { folderSettings } from '../../src/commands/client-state/folder-settings.ts'
import { Session } from '../../src/commands/screen/session.ts'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { platformIn, runInProcess } from '../support/in-process.ts'
import { keys, runOnTerminal } from '../support/terminal.ts'

const canary = 'sk-canary-4d5e6f70819292a3b47f3a9b'

const gateway = await withGateway({ key: canary })

const programs = await loadAllClients()
const clients = await loadClients()

/** A file that a pattern matches, without anything that decides where the key goes. */
function sampleOf(pattern: string): string {
  return pattern.replace('/**', '/deep/er.txt').replace(/\*$/, '.sample')
}

/** A home with a saved gateway, a client that is set up for it, and a repository. */
async function aProject(client: Pick<Client, 'id'>, files: Readonly<Record<string, string>> = {}) {
  const home = aHome({ 'shop/.git/HEAD': '', 'shop/a/README.md': '', ...files })
  const env = { REPOINT_API_KEY: canary, REPOINT_BASE_URL: gateway.url }
  const run = (args: readonly string[], cwd = home.at('shop')) =>
    runInProcess(home, args, { env, cwd })
  const name = client.id === 'copilot' ? 'codex' : client.id
  expect((await run([name, '--yes', '--name', 'work'], home.path)).status).toBe(0)
  return { home, env, run }
}

/** Starts a stub of the client's program with `run`. The stub records that it was started. */
async function started(
  { home, run }: Awaited<ReturnType<typeof aProject>>,
  { program: binary }: Client,
  cwd?: string,
) {
  const program = home.at(`bin/${binary.command}`)
  home.put(`bin/${binary.command}`, `#!/bin/sh\ntouch '${home.at('started')}'\n`, 0o755)
  const words = ['run', 'work', '--', program, 'Say hello']
  const { status, stdout, stderr } = await run(words, cwd)
  return { status, stdout, stderr, isStarted: existsSync(home.at('started')) }
}

/** The lines that name files of the folder. */
function linesIn(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.includes('settings from this folder'))
}

const patterns = programs.flatMap((client) =>
  client.config.folderFiles.flatMap(({ patterns, reach }) =>
    patterns.map((pattern) => [client.id, pattern, client, reach] as const),
  ),
)

test.each(patterns)('%s reads %s', (_, pattern, client, reach) => {
  const sample = sampleOf(pattern)
  const home = aHome({ 'shop/.git/HEAD': '', 'shop/a/README.md': '', [`shop/${sample}`]: '' })
  const filesIn = (folder: string) => {
    const session = new Session(platformIn(home, { cwd: home.at(folder) }), { isJson: false })
    return folderSettings(session, client).map(({ message }) => message)
  }

  expect(filesIn('shop')).toEqual([expect.stringContaining(`: ${sample}`)])
  const isRead = reach !== 'folder'
  expect(filesIn('shop/a').some((message) => message.includes(`../${sample}`))).toBe(isRead)
})

const readsFolder = ({ config }: Pick<Client, 'config'>) =>
  config.folderFiles.some(({ patterns }) => patterns.length > 0)
const launchable = programs.filter(readsFolder)

test.each(launchable.map((client) => [client.id, client] as const))(
  'run %s names the settings of the folder, if there are any, and continues',
  async (_, client) => {
    const project = await aProject(client, { 'shop/AGENTS.md': 'x' })
    const without = await started(project, client)
    expect([without.status, without.isStarted, linesIn(without.stderr)]).toEqual([0, true, []])

    const sample = sampleOf(client.config.folderFiles[0]!.patterns[0]!)
    project.home.put(`shop/${sample}`, '')
    const { status, stdout, stderr } = await started(project, client)
    expect([status, linesIn(stderr)]).toEqual([0, [expect.stringContaining(`: ${sample} (`)]])
    expect(stdout + stderr).not.toContain(canary)
  },
)

test.each(programs.map((client) => [client.id, client.config.folderFiles] as const))(
  '%s: the list of its places says which versions were observed, and when',
  (_, places: readonly FolderFiles[]) => {
    expect(places, 'folderFiles of a client that reads none: { patterns: [], … }').not.toEqual([])
    for (const { source } of places) expect(source).toMatch(/, 2026-\d\d-\d\d$/)
  },
)

test.each(clients.filter(readsFolder).map((client) => [client.id, client] as const))(
  '%s: setup, status and doctor name the files, and no consent is needed',
  async (id, client) => {
    const sample = sampleOf(client.config.folderFiles[0]!.patterns.at(-1)!)
    const { run } = await aProject(client, { [`shop/${sample}`]: '' })
    const named = { message: expect.stringContaining(sample) }

    const setup = await run([id, '--yes', '--json'])
    expect(setup.status).toBe(0)
    expect((setup.json as { warnings: unknown }).warnings).toContainEqual(
      expect.objectContaining({ code: 'folder-settings', ...named }),
    )
    const status = await run(['status', id, '--json'])
    const [clientStatus] = (status.json as { clients: readonly { obstacles: unknown }[] }).clients
    expect(clientStatus!.obstacles).toContainEqual(
      expect.objectContaining({ code: 'folder-settings', weight: 'may-block', ...named }),
    )
    const doctor = await run(['doctor', id, '--no-verify', '--json'])
    expect((doctor.json as { checks: unknown }).checks).toContainEqual(
      expect.objectContaining({ id: 'folder-settings', result: 'warning', ...named }),
    )
    expect(linesIn((await run(['status', id])).stdout)).toHaveLength(1)
  },
)

describe('the search', () => {
  const opencode = programs.find(({ id }) => id === 'opencode')!
  const codex = programs.find(({ id }) => id === 'codex')!
  const lineOf = async (project: Awaited<ReturnType<typeof aProject>>, client = opencode) => {
    const { status, stderr } = await started(project, client)
    expect(status).toBe(0)
    return linesIn(stderr).join('\n')
  }

  test('names five files, those at the top first, and counts the others', async () => {
    const deep = [1, 2, 3, 4, 5, 6].map((number) => [`shop/.opencode/a/b/${number}.md`, ''])
    const top = { 'shop/.opencode/zz.json': '', 'shop/tui.json': '{}' }
    const line = await lineOf(await aProject(opencode, { ...Object.fromEntries(deep), ...top }))
    expect(line).toContain(': tui.json, .opencode/zz.json, .opencode/a/b/1.md')
    expect(line).toContain(' and 3 more (')
  })

  test('ends soon in large folders, in installed packages and in circular links', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 1200 }, (_, index) => [`shop/.opencode/tool/${index}.ts`, '']),
    )
    const installed = { 'shop/.opencode/node_modules/x/index.js': '' }
    const project = await aProject(opencode, { ...many, ...installed })
    project.home.put('shop/.opencode/loop', { link: '.' })
    project.home.put('shop/.opencode/root', { link: '/' })
    const line = await lineOf(project)
    expect(line).toMatch(/ and at least \d+ more \(/)
    expect(line).not.toContain('node_modules')
  })

  test('skips broken links and unreadable folders', async () => {
    const project = await aProject(opencode, { 'shop/tui.json': '{}' })
    project.home.put('shop/opencode.jsonc', { link: 'nowhere' })
    mkdirSync(project.home.at('shop/.opencode'))
    chmodSync(project.home.at('shop/.opencode'), 0)
    const line = await lineOf(project)
    chmodSync(project.home.at('shop/.opencode'), 0o755)
    expect(line).toContain('tui.json')
    expect(line).not.toContain('opencode.jsonc')
  })

  test('follows a link to a folder, and shows a hostile name on one line', async () => {
    const project = await aProject(opencode, { 'shop/other/x\n\u001b[31my.ts': '' })
    project.home.put('shop/.opencode', { link: 'other' })
    const line = await lineOf(project)
    expect(line).toContain('.opencode/x')
    expect(line).not.toContain('\u001b[31m')
    expect(line).toContain('y.ts')
  })

  test("skips the user's own files, in the home and in the folder of a variable", async () => {
    const project = await aProject(codex)
    const { home, env } = project
    const inHome = await started(project, codex, home.path)
    expect(linesIn(inHome.stderr)).toEqual([])

    home.put('shop/.codex/config.toml', '')
    const moved = { ...env, CODEX_HOME: home.at('shop/.codex') }
    const words = ['run', 'work', '--', home.at('bin/codex')]
    const result = await runInProcess(home, words, { env: moved, cwd: home.at('shop') })
    expect([result.status, linesIn(result.stderr)]).toEqual([0, []])
  })

  test('looks in the folder that an argument names', async () => {
    const { home, run } = await aProject(codex, { 'other/.codex/hooks.json': '{}' })
    home.put('bin/codex', '#!/bin/sh\n', 0o755)
    const result = await run(['run', 'work', '--', home.at('bin/codex'), '-C', '../other'])
    expect([result.status, linesIn(result.stderr)]).toEqual([
      0,
      [expect.stringContaining('../other/.codex/hooks.json')],
    ])
  })
})

describe('the real program', () => {
  const aStub = async (): Promise<{ home: Home; env: Record<string, string> }> => {
    const client = { id: 'opencode' }
    const { home, env } = await aProject(client, { 'shop/.opencode/plugin/x.ts': '' })
    home.put(
      'bin/opencode',
      '#!/bin/sh\nif [ "$1" = --version ]; then echo 9.9.9; else echo it is started; fi\n',
      0o755,
    )
    return { home, env: { ...env, PATH: `${home.at('bin')}:${process.env['PATH']}` } }
  }

  test('without a terminal it names the files on standard error, and starts the client', async () => {
    const { home, env } = await aStub()
    const words = ['run', 'work', '--', 'opencode']
    const result = await runCli(home, words, { env, cwd: home.at('shop') })
    expect([result.status, result.stdout]).toEqual([0, 'it is started\n'])
    expect(linesIn(result.stderr)).toEqual([expect.stringContaining('.opencode/plugin/x.ts')])
  })

  test('on a terminal it asks nothing', async () => {
    const { home, env } = await aStub()
    const words = ['run', 'work', '--', 'opencode']
    const run = runOnTerminal(home, words, { env, cwd: home.at('shop') })
    await run.ended
    const screen = run.screen().replaceAll(/\s+/g, ' ')
    expect(screen).toContain('.opencode/plugin/x.ts')
    expect(screen).toContain('it is started')
  })

  test('a shell gets one line for each client that has settings there', async () => {
    const { home, env } = await aStub()
    const shell = { ...env, SHELL: '/bin/true' }
    const result = await runCli(home, ['run', 'work'], { env: shell, cwd: home.at('shop') })
    expect([result.status, linesIn(result.stderr).length]).toEqual([0, 1])
  })

  test('a setting that redirects the key still stops it', async () => {
    const { home, env } = await aStub()
    home.put('shop/opencode.json', '{"provider":{"gateway":{"api":"https://elsewhere.example"}}}')
    const cwd = home.at('shop')
    const words = ['run', 'work', '--', 'opencode']
    const alone = await runCli(home, words, { env, cwd })
    expect([alone.status, alone.stdout]).toEqual([8, ''])

    const asked = runOnTerminal(home, words, { env, cwd })
    await asked.shows('Start it anyway?')
    asked.type(keys.enter)
    await asked.ended
    expect(asked.screen()).not.toContain('it is started')
  })
})
