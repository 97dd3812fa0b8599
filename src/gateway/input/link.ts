import { UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { type AddressOptions, normaliseAddress } from './address.ts'
import { cleanKey } from './key.ts'

/**
 * The import link of a gateway's web page: `ccswitch://v1/import?resource=provider&app=…`. CC Switch
 * defines it (manual 5.3, version 3.20.0). New API, sub2api and others create it (2026-11-23).
 */
export interface ImportLink {
  readonly key: string
  /** At least one, normalised. repoint uses the first one that can be proven. */
  readonly addresses: readonly [string, ...string[]]
  /** The client of the link, by the name of its command. It may be one that repoint does not know. */
  readonly client: string | undefined
  readonly name: string | undefined
  readonly model: string | undefined
  /** By slot: opus, sonnet, haiku. */
  readonly slotModels: Readonly<Record<string, string>>
  readonly findings: readonly Finding[]
}

const maxAddresses = 8
const maxTextLength = 200

/** Formats a link on one line, without its key. */
export function formatLink({ client, name, addresses, model, slotModels }: ImportLink): string {
  const models = [
    model ?? [],
    Object.entries(slotModels).map(([slot, id]) => `${slot} ${id}`),
  ].flat()
  return [
    ...(name === undefined ? [] : [JSON.stringify(name)]),
    ...(client === undefined ? [] : [`for ${client}`]),
    addresses.join(' or '),
    ...models,
  ].join(', ')
}

/**
 * Parses a link as data. repoint never runs its script, and never fetches or applies its configuration.
 * No message ever contains the link, because the key is in it.
 *
 * @throws UserError `usage`, `key-missing` or `key-placeholder`
 */
export function readImportLink(text: string, options: AddressOptions): ImportLink {
  const fields = parseFields(text)
  const kind = readField(fields, 'resource') ?? 'provider'
  if (kind !== 'provider') throw invalidLink('The link does not add a gateway')

  const keyText = readField(fields, 'apiKey')
  const addresses = readField(fields, 'endpoint')
  if (keyText === undefined || addresses === undefined) {
    const what = keyText === undefined ? 'key' : 'address'
    throw invalidLink(`The link contains no ${what}`)
  }

  const { key, findings } = cleanKey(keyText)
  const baseUrls = readAddresses(addresses, options)
  const slotModels = ['opus', 'sonnet', 'haiku'].flatMap((slot): [string, string][] => {
    const model = readField(fields, `${slot}Model`)
    return model === undefined ? [] : [[slot, model]]
  })

  return {
    key,
    addresses: baseUrls,
    client: readField(fields, 'app'),
    name: readField(fields, 'name'),
    model: readField(fields, 'model'),
    slotModels: Object.fromEntries(slotModels),
    findings: [...findings, ...unusedParts(fields)],
  }
}

function parseFields(text: string): URLSearchParams {
  const bare = text.trim().replace(/^["'<]|["'>]$/g, '')
  const url = URL.canParse(bare) ? new URL(bare) : undefined
  const isImport = url?.host.toLowerCase() === 'v1' && /^\/import\/?$/.test(url.pathname)
  if (!isImport) throw invalidLink('The link does not add a gateway')
  return url.searchParams
}

/** @throws UserError `usage` if the field is repeated, too long, or has control characters */
function readField(fields: URLSearchParams, name: string): string | undefined {
  const [value, ...repeated] = fields.getAll(name).map((text) => text.trim())
  if (repeated.length > 0) throw invalidLink(`The link names ${name} more than once`)
  if (value === undefined || value === '') return undefined
  const isShort = value.length <= maxTextLength || ['apiKey', 'endpoint'].includes(name)
  if (!isShort || /\p{Cc}|\p{Cf}/u.test(value))
    throw invalidLink(`${name} in the link is too long or contains control characters`)
  return value
}

function readAddresses(text: string, options: AddressOptions): ImportLink['addresses'] {
  const addressTexts = text
    .split(',')
    .map((address) => address.trim())
    .filter(Boolean)
  if (addressTexts.length === 0) throw invalidLink('The link contains no address')
  if (addressTexts.length > maxAddresses)
    throw invalidLink(
      `The link contains ${addressTexts.length} addresses, more than ${maxAddresses}`,
    )

  const addresses = addressTexts.map((address) => normaliseAddress(address, options))
  if (addresses.some(({ query }) => query.length > 0))
    throw invalidLink('An address in the link has a query')

  const [first, ...alternatives] = new Set(addresses.map(({ address }) => address))
  return [first!, ...alternatives]
}

/** Reports the parts of a link that repoint does not use. */
function unusedParts(fields: URLSearchParams): readonly Finding[] {
  const parts = [
    ['usageScript', 'a script'],
    ['config', 'a configuration'],
    ['configUrl', 'the address of a configuration'],
  ].flatMap(([name, what]) => (fields.get(name!) ? [what!] : []))
  if (parts.length === 0) return []
  const message = `repoint ignores ${parts.join(' and ')} in the link`
  return [{ code: 'link-parts-unused', severity: 'note', message }]
}

function invalidLink(message: string): UserError {
  return new UserError({
    code: 'usage',
    message,
    hint: "Copy the key and the address separately from the gateway's page.",
  })
}
