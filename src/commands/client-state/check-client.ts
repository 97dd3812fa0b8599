/**
 * What keeps a client from using its gateway? The local checks of every command, so that all report the same
 * problems. None of them sends a request.
 * `gateway-checks.ts` has doctor's checks over the network.
 */
import {
  type ConfiguredGateway,
  configuredGateway,
  overrideFindings,
} from '../../clients/checks/overrides.ts'
import type { Client, ClientContext } from '../../clients/contract/client.ts'
import type { LoadedFile, LoadedFiles } from '../../clients/contract/files.ts'
import type { SetupTarget } from '../../clients/contract/setup.ts'
import { whyUnreadable } from '../../clients/contract/state.ts'
import { mayNeedNoKey } from '../../clients/files/addresses.ts'
import { textOf } from '../../clients/files/parse-file.ts'
import { UserError } from '../../errors.ts'
import { type Finding, type Findings, hasTopic, messageWithLocation } from '../../finding.ts'
import { baseUrlsOf, messagesBaseUrls } from '../../gateway/base-urls.ts'
import { isLoopback } from '../../gateway/input/local-host.ts'
import type { Gateway } from '../../gateway/types.ts'
import { rememberedModels } from '../../state/remembered.ts'
import { caFileFor } from '../../state/saved-gateways.ts'
import type { Runs } from '../../transaction/record.ts'
import type { Session } from '../screen/session.ts'
import { readShellProfiles, worldWritablePaths } from './client-files.ts'
import { type ClientReport, writtenBaseUrls } from './client-report.ts'
import { describeDrift, driftSinceSetup } from './drift.ts'
import { folderSettings } from './folder-settings.ts'
import type { FileReport } from './written-files.ts'

/** What repoint's records say about a client's files. */
export interface RecordedFiles {
  readonly fileStates: readonly FileReport[]
  /** Absent: the records cannot be read. */
  readonly runs: Runs | undefined
  /** `doctor --fix` has run already, so that no hint names it again. */
  readonly isFixTried: boolean
}

/** Everything that `status` and `doctor` check. A general check comes after the specific ones about its topic. */
export function checkClient(
  session: Session,
  report: ClientReport,
  context: ClientContext,
  recorded: RecordedFiles,
): readonly Finding[] {
  const { client, state } = report
  const configured = configuredGateway(state)
  const found = checkFiles(session, client, context, { configured })
  const findings = [
    ...privacyFindings(session, report),
    // A client at its own service works even if something would keep it from using a gateway.
    ...(configured === undefined ? errorsAsWarnings(found) : found),
  ]

  findings.push(...unreadableFindings(report, recorded, findings))
  findings.push(...missingKeyFindings(session, report, context, findings))
  findings.push(...driftFindings(session, report, recorded, findings))
  return findings
}

/**
 * Reports what would keep a client from using a gateway: in its files, its environment and the folder.
 *
 * @param target what a setup is about to write. Absent: nothing, so that the files are checked as they are
 * @param configured the gateway that the client uses, or will use. Undefined: its own service, so that
 *   overrides are the user's business
 */
export function checkFiles(
  session: Session,
  client: Client,
  context: ClientContext,
  {
    target,
    configured,
  }: {
    readonly target?: SetupTarget
    readonly configured: ConfiguredGateway | undefined
  },
): readonly Finding[] {
  const overrides = configured ? overrideFindings(client, context.files, configured) : []
  return [
    ...(target ? client.checkSetup(context, target) : client.checkNow(context)),
    ...overrides,
    ...(configured ? folderSettings(session, client) : []),
    ...worldWritablePaths(session, context.files),
  ]
}

/**
 * Reports what keeps `repoint run` from starting a client. It sets the address, the key, the provider and the
 * model itself, so that only a file that the client cannot read is still a problem. That is a warning, because
 * some clients start without the file.
 */
export function checkFilesForLaunch(
  session: Session,
  client: Client,
  context: ClientContext,
): readonly Finding[] {
  const unreadable = [...client.checkNow(context)].filter(({ topic }) => topic === 'broken')
  return [
    ...unreadable.map((finding) => ({ ...finding, severity: 'warning' as const })),
    ...worldWritablePaths(session, context.files),
  ]
}

