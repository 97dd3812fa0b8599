/**
 * The way back to a client's own service:
 *
 * 1. `filesWithoutRuns` undoes what repoint wrote.
 * 2. `removeSettings` removes whatever else points at a gateway, or gives it its value at the own service. It also
 *    removes the keys of gateways that repoint knows.
 * 3. `editOf` compares the result with the files.
 *
 * For example, the user wrote a comment, and another tool wrote an address and a key:
 *
 *     at own service    written by repoint    now                       result                    step
 *     model = "gpt"     model = "gw/a"        model = "gw/a"  # mine    model = "gpt"  # mine     1
 *                       limit = 100           limit = 100                                         1
 *                                             url = "https://other"                               2
 *     key = "vendor"    key = "gw"            key = "other"             key = "vendor"            2
 */

import { isDeepStrictEqual } from 'node:util'
import { documentOf, formatOf } from '../../edits/format.ts'
import {
  type FileEdit,
  isWholeFile,
  type SettingChange,
  type SettingPath,
  type SettingRole,
  sameBytes,
} from '../../edits/types.ts'
import { includesPath, samePath, startsWith } from '../../edits/values/paths.ts'
import type { Client } from '../contract/client.ts'
import type { GatewaySettings } from '../contract/config.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import { whyUnreadable } from '../contract/state.ts'
import { type KnownKey, knownKeySettings } from '../files/known-keys.ts'
import { asPlanned, parseFile, textOf } from '../files/parse-file.ts'
import { rolesIn } from '../files/sensitive-settings.ts'
import { isTable } from '../files/tables.ts'

/** What the records know of a client's files. In the example, the undone runs are those that wrote the second column. */
export interface FilesFromRecords {
  /**
   * The files of the first column. Absent: no record has them. Then `withoutRuns` is the oldest state, and an undo
   * takes only settings without a role from it: its address may be another gateway's.
   */
  readonly atOwnService?: LoadedFiles
  /** The files now, with the runs undone: `model` has its first value, `limit` is gone, the comment stays. */
  readonly withoutRuns: LoadedFiles
  /** The settings that the undone runs wrote, by the path of their file: `model`, `limit` and `key`. */
  readonly settingsOfRuns: ReadonlyMap<string, readonly TouchedSetting[]>
}

type TouchedSetting = Omit<SettingChange, 'value'>

/** Whether its files point a client at a gateway, or contain a gateway's key. */
export function isAtGateway(
  client: Client,
  files: LoadedFiles,
  known: readonly KnownKey[] = [],
): boolean {
  return [client.gatewaySettings(files), knownKeySettings(client, files, known)].some((settings) =>
    Object.values(settings).some((paths) => paths?.length),
  )
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
  records?: FilesFromRecords,
  known: readonly KnownKey[] = [],
): readonly FileEdit[] {
  const edits = planWithRecords(client, files, { records, known })

  // An undo can restore syntax that the client cannot read, such as comments that a setup removed. Then the plan
  // undoes no run, and only removes what points at a gateway.
  const isReadable = (loaded: LoadedFiles) => whyUnreadable(client.read(loaded)) === undefined
  if (records === undefined || isReadable(asPlanned(files, edits)) || !isReadable(files))
    return edits
  return planWithRecords(client, files, {
    records: { ...records, withoutRuns: files, settingsOfRuns: new Map() },
    known,
  })
}

/** What is known of a client's files, and of its gateways. */
interface Knowledge {
  readonly records: FilesFromRecords | undefined
  readonly known: readonly KnownKey[]
}

function planWithRecords(
  client: Client,
  files: LoadedFiles,
  { records, known }: Knowledge,
): readonly FileEdit[] {
  const { after, removed } = withoutGateway(client, files, { records, known })
  return files
    .filter(({ use, isOptional, bytes }) => use === 'editable' && !(isOptional && bytes === null))
    .concat(files.filter((file) => file.use === 'companion' && hasWritten(records, file)))
    .toReversed()
    .map((file) => {
      const ofRuns = records?.settingsOfRuns.get(file.path) ?? []
      const ofGateway = removed(file).map((path) => {
        return { path, role: roleIn(client, file, path) ?? ('address' as const) }
      })
      const { bytes } = sameFile(after, file) ?? file
      return editOf(client, file, bytes, [...ofRuns, ...ofGateway])
    })
}

/** Whether a run that is undone has changed the file. */
function hasWritten(records: FilesFromRecords | undefined, { path }: LoadedFile): boolean {
  return records?.settingsOfRuns.get(path) !== undefined
}

/** The files at the client's own service, and the settings of the gateway that were removed for that. */
function withoutGateway(
  client: Client,
  files: LoadedFiles,
  { records, known }: Knowledge,
): { readonly after: LoadedFiles; readonly removed: (file: LoadedFile) => readonly SettingPath[] } {
  const settings = client.gatewaySettings(files)
  const withoutRuns = filesWithoutRuns(files, settings, records)
  const first = removeSettings(withoutRuns, settings, records?.atOwnService)

  // A setting can have had no effect so far, for example because of another default model. Such a setting can
  // point at a gateway too.
  const others = client.gatewaySettings(first)
  const second = removeSettings(first, others)

  const ofKeys = knownKeySettings(client, second, known)
  return {
    after: removeSettings(second, ofKeys, records?.atOwnService),
    removed: ({ kind }) => [settings, others, ofKeys].flatMap((found) => found[kind] ?? []),
  }
}

