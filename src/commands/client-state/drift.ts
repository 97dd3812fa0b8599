/**
 * Does a client still use the gateway, the key and the models that it should?
 *
 * - `driftFrom` compares what the client uses with any gateway, for `status --expect` and `--exit-code`. Its
 *   reasons include other findings, such as a variable that wins over the files.
 * - `driftSinceSetup` compares the client's own files with its last setup, and has the edits that restore it
 *   (`doctor --fix`).
 */
import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFile, LoadedFiles } from '../../clients/contract/files.ts'
import { type ClientState, shownModel, whyUnreadable } from '../../clients/contract/state.ts'
import { asPlanned, fileOf } from '../../clients/files/parse-file.ts'
import { protocolOf } from '../../clients/models/protocols.ts'
import { planFixes } from '../../clients/plan/edit-file.ts'
import type { FileEdit, SettingChange } from '../../edits/types.ts'
import { plainPath } from '../../edits/values/paths.ts'
import { UserError, valueOrError } from '../../errors.ts'
import { type FileFix, messageWithLocation } from '../../finding.ts'
import { addressFor, baseUrlFor, isSameButVersion } from '../../gateway/base-urls.ts'
import { includesHeader } from '../../gateway/input/header.ts'
import type { Gateway } from '../../gateway/types.ts'
import { savedExtras } from '../../state/saved-gateways.ts'
import type { Runs } from '../../transaction/record.ts'
import { contentsIfAvailable } from '../../transaction/records/blobs.ts'
import type { Session } from '../screen/session.ts'
import { type ClientNow, gatewayOf, shownAddress } from './client-facts.ts'
import { asWritten } from './client-files.ts'
import { changedSince, lastSetupOrOff, type WrittenFile } from './written-files.ts'

/** The gateway that a client should use, with its key, headers and models. */
export interface ExpectedGateway extends Gateway {
  /** Whether a key is the right one. Absent: every key is. */
  readonly isKey?: (key: string) => boolean
  /** The client's state after the setup, with its models. Absent: any models will do. */
  readonly state?: ClientState
}

/** Errors that do not make a client use another gateway. */
const permissionCodes: readonly string[] = ['open-to-others', 'private']

/** One reason why a client does not use the expected gateway. */
export interface DriftReason {
  /** `finding`: one of the client's findings reports it. `setting`: a setting has another value. */
  readonly kind: 'finding' | 'setting'
  readonly message: string
}

/** Why a client does not use the expected gateway. Empty: it uses it. */
export function driftFrom(
  session: Session,
  checked: ClientNow,
  expected: ExpectedGateway,
): readonly DriftReason[] {
  const { client, state, findings } = checked
  const broken = whyUnreadable(state)
  if (broken !== undefined)
    return [{ kind: 'finding', message: `repoint cannot read its files: ${broken}` }]
  const changed = settingsDrift({ client, state }, expected)
  if (changed.length > 0) return changed.map((message) => ({ kind: 'setting', message }))

  return findings
    .filter(({ code, severity }) => severity === 'error' && !permissionCodes.includes(code))
    .map((finding) => ({
      kind: 'finding',
      message: messageWithLocation(finding, (path) => session.showPath(path)),
    }))
}

/** What in the client's own files is not as expected, in words. */
function settingsDrift(
  { client, state }: Pick<ClientNow, 'client' | 'state'>,
  expected: ExpectedGateway,
): readonly string[] {
  const { endpoint, options, login } = state
  const { baseUrl, key } = endpoint
  const protocol = protocolOf(client, options)
  const expectedBaseUrl = baseUrlFor(expected, protocol)
  if (baseUrl === undefined || !isSameButVersion(baseUrl, expectedBaseUrl)) {
    const now = shownAddress(client, state) ?? 'its own service'
    return [`points at ${now}, expected ${addressFor(expectedBaseUrl, protocol)}`]
  }

  if (key === undefined) return [`${login ?? 'nothing'} instead of the key`]
  if (expected.isKey?.(key) === false) return ['another key']

  const header = expected.headers?.find(
    (expectedHeader) => !includesHeader(expectedHeader, endpoint.headers),
  )
  if (header !== undefined) return [`the header ${header.name} is missing or has another value`]
  const query = expected.query?.find((parameter) => !includesHeader(parameter, endpoint.query))
  if (query !== undefined) return [`the query ${query.name} is missing or has another value`]

  return expected.state ? modelDrift(state, expected.state) : []
}

function modelDrift(state: ClientState, expected: ClientState): readonly string[] {
  const actual = modelsByName(state)
  const atSetup = modelsByName(expected)
  return Object.keys({ ...atSetup, ...actual })
    .filter((name) => actual[name] !== atSetup[name])
    .map((name) => `${name} ${actual[name] ?? 'not set'} (repoint set ${atSetup[name] ?? 'none'})`)
}

/** The models and their protocol, by the name that a message gives them. */
function modelsByName(state: ClientState): Readonly<Record<string, string | undefined>> {
  const { protocol, smallModel, subagentModel, slotModels = {} } = state.options
  const bySlot = Object.entries(slotModels).map(([slot, id]) => [`model of ${slot}`, id])
  return {
    model: shownModel(state),
    protocol,
    'small model': smallModel,
    'model of subagents': subagentModel,
    ...Object.fromEntries(bySlot),
  }
}

