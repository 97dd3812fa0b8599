import { type Client, isCovered, type ModelChoice, protocolOf } from '../../clients/client.ts'
import { listing } from '../../clients/models.ts'
import { compact } from '../../compact.ts'
import { type ErrorCode, exitStatus, UserError } from '../../errors.ts'
import { catalogOrError, leavesOpen } from '../../gateway/catalog.ts'
import { proxyFor } from '../../gateway/http/proxy.ts'
import { openAhead } from '../../gateway/http/request.ts'
import { isLoopback } from '../../gateway/input/base-url.ts'
import { probe } from '../../gateway/probe.ts'
import { messagesRoots } from '../../gateway/roots.ts'
import type { Catalog, GatewayAccess, ProtocolName } from '../../gateway/types.ts'
import type { Notice } from '../../notice.ts'
import { accessTo } from '../find-gateway.ts'
import { authorityNotices, type Installed } from '../inventory/client-program.ts'
import type { ClientState, Place } from '../inventory/client-state.ts'
import { caFileFor, gatewayOf } from '../inventory/saved-gateways.ts'
import type { Session } from '../screen/session.ts'
import { type Probed, Probes } from '../setup/probes.ts'

export interface DoctorRequest {
  readonly client?: string | undefined
  /** Carry out the safe cures as one run. */
  readonly fix: boolean
  /** With `fix`: also the cures that take something of the user's out of use. */
  readonly yes: boolean
  readonly verify: boolean
  readonly timeoutSeconds: number
  readonly caFile?: string | undefined
}

/** One finding. */
export interface Check {
  /** The client's family, or `machine`. */
  readonly about: string
  /** Stable: `installed`, `private`, `catalog`, or an obstacle's or error's code. */
  readonly id: string
  readonly result: 'ok' | 'warning' | 'problem'
  readonly message: string
  readonly cure?: string
  /** The exit status that a problem stands for. */
  readonly code?: ErrorCode
}

/** A client's state, and the gateway that it points at; absent: its own service. */
export interface Located extends ClientState {
  readonly place: Place | undefined
}

/** A client's state, and its program on this machine where there is one. */
export interface Examined extends Located {
  readonly installed: Installed | undefined
}

/** What can be told of a client without the network. */
export function checkClient(session: Session, state: Examined, request: DoctorRequest): Check[] {
  const { client, settings } = state
  return [
    checkInstalled(state),
    ...(settings.broken === undefined || isCovered('broken', state.obstacles)
      ? []
      : [brokenCheck(session, state, settings.broken, request)]),
    ...checkLeftRunning(session, client),
    ...checkPrivacy(session, state),
    ...checkObstacles(state, request),
  ]
}

function checkInstalled({ client, settings, installed }: Examined): Check {
  const about = client.family
  if (installed === undefined) {
    const isSetUp = settings.root !== undefined
    const isUnknown = settings.broken !== undefined
    const message = `${client.label} is not installed${isSetUp || isUnknown ? '' : ', and not set up'}`
    return { about, id: 'installed', result: isSetUp ? 'warning' : 'ok', message }
  }
  const { version, isTested } = installed
  if (version === undefined)
    return {
      about,
      id: 'installed',
      result: 'warning',
      message: `${client.label} is installed, but does not tell its version`,
      cure: `Run it by hand: ${client.binary.command} ${client.binary.versionArgs.join(' ')}`,
    }
  const { testedVersions } = client.binary
  const tested = isTested ? '' : `; tested from ${testedVersions[0]} to ${testedVersions.at(-1)}`
  return { about, id: 'installed', result: 'ok', message: `${client.label} ${version}${tested}` }
}

function brokenCheck(
  session: Session,
  { client, obstacles, files }: ClientState,
  broken: string,
  { fix, yes }: DoctorRequest,
): Check {
  const about = client.family
  const isTried = fix && (yes || session.canAsk)
  const canRepair = !isTried && obstacles.some(({ repair }) => repair?.toStrictJson)
  const hasCopy = files.some(({ run }) => run !== undefined)
  const others = [
    ...(canRepair ? [`repoint doctor ${about} --fix --yes`] : []),
    ...(hasCopy ? [`put an earlier version back: repoint rollback ${about} --force`] : []),
  ]
  return {
    about,
    id: 'broken',
    result: 'problem',
    message: broken,
    cure: ['Correct the file by hand', ...others].join(', or '),
    code: 'config-invalid',
  }
}

function checkLeftRunning({ platform }: Session, client: Client): Check[] {
  const server = client.leftRunning?.(platform)
  if (server === undefined) return []
  return [
    {
      about: client.family,
      id: `${client.family}-server`,
      result: 'warning',
      message: `${client.label} has left a server running (pid ${server.pid}) that started before the key changed: it keeps the old one`,
      cure: server.stopCommand,
    },
  ]
}

