import { execFileSync } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  constants,
  mkdtempSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Linux keeps this folder in memory. */
const memoryFolder = '/dev/shm'

/** More space than the tests need, in bytes. */
const minFreeBytes = 1_000_000_000

/**
 * Gives all test files of a run one temporary folder, and removes it with what the tests left in it.
 *
 * The folder is in memory if the system allows it, because a setup flushes about 20 files and folders to the disk.
 * test/support/forgetful-files.ts tests power losses.
 */
export default function useOneTemporaryFolder(): () => void {
  const folder = createFolderIn(memoryFolder) ?? createFolderIn(tmpdir())
  if (folder === undefined) throw new Error(`cannot create a folder in ${tmpdir()}`)
  const previous = process.env['TMPDIR']
  process.env['TMPDIR'] = folder

  return () => {
    if (previous === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = previous
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @returns undefined if the folder is missing, small, or does not allow programs to be executed */
function createFolderIn(parent: string): string | undefined {
  try {
    accessSync(parent, constants.W_OK)
    const { bavail, bsize } = statfsSync(parent)
    if (parent === memoryFolder && bavail * bsize < minFreeBytes) return undefined

    const folder = mkdtempSync(join(parent, 'repoint-tests-'))
    // Some tests start a program as another user, who needs access.
    chmodSync(folder, 0o755)
    if (canExecuteIn(folder)) return folder
    rmSync(folder, { recursive: true })
  } catch {
    return undefined
  }
  return undefined
}

/** Docker mounts its memory folder without permission to execute files. */
function canExecuteIn(folder: string): boolean {
  if (process.platform === 'win32') return true
  const program = join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 })
  try {
    execFileSync(program)
    return true
  } catch {
    return false
  } finally {
    rmSync(program)
  }
}
