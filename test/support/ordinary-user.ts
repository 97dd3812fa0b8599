import { dirname } from 'node:path'
import type { Files } from '../../src/platform/platform.ts'

/**
 * File calls that fail as those of an ordinary user who owns every file: by the permission bits of the owner. Tests
 * often run as root, who may do everything.
 *
 * @param home a folder that can be reached
 */
export function asOrdinaryUser(files: Files, home: string): Files {
  const require = (path: string, bit: number): void => {
    let mode: number
    try {
      mode = files.stat(path).mode
    } catch {
      return
    }
    if ((mode & bit) === 0)
      throw Object.assign(new Error(`EACCES: permission denied, '${path}'`), { code: 'EACCES' })
  }
  const expectFolderWritable = (path: string) => require(dirname(path), 0o200)
  /** Every folder above must be searchable. */
  const expectReachable = (path: string) => {
    for (let place = dirname(path); place.length >= home.length; place = dirname(place))
      require(place, 0o100)
  }

  return {
    ...files,
    stat: (path) => {
      expectReachable(path)
      return files.stat(path)
    },
    lstat: (path) => {
      expectReachable(path)
      return files.lstat(path)
    },
    checkWritable: (path) => {
      expectReachable(path)
      require(path, 0o200)
      files.checkWritable(path)
    },
    read: (path, maxBytes) => {
      expectReachable(path)
      require(path, 0o400)
      return files.read(path, maxBytes)
    },
    readStart: (path, bytes) => {
      expectReachable(path)
      require(path, 0o400)
      return files.readStart(path, bytes)
    },
    readdir: (path) => {
      expectReachable(path)
      require(path, 0o400)
      return files.readdir(path)
    },
    mkdir: (path, mode) => {
      expectFolderWritable(path)
      files.mkdir(path, mode)
    },
    createNew: (path, mode) => {
      expectFolderWritable(path)
      return files.createNew(path, mode)
    },
    rename: (from, to) => {
      expectFolderWritable(to)
      files.rename(from, to)
    },
    unlink: (path) => {
      expectFolderWritable(path)
      files.unlink(path)
    },
  }
}