/** The file that holds a client's key, with its permission bits. */
export function keyFile(
  { platform }: Session,
  { settings }: ClientState,
): { readonly path: string; readonly mode: number; readonly isOpen: boolean } | undefined {
  const { keyPath } = settings
  if (keyPath === undefined || platform.machine.os === 'win32') return undefined
  const mode = platform.files.stat(keyPath).mode & 0o777
  return { path: keyPath, mode, isOpen: (mode & 0o077) !== 0 }
}

function checkPrivacy(session: Session, state: ClientState): Check[] {
  const about = state.client.family
  const file = keyFile(session, state)
  if (file === undefined) return []
  const { path, mode, isOpen } = file
  if (!isOpen) return [{ about, id: 'private', result: 'ok', message: `${path} is private` }]
  return [
    {
      about,
      id: 'private',
      result: 'problem',
      message: `${path} holds the key, and others may read it (mode ${mode.toString(8)})`,
      cure: `chmod 600 ${path} (or: repoint doctor ${about} --fix)`,
      code: 'not-permitted',
    },
  ]
}

function checkObstacles(
  { client, settings, obstacles }: ClientState,
  { fix }: DoctorRequest,
): Check[] {
  const about = client.family
  return obstacles.map(({ code, message, place, cure, weight, repair, needsConsent }): Check => {
    const blocks = weight === 'blocks' && settings.root !== undefined
    const flag = needsConsent === undefined ? '--fix' : '--fix --yes'
    return {
      about,
      id: code,
      result: blocks ? 'problem' : 'warning',
      message: `${message} (${place})`,
      cure: repair && !fix ? `${cure} Or: repoint doctor ${about} ${flag}` : cure,
      ...(blocks ? { code: 'config-conflict' } : {}),
    }
  })
}

/** A gateway that is asked once for all the clients that use it with the same key. */
interface Asked {
  readonly access: GatewayAccess
  readonly catalog: Promise<Catalog | UserError>
}

/** Asks the gateways of all the clients for their models, side by side. */
export function askGateways(
  session: Session,
  states: readonly Located[],
  request: DoctorRequest,
): ReadonlyMap<Located, Asked> {
  const byGateway = new Map<string, Asked>()
  const byState = new Map<Located, Asked>()
  for (const state of states) {
    const { broken, key, keyHeader, headers } = state.settings
    if (broken !== undefined || state.place === undefined || !key) continue
    const { baseUrl, roots } = state.place
    const gateway = JSON.stringify([roots, key, keyHeader, headers])
    const known = byGateway.get(gateway)
    const access =
      known?.access ??
      accessTo(session, {
        baseUrl,
        roots,
        key,
        keyHeader,
        headers,
        timeoutMs: request.timeoutSeconds * 1000,
        caFile: caFileFor(session, baseUrl, request.caFile),
      })

    // One for each: their probes go out side by side.
    void openAhead(access, 1)
    const asked = known ?? { access, catalog: catalogOrError(access, { isExtra: true }) }
    byGateway.set(gateway, asked)
    byState.set(state, asked)
  }
  return byState
}

/** What only the network can tell. */
export async function checkGateway(
  session: Session,
  examined: Examined,
  asked: Asked | undefined,
  request: DoctorRequest,
): Promise<Check[]> {
  const { client, settings, obstacles, isSetUp, place } = examined
  const about = client.family
  if (settings.broken !== undefined) return []
  if (place === undefined)
    return [{ about, id: 'gateway', result: 'ok', message: `${client.label} uses its own service` }]
  const { baseUrl, roots } = place
  const isMessagesFound = messagesRoots(baseUrl).includes(roots.messages)
  const caFile = caFileFor(session, baseUrl, request.caFile)
  const again = (command: string) =>
    [
      `repoint ${command} --base-url ${baseUrl}`,
      ...(isMessagesFound ? [] : [`--messages-url ${roots.messages}`]),
      ...(isPlainAfar(baseUrl) ? ['--allow-http'] : []),
      ...(caFile === undefined ? [] : [`--ca-file ${asWord(caFile)}`]),
    ].join(' ')
  const setupAgain = again(client.id)
  if (asked === undefined) {
    if (isCovered('key-missing', obstacles)) return []
    return [
      {
        about,
        id: 'key-missing',
        result: 'problem',
        message: `${client.label} has an address (${baseUrl}) but no key that it would use`,
        cure: setupAgain,
        code: 'key-missing',
      },
    ]
  }

  const { access } = asked
  const checks: Check[] = []
  let list: Catalog | UserError | undefined
  try {
    checks.push(...checkProxy(about, access))
    const untrusted = authorityNotices(session, client, settings, caFile)
    checks.push(...untrusted.map((notice) => asWarning(about, notice)))
    list = await asked.catalog
    checks.push(...checkCatalog(session, examined, baseUrl, list))
    const choice = choiceOf(examined, list)
    checks.push(...choice.notes.map((note) => asWarning(about, note)))
    const question = { about, protocol: protocolOf(client, choice), list }
    const probed = await new Probes((...question) => probe(access, ...question), list).askFor(
      client,
      choice,
    )
    for (const one of probed) checks.push(probeCheck(question, one))
  } catch (error) {
    if (!(error instanceof UserError) || error.code === 'cancelled') throw error
    const status = exitStatus[error.code]
    // A key that both refuse is told once.
    const isTold = status !== exitStatus['not-an-api'] && (list as UserError)?.code === error.code
    if (isTold) checks.splice(0, checks.length, ...checks.filter(({ id }) => id !== 'catalog'))
    if (status !== exitStatus.refused && checks.every(({ id }) => id !== 'network'))
      checks.push(networkCheck(about, baseUrl))
    const check = failedCheck(about, error)
    // The hints of these speak of flags that a setup has and doctor has not.
    const isAboutSetup = status >= exitStatus['key-rejected'] && status <= exitStatus['not-an-api']
    const isKey = status === exitStatus['key-rejected']
    if (isKey && isSetUp) checks.push({ ...check, cure: again('key') })
    else if (isAboutSetup) checks.push({ ...check, cure: setupAgain })
    else if (check.cure?.includes('--base-url'))
      checks.push({ ...check, cure: `${check.cure} To change it: repoint ${about} --base-url URL` })
    else checks.push(check)
  }
  return checks
}

