/** What is a client now, and what keeps it from working? Every command that shows or starts a client asks here. */
import { originFinding } from '../../clients/checks/other-tools.ts'
import { configuredGateway } from '../../clients/checks/overrides.ts'
import type { Client } from '../../clients/contract/client.ts'
import { emptyState, inEnvironment, whyUnreadable } from '../../clients/contract/state.ts'
import { mayNeedNoKey } from '../../clients/files/addresses.ts'
import { parseFile } from '../../clients/files/parse-file.ts'
import { errorFrom, findingFrom, UserError, valueOrError } from '../../errors.ts'
import { type Finding, type Findings, hasTopic } from '../../finding.ts'
import { baseUrlsOf, messagesBaseUrls } from '../../gateway/base-urls.ts'
import { isLoopback } from '../../gateway/input/local-host.ts'
import type { Gateway } from '../../gateway/types.ts'
import type { SavedGateway } from '../../state/gateway-list.ts'
import { caFileFor } from '../../state/saved-gateways.ts'
import type { Runs } from '../../transaction/record.ts'
import type { Session } from '../screen/session.ts'
import { checkFiles, contextOf } from './check-files.ts'
import {
  activeSetup,
  type ClientNow,
  configuredOptions,
  gatewayOf,
  isSetUpByRepoint,
  oneClientPerFamily,
  originOf,
} from './client-facts.ts'
import { readClientFiles } from './client-files.ts'
import { describeDrift, driftSinceSetup, gatewayOfLastSetup } from './drift.ts'
import { privacyFindings } from './file-permissions.ts'
import { leftKeyFindings } from './known-keys.ts'

/** Reads a client's files. Never throws: a file that repoint cannot read is a finding. */
export function clientNow(session: Session, client: Client, runs: Runs): ClientNow {
  const files = valueOrError(() => readClientFiles(session, client))
  if (files instanceof UserError) return unreadable(client, files)

  const state = inEnvironment(client.read(files), session.platform.machine.env)
  const facts = {
    client,
    files,
    state,
    gateway: gatewayOf(session, client, state, runs),
    options: configuredOptions(client, state, runs),
    isSetUpByRepoint: isSetUpByRepoint(client, state, runs),
    origin: originOf(session, { client, files, state }, runs),
  }
  let findings: readonly Finding[] | undefined
  return {
    ...facts,
    get findings() {
      findings ??= judge(session, facts, runs)
      return findings
    },
  }
}

function unreadable(client: Client, error: UserError): ClientNow {
  const findings: readonly Finding[] = [{ ...findingFrom(error), topic: 'broken' }]
  return {
    client,
    files: [],
    state: { ...emptyState, findings },
    gateway: undefined,
    options: {},
    isSetUpByRepoint: false,
    origin: undefined,
    findings,
  }
}

/** One client of each family. */
export async function clientsNow(session: Session, runs: Runs): Promise<readonly ClientNow[]> {
  const clients = await oneClientPerFamily(session, runs)
  return clients.map((client) => clientNow(session, client, runs))
}

/** The clients that use a saved gateway. */
export function usersOf(
  { name }: Pick<SavedGateway, 'name'>,
  clients: readonly ClientNow[],
): readonly ClientNow[] {
  return clients.filter(({ gateway }) => gateway?.name === name)
}

type ClientFacts = Omit<ClientNow, 'findings'>

/** The only judgement of a client as it is. A general check does not report a topic that an earlier one has reported. */
function judge(session: Session, facts: ClientFacts, runs: Runs): readonly Finding[] {
  const { client, files, state } = facts
  const context = contextOf(session, client, files, runs)
  const configured = configuredGateway(state)
  const found = [
    ...privacyFindings(session, facts),
    ...checkFiles(session, client, context, { configured }),
  ]
  const findings = [...(configured === undefined ? atOwnService(found) : found)]

  const now: ClientNow = { ...facts, findings }
  findings.push(...unreadableFindings(now, runs))
  findings.push(...missingKeyFindings(session, now, runs))
  findings.push(...driftFindings(session, now, runs))
  findings.push(...leftKeyFindings(session, now, runs))
  if (facts.origin !== undefined && !hasTopic('other-tool', findings))
    findings.push(originFinding(facts.origin))
  return findings
}

/** A client at its own service works even if something would keep it from using a gateway, unless it does not start. */
function atOwnService(findings: readonly Finding[]): readonly Finding[] {
  const works = ({ severity, topic }: Finding) =>
    severity === 'error' && topic !== 'broken' && topic !== 'unwritable'
  return findings.map((finding) => (works(finding) ? { ...finding, severity: 'warning' } : finding))
}

