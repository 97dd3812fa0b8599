import * as nodeFs from 'node:fs'
import { ifPossible } from '../errors.ts'
import { findProgram } from './node-processes.ts'
import type { FileStatus, Files, Machine } from './platform.ts'

/** The functions of `node:fs` that are used. A parameter, so that tests can run the Windows branches. */
export type NodeFs = Pick<
  typeof nodeFs,
  | 'accessSync'
  | 'lstatSync'
  | 'statSync'
  | 'statfsSync'
  | 'fstatSync'
  | 'realpathSync'
  | 'readlinkSync'
  | 'openSync'
  | 'readSync'
  | 'readdirSync'
  | 'mkdirSync'
  | 'rmdirSync'
  | 'writeSync'
  | 'fsyncSync'
  | 'fchmodSync'
  | 'fchownSync'
  | 'closeSync'
  | 'renameSync'
  | 'unlinkSync'
>

/** Implements `Files` with Node's synchronous calls. */
export function nodeFiles(os: Machine['os'], fs: NodeFs = nodeFs): Files {
  const isWindows = os === 'win32'
  return {
    lstat: (path) => toFileStatus(fs.lstatSync(path)),
    stat: (path) => toFileStatus(fs.statSync(path)),
    realpath: (path) => fs.realpathSync(path),
    checkWritable: (path) => fs.accessSync(path, nodeFs.constants.W_OK),
    freeBytes: (folder) => freeBytes(fs, folder),
    readlink: (path) => fs.readlinkSync(path),
    read: (path, maxBytes) => {
      const bytes = read(fs, path, maxBytes + 1)
      if (bytes.length > maxBytes) throw new RangeError(`${path} is longer than ${maxBytes} bytes`)
      return bytes
    },
    readStart: (path, bytes) => read(fs, path, bytes),
    readdir: (path) => fs.readdirSync(path),
    mkdir: (path, mode) => {
      fs.mkdirSync(path, { mode })
    },
    rmdir: (path) => fs.rmdirSync(path),
    createNew: (path, mode) => fs.openSync(path, 'wx', mode),
    write: (handle, bytes, offset) => fs.writeSync(handle, bytes, offset, bytes.length - offset),
    fsync: (handle) => fs.fsyncSync(handle),
    fchmod: (handle, mode) => {
      // On Windows a mode can only mark the file read-only, which would prevent the rename.
      if (!isWindows) fs.fchmodSync(handle, mode)
    },
    fchown: (handle, uid, gid) => {
      if (!isWindows) fs.fchownSync(handle, uid, gid)
    },
    close: (handle) => fs.closeSync(handle),
    rename: (from, to) => {
      if (isWindows) renameWithRetries(fs, from, to)
      else fs.renameSync(from, to)
    },
    unlink: (path) => fs.unlinkSync(path),
    fsyncFolder: (path) => {
      if (!isWindows) fsyncFolder(fs, path)
    },
    canCopyAttributes: () => os === 'linux' && hasCoreutils(),
    copyAttributes: (from, to) => os !== 'linux' || copyAttributes(fs, from, to),
  }
}

function toFileStatus(stats: nodeFs.Stats): FileStatus {
  return {
    kind: fileKind(stats),
    mode: stats.mode & 0o7777,
    uid: stats.uid,
    gid: stats.gid,
    sizeBytes: stats.size,
    links: stats.nlink,
    modifiedMs: stats.mtimeMs,
  }
}

function fileKind(stats: nodeFs.Stats): FileStatus['kind'] {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'folder'
  return stats.isSymbolicLink() ? 'symlink' : 'other'
}

/** Some file systems, such as those of FUSE, report no size at all, and many no number of files. */
function freeBytes(fs: NodeFs, folder: string): number | undefined {
  const statistics = ifPossible(() => fs.statfsSync(folder))
  if (statistics === undefined || statistics.blocks === 0) return undefined
  const { bsize, bavail, bfree, files, ffree } = statistics
  if (files > 0 && ffree === 0) return 0
  // The rest is reserved for root.
  return bsize * (process.getuid?.() === 0 ? bfree : bavail)
}

/**
 * Reads up to `maxBytes` of a regular file, or of a pipe that a shell created for us (`/dev/fd/63`).
 * Rejects anything else with EINVAL, because it could block or never end.
 */
