import type { ConfigValue, SettingChange, SettingPath } from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import type { Findings } from '../../finding.ts'
import { classifyHeader, includesHeader } from '../../gateway/input/header.ts'
import {
  type ExtraHeader,
  type OtherKeyHeader,
  otherKeyHeaders,
  type QueryParameter,
} from '../../gateway/types.ts'
import type { ClientModule, ClientName } from '../contract/client.ts'
import { launchKeyVariable } from '../contract/program.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { isTable } from '../files/tables.ts'

/** Reports the headers, the query or the key header that the gateway needs and the client cannot send. */
export function* sendingFindings(
  { label, sends }: Pick<ClientName, 'label'> & Pick<ClientModule, 'sends'>,
  { headers = [], query = [], keyHeader }: Pick<SetupTarget, 'headers' | 'query' | 'keyHeader'>,
): Findings {
  const shared = { code: 'protocol-unsupported', severity: 'error' } as const
  if (headers.length > 0 && sends.headers !== true)
    yield {
      ...shared,
      message: `${label} cannot send additional headers, and this gateway needs ${headers.map(({ name }) => name).join(', ')}`,
      hint: `Set up the other clients without ${label}. Or remove the header: --header '${headers[0]!.name}:'`,
    }

  if (query.length > 0 && !sends.queries)
    yield {
      ...shared,
      message: `${label} cannot send a query, and the address of this gateway has ?${query.map(({ name }) => name).join(', ')}`,
      hint: `Codex can: repoint codex. If the gateway does not need the query, remove it from the address: '?${query[0]!.name}='`,
    }

  const headersByProtocol = Object.values(sends.otherKeyHeaders ?? {})
  if (keyHeader !== 'authorization' && !headersByProtocol.flat().includes(keyHeader))
    yield {
      ...shared,
      message: `The gateway accepts the key only as ${keyHeader}, and ${label} cannot send this header`,
      hint: `Set up the other clients without ${label}. Or ask the gateway's operator to accept \`authorization: Bearer\`.`,
    }
}

/**
 * Rejects a gateway that needs the key in another header, for a client that reads this header only from its
 * files.
 *
 * @throws UserError `protocol-unsupported`
 */
export function expectBearer(
  { id, label }: Pick<ClientName, 'id' | 'label'>,
  { keyHeader }: SetupTarget,
): void {
  if (keyHeader === 'authorization') return
  throw new UserError({
    code: 'protocol-unsupported',
    message: `The gateway accepts the key only as ${keyHeader}, and ${label} reads this header only from its files`,
    hint: `Set ${label} up: repoint ${id}`,
  })
}

/** The headers that the client must send. They include the key if it is not in the usual header. */
export function requiredHeaders({
  headers = [],
  keyHeader,
  key,
}: SetupTarget): readonly ExtraHeader[] {
  if (keyHeader === 'authorization') return headers
  return [...headers, { name: keyHeader, value: key, isSecret: true }]
}

/** Whether repoint wrote a header: it holds an earlier key, or it is a saved gateway's. A setup removes it. */
export function isFromEarlierSetup(
  { name, value }: Pick<ExtraHeader, 'name' | 'value'>,
  { history }: SetupTarget,
): boolean {
  return (
    otherKeyHeaders.some((header) => header === name) ||
    includesHeader({ name, value }, history?.headers)
  )
}

/**
 * The changes to a table of headers, one for each header. The user's own headers for this gateway stay, and keep
 * their spelling.
 *
 * @param isOtherGateway the table is for another gateway now
 */
export function headerChanges(
  path: SettingPath,
  now: ConfigValue | undefined,
  target: SetupTarget,
  isOtherGateway: boolean,
): readonly SettingChange[] {
  const existingNames = isTable(now) ? Object.keys(now) : []
  const required = requiredHeaders(target).map(({ name, ...header }) => {
    const existing = existingNames.find((spelling) => spelling.toLowerCase() === name)
    return { name: existing ?? name, ...header }
  })

  const isOurs = ({ name, value }: QueryParameter) =>
    isFromEarlierSetup({ name: name.toLowerCase(), value }, target)
  return tableChanges({ path, now, required, isOurs, isOtherGateway })
}

