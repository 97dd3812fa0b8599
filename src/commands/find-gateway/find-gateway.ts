/**
 * Step 1 of a setup, and of every other command that needs a gateway: its address, key and headers. The first
 * source that has a value wins:
 *
 *     address   preset, --base-url, REPOINT_BASE_URL (if repoint cannot ask, or with --yes), a prompt
 *     key       preset, --key-stdin, --key-file or --key-env, REPOINT_API_KEY, a prompt
 *     the rest  flags, then the preset, then what repoint saved for this address
 *
 * The *preset* is what the command knows already: the gateway of `repoint key`, or what an earlier try of this
 * command found. A key may be an import link, which contains an address too. Then the address is the first of
 * --base-url, preset and link, and it must be one of the link's.
 */
import { compact } from '../../compact.ts'
import { UserError, valueOrError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { assumedBaseUrls } from '../../gateway/base-urls.ts'
import { type AddressOptions, normaliseAddress } from '../../gateway/input/address.ts'
import {
  applyHeaderChanges,
  type HeaderChange,
  type HeaderSources,
  readHeader,
} from '../../gateway/input/header.ts'
import { formatLink, type ImportLink } from '../../gateway/input/link.ts'
import type { BaseUrls, Gateway, GatewayAccess } from '../../gateway/types.ts'
import { savedGatewayFor } from '../../state/save-gateway.ts'
import { caFileFor, hideHeaders, savedBaseUrls } from '../../state/saved-gateways.ts'
import { worldWritableCaFile } from '../client-state/file-permissions.ts'
import type { Session } from '../screen/session.ts'
import { accessTo } from './access.ts'
import { type FindFlags, type FoundAddress, findAddress } from './find-address.ts'
import { type FoundKey, findKey, linkIn, readGivenKey, secretFile } from './find-key.ts'
import type { KeySource, Preset } from './preset.ts'

/** The gateway of a command, and where its address and key came from. */
export interface FoundGateway {
  readonly access: GatewayAccess
  readonly findings: readonly Finding[]
  /** If the gateway rejects an address from a prompt, repoint asks again. */
  readonly isAddressFromPrompt: boolean
  readonly keySource: KeySource
  /** The content of the import link, if the key came from one. */
  readonly link?: ImportLink
}

/**
 * Finds the gateway of this command, or asks the user for it.
 *
 * @throws UserError `usage` or `key-missing`, with the flags to use, if repoint cannot ask
 */
export async function findGateway(
  session: Session,
  flags: FindFlags,
  preset: Preset = {},
): Promise<FoundGateway> {
  // A wrong header is an error before the first question.
  const headerChanges = headerFlags(session, flags)
  const { address, key, knownGateway } = await findAddressAndKey(session, flags, preset)
  session.hide(key.value)

  const name = flags.name ?? knownGateway.name
  const gateway = { address: address.value, key: key.value, name }
  const saved = savedGatewayFor(session.platform, gateway)
  const known: Partial<Gateway> = { ...saved, ...compact(knownGateway) }
  const headers = applyHeaderChanges(known.headers ?? [], headerChanges)
  hideHeaders(session, headers)
  const query = applyHeaderChanges(known.query ?? [], address.query ?? [])
  const caFile = caFileFor(session.platform, address.value, flags.caFile ?? known.caFile)

  return {
    access: accessTo(session, {
      ...gateway,
      baseUrls: findBaseUrls(session, flags, { ...known, query }, address.value),
      keyHeader: known.keyHeader ?? 'authorization',
      headers,
      query,
      timeoutMs: flags.timeout * 1000,
      caFile,
      allowHttp: flags.allowHttp ?? known.allowHttp,
    }),
    findings: [
      ...(address.findings ?? []),
      ...(key.findings ?? []),
      ...worldWritableCaFile(session, caFile),
    ],
    isAddressFromPrompt: address.isFromPrompt === true,
    keySource: key.source,
    link: key.link,
  }
}

interface AddressAndKey {
  readonly address: FoundAddress
  readonly key: FoundKey
  /** The gateway of the preset, or the saved one that the user chose instead. */
  readonly knownGateway: Partial<Gateway>
}

/** The address and its key. An import link contains both. */
async function findAddressAndKey(
  session: Session,
  flags: FindFlags,
  preset: Preset,
): Promise<AddressAndKey> {
  const { gateway = {} } = preset
  const givenKey = gateway.key === undefined ? await readGivenKey(session, flags) : undefined
  const link = preset.link ?? linkIn(givenKey, flags)
  if (link !== undefined) {
    const address = addressIn(link, flags, gateway)
    return { address, key: { value: link.key, source: 'given', link }, knownGateway: gateway }
  }

  const address = await findAddress(session, flags, preset, givenKey !== undefined)
  if (address.saved !== undefined) {
    const key = { value: address.saved.key, source: 'saved' } as const
    return { address, key, knownGateway: address.saved }
  }

  const key = await findKey(session, flags, preset, { key: givenKey, address })
  if (key.link === undefined) return { address, key, knownGateway: gateway }

  // The user has typed a link instead of a key.
  return { address: addressIn(key.link, flags, gateway), key, knownGateway: gateway }
}

/** The headers that the flags name. Their values can come from variables and files. */
function headerFlags(session: Session, flags: FindFlags): readonly HeaderChange[] {
  const sources: HeaderSources = {
    variable: (variable) => session.platform.machine.env[variable],
    file: (path) => secretFile(session, path, '--header'),
  }
  return (flags.header ?? []).map((text) => readHeader(text, sources))
}

/**
 * The key of a link is only for the addresses in that link.
 *
 * @throws UserError `usage` if the user names another address, or the command has another one
 */
function addressIn(link: ImportLink, flags: FindFlags, known: Partial<Gateway>): FoundAddress {
  const fromFlag = flags.baseUrl ? normaliseAddress(flags.baseUrl, flags) : undefined
  const address = fromFlag?.address ?? known.address ?? link.addresses[0]
  if (!link.addresses.includes(address))
    throw new UserError({
      code: 'usage',
      message: `The link is for ${link.addresses.join(', ')}, not for ${address}`,
      hint: 'A link contains an address and its key. Leave out --base-url, or give a key for that address.',
    })

  const message = `From the link: ${formatLink(link)}`
  return {
    value: address,
    ...compact({ query: fromFlag?.query }),
    findings: [{ code: 'link-read', severity: 'note', message }, ...link.findings],
  }
}

/**
 * The base URLs to try first: the known ones, or else those of the last use, or else those that the
 * address suggests.
 *
 * @throws UserError `usage` if `--messages-url` has another origin
 */
function findBaseUrls(
  session: Session,
  { messagesUrl, allowHttp }: FindFlags,
  known: Partial<Gateway>,
  address: string,
): BaseUrls {
  // An address with a query was copied whole from instructions: its path is the path of the routes.
  const isExact = (known.query ?? []).length > 0 && new URL(address).pathname !== '/'
  const assumed = isExact ? { chat: address, messages: address } : assumedBaseUrls(address)
  const baseUrls = known.baseUrls ?? savedBaseUrls(session.platform, address) ?? assumed
  if (messagesUrl === undefined) return baseUrls

  const messages = readMessagesUrl(messagesUrl, { allowHttp })
  const { origin } = new URL(address)
  if (new URL(messages).origin === origin) return { ...baseUrls, messages }
  throw new UserError({
    code: 'usage',
    message: `--messages-url must be at ${origin}, because the key is only for that address`,
    hint: `Set up the clients for ${messages} separately: {--base-url ${messages}}`,
  })
}

/** @throws UserError `usage` */
function readMessagesUrl(text: string, allowed: AddressOptions): string {
  const address = valueOrError(() => normaliseAddress(text, allowed))
  const isError = address instanceof UserError
  if (!isError && address.query.length === 0) return address.address
  const reason = isError ? address.message : 'no client can send a query with this protocol'
  throw new UserError({
    code: 'usage',
    message: `Cannot use --messages-url: ${reason}`,
    hint: 'Example: --messages-url https://gateway.example/anthropic',
  })
}