/** Reports that the client cannot read its files, if its own check does not say why. */
function* unreadableFindings({ client, files, state, findings }: ClientNow, runs: Runs): Findings {
  const broken = whyUnreadable(state)
  if (broken === undefined || hasTopic('broken', findings)) return

  const reason = state.findings.find(({ topic, hint }) => topic === 'broken' && hint !== undefined)
  if (reason !== undefined) {
    yield reason
    return
  }

  const isRecorded = runs.some((run) =>
    run.files.some(({ path }) => files.some((file) => file.path === path)),
  )
  const restore = `, or restore an earlier version: repoint rollback ${client.family} --force`
  const hint = `Fix the file${isRecorded ? restore : ''}`
  yield { code: 'broken', severity: 'error', message: broken, hint, topic: 'broken' }
}

/** Reports that the client has a gateway and no key, if its own check does not say so. */
function* missingKeyFindings(
  session: Session,
  { client, files, state, gateway, findings }: ClientNow,
  runs: Runs,
): Findings {
  if (gateway === undefined || whyUnreadable(state) !== undefined) return
  const { baseUrl, key, keyFrom } = state.endpoint
  if (key || keyFrom === 'elsewhere' || hasTopic('key-missing', findings)) return
  if (mayNeedNoKey(baseUrl, contextOf(session, client, files, runs))) return
  yield {
    code: 'key-missing',
    severity: 'error',
    message: `${client.label} points at ${gateway.address} and has no key`,
    hint: setupAgain(client, gateway, caFileFor(session.platform, gateway.address, undefined)),
    topic: 'key-missing',
  }
}

/**
 * Reports what others changed since the last setup. `doctor --fix` does not accept such changes. In a file that nobody
 * can edit or replace, they are not the cause.
 */
function* driftFindings(session: Session, now: ClientNow, runs: Runs): Findings {
  const { client, state } = now
  const isEditable =
    !hasTopic('unwritable', now.findings) &&
    !(valueOrError(() => expectEditable(now)) instanceof UserError)
  const drift = isEditable ? driftSinceSetup(session, now, runs) : undefined
  if (drift === undefined) return

  // A setup keeps what the files have: also a wrong key.
  const expected = gatewayOfLastSetup(session, now, runs)
  const { key } = state.endpoint
  const isOtherKey = key !== undefined && expected?.isKey?.(key) === false
  const setup =
    isOtherKey && expected?.name !== undefined
      ? `repoint use ${expected.name} ${client.id}`
      : `repoint ${client.id}`
  const hint = drift.restore
    ? `Restore the setup: repoint doctor ${client.family} --fix --yes. Another setup accepts the changes.`
    : `Set it up again: ${setup}`
  yield { code: 'drifted', severity: 'warning', message: describeDrift(client, drift), hint }
}

/**
 * Stops a command that edits the files of a client before it does anything else.
 *
 * @throws UserError for a file that cannot be read or parsed: it does not say where the client points
 */
export function expectEditable({ client, files, state, findings }: ClientNow): void {
  const [unread] = files.length === 0 ? state.findings : []
  if (unread !== undefined) throw errorFrom(unread)

  for (const file of files) {
    const { error } = parseFile(file)
    if (file.use !== 'editable' || error === undefined) continue
    const reason = findings.find(
      ({ location, severity }) => severity === 'error' && location?.startsWith(file.path),
    )
    throw errorFrom(
      reason ?? {
        code: 'config-invalid',
        severity: 'error',
        message: `Cannot tell where ${client.label} points: ${error.message}`,
        hint: 'Fix that file, then run this again.',
      },
    )
  }
}

/** The clients that repoint has set up, and those of them whose files cannot be read now. */
export async function clientsSetUp(
  session: Session,
  runs: Runs,
): Promise<{ readonly setUp: readonly ClientNow[]; readonly skipped: readonly ClientNow[] }> {
  const clients = await clientsNow(session, runs)
  const isSkipped = ({ client, state }: ClientNow) =>
    state.endpoint.baseUrl === undefined &&
    whyUnreadable(state) !== undefined &&
    activeSetup(client, runs) !== undefined
  return {
    setUp: clients.filter((now) => now.isSetUpByRepoint),
    skipped: clients.filter((now) => !now.isSetUpByRepoint && isSkipped(now)),
  }
}

const fixHint = 'Fix the file, then run the command again.'

export function reportSkipped(session: Session, skipped: readonly ClientNow[]): void {
  for (const { client, state } of skipped) {
    const message = `Skipped ${client.label}: it cannot read ${whyUnreadable(state)}`
    session.addFindings({ code: 'client-left-out', severity: 'warning', message, hint: fixHint })
  }
}

/** Why a client is not among those that are set up: its files cannot be read, or `otherwise`. */
export function whyNotSetUp(
  [broken]: readonly ClientNow[],
  otherwise: { readonly message: string; readonly hint: string },
): UserError {
  if (broken === undefined) return new UserError({ code: 'usage', ...otherwise })
  const { client, state } = broken
  return new UserError({
    code: 'config-invalid',
    message: `Cannot tell where ${client.label} points: ${whyUnreadable(state)}`,
    hint: fixHint,
  })
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
