import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import { nodeFiles } from '../../src/platform/node-files.ts'
import { nodeProcesses } from '../../src/platform/node-processes.ts'
import type { Files, Machine } from '../../src/platform/platform.ts'
import type { World } from '../../src/transaction/record.ts'
import type { PlanSource } from './a-plan.ts'
import type { Home } from './home.ts'

/**
 * A run's view of the outside world: this home's real files, and this process. It copies no extended attributes, for
 * which repoint would start `cp` several times in each run. No home has some, unless a test sets them.
 */
export function worldIn(home: Home, env: Machine['env'] = {}): World {
  return withCalls(worldWithAttributes(home, env), {
    canCopyAttributes: () => true,
    copyAttributes: () => true,
  })
}

/** Like `worldIn`, and copies extended attributes and access lists. */
export function worldWithAttributes(home: Home, env: Machine['env'] = {}): World {
  const machine: Machine = { os: 'linux', env, home: home.path, cwd: home.path }
  return {
    machine,
    files: nodeFiles('linux'),
    processes: nodeProcesses(machine, hostname()),
    clock: { now: () => new Date() },
  }
}

/** The same world with some file calls replaced. */
export function withCalls(world: World, calls: Partial<Files>): World {
  return { ...world, files: { ...world.files, ...calls } }
}

/** The same world for a user who is not root and who owns root's files. */
export function notAsRoot(world: World): World {
  const { files, processes } = world
  const ours = <T extends { uid: number }>(status: T) =>
    status.uid === 0 ? { ...status, uid: 1000 } : status
  const user = { ...processes, uid: processes.uid === 0 ? 1000 : processes.uid }
  return {
    ...withCalls(world, {
      lstat: (path) => ours(files.lstat(path)),
      stat: (path) => ours(files.stat(path)),
      fchown: (handle, uid, gid) => files.fchown(handle, uid === 1000 ? 0 : uid, gid),
    }),
    processes: user,
  }
}

/** The files of a home, as the source of a plan. */
export function sourceIn(home: Home): PlanSource {
  return {
    at: (name) => home.at(name),
    text: (name) => (isFile(home.at(name)) ? home.text(name) : null),
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}
