import { dirname } from 'node:path'
import { UserError } from '../errors.ts'
import { readBlob } from './blobs.ts'
import type { RunDocument } from './document.ts'
import { attempt, createDurably, sha256Of, unlessGone } from './durable.ts'
import { fileFailure, placeOf } from './failure.ts'
import { isThere } from './state.ts'
import { readIfThere } from './target.ts'
import type { FileVersion, RecordedFile, World } from './types.ts'

/** Which version of a file lies there now. */
export type FileNow = 'old' | 'new' | 'other'

export function fileNow({ files, machine }: World, file: RecordedFile): FileNow {
  const bytes = readIfThere(files, machine, file.realPath)
  const sha256 = bytes && sha256Of(bytes)
  const { before, after } = file
  const isBefore = sha256 === (before?.sha256 ?? null)
  if (sha256 !== (after?.sha256 ?? null)) return isBefore ? 'old' : 'other'
  // Where only the mode is switched, it alone tells.
  const isOldMode = bytes && isBefore && (files.lstat(file.realPath).mode & 0o777) !== after?.mode
  return isOldMode ? 'old' : 'new'
}

/**
 * Writes a new file beside its target: complete, with its owner, mode and attributes, and durable
 * but for its name.
 */
export function writeTemp(
  { files, machine }: World,
  file: RecordedFile,
  temp: string,
  bytes: Uint8Array,
  isRestored: boolean,
): void {
  const version = file.after as FileVersion
  const isNew = file.before === null
  // A new file of a setup is born with its mode, so that the umask has its part.
  const bornMode = isNew && !isRestored ? version.mode : 0o600
  createDurably(files, temp, bytes, bornMode, (handle) => {
    // The mode comes last: both of the others can change it.
    if (!isNew) files.copyAttributes(file.realPath, temp)
    giveOwner(handle)
    if (!isNew || isRestored) files.fchmod(handle, version.mode)
  })

  function giveOwner(handle: number): void {
    const born = files.lstat(temp)
    const uid = version.uid < 0 ? born.uid : version.uid
    const gid = version.gid < 0 ? born.gid : version.gid
    if (uid === born.uid && gid === born.gid) return
    try {
      files.fchown(handle, uid, gid)
    } catch (error) {
      // Only root gives a file to a group that it is not in. Where the group may do what everybody
      // may, nobody gains or loses anything by another group.
      const isForeignGroup = (error as NodeJS.ErrnoException).code === 'EPERM' && uid === born.uid
      if (!isForeignGroup) throw error
      if (((version.mode >> 3) & 0o7) === (version.mode & 0o7)) return
      throw new UserError({
        code: 'not-permitted',
        message: `${placeOf(machine, file.path)} belongs to a group (${gid}) that you are not in, so it could not be kept`,
        hint: `Give the file to a group of yours: chgrp ${born.gid} FILE`,
        cause: error,
      })
    }
  }
}

/**
 * Puts one file's new version in its place, durably.
 *
 * @param makeTemp writes the new version where it is not beside its target already
 */
export function switchFile(
  { files }: World,
  file: RecordedFile,
  temp: string,
  makeTemp?: (temp: string, file: RecordedFile) => void,
): void {
  if (file.after === null) unlessGone(() => files.unlink(file.realPath))
  else {
    makeTemp?.(temp, file)
    files.rename(temp, file.realPath)
  }
  files.fsyncFolder(dirname(file.realPath))
}

/** After a crash the new version may lie beside its target or not, or in part. */
export function remakeTemp(
  world: World,
  document: RunDocument,
  file: RecordedFile,
  temp: string,
): void {
  const { files, machine } = world
  makeFolders(world, document)
  const bytes = readIfThere(files, machine, temp)
  if (bytes && sha256Of(bytes) === file.after?.sha256) return
  unlessGone(() => files.unlink(temp))
  const contents = readBlob(world, file.after?.sha256 ?? '')
  writeTemp(world, file, temp, contents, document.run.undoes !== undefined)
}

/** Makes the folders of a run that are not there, durably. */
export function makeFolders({ files, machine }: World, { run }: RunDocument): void {
  for (const folder of run.folders) {
    try {
      if (isThere(files, folder)) continue
      files.mkdir(folder, 0o700)
      files.fsyncFolder(dirname(folder))
    } catch (error) {
      throw fileFailure(machine, folder, error)
    }
  }
}

/**
 * Removes what a run left beside its targets, durably, so that no crash brings it back.
 *
 * @throws Node's own errors
 */
export function removeTemps({ files }: World, { temps }: RunDocument): void {
  const touched = temps.filter((temp) => unlessAway(() => files.unlink(temp)))
  for (const folder of new Set(touched.map((temp) => dirname(temp))))
    unlessAway(() => files.fsyncFolder(folder))
}

/** As `unlessGone`, and the folder may be gone too. */
function unlessAway(work: () => void): boolean {
  try {
    return unlessGone(work)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error
    return false
  }
}

/** Removes folders, innermost first, as far as nothing is in them. Nothing depends on it. */
export function dropFolders({ files }: World, folders: readonly string[]): void {
  for (const folder of folders.toReversed())
    attempt(() => {
      files.rmdir(folder)
      files.fsyncFolder(dirname(folder))
    })
}
