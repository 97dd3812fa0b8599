/**
 * One list of local checks for every command, so that all report the same problems. None of them sends a
 * request. `gateway-checks.ts` has doctor's checks over the network.
 */
import { type ConfiguredGateway, overrideFindings } from '../../clients/checks/overrides.ts'
import type { Client, ClientContext } from '../../clients/contract/client.ts'
import type { LoadedFile, LoadedFiles } from '../../clients/contract/files.ts'
import type { SetupTarget } from '../../clients/contract/setup.ts'
import { type Endpoint, whyUnreadable } from '../../clients/contract/state.ts'
import { mayNeedNoKey } from '../../clients/files/addresses.ts'
import { textOf } from '../../clients/files/read-file.ts'
import { sendingFindings } from '../../clients/plan/headers.ts'
import { errorFrom, type Finding, type Findings, hasCause } from '../../finding.ts'
import type { Gateway, GatewayAccess } from '../../gateway/types.ts'
import { caFileFor } from '../../state/find-gateways.ts'
import type { Runs } from '../../transaction/record.ts'
import type { Session } from '../screen/session.ts'
import { certificateFindings } from './certificates.ts'
import { describeDrift, driftSince } from './drift.ts'
import { worldWritablePaths } from './files.ts'
import { folderSettings } from './folder-settings.ts'
import { type ProgramVersion, versionFindings } from './program/program.ts'
import { setupAgain } from './setup-again.ts'
import type { ClientReport } from './state.ts'
import type { FileState } from './written.ts'

/** What a client is checked for. A check that needs an absent member is skipped. */
export interface CheckInput {
  readonly session: Session
  readonly client: Client
  /**
   * `now` reports what is wrong now. `setup` and `run` report what would keep the client from using the
   * gateway after that command.
   */
  readonly purpose: 'now' | 'setup' | 'run'
  /** The installed program. */
  readonly program?: ProgramVersion
  /** What each request to the gateway must contain. */
  readonly access?: Pick<GatewayAccess, 'headers' | 'query' | 'keyHeader'>
  /** The certificate authorities that the client's files name, and those of the gateway. */
  readonly trust?: Pick<Endpoint, 'caFile'> & { readonly gatewayCaFile: string | undefined }
  readonly context?: ClientContext
  /** What a setup is about to write. */
  readonly target?: SetupTarget
  /** The files that may override the client's own. Absent: those of `context`. */
  readonly layers?: LoadedFiles
  /** The address that the client uses, or will use. Absent: its own service. */
  readonly configured?: ConfiguredGateway
  /** The folders where it starts. Absent: the working folder. */
  readonly folders?: readonly string[]
  readonly report?: RecordedReport
}

/** A client's report, and what repoint's records say about its files. */
export interface RecordedReport extends ClientReport {
  readonly fileStates: readonly FileState[]
  /** Absent: the records cannot be read. */
  readonly runs: Runs | undefined
  /** `doctor --fix` has run already, so that no hint names it again. */
  readonly isFixTried: boolean
}

/** @param earlier the findings of the checks before it */
type Check = (input: CheckInput, earlier: readonly Finding[]) => Findings

/** In the order of a report. A general check comes after the specific ones with the same cause. */
const checks: readonly Check[] = [
  checkVersion,
  ({ client, access }) => (access ? sendingFindings(client, access) : []),
  checkTrust,
  checkPrivacy,
  checkByClient,
  checkOverrides,
  checkFolder,
  checkPermissions,
  checkReadable,
  checkKey,
  checkDrift,
]

/** Runs every check that the input allows. */
export function checkClient(input: CheckInput): readonly Finding[] {
  const findings: Finding[] = []
  for (const check of checks) findings.push(...check(input, findings))
  return findings
}

function checkVersion({ client, purpose, program }: CheckInput): Findings {
  return program ? versionFindings(client, program, purpose === 'run' ? 'run' : 'setup') : []
}

function checkTrust({ session, client, trust }: CheckInput): Findings {
  return trust ? certificateFindings(session, client, trust, trust.gatewayCaFile) : []
}

