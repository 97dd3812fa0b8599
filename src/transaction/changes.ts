import { resolve } from 'node:path'
import { type FileEdit, type Plan, sameBytes } from '../edits/plan.ts'
import { UserError } from '../errors.ts'
import { sha256Of } from './durable.ts'
import { fileFailure, placeOf } from './failure.ts'
import { readRuns } from './records.ts'
import type { StatePaths } from './state.ts'
import { findTarget, readIfThere, type Target } from './target.ts'
import type { World } from './types.ts'

/** One edit that changes something, and where. */
export interface Change {
  readonly edit: FileEdit
  readonly target: Target
}

/** A record names absolute paths only: see document.ts. */
export function withAbsolutePaths({ machine }: World, plan: Plan): Plan {
  const edits = plan.edits.map((edit) => ({ ...edit, path: resolve(machine.cwd, edit.path) }))
  return { ...plan, edits }
}

/** @throws UserError `changed-underneath`, `locked`, `config-conflict`, `not-permitted`, `io-failed` */
export function findChanges(world: World, paths: StatePaths, plan: Plan): Change[] {
  const changes: Change[] = []
  const taken = new Set<string>()
  for (const edit of plan.edits) {
    if (isUnchanged(edit)) continue
    try {
      const target = checkedTarget(world, edit)
      const now = readIfThere(world.files, world.machine, target.realPath)
      // Somebody, most likely another run, has already done the very same.
      if (sameBytes(now, edit.after) && hasMode(edit, target)) continue
      if (!sameBytes(now, edit.before)) throw changedUnderneath(world, paths, edit, now)
      takeOnce(world, edit, target, taken)
      changes.push({ edit, target })
    } catch (error) {
      throw fileFailure(world.machine, edit.path, error)
    }
  }
  return changes
}

export function takeOnce(
  { machine }: World,
  { path }: FileEdit,
  { realPath }: Target,
  taken: Set<string>,
): void {
  if (taken.has(realPath))
    throw new UserError({
      code: 'config-conflict',
      message: `${placeOf(machine, path)} and another file of this run are one and the same behind their links`,
      hint: 'Give each of them a file of its own, then run the same command again.',
    })
  taken.add(realPath)
}

/** Whether the edit is already so. */
export function isUnchanged({ before, after, mode }: FileEdit): boolean {
  return mode === undefined && sameBytes(before, after)
}

function hasMode({ mode }: FileEdit, { status }: Target): boolean {
  return mode === undefined || (status !== undefined && (status.mode & 0o777) === mode)
}

/** @throws UserError `config-conflict`, `not-permitted`; Node's own errors */
export function checkedTarget(world: World, edit: FileEdit): Target {
  const { files, machine, processes } = world
  const target = findTarget(files, machine, edit.path)
  const uid = target.status?.uid ?? processes.uid
  if (machine.os !== 'win32' && processes.uid !== 0 && uid !== processes.uid)
    throw new UserError({
      code: 'not-permitted',
      message: `${placeOf(machine, edit.path)} belongs to another user, and only that user can keep it so`,
      hint: 'Run repoint as that user, or give the file to yourself.',
    })
  return target
}

function changedUnderneath(
  world: World,
  paths: StatePaths,
  edit: FileEdit,
  now: Uint8Array | null,
): UserError {
  const place = placeOf(world.machine, edit.path)
  const sha256 = now === null ? null : sha256Of(now)
  const writer = readRuns(world, paths).runs.find((run) =>
    run.files.some(({ path }) => path === edit.path),
  )
  const written = writer?.files.find(({ path }) => path === edit.path)
  if (writer && written && (written.after?.sha256 ?? null) === sha256)
    return new UserError({
      code: 'locked',
      message: `Another run of repoint (${writer.id}) changed ${place} while this one was being prepared`,
      hint: 'Run the same command again.',
    })
  return new UserError({
    code: 'changed-underneath',
    message: `${place} was changed by another program while this run was being prepared`,
    hint: 'Run the same command again.',
  })
}
