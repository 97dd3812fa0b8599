/**
 * Team files: `repoint setup --from` reads one before step 1, and `repoint gateways export` writes one.
 *
 * In: a path, an address or options. Out: a `TeamFile`, or its text.
 */
import * as v from 'valibot'
import type { ClientFlag, ClientOptions } from '../../clients/contract/options.ts'
import { type ClientRow, clientRows } from '../../clients/list.ts'
import { mergeOptions } from '../../clients/options/flags.ts'
import { UserError } from '../../errors.ts'
import { usualBaseUrls } from '../../gateway/base-urls.ts'
import { asObject, jsonIn } from '../../gateway/foreign-text.ts'
import { request } from '../../gateway/http/request.ts'
import { type AddressOptions, normaliseAddress } from '../../gateway/input/address.ts'
import { formatHeader, readHeader } from '../../gateway/input/header.ts'
import { errorFor, judge } from '../../gateway/judge/judge.ts'
import type { ExtraHeader } from '../../gateway/types.ts'
import { InvalidData, list, object, parseData, text } from '../../schema.ts'
import { expectGatewayName } from '../../state/saved-gateways.ts'
import { printableLine } from '../../text.ts'
import { type FlagValue, isValidFor } from '../command-line/client-flags.ts'
import type { GatewayFlags } from '../command-line/flags.ts'
import { accessTo } from '../find-gateway/access.ts'
import type { Session } from '../screen/session.ts'

/**
 * What an operator publishes for a team: an address, its headers, and for each client the values of its
 * command's flags. The file can contain nothing else, and never a key or another secret.
 */
export interface TeamFile {
  readonly baseUrl: string
  /** The messages base URL, if it is not `baseUrl`. */
  readonly messagesUrl?: string
  readonly name?: string
  readonly headers?: readonly ExtraHeader[]
  readonly clients: readonly TeamClient[]
}

export interface TeamClient {
  readonly id: string
  /** By the name of the flag without leading dashes: `opus-model`. */
  readonly flags: Readonly<Record<string, FlagValue | undefined>>
  readonly options: ClientOptions
}

/** The largest accepted file, in bytes. */
const maxTeamFileBytes = 64 * 1024

const tooLarge = `too large for a team file (more than ${maxTeamFileBytes} bytes)`

/**
 * Reads a team file from the disk or from the web. On the web, it accepts https only, follows no
 * redirect to another origin and sends no key.
 *
 * @throws UserError
 */
export async function fetchTeamFile(
  session: Session,
  source: string,
  flags: GatewayFlags,
): Promise<TeamFile> {
  const isAddress = /^[a-z][a-z0-9+.-]+:\/\//i.test(source)
  const bytes = isAddress ? await download(session, source, flags) : readLocal(session, source)
  const place = isAddress ? source : session.showPath(source)
  return readTeamFile(bytes, place, flags)
}

function readLocal(session: Session, path: string): Uint8Array {
  try {
    return session.platform.files.read(path, maxTeamFileBytes)
  } catch (error) {
    throw new UserError({
      code: 'usage',
      message:
        error instanceof RangeError
          ? `${session.showPath(path)} is ${tooLarge}`
          : `Cannot read the file ${session.showPath(path)} (--from)`,
      hint: 'Check the path and its permissions.',
      cause: error,
    })
  }
}

async function download(
  session: Session,
  source: string,
  { timeout, caFile }: GatewayFlags,
): Promise<Uint8Array> {
  const url = URL.canParse(source) ? new URL(source) : undefined
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw new UserError({
      code: 'usage',
      message: '--from needs the path of a file, or an https address without a login',
      hint: 'Download the file and check it, then run: repoint setup --from FILE',
    })

  const access = accessTo(session, {
    address: url.href,
    // repoint only requests the file, so these are not used.
    baseUrls: usualBaseUrls(url.origin),
    key: '',
    keyHeader: 'authorization',
    timeoutMs: timeout * 1000,
    caFile,
  })

  const result = await request(access, {
    method: 'GET',
    url: access.address,
    headers: { accept: 'application/json', 'user-agent': 'repoint' },
    maxBytes: maxTeamFileBytes,
  })
  const judged = judge(access, result, { route: 'catalog' })
  if (judged.kind === 'no-response') throw errorFor(judged.outcome)

  const { status, body, cut } = judged.response
  if (status === 200 && cut === undefined) return new TextEncoder().encode(body)

  const isRedirect = status >= 300 && status < 400
  let message = `${url.host} answers ${status} instead of the file`
  if (isRedirect) message = `${url.host} redirects to another address, and repoint does not follow`
  if (cut === 'limit') message = `The answer of ${url.host} is ${tooLarge}`

  throw new UserError({
    code: isRedirect ? 'redirected' : 'not-an-api',
    message,
    hint: 'Check the address after --from.',
  })
}