function* checkPrivacy({ session, client, report }: CheckInput): Findings {
  if (report === undefined) return
  for (const { file, what, mode, isOpen } of secretFiles(session, report)) {
    const { path } = file
    if (!isOpen) yield { code: 'private', severity: 'ok', message: `${path} is private` }
    else
      yield {
        code: 'private',
        severity: 'error',
        message: `Other users can read ${path}, which contains ${what} (mode ${mode.toString(8)})`,
        hint: `chmod 600 ${path} (or: repoint doctor ${client.family} --fix)`,
      }
  }
}

function checkByClient({ client, context, target, ...input }: CheckInput): Findings {
  if (context === undefined) return []
  const findings = client.check(context, target)
  if (input.purpose === 'run') return unreadableFilesAsWarnings(findings)
  return atOwnServiceAsWarnings(findings, input)
}

/**
 * `repoint run` sets the address, the key, the provider and the model itself, so that only a file that the
 * client cannot read is still a problem. It is a warning, because some clients start without that file.
 */
function* unreadableFilesAsWarnings(findings: Findings): Findings {
  for (const finding of findings)
    if (finding.cause === 'broken') yield { ...finding, severity: 'warning' }
}

function checkOverrides({
  client,
  context,
  layers = context?.files,
  configured,
}: CheckInput): Findings {
  return configured && layers ? overrideFindings(client, layers, configured) : []
}

function checkFolder({ session, client, configured, folders }: CheckInput): Findings {
  return configured ? folderSettings(session, client, folders) : []
}

function checkPermissions({ session, context, ...input }: CheckInput): Findings {
  return context ? atOwnServiceAsWarnings(worldWritablePaths(session, context.files), input) : []
}

/** A client at its own service works even if something would keep it from using a gateway. */
function atOwnServiceAsWarnings(
  findings: Findings,
  { purpose, configured }: Pick<CheckInput, 'purpose' | 'configured'>,
): Findings {
  if (purpose !== 'now' || configured !== undefined) return findings
  return [...findings].map((finding) =>
    finding.severity === 'error' ? { ...finding, severity: 'warning' } : finding,
  )
}

/** Reports that the client cannot read its files, if its own check does not say why. */
function* checkReadable({ client, report }: CheckInput, earlier: readonly Finding[]): Findings {
  const broken = report && whyUnreadable(report.state)
  if (broken === undefined || hasCause('broken', earlier)) return

  const hints = ['Fix the file']
  if (!report!.isFixTried && earlier.some(({ fix }) => fix?.toStrictJson))
    hints.push(`repoint doctor ${client.family} --fix --yes`)
  if (report!.fileStates.some(({ run }) => run !== undefined))
    hints.push(`restore an earlier version: repoint rollback ${client.family} --force`)
  yield { code: 'broken', severity: 'error', message: broken, hint: hints.join(', or ') }
}

/** Reports that the client has a gateway and no key, if its own check does not say so. */
function checkKey(
  { session, client, context, report }: CheckInput,
  earlier: readonly Finding[],
): Findings {
  if (report?.gateway === undefined || context === undefined) return []
  const { baseUrl, key } = report.state.endpoint
  if (key || mayNeedNoKey(baseUrl, context) || hasCause('key-missing', earlier)) return []
  if (whyUnreadable(report.state) !== undefined) return []

  return [
    missingKey(
      client,
      report.gateway,
      caFileFor(session.platform, report.gateway.baseUrl, undefined),
    ),
  ]
}

/** @param caFile the file of authorities that a command must name to reach the gateway */
export function missingKey(client: Client, gateway: Gateway, caFile: string | undefined): Finding {
  return {
    code: 'key-missing',
    severity: 'error',
    message: `${client.label} points at ${gateway.baseUrl} and has no key`,
    hint: setupAgain(client, gateway, caFile),
    cause: 'key-missing',
  }
}

/** Reports what others changed since the last setup. `doctor --fix` does not accept such changes. */
function* checkDrift(
  { session, client, report }: CheckInput,
  earlier: readonly Finding[],
): Findings {
  const drift = report?.runs && driftSince(session, { ...report, findings: earlier }, report.runs)
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

/** Whether a finding keeps a setup from working, and nothing that the setup does removes it. */
export function blocksSetup({ severity, fix, consent }: Finding): boolean {
  return severity === 'error' && !fix && !consent
}

/** @throws UserError for the first finding that blocks the client */
export function refuseBlocked(findings: readonly Finding[]): void {
  const problem = findings.find(blocksSetup)
  if (problem !== undefined) throw errorFrom(problem)
}
