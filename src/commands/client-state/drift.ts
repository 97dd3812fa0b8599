import {
  type Client,
  type ClientState,
  protocolOf,
  shownModel,
  whyUnreadable,
} from '../../clients/client.ts'
import { planFixes } from '../../clients/fixes.ts'
import { asPlanned } from '../../clients/loaded-files.ts'
import type { FileEdit } from '../../edits/plan.ts'
import { plainPath } from '../../edits/values.ts'
import { resultOf, UserError } from '../../errors.ts'
import { type FileFix, type Finding, messageWithLocation } from '../../finding.ts'
import { includesHeader } from '../../gateway/input/header.ts'
import { isSameButVersion, rootOf, shownRoot } from '../../gateway/roots.ts'
import type { Gateway } from '../../gateway/types.ts'
import { savedExtras } from '../../state/find-gateways.ts'
import type { Runs } from '../../transaction/record.ts'
import { contentsIfAvailable } from '../../transaction/state.ts'
import type { Session } from '../screen/session.ts'
import { asRecorded } from './files.ts'
import { type ClientNow, gatewayOf, shownAddress } from './state.ts'
import { changedSince, lastSetup } from './written.ts'

/** The gateway that a client should use, with its key, headers and models. */
export interface Expected extends Gateway {
  /** Whether a key is the right one. Absent: every key is. */
  readonly isKey?: (key: string) => boolean
  /** The client's state after the setup, with its models. Absent: any models will do. */
  readonly settings?: ClientState
}

/** A client's state, and what is wrong with it. */
interface CheckedClient extends ClientNow {
  readonly findings: readonly Finding[]
}

/** Errors that do not lead a client away from its gateway. */
const permissionCodes: readonly string[] = ['open-to-others', 'private']

/** Why a client does not use the expected gateway, in words. Empty: it uses it. */
export function driftOf(
  session: Session,
  state: CheckedClient,
  expected: Expected,
): readonly string[] {
  const { settings, findings } = state
  const broken = whyUnreadable(settings)
  if (broken !== undefined) return [`repoint cannot read its files: ${broken}`]
  const changed = settingsDrift(state, expected)
  if (changed.length > 0) return changed

  return findings
    .filter(({ code, severity }) => severity === 'error' && !permissionCodes.includes(code))
    .map((finding) => messageWithLocation(finding, (path) => session.showPath(path)))
}

/** As `driftOf`, from the client's own files alone. */
function settingsDrift(
  { client, settings }: Pick<ClientNow, 'client' | 'settings'>,
  expected: Expected,
): readonly string[] {
  const { endpoint, options, login } = settings
  const { baseUrl, key } = endpoint
  const protocol = protocolOf(client, options)
  const right = rootOf(expected, protocol)
  if (baseUrl === undefined || !isSameButVersion(baseUrl, right)) {
    const now = shownAddress(client, settings) ?? 'its own service'
    return [`points at ${now}, expected ${shownRoot(right, protocol)}`]
  }

  if (key === undefined) return [`${login ?? 'nothing'} instead of the key`]
  if (expected.isKey?.(key) === false) return ['another key']
  const unsent = expected.headers?.find((header) => !includesHeader(header, endpoint.headers))
  if (unsent !== undefined) return [`the header ${unsent.name} is missing or has another value`]
  const missing = expected.query?.find((part) => !includesHeader(part, endpoint.query))
  if (missing !== undefined) return [`the query ${missing.name} is missing or has another value`]
  return expected.settings ? modelDrift(settings, expected.settings) : []
}

function modelDrift(now: ClientState, then: ClientState): readonly string[] {
  const [found, wanted] = [modelsByName(now), modelsByName(then)]
  return Object.keys({ ...wanted, ...found })
    .filter((name) => found[name] !== wanted[name])
    .map((name) => `${name} ${found[name] ?? 'not set'} (repoint set ${wanted[name] ?? 'none'})`)
}

/** The models and their protocol, by the words that a message uses. */
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

