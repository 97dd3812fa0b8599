import { UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { type AddressOptions, normaliseBaseUrl } from './base-url.ts'
import { cleanKey } from './key.ts'

/**
 * What the button of a gateway's page hands to a tool: `ccswitch://v1/import?resource=provider&app=…`.
 * The form is CC Switch's (its manual 5.3, 3.20.0); New API, sub2api and others emit it (2026-11-23).
 */
export interface ImportLink {
  readonly key: string
  /** At least one, as `normaliseBaseUrl` gives them. The first that proves is the one. */
  readonly baseUrls: readonly [string, ...string[]]
  /** The client that the link is for, by the word of its command line; it may be none of ours. */
  readonly client: string | undefined
  readonly name: string | undefined
  readonly model: string | undefined
  /** By slot: opus, sonnet, haiku. */
  readonly slotModels: Readonly<Record<string, string>>
  readonly notices: readonly Finding[]
}

const maxAddresses = 8
const maxTextLength = 200

/** What a link says, without its key, on one line. */
export function shownLink({ client, name, baseUrls, model, slotModels }: ImportLink): string {
  const models = [
    model ?? [],
    Object.entries(slotModels).map(([slot, id]) => `${slot} ${id}`),
  ].flat()
  return [
    ...(name === undefined ? [] : [JSON.stringify(name)]),
    ...(client === undefined ? [] : [`for ${client}`]),
    baseUrls.join(' or '),
    ...models,
  ].join(', ')
}

/**
 * Reads a link as data: no script of it is run, no configuration of it is fetched or obeyed. No message
 * ever holds the link, since the key is in it.
 *
 * @throws UserError `usage`, `key-missing` or `key-placeholder`
 */
export function readImportLink(text: string, allowed: AddressOptions): ImportLink {
  const fields = fieldsOf(text)
  const kind = single(fields, 'resource') ?? 'provider'
  if (kind !== 'provider') throw badLink('The link brings something else than a gateway')

  const given = single(fields, 'apiKey')
  const addresses = single(fields, 'endpoint')
  if (given === undefined || addresses === undefined) {
    const what = given === undefined ? 'key' : 'address'
    throw badLink(`The link holds no ${what}${fields.has('config') ? ' of its own' : ''}`)
  }

  const { key, notices } = cleanKey(given)
  const [first, ...others] = addressesIn(addresses, allowed)
  const slotModels = ['opus', 'sonnet', 'haiku'].flatMap((slot): [string, string][] => {
    const model = single(fields, `${slot}Model`)
    return model === undefined ? [] : [[slot, model]]
  })
  return {
    key,
    baseUrls: [first!, ...others],
    client: single(fields, 'app'),
    name: single(fields, 'name'),
    model: single(fields, 'model'),
    slotModels: Object.fromEntries(slotModels),
    notices: [...notices, ...leftOut(fields)],
  }
}

function fieldsOf(text: string): URLSearchParams {
  const bare = text.trim().replace(/^["'<]|["'>]$/g, '')
  const url = URL.canParse(bare) ? new URL(bare) : undefined
  const isImport = url?.host.toLowerCase() === 'v1' && /^\/import\/?$/.test(url.pathname)
  if (!isImport) throw badLink('The link is none that adds a gateway')
  return url.searchParams
}

/** @throws UserError `usage` for what is there twice, is too long or holds control characters */
function single(fields: URLSearchParams, name: string): string | undefined {
  const [value, ...others] = fields.getAll(name).map((one) => one.trim())
  if (others.length > 0) throw badLink(`The link names ${name} more than once`)
  if (value === undefined || value === '') return undefined
  const isShort = value.length <= maxTextLength || ['apiKey', 'endpoint'].includes(name)
  if (!isShort || /\p{Cc}|\p{Cf}/u.test(value))
    throw badLink(`${name} in the link is too long or holds control characters`)
  return value
}

function addressesIn(text: string, allowed: AddressOptions): readonly string[] {
  const given = text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)
  if (given.length === 0) throw badLink('The link holds no address')
  if (given.length > maxAddresses)
    throw badLink(`The link holds ${given.length} addresses, and repoint tries ${maxAddresses}`)
  const addresses = given.map((one) => normaliseBaseUrl(one, allowed))
  if (addresses.some(({ query }) => query.length > 0))
    throw badLink('An address in the link has a query')
  return [...new Set(addresses.map(({ baseUrl }) => baseUrl))]
}

/** What the link brings beside a gateway. */
function leftOut(fields: URLSearchParams): readonly Finding[] {
  const brought = [
    ['usageScript', 'a script'],
    ['config', 'a configuration'],
    ['configUrl', 'the address of a configuration'],
  ].flatMap(([name, what]) => (fields.get(name!) ? [what!] : []))
  if (brought.length === 0) return []
  const message = `The link also brings ${brought.join(' and ')}, which repoint leaves alone`
  return [{ code: 'link-parts-unused', message }]
}

function badLink(message: string): UserError {
  return new UserError({
    code: 'usage',
    message,
    hint: "Copy key and address by themselves from the gateway's page.",
  })
}
