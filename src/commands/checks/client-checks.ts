import { type Client, hasCause, type LoadedFile } from '../../clients/client.ts'
import { isBefore } from '../../clients/tested.ts'
import { compact } from '../../compact.ts'
import { type ErrorCode, resultOf, UserError } from '../../errors.ts'
import type { Notice } from '../../notice.ts'
import type { Runs } from '../../transaction/record.ts'
import { type Drifted, driftSince } from '../client-state/drift.ts'
import { expectWorking, type InstalledProgram, versionNotices } from '../client-state/program.ts'
import type { ClientStatus } from '../client-state/state.ts'
import type { Consent, Session } from '../screen/session.ts'

export interface Finding {
  /** The client's family, or `machine`. Absent: the client that was looked at. */
  readonly about?: string
  /** Stable: `installed`, `private`, `catalog`, or an obstacle's or error's code. */
  readonly id: string
  readonly result: 'ok' | 'warning' | 'problem'
  readonly message: string
  readonly cure?: string
  /** The exit status that a problem stands for. */
  readonly code?: ErrorCode
  /** The same in a few words, for the line of its client or gateway. */
  readonly brief?: string
  /** It is the same for every client of the gateway, and told once. */
  readonly isOfGateway?: true
  /** Of its client neither a program nor a setup is here. */
  readonly isAbsent?: true
}

/** A client's state, and its program on this machine. */
export interface Examined extends ClientStatus, InstalledProgram {
  readonly isInstalled: boolean
}

interface Circumstances {
  /** The cures have been carried out, by this consent. */
  readonly fixing?: Consent | undefined
  /** Absent: they cannot be read. */
  readonly runs?: Runs | undefined
}

type FileCheck = (
  session: Session,
  state: ClientStatus,
  circumstances: Circumstances,
) => Iterable<Finding>

/** What can be told of a client without the network, and without its program: `status` says it too. */
export function checkFiles(...given: Parameters<FileCheck>): readonly Finding[] {
  return fileChecks.flatMap((check) => [...check(...given)])
}

/** In the order in which they are said. */
const fileChecks: readonly FileCheck[] = [
  checkBroken,
  checkLeftRunning,
  checkPrivacy,
  checkObstacles,
  checkDrift,
]

export function checkInstalled(examined: Examined): Finding {
  const { client, settings, isInstalled, version = '' } = examined
  const id = 'installed'
  const { label, program } = client
  if (!isInstalled) {
    const isSetUp = settings.baseUrl !== undefined
    const isUnknown = settings.broken !== undefined
    const message = `${label} is not installed`
    if (!isSetUp && !isUnknown)
      return { id, result: 'ok', message: `${message}, and not set up`, isAbsent: true }
    return { id, result: isSetUp ? 'warning' : 'ok', message }
  }
  const refused = resultOf(() => expectWorking(client, examined))
  if (refused instanceof UserError)
    return { ...failedCheck(refused), ...compact({ brief: examined.version }) }
  const [unknown] = versionNotices(client, examined)
  if (unknown !== undefined) return asWarning(unknown)

  const found = { id, message: `${label} ${version}`, brief: version } as const
  const { testedVersions } = program
  const [oldest = version, newest = version] = [testedVersions[0], testedVersions.at(-1)]
  const beyond = isBefore(version, oldest)
    ? { how: `older than those that repoint was run with, from ${oldest} on`, toUpdate: 'it' }
    : isBefore(newest, version)
      ? { how: `newer than those that repoint was run with, up to ${newest}`, toUpdate: 'repoint' }
      : undefined
  if (beyond === undefined) return { ...found, result: 'ok' }

  const message = `${found.message} is ${beyond.how}`
  const cure = `If something fails, update ${beyond.toUpdate}.`
  return { ...found, result: 'warning', message, cure }
}

function* checkBroken(
  _: Session,
  { client, settings, obstacles, files }: ClientStatus,
  { fixing }: Circumstances,
): Generator<Finding> {
  const { broken } = settings
  if (broken === undefined || hasCause('broken', obstacles)) return

  const isTried = fixing === 'given' || fixing === 'ask'
  const cures = ['Correct the file by hand']
  if (!isTried && obstacles.some(({ fix }) => fix?.toStrictJson))
    cures.push(`repoint doctor ${client.family} --fix --yes`)
  if (files.some(({ run }) => run !== undefined))
    cures.push(`put an earlier version back: repoint rollback ${client.family} --force`)

  const cure = cures.join(', or ')
  yield { id: 'broken', result: 'problem', message: broken, cure, code: 'config-invalid' }
}

