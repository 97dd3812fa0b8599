/** Which keys does repoint know, and which of them are in a client's files without their gateway? */
import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import { invalidAddressCode, shownUrl } from '../../clients/files/addresses.ts'
import {
  findKnownKeys,
  isAtItsGateway,
  type KeyPlace,
  type KnownKey,
  keysIn,
} from '../../clients/files/known-keys.ts'
import { parseFile } from '../../clients/files/parse-file.ts'
import { documentOf } from '../../edits/format.ts'
import { isWholeFile } from '../../edits/types.ts'
import type { Finding, Severity } from '../../finding.ts'
import { baseUrlsOf } from '../../gateway/base-urls.ts'
import type { Gateway } from '../../gateway/types.ts'
import { savedGatewaysIfReadable } from '../../state/saved-gateways.ts'
import {
  gatewaysIn,
  isUndoOrRedo,
  type RecordedFile,
  type RunRecord,
  type Runs,
} from '../../transaction/record.ts'
import { contentsIfAvailable } from '../../transaction/records/blobs.ts'
import type { Session } from '../screen/session.ts'
import { type ClientNow, runsOf } from './client-facts.ts'
import { asBefore } from './client-files.ts'

/** The keys that repoint saved, or wrote into any client's files. */
export function knownKeys(session: Session, runs: Runs): readonly KnownKey[] {
  return mergeKeys([...savedGatewaysIfReadable(session).map(keyOf), ...keysOfRuns(session, runs)])
}

/** A gateway's key. */
function keyOf({ key = '', ...gateway }: Gateway): KnownKey {
  const { address } = gateway
  const { chat, messages } = baseUrlsOf(gateway)
  return { key, addresses: [address, chat, messages] }
}

/** Each key once, with the addresses of all its gateways. */
function mergeKeys(all: readonly KnownKey[]): readonly KnownKey[] {
  const byKey = new Map<string, readonly string[]>()
  for (const { key, addresses } of all)
    byKey.set(key, [...new Set([...(byKey.get(key) ?? []), ...addresses])])
  return [...byKey].map(([key, addresses]) => ({ key, addresses }))
}

/** The keys that runs wrote, as far as their copies are there. */
export function keysOfRuns(session: Session, runs: Runs): readonly KnownKey[] {
  return mergeKeys(
    runs.flatMap((run) => run.files.flatMap((file) => keysWritten(session, run, file))),
  )
}

/** A cache of the keys in recorded files, which do not change. */
const keysByFile = new WeakMap<RecordedFile, readonly KnownKey[]>()

/** The keys that a run wrote into one of its files. */
function keysWritten(
  { platform }: Session,
  run: RunRecord,
  file: RecordedFile,
): readonly KnownKey[] {
  const cached = keysByFile.get(file)
  if (cached !== undefined) return cached

  const settings =
    isUndoOrRedo(run) || run.kind === 'off'
      ? []
      : file.settings.filter(({ role, isSecret }) => role === 'key' && isSecret)
  const document =
    settings.length === 0
      ? undefined
      : documentOf(file, contentsIfAvailable(platform, file.written))
  const addresses = gatewaysIn(file, run).flatMap((gateway) => keyOf(gateway).addresses)
  const keys = settings.flatMap(({ path }) => {
    const value = document?.get(path)
    return typeof value === 'string' ? secretsIn(value).map((key) => ({ key, addresses })) : []
  })
  keysByFile.set(file, keys)
  return keys
}

/** The key in a setting: the whole text, or the values of the headers in its lines. */
function secretsIn(text: string): readonly string[] {
  return text.split('\n').map((line) => line.replace(/^(?:[\w-]+:\s+)?(?:Bearer\s+)?/i, ''))
}

