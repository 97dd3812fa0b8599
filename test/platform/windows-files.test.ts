import * as nodeFs from 'node:fs'
import { expect, test } from 'vitest'
import { type NodeFs, nodeFiles } from '../../src/platform/node-files.ts'
import { aHome } from '../support/home.ts'

/** Node's file calls, with some of them replaced, and the names of those that were called. */
function recorded(replaced: Partial<NodeFs>) {
  const calls: string[] = []
  const fs = new Proxy({ ...nodeFs, ...replaced } as NodeFs, {
    get(target, name: keyof NodeFs) {
      calls.push(name)
      return target[name]
    },
  })
  return { fs, calls }
}

function failing(times: number, code: string) {
  let remaining = times
  return (from: nodeFs.PathLike, to: nodeFs.PathLike) => {
    if (remaining-- > 0) throw Object.assign(new Error(code), { code })
    nodeFs.renameSync(from, to)
  }
}

test.each(['EPERM', 'EBUSY', 'EACCES'])(
  'rename on Windows: waits while a scanner holds the file (%s)',
  (code) => {
    const home = aHome({ old: 'text' })
    const { fs } = recorded({ renameSync: failing(3, code) })
    nodeFiles('win32', fs).rename(home.at('old'), home.at('new'))
    expect(home.text('new')).toBe('text')
  },
)

test('rename on Windows: gives up with the system’s error at the end', () => {
  const home = aHome({ old: 'text' })
  const { fs, calls } = recorded({ renameSync: failing(100, 'EBUSY') })
  expect(() => nodeFiles('win32', fs).rename(home.at('old'), home.at('new'))).toThrow('EBUSY')
  expect(calls.filter((name) => name === 'renameSync')).toHaveLength(8)
})

test('rename on other systems, or after another failure: is tried once', () => {
  const home = aHome({ old: 'text' })
  for (const [os, code] of [
    ['linux', 'EBUSY'],
    ['darwin', 'EPERM'],
    ['win32', 'ENOSPC'],
  ] as const) {
    const { fs, calls } = recorded({ renameSync: failing(100, code) })
    expect(() => nodeFiles(os, fs).rename(home.at('old'), home.at('new'))).toThrow(code)
    expect(calls).toEqual(['renameSync'])
  }
})

test('Windows: does not flush folders, and ignores owners and modes', () => {
  const home = aHome({ file: 'text' })
  const { fs, calls } = recorded({})
  const files = nodeFiles('win32', fs)
  files.fsyncFolder(home.path)
  files.fchmod(0, 0o600)
  files.fchown(0, 0, 0)
  expect(calls).toEqual([])
})

test('Linux and macOS flush a folder', () => {
  for (const os of ['linux', 'darwin'] as const) {
    const { fs, calls } = recorded({})
    nodeFiles(os, fs).fsyncFolder(aHome().path)
    expect(calls).toEqual(['openSync', 'fsyncSync', 'closeSync'])
  }
})