/** The gateway that the last setup in force set the client to. Undefined: no setup is in force. */
export function leftAt(
  session: Session,
  { client, texts }: ClientNow,
  runs: Runs,
): Expected | undefined {
  const targets = texts.filter(({ use }) => use === 'target')
  const files = targets.flatMap(({ path }) => lastSetup(path, runs)?.file ?? [])
  if (files.length === 0) return undefined

  const state = client.read(asRecorded(session, texts, files, 'after'))
  const gateway = gatewayOf(session, client, state, runs)
  const ours = savedExtras(session)
  const { key } = state.endpoint
  const headers = state.endpoint.headers?.filter((one) => includesHeader(one, ours.headers))
  const query = state.endpoint.query?.filter((one) => includesHeader(one, ours.query))
  return gateway && { ...gateway, isKey: (one) => one === key, headers, query, settings: state }
}

/** What someone else changed in a client's files since its last setup, and what would restore it. */
export interface Drifted {
  /** The changes in words. */
  readonly reasons: readonly string[]
  /** Which keys changed, in which file, and since which run. */
  readonly changes: string
  /**
   * These edits restore everything that the setup wrote. Absent: that is not possible, so nothing is
   * restored.
   */
  readonly cure?: { readonly repairs: readonly FileFix[]; readonly edits: readonly FileEdit[] }
}

/** A report names this many keys, and counts the others. */
const manyKeys = 4

/** @returns undefined if no setup is in force, or if safe repairs alone restore what the last setup wrote */
export function driftSince(
  session: Session,
  state: CheckedClient,
  runs: Runs,
): Drifted | undefined {
  const { client, findings, settings } = state
  const expected = leftAt(session, state, runs)
  if (expected === undefined || whyUnreadable(settings) !== undefined) return undefined

  const safe = findings.flatMap(({ fix, consent }) => (fix && consent === undefined ? [fix] : []))
  const driftAfter = (repairs: readonly FileFix[], edits: readonly FileEdit[] = []) => {
    const files = asPlanned(state.texts, [...edits, ...planFixes(client, state.texts, repairs)])
    const reasons = settingsDrift({ client, settings: client.read(files) }, expected)
    return { texts: files, reasons }
  }

  const planned = resultOf(() => driftAfter(safe))
  if (planned instanceof UserError || planned.reasons.length === 0) return undefined
  const { texts, reasons } = planned
  const repairs: FileFix[] = []
  const edits: FileEdit[] = []
  const places: string[] = []
  for (const [index, { path, kind: fileKind, use, format }] of texts.entries()) {
    const setup = lastSetup(path, runs)
    const changes = use === 'target' ? changedSince(session, texts[index]!, runs) : []
    if (setup === undefined || changes.length === 0) continue

    const all = changes.map((change) => plainPath(change.path))
    const more = all.length > manyKeys ? ` and ${all.length - manyKeys} more` : ''
    const keys = all.slice(0, manyKeys).join(', ') + more
    places.push(`${keys} in ${session.showPath(path)}, written by run ${setup.run.id}`)

    const { scope, holdsSecret, after } = setup.file
    if (scope === 'keys') repairs.push({ fileKind, changes })
    else {
      const versions = {
        before: state.texts[index]!.bytes,
        after: contentsIfAvailable(session.platform, after),
      }
      edits.push({ client: client.id, path, format, scope, changes, holdsSecret, ...versions })
    }
  }

  // Restores both the address and the key, or neither.
  const mended = resultOf(() => driftAfter([...safe, ...repairs], edits))
  const isCured = !(mended instanceof UserError) && mended.reasons.length === 0
  return { reasons, changes: places.join('; '), ...(isCured && { cure: { repairs, edits } }) }
}

export function describeDrift({ label }: Client, { reasons, changes }: Drifted): string {
  const what = `${label}: ${reasons.join('; ')}`
  return changes === '' ? what : `${what} (${changes})`
}
