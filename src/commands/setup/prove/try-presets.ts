/**
 * Before each try of step 1: what repoint knows of the gateway already.
 *
 * In: the `SetupContext`, and after a failed try its error. Out: the `Preset` of the next try. After an
 * error there is one only if an import link has another address, or the user can correct what they typed.
 */
import type { UserError } from '../../../errors.ts'
import { traitsOf } from '../../../gateway/judge/traits.ts'
import type { Gateway } from '../../../gateway/types.ts'
import { savedGatewaysIfReadable } from '../../../state/saved-gateways.ts'
import type { FoundGateway } from '../../find-gateway/find-gateway.ts'
import {
  defaultAddress,
  type GatewayInUse,
  gatewaysInUse,
  namesGateway,
  type Preset,
} from '../../find-gateway/preset.ts'
import { requestedOptions, type SetupContext } from '../context.ts'

/** What is known of the gateway before the first try. */
export async function firstPreset(context: SetupContext): Promise<Preset> {
  const { session, request, runs } = context
  const inUse = request.preset?.inUse ?? (await gatewaysInUse(session, runs))
  return {
    defaultAddress: defaultAddress(session, runs),
    inUse: session.canAsk ? inUse : [],
    gateway: knownGateway(context, inUse),
    // What the command itself knows wins.
    ...request.preset,
  }
}

/**
 * The gateway that nobody has to name: the one that the clients use, or else the only one that is saved. On a terminal
 * repoint asks all the same, unless the user has changed options or said --yes: they may want another gateway.
 */
function knownGateway(
  { session, request, clients, policy, consent }: SetupContext,
  inUse: readonly GatewayInUse[],
): Gateway | undefined {
  const { flags, picksModel = false, chooseClients } = request
  if (namesGateway(session, flags) || chooseClients !== undefined) return undefined

  const options = clients.map((client) => {
    const { slotModels, ...others } = requestedOptions(request, client)
    return { ...slotModels, ...others }
  })
  const hasOptions = options.some((one) => Object.values(one).some((value) => value !== undefined))
  const changesOptions = hasOptions || picksModel || policy.keeps === 'none'
  const mayAsk = consent === 'ask' && !flags.dryRun
  if (mayAsk && !changesOptions) return undefined

  const used = inUse.filter(({ family }) => clients.some((client) => client.family === family))
  const [first, ...others] = used
  const isShared = others.every(
    ({ address, key }) => address === first?.address && key === first.key,
  )
  if (first !== undefined) return isShared ? first : undefined

  const saved = mayAsk ? [] : savedGatewaysIfReadable(session)
  return saved.length === 1 ? saved[0] : undefined
}

interface FailedTry {
  readonly found: FoundGateway
  readonly preset: Preset
  /** False: the user has typed too often. The next address of a link is tried even then. */
  readonly mayAskAgain: boolean
}

/** The preset for another try. Undefined: no other try can help, so that the error is final. */
export function nextPreset(
  error: UserError,
  { found, preset, mayAskAgain }: FailedTry,
): Preset | undefined {
  const blamed = traitsOf(error)?.blames
  if (blamed === 'key') return mayAskAgain ? withoutTypedKey(found, preset) : undefined
  if (blamed !== 'address' && blamed !== 'connection') return undefined
  return (
    withNextAddress(found, preset) ?? (mayAskAgain ? withoutTypedAddress(found, preset) : undefined)
  )
}

/** The preset with the link's next address. Undefined: there is none. */
function withNextAddress({ link, access }: FoundGateway, preset: Preset): Preset | undefined {
  if (link === undefined) return undefined

  const current = link.addresses.indexOf(access.address)
  const address = link.addresses[current + 1]
  if (address === undefined) return undefined
  return { ...preset, link, gateway: { ...preset.gateway, address } }
}

/** The preset without a key that the user typed, so that repoint asks for it again. Undefined: a flag gave the key. */
function withoutTypedKey(
  { access: { address, baseUrls, query, name }, keySource }: FoundGateway,
  preset: Preset,
): Preset | undefined {
  if (keySource === 'given') return undefined
  const gateway = { ...preset.gateway, address, baseUrls, query, name, key: undefined }
  return { ...preset, gateway, inUse: [] }
}

/** The preset without an address that the user typed. Undefined: they typed none. */
function withoutTypedAddress(
  { access: { address, key }, isAddressFromPrompt, keySource }: FoundGateway,
  preset: Preset,
): Preset | undefined {
  if (!isAddressFromPrompt) return undefined
  // A reused or saved key belongs to the address that failed, and must not be sent to another one.
  const isKeyOfAddress = keySource === 'reused' || keySource === 'saved'
  const gateway = { ...preset.gateway, key: isKeyOfAddress ? undefined : key }
  return { ...preset, gateway, defaultAddress: address, keySource }
}
