/** What `repoint off` does for each client. */

import { variableFindings } from '../../clients/checks/environment.ts'
import { replacedOriginFinding } from '../../clients/checks/other-tools.ts'
import { overrideFindings } from '../../clients/checks/overrides.ts'
import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import { usesSameCredentials, whyUnreadable } from '../../clients/contract/state.ts'
import type { KnownKey } from '../../clients/files/known-keys.ts'
import { asPlanned } from '../../clients/files/parse-file.ts'
import { clientRows, environmentRows, familyIds, loadClients, rowOf } from '../../clients/list.ts'
import {
  type FilesFromRecords,
  isAtGateway,
  planOwnService,
} from '../../clients/plan/own-service.ts'
import { actionOf, type FileEdit } from '../../edits/types.ts'
import { UserError, valueOrError } from '../../errors.ts'
import { asNoteWithLocation, type Finding } from '../../finding.ts'
import { filesBeforeRuns } from '../../transaction/before-runs.ts'
import type { Runs } from '../../transaction/record.ts'
import { contextOf } from '../client-state/check-files.ts'
import { oneClientPerFamily } from '../client-state/client-facts.ts'
import { readClientFiles, withContents } from '../client-state/client-files.ts'
import { clientNow, expectEditable } from '../client-state/client-now.ts'
import { keysOfGateways } from '../client-state/known-keys.ts'
import { versionOfPackage } from '../client-state/program/installed-program.ts'
import type { Session } from '../screen/session.ts'

/** What `off` does for one client. */
export interface ClientOffPlan {
  readonly client: Client
  readonly after: LoadedFiles
  /** Empty: its files use its own service already. */
  readonly edits: readonly FileEdit[]
  /** What still points it at a gateway, and what the change means for other data. */
  readonly findings: readonly Finding[]
}

/**
 * Plans every client that points at a gateway.
 *
 * @param ids the clients that the user named. Empty: all of them
 * @throws UserError `config-invalid`, `config-conflict`, `not-permitted` for a client that was named
 */
export async function planClients(
  session: Session,
  runs: Runs,
  ids: readonly string[],
): Promise<readonly ClientOffPlan[]> {
  const isNamed = ids.length > 0
  const clients = await selectClients(session, runs, ids)
  return clients.flatMap((client) => {
    const planned = valueOrError(() => planClient(session, client, { runs, isNamed }))
    if (!(planned instanceof UserError)) {
      const isAffected = planned.edits.length > 0 || planned.findings.length > 0
      return isNamed || isAffected ? [planned] : []
    }
    if (isNamed) throw planned

    const { message, hint } = planned
    session.addFindings({
      code: 'client-left-out',
      severity: 'warning',
      message: `Skipped ${client.label}: ${message}`,
      hint,
    })
    return []
  })
}

/** One client of each family, and the clients without files. */
async function selectClients(
  session: Session,
  runs: Runs,
  ids: readonly string[],
): Promise<readonly Client[]> {
  const isSelected = (id: string) => ids.length === 0 || ids.includes(id)
  const families = clientRows.flatMap(({ id }) => (isSelected(id) ? rowOf(id).family : []))
  const clients = await oneClientPerFamily(session, runs)
  const others = await loadClients(environmentRows.filter(({ id }) => isSelected(id)))
  return [...clients.filter(({ family }) => families.includes(family)), ...others]
}

function planClient(
  session: Session,
  client: Client,
  { runs, isNamed }: { readonly runs: Runs; readonly isNamed: boolean },
): ClientOffPlan {
  const now = clientNow(session, client, runs)
  expectEditable(now)
  const before = now.files

  const known = keysOfGateways(session, client, before, runs)
  const usesGateway = isAtGateway(client, before, known)
  const edits = usesGateway ? editsToOwnService(session, client, before, known) : []
  const after = asPlanned(before, edits)
  const ofFiles = [before, after].map((files) => client.read(files).endpoint.key)
  for (const key of [...ofFiles, ...known.map((found) => found.key)])
    if (key !== undefined) session.hide(key)

  const origin = edits.length > 0 ? now.origin : undefined
  const change = { by: 'undo', before, after } as const
  return {
    client,
    after,
    edits,
    findings: [
      ...remainingFindings(session, client, { after, runs, isConcerned: usesGateway || isNamed }),
      ...(usesGateway ? (client.sideEffects?.(session.platform, change) ?? []) : []),
      ...(origin === undefined ? [] : [replacedOriginFinding(client, origin)]),
    ],
  }
}

