import { type Client, type LoadedFile, whyUnreadable } from '../../clients/client.ts'
import { isBefore } from '../../clients/tested.ts'
import { compact } from '../../compact.ts'
import { resultOf, UserError } from '../../errors.ts'
import { type Finding, findingFrom, hasCause } from '../../finding.ts'
import type { Runs } from '../../transaction/record.ts'
import { type Drifted, driftSince } from '../client-state/drift.ts'
import { expectWorking, type InstalledProgram, versionFindings } from '../client-state/program.ts'
import type { ClientStatus } from '../client-state/state.ts'
import type { Consent, Session } from '../screen/session.ts'

export interface CheckResult extends Finding {
  /** The client's family, or `machine`. Absent: the client that was checked. */
  readonly about?: string
  /** The message in a few words, for the line of its client or gateway. */
  readonly brief?: string
  /** The result is the same for every client of the gateway, and is shown once. */
  readonly isOfGateway?: true
  /** The client has neither a program nor a setup on this machine. */
  readonly isAbsent?: true
}

/** A client's state, and its program on this machine. */
export interface Examined extends ClientStatus, InstalledProgram {
  readonly isInstalled: boolean
}

interface Circumstances {
  /** The fixes were applied, with this consent. */
  readonly fixing?: Consent | undefined
  /** Absent: the records cannot be read. */
  readonly runs?: Runs | undefined
}

type FileCheck = (
  session: Session,
  state: ClientStatus,
  circumstances: Circumstances,
) => Iterable<CheckResult>

/** The checks that need neither the network nor the client's program. `status` runs them too. */
export function checkFiles(...given: Parameters<FileCheck>): readonly CheckResult[] {
  return fileChecks.flatMap((check) => [...check(...given)])
}

/** In the order in which they are shown. */
const fileChecks: readonly FileCheck[] = [checkBroken, checkPrivacy, checkFindings, checkDrift]

export function checkInstalled(examined: Examined): CheckResult {
  const { client, settings, isInstalled, version = '' } = examined
  const code = 'installed'
  const { label, program } = client
  if (!isInstalled) {
    const isSetUp = settings.endpoint.baseUrl !== undefined
    const isUnknown = whyUnreadable(settings) !== undefined
    const message = `${label} is not installed`
    if (!isSetUp && !isUnknown)
      return { code, severity: 'ok', message: `${message}, and not set up`, isAbsent: true }
    return { code, severity: isSetUp ? 'warning' : 'ok', message }
  }
  const refused = resultOf(() => expectWorking(client, examined))
  if (refused instanceof UserError)
    return { ...findingFrom(refused), ...compact({ brief: examined.version }) }
  const [unknown] = versionFindings(client, examined)
  if (unknown !== undefined) return asWarning(unknown)

  const found = { code, message: `${label} ${version}`, brief: version } as const
  const { testedVersions } = program
  const [oldest = version, newest = version] = [testedVersions[0], testedVersions.at(-1)]
  const beyond = isBefore(version, oldest)
    ? { how: `older than those that repoint was run with, from ${oldest} on`, toUpdate: 'it' }
    : isBefore(newest, version)
      ? { how: `newer than those that repoint was run with, up to ${newest}`, toUpdate: 'repoint' }
      : undefined
  if (beyond === undefined) return { ...found, severity: 'ok' }

  const message = `${found.message} is ${beyond.how}`
  const hint = `If something fails, update ${beyond.toUpdate}.`
  return { ...found, severity: 'warning', message, hint }
}

function* checkBroken(
  _: Session,
  { client, settings, findings, files }: ClientStatus,
  { fixing }: Circumstances,
): Generator<CheckResult> {
  const broken = whyUnreadable(settings)
  if (broken === undefined || hasCause('broken', findings)) return

  const isTried = fixing === 'given' || fixing === 'ask'
  const hints = ['Correct the file by hand']
  if (!isTried && findings.some(({ fix }) => fix?.toStrictJson))
    hints.push(`repoint doctor ${client.family} --fix --yes`)
  if (files.some(({ run }) => run !== undefined))
    hints.push(`put an earlier version back: repoint rollback ${client.family} --force`)

  const hint = hints.join(', or ')
  yield { code: 'broken', severity: 'error', message: broken, hint }
}

interface SecretFile {
  readonly text: LoadedFile
  readonly what: 'the key' | 'a secret header'
  /** Permission bits. */
  readonly mode: number
  readonly isOpen: boolean
}

/** The files that contain a client's key, or a secret header that it sends. */
export function secretFiles(
  { platform }: Session,
  { settings, texts }: ClientStatus,
): readonly SecretFile[] {
  if (platform.machine.os === 'win32') return []

  const { headers = [] } = settings.endpoint
  const secrets = headers.filter(({ isSecret }) => isSecret).map(({ value }) => value)
  return texts.flatMap((text): SecretFile[] => {
    const isKey = text.path === settings.sources.key
    const holdsHeader = text.use === 'target' && secrets.some((secret) => holds(text, secret))
    if (!isKey && !holdsHeader) return []

    const mode = platform.files.stat(text.path).mode & 0o777
    return [
      { text, what: isKey ? 'the key' : 'a secret header', mode, isOpen: (mode & 0o077) !== 0 },
    ]
  })
}

/** Whether a file contains a secret, as it is or escaped as in JSON and TOML. */
function holds({ bytes }: LoadedFile, secret: string): boolean {
  const text = bytes === null ? '' : new TextDecoder().decode(bytes)
  return text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1))
}

function* checkPrivacy(session: Session, state: ClientStatus): Generator<CheckResult> {
  for (const { text, what, mode, isOpen } of secretFiles(session, state)) {
    const { path } = text
    if (!isOpen) yield { code: 'private', severity: 'ok', message: `${path} is private` }
    else
      yield {
        code: 'private',
        severity: 'error',
        message: `${path} holds ${what}, and others may read it (mode ${mode.toString(8)})`,
        hint: `chmod 600 ${path} (or: repoint doctor ${state.client.family} --fix)`,
      }
  }
}

function* checkFindings(
  _: Session,
  { client, settings, findings }: ClientStatus,
  { fixing }: Circumstances,
): Generator<CheckResult> {
  for (const finding of findings) {
    const { code, message, location, cause, hint, fix, consent } = finding
    const isError = finding.severity === 'error' && settings.endpoint.baseUrl !== undefined
    const flag = consent === undefined ? '--fix' : '--fix --yes'

    yield {
      code,
      severity: isError ? 'error' : 'warning',
      message,
      ...compact({
        location,
        cause,
        hint: fix && !fixing ? `${hint} Or: repoint doctor ${client.family} ${flag}` : hint,
      }),
    }
  }
}

/** What someone else changed since the last setup. A repair does not approve such changes. */
function* checkDrift(
  session: Session,
  state: ClientStatus,
  { runs }: Circumstances,
): Generator<CheckResult> {
  const drifted = runs && driftSince(session, state, runs)
  if (drifted === undefined) return

  const { client } = state
  const anew = `set ${client.label} up anew: repoint ${client.id}`
  const back = `put back what the setup wrote: repoint doctor ${client.family} --fix --yes`
  const hint = drifted.cure ? `To ${back}. Or ${anew}` : `To ${anew}`
  yield { code: 'drifted', severity: 'warning', message: describeDrift(client, drifted), hint }
}

export function describeDrift({ label }: Client, { reasons, changes }: Drifted): string {
  const what = `${label} has changed since its setup: ${reasons.join('; ')}`
  return changes === '' ? what : `${what} (${changes})`
}

export function asWarning(finding: Finding): Finding {
  return { ...finding, severity: 'warning' }
}
