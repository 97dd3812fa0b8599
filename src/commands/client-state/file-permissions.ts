/** Which other users of this machine can write a client's files, or read the secrets in them? */
import { posix } from 'node:path'
import type { LoadedFile, LoadedFiles } from '../../clients/contract/files.ts'
import { textOf } from '../../clients/files/parse-file.ts'
import { ifPossible } from '../../errors.ts'
import { asNoteWithLocation, type Finding, type Findings } from '../../finding.ts'
import type { FileStatus } from '../../platform/platform.ts'
import type { Session } from '../screen/session.ts'
import type { ClientNow } from './client-facts.ts'

/** Reports for each file with a secret whether other users can read it. */
export function* privacyFindings(
  session: Session,
  facts: Pick<ClientNow, 'client' | 'files' | 'state'>,
): Findings {
  for (const { file, what, mode, isOpen } of secretFiles(session, facts)) {
    const { path } = file
    if (!isOpen) yield { code: 'private', severity: 'ok', message: `${path} is private` }
    else
      yield {
        code: 'private',
        severity: 'error',
        message: `Other users can read ${path}, which contains ${what} (mode ${mode.toString(8)})`,
        hint: `chmod 600 ${path} (or: repoint doctor ${facts.client.family} --fix)`,
      }
  }
}

interface SecretFile {
  readonly file: LoadedFile
  readonly what: 'the key' | 'a secret header'
  /** Permission bits. */
  readonly mode: number
  /** Other users can read it. */
  readonly isOpen: boolean
}

/** The files that contain a client's key, or a secret header that it sends. */
export function secretFiles(
  { platform }: Session,
  { state, files }: Pick<ClientNow, 'files' | 'state'>,
): readonly SecretFile[] {
  if (platform.machine.os === 'win32') return []

  const { headers = [] } = state.endpoint
  const secrets = headers.filter(({ isSecret }) => isSecret).map(({ value }) => value)
  return files.flatMap((file): SecretFile[] => {
    const hasKey = file.path === state.origins.key
    const hasHeader = file.use === 'editable' && secrets.some((secret) => contains(file, secret))
    if (!hasKey && !hasHeader) return []

    const mode = platform.files.stat(file.path).mode & 0o777
    return [
      { file, what: hasKey ? 'the key' : 'a secret header', mode, isOpen: (mode & 0o077) !== 0 },
    ]
  })
}

/** Whether a file contains a secret, as it is or escaped as in JSON and TOML. */
function contains(file: LoadedFile, secret: string): boolean {
  const text = textOf(file)
  return text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1))
}

/**
 * Reports the files that decide where the key is sent, and the folders above them, if other users can
 * write them. The check stops at the home folder, or at the root for a file outside of it.
 */
export function worldWritablePaths(session: Session, files: LoadedFiles): readonly Finding[] {
  const { machine } = session.platform
  if (machine.os === 'win32') return []
  const places = new Set(
    files
      .filter(({ use }) => use === 'editable')
      .flatMap(({ path }) => [path, ...foldersAbove(path, machine.home)]),
  )
  return findWritable(session, places)
}

/**
 * Like `worldWritablePaths`, for a file with certificate authorities. That file decides which servers the
 * clients trust with the key.
 */
export function worldWritableCaFile(
  session: Session,
  caFile: string | undefined,
): readonly Finding[] {
  const { os, home } = session.platform.machine
  if (caFile === undefined || os === 'win32') return []
  return findWritable(session, [caFile, ...foldersAbove(caFile, home)]).map(asNoteWithLocation)
}

function findWritable(session: Session, places: Iterable<string>): readonly Finding[] {
  return [...places].flatMap((path) => {
    const status = ifPossible(() => session.platform.files.stat(path))
    return status && isOpenToOthers(status) ? [openToOthers(session, path, status)] : []
  })
}

function* foldersAbove(path: string, home: string): Generator<string> {
  for (let place = path; place !== home && place !== posix.dirname(place); ) {
    place = posix.dirname(place)
    yield place
  }
}

const [groupWrites, othersWrite, sticky] = [0o020, 0o002, 0o1000]

/**
 * Whether other users can write a file or folder. In a folder with the sticky bit, they can only add
 * files. A group whose ID equals the owner's contains only that user, on systems where every user has a
 * group of the same name.
 */
function isOpenToOthers({ kind, mode, uid, gid }: FileStatus): boolean {
  if (kind === 'folder' && (mode & sticky) !== 0) return false
  return (mode & othersWrite) !== 0 || ((mode & groupWrites) !== 0 && gid !== uid)
}

function openToOthers(session: Session, path: string, { kind, mode }: FileStatus): Finding {
  const isGroupOnly = (mode & othersWrite) === 0
  const who = isGroupOnly ? `The group of this ${kind}` : 'Every user of this machine'
  const what = kind === 'folder' ? 'replace the files in it' : 'write it'
  const rights = isGroupOnly ? 'g-w' : 'go-w'
  const place = session.showPath(path)
  return {
    code: 'open-to-others',
    message: `${who} can ${what} (mode ${mode.toString(8)}) and so redirect your key`,
    location: path,
    hint: `chmod ${rights} ${place}`,
    needsConsentTo: `${who} can ${what} and so redirect your key: ${place}. Close it: chmod ${rights} ${place}`,
    severity: 'error',
  }
}
