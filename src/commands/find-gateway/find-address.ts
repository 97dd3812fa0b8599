import { UserError, valueOrError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { knownHosts } from '../../gateway/hosts.ts'
import { normaliseAddress } from '../../gateway/input/address.ts'
import type { HeaderChange } from '../../gateway/input/header.ts'
import type { AskChoice } from '../../platform/platform.ts'
import type { SavedGateway } from '../../state/gateway-list.ts'
import { rememberAddress } from '../../state/remembered.ts'
import { savedChoices, savedGatewaysIfReadable } from '../../state/saved-gateways.ts'
import type { GatewayFlags, SetupFlags } from '../command-line/flags.ts'
import type { Session } from '../screen/session.ts'
import type { Preset } from './preset.ts'

export type FindFlags = GatewayFlags & Pick<SetupFlags, 'messagesUrl' | 'name' | 'yes'>

/** The address of the gateway, and where it came from. */
export interface FoundAddress {
  readonly value: string
  readonly findings?: readonly Finding[]
  readonly isFromPrompt?: boolean
  /** The query of the address. */
  readonly query?: readonly HeaderChange[]
  /** The saved gateway that the user chose. */
  readonly saved?: SavedGateway
}

/**
 * The address from the preset, a flag or the environment, or else from a prompt.
 *
 * @param hasKey the user has given a key for the address
 * @throws UserError `usage` if repoint cannot ask
 */
export async function findAddress(
  session: Session,
  flags: FindFlags,
  preset: Preset,
  hasKey: boolean,
): Promise<FoundAddress> {
  if (preset.gateway?.address !== undefined) return { value: preset.gateway.address }
  if (flags.baseUrl !== undefined) return cleanAddress(flags.baseUrl, flags)

  const { REPOINT_BASE_URL: fromEnvironment, REPOINT_API_KEY: key } = session.platform.machine.env
  if (fromEnvironment && (flags.yes || !session.canAsk)) return cleanAddress(fromEnvironment, flags)
  if (!session.canAsk) {
    throw new UserError({
      code: 'usage',
      message: key ? 'REPOINT_API_KEY is set. For which gateway?' : 'Which gateway?',
      hint: 'Name its address: {--base-url URL}, or set REPOINT_BASE_URL.',
    })
  }

  const answer = await askForAddress(session, flags, preset, fromEnvironment)
  const saved = preset.offersGateways ? chosenGateway(session, answer, hasKey) : undefined
  if (saved !== undefined) {
    const findings = hasKey ? [otherKeyGiven(saved)] : []
    return { value: saved.address, isFromPrompt: true, saved, findings }
  }

  const typed = { ...cleanAddress(answer, flags), isFromPrompt: true }
  rememberAddress(session.platform, typed.value)
  return typed
}

/** Only `repoint` without arguments offers saved gateways, so the given key is the environment's. The saved one wins. */
function otherKeyGiven({ name }: SavedGateway): Finding {
  return {
    code: 'saved-key-used',
    severity: 'note',
    message: `repoint uses the key that is saved for ${name}, and not REPOINT_API_KEY`,
    hint: `To replace the saved key: repoint key ${name}`,
  }
}

/** @throws UserError `usage` if the text is not an address */
function cleanAddress(text: string, flags: FindFlags): FoundAddress {
  const { address, query, findings } = normaliseAddress(text, flags)
  return { value: address, query, findings }
}

/** The answer of the user: an address, or the name of a saved gateway if the list offers them. */
function askForAddress(
  session: Session,
  flags: FindFlags,
  { defaultAddress, offersGateways }: Preset,
  fromEnvironment: string | undefined,
): Promise<string> {
  const { ask } = session.platform
  ask.discardTyping()
  const validate = (text: string) => session.problemAtPrompt(() => cleanAddress(text, flags))
  if (offersGateways)
    return ask.search({
      message: 'Gateway address, for example openrouter.ai:',
      choices: gatewayChoices(session, { fromEnvironment, defaultAddress }),
      validateOther: validate,
    })
  return ask.input({
    message: 'Gateway address:',
    default: fromEnvironment || defaultAddress,
    validate,
  })
}

/**
 * The gateways to choose from: the address in the environment, the default address unless it is saved,
 * and the saved gateways. While the user types, the list also has the known hosts.
 */
function gatewayChoices(
  session: Session,
  {
    fromEnvironment,
    defaultAddress,
  }: Record<'fromEnvironment' | 'defaultAddress', string | undefined>,
): readonly AskChoice[] {
  const saved = savedGatewaysIfReadable(session)
  const isSaved = saved.some(({ address }) => address === defaultAddress)
  const addresses = new Set([fromEnvironment, isSaved ? undefined : defaultAddress].filter(Boolean))
  return [
    ...[...addresses].map((value) => ({ value: value!, name: value! })),
    ...savedChoices(session.platform, saved),
    ...hostChoices,
  ]
}

const hostChoices = knownHosts.flatMap((known): AskChoice[] => {
  const { name, host, product = '', chat, messages, pages } = known
  // The user must fill in the rest of such a host.
  if (host.includes('*')) return []
  const address = host + product
  const keywords = [chat, messages, ...pages].join(' ')
  return [
    {
      value: `https://${address}`,
      name: `${name}  ${address}`,
      short: address,
      keywords,
      isHidden: true,
    },
  ]
})

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
  const gateways = savedGatewaysIfReadable(session)
  const byName = gateways.find(({ name }) => name === answer)
  if (byName !== undefined || hasKey) return byName

  const address = valueOrError(() => normaliseAddress(answer, { allowHttp: true }).address)
  const byAddress = gateways.filter((gateway) => gateway.address === address)
  return byAddress.length === 1 ? byAddress[0] : undefined
}
