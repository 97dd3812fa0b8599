import { compact } from '../../compact.ts'
import { resultOf, UserError } from '../../errors.ts'
import { unusualRoots } from '../../gateway/roots.ts'
import type { Gateway, GatewayAccess, ProtocolName } from '../../gateway/types.ts'
import {
  changeGateways,
  type GatewaysChange,
  readGateways,
  type SavedGateway,
} from '../../transaction/gateways.ts'
import type { Session } from '../screen/session.ts'
import { checkName, gatewaysIfReadable } from './saved-gateways.ts'

/** The question that a gateway has answered. */
export interface AnsweredQuestion {
  readonly protocol: ProtocolName
  readonly model: string
}

interface Used {
  /** Without a name one is found. */
  readonly access: Omit<GatewayAccess, 'env' | 'signal'>
  /** What it has just been asked with; absent: it has not. */
  readonly proof?: AnsweredQuestion | undefined
}

/**
 * Whether a gateway can be remembered under this name: looked at before anything is changed.
 *
 * @throws UserError `usage` where another address has it
 */
export function expectNameFor(session: Session, name: string | undefined, baseUrl: string): void {
  if (name === undefined) return
  checkName(name)
  const other = readGateways(session.platform).find((one) => one.name === name)
  if (other === undefined || other.baseUrl === baseUrl) return
  throw new UserError({
    code: 'usage',
    message: `The name ${name} is that of ${other.baseUrl}`,
    hint: `Choose another with --name, or take that one out first: repoint forget ${name}`,
  })
}

/** Remembers it as the newest. What stands in the way is said, and does not undo a setup. */
export function rememberGateway(session: Session, used: Used): void {
  changeOrSay(session, asNewest(session, used))
}

export function asNewest({ platform }: Session, used: Used): GatewaysChange {
  const now = platform.clock.now()
  return (all) => {
    const entry = entryFor(all, used, now)
    return [entry, ...all.filter(({ name }) => name !== entry.name)]
  }
}

/** Notes that a remembered gateway has just been proven; it keeps its place. @param access as it answered */
export function noteProof(
  session: Session,
  name: string,
  proof: AnsweredQuestion,
  access: GatewayAccess,
): void {
  const proven = { at: session.platform.clock.now().toISOString(), ...proof }
  const { keyHeader } = access
  const found = { roots: unusualRoots(access), keyHeader, proven }

  changeOrSay(session, (all) =>
    all.map((one) => (one.name === name ? compact({ ...one, ...found }) : one)),
  )
}

function changeOrSay(session: Session, change: GatewaysChange): void {
  const failure = resultOf(() => changeGateways(session.platform, change))
  if (failure instanceof UserError) sayNotRemembered(session, failure)
}

export function sayNotRemembered(session: Session, failure: UserError): void {
  session.notice({
    code: 'gateway-not-remembered',
    message: `The gateway is not remembered: ${failure.message}`,
    ...compact({ hint: failure.hint }),
  })
  session.showNotices('warning')
}

function entryFor(all: readonly SavedGateway[], used: Used, now: Date): SavedGateway {
  const { access, proof } = used
  const { baseUrl, key, headers = [], query = [], keyHeader } = access
  const name = access.name ?? knownName(all, access) ?? freeName(all, baseUrl)
  const before = all.find((one) => one.name === name)

  const isSame = before?.baseUrl === baseUrl && before.key === key
  const earlier = isSame ? before.proven : undefined

  return compact({
    name,
    baseUrl,
    roots: unusualRoots(access),
    key,
    keyHeader,
    headers: headers.length === 0 ? undefined : headers,
    query: query.length === 0 ? undefined : query,
    caFile: access.caFile,
    allowHttp: access.allowHttp,
    proven: proof === undefined ? earlier : { at: now.toISOString(), ...proof },
  })
}

/** The remembered gateway that a setup goes on with; undefined: it is a new one. */
export function knownGateway(session: Session, gateway: Gateway): SavedGateway | undefined {
  const all = gatewaysIfReadable(session)
  const name = gateway.name ?? knownName(all, gateway)
  return all.find((one) => one.name === name && one.baseUrl === gateway.baseUrl)
}

/** A new key of a gateway replaces the old one, where there is one alone that it can replace. */
function knownName(all: readonly SavedGateway[], { baseUrl, key }: Gateway): string | undefined {
  const same = all.filter((one) => one.baseUrl === baseUrl)
  const exact = same.find((one) => one.key === key)
  return (exact ?? (same.length === 1 ? same[0] : undefined))?.name
}

/** The host's name, with more behind it where another gateway has that. */
function freeName(all: readonly SavedGateway[], baseUrl: string): string {
  const { hostname, port } = new URL(baseUrl)
  const host = hostname.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  const base = (host || 'gateway').slice(0, 50)
  const isFree = (name: string) => all.every((one) => one.name !== name)
  const names = [base, ...(port === '' ? [] : [`${base}-${port}`])]
  for (let count = 2; ; count++) {
    const free = names.find(isFree)
    if (free !== undefined) return free
    names.push(`${base}-${count}`)
  }
}
