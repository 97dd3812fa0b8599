/**
 * What do a client's files say, and what keeps the client from using its gateway? The local checks of `status`
 * and `doctor`: without starting the client and without the network. Each type adds something to the one before it:
 *
 *     ClientState      what its files say                     client.read
 *     ClientFacts      its files, gateway and options         client-facts.ts
 *     ReadableClient   the findings, and who wrote its files  here
 *     CheckedClient    or why its files cannot be read        here
 *     ShownClient      the findings as they are shown         ../status/show-clients.ts
 *     ClientStatus     the gateway that it should use         ../status/client-status.ts
 */
import { configuredGateway } from '../../clients/checks/overrides.ts'
import type { Client, ClientContext } from '../../clients/contract/client.ts'
import type { LoadedFile } from '../../clients/contract/files.ts'
import { whyUnreadable } from '../../clients/contract/state.ts'
import { mayNeedNoKey } from '../../clients/files/addresses.ts'
import { UserError, valueOrError } from '../../errors.ts'
import { type Finding, type Findings, hasTopic } from '../../finding.ts'
import { baseUrlsOf, messagesBaseUrls } from '../../gateway/base-urls.ts'
import { isLoopback } from '../../gateway/input/local-host.ts'
import type { Gateway } from '../../gateway/types.ts'
import { caFileFor } from '../../state/saved-gateways.ts'
import type { Runs } from '../../transaction/record.ts'
import type { Session } from '../screen/session.ts'
import { checkFiles, contextOf } from './check-files.ts'
import { type ClientFacts, factsOf } from './client-facts.ts'
import { describeDrift, driftSinceSetup } from './drift.ts'
import { privacyFindings } from './file-permissions.ts'
import type { RecordedRuns } from './recorded-runs.ts'
import { type RecordedStatus, recordedStatusOf } from './written-files.ts'

export type CheckedClient =
  | ReadableClient
  | { readonly kind: 'unreadable'; readonly client: Client; readonly failure: UserError }

/** A client whose files were read and checked. */
export interface ReadableClient extends ClientFacts {
  readonly kind: 'readable'
  readonly findings: readonly Finding[]
  readonly recordedStatuses: readonly RecordedStatus[]
}

export function isReadable(checked: CheckedClient): checked is ReadableClient {
  return checked.kind === 'readable'
}

/**
 * Reads a client's files and checks them.
 *
 * @param isFixTried `doctor --fix` could make every fix already, so that no hint names it again
 */
export function checkClient(
  session: Session,
  client: Client,
  records: RecordedRuns,
  { isFixTried = false } = {},
): CheckedClient {
  const checked = valueOrError(() => readAndCheck(session, client, records, isFixTried))
  return checked instanceof UserError ? { kind: 'unreadable', client, failure: checked } : checked
}

/** @throws UserError as `readClientFiles` does */
function readAndCheck(
  session: Session,
  client: Client,
  records: RecordedRuns,
  isFixTried: boolean,
): ReadableClient {
  const facts = factsOf(session, client, records.runs)
  const isShown = ({ use, isOptional, bytes }: LoadedFile) =>
    use === 'editable' && !(isOptional && bytes === null)
  const recordedStatuses = facts.files
    .filter(isShown)
    .map((file) => recordedStatusOf(session, file, records))

  const context = contextOf(session, client, facts.files, records.runs)
  const configured = configuredGateway(facts.state)
  const found = checkFiles(session, client, context, { configured })
  const findings = [
    ...privacyFindings(session, facts),
    // A client at its own service works even if something would keep it from using a gateway.
    ...(configured === undefined ? errorsAsWarnings(found) : found),
  ]

  // The general checks read the findings so far, and do not report their topics again.
  const checked: ReadableClient = { kind: 'readable', ...facts, recordedStatuses, findings }
  findings.push(...unreadableFindings(checked, isFixTried))
  findings.push(...missingKeyFindings(session, checked, context))
  findings.push(...driftFindings(session, checked, records.runs))
  return checked
}

function errorsAsWarnings(findings: readonly Finding[]): readonly Finding[] {
  return findings.map((finding) =>
    finding.severity === 'error' ? { ...finding, severity: 'warning' } : finding,
  )
}

/** Reports that the client cannot read its files, if its own check does not say why. */
function* unreadableFindings(
  { client, state, recordedStatuses, findings }: ReadableClient,
  isFixTried: boolean,
): Findings {
  const broken = whyUnreadable(state)
  if (broken === undefined || hasTopic('broken', findings)) return

  const hints = ['Fix the file']
  if (!isFixTried && findings.some(({ fix }) => fix?.removesSyntax))
    hints.push(`repoint doctor ${client.family} --fix --yes`)
  if (recordedStatuses.some(({ run }) => run !== undefined))
    hints.push(`restore an earlier version: repoint rollback ${client.family} --force`)
  yield { code: 'broken', severity: 'error', message: broken, hint: hints.join(', or ') }
}

/** Reports that the client has a gateway and no key, if its own check does not say so. */
function* missingKeyFindings(
  { platform }: Session,
  { client, state, gateway, findings }: ReadableClient,
  context: ClientContext,
): Findings {
  if (gateway === undefined || whyUnreadable(state) !== undefined) return
  const { baseUrl, key } = state.endpoint
  if (key || mayNeedNoKey(baseUrl, context) || hasTopic('key-missing', findings)) return
  yield missingKey(client, gateway, caFileFor(platform, gateway.address, undefined))
}

/** @param caFile the file of authorities that a command must name to reach the gateway */
export function missingKey(client: Client, gateway: Gateway, caFile: string | undefined): Finding {
  return {
    code: 'key-missing',
    severity: 'error',
    message: `${client.label} points at ${gateway.address} and has no key`,
    hint: setupAgain(client, gateway, caFile),
    topic: 'key-missing',
  }
}

/** Reports what others changed since the last setup. `doctor --fix` does not accept such changes. */
function* driftFindings(session: Session, checked: ReadableClient, runs: Runs): Findings {
  const { client } = checked
  const drift = driftSinceSetup(session, checked, runs)
  if (drift === undefined) return

  const hint = drift.restore
    ? `Restore the setup: repoint doctor ${client.family} --fix --yes. Or set it up again: repoint ${client.id}`
    : `Set it up again: repoint ${client.id}`
  yield { code: 'drifted', severity: 'warning', message: describeDrift(client, drift), hint }
}

/** The command that sets a client up at its gateway again. */
export function setupAgain({ id }: Client, gateway: Gateway, caFile: string | undefined): string {
  return `repoint ${id} ${flagsToReach(gateway, caFile)}`
}

/** The flags with which a command reaches a gateway in the same way. */
export function flagsToReach(gateway: Gateway, caFile: string | undefined): string {
  const { address } = gateway
  const { messages } = baseUrlsOf(gateway)
  const isMessagesDefault = messagesBaseUrls(address).includes(messages)
  return [
    `--base-url ${address}`,
    ...(isMessagesDefault ? [] : [`--messages-url ${messages}`]),
    ...(needsAllowHttp(address) ? ['--allow-http'] : []),
    ...(caFile === undefined ? [] : [`--ca-file ${asWord(caFile)}`]),
  ].join(' ')
}

/** Quotes a path if a shell would not read it as one word. */
function asWord(path: string): string {
  return /^[\w./:\\@+-]+$/.test(path) ? path : `"${path}"`
}

/** Whether the address is plain http to another machine, which a setup accepts only with `--allow-http`. */
function needsAllowHttp(address: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined
  return url?.protocol === 'http:' && !isLoopback(url.hostname)
}
