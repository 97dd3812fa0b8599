import { posix, win32 } from 'node:path'
import type { Machine } from '../../platform/platform.ts'
import type { ConfigFile, DiskReader } from '../contract/files.ts'

/** Builds paths for a machine, whatever system repoint runs on. */
export function pathsOf(machine: Machine) {
  const paths = machine.os === 'win32' ? win32 : posix
  const { join, dirname, isAbsolute } = paths
  const named = (name: string) => {
    const value = machine.env[name]
    return value ? paths.resolve(machine.cwd, value) : undefined
  }

  return {
    join,
    dirname,
    isAbsolute,
    /**
     * The folder or file that a variable names, absolute and normalised. Undefined if the variable is empty
     * or not set. Every client resolves a relative path from its working folder. opencode does so for those
     * of the XDG specification too, although that says to ignore them. Run with Codex 0.169.0, Claude Code
     * 2.1.197 and 2.1.329, opencode 1.18.33 (2026-11-21).
     */
    named,
    /** Like `named`, for a client that takes `~` at the start for the home folder. */
    namedFromHome: (name: string) => {
      const tilde = /^~(?:\/(.*))?$/s.exec(machine.env[name] ?? '')
      return tilde === null ? named(name) : join(machine.home, tilde[1] ?? '')
    },
  }
}

const jsonSettings = {
  format: 'json',
  holdsSecret: true,
  content: 'settings',
  scope: 'keys',
} as const

/**
 * A file of the user that a setup writes, and that holds the key. It is strict JSON unless the caller replaces
 * `format`.
 */
export function editableFile(kind: string, path: string): ConfigFile {
  return { ...jsonSettings, kind, path, use: 'editable', owner: 'user' }
}

/** Layers of one kind, whether they exist or not. They hold settings in strict JSON, unless `content` or `format` says otherwise. */
interface Layers
  extends Pick<ConfigFile, 'kind' | 'owner'>,
    Partial<Pick<ConfigFile, 'content' | 'format' | 'use'>> {
  readonly paths: readonly string[]
}

/**
 * The existing files that a client reads in addition to its `editable` file. If a path is listed twice, the first one
 * counts.
 */
export function layersThere(
  disk: DiskReader,
  editable: string,
  layers: readonly Layers[],
): readonly ConfigFile[] {
  const seen = new Set([editable])
  return layers.flatMap(({ paths, ...layer }) =>
    paths
      .filter((path) => disk.exists(path) && !seen.has(path) && seen.add(path))
      .map((path) => ({ ...jsonSettings, use: 'layer', ...layer, path })),
  )
}

/**
 * The folders from the root of the repository to the working folder. Outside a repository, only that folder.
 */
export function projectFolders(machine: Machine, disk: DiskReader): readonly string[] {
  const { join, dirname } = pathsOf(machine)
  const folders = [machine.cwd]
  while (!disk.exists(join(folders[0]!, '.git'))) {
    const above = dirname(folders[0]!)
    if (above === folders[0]) return [machine.cwd]
    folders.unshift(above)
  }
  return folders
}

/**
 * The main worktree of a repository whose root is a linked worktree: its `.git` is a file with the path
 * (gitrepository-layout). Undefined: it is not linked.
 */
export function mainWorktree(machine: Machine, disk: DiskReader, root: string): string | undefined {
  const { join, isAbsolute } = pathsOf(machine)
  const start = disk.readStart(join(root, '.git'))
  const main = /^gitdir: (.+?)[\\/]\.git[\\/]worktrees[\\/]/.exec(start)?.[1]
  if (main === undefined) return undefined
  return isAbsolute(main) ? main : join(root, main)
}