/** @throws UserError `config-invalid` with the place in the file; `usage` for a rejected address, name or header */
function readTeamFile(bytes: Uint8Array, place: string, allowed: AddressOptions): TeamFile {
  const refusal = (what: string) =>
    new UserError({
      code: 'config-invalid',
      message: `${place} is not a team file: ${printableLine(what)}`,
      hint: 'Write one: repoint gateways export NAME > repoint.json',
    })

  const readAddress = (text: string) => {
    const { address, query } = normaliseAddress(text, allowed)
    if (query.length > 0) throw refusal('an address in it has a query')
    return address
  }

  // A variable or a file of this machine could be a secret.
  const refuseSource = () => {
    throw refusal('a header in it names a variable or a file')
  }
  const readFileHeader = (text: string) => {
    const header = readHeader(text, { variable: refuseSource, file: refuseSource })
    if (header.value === undefined) throw refusal('a header in it has no value')
    return header
  }

  const { name, headers = [], clients, ...addresses } = parseTeamFile(bytes, refusal)
  if (name !== undefined) expectGatewayName(name)
  return {
    baseUrl: readAddress(addresses.baseUrl),
    messagesUrl: addresses.messagesUrl && readAddress(addresses.messagesUrl),
    name,
    headers: headers.map(readFileHeader),
    clients: clientRows.flatMap((row) => {
      const flags = clients[row.id]
      return flags === undefined ? [] : [{ id: row.id, flags, options: optionsOfFlags(row, flags) }]
    }),
  }
}

/** @throws the error that `refusal` creates for the first invalid place */
function parseTeamFile(bytes: Uint8Array, refusal: (what: string) => UserError) {
  try {
    return parseData(fileSchema, jsonIn(new TextDecoder().decode(bytes)))
  } catch (error) {
    throw error instanceof InvalidData ? refusal(error.message) : error
  }
}

const fileSchema = object({
  version: v.literal(1, 'is not 1'),
  name: v.optional(text),
  baseUrl: text,
  messagesUrl: v.optional(text),
  headers: v.optional(list(text)),
  clients: object(
    Object.fromEntries(clientRows.map((row) => [row.id, v.optional(flagsSchema(row))])),
  ),
})

function flagsSchema({ flags }: ClientRow) {
  const valueSchema = (flag: ClientFlag) =>
    v.custom<FlagValue>((value) => isValidFor(flag, value), 'has a wrong value')
  return object(
    Object.fromEntries(flags.map((flag) => [nameOfFlag(flag), v.exactOptional(valueSchema(flag))])),
  )
}

function optionsOfFlags(row: ClientRow, values: TeamClient['flags']): ClientOptions {
  const options = row.flags.flatMap((flag) => {
    const value = values[nameOfFlag(flag)]
    return value === undefined ? [] : [flag.toOptions(value)]
  })
  return mergeOptions(options)
}

/** `--opus-model <id>`: opus-model. */
function nameOfFlag({ flag }: ClientFlag): string {
  return flag.replace(/^--(?:no-)?/, '').replace(/ .*/, '')
}

/** The values of `--header` for a setup with a team file. A header that the user typed replaces the file's. */
export function headerFlags(
  { headers = [] }: TeamFile,
  typed: readonly string[] = [],
): readonly string[] {
  const typedNames = typed.map((header) => header.replace(/:.*/s, '').trim().toLowerCase())
  const ofFile = headers.filter(({ name }) => !typedNames.includes(name))
  return [...ofFile.map(formatHeader), ...typed]
}

/** The file's text, for display and for writing. */
export function formatTeamFile(team: TeamFile): string {
  const { baseUrl, messagesUrl, name, headers = [], clients } = team
  const byId = Object.fromEntries(clients.map(({ id, flags }) => [id, flags]))
  const document = {
    version: 1,
    name,
    baseUrl,
    messagesUrl,
    headers: headers.length > 0 ? headers.map(formatHeader) : undefined,
    clients: byId,
  }
  return `${JSON.stringify(document, undefined, 2)}\n`
}

/**
 * The flags for these options, for a file that sets up other machines in the same way. A flag belongs to the
 * options if one of their values, given to it, yields a part of them. Two flags never yield the same member.
 */
export function flagsFor(row: ClientRow, options: ClientOptions): TeamClient['flags'] {
  const values = leavesOf(options)
  const namedValues = row.flags.flatMap((flag) => {
    const value = values.find(
      (candidate) => isValidFor(flag, candidate) && isPartOf(flag.toOptions(candidate), options),
    )
    return value === undefined ? [] : [[nameOfFlag(flag), value]]
  })
  return Object.fromEntries(namedValues)
}

/** All values of an object, at every depth. */
function leavesOf(value: unknown): readonly FlagValue[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leavesOf)
  return value === undefined || value === null ? [] : [value as FlagValue]
}

function isPartOf(part: unknown, whole: unknown): boolean {
  const partMembers = asObject(part)
  const wholeMembers = asObject(whole)
  if (partMembers === undefined || wholeMembers === undefined) return part === whole
  return Object.entries(partMembers).every(([name, member]) => isPartOf(member, wholeMembers[name]))
}
