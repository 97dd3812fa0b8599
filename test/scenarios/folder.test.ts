import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'

const keys = { own: 'sk-canary-own-1f2e3d4c5b6a7988', work: 'sk-canary-work-8a9b7c6d5e4f3021' }
const list = '.local/state/repoint/folders.json'

const codexGateway = await withGateway({ key: keys.own })
const work = await withGateway({ key: keys.work })

/** Codex is set up for `own`, and `work` is saved. `bin/codex` prints how it was started. */
async function aHomeBetween(): Promise<Home> {
  const home = aHome()
  home.put('bin/codex', '#!/bin/sh\nfor one; do printf "<%s>" "$one"; done; echo; exit 7\n', 0o755)
  symlinkSync(resolve('bin/repoint.js'), home.at('bin/repoint'))
  chmodSync(home.at('bin/codex'), 0o755)
  for (const [name, { url }] of Object.entries({ work, own: codexGateway })) {
    const setup = ['codex', '--name', name, '--base-url', url, '--yes']
    const env = { REPOINT_API_KEY: keys[name as keyof typeof keys] }
    expect(await runHere(home, setup, env)).toMatchObject({ status: 0 })
  }
  return home
}

async function inFolder(home: Home, cwd: string, ...args: string[]) {
  const { status, stdout, stderr } = await runInProcess(home, [...args, '--json'], { cwd })
  for (const key of Object.values(keys)) expect(stdout + stderr).not.toContain(key)
  return { status, json: JSON.parse(stdout), text: stdout + stderr }
}

function aFolder(home: Home, name: string): string {
  mkdirSync(home.at(name), { recursive: true })
  return home.at(name)
}

describe('repoint folder', () => {
  test('saves, shows and forgets a folder, only in the state, and a second time changes nothing', async () => {
    const home = await aHomeBetween()
    const cwd = aFolder(home, 'proj')
    const before = home.snapshot()
    const entry = { path: cwd, gateway: 'work', baseUrl: work.url }
    const shown = { here: entry, folders: [entry] }
    expect(await inFolder(home, cwd, 'folder', 'work')).toMatchObject({
      status: 0,
      json: { changed: true, ...shown },
    })
    expect((await inFolder(home, cwd, 'folder', 'work')).json).toMatchObject({ changed: false })
    expect((await inFolder(home, cwd, 'folder')).json).toMatchObject({ changed: false, ...shown })
    expect((await inFolder(home, cwd, 'status')).json.folder).toEqual(entry)
    expect((await runInProcess(home, ['status'], { cwd })).stdout).toContain(
      'Folder ~/proj uses gateway work',
    )
    expect(home.snapshot()).toEqual(before)

    expect((await inFolder(home, cwd, 'folder', '--forget')).json).toMatchObject({
      changed: true,
      here: null,
      folders: [],
    })
    expect((await inFolder(home, cwd, 'folder', '--forget')).json.changed).toBe(false)
    expect((await inFolder(home, cwd, 'status')).json.folder).toBeNull()
  })

  test('applies to folders below, the nearest first, also through links and after a move behind a link', async () => {
    const home = await aHomeBetween()
    const hostile = ['with space', `quo'te"`, 'new\nline', '-rf', '$(x)`y`']
    const outer = aFolder(home, 'outer')
    const inner = aFolder(home, join('outer', 'deep', ...hostile))
    await inFolder(home, outer, 'folder', 'own')
    await inFolder(home, inner, 'folder', 'work')
    const gatewayAt = async (cwd: string) =>
      (await inFolder(home, cwd, 'folder')).json.here?.gateway
    symlinkSync(inner, home.at('link'))
    const places = [home.path, outer, home.at('outer/deep'), inner, home.at('link')]
    expect(await Promise.all(places.map(gatewayAt))).toEqual([
      undefined,
      'own',
      'own',
      'work',
      'work',
    ])
    expect(await gatewayAt(aFolder(home, 'outer-2'))).toBeUndefined()

    renameSync(outer, home.at('moved'))
    symlinkSync(home.at('moved'), outer)
    expect(await gatewayAt(home.at('moved/deep'))).toBe('own')
    // The name of the folder is never on a separate line.
    const { stdout } = await runInProcess(home, ['folder'], { cwd: outer })
    expect(stdout).not.toMatch(/^line/m)
  })

  test('starts nothing if the gateway was forgotten, or if another gateway has its name', async () => {
    const home = await aHomeBetween()
    const cwd = aFolder(home, 'proj')
    await inFolder(home, cwd, 'folder', 'work')
    const forgotten = await runInProcess(home, ['forget', 'work', '--yes'], { cwd })
    expect(forgotten.stdout).toContain('Folder ~/proj uses gateway work: ')
    const refused = async () => runInProcess(home, ['run', '--by-folder', '--', 'codex'], { cwd })
    expect(await refused()).toMatchObject({
      status: 8,
      stderr: expect.stringContaining('no longer saved'),
    })

    const renamed = ['codex', '--name', 'work', '--base-url', codexGateway.url, '--yes']
    await runHere(home, renamed, { REPOINT_API_KEY: keys.own })
    expect(await refused()).toMatchObject({ status: 8, stderr: expect.stringContaining(work.url) })
    expect((await runInProcess(home, ['folder'], { cwd })).stdout).toContain('! Folder ~/proj')
  })

  test('starts nothing if the list cannot be read, and `forget --all` removes the list', async () => {
    const home = await aHomeBetween()
    home.put(list, '{"version": 2}')
    const refused = await runInProcess(home, ['run', '--by-folder', '--', 'codex'])
    expect(refused).toMatchObject({
      status: 8,
      stderr: expect.stringContaining('folders.json'),
    })
    expect((await runHere(home, ['status'])).json['warnings']).toMatchObject([
      { code: 'record-damaged' },
    ])
    expect((await runHere(home, ['forget', '--all', '--yes'])).status).toBe(0)
    expect(home.everything()).not.toContain(list)
  })

  test('reports a deleted folder, and forgets it by its path', async () => {
    const home = await aHomeBetween()
    const cwd = aFolder(home, 'gone')
    await inFolder(home, cwd, 'folder', 'work')
    rmSync(cwd, { recursive: true })
    expect((await runInProcess(home, ['folder'])).stdout).toContain('~/gone no longer exists')
    const { json } = await inFolder(home, home.path, 'folder', '--forget', 'gone')
    expect(json).toMatchObject({ changed: true, folders: [] })
  })

  test.each([
    ['an unknown gateway', ['folder', 'wrok'], 'Did you mean: repoint folder work.'],
    ['a name and --forget', ['folder', 'work', '--forget'], 'repoint folder --forget'],
    ['no folder and no name', ['run', '--', 'other'], 'repoint folder own'],
    ['a shell without a hook', ['completion', 'powershell', '--hook'], 'repoint run -- CLIENT'],
  ])('%s is a usage error that says what to type', async (_, args, hint) => {
    const { status, stderr } = await runInProcess(await aHomeBetween(), args)
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(hint) })
  })
})

