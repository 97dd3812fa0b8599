import { type Client, isCovered } from '../../clients/client.ts'
import { type ErrorCode, exitStatus, UserError } from '../../errors.ts'
import { readCatalog } from '../../gateway/catalog.ts'
import { proxyFor } from '../../gateway/http/proxy.ts'
import { probe } from '../../gateway/probe.ts'
import type { Catalog, GatewayAccess } from '../../gateway/types.ts'
import { findInstalled } from '../inventory/client-program.ts'
import type { ClientState } from '../inventory/client-state.ts'
import type { Session } from '../screen/session.ts'

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

/** What can be told of a client without the network. */
export async function checkClient(
  session: Session,
  state: ClientState,
  request: DoctorRequest,
): Promise<Check[]> {
  const { client, settings } = state
  return [
    await checkInstalled(session, state),
    ...(settings.broken === undefined || isCovered('broken', state.obstacles)
      ? []
      : [brokenCheck(session, state, settings.broken, request)]),
    ...checkLeftRunning(session, client),
    ...checkPrivacy(session, state),
    ...checkObstacles(state, request),
  ]
}

async function checkInstalled(session: Session, { client, settings }: ClientState): Promise<Check> {
  const about = client.family
  const step = `Looking for ${client.label}`
  const installed = await session.step(step, findInstalled(session, client))
  if (installed === undefined) {
    const isSetUp = settings.baseUrl !== undefined
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
  const tested = isTested ? '' : `; tested with ${client.binary.testedVersions.join(', ')}`
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

/** Its key is the one from its start: it may be older than the files. */
function checkLeftRunning({ platform }: Session, client: Client): Check[] {
  const server = client.leftRunning?.(platform)
  if (server === undefined) return []
  return [
    {
      about: client.family,
      id: `${client.family}-server`,
      result: 'warning',
      message: `${client.label} has left a server running (pid ${server.pid}); it keeps the key from its start`,
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
    const blocks = weight === 'blocks' && settings.baseUrl !== undefined
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

/** What only the network can tell. Clients that share a gateway and a key share its answer. */
export async function checkGateway(
  session: Session,
  { client, settings, obstacles }: ClientState,
  request: DoctorRequest,
  catalogs: Map<string, Promise<Catalog>>,
): Promise<Check[]> {
  const about = client.family
  const { baseUrl, key, broken } = settings
  if (broken !== undefined) return []
  if (baseUrl === undefined)
    return [{ about, id: 'gateway', result: 'ok', message: `${client.label} uses its own service` }]
  const setupAgain = `repoint ${about} --base-url ${baseUrl}`
  if (!key) {
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
  const access: GatewayAccess = {
    baseUrl,
    key,
    timeoutMs: request.timeoutSeconds * 1000,
    caFile: request.caFile,
    env: session.platform.machine.env,
    signal: session.platform.interrupt,
  }
  const checks: Check[] = []
  try {
    checks.push(...checkProxy(about, access))
    const asked = catalogs.get(`${baseUrl} ${key}`) ?? readCatalog(access)
    catalogs.set(`${baseUrl} ${key}`, asked)
    const catalog = await session.step(`Asking ${baseUrl} for its models`, asked)
    checks.push(networkCheck(about, baseUrl), {
      about,
      id: 'catalog',
      result: 'ok',
      message: `${baseUrl} lists ${catalog.models.length} models`,
    })
    checks.push(...checkClock(session, baseUrl, catalog))
    const { probeModel } = client.choose(catalog, client.asConfigured(settings))
    await session.step(
      `Asking ${probeModel} for one word`,
      probe(access, client.protocol, probeModel, { catalog }),
    )
    checks.push({
      about,
      id: 'probe',
      result: 'ok',
      message: `${probeModel} answers over the ${client.protocol} protocol`,
    })
  } catch (error) {
    if (!(error instanceof UserError) || error.code === 'cancelled') throw error
    const status = exitStatus[error.code]
    if (status !== exitStatus.refused && checks.every(({ id }) => id !== 'network'))
      checks.push(networkCheck(about, baseUrl))
    const check = failedCheck(about, error)
    // The hints of these speak of flags that a setup has and doctor has not.
    const isAboutSetup = status >= exitStatus['key-rejected'] && status <= exitStatus['not-an-api']
    if (isAboutSetup) checks.push({ ...check, cure: setupAgain })
    else if (check.cure?.includes('--base-url'))
      checks.push({ ...check, cure: `${check.cure} To change it: repoint ${about} --base-url URL` })
    else checks.push(check)
  }
  return checks
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

/** An answer of any kind proves that much. */
function networkCheck(about: string, baseUrl: string): Check {
  const { host, protocol } = new URL(baseUrl)
  const tls = protocol === 'https:' ? ', and its certificate is trusted' : ''
  return { about, id: 'network', result: 'ok', message: `${host} is found and answers${tls}` }
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