/** The change to a bearer key. If the key has another header, the client sends it only there. */
export function bearerChanges(
  path: SettingPath,
  now: ConfigValue | undefined,
  { key, keyHeader }: SetupTarget,
): readonly SettingChange[] {
  if (keyHeader === 'authorization') return [{ path, value: key, isSecret: true }]
  return now === undefined ? [] : [{ path, value: undefined, isSecret: true }]
}

/**
 * Like `headerChanges`, for a table of query parameters. Removes those that belong to another address or to an
 * earlier setup.
 */
export function queryChanges(
  path: SettingPath,
  now: ConfigValue | undefined,
  { query = [], history }: SetupTarget,
  isOtherGateway: boolean,
): readonly SettingChange[] {
  const isOurs = (parameter: QueryParameter) => includesHeader(parameter, history?.query)
  return tableChanges({ path, now, required: query, isOurs, isOtherGateway })
}

interface SentTable {
  readonly path: SettingPath
  readonly now: ConfigValue | undefined
  readonly required: readonly ExtraHeader[]
  /** Whether an earlier setup wrote a member. */
  readonly isOurs: (member: QueryParameter) => boolean
  readonly isOtherGateway: boolean
}

/**
 * The changes to a table: adds the required members, and removes those of an earlier setup or of another gateway.
 * A table that would be empty is removed as a whole.
 */
function tableChanges({
  path,
  now,
  required,
  isOurs,
  isOtherGateway,
}: SentTable): readonly SettingChange[] {
  const requiredNames = required.map(({ name }) => name)
  const count = isTable(now) ? Object.keys(now).length : 0
  const removed = textMembers(now).filter(
    (member) => !requiredNames.includes(member.name) && (isOtherGateway || isOurs(member)),
  )

  if (required.length === 0 && removed.length > 0 && removed.length === count)
    return [{ path, value: undefined, role: 'address', isForeign: !removed.every(isOurs) }]

  return [
    ...removed.map((member) => ({
      path: [...path, member.name],
      value: undefined,
      ...secretMember,
      isForeign: !isOurs(member),
    })),
    ...required.map(({ name, value, isSecret }) => ({
      path: [...path, name],
      value,
      ...(isSecret && secretMember),
    })),
  ]
}

/** Undo restores such a member with the address, like a key: alone, it would be sent to another address. */
const secretMember = { isSecret: true, role: 'key' } as const

export function textMembers(table: ConfigValue | undefined) {
  return Object.entries(isTable(table) ? table : {}).flatMap(([name, value]) =>
    typeof value === 'string' ? [{ name, value }] : [],
  )
}

/**
 * The headers for one process, each in a variable, because other users can read its arguments and files. The
 * key already has its variable.
 */
export function headersInVariables(
  target: SetupTarget,
): readonly (ExtraHeader & { readonly variable: string })[] {
  return requiredHeaders(target).map((header, index) => ({
    ...header,
    variable:
      header.name === target.keyHeader ? launchKeyVariable : `REPOINT_RUN_HEADER_${index + 1}`,
  }))
}

/** The headers in a table, and separately the one that holds the key. Undefined: the table has none. */
export function readHeaders(table: ConfigValue | undefined): {
  readonly headers: readonly ExtraHeader[] | undefined
  readonly headerKey: { readonly keyHeader: OtherKeyHeader; readonly key: string } | undefined
} {
  const all = textMembers(table).map(({ name, value }) => classifyHeader(name, value))
  const [headerKey] = otherKeyHeaders.flatMap((keyHeader) =>
    all.filter(({ name }) => name === keyHeader).map(({ value: key }) => ({ keyHeader, key })),
  )
  const headers = all.filter(({ name }) => otherKeyHeaders.every((header) => header !== name))
  return { headers: headers.length === 0 ? undefined : headers, headerKey }
}