/** @throws UserError where nothing can be proven after it */
function checkCatalog(
  session: Session,
  { client, settings }: ClientState,
  baseUrl: string,
  answer: Catalog | UserError,
): Check[] {
  const { family: about } = client
  const name = gatewayOf(session, client, settings)
  const where = name === undefined ? baseUrl : `${name} (${baseUrl})`
  if (!(answer instanceof UserError))
    return [
      networkCheck(about, baseUrl),
      {
        about,
        id: 'catalog',
        result: 'ok',
        message: `${where} lists ${answer.models.length} models`,
      },
      ...checkClock(session, baseUrl, answer),
    ]

  if (!leavesOpen(answer)) throw answer
  const message = `${where} has no readable list of models: ${answer.message}`
  return [networkCheck(about, baseUrl), { about, id: 'catalog', result: 'warning', message }]
}

/** @throws UserError why the model is not served */
function probeCheck(
  { about, protocol, list }: { about: string; protocol: ProtocolName; list: Catalog | UserError },
  { id: model, result }: Probed,
): Check {
  if (result.status === 'rejected') throw result.reason
  const isUnlisted = !(list instanceof UserError) && listing(list, model, protocol) === 'absent'
  const beside = isUnlisted ? ', though the gateway does not list it' : ''
  const message = `${model} answers over the ${protocol} protocol${beside}`
  return { about, id: 'probe', result: 'ok', message }
}

/** @throws UserError where the client's model cannot be used, or only the catalog could tell it */
function choiceOf(
  { client, options, installed }: Examined,
  answer: Catalog | UserError,
): ModelChoice {
  const version = installed?.version
  if (!(answer instanceof UserError)) return client.choose(answer, options, version)
  try {
    return client.choose(undefined, options, version)
  } catch (error) {
    throw error instanceof UserError ? answer : error
  }
}

/** A clock that is further off than this fails certificates and signed requests, in ms. */
const toleratedClockMs = 5 * 60_000

function checkClock(session: Session, baseUrl: string, { serverTime }: Catalog): Check[] {
  if (serverTime === undefined) return []
  const offMs = session.platform.clock.now().getTime() - serverTime.getTime()
  if (Math.abs(offMs) <= toleratedClockMs) return []
  const minutes = Math.round(Math.abs(offMs) / 60_000)
  const message = `This machine's clock is ${minutes} minutes ${offMs > 0 ? 'ahead of' : 'behind'} that of ${baseUrl}`
  return [{ about: 'machine', id: 'clock', result: 'warning', message, cure: 'Set the clock.' }]
}

function checkProxy(about: string, { baseUrl, env }: GatewayAccess): Check[] {
  const proxy = proxyFor(new URL(baseUrl), env)
  if (proxy === undefined) return []
  const message = `${baseUrl} is reached through the proxy ${proxy.hostname}:${proxy.port} (${proxy.variable})`
  return [{ about, id: 'proxy', result: 'ok', message }]
}

/** As a shell takes it for one word. */
function asWord(path: string): string {
  return /^[\w./:\\@+-]+$/.test(path) ? path : `"${path}"`
}

/** Plain http to another machine, which a setup must be allowed. */
function isPlainAfar(baseUrl: string): boolean {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  return url?.protocol === 'http:' && !isLoopback(url.hostname)
}

/** An answer of any kind proves that much. */
function networkCheck(about: string, baseUrl: string): Check {
  const { host, protocol } = new URL(baseUrl)
  const tls = protocol === 'https:' ? ', and its certificate is trusted' : ''
  return { about, id: 'network', result: 'ok', message: `${host} is found and answers${tls}` }
}

export function asWarning(about: string, { code, message, hint }: Notice): Check {
  return { about, id: code, result: 'warning', message, ...compact({ cure: hint }) }
}

export function failedCheck(about: string, { code, message, hint }: UserError): Check {
  return {
    about,
    id: code,
    result: 'problem',
    message,
    ...(hint === undefined ? {} : { cure: hint }),
    code,
  }
}
