import { win32 } from 'node:path'
import { describe, expect, test } from 'vitest'
import { clientRows, environmentRows, loadClient } from '../../../../src/clients/list.ts'
import { packagedVersion } from '../../../../src/commands/client-state/program/installed-program.ts'
import type { Files } from '../../../../src/platform/platform.ts'
import { aHome } from '../../../support/home.ts'
import { worldIn } from '../../../support/world.ts'

const modules = 'lib/node_modules'

/** A home in which `claude` is a link into a package, as npm installs it. */
function installed(manifest: object | string, target = `${modules}/${scope}/bin/claude.exe`) {
  const home = aHome({ [target]: 'the program', 'bin/claude': { link: `../${target}` } })
  const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest)
  home.put(`${modules}/${scope}/package.json`, text)
  return home
}

const scope = '@anthropic-ai/claude-code'
const packages = [scope, `${scope}-*`]

const versionAt = (home: ReturnType<typeof aHome>, names: readonly string[] = packages) =>
  packagedVersion(worldIn(home), home.at('bin/claude'), names)

describe('the version of a program is read from its package', () => {
  test.each([
    [{ name: scope, version: '2.1.197' }, '2.1.197'],
    [{ name: `${scope}-linux-x64`, version: '2.1.197' }, '2.1.197'],
    [{ name: `${scope}-linux-x64-musl`, version: '2.1.197' }, '2.1.197'],
    [{ name: scope, version: '2.1.197-linux-x64' }, '2.1.197'],
    [{ name: scope, version: '2.1.197-beta.1' }, '2.1.197-beta.1'],
    [{ name: scope, version: '0.0.0' }, undefined],
    [{ name: scope, version: '0.0.0-dev' }, undefined],
    [{ name: scope, version: 2 }, undefined],
    [{ name: `${scope}-helpers`, version: '2.1.197' }, undefined],
    [{ name: 'another', version: '2.1.197' }, undefined],
    ['no JSON', undefined],
    ['', undefined],
  ])('%j: %s', (manifest, version) => {
    expect(versionAt(installed(manifest))).toBe(version)
  })

  test('a package.json without a name is skipped, and one with another name ends the search', () => {
    const deep = `${modules}/${scope}/dist/esm/cli.js`
    const home = installed({ name: scope, version: '2.1.197' }, deep)
    home.put(`${modules}/${scope}/dist/package.json`, '{"type":"module"}')
    expect(versionAt(home)).toBe('2.1.197')
    home.put(`${modules}/${scope}/dist/package.json`, '{"name":"vendored","version":"9.9.9"}')
    expect(versionAt(home)).toBeUndefined()
  })

  test('the search ends at node_modules, and at a project that contains another kind of program', () => {
    const manifest = JSON.stringify({ name: scope, version: '9.9.9' })
    const loose = aHome({ 'bin/claude': 'a program', 'package.json': '{"name":"my-home"}' })
    expect(versionAt(loose)).toBeUndefined()
    const inside = aHome({ 'node_modules/.bin/claude': 'x', 'package.json': manifest })
    const program = inside.at('node_modules/.bin/claude')
    expect(packagedVersion(worldIn(inside), program, packages)).toBeUndefined()
  })

  test('the search follows a script of pnpm', () => {
    const home = installed({ name: scope, version: '2.1.197' })
    home.put(
      'pnpm/claude',
      `#!/bin/sh\nbasedir=$(dirname "$0")\nif [ -x "$basedir/node" ]; then\n  exec "$basedir/node"  "$basedir/../${modules}/${scope}/bin/claude.exe" "$@"\nfi\n`,
    )
    expect(packagedVersion(worldIn(home), home.at('pnpm/claude'), packages)).toBe('2.1.197')
  })
})

test('on Windows, the search follows the claude.cmd of npm', () => {
  const folder = 'C:\\Users\\ada\\AppData\\Roaming\\npm'
  const target = `${folder}\\node_modules\\@anthropic-ai\\claude-code\\bin\\claude.exe`
  const disk: Record<string, string> = {
    [`${folder}\\claude.cmd`]: `@ECHO off\r\nSETLOCAL\r\nCALL :find_dp0\r\n"%dp0%\\node_modules\\@anthropic-ai\\claude-code\\bin\\claude.exe"   %*\r\n`,
    [target]: 'MZ',
    [win32.join(target, '../../package.json')]: JSON.stringify({ name: scope, version: '2.1.331' }),
  }
  const contents = (path: string) => {
    const text = disk[path]
    if (text === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' })
    return new TextEncoder().encode(text)
  }
  const files = {
    realpath: (path: string) => {
      contents(path)
      return path
    },
    read: contents,
    readStart: contents,
  } as Partial<Files> as Files
  const machine = { os: 'win32', env: {}, home: 'C:\\Users\\ada', cwd: 'C:\\' } as const
  const find = (program: string) => packagedVersion({ files, machine }, program, packages)
  expect(find(`${folder}\\claude.cmd`)).toBe('2.1.331')
  expect(find(`${folder}\\other.cmd`)).toBeUndefined()
})

test('every client names the packages of its program, and no two clients name the same', async () => {
  const clients = await Promise.all([...clientRows, ...environmentRows].map(loadClient))
  const byFamily = new Map(clients.map((client) => [client.family, client.program.packages]))
  const all = [...byFamily.values()].flat()
  expect([...byFamily.values()].every((names) => names.length > 0)).toBe(true)
  expect(new Set(all).size).toBe(all.length)
})