function read(fs: NodeFs, path: string, maxBytes: number): Uint8Array {
  const isShellPipe = /^\/dev\/(fd\/\d+|stdin)$/.test(path)
  // Without O_NONBLOCK, opening a FIFO waits for its writer. Windows has no such flag.
  const nonBlocking = isShellPipe ? 0 : (nodeFs.constants.O_NONBLOCK ?? 0)
  const handle = openForReading(fs, path, nonBlocking)

  try {
    const stats = fs.fstatSync(handle)
    if (!stats.isFile() && !stats.isDirectory() && !isShellPipe)
      throw Object.assign(new Error(`EINVAL: not a regular file, read '${path}'`), {
        code: 'EINVAL',
      })

    const pieces: Uint8Array[] = []
    let length = 0
    for (;;) {
      const expected = Math.max(stats.size - length, 0) + 1
      const piece = Buffer.allocUnsafe(Math.min(expected, maxBytes - length, 65_536))
      const count = fs.readSync(handle, piece, 0, piece.length, null)
      if (count === 0) return Buffer.concat(pieces, length)
      length += count
      pieces.push(piece.subarray(0, count))
    }
  } finally {
    fs.closeSync(handle)
  }
}

/** Sets the error's `syscall` to `read`. Node would report `open`, as for a file opened for writing. */
function openForReading(fs: NodeFs, path: string, flags: number): number {
  try {
    return fs.openSync(path, nodeFs.constants.O_RDONLY | flags)
  } catch (error) {
    throw Object.assign(error as NodeJS.ErrnoException, { syscall: 'read' })
  }
}

/** The errors of file systems that cannot flush a folder, and of folders that cannot be opened. */
const ignoredFsyncErrors = new Set(['EINVAL', 'ENOTSUP', 'EACCES', 'EISDIR'])

function fsyncFolder(fs: NodeFs, path: string): void {
  let handle: number | undefined
  try {
    handle = fs.openSync(path, 'r')
    fs.fsyncSync(handle)
  } catch (error) {
    if (!ignoredFsyncErrors.has((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    if (handle !== undefined) fs.closeSync(handle)
  }
}

/** The pauses between attempts, in ms. A virus scanner or an indexer can hold a new file that long. */
const renameWaitsMs = [10, 20, 40, 80, 160, 320, 640]

function renameWithRetries(fs: NodeFs, from: string, to: string): void {
  for (const waitMs of [...renameWaitsMs, undefined]) {
    try {
      fs.renameSync(from, to)
      return
    } catch (error) {
      if (waitMs === undefined) throw error

      const code = (error as NodeJS.ErrnoException).code ?? ''
      // Windows never renames a file to a folder, so waiting would not help.
      const isFolder = () => ifPossible(() => fs.lstatSync(to))?.isDirectory()
      const isTemporary = ['EPERM', 'EBUSY', 'EACCES'].includes(code) && !isFolder()
      if (!isTemporary) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs)
    }
  }
}

/**
 * Copies attributes with the cp of coreutils, because Node has no call for extended attributes. It
 * takes about 4 ms for a file (coreutils 9.1, 2026-11-21), and is used only if there was a file before.
 * The cp of busybox rejects the options.
 *
 * cp inherits open handles of both files and uses these instead of paths, which someone could redirect.
 */
function copyAttributes(fs: NodeFs, from: string, to: number): boolean {
  const { O_RDONLY, O_NOFOLLOW } = nodeFs.constants
  const source = fs.openSync(from, O_RDONLY | O_NOFOLLOW)
  try {
    const options = ['--attributes-only', '--preserve=mode,xattr']
    const paths = ['/proc/self/fd/3', '/proc/self/fd/4']
    return runCp([...options, '--', ...paths], [source, to])?.status === 0
  } finally {
    fs.closeSync(source)
  }
}

function hasCoreutils(): boolean {
  return /coreutils/.test(runCp(['--version'])?.stdout ?? '')
}

/**
 * Runs cp. Undefined if there is none. It gets files with keys, so a cp in the working folder is never
 * used.
 */
function runCp(args: readonly string[], handles: readonly number[] = []) {
  const program = findProgram({ os: 'linux', env: process.env }, 'cp')
  if (program === undefined) return undefined

  // Not imported at the top, because most commands never need it.
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  return spawnSync(program, args, {
    stdio: ['ignore', 'pipe', 'ignore', ...handles],
    encoding: 'utf8',
    timeout: 2_000,
  })
}