/**
 * The files without what repoint wrote. If no run found the client at its own service, the undo of all runs would
 * restore another gateway. Then only settings without a role are undone, and files with the scope `whole` stay.
 *
 * @param settings those that `removeSettings` removes
 */
function filesWithoutRuns(
  files: LoadedFiles,
  settings: GatewaySettings,
  records: FilesFromRecords | undefined,
): LoadedFiles {
  if (records === undefined) return files
  if (records.atOwnService !== undefined)
    return files.map((file) =>
      hasNewerLogin(file) ? file : (sameFile(records.withoutRuns, file) ?? file),
    )

  return files.map((file) => {
    const earlierFile = sameFile(records.withoutRuns, file)
    if (earlierFile === undefined || file.scope === 'whole') return file
    const ofRuns = records.settingsOfRuns.get(file.path) ?? []
    const paths = settingsWithoutRole(file, ofRuns, settings[file.kind] ?? [])
    return withSettingsOf(earlierFile, file, paths)
  })
}

/**
 * The settings without a role that repoint wrote and nothing removes yet, unless they belong to a provider that
 * stays. Here a setup has turned off the provider `old`:
 *
 *     written                          role       removed    returned
 *     model_provider                   provider   yes        -
 *     model_verbosity                  -          no         model_verbosity
 *     model_providers.old.env_key      key        no         -
 *     model_providers.old.name         -          no         - (in the table of a key that stays)
 */
function settingsWithoutRole(
  file: LoadedFile,
  written: readonly TouchedSetting[],
  removed: readonly SettingPath[],
): readonly SettingPath[] {
  const remaining = written.filter(
    ({ path }) => !removed.some((setting) => startsWith(path, setting)),
  )
  const document = documentOf(file, file.bytes)
  const providers = remaining
    .filter(({ path, role }) => role !== undefined && document?.get(path) !== undefined)
    .map(({ path }) => tableOf(path))

  return outermost(remaining)
    .filter(({ path, role }) => role === undefined && !includesPath(providers, tableOf(path)))
    .map(({ path }) => path)
}

function tableOf(path: SettingPath): SettingPath {
  return path.slice(0, -1)
}

/** The files with these settings as they were at the client's own service, or else without them. */
function removeSettings(
  files: LoadedFiles,
  settings: GatewaySettings,
  atOwnService: LoadedFiles = [],
): LoadedFiles {
  return files.map((file) => {
    const paths = file.use === 'editable' ? (settings[file.kind] ?? []) : []
    if (paths.length === 0) return file

    const earlier = sameFile(atOwnService, file)
    const isWhole = paths.some(isWholeFile)
    if (earlier !== undefined && file.scope === 'whole' && (isWhole || !hasNewerLogin(file)))
      return { ...file, bytes: earlier.bytes }
    if (isWhole) return { ...file, bytes: null }

    const after = withSettingsOf(earlier, file, paths)
    const isBlank = formatOf(file.format).isBlank(textOf(after))
    return isBlank && earlier?.bytes === null ? { ...file, bytes: null } : after
  })
}

/** Whether someone has logged in since a setup replaced the file: a setup writes no table into credentials. */
function hasNewerLogin(file: LoadedFile): boolean {
  return (
    file.scope === 'whole' &&
    file.content === 'credentials' &&
    Object.values(parseFile(file).root).some(isTable)
  )
}

/** A file with these settings as in its earlier version. Without one, or if it lacks a setting: without it. */
function withSettingsOf(
  earlier: LoadedFile | undefined,
  file: LoadedFile,
  paths: readonly SettingPath[],
): LoadedFile {
  if (file.bytes === null) return file

  const document = documentOf(file, file.bytes)
  const earlierDocument = earlier && documentOf(earlier, earlier.bytes)
  const changes = paths
    .map((path) => ({ path, value: earlierDocument?.get(path) }))
    .filter(({ path, value }) => !isDeepStrictEqual(document?.get(path), value))
  return { ...file, bytes: formatOf(file.format).edit(file.bytes, changes, file.path) }
}

function sameFile(files: LoadedFiles, { path }: LoadedFile): LoadedFile | undefined {
  return files.find((file) => file.path === path)
}

/** @param touched the settings that the edit may have changed */
function editOf(
  client: Client,
  file: LoadedFile,
  after: LoadedFile['bytes'],
  touched: readonly TouchedSetting[],
): FileEdit {
  const { path, format, content, holdsSecret, bytes: before, scope } = file
  const [oldDocument, newDocument] = [documentOf(file, before), documentOf(file, after)]
  const roots = [oldDocument?.root ?? {}, newDocument?.root ?? {}]
  const all = [...new Set(roots.flatMap(Object.keys))].map((name) => ({ path: [name] }))
  const isLogin = content === 'credentials'

  const changes = outermost(scope === 'whole' ? all : touched)
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
    scope,
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
  return rolesIn(sensitiveSettings, kind)(path) ?? (content === 'credentials' ? 'key' : undefined)
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