function errorsAsWarnings(findings: readonly Finding[]): readonly Finding[] {
  return findings.map((finding) =>
    finding.severity === 'error' ? { ...finding, severity: 'warning' } : finding,
  )
}

function* privacyFindings(session: Session, report: ClientReport): Findings {
  for (const { file, what, mode, isOpen } of secretFiles(session, report)) {
    const { path } = file
    if (!isOpen) yield { code: 'private', severity: 'ok', message: `${path} is private` }
    else
      yield {
        code: 'private',
        severity: 'error',
        message: `Other users can read ${path}, which contains ${what} (mode ${mode.toString(8)})`,
        hint: `chmod 600 ${path} (or: repoint doctor ${report.client.family} --fix)`,
      }
  }
}

/** Reports that the client cannot read its files, if its own check does not say why. */
function* unreadableFindings(
  { client, state }: ClientReport,
  { fileStates, isFixTried }: RecordedFiles,
  earlier: readonly Finding[],
): Findings {
  const broken = whyUnreadable(state)
  if (broken === undefined || hasTopic('broken', earlier)) return

  const hints = ['Fix the file']
  if (!isFixTried && earlier.some(({ fix }) => fix?.toStrictJson))
    hints.push(`repoint doctor ${client.family} --fix --yes`)
  if (fileStates.some(({ run }) => run !== undefined))
    hints.push(`restore an earlier version: repoint rollback ${client.family} --force`)
  yield { code: 'broken', severity: 'error', message: broken, hint: hints.join(', or ') }
}

/** Reports that the client has a gateway and no key, if its own check does not say so. */
function* missingKeyFindings(
  { platform }: Session,
  { client, state, gateway }: ClientReport,
  context: ClientContext,
  earlier: readonly Finding[],
): Findings {
  if (gateway === undefined || whyUnreadable(state) !== undefined) return
  const { baseUrl, key } = state.endpoint
  if (key || mayNeedNoKey(baseUrl, context) || hasTopic('key-missing', earlier)) return
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
function* driftFindings(
  session: Session,
  report: ClientReport,
  { runs }: RecordedFiles,
  earlier: readonly Finding[],
): Findings {
  const { client } = report
  const drift = runs && driftSinceSetup(session, { ...report, findings: earlier }, runs)
  if (drift === undefined) return

  const hint = drift.restore
    ? `Restore the setup: repoint doctor ${client.family} --fix --yes. Or set it up again: repoint ${client.id}`
    : `Set it up again: repoint ${client.id}`
  yield { code: 'drifted', severity: 'warning', message: describeDrift(client, drift), hint }
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
  { state, files }: ClientReport,
): readonly SecretFile[] {
  if (platform.machine.os === 'win32') return []

  const { headers = [] } = state.endpoint
  const secrets = headers.filter(({ isSecret }) => isSecret).map(({ value }) => value)
  return files.flatMap((file): SecretFile[] => {
    const hasKey = file.path === state.sources.key
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

export function contextOf(
  session: Session,
  client: Client,
  files: LoadedFiles,
  runs: Runs,
): ClientContext {
  return {
    files,
    machine: session.platform.machine,
    writtenBaseUrls: writtenBaseUrls(client, runs),
    // These read files, and few checks need them.
    get knownModels() {
      return rememberedModels(session.platform)
    },
    get shellProfiles() {
      return readShellProfiles(session)
    },
    world: session.platform,
  }
}

/** @throws UserError `config-conflict` if a file of this folder sends the key elsewhere */
export function refuseRedirectedKey(
  { label }: Pick<Client, 'label'>,
  findings: readonly Finding[],
): void {
  const redirect = findings.find(({ topic }) => topic === 'redirected-key')
  if (redirect === undefined) return
  throw new UserError({
    code: 'config-conflict',
    message: `${label} would not use the gateway here: ${messageWithLocation(redirect)}`,
    hint: 'Run the command in another folder, such as your home, or remove that setting from the file.',
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
