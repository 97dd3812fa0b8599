import { UserError, valueOrError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import { customBaseUrls } from '../gateway/base-urls.ts'
import type {
  Gateway,
  GatewayAccess,
  ModelAndProtocol,
  SafeguardsAnswer,
} from '../gateway/types.ts'
import type { Lock } from '../transaction/lock.ts'
import type { World } from '../transaction/record.ts'
import { gatewayList, type SavedGateway } from './gateway-list.ts'
import { expectGatewayName, unmaskedGatewaysIfReadable } from './saved-gateways.ts'
import { changeList, type ListChange } from './saved-list.ts'

/** A probe that the gateway has answered. */
interface AnsweredProbe extends ModelAndProtocol {
  readonly safeguards: SafeguardsAnswer
}

interface GatewayToSave {
  /** Without a name, `saveGateway` chooses one. */
  readonly access: Omit<GatewayAccess, 'env' | 'signal'>
  readonly proof?: AnsweredProbe
}

/**
 * Checks that a gateway can be saved under `name`. If the list cannot be read, every valid name passes.
 *
 * @throws UserError `usage` if another address has the name
 */
export function expectNameIsFree(world: World, name: string | undefined, address: string): void {
  if (name === undefined) return
  expectGatewayName(name)
  const owner = unmaskedGatewaysIfReadable(world).find((gateway) => gateway.name === name)
  if (owner === undefined || owner.address === address) return
  throw new UserError({
    code: 'usage',
    message: `The name ${name} belongs to ${owner.address}`,
    hint: `Use another name: --name NAME. Or delete that gateway first: repoint forget ${name}`,
  })
}

/** Saves a gateway as the latest. A failure becomes a warning. */
export function saveGateway(world: World, gateway: GatewayToSave, lock?: Lock): readonly Finding[] {
  return saveFindings(() => changeList(world, gatewayList, promoteToFirst(world, gateway), lock))
}

/** Records a probe that a saved gateway has just answered. The gateway keeps its place in the list. */
export function saveProof(
  world: World,
  name: string,
  proof: AnsweredProbe,
  access: GatewayAccess,
): readonly Finding[] {
  const { keyHeader } = access
  const proven = toStoredProof(proof, world.clock.now())
  const changes = { baseUrls: customBaseUrls(access), keyHeader, proven }

  return saveFindings(() =>
    changeList(world, gatewayList, (all) =>
      all.map((gateway) => (gateway.name === name ? { ...gateway, ...changes } : gateway)),
    ),
  )
}

/** Runs `save`. @returns a warning if it failed */
function saveFindings(save: () => void): readonly Finding[] {
  const failure = valueOrError(save)
  if (!(failure instanceof UserError)) return []
  const { message, hint } = failure
  return [
    {
      code: 'gateway-not-saved',
      severity: 'warning',
      message: `repoint did not save the gateway: ${message}`,
      hint,
    },
  ]
}

function promoteToFirst({ clock }: World, gateway: GatewayToSave): ListChange<SavedGateway> {
  const now = clock.now()
  return (all) => {
    const entry = newEntry(all, gateway, now)
    return [entry, ...all.filter(({ name }) => name !== entry.name)]
  }
}

function newEntry(
  all: readonly SavedGateway[],
  { access, proof }: GatewayToSave,
  now: Date,
): SavedGateway {
  const { address, key, headers = [], query = [], keyHeader } = access
  const name = access.name ?? matchingName(all, access) ?? unusedName(all, address)
  const saved = all.find((candidate) => candidate.name === name)
  const isSameGateway = saved?.address === address && saved.key === key
  const lastProof = isSameGateway ? saved.proven : undefined

  return {
    name,
    address,
    baseUrls: customBaseUrls(access),
    key,
    keyHeader,
    headers: headers.length === 0 ? undefined : headers,
    query: query.length === 0 ? undefined : query,
    caFile: access.caFile,
    allowHttp: access.allowHttp,
    proven: proof === undefined ? lastProof : toStoredProof(proof, now),
  }
}

function toStoredProof(
  { protocol, model, safeguards }: AnsweredProbe,
  now: Date,
): NonNullable<SavedGateway['proven']> {
  const answersSafeguards = safeguards === 'not-requested' ? undefined : safeguards === 'answered'
  return { at: now.toISOString(), protocol, model, answersSafeguards }
}

/** What the last probe of a saved gateway found out about `safeguards`. */
export function savedSafeguards({ proven }: SavedGateway): SafeguardsAnswer {
  if (proven?.answersSafeguards === undefined) return 'not-requested'
  return proven.answersSafeguards ? 'answered' : 'unanswered'
}

/** The saved gateway that a setup updates. Undefined if the gateway is new. */
export function savedGatewayFor(world: World, gateway: Gateway): SavedGateway | undefined {
  const all = unmaskedGatewaysIfReadable(world)
  const name = gateway.name ?? matchingName(all, gateway)
  return all.find((saved) => saved.name === name && saved.address === gateway.address)
}

/**
 * The name of the saved gateway with this address and key. If only one has the address, a new key
 * replaces its key.
 */
function matchingName(all: readonly SavedGateway[], { address, key }: Gateway): string | undefined {
  const atAddress = all.filter((gateway) => gateway.address === address)
  const withKey = atAddress.find((gateway) => gateway.key === key)
  if (withKey !== undefined) return withKey.name
  return atAddress.length === 1 ? atAddress[0]!.name : undefined
}

/** The host, with a port or a number if another gateway has that name. */
function unusedName(all: readonly SavedGateway[], address: string): string {
  const { hostname, port } = new URL(address)
  const host = hostname.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  const base = (host || 'gateway').slice(0, 50)
  const isFree = (name: string) => all.every((gateway) => gateway.name !== name)

  const names = port === '' ? [base] : [base, `${base}-${port}`]
  for (let count = 2; ; count++) {
    const free = names.find(isFree)
    if (free !== undefined) return free
    names.push(`${base}-${count}`)
  }
}
