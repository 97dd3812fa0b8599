/**
 * Chooses the protocol over which a client requests each model. A model's own protocol comes first: over
 * another one, GPT-5.6 rejects tools, and Claude loses its thinking and its prompt cache.
 */

import { UserError } from '../../errors.ts'
import { isSameButVersion } from '../../gateway/base-urls.ts'
import {
  isAboutAddress,
  lacksModel,
  lacksProtocol,
  lacksRoute,
  traitsOf,
} from '../../gateway/judge/traits.ts'
import { catalogEntry, nativeProtocol, supportsProtocol } from '../../gateway/models/rules.ts'
import type { BaseUrls, CatalogModel, ModelAndProtocol, Protocol } from '../../gateway/types.ts'
import { listWords } from '../../text.ts'
import type { Client, ClientModule } from '../contract/client.ts'
import {
  catalogIn,
  type GatewayInfo,
  ModelNeeded,
  type RejectedModel,
  type ResolveInput,
} from '../contract/setup.ts'

/** ` over responses`, for a client that speaks several protocols. */
export function overProtocol(
  client: Pick<ClientModule, 'protocols'>,
  options: { readonly protocol?: Protocol },
): string {
  return client.protocols.length > 1 ? ` over ${protocolOf(client, options)}` : ''
}

/** The protocol of the options, or the client's usual one. */
export function protocolOf(
  client: Pick<ClientModule, 'protocols'>,
  options: { readonly protocol?: Protocol },
): Protocol {
  return options.protocol ?? client.protocols[0]
}

/** The default protocol of a client with several: nearly every gateway serves it. */
export const usualProtocol: Protocol = 'chat'

/**
 * The protocol for a model: the requested one, else the one that the model had at this gateway, else the
 * first that the gateway may serve, beginning with the model's native one.
 *
 * Without a probe to prove that first one, it counts only if the gateway has answered over it before. Otherwise the
 * client gets the most likely one.
 *
 * @param protocols those that the client supports
 * @throws UserError if the gateway rejected the model over all of them
 */
export function chooseProtocol(
  model: string,
  input: ResolveInput,
  protocols: readonly Protocol[],
): Protocol {
  const { requested, earlier, gatewayInfo } = input
  const entry = catalogEntry(catalogIn(gatewayInfo), model) ?? { id: model }
  const allowed = requested.protocol ? [requested.protocol] : byPreference(model, protocols)
  const possible = withoutRejected(entry, allowed, gatewayInfo)

  const before = earlier?.options.protocol
  if (before !== undefined && possible.includes(before)) return before
  const [first] = possible
  const { noProbeFollows, provenModel } = gatewayInfo
  const isGuess = noProbeFollows && first !== provenModel?.protocol
  const protocol = isGuess ? mostLikely(entry, possible) : first
  if (protocol === undefined) throw rejectionOf(model, gatewayInfo)
  return protocol
}

/**
 * The protocols over which a client can send the key in the header that the gateway accepts. All of them, if
 * no protocol can: then `sendingFindings` reports it.
 *
 * @throws UserError `protocol-unsupported` if the user requested another protocol
 */
export function protocolsForKey(
  { label, protocols, sends }: Pick<Client, 'label' | 'protocols' | 'sends'>,
  { requested, gatewayInfo: { accessSoFar } }: ResolveInput,
): Client['protocols'] {
  const { keyHeader = 'authorization' } = accessSoFar ?? {}
  if (keyHeader === 'authorization') return protocols
  const usable = protocols.filter((protocol) =>
    sends.otherKeyHeaders?.[protocol]?.includes(keyHeader),
  )
  const [first, ...others] = usable
  if (first === undefined) return protocols

  const { protocol } = requested
  if (protocol === undefined || usable.includes(protocol)) return [first, ...others]
  throw new UserError({
    code: 'protocol-unsupported',
    message: `The gateway accepts the key only as ${keyHeader}, and ${label} cannot send this header over ${protocol}`,
    hint: `Use another protocol: {--protocol ${first}}`,
  })
}

