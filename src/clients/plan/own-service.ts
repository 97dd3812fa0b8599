/** The way back to a client's own service. */

import { isDeepStrictEqual } from 'node:util'
import { documentOf, formatOf } from '../../edits/format.ts'
import {
  type FileEdit,
  type SettingChange,
  type SettingPath,
  type SettingRole,
  sameBytes,
} from '../../edits/types.ts'
import { samePath, startsWith } from '../../edits/values/paths.ts'
import type { Client } from '../contract/client.ts'
import type { GatewaySettings } from '../contract/config.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import { whyUnreadable } from '../contract/state.ts'
import { textOf } from '../files/parse-file.ts'
import { roleOf } from '../files/sensitive-settings.ts'

/** A client's files at earlier times, from the records. */
export interface EarlierFiles {
  /** The files from when the client used its own service. Absent: the records have no such state. */
  readonly atOwnService?: LoadedFiles | undefined
  /** The current files without what repoint wrote since then. */
  readonly undone: LoadedFiles
  /** The settings that repoint wrote since then, by file. */
  readonly written: ReadonlyMap<string, readonly TouchedSetting[]>
}

/** A setting that an edit may change. */
type TouchedSetting = Omit<SettingChange, 'value'>

/** Whether its files point a client at a gateway. */
export function isAtGateway(client: Client, files: LoadedFiles): boolean {
  return Object.values(client.gatewaySettings(files)).some((paths) => paths.length > 0)
}

/**
 * The edits that point a client back at its own service. What repoint wrote is undone. Whatever else
 * points the client at a gateway is removed, or gets the value that it had at the client's own service.
 * So a login that a setup replaced is restored. All other bytes stay.
 *
 * The file with the address precedes the one with the key: a login must not be sent to the gateway.
 *
 * @throws UserError `config-invalid`, `config-conflict`
 */
export function planOwnService(
  client: Client,
  files: LoadedFiles,
  earlier?: EarlierFiles,
): readonly FileEdit[] {
  const settings = client.gatewaySettings(files)
  const start = startingFiles(files, settings, earlier)
  const first = withoutSettings(start, settings, earlier?.atOwnService)

  // A setting can have had no effect so far, for example because of another default model. Such a setting can
  // point at a gateway too.
  const others = client.gatewaySettings(first)
  const after = withoutSettings(first, others)

  const isBroken = (loaded: LoadedFiles) => whyUnreadable(client.read(loaded)) !== undefined
  const isUndone = earlier !== undefined && earlier.undone !== files
  // An undo can restore syntax that the client cannot read, such as comments that a setup removed.
  if (isUndone && isBroken(after) && !isBroken(files))
    return planOwnService(client, files, { ...earlier, undone: files, written: new Map() })

  return files
    .filter(({ use, isOptional, bytes }) => use === 'editable' && !(isOptional && bytes === null))
    .toReversed()
    .map((file) => {
      const written = earlier?.written.get(file.path) ?? []
      const removed = [...(settings[file.kind] ?? []), ...(others[file.kind] ?? [])]
      const { bytes } = after.find(({ path }) => path === file.path) ?? file
      return editOf(client, file, bytes, [
        ...written,
        ...removed.map((path) => ({
          path,
          role: roleIn(client, file, path) ?? ('address' as const),
        })),
      ])
    })
}

/**
 * The files without what repoint wrote. If no run found the client at its own service, an undo would
 * restore another gateway: then only settings without a role are undone.
 */