/** The gateway that the last active setup set the client to. Undefined: `off` followed, or there is none. */
export function gatewayOfLastSetup(
  session: Session,
  { client, files }: Pick<ClientNow, 'client' | 'files'>,
  runs: Runs,
): ExpectedGateway | undefined {
  const editable = files.filter(({ use }) => use === 'editable')
  const recordedFiles = editable.flatMap(({ path }) => lastSetupOrOff(path, runs)?.file ?? [])
  if (recordedFiles.length === 0) return undefined

  const state = client.read(asWritten(session, files, [{ files: recordedFiles }]))
  const gateway = gatewayOf(session, client, state, runs)
  const saved = savedExtras(session)
  const { key } = state.endpoint
  const headers = state.endpoint.headers?.filter((header) => includesHeader(header, saved.headers))
  const query = state.endpoint.query?.filter((parameter) => includesHeader(parameter, saved.query))
  const isKey = (candidate: string) => candidate === key
  return gateway && { ...gateway, isKey, headers, query, state }
}

/** What someone else changed in a client's files since its last setup, and what would restore it. */
interface Drift {
  /** Why the client does not use what the setup wrote, in words. */
  readonly reasons: readonly string[]
  /** The names of the settings, their files, and the run that wrote them: for people. */
  readonly changedSettings: string
  /**
   * These edits restore everything that the setup wrote. Absent: that is not possible, so nothing is
   * restored.
   */
  readonly restore?: { readonly fixes: readonly FileFix[]; readonly edits: readonly FileEdit[] }
}

/** @returns undefined if no setup is active, or if safe fixes alone restore what the last setup wrote */
export function driftSinceSetup(
  session: Session,
  checked: ClientNow,
  runs: Runs,
): Drift | undefined {
  const { client, findings, files, state } = checked
  const expected = gatewayOfLastSetup(session, checked, runs)
  if (expected === undefined || whyUnreadable(state) !== undefined) return undefined

  const safeFixes = findings.flatMap(({ fix, needsConsentTo }) =>
    fix && needsConsentTo === undefined ? [fix] : [],
  )
  const driftAfter = (fixes: readonly FileFix[], edits: readonly FileEdit[] = []) => {
    const fixedFiles = asPlanned(files, repairEdits(checked, fixes, edits))
    const reasons = settingsDrift({ client, state: client.read(fixedFiles) }, expected)
    return { fixedFiles, reasons }
  }

  const planned = valueOrError(() => driftAfter(safeFixes))
  if (planned instanceof UserError || planned.reasons.length === 0) return undefined

  const { fixedFiles, reasons } = planned
  const changedFiles = [...findChangedFiles(session, fixedFiles, runs)]

  const ofSettings = changedFiles.filter(({ setup }) => setup.file.scope === 'keys')
  const ofWholeFiles = changedFiles.filter(({ setup }) => setup.file.scope === 'whole')
  const fixes = ofSettings.map(({ file, changes }) => ({ fileKind: file.kind, changes }))
  const edits = ofWholeFiles.map((changed) => restoringEdit(session, checked, changed))

  // repoint offers only a complete restore: it must not restore the address without the key.
  const restored = valueOrError(() => driftAfter([...safeFixes, ...fixes], edits))
  const isComplete = !(restored instanceof UserError) && restored.reasons.length === 0
  return {
    reasons,
    changedSettings: changedFiles.map((changed) => describeChanges(session, changed)).join('; '),
    ...(isComplete && { restore: { fixes, edits } }),
  }
}

/**
 * One edit for each file: the restoring edits, and those of the fixes. A restored file needs no fix, because
 * it is again what the setup wrote.
 *
 * @throws UserError as `planFixes` does
 */
export function repairEdits(
  { client, files }: Pick<ClientNow, 'client' | 'files'>,
  fixes: readonly FileFix[],
  restoringEdits: readonly FileEdit[],
): readonly FileEdit[] {
  const isRestored = ({ fileKind }: FileFix) =>
    restoringEdits.some(({ path }) => path === fileOf(files, fileKind).path)
  const otherFixes = fixes.filter((fix) => !isRestored(fix))
  return [...restoringEdits, ...planFixes(client, files, otherFixes)]
}

/** A file in which settings of the last setup have other values now. */
interface ChangedFile {
  readonly file: LoadedFile
  readonly setup: WrittenFile
  /** Each setting with the setup's value. */
  readonly changes: readonly SettingChange[]
}

function* findChangedFiles(
  session: Session,
  files: LoadedFiles,
  runs: Runs,
): Generator<ChangedFile> {
  for (const file of files) {
    const setup = lastSetupOrOff(file.path, runs)
    const changes = file.use === 'editable' ? changedSince(session, file, runs) : []
    if (setup !== undefined && changes.length > 0) yield { file, setup, changes }
  }
}

/** A report names this many settings of a file, and counts the others. */
const maxNamedSettings = 4

function describeChanges(session: Session, { file, setup, changes }: ChangedFile): string {
  const all = changes.map((change) => plainPath(change.path))
  const more = all.length > maxNamedSettings ? ` and ${all.length - maxNamedSettings} more` : ''
  const settings = all.slice(0, maxNamedSettings).join(', ') + more
  return `${settings} in ${session.showPath(file.path)}, written by run ${setup.run.id}`
}

/** The edit that makes a file what the setup wrote, which replaced the whole file. */
function restoringEdit(
  { platform }: Session,
  { client, files }: ClientNow,
  { file, setup, changes }: ChangedFile,
): FileEdit {
  const { path, format } = file
  const { scope, holdsSecret, written } = setup.file
  return {
    client: client.id,
    path,
    format,
    scope,
    changes,
    holdsSecret,
    before: files.find((current) => current.path === path)?.bytes ?? null,
    after: contentsIfAvailable(platform, written),
  }
}

export function describeDrift({ label }: Client, { reasons, changedSettings }: Drift): string {
  const what = `${label}: ${reasons.join('; ')}`
  return changedSettings === '' ? what : `${what} (${changedSettings})`
}
