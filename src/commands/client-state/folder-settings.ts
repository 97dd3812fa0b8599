/** Which files of the current folder configure a client too? */
import { basename, dirname, join, relative } from 'node:path'
import type { Client } from '../../clients/contract/client.ts'
import type { FolderFiles } from '../../clients/contract/config.ts'
import { projectFolders } from '../../clients/files/paths.ts'
import { ifPossible } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import type { Files } from '../../platform/platform.ts'
import { printableLine } from '../../text.ts'
import { isInside } from '../../transaction/files.ts'
import type { Session } from '../screen/session.ts'
import { diskReader, listClientFiles } from './client-files.ts'

/** A report names this many files, and counts the others. */
const maxNames = 5

/** The search looks at this many entries of folders. A repository can contain a huge tree. */
const maxEntries = 1000

/** What clients install or generate in their folders. */
const skippedNames = new Set(['node_modules', '.git', '.gitignore'])

/**
 * Names the files that configure `client` in the folders where it starts, and in those above them
 * that the client reads. They can start programs, which repoint does not check. No file is opened.
 *
 * @param folders absolute; absent: the working folder
 */
export function folderSettings(
  session: Session,
  client: Client,
  folders: readonly string[] = [session.platform.machine.cwd],
): readonly Finding[] {
  const { cwd } = session.platform.machine
  const { paths, isComplete } = findFolderFiles(session, client, folders)
  if (paths.length === 0) return []

  const names = paths.slice(0, maxNames).map((path) => printableLine(relative(cwd, path)))
  const others = paths.length - names.length
  const count = `${isComplete ? '' : 'at least '}${others}`
  const more = others > 0 ? ` and ${count} more` : ''
  return [
    {
      code: 'folder-settings',
      message: `${client.label} reads settings from this folder, and they can start programs: ${names.join(', ')}${more}`,
      location: folders[0]!,
      severity: 'warning',
    },
  ]
}

interface FoundFiles {
  /** Each once; the ones next to the start of a pattern come first. */
  readonly paths: readonly string[]
  /** The search did not stop early. */
  readonly isComplete: boolean
}

function findFolderFiles(session: Session, client: Client, folders: readonly string[]): FoundFiles {
  const { files } = session.platform
  const editable = listClientFiles(session, client).filter(({ use }) => use === 'editable')
  // With a variable such as CODEX_HOME the user's own files can be in the working folder.
  const isOwn = (path: string) =>
    editable.some((file) => file.path === path || isInside(file.path, path))

  const starts: Match[] = []
  for (const start of folders)
    for (const { reach, patterns } of client.config.folderFiles)
      for (const folder of foldersInReach(session, start, reach))
        for (const pattern of patterns) starts.push(...matches(files, folder, pattern))
  return filesBelow(
    files,
    starts.filter(({ path }) => !isOwn(path)),
  )
}

/** The folders that a client searches, the nearest first, without the home: its files are the user's own. */
function foldersInReach(
  session: Session,
  folder: string,
  reach: FolderFiles['reach'],
): readonly string[] {
  const { files, machine } = session.platform
  const folders = [folder]
  if (reach === 'repository')
    folders.unshift(...projectFolders({ ...machine, cwd: folder }, diskReader(files)).slice(0, -1))
  if (reach === 'all')
    for (let place = folder; dirname(place) !== place; place = dirname(place))
      folders.unshift(dirname(place))

  const real = (path: string) => ifPossible(() => files.realpath(path)) ?? path
  const home = real(machine.home)
  return folders.reverse().filter((place) => real(place) !== home)
}

interface Match {
  readonly path: string
  /** Every file below it counts, in case it is a folder. */
  readonly isTree: boolean
}

/** The paths that a pattern matches in one folder. The file system decides about upper and lower case. */
function matches(files: Files, folder: string, pattern: string): readonly Match[] {
  const isTree = pattern.endsWith('/**')
  const path = join(folder, isTree ? pattern.slice(0, -'/**'.length) : pattern)
  if (!path.endsWith('*')) return [{ path, isTree }]

  const start = basename(path).slice(0, -1)
  const names = ifPossible(() => files.readdir(dirname(path)).sort()) ?? []
  return names
    .filter((name) => name.startsWith(start))
    .map((name) => ({ path: join(dirname(path), name), isTree }))
}

/** Searches level by level, so that a deep tree does not hide a file at its start. Follows links. */
function filesBelow(files: Files, starts: readonly Match[]): FoundFiles {
  const paths = new Set<string>()
  const queue = [...starts]
  let entries = 0
  for (const { path, isTree } of queue) {
    if (entries >= maxEntries) return { paths: [...paths], isComplete: false }
    entries += 1

    const kind = ifPossible(() => files.stat(path))?.kind
    if (kind === undefined) continue
    if (kind !== 'folder') paths.add(path)
    if (kind !== 'folder' || !isTree) continue

    const names = ifPossible(() => files.readdir(path).sort())
    // A client may open a file by its name in a folder that cannot be listed.
    if (names === undefined) paths.add(path)
    const searched = (names ?? []).filter((name) => !skippedNames.has(name)).slice(0, maxEntries)
    queue.push(...searched.map((name) => ({ path: join(path, name), isTree })))
  }
  return { paths: [...paths], isComplete: true }
}