/** The known keys that do not belong to a client's own service, with those of the gateway that it uses now. */
export function keysOfGateways(
  session: Session,
  client: Client,
  files: LoadedFiles,
  runs: Runs,
): readonly KnownKey[] {
  const { key, baseUrl } = client.read(files).endpoint
  const inUse = keysIn(client, files, client.gatewaySettings(files))
  const addresses = baseUrl === undefined ? [] : [baseUrl]
  const left = [...(baseUrl && key ? [key] : []), ...inUse].map((used) => ({
    key: used,
    addresses,
  }))

  return mergeKeys([...knownKeys(session, runs), ...left]).filter(
    (known) => !isUsersOwn(session, { client, files }, { runs, known, baseUrl: undefined }),
  )
}

/** The known keys in a client's files that are not there for their gateway. */
export function keysLeft(
  session: Session,
  checked: Pick<ClientNow, 'client' | 'files' | 'state'>,
  runs: Runs,
): readonly KeyPlace[] {
  const { client, files, state } = checked
  // A file that cannot be parsed may have the address.
  if (files.some((file) => parseFile(file).error !== undefined)) return []

  const { baseUrl } = state.endpoint
  return findKnownKeys(client, files, knownKeys(session, runs)).filter(
    (place) =>
      !isAtItsGateway(client, files, state, place) &&
      !isUsersOwn(session, checked, { runs, known: place.known, baseUrl }),
  )
}

/** Whether a client had the key at this address before repoint first wrote the key into its files. */
function isUsersOwn(
  session: Session,
  { client, files }: Pick<ClientNow, 'client' | 'files'>,
  {
    runs,
    known,
    baseUrl,
  }: { readonly runs: Runs; readonly known: KnownKey; readonly baseUrl: string | undefined },
): boolean {
  const first = runsOf(client, runs).findLast((run) =>
    run.files.some((file) => keysWritten(session, run, file).some(({ key }) => key === known.key)),
  )
  if (first === undefined) return false

  const before = asBefore(session, files, [first])
  const recorded = before.filter(({ path }) => first.files.some((file) => file.path === path))
  return (
    findKnownKeys(client, recorded, [known]).length > 0 &&
    client.read(before).endpoint.baseUrl === baseUrl
  )
}

const leftKeyCode = 'client-key-left'

/** Reports the keys that are in a client's files without their gateway. */
export function leftKeyFindings(
  session: Session,
  checked: ClientNow,
  runs: Runs,
): readonly Finding[] {
  // The address may be the gateway's, mistyped.
  if (checked.state.findings.some(({ code }) => code === invalidAddressCode)) return []
  return keysLeft(session, checked, runs).map((place) => describePlace(session, checked, place))
}

/** Reports the keys in a client's files that `forget` would no longer find. */
export function forgottenKeyFindings(
  session: Session,
  checked: ClientNow,
  known: readonly KnownKey[],
): readonly Finding[] {
  const { client, files, state } = checked
  return findKnownKeys(client, files, known)
    .filter((place) => !isInUse(checked, place) || !isAtItsGateway(client, files, state, place))
    .map((place) => describePlace(session, checked, place, 'warning'))
}

function isInUse({ state }: ClientNow, { known }: KeyPlace): boolean {
  return state.endpoint.key === known.key
}

function describePlace(
  session: Session,
  checked: ClientNow,
  place: KeyPlace,
  severity: Severity = 'error',
): Finding {
  const { client, state } = checked
  const { file, path, known } = place
  session.hide(known.key)

  const [address] = known.addresses
  const gateway = address === undefined ? 'another gateway' : shownUrl(address)
  const { baseUrl } = state.endpoint
  const where = baseUrl === undefined ? 'its own service' : shownUrl(baseUrl)
  return {
    code: leftKeyCode,
    severity,
    message: isInUse(checked, place)
      ? `${client.label} uses the key of ${gateway} at ${where}`
      : `${client.label} does not use ${gateway}, and still has its key`,
    location: isWholeFile(path) ? file.path : parseFile(file).place(path),
    hint:
      file.use === 'editable'
        ? `Remove it: repoint off ${client.family}`
        : 'Remove it from that file, which repoint does not edit.',
  }
}
