import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type NodeFs, nodeFiles } from '../../src/platform/node-files.ts'
import { aHome } from '../support/home.ts'

function failing(code: string): never {
  throw Object.assign(new Error(code), { code })
}

describe('files', () => {
  const files = nodeFiles('linux')

  test('reads a whole file, and rejects one that is too long', () => {
    const home = aHome({ long: 'x'.repeat(200_000), empty: '' })
    expect(files.read(home.at('long'), 200_000)).toHaveLength(200_000)
    expect(files.read(home.at('empty'), 10)).toHaveLength(0)
    expect(() => files.read(home.at('long'), 199_999)).toThrow(RangeError)
  })

  test('reads a file that reports a size of 0 but has contents', () => {
    expect(files.read('/proc/self/status', 100_000).length).toBeGreaterThan(100)
  })

  test('does not wait for a pipe that nobody writes to', ({ skip }) => {
    const home = aHome()
    if (spawnSync('mkfifo', [home.at('pipe')]).status !== 0) skip('no mkfifo here')
    expect(() => files.read(home.at('pipe'), 100)).toThrow('EINVAL')
  })

  test('an error distinguishes reading from creating a file', () => {
    const refusing: NodeFs = { ...fs, openSync: () => refuse() }
    const refuse = () => {
      throw Object.assign(new Error('EACCES'), { code: 'EACCES', syscall: 'open' })
    }
    const refused = nodeFiles('linux', refusing)
    expect(() => refused.read('/x', 10)).toThrow(expect.objectContaining({ syscall: 'read' }))
    expect(() => refused.createNew('/x', 0o600)).toThrow(
      expect.objectContaining({ syscall: 'open' }),
    )
  })

  test('creates only files that do not exist', () => {
    const home = aHome({ there: 'x' })
    expect(() => files.createNew(home.at('there'), 0o600)).toThrow('EEXIST')
    files.close(files.createNew(home.at('new'), 0o600))
    expect(files.lstat(home.at('new'))).toMatchObject({ kind: 'file', mode: 0o600, links: 1 })
  })

  test('ignores a folder that cannot be flushed, but not a broken disk', () => {
    const home = aHome()
    const with_ = (code: string) =>
      nodeFiles('linux', { ...fs, fsyncSync: () => failing(code) } as NodeFs)
    expect(() => with_('EINVAL').fsyncFolder(home.path)).not.toThrow()
    expect(() => with_('EIO').fsyncFolder(home.path)).toThrow('EIO')
  })

  test('reports attributes that cannot be copied, and follows no symlink', () => {
    const home = aHome({ from: '', link: { link: 'from' } })
    const to = files.createNew(home.at('to'), 0o600)
    expect(files.copyAttributes(home.at('from'), to)).toBe(true)
    expect(() => files.copyAttributes(home.at('link'), to)).toThrow('ELOOP')
    const path = process.env['PATH']
    onTestFinished(() => {
      process.env['PATH'] = path
    })
    process.env['PATH'] = home.path
    expect(files.copyAttributes(home.at('from'), to)).toBe(false)
    expect(files.canCopyAttributes()).toBe(false)
    files.close(to)
  })

  test('never copies attributes with a program of the working folder, whatever PATH says', () => {
    const home = aHome({ from: '', cp: '#!/bin/sh\necho coreutils > taken\n' })
    fs.chmodSync(home.at('cp'), 0o755)
    const [path, folder] = [process.env['PATH'], process.cwd()]
    onTestFinished(() => {
      process.chdir(folder)
      process.env['PATH'] = path
    })
    process.chdir(home.path)
    for (const first of ['', '.', './']) {
      process.env['PATH'] = `${first}:${path}`
      expect(files.canCopyAttributes()).toBe(true)
      const to = files.createNew(home.at('to'), 0o600)
      expect(files.copyAttributes(home.at('from'), to)).toBe(true)
      files.close(to)
      files.unlink(home.at('to'))
    }
    process.env['PATH'] = ':.'
    expect(files.canCopyAttributes()).toBe(false)
    expect(fs.existsSync(home.at('taken'))).toBe(false)
  })
})

describe('freeBytes', () => {
  const statistics = { bsize: 4096, blocks: 100, bfree: 9, bavail: 7, files: 50, ffree: 5 }
  const freeWith = (changed: Partial<typeof statistics>) =>
    nodeFiles('linux', {
      ...fs,
      statfsSync: (() => ({ ...statistics, ...changed })) as unknown as typeof fs.statfsSync,
    }).freeBytes('/')

  test('is what this user can write', () => {
    expect(freeWith({})).toBe((process.getuid?.() === 0 ? 9 : 7) * 4096)
    expect(freeWith({ ffree: 0 })).toBe(0)
    expect(freeWith({ files: 0, ffree: 0 })).toBeGreaterThan(0)
    expect(nodeFiles('linux').freeBytes(aHome().path)).toBeGreaterThan(0)
  })

  test('is unknown where the file system does not say', () => {
    expect(freeWith({ blocks: 0, bavail: 0, bfree: 0 })).toBeUndefined()
    expect(nodeFiles('linux').freeBytes(aHome().at('nowhere'))).toBeUndefined()
  })
})

test('rename on Windows: does not retry if the target is a folder', () => {
  const home = aHome({ 'folder/file': '' })
  let attempts = 0
  const files = nodeFiles('win32', {
    ...fs,
    renameSync: () => {
      attempts++
      failing('EPERM')
    },
  } as NodeFs)
  expect(() => files.rename(home.at('x'), home.at('folder'))).toThrow('EPERM')
  expect(attempts).toBe(1)
})
