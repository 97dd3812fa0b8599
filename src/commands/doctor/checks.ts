import { type FileText, isCovered, type ModelChoice, protocolOf } from '../../clients/client.ts'
import { listing } from '../../clients/models.ts'
import { compact } from '../../compact.ts'
import { type ErrorCode, resultOf, UserError } from '../../errors.ts'
import { type Balance, balanceOf, shownBalance } from '../../gateway/balance.ts'
import { catalogOrError, mayStillServe } from '../../gateway/catalog.ts'
import { isVouchedPrivately, mayRefuse, privateSources } from '../../gateway/http/authorities.ts'
import { proxyFor } from '../../gateway/http/proxy.ts'
import { hangUp, openAhead } from '../../gateway/http/request.ts'
import { isLoopback } from '../../gateway/input/base-url.ts'
import { traitsOf } from '../../gateway/judge/traits.ts'
import { probe } from '../../gateway/probe.ts'
import { messagesRoots, rootsOf } from '../../gateway/roots.ts'
import type { Catalog, Gateway, GatewayAccess, ProtocolName } from '../../gateway/types.ts'
import type { Notice } from '../../notice.ts'
import type { Runs } from '../../transaction/record.ts'
import type { GatewayFlags } from '../command.ts'
import { accessTo } from '../find-gateway.ts'
import { authoritiesOf, authorityNotices, type Installed } from '../inventory/client-program.ts'
import type { ClientState } from '../inventory/client-state.ts'
import { type Drifted, driftSince } from '../inventory/drift.ts'
import { caFileFor } from '../inventory/saved-gateways.ts'
import type { Consent, Session } from '../screen/session.ts'
import { type Probed, Probes } from '../setup/probes.ts'

/** How gateways are asked. */
type RequestFlags = Pick<GatewayFlags, 'timeout' | 'caFile'>

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
  /** Of its client neither a program nor a setup is here. */
  readonly isAbsent?: true
}

export interface Check extends Finding {
  /** The client's family, or `machine`. */
  readonly about: string
}

/** A client's state, and its program on this machine where there is one. */
interface Examined extends ClientState {
  readonly installed: Installed | undefined
}

/**
 * What can be told of a client without the network.
 *
 * @param fixing the cures have been carried out, by this consent
 */
export function checkClient(
  session: Session,
  state: Examined,
  fixing: Consent | undefined,
): Finding[] {
  return [
    checkInstalled(state),
    ...checkBroken(state, fixing),
    ...checkLeftRunning(session, state),
    ...secretFiles(session, state).map((file) => checkPrivacy(state, file)),
    ...checkObstacles(state, fixing),
  ]
}

function checkInstalled({ client, settings, installed }: Examined): Finding {
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
  const { testedVersions } = binary
  const isTested = testedVersions.includes(version)
  const tested = isTested ? '' : `; tested from ${testedVersions[0]} to ${testedVersions.at(-1)}`
  return { id, result: 'ok', message: `${label} ${version}${tested}` }
}

