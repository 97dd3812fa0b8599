import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import type { Files } from '../../src/platform/platform.ts'
import { pairMachines, pairSweeps, setupWork, sweepWork } from '../support/pair-machines.ts'
import { stateFolder } from '../support/power-loss.ts'

/** A power loss during recovery: test/crash/power-loss.test.ts. */
test.each(pairSweeps)(
  'power loss, $what of $name: the files are all old or all new after every lost call, and are undone exactly',
  ({ what, workOf, start, leastStates }) => {
    const { points, states, violations } = sweepWork(workOf(start()))
    console.log(`${what}: ${points} points, ${states} states`)
    expect(violations).toEqual([])
    expect(states).toBeGreaterThan(leastStates)
  },
)

/** Only a power loss shows these mistakes. */
const mistakes: readonly { name: string; plant: (files: Files) => Files }[] = [
  { name: 'no file is flushed', plant: (files) => changed(files, { fsync: () => {} }) },
  {
    name: 'the state folder is not flushed',
    plant: (files) => withoutFlushOf(files, (path) => path === stateFolder),
  },
  {
    name: 'the folder of the copies is not flushed',
    plant: (files) => withoutFlushOf(files, (path) => path.endsWith('/blobs')),
  },
  {
    name: 'a new state folder is not flushed into its parent',
    plant: (files) => withoutFlushOf(files, (path) => path === dirname(stateFolder)),
  },
  {
    name: 'the folder of a switched file is not flushed',
    plant: (files) => withoutFlushOf(files, (path) => path.endsWith('/.codex')),
  },
  {
    name: 'there is no journal',
    plant: (files) =>
      changed(files, {
        rename: (from, to) => {
          if (to.endsWith('/journal.json')) return
          if (!from.endsWith('/journal.json')) return files.rename(from, to)
          return files.rename(from.replace('journal', 'draft'), to)
        },
      }),
  },
  {
    name: 'a write is trusted to have written all',
    plant: (files) =>
      changed(files, {
        write: (handle, bytes, offset) => {
          files.write(handle, bytes, offset)
          return bytes.length - offset
        },
      }),
  },
]

test.each(mistakes)('power loss: the sweep detects that $name', ({ plant }) => {
  const work = setupWork(pairMachines[0]!.start())
  expect(sweepWork(work, plant).violations).not.toEqual([])
})

function changed(files: Files, calls: Partial<Files>): Files {
  return new Proxy(files, {
    get: (target, name) => {
      const call = calls[name as keyof Files] ?? target[name as keyof Files]
      return typeof call === 'function' ? call.bind(target) : call
    },
  })
}

function withoutFlushOf(files: Files, isMeant: (path: string) => boolean): Files {
  return changed(files, {
    fsyncFolder: (path) => {
      if (!isMeant(path)) files.fsyncFolder(path)
    },
  })
}
