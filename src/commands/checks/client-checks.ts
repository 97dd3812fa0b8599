import { type Client, type FileText, isCovered } from '../../clients/client.ts'
import { isBefore } from '../../clients/tested.ts'
import { compact } from '../../compact.ts'
import { type ErrorCode, resultOf, UserError } from '../../errors.ts'
import type { Notice } from '../../notice.ts'
import type { Runs } from '../../transaction/record.ts'
import { expectWorking, type Installed } from '../inventory/client-program.ts'
import type { ClientState } from '../inventory/client-state.ts'
import { type Drifted, driftSince } from '../inventory/drift.ts'
import type { Consent, Session } from '../screen/session.ts'

/** What was found, of one client unless it says otherwise. */
export interface Finding {
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

export interface Check extends Finding {
  /** The client's family, or `machine`. */
  readonly about: string
}

/** As the documents of `--json` have it. */
export function asCheck({ about, id, result, message, cure }: Check) {
  return { about, id, result, message, ...compact({ cure }) }
}

/** A client's state, and its program on this machine where there is one. */
export interface Examined extends ClientState {
  readonly installed: Installed | undefined
  /** What that program prints of the models that it knows. */
  readonly clientTable: string | undefined
}

interface Circumstances {
  /** The cures have been carried out, by this consent. */
  readonly fixing?: Consent | undefined
  /** Absent: they cannot be read. */
  readonly runs?: Runs | undefined
}

/** One of the checks of a client's files. */
type FileCheck = (
  session: Session,
  state: ClientState,
  circumstances: Circumstances,
) => readonly Finding[]

/** What can be told of a client without the network, and without its program: `status` says it too. */
export function checkFiles(...given: Parameters<FileCheck>): readonly Finding[] {
  return fileChecks.flatMap((check) => check(...given))
}

/** In the order in which they are said. */
const fileChecks: readonly FileCheck[] = [
  checkBroken,
  checkLeftRunning,
  checkPrivacy,
  checkObstacles,
  checkDrift,
]

export function checkInstalled({ client, settings, installed }: Examined): Finding {
  const id = 'installed'
  const { label, binary } = client
  if (installed === undefined) {
    const isSetUp = settings.root !== undefined
    const isUnknown = settings.broken !== undefined
    const message = `${label} is not installed`
    if (!isSetUp && !isUnknown)
      return { id, result: 'ok', message: `${message}, and not set up`, isAbsent: true }
    return { id, result: isSetUp ? 'warning' : 'ok', message }
  }
  const { version } = installed
  if (version === undefined)
    return {
      id,
      result: 'warning',
      message: `${label} is installed, but does not tell its version`,
      cure: `Run it by hand: ${binary.command} --version`,
    }
  const tooOld = resultOf(() => expectWorking(client, version))
  if (tooOld instanceof UserError) return { ...failedCheck(tooOld), brief: version }

  const message = `${label} ${version}`
  const [oldest = version, newest = version] = [
    binary.testedVersions[0],
    binary.testedVersions.at(-1),
  ]
  const beyond = isBefore(version, oldest)
    ? `older than those that repoint was run with, from ${oldest} on`
    : isBefore(newest, version)
      ? `newer than those that repoint was run with, up to ${newest}`
      : undefined
  if (beyond === undefined) return { id, result: 'ok', message, brief: version }
  const cure = isBefore(version, oldest)
    ? 'If something fails, update it.'
    : 'If something fails, update repoint.'
  return { id, result: 'warning', message: `${message} is ${beyond}`, cure, brief: version }
}

function checkBroken(
  _: Session,
  { client, settings, obstacles, files }: ClientState,
  { fixing }: Circumstances,
): Finding[] {
  const { broken } = settings
  if (broken === undefined || isCovered('broken', obstacles)) return []
  const isTried = fixing === 'given' || fixing === 'ask'
  const canRepair = !isTried && obstacles.some(({ repair }) => repair?.toStrictJson)
  const hasCopy = files.some(({ run }) => run !== undefined)
  const others = [
    ...(canRepair ? [`repoint doctor ${client.family} --fix --yes`] : []),
    ...(hasCopy ? [`put an earlier version back: repoint rollback ${client.family} --force`] : []),
  ]
  const cure = ['Correct the file by hand', ...others].join(', or ')
  return [{ id: 'broken', result: 'problem', message: broken, cure, code: 'config-invalid' }]
}

function checkLeftRunning({ platform }: Session, { client }: ClientState): Finding[] {
  const server = client.leftRunning?.(platform)
  if (server === undefined) return []
  return [
    {
      id: `${client.family}-server`,
      result: 'warning',
      message: `${client.label} has left a server running (pid ${server.pid}) that started before the key changed: it keeps the old one`,
      cure: server.stopCommand,
    },
  ]
}

/** A file of a client with a secret in it. */
interface SecretFile {
  readonly text: FileText
  readonly what: 'the key' | 'a secret header'
  /** Permission bits. */
  readonly mode: number
  readonly isOpen: boolean
}

/** The files that hold the key of a client, or a secret that it sends along. */
export function secretFiles(
  { platform }: Session,
  { settings, texts }: ClientState,
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
function holds({ bytes }: FileText, secret: string): boolean {
  const text = bytes === null ? '' : new TextDecoder().decode(bytes)
  return text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1))
}

function checkPrivacy(session: Session, state: ClientState): Finding[] {
  return secretFiles(session, state).map(({ text, what, mode, isOpen }) => {
    const { path } = text
    if (!isOpen) return { id: 'private', result: 'ok', message: `${path} is private` }
    return {
      id: 'private',
      result: 'problem',
      message: `${path} holds ${what}, and others may read it (mode ${mode.toString(8)})`,
      cure: `chmod 600 ${path} (or: repoint doctor ${state.client.family} --fix)`,
      code: 'not-permitted',
    }
  })
}

function checkObstacles(
  _: Session,
  { client, settings, obstacles }: ClientState,
  { fixing }: Circumstances,
): Finding[] {
  return obstacles.map(({ code, message, place, cure, weight, repair, needsConsent }): Finding => {
    const blocks = weight === 'blocks' && settings.root !== undefined
    const flag = needsConsent === undefined ? '--fix' : '--fix --yes'
    return {
      id: code,
      result: blocks ? 'problem' : 'warning',
      message: `${message} (${place})`,
      cure: repair && !fixing ? `${cure} Or: repoint doctor ${client.family} ${flag}` : cure,
      ...(blocks ? { code: 'config-conflict' } : {}),
    }
  })
}

/** What somebody else has changed since the last setup: no repair approves it. */
function checkDrift(session: Session, state: ClientState, { runs }: Circumstances): Finding[] {
  const drifted = runs && driftSince(session, state, runs)
  if (drifted === undefined) return []
  const { client } = state
  const anew = `set ${client.label} up anew: repoint ${client.id}`
  const back = `put back what the setup wrote: repoint doctor ${client.family} --fix --yes`
  return [
    {
      id: 'drifted',
      result: 'warning',
      message: describeDrift(client, drifted),
      cure: drifted.cure ? `To ${back}. Or ${anew}` : `To ${anew}`,
    },
  ]
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
