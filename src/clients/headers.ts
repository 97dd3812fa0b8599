import type { ConfigValue, KeyChange, KeyPath } from '../edits/plan.ts'
import { UserError } from '../errors.ts'
import { judgedHeader } from '../gateway/input/header.ts'
import { type ExtraHeader, type KeyHeader, keyHeaders } from '../gateway/types.ts'
import { type Choice, type ClientModule, type ClientName, runKeyVariable } from './client.ts'
import { isTable } from './texts.ts'

/**
 * Whether a client can ask a gateway as it has to be asked.
 *
 * @throws UserError `protocol-unsupported`
 */
export function expectSendable(
  { label, sends }: Pick<ClientName, 'label'> & Pick<ClientModule, 'sends'>,
  { headers = [], query = [], keyHeader }: Pick<Choice, 'headers' | 'query' | 'keyHeader'>,
): void {
  if (headers.length > 0 && sends?.headers !== true)
    throw new UserError({
      code: 'protocol-unsupported',
      message: `${label} cannot send headers of its user's choice, and this gateway is asked with ${headers.map(({ name }) => name).join(', ')}`,
      hint: `Set up the other clients without ${label}, or take the headers out: --header '${headers[0]!.name}:'.`,
    })
  if (query.length > 0 && !sends?.queries)
    throw new UserError({
      code: 'protocol-unsupported',
      message: `${label} cannot send a query, and this gateway is asked with ?${query.map(({ name }) => name).join(', ')}`,
      hint: `Codex can: repoint codex. Where the gateway does without, take it out of the address: '?${query[0]!.name}='.`,
    })
  if (keyHeader !== undefined && sends?.keyHeaders.includes(keyHeader) !== true)
    throw new UserError({
      code: 'protocol-unsupported',
      message: `The gateway takes the key as ${keyHeader} alone, and ${label} cannot send it so`,
      hint: `Set up the other clients without ${label}, or ask whoever runs the gateway about \`authorization: Bearer\`.`,
    })
}

/** What the client is to send; the key among it, where it goes under another name than usual. */
export function wantedHeaders({ headers = [], keyHeader, key }: Choice): readonly ExtraHeader[] {
  return keyHeader === undefined
    ? headers
    : [...headers, { name: keyHeader, value: key, isSecret: true }]
}

/**
 * Whether a header that stands there must not stay: it is of another setup, it would carry a key of
 * before, or a credential for one address would go to another.
 */
export function isStrayHeader(
  { name, value }: Pick<ExtraHeader, 'name' | 'value'>,
  { formerHeaders = [], isFromElsewhere }: Choice,
  isOtherAddress: boolean,
): boolean {
  return (
    keyHeaders.some((one) => one === name) ||
    formerHeaders.some((one) => one.name === name && one.value === value) ||
    (isOtherAddress && judgedHeader(name, value).isSecret === true) ||
    isFromElsewhere?.({ name, value }) === true
  )
}

/**
 * The changes of a table of headers, a key each. The user's own stay, also in how they are spelled.
 *
 * @param isOtherAddress the table stands for another address so far
 */
export function headerKeys(
  path: KeyPath,
  found: ConfigValue | undefined,
  choice: Choice,
  isOtherAddress: boolean,
): readonly KeyChange[] {
  const standing = isTable(found) ? Object.keys(found) : []
  const wanted = wantedHeaders(choice)
  const isWanted = (name: string) => wanted.some((one) => one.name === name.toLowerCase())
  const gone = textHeaders(found)
    .filter(({ name }) => !isWanted(name))
    .filter((one) =>
      isStrayHeader({ ...one, name: one.name.toLowerCase() }, choice, isOtherAddress),
    )
  if (wanted.length === 0 && gone.length > 0 && gone.length === standing.length)
    return [{ path, value: undefined, isBound: true }]

  return [
    ...gone.map(({ name }) => ({ path: [...path, name], value: undefined, ...bound })),
    ...wanted.map(({ name, value, isSecret }) => {
      const spelled = standing.find((one) => one.toLowerCase() === name) ?? name
      return { path: [...path, spelled], value, ...(isSecret ? bound : {}) }
    }),
  ]
}

/** It is undone with address and key: alone it would go elsewhere. */
const bound = { isSecret: true, isBound: true } as const

function textHeaders(found: ConfigValue | undefined) {
  return Object.entries(isTable(found) ? found : {}).flatMap(([name, value]) =>
    typeof value === 'string' ? [{ name, value }] : [],
  )
}

/**
 * What a client is to send in one process, a variable each: its arguments and files can be read by
 * others. The key has its variable already.
 */
export function headersInVariables(
  choice: Choice,
): readonly (ExtraHeader & { readonly variable: string })[] {
  return wantedHeaders(choice).map((header, index) => ({
    ...header,
    variable: header.name === choice.keyHeader ? runKeyVariable : `REPOINT_RUN_HEADER_${index + 1}`,
  }))
}

/** What a table of headers sends, the key apart, if it is there. */
export function readHeaders(found: ConfigValue | undefined): {
  /** Undefined: none. */
  readonly headers: readonly ExtraHeader[] | undefined
  readonly keyed: { readonly keyHeader: KeyHeader; readonly key: string } | undefined
} {
  const all = textHeaders(found).map(({ name, value }) => judgedHeader(name, value))
  const keyed = keyHeaders.flatMap((keyHeader) =>
    all.filter(({ name }) => name === keyHeader).map(({ value: key }) => ({ keyHeader, key })),
  )
  const headers = all.filter(({ name }) => keyHeaders.every((one) => one !== name))
  return { headers: headers.length === 0 ? undefined : headers, keyed: keyed[0] }
}