function* checkLeftRunning({ platform }: Session, { client }: ClientStatus): Generator<Finding> {
  const server = client.leftRunning?.(platform)
  if (server !== undefined)
    yield {
      id: `${client.family}-server`,
      result: 'warning',
      message: `${client.label} has left a server running (pid ${server.pid}) that started before the key changed: it keeps the old one`,
      cure: server.stopCommand,
    }
}

interface SecretFile {
  readonly text: LoadedFile
  readonly what: 'the key' | 'a secret header'
  /** Permission bits. */
  readonly mode: number
  readonly isOpen: boolean
}

/** The files that hold the key of a client, or a secret that it sends along. */
export function secretFiles(
  { platform }: Session,
  { settings, texts }: ClientStatus,
): readonly SecretFile[] {
  if (platform.machine.os === 'win32') return []

  const { keyPath, headers = [] } = settings
  const secrets = headers.filter(({ isSecret }) => isSecret).map(({ value }) => value)
  return texts.flatMap((text): SecretFile[] => {
    const isKey = text.path === keyPath
    const holdsHeader = text.use === 'target' && secrets.some((secret) => holds(text, secret))
    if (!isKey && !holdsHeader) return []

    const mode = platform.files.stat(text.path).mode & 0o777
    return [
      { text, what: isKey ? 'the key' : 'a secret header', mode, isOpen: (mode & 0o077) !== 0 },
    ]
  })
}

/** As it stands, or with what JSON and TOML escape. */
function holds({ bytes }: LoadedFile, secret: string): boolean {
  const text = bytes === null ? '' : new TextDecoder().decode(bytes)
  return text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1))
}

function* checkPrivacy(session: Session, state: ClientStatus): Generator<Finding> {
  for (const { text, what, mode, isOpen } of secretFiles(session, state)) {
    const { path } = text
    if (!isOpen) yield { id: 'private', result: 'ok', message: `${path} is private` }
    else
      yield {
        id: 'private',
        result: 'problem',
        message: `${path} holds ${what}, and others may read it (mode ${mode.toString(8)})`,
        cure: `chmod 600 ${path} (or: repoint doctor ${state.client.family} --fix)`,
        code: 'not-permitted',
      }
  }
}

function* checkObstacles(
  _: Session,
  { client, settings, obstacles }: ClientStatus,
  { fixing }: Circumstances,
): Generator<Finding> {
  for (const { code, message, location, hint, severity, fix, consent } of obstacles) {
    const blocks = severity === 'blocks' && settings.baseUrl !== undefined
    const flag = consent === undefined ? '--fix' : '--fix --yes'

    yield {
      id: code,
      result: blocks ? 'problem' : 'warning',
      message: `${message} (${location})`,
      ...compact({
        cure: fix && !fixing ? `${hint} Or: repoint doctor ${client.family} ${flag}` : hint,
      }),
      ...(blocks && { code: 'config-conflict' }),
    }
  }
}

/** What somebody else has changed since the last setup: no repair approves it. */
function* checkDrift(
  session: Session,
  state: ClientStatus,
  { runs }: Circumstances,
): Generator<Finding> {
  const drifted = runs && driftSince(session, state, runs)
  if (drifted === undefined) return

  const { client } = state
  const anew = `set ${client.label} up anew: repoint ${client.id}`
  const back = `put back what the setup wrote: repoint doctor ${client.family} --fix --yes`
  const cure = drifted.cure ? `To ${back}. Or ${anew}` : `To ${anew}`
  yield { id: 'drifted', result: 'warning', message: describeDrift(client, drifted), cure }
}

export function describeDrift({ label }: Client, { reasons, changes }: Drifted): string {
  const what = `${label} has changed since its setup: ${reasons.join('; ')}`
  return changes === '' ? what : `${what} (${changes})`
}

export function asWarning({ code, message, hint }: Notice): Finding {
  return { id: code, result: 'warning', message, ...compact({ cure: hint }) }
}

export function failedCheck({ code, message, hint }: UserError): Finding {
  return { id: code, result: 'problem', message, ...compact({ cure: hint }), code }
}