/** The protocols for a model, its native one first, then chat. */
export function byPreference(model: string, protocols: readonly Protocol[]): readonly Protocol[] {
  const all = [nativeProtocol(model), usualProtocol, ...protocols]
  return [...new Set(all)].filter((protocol) => protocols.includes(protocol))
}

/** The protocols that neither the catalog nor an answer rules out for a model. */
function withoutRejected(
  entry: CatalogModel,
  protocols: readonly Protocol[],
  gatewayInfo: GatewayInfo,
): readonly Protocol[] {
  return protocols.filter(
    (protocol) =>
      supportsProtocol(entry, protocol) !== false &&
      !isRejected({ model: entry.id, protocol }, gatewayInfo),
  )
}

/** The protocol that the gateway serves most likely: one that the catalog lists for the model, or chat, or the first. */
function mostLikely(entry: CatalogModel, possible: readonly Protocol[]): Protocol | undefined {
  return (
    possible.find((protocol) => supportsProtocol(entry, protocol) === true) ??
    possible.find((protocol) => protocol === usualProtocol) ??
    possible[0]
  )
}

/** If the gateway does not have a protocol's route, it does not have it for any model. */
function isRejected({ model, protocol }: ModelAndProtocol, { rejections }: GatewayInfo): boolean {
  return rejections.some(
    (rejection) =>
      rejection.protocol === protocol && (rejection.model === model || lacksRoute(rejection.error)),
  )
}

/**
 * Why a gateway rejected a model over every protocol: the last reason that is about the model rather than
 * the route, and the others behind it.
 */
function rejectionOf(model: string, { rejections }: GatewayInfo): UserError {
  const reasons = rejections.filter((rejection) => rejection.model === model)
  const isOfApi = ({ error }: RejectedModel) => traitsOf(error)?.isFromApi === true
  // A missing route never hides what a route said that exists.
  const isOnRoute = ({ error }: RejectedModel) => !isAboutAddress(error) && !lacksProtocol(error)
  const main =
    reasons.findLast(isOfApi) ?? reasons.find(isOnRoute) ?? reasons.at(-1) ?? rejections.at(-1)
  if (main === undefined)
    return new UserError({
      code: 'protocol-unsupported',
      message: `The gateway does not list ${model} for a protocol that the client supports`,
      hint: 'Name another model: {--model ID}',
    })

  // The same words over several protocols are said once.
  const overAll = (words: string) =>
    listWords(reasons.flatMap(({ protocol, error }) => (error.message === words ? protocol : [])))
  const { message } = main.error
  const others = new Set(reasons.map(({ error }) => error.message))
  others.delete(message)
  const first = reasons.length < 2 ? message : `${message} (over ${overAll(message)})`
  const more = [...others].map((words) => `Over ${overAll(words)}: ${words}`)
  const error = main.error.with({ message: [first, ...more].join('. ') })
  return lacksModel(error) ? new ModelNeeded(error) : error
}

/**
 * The protocol for a model that the client only offers, if no request shows what the gateway serves: its native one
 * if the client's first model has just proven it, else the most likely one.
 */
export function likelyProtocol(
  model: CatalogModel,
  proven: Protocol,
  gatewayInfo: GatewayInfo,
  protocols: readonly Protocol[],
): Protocol | undefined {
  const possible = withoutRejected(model, byPreference(model.id, protocols), gatewayInfo)
  const [first] = possible
  return first === proven ? first : mostLikely(model, possible)
}

/**
 * The protocols that a provider with one base URL can use, if its first model uses `first`.
 *
 * @param isShared whether one base URL leads to all protocols
 */
export function protocolsOfProvider(
  first: Protocol,
  protocols: readonly Protocol[],
  { accessSoFar }: GatewayInfo,
  isShared: (baseUrls: BaseUrls) => boolean = isSharedButVersion,
): readonly Protocol[] {
  const baseUrls = accessSoFar?.baseUrls
  if (baseUrls === undefined || isShared(baseUrls)) return protocols
  const isMessages = first === 'messages'
  return protocols.filter((protocol) => (protocol === 'messages') === isMessages)
}

/** The default for a client with one base URL for each model, which may add or leave out `/v1`. */
function isSharedButVersion({ chat, messages }: BaseUrls): boolean {
  return isSameButVersion(chat, messages)
}
