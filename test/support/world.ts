import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import { nodeFiles } from '../../src/platform/node-files.ts'
import { nodeProcesses } from '../../src/platform/node-processes.ts'
import type { Files, Machine } from '../../src/platform/platform.ts'
import type { World } from '../../src/transaction/types.ts'
import type { PlanSource } from './a-plan.ts'
import type { Home } from './home.ts'

/** The world as a run in this home sees it: real files, this process. */
export function worldIn(home: Home, env: Machine['env'] = {}): World {
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

/** Where a plan's texts come from: what stands in the home now. */
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