/** Empty if no edit changes its file. Otherwise an edit for each file, changed or not. */
function editsToOwnService(
  session: Session,
  client: Client,
  files: LoadedFiles,
  known: readonly KnownKey[],
): readonly FileEdit[] {
  const records = filesFromRecords(session, client, files, known)
  const edits = planOwnService(client, files, records, known)
  return edits.some(changesFile) ? edits : []
}

/**
 * What the records know of a client's files: their newest state in which the client used its own service, or else
 * the oldest state. Undefined: the records have no state of these files.
 */
function filesFromRecords(
  { platform }: Session,
  client: Client,
  files: LoadedFiles,
  known: readonly KnownKey[],
): FilesFromRecords | undefined {
  const written = files.filter(({ use }) => use !== 'layer')
  const now = new Map(written.map(({ path, bytes }) => [path, bytes]))

  const states = filesBeforeRuns(platform, familyIds(client.id), now)

  let found: FilesFromRecords | undefined
  for (const { recorded, withoutRuns, settings } of states) {
    found = { withoutRuns: withContents(files, withoutRuns), settingsOfRuns: settings }

    const filesThen = withContents(files, recorded)
    const isReadable = whyUnreadable(client.read(filesThen)) === undefined
    if (isReadable && !isAtGateway(client, filesThen, known))
      return { ...found, atOwnService: filesThen.filter(({ path }) => recorded.has(path)) }
  }
  return found
}

export function changesFile(edit: FileEdit): boolean {
  return actionOf(edit) !== 'unchanged'
}

/** Why the written files do not say what was planned. */
export function mismatchesIn(
  session: Session,
  clients: readonly ClientOffPlan[],
): readonly UserError[] {
  return clients.flatMap(({ client, after }) => {
    const planned = client.read(after)
    const actual = client.read(readClientFiles(session, client))
    if (usesSameCredentials(planned, actual) && whyUnreadable(planned) === whyUnreadable(actual))
      return []
    return new UserError({
      code: 'internal',
      message: `${client.label} would not read its files as planned`,
      hint: 'Please report this bug.',
    })
  })
}

/** A client after `off`. */
interface ClientAfterOff {
  readonly after: LoadedFiles
  readonly runs: Runs
  /** The user named it, or `off` changes it. Otherwise findings that move no address are left out. */
  readonly isConcerned: boolean
}

/**
 * Reports the files and variables that still point a client at a gateway after `off`, because repoint does
 * not edit them.
 */
function remainingFindings(
  session: Session,
  client: Client,
  { after, runs, isConcerned }: ClientAfterOff,
): readonly Finding[] {
  const { label, config } = client
  const { addresses = [], others = [] } = config.gatewayVariables ?? {}
  const context = contextOf(session, client, after, runs)
  const findingsFor = (variables: readonly string[]) => {
    const effect = `${label} uses it, whatever its files say`
    const watched = variables.map(
      (name) => ({ name, code: 'still-at-gateway', effect, severity: 'warning' }) as const,
    )
    return [...variableFindings(context, watched)]
  }

  const overrides = [
    ...overrideFindings(client, after, {}, () => versionOfPackage(session, client)),
  ]
  const addressFindings = findingsFor(addresses)
  const isStillMoved =
    addressFindings.length > 0 || overrides.some(({ severity }) => severity === 'error')
  if (!isConcerned && !isStillMoved) return []

  const findings = [
    ...ownFileFindings(client, after),
    ...overrides,
    ...addressFindings,
    ...findingsFor(others),
  ]
  return findings.map(asNoteWithLocation)
}

/** Reports what the client's own files still say because repoint did not change it. */
function* ownFileFindings(client: Client, after: LoadedFiles): Generator<Finding> {
  const { label } = client
  const state = client.read(after)
  const { baseUrl } = state.endpoint
  const broken = whyUnreadable(state)
  if (baseUrl !== undefined)
    yield {
      code: 'still-at-gateway',
      severity: 'note',
      message: `${label} still points at ${baseUrl}, because of a file that repoint does not edit`,
      location: state.origins.baseUrl,
      hint: 'Remove the address from that file.',
    }
  if (broken !== undefined)
    yield { code: 'broken', severity: 'note', message: `${label} cannot read its files: ${broken}` }
}