function checkBroken(
  { client, settings, obstacles, files }: ClientState,
  fixing: Consent | undefined,
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

function checkPrivacy({ client }: ClientState, { text, what, mode, isOpen }: SecretFile): Finding {
  const { path } = text
  if (!isOpen) return { id: 'private', result: 'ok', message: `${path} is private` }
  return {
    id: 'private',
    result: 'problem',
    message: `${path} holds ${what}, and others may read it (mode ${mode.toString(8)})`,
    cure: `chmod 600 ${path} (or: repoint doctor ${client.family} --fix)`,
    code: 'not-permitted',
  }
}

function checkObstacles(
  { client, settings, obstacles }: ClientState,
  fixing: Consent | undefined,
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
export function checkDrift(session: Session, state: ClientState, runs: Runs): Finding[] {
  const drifted = driftSince(session, state, runs)
  if (drifted === undefined) return []
  const { client } = state
  const anew = `set it up as it is to be: repoint ${client.id}`
  const back = `put back what the setup wrote: repoint doctor ${client.family} --fix --yes`
  return [
    {
      id: 'drifted',
      result: 'warning',
      message: describeDrift(drifted),
      cure: drifted.cure ? `To ${back}. Or ${anew}` : `To ${anew}`,
    },
  ]
}

export function describeDrift({ reasons, changes }: Drifted): string {
  const what = `somebody else changed it after its setup: ${reasons.join('; ')}`
  return changes === '' ? what : `${what} (${changes})`
}

/** A gateway that is asked once for all the clients that use it with the same key. */
interface AskedGateway {
  readonly access: GatewayAccess
  readonly catalog: Promise<Catalog | UserError>
  /** What is left on the key, told with the first of its clients. */
  readonly balance?: Promise<Balance | undefined>
}

/** Asks the gateways of all the clients for their models, side by side. */
export function askGateways(
  session: Session,
  states: readonly ClientState[],
  flags: RequestFlags,
): ReadonlyMap<ClientState, AskedGateway> {
  const byGateway = new Map<string, AskedGateway>()
  const byState = new Map<ClientState, AskedGateway>()
  const authorities = authoritiesOf(
    session.platform.machine.env,
    states.map(({ client }) => client),
  )
  const named = states.find(({ settings }) => settings.caFile !== undefined)?.settings.caFile

  for (const state of states) {
    const { broken, key, keyHeader, headers } = state.settings
    if (broken !== undefined || state.gateway === undefined || !key) continue
    const { baseUrl } = state.gateway
    const roots = rootsOf(state.gateway)
    const question = JSON.stringify([roots, key, keyHeader, headers])
    const known = byGateway.get(question)
    const access =
      known?.access ??
      accessTo(session, {
        baseUrl,
        roots,
        key,
        keyHeader,
        headers,
        timeoutMs: flags.timeout * 1000,
        caFile: caFileFor(session, baseUrl, flags.caFile) ?? named,
        authorities,
      })

    // One for each: their probes go out side by side.
    void openAhead(access, 1)
    const catalog = known?.catalog ?? catalogOrError(access, { isExtra: true })
    byGateway.set(question, { access, catalog })
    byState.set(state, known ?? { access, catalog, balance: balanceBehind(catalog, access) })
  }
  return byState
}

/** Asked of a gateway that answers at all, while the clients' models are proven. */
async function balanceBehind(catalog: Promise<Catalog | UserError>, access: GatewayAccess) {
  return (await catalog) instanceof UserError ? undefined : balanceOf(access)
}

/** An empty key is told before the client finds out. */
function checkBalance(balance: Balance | undefined): Finding[] {
  if (balance === undefined) return []
  const message = `the key has ${shownBalance(balance)}`
  if (balance.remaining !== 0) return [{ id: 'balance', result: 'ok', message }]
  const cure = "Top the key up on the gateway's page, or take another: repoint key"
  return [{ id: 'balance', result: 'problem', message, cure, code: 'quota' }]
}

/** What only the network can tell. */
export async function checkGateway(
  session: Session,
  examined: Examined,
  asked: AskedGateway | undefined,
  flags: RequestFlags,
): Promise<Finding[]> {
  const { client, settings, obstacles, isSetUp, gateway } = examined
  if (settings.broken !== undefined) return []
  if (gateway === undefined)
    return [{ id: 'gateway', result: 'ok', message: `${client.label} uses its own service` }]

  const { baseUrl } = gateway
  const caFile = caFileFor(session, baseUrl, flags.caFile)
  const setupAgain = `repoint ${client.id} ${addressFlags(gateway, caFile)}`
  if (asked === undefined) {
    if (isCovered('key-missing', obstacles)) return []
    return [
      {
        id: 'key-missing',
        result: 'problem',
        message: `${client.label} has an address (${baseUrl}) but no key that it would use`,
        cure: setupAgain,
        code: 'key-missing',
      },
    ]
  }

  const { access } = asked
  const found: Finding[] = []
  const list = await asked.catalog
  try {
    found.push(...checkProxy(access))
    await expectBelieved(examined, access, caFile)
    found.push(...authorityNotices(session, client, settings, caFile).map(asWarning))
    found.push(...checkCatalog(session, examined, access, list))
    const choice = choiceOf(examined, list)
    found.push(...choice.notes.map(asWarning))
    const probes = new Probes((...question) => probe(access, ...question), list)
    const protocol = protocolOf(client, choice)
    for (const one of await probes.askFor(client, choice))
      found.push(probeCheck(protocol, list, one))
    found.push(...checkBalance(await asked.balance))
    return found
  } catch (error) {
    if (!(error instanceof UserError) || error.code === 'cancelled') throw error
    const blamed = traitsOf(error)?.blames
    // A key that both refuse is told once.
    const isTold = blamed !== 'address' && list instanceof UserError && list.code === error.code
    const told = isTold ? found.filter(({ id }) => id !== 'catalog') : found
    if (blamed !== 'network' && told.every(({ id }) => id !== 'network'))
      told.push(networkCheck(baseUrl, access))

    const check = failedCheck(error)
    // The hints of these speak of flags that a setup has and doctor has not.
    if (blamed === 'key' && isSetUp)
      told.push({ ...check, cure: `repoint key ${addressFlags(gateway, caFile)}` })
    else if (blamed === 'key' || blamed === 'address') told.push({ ...check, cure: setupAgain })
    else if (check.cure?.includes('--base-url')) {
      const toChange = `To change it: repoint ${client.family} --base-url URL`
      told.push({ ...check, cure: `${check.cure} ${toChange}` })
    } else told.push(check)
    return told
  }
}

/**
 * What all the clients believe together may be more than this one does: where no public authority
 * vouches for the gateway, the list is asked for once more, as the client would judge it.
 *
 * @throws UserError `tls`
 */
async function expectBelieved(
  { client, settings }: Examined,
  access: GatewayAccess,
  caFile: string | undefined,
): Promise<void> {
  const asClient = {
    ...access,
    authorities: authoritiesOf(access.env, [client]),
    caFile: caFile ?? settings.caFile,
  }
  if (!mayRefuse(asClient, access)) return
  const answer = await catalogOrError(asClient)
  await hangUp(asClient)
  if (answer instanceof UserError && answer.code === 'tls') throw answer
}

/** What a command has to be told to reach a gateway in the same way. */
function addressFlags(gateway: Gateway, caFile: string | undefined): string {
  const { baseUrl } = gateway
  const { messages } = rootsOf(gateway)
  const isMessagesFound = messagesRoots(baseUrl).includes(messages)
  return [
    `--base-url ${baseUrl}`,
    ...(isMessagesFound ? [] : [`--messages-url ${messages}`]),
    ...(isPlainAfar(baseUrl) ? ['--allow-http'] : []),
    ...(caFile === undefined ? [] : [`--ca-file ${asWord(caFile)}`]),
  ].join(' ')
}

/** @throws UserError where nothing can be proven after it */
function checkCatalog(
  session: Session,
  { gateway }: ClientState,
  access: GatewayAccess,
  list: Catalog | UserError,
): Finding[] {
  const { baseUrl } = access
  const where = gateway?.name === undefined ? baseUrl : `${gateway.name} (${baseUrl})`
  if (!(list instanceof UserError))
    return [
      networkCheck(baseUrl, access),
      { id: 'catalog', result: 'ok', message: `${where} lists ${list.models.length} models` },
      ...checkClock(session, baseUrl, list),
    ]

  if (!mayStillServe(list)) throw list
  const message = `${where} has no readable list of models: ${list.message}`
  return [networkCheck(baseUrl, access), { id: 'catalog', result: 'warning', message }]
}

/** @throws UserError why the model is not served */
function probeCheck(
  protocol: ProtocolName,
  list: Catalog | UserError,
  { id: model, result }: Probed,
): Finding {
  if (result.status === 'rejected') throw result.reason
  const isUnlisted = !(list instanceof UserError) && listing(list, model, protocol) === 'absent'
  const beside = isUnlisted ? ', though the gateway does not list it' : ''
  const message = `${model} answers over the ${protocol} protocol${beside}`
  return { id: 'probe', result: 'ok', message }
}

/** @throws UserError where the client's model cannot be used, or only the catalog could tell it */
function choiceOf(
  { client, options, installed }: Examined,
  answer: Catalog | UserError,
): ModelChoice {
  const version = installed?.version
  const chosen = (catalog: Catalog | undefined) =>
    client.choose({ named: {}, kept: options, heard: { catalog, refused: [] } }, version)
  if (!(answer instanceof UserError)) return chosen(answer)
  const choice = resultOf(() => chosen(undefined))
  if (choice instanceof UserError) throw answer
  return choice
}

/** A clock that is further off than this fails certificates and signed requests, in ms. */
const toleratedClockMs = 5 * 60_000

function checkClock(session: Session, baseUrl: string, { serverTime }: Catalog): Finding[] {
  if (serverTime === undefined) return []
  const offMs = session.platform.clock.now().getTime() - serverTime.getTime()
  if (Math.abs(offMs) <= toleratedClockMs) return []
  const minutes = Math.round(Math.abs(offMs) / 60_000)
  const message = `This machine's clock is ${minutes} minutes ${offMs > 0 ? 'ahead of' : 'behind'} that of ${baseUrl}`
  return [{ about: 'machine', id: 'clock', result: 'warning', message, cure: 'Set the clock.' }]
}

function checkProxy({ baseUrl, env }: GatewayAccess): Finding[] {
  const proxy = proxyFor(new URL(baseUrl), env)
  if (proxy === undefined) return []
  const message = `${baseUrl} is reached through the proxy ${proxy.hostname}:${proxy.port} (${proxy.variable})`
  return [{ id: 'proxy', result: 'ok', message }]
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
function networkCheck(baseUrl: string, access: GatewayAccess): Finding {
  const { host, protocol } = new URL(baseUrl)
  const by = isVouchedPrivately(access) ? ` by an authority of ${privateSources(access)}` : ''
  const tls = protocol === 'https:' ? `, and its certificate is trusted${by}` : ''
  return { id: 'network', result: 'ok', message: `${host} is found and answers${tls}` }
}

export function asWarning({ code, message, hint }: Notice): Finding {
  return { id: code, result: 'warning', message, ...compact({ cure: hint }) }
}

export function failedCheck({ code, message, hint }: UserError): Finding {
  return { id: code, result: 'problem', message, ...compact({ cure: hint }), code }
}
