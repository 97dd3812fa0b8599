/**
 * Stages new versions of files. A run writes each new version into a private folder next to its file,
 * `.repoint-<random>/<random>`. One rename then puts it in place.
 */
import { basename, dirname, join } from 'node:path'
import { UserError } from '../errors.ts'
import {
  createDurably,
  displayPath,
  errorCode,
  ignoreFileErrors,
  ignoreMissing,
  sha256Of,
} from './files.ts'
import type { FileVersion, RecordedFile, StagedFile, World } from './record.ts'
import { readIfExists } from './resolve-file.ts'

/** Compares a file on the disk with the two versions that a run recorded. */
export function versionOnDisk(
  { files, machine }: World,
  file: RecordedFile,
): 'before' | 'written' | 'other' {
  const bytes = readIfExists(files, machine, file.realPath)
  const sha256 = bytes && sha256Of(bytes)
  const { before, written } = file
  const isBefore = sha256 === (before?.sha256 ?? null)
  const isWritten = sha256 === (written?.sha256 ?? null)

  if (isBefore && isWritten) {
    // The run switches only the mode, so the mode tells which version it is.
    const mode = files.lstat(file.realPath).mode & 0o777
    return mode === written?.mode ? 'written' : 'before'
  }
  if (isWritten) return 'written'
  return isBefore ? 'before' : 'other'
}

/**
 * Replaces a file by its new version, or deletes it, and flushes the folder. In both cases `temp` exists until then:
 * recovery tells by it that a file was not switched.
 */
export function switchFile({ files }: World, { file, temp }: StagedFile): void {
  if (file.written === null) {
    // First `temp`, to the disk: if the process dies between the two, recovery must not take a later file at this
    // path for one that was not switched. `removeStage` removes the folder later.
    ignoreMissing(() => {
      files.unlink(temp)
      files.fsyncFolder(dirname(temp))
    })
    ignoreMissing(() => files.unlink(file.realPath))
  } else files.rename(temp, file.realPath)
  files.fsyncFolder(dirname(file.realPath))
}

/** Stages a deletion, which has no new version: `temp` is an empty file until the switch. */
export function stageDeletion({ files }: World, temp: string): void {
  files.mkdir(dirname(temp), 0o700)
  createDurably(files, temp, new Uint8Array(), { mode: 0o600 })
}

/**
 * Writes a new version next to its file: with its owner, mode and attributes, and flushed to the
 * disk. It is in a private folder with a random name, so nobody else can open or replace it, whatever
 * its mode.
 *
 * @returns whether the attributes of the old version could be copied
 */
export function writeTemp(
  world: World,
  { file, temp }: StagedFile,
  { bytes, isRestored }: { readonly bytes: Uint8Array; readonly isRestored: boolean },
): boolean {
  const { files } = world
  const version = file.written as FileVersion
  const isNew = file.before === null
  let areAttributesCopied = true
  files.mkdir(dirname(temp), 0o700)
  createDurably(files, temp, bytes, {
    // A new file of a setup is created with its mode, so that the umask applies.
    mode: isNew && !isRestored ? version.mode : 0o600,
    prepare: (handle) => {
      // The mode comes last, because the other two steps can change it.
      if (!isNew) areAttributesCopied = files.copyAttributes(file.realPath, handle)
      setOwner(world, file, temp, handle)
      if (!isNew || isRestored) files.fchmod(handle, version.mode)
    },
  })

  return areAttributesCopied
}

function setOwner(world: World, file: RecordedFile, temp: string, handle: number): void {
  const { files, machine } = world
  const version = file.written as FileVersion
  const created = files.lstat(temp)
  const uid = version.uid < 0 ? created.uid : version.uid
  const gid = version.gid < 0 ? created.gid : version.gid
  if (uid === created.uid && gid === created.gid) return

  try {
    files.fchown(handle, uid, gid)
  } catch (error) {
    // Only root can set a group that it is not a member of. If the group has the same rights as
    // everybody, another group makes no difference. It must be so before the run too: its undo restores those rights.
    const isForeignGroup = errorCode(error) === 'EPERM' && uid === created.uid
    if (!isForeignGroup) throw error
    const isGroupLikeOthers = ({ mode }: FileVersion) => ((mode >> 3) & 0o7) === (mode & 0o7)
    if ([version, file.before ?? version].every(isGroupLikeOthers)) return
    throw new UserError({
      code: 'not-permitted',
      message: `repoint could not keep the group of ${displayPath(machine, file.path)} (${gid}), because you are not in it`,
      hint: `Change the group to one of yours: chgrp ${created.gid} ${file.path}`,
      cause: error,
    })
  }
}

/** Removes unused new versions next to the `changedPaths`. The caller holds the lock. */
export function removeStagesNextTo(world: World, changedPaths: readonly string[]): void {
  const { files } = world
  for (const folder of new Set(changedPaths.map((path) => dirname(path))))
    ignoreFileErrors(() => {
      const stages = files.readdir(folder).map((name) => join(folder, name))
      for (const stage of stages.filter(isStageName))
        if (files.lstat(stage).kind === 'folder')
          removeStage(world, join(stage, files.readdir(stage)[0] ?? 'none'))
    })
}

/** Whether a folder has a name for new versions. */
function isStageName(folder: string): boolean {
  return /^\.repoint-[0-9a-f]{12}$/.test(basename(folder))
}

/** The path, also in the private folder, for the old version that a recovery restores. */
export function restoredTemp(temp: string): string {
  return `${temp}_before`
}

/** Removes a new version, or a restored one, and its folder. */
export function removeStage({ files }: World, temp: string): void {
  const folder = dirname(temp)
  try {
    for (const path of [temp, restoredTemp(temp)]) ignoreMissing(() => files.unlink(path))
    if (ignoreMissing(() => files.rmdir(folder)))
      ignoreMissing(() => files.fsyncFolder(dirname(folder)))
  } catch (error) {
    // A parent may have been replaced by a file.
    if (errorCode(error) !== 'ENOTDIR') throw error
  }
}
