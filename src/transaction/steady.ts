import { dirname } from 'node:path'
import type { Files } from '../platform/platform.ts'
import { attempt } from './durable.ts'
import type { World } from './types.ts'

/** Attempts of one call that a signal interrupts (EINTR) before it counts as failed. */
const maxAttempts = 100

/**
 * The same world, whose file calls are repeated when a signal has interrupted them. As root, what is
 * created in another user's folder belongs to that user, who could not read or remove it otherwise.
 */
export function steadyWorld(world: World): World {
  const { processes, machine, clock } = world
  const files = steady(world.files)
  const isRoot = processes.uid === 0 && machine.os !== 'win32'
  return { files: isRoot ? ownedByFolder(files) : files, processes, machine, clock }
}

function ownedByFolder(files: Files): Files {
  /** A disk that knows no owners, or not this one, leaves what is created to us. */
  const give = (path: string, chown: (uid: number, gid: number) => void) => {
    attempt(() => {
      const { uid, gid } = files.stat(dirname(path))
      if (uid !== 0) chown(uid, gid)
    })
  }
  return {
    ...files,
    mkdir: (path, mode) => {
      files.mkdir(path, mode)
      give(path, (uid, gid) => files.lchown(path, uid, gid))
    },
    createNew: (path, mode) => {
      const handle = files.createNew(path, mode)
      give(path, (uid, gid) => files.fchown(handle, uid, gid))
      return handle
    },
  }
}

/** The same calls, each repeated when a signal has interrupted it. */
function steady(files: Files): Files {
  return {
    lstat: again(files.lstat.bind(files)),
    stat: again(files.stat.bind(files)),
    realpath: again(files.realpath.bind(files)),
    isWritable: again(files.isWritable.bind(files)),
    readlink: again(files.readlink.bind(files)),
    read: again(files.read.bind(files)),
    readStart: again(files.readStart.bind(files)),
    readdir: again(files.readdir.bind(files)),
    mkdir: again(files.mkdir.bind(files)),
    rmdir: again(files.rmdir.bind(files)),
    createNew: again(files.createNew.bind(files)),
    write: again(files.write.bind(files)),
    fsync: again(files.fsync.bind(files)),
    fchmod: again(files.fchmod.bind(files)),
    fchown: again(files.fchown.bind(files)),
    lchown: again(files.lchown.bind(files)),
    close: once(files.close.bind(files)),
    rename: again(files.rename.bind(files)),
    unlink: again(files.unlink.bind(files)),
    fsyncFolder: again(files.fsyncFolder.bind(files)),
    copyAttributes: again(files.copyAttributes.bind(files)),
  }
}

function again<A extends unknown[], R>(call: (...args: A) => R): (...args: A) => R {
  return (...args) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return call(...args)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EINTR' || attempt === maxAttempts)
          throw error
      }
    }
  }
}

/** An interrupted close has closed: the number may already belong to another file (Linux, macOS). */
function once(close: (handle: number) => void): (handle: number) => void {
  return (handle) => {
    try {
      close(handle)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EINTR') throw error
    }
  }
}