/** The commands that a person types in one shell with the hook loaded, each between marks. */
const typed = `
codex 'a b' "c'd" '' -- -x '
'
echo "status $?"
cd "$PROJ" && codex exec 'a b' '-'
echo "status $?"
cd sub && codex
repoint run -- codex named
cd "$HOME" && codex outside
repoint forget work --yes >/dev/null && cd "$PROJ" && codex leaked
echo "status $?"
rm "$LIST"; ln -s nowhere "$LIST"; cd "$HOME"; codex leaked
echo "status $?"
mv "$STATE" "$STATE.kept"; ln -s nowhere "$STATE"; codex leaked
echo "status $?"
rm "$HOME/bin/repoint"; codex leaked
echo "status $?"
`

describe.each(['bash', 'zsh', 'fish'])('the hook in %s', (shell) => {
  test.skipIf(spawnSync(shell, ['--version']).error !== undefined)(
    'starts clients at the gateway of the folder, unchanged elsewhere, and not at all if repoint fails',
    // Each shell starts the program a dozen times.
    { timeout: 240_000 },
    async () => {
      const home = await aHomeBetween()
      const proj = aFolder(home, `-pro j'"\n$x`)
      mkdirSync(join(proj, 'sub'))
      const { stdout: hook } = await runInProcess(home, ['completion', shell, '--hook'])
      home.put('hook', `alias codex='codex'\n${hook}`)
      await inFolder(home, proj, 'folder', 'work')
      const script = typed.replaceAll('$?', shell === 'fish' ? '$status' : '$?')
      home.put('typed', `source ${home.at('hook')}\ncd ${home.path}\n${script}`)
      const env = {
        PATH: `${home.at('bin')}:${process.env['PATH']}`,
        HOME: home.path,
        PROJ: proj,
        LIST: home.at(list),
        STATE: home.at('.local/state/repoint'),
        LANG: 'C.UTF-8',
      }
      const options = { env, cwd: home.path, timeout: 200_000 }
      const { stdout, stderr } = await promisify(execFile)(shell, [home.at('typed')], options)

      const [asIs, first, ...rest] = stdout.split(/^status 7\n/m)
      expect(asIs).toBe(`<a b><c'd><><--><-x><\n>\n`)
      expect(first).toContain(`base_url="${work.url}/v1"`)
      expect(first).toMatch(/<exec><a b><->\n$/)
      const [below, named, outside, ...after] = rest.join('').trimEnd().split('\n')
      expect(below).toContain(work.url)
      expect(named).toContain(work.url)
      expect(outside).toBe('<outside>')
      expect(after).toEqual(['status 8', 'status 8', 'status 8', 'status 127'])
      const note = /^note: Codex: .* Folder .* uses gateway work\. Codex's files say own$/gm
      expect(stderr.match(note)).toHaveLength(3)
      expect(stdout).not.toContain('leaked')
    },
  )
})
