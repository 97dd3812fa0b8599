import { knownHosts } from '../../gateway/hosts.ts'
import type { AskChoice } from '../../platform/platform.ts'
import { savedChoices, savedGatewaysIfReadable } from '../../state/find-gateways.ts'
import type { Session } from '../screen/session.ts'

/**
 * The gateways to choose from: the address in the environment, the last address unless it is saved, and
 * the saved gateways. While the user types, the list also has the known hosts.
 */
export function gatewayChoices(
  session: Session,
  { fromEnvironment, last }: Record<'fromEnvironment' | 'last', string | undefined>,
): readonly AskChoice[] {
  const saved = savedGatewaysIfReadable(session)
  const isSaved = saved.some(({ baseUrl }) => baseUrl === last)
  const addresses = new Set([fromEnvironment, isSaved ? undefined : last].filter(Boolean))
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
