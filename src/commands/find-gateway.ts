import { type ClientName, emptyState } from '../clients/client.ts'
import { familyRows, loadClients } from '../clients/list.ts'
import { compact } from '../compact.ts'
import { resultOf, UserError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import { type AddressOptions, normaliseBaseUrl } from '../gateway/input/base-url.ts'
import {
  applyHeaderChanges,
  type HeaderChange,
  type HeaderSources,
  readHeader,
} from '../gateway/input/header.ts'
import { cleanKey, maxKeyBytes } from '../gateway/input/key.ts'
import { formatLink, type ImportLink, readImportLink } from '../gateway/input/link.ts'
import { assumedRoots } from '../gateway/roots.ts'
import type { BaseUrls, Gateway, GatewayAccess } from '../gateway/types.ts'
import {
  caFileFor,
  hideHeaders,
  savedGatewaysIfReadable,
  savedRoots,
} from '../state/find-gateways.ts'
import type { SavedGateway } from '../state/gateways.ts'
import { keepAddress } from '../state/last-address.ts'
import { savedGatewayFor } from '../state/save-gateway.ts'
import { isImportLink } from '../text.ts'
import type { Runs } from '../transaction/record.ts'
import { stateNow, worldWritableCaFile } from './client-state/files.ts'
import { gatewayOf, isAtOwnRoot, runsOf } from './client-state/state.ts'
import type { GatewayFlags, SetupFlags } from './command.ts'
import { gatewayChoices } from './gateway-choices.ts'
import { wrapLine } from './screen/drawing.ts'
import type { Session } from './screen/session.ts'

/** The facts that an earlier run or a first attempt provides before the search. */
export interface Preset {
  /** The known parts of the gateway. repoint neither looks for them nor asks for them. */
  readonly gateway?: Partial<Gateway> | undefined
  /** The default answer to the question for the address. */
  readonly lastBaseUrl?: string | undefined
  /** The user typed the known key for an address that was rejected. */
  readonly isKeyTyped?: boolean | undefined
  /** The setups in force. At the question for a key, Enter reuses the key of the same address. */
  readonly inUse?: readonly GatewayInUse[]
  /** An import link that was already read. */
  readonly link?: ImportLink | undefined
  /** The question for the address also offers saved gateways and known hosts, by name. */
  readonly offersGateways?: boolean | undefined
}

export interface GatewayInUse extends Gateway {
  readonly family: string
  readonly label: string
  readonly key: string
}

export interface FoundGateway {
  readonly access: GatewayAccess
  readonly notices: readonly Finding[]
  /** Whether the user entered these values at a prompt. If they are rejected, repoint asks again. */
  readonly fromPrompt: { readonly baseUrl: boolean; readonly key: boolean }
  /** The key belongs to a client or a saved gateway. It must not be sent to another address. */
  readonly isKeyInUse: boolean
  /** The content of the import link, if the key came from one. */
  readonly link?: ImportLink | undefined
}

type AddressFlags = GatewayFlags & Pick<SetupFlags, 'messagesUrl' | 'name' | 'yes'>

/** An address or a key, with its source. */
interface SourcedValue {
  readonly value: string
  readonly notices?: readonly Finding[]
  readonly isFromPrompt?: boolean
  readonly isInUse?: boolean
  /** The query of the address. */
  readonly query?: readonly HeaderChange[]
  /** The import link that contained the key. */
  readonly link?: ImportLink
  /** The saved gateway that the user chose. */
  readonly saved?: SavedGateway
}

/**
 * Finds the gateway of this command in the flags, then in the environment, or else asks the user.
 *
 * @throws UserError `usage` or `key-missing`, with the flags to use, if repoint cannot ask
 */
export async function findGateway(
  session: Session,
  flags: AddressFlags,
  preset: Preset = {},
): Promise<FoundGateway> {
  const sources: HeaderSources = {
    variable: (variable) => session.platform.machine.env[variable],
    file: (path) => secretFile(session, path, '--header'),
  }
  const headerChanges = (flags.header ?? []).map((text) => readHeader(text, sources))

  const { gateway: presetGateway = {} } = preset
  const flagKey = presetGateway.key === undefined ? await keyByFlag(session, flags) : undefined
  const importLink = preset.link ?? linkIn(flagKey, flags)
  // Without another address, the address of the link is used.
  const linkPreset = importLink && {
    gateway: { baseUrl: presetGateway.baseUrl ?? importLink.baseUrls[0] },
  }
  const entered = await findBaseUrl(session, flags, linkPreset ?? preset, flagKey !== undefined)
  const known: Partial<Gateway> = entered.saved ?? presetGateway

  const key =
    importLink === undefined
      ? await findKey(
          session,
          flags,
          { ...preset, gateway: known },
          { key: flagKey, address: entered },
        )
      : { value: importLink.key, link: importLink }
  session.hide(key.value)
  // The user can also type a link instead of a key.
  const { link } = key
  const address = link === undefined ? entered : addressIn(link, { flags, known })

  const name = flags.name ?? known.name
  const gateway = { baseUrl: address.value, key: key.value, name }
  const saved = { ...savedGatewayFor(session.platform, gateway), ...compact(known) }
  const headers = applyHeaderChanges(saved.headers ?? [], headerChanges)
  hideHeaders(session, headers)
  const query = applyHeaderChanges(saved.query ?? [], address.query ?? [])
  const caFile = caFileFor(session.platform, address.value, flags.caFile ?? known.caFile)

  return {
    access: accessTo(session, {
      ...gateway,
      baseUrls: rootsAt(session, flags, { ...known, query }, address.value),
      keyHeader: saved.keyHeader,
      headers,
      query,
      timeoutMs: flags.timeout * 1000,
      caFile,
      allowHttp: flags.allowHttp ?? known.allowHttp,
    }),
    notices: [address, key]
      .flatMap(({ notices = [] }) => notices)
      .concat(worldWritableCaFile(session, caFile)),
    fromPrompt: {
      baseUrl: address.isFromPrompt === true,
      key: key.isFromPrompt === true || preset.isKeyTyped === true || entered.saved !== undefined,
    },
    isKeyInUse: key.isInUse === true || entered.saved !== undefined,
    link,
  }
}

/** The import link that a flag or the environment contains instead of a key. Undefined: it is not a link. */
export async function importLinkFor(
  session: Session,
  flags: AddressFlags,
): Promise<ImportLink | undefined> {
  return linkIn(await keyByFlag(session, flags), flags)
}

function linkIn(text: string | undefined, flags: AddressFlags): ImportLink | undefined {
  return text !== undefined && isImportLink(text) ? readImportLink(text, flags) : undefined
}

/**
 * The key of a link is only for the addresses in that link.
 *
 * @throws UserError `usage` if the user names another address, or the command has another one
 */
function addressIn(
  link: ImportLink,
  { flags, known }: { readonly flags: AddressFlags; readonly known: Partial<Gateway> },
): SourcedValue {
  const fromFlag = flags.baseUrl ? normaliseBaseUrl(flags.baseUrl, flags) : undefined
  const baseUrl = fromFlag?.baseUrl ?? known.baseUrl ?? link.baseUrls[0]
  if (!link.baseUrls.includes(baseUrl))
    throw new UserError({
      code: 'usage',
      message: `The link is for ${link.baseUrls.join(', ')}, not for ${baseUrl}`,
      hint: 'A link contains an address and its key. Leave out --base-url, or give a key for that address.',
    })

  const message = `From the link: ${formatLink(link)}`
  return {
    value: baseUrl,
    ...compact({ query: fromFlag?.query }),
    notices: [{ code: 'link-read', message }, ...link.notices],
  }
}

/**
 * The base URLs to try first: the known ones, or else those of the last use, or else those that the
 * address suggests.
 *
 * @throws UserError `usage` if `--messages-url` has another origin
 */
function rootsAt(
  session: Session,
  { messagesUrl, allowHttp }: AddressFlags,
  known: Partial<Gateway>,
  baseUrl: string,
): BaseUrls {
  // An address with a query was copied whole from instructions: its path is the path of the routes.
  const isExact = (known.query ?? []).length > 0 && new URL(baseUrl).pathname !== '/'
  const assumed = isExact ? { chat: baseUrl, messages: baseUrl } : assumedRoots(baseUrl)
  const roots = known.baseUrls ?? savedRoots(session.platform, baseUrl) ?? assumed
  if (messagesUrl === undefined) return roots

  const messages = messagesRootIn(messagesUrl, { allowHttp })
  const { origin } = new URL(baseUrl)
  if (new URL(messages).origin === origin) return { ...roots, messages }
  throw new UserError({
    code: 'usage',
    message: `--messages-url must be at ${origin}, because the key is only for that address`,
    hint: `Set up the clients for ${messages} separately: --base-url ${messages}`,
  })
}

/** @throws UserError `usage` */
function messagesRootIn(text: string, allowed: AddressOptions): string {
  const address = resultOf(() => normaliseBaseUrl(text, allowed))
  const isError = address instanceof UserError
  if (!isError && address.query.length === 0) return address.baseUrl
  const reason = isError ? address.message : 'no client of it can send its query'
  throw new UserError({
    code: 'usage',
    message: `Cannot use --messages-url: ${reason}`,
    hint: 'Example: --messages-url https://gateway.example/anthropic',
  })
}

/** Whether the user names an address or a key now. The two belong together. */
export function namesGateway({ platform }: Session, flags: GatewayFlags): boolean {
  const { baseUrl, keyStdin, keyFile, keyEnv } = flags
  const { REPOINT_BASE_URL, REPOINT_API_KEY } = platform.machine.env
  return [baseUrl, keyStdin, keyFile, keyEnv, REPOINT_BASE_URL, REPOINT_API_KEY].some(Boolean)
}

/** The access to a gateway from this machine, until the user interrupts the command. */
export function accessTo(
  { platform }: Session,
  gateway: Omit<GatewayAccess, 'env' | 'signal' | 'contact'>,
): GatewayAccess {
  const contact = { hasAnswered: false }
  return { ...gateway, env: platform.machine.env, signal: platform.interrupt, contact }
}

/** The newest gateway in use, or the last base URL as a default, unless the user names a gateway now. */
export async function presetUnlessNamed(
  session: Session,
  flags: GatewayFlags,
  runs: Runs,
): Promise<{ readonly preset: Preset; readonly inUse?: GatewayInUse | undefined }> {
  const [inUse] = namesGateway(session, flags) ? [] : await gatewaysInUse(session, runs)
  const preset = inUse ? { gateway: inUse } : { lastBaseUrl: runs[0]?.baseUrl }
  return { preset, inUse }
}

/** The gateways of all setups in force, newest first. */
export async function gatewaysInUse(
  session: Session,
  runs: Runs,
): Promise<readonly GatewayInUse[]> {
  const age = (name: ClientName) => runs.findIndex((run) => runsOf(name, [run]).length > 0)
  const configured = familyRows.filter((row) => age(row) !== -1).toSorted((a, b) => age(a) - age(b))

  return (await loadClients(configured)).flatMap((client) => {
    const { family, label } = client
    const state = stateNow(session, client) ?? emptyState
    const { key, keyHeader, headers, query } = state.endpoint
    const gateway = gatewayOf(session, client, state, runs)
    if (gateway === undefined || !key || !isAtOwnRoot(client, state, runs)) return []
    return [{ ...gateway, family, label, key, keyHeader, headers, query }]
  })
}

async function findBaseUrl(
  session: Session,
  flags: AddressFlags,
  { gateway, lastBaseUrl, offersGateways }: Preset,
  hasKey: boolean,
): Promise<SourcedValue> {
  const { ask, machine } = session.platform
  const clean = (text: string, isFromPrompt = false): SourcedValue => {
    const { baseUrl, query, notices } = normaliseBaseUrl(text, flags)
    return { value: baseUrl, query, notices, isFromPrompt }
  }
  if (gateway?.baseUrl !== undefined) return { value: gateway.baseUrl }
  if (flags.baseUrl !== undefined) return clean(flags.baseUrl)

  const { REPOINT_BASE_URL: fromEnvironment, REPOINT_API_KEY: key } = machine.env
  if (fromEnvironment && (flags.yes || !session.canAsk)) return clean(fromEnvironment)
  if (!session.canAsk) {
    throw new UserError({
      code: 'usage',
      message: key ? 'REPOINT_API_KEY is set. For which gateway?' : 'Which gateway?',
      hint: 'Name its address: --base-url URL, or set REPOINT_BASE_URL.',
    })
  }

  ask.hold()
  const validate = (text: string) => problemAtPrompt(session, () => clean(text))
  const answer = offersGateways
    ? await ask.search({
        message: 'Gateway address, for example gw.example or openrouter.ai:',
        choices: gatewayChoices(session, { fromEnvironment, last: lastBaseUrl }),
        validateOther: validate,
      })
    : await ask.input({
        message: 'Gateway address:',
        default: fromEnvironment || lastBaseUrl,
        validate,
      })

  const saved = offersGateways ? chosenGateway(session, answer, hasKey) : undefined
  if (saved !== undefined) return { value: saved.baseUrl, isFromPrompt: true, saved }
  const typed = clean(answer, true)
  keepAddress(session.platform, typed.value)
  return typed
}

/**
 * The saved gateway with this name, or the only one with this address.
 *
 * @param hasKey the user has given a key for the address
 */
function chosenGateway(
  session: Session,
  answer: string,
  hasKey: boolean,
): SavedGateway | undefined {
  const all = savedGatewaysIfReadable(session)
  const byName = all.find(({ name }) => name === answer)
  if (byName !== undefined || hasKey) return byName

  const address = resultOf(() => normaliseBaseUrl(answer, { allowHttp: true }).baseUrl)
  const [first, second] = all.filter(({ baseUrl }) => baseUrl === address)
  return second === undefined ? first : undefined
}

async function findKey(
  session: Session,
  flags: GatewayFlags,
  { gateway, inUse = [] }: Preset,
  given: { readonly key: string | undefined; readonly address: SourcedValue },
): Promise<SourcedValue> {
  const { value: baseUrl, isFromPrompt: isAddressTyped } = given.address
  const clean = (text: string, isFromPrompt = false): SourcedValue => {
    const link = linkIn(text, flags)
    if (link !== undefined) return { value: link.key, isFromPrompt, link }
    const { key, notices } = cleanKey(text)
    return { value: key, notices, isFromPrompt }
  }

  if (gateway?.key !== undefined) return { value: gateway.key }
  if (given.key !== undefined) return clean(given.key)
  if (!session.canAsk)
    throw new UserError({
      code: 'key-missing',
      message: 'The key is missing',
      hint: 'Use --key-env NAME, --key-file PATH or --key-stdin, or set REPOINT_API_KEY.',
    })

  session.platform.ask.hold()
  const validate = (text: string) => problemAtPrompt(session, () => clean(text))
  const reusable = inUse.find((setup) => setup.baseUrl === baseUrl && validate(setup.key) === true)
  // The user just typed the address, so the question does not repeat it.
  const forAddress = isAddressTyped ? '' : ` for ${baseUrl}`
  const offer = reusable === undefined ? '' : ` (Enter: the key of ${reusable.label})`
  const answer = await session.platform.ask.secret({
    message: `API key${forAddress}${offer}:`,
    validate: (text) => (text === '' && reusable !== undefined) || validate(text),
  })
  if (answer === '' && reusable !== undefined)
    return { ...clean(reusable.key, true), isInUse: true }
  return clean(answer, true)
}

/** The key from a flag or the environment. Undefined: neither contains one. */
async function keyByFlag(session: Session, flags: GatewayFlags): Promise<string | undefined> {
  const { env } = session.platform.machine
  const { keyStdin, keyFile, keyEnv } = flags
  if (Object.keys(compact({ keyStdin, keyFile, keyEnv })).length > 1)
    throw new UserError({
      code: 'usage',
      message: 'The command names more than one key',
      hint: 'Keep one of --key-stdin, --key-file and --key-env.',
    })

  if (keyStdin) return asText(await keyFromStdin(session))
  if (keyFile !== undefined) return secretFile(session, keyFile, '--key-file')

  if (keyEnv === undefined) return env['REPOINT_API_KEY'] || undefined
  if (!/^[A-Za-z_]\w{0,63}$/.test(keyEnv))
    throw new UserError({
      code: 'usage',
      message: '--key-env needs the name of an environment variable',
      hint: 'Example: --key-env MY_KEY. To pass the key itself: --key-stdin or --key-file PATH',
    })

  const value = env[keyEnv]
  if (value === undefined)
    throw new UserError({
      code: 'key-missing',
      message: `The environment variable ${keyEnv} (--key-env) is not set`,
      hint: 'Set the variable, or pass the key with --key-stdin or --key-file PATH.',
    })
  return value
}

async function keyFromStdin({ platform }: Session): Promise<Uint8Array> {
  // The user types the key itself there.
  platform.ask.release()
  try {
    return await platform.terminal.readStdin(maxKeyBytes)
  } catch (error) {
    throw new UserError({
      code: 'key-missing',
      message: 'Cannot read the key from standard input',
      hint: 'Pipe one line into the command: --key-stdin < key.txt',
      cause: error,
    })
  }
}

function secretFile(session: Session, path: string, flag: '--key-file' | '--header'): string {
  const what = flag === '--key-file' ? 'key file' : 'file'
  try {
    return asText(session.platform.files.read(path, maxKeyBytes))
  } catch (error) {
    throw new UserError({
      code: 'key-missing',
      message: `Cannot read the ${what} ${session.showPath(path)}`,
      hint: `Check the path of ${flag} and its permissions.`,
      cause: error,
    })
  }
}

function asText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8').decode(bytes)
}

/** Why an answer is not valid, in the words that the prompt shows. The answer itself can be a secret. */
function problemAtPrompt(session: Session, check: () => unknown): true | string {
  const problem = resultOf(check)
  if (!(problem instanceof UserError)) return true
  const { message, hintAtPrompt } = problem
  const text = session.forPeople(hintAtPrompt ? `${message}. ${hintAtPrompt}` : message)
  // The prompt puts its own `> ` in front.
  return wrapLine(text, session.platform.terminal.columns - 2).replaceAll('\n', '\n  ')
}