function startingFiles(
  files: LoadedFiles,
  settings: GatewaySettings,
  earlier: EarlierFiles | undefined,
): LoadedFiles {
  if (earlier === undefined || earlier.atOwnService !== undefined) return earlier?.undone ?? files

  return files.map((file) => {
    const written = earlier.written.get(file.path) ?? []
    const undone = earlier.undone.find(({ path }) => path === file.path)
    if (file.bytes === null || undone === undefined || file.isReplacedWhole) return file

    const [current, earlierDocument] = [
      documentOf(file, file.bytes),
      documentOf(file, undone.bytes),
    ]
    const removed = settings[file.kind] ?? []
    const isRemoved = (path: SettingPath) => removed.some((setting) => startsWith(path, setting))
    // A provider that stays, for example one that is set aside, keeps its other settings.
    const keptSettings = written.filter(
      ({ path, role }) =>
        role !== undefined && current?.get(path) !== undefined && !isRemoved(path),
    )
    const isNextTo = (path: SettingPath) =>
      keptSettings.some((change) => samePath(change.path.slice(0, -1), path.slice(0, -1)))
    const changes = outermost(written)
      .filter(({ path, role }) => role === undefined && !isRemoved(path) && !isNextTo(path))
      .map(({ path }) => ({ path, value: earlierDocument?.get(path) }))
      .filter(({ path, value }) => !isDeepStrictEqual(current?.get(path), value))
    return { ...file, bytes: formatOf(file.format).edit(file.bytes, changes, file.path) }
  })
}

/** The files with these settings as they were at the client's own service, or else without them. */
function withoutSettings(
  files: LoadedFiles,
  settings: GatewaySettings,
  atOwnService: LoadedFiles = [],
): LoadedFiles {
  return files.map((file) => {
    const paths = file.use === 'editable' ? (settings[file.kind] ?? []) : []
    const earlier = atOwnService.find(({ path }) => path === file.path)
    if (paths.length === 0) return file
    if (earlier !== undefined && file.isReplacedWhole) return { ...file, bytes: earlier.bytes }
    if (paths.some((path) => path.length === 0)) return { ...file, bytes: null }
    if (file.bytes === null) return file

    const current = documentOf(file, file.bytes)
    const earlierDocument = earlier && documentOf(earlier, earlier.bytes)
    const changes = paths
      .map((path) => ({ path, value: earlierDocument?.get(path) }))
      .filter(({ path, value }) => !isDeepStrictEqual(current?.get(path), value))
    const bytes = formatOf(file.format).edit(file.bytes, changes, file.path)
    const isEmpty = /^\s*(?:\{\s*\}\s*)?$/.test(textOf({ bytes }))
    return { ...file, bytes: isEmpty && earlier?.bytes === null ? null : bytes }
  })
}

/** @param touched the settings that the edit may have changed */
function editOf(
  client: Client,
  file: LoadedFile,
  after: LoadedFile['bytes'],
  touched: readonly TouchedSetting[],
): FileEdit {
  const { path, format, content, holdsSecret, bytes: before, isReplacedWhole = false } = file
  const [oldDocument, newDocument] = [documentOf(file, before), documentOf(file, after)]
  const roots = [oldDocument?.root ?? {}, newDocument?.root ?? {}]
  const all = [...new Set(roots.flatMap(Object.keys))].map((name) => ({ path: [name] }))
  const isLogin = content === 'credentials'

  const changes = outermost(isReplacedWhole ? all : touched)
    .map((change): SettingChange => {
      const role = change.role ?? roleIn(client, file, change.path)
      const isSecret = change.isSecret || role === 'key' || isLogin
      return {
        path: change.path,
        value: newDocument?.get(change.path),
        ...(role && { role }),
        ...(isSecret && { isSecret }),
      }
    })
    .filter((change) => !isDeepStrictEqual(oldDocument?.get(change.path), change.value))

  return {
    client: client.id,
    path,
    format,
    scope: isReplacedWhole ? 'whole' : 'keys',
    changes,
    before,
    after: sameBytes(before, after) ? before : after,
    holdsSecret,
  }
}

function roleIn(
  { config: { sensitiveSettings } }: Client,
  { kind, content }: LoadedFile,
  path: SettingPath,
): SettingRole | undefined {
  return roleOf(sensitiveSettings, kind, path) ?? (content === 'credentials' ? 'key' : undefined)
}

/** Each setting once, without those inside another one. */
function outermost(settings: readonly TouchedSetting[]): readonly TouchedSetting[] {
  const isInside = (path: SettingPath, other: SettingPath) =>
    path.length > other.length && startsWith(path, other)
  return settings.filter(
    ({ path }, index) =>
      settings.findIndex((setting) => samePath(setting.path, path)) === index &&
      !settings.some((setting) => isInside(path, setting.path)),
  )
}
