import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { applyPlan } from '../../../src/transaction/apply-plan.ts'
import { sha256Of } from '../../../src/transaction/files.ts'
import {
  contentsIfAvailable,
  readBlob,
  writeBlobs,
} from '../../../src/transaction/records/blobs.ts'
import { limitRuns } from '../../../src/transaction/records/prune.ts'
import { listRuns, removeUnusedBlobs } from '../../../src/transaction/records/records.ts'
import { openState } from '../../../src/transaction/records/state-folder.ts'
import { aPairPlan, bytesOf } from '../../support/a-plan.ts'
import { aHome } from '../../support/home.ts'
import { sourceIn, withCalls, worldIn } from '../../support/world.ts'

const part = '0123456789ab'

function throwing(code?: string) {
  return () => {
    throw Object.assign(new Error(code ?? 'ours'), code === undefined ? {} : { code })
  }
}

describe('a copy', () => {
  function aState() {
    const home = aHome()
    const world = worldIn(home)
    const paths = openState(world)
    const put = (text: string) => {
      writeBlobs(world, paths, [bytesOf(text)])
      return sha256Of(bytesOf(text))
    }
    return { world, paths, put }
  }

  test('is compressed only if that saves space', () => {
    const { world, paths, put } = aState()
    const short = put('ab')
    expect(readFileSync(paths.blob(short), 'utf8')).toBe('ab')
    const long = put('a'.repeat(1_000))
    expect(statSync(paths.blob(long)).size).toBeLessThan(100)
    expect(Buffer.from(readBlob(world, long)).toString()).toBe('a'.repeat(1_000))
    expect(readdirSync(paths.blobs).sort()).toEqual([short, long].sort())
    expect(statSync(paths.blob(short)).mode & 0o777).toBe(0o600)
  })

  test('is kept if it is valid, and written again if it is damaged', () => {
    const { world, paths, put } = aState()
    const name = put('contents')
    const { ino } = statSync(paths.blob(name))
    put('contents')
    expect(statSync(paths.blob(name)).ino).toBe(ino)
    writeFileSync(paths.blob(name), 'damaged')
    const copy = { sha256: name, mode: 0o600, uid: 0, gid: 0 }
    expect(contentsIfAvailable(world, copy)).toBeNull()
    expect(() => readBlob(world, name)).toThrow(
      `A saved copy (${name.slice(0, 12)}…) of a file is missing or damaged in ~/.local/state/repoint/blobs`,
    )
    put('contents')
    expect(contentsIfAvailable(world, copy)).toEqual(Buffer.from('contents'))
    expect(contentsIfAvailable(world, null)).toBeNull()
  })

  test('is damaged if it decompresses to other contents', () => {
    const { world, paths, put } = aState()
    const [first, second] = [put('a'.repeat(1_000)), put('b'.repeat(1_000))]
    writeFileSync(paths.blob(first), readFileSync(paths.blob(second)))
    expect(() => readBlob(world, first)).toThrow('missing or damaged')
  })

  test('is damaged if it is too large; a bug of ours is not reported as damage', () => {
    const { world, put } = aState()
    const name = put('contents')
    const large = withCalls(world, {
      read: () => {
        throw new RangeError('too long')
      },
    })
    expect(() => readBlob(large, name)).toThrow('missing or damaged')
    const faulty = withCalls(world, { read: throwing() })
    expect(() => readBlob(faulty, name)).toThrow('ours')
    expect(() => contentsIfAvailable(faulty, { sha256: name, mode: 0, uid: 0, gid: 0 })).toThrow(
      'ours',
    )
  })
})

describe('a copy that no record names', () => {
  test('is removed, unless a record names it or a record is damaged', () => {
    const home = aHome()
    const world = worldIn(home)
    applyPlan(world, aPairPlan(sourceIn(home)))
    const paths = openState(world)
    const named = readdirSync(paths.blobs).sort()
    const leftover = `${paths.blobs}/new-${part}`
    writeFileSync(leftover, '')
    writeFileSync(paths.record('broken'), '')
    removeUnusedBlobs(world, paths)
    limitRuns(world, paths, 1)
    expect(readdirSync(paths.blobs)).toContain(`new-${part}`)
    writeFileSync(paths.record('broken'), readFileSync(paths.record(listRuns(world).runs[0]!.id)))
    removeUnusedBlobs(world, paths)
    expect(readdirSync(paths.blobs)).toContain(`new-${part}`)
    renameSync(paths.record('broken'), `${paths.folder}/.broken`)
    removeUnusedBlobs(world, paths)
    expect(readdirSync(paths.blobs).sort()).toEqual(named)
  })
})
