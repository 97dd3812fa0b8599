/**
 * The input of a client's `resolve`: what the user requests now, what an earlier setup chose, and what the
 * gateway has answered so far.
 */
import type { Client } from '../../clients/contract/client.ts'
import type { ClientOptions } from '../../clients/contract/options.ts'
import { catalogIn, type GatewayInfo, type ResolveInput } from '../../clients/contract/setup.ts'
import type { ClientState } from '../../clients/contract/state.ts'
import { protocolOf } from '../../clients/models/protocols.ts'
import { listing } from '../../clients/models/resolve.ts'
import { modelsIn, slotModelsToKeep, withoutModels } from '../../clients/options/chosen-options.ts'
import { baseUrlFor, isSameButVersion } from '../../gateway/base-urls.ts'
import { lacksModel } from '../../gateway/judge/traits.ts'
import { catalogEntry } from '../../gateway/models/rules.ts'
import type { Gateway } from '../../gateway/types.ts'
import type { Runs } from '../../transaction/record.ts'
import { stateNow } from '../client-state/client-files.ts'
import { configuredOptions, isSetUpByRepoint } from '../client-state/client-report.ts'
import type { SetupFlags } from '../command-line/flags.ts'
import type { Session } from '../screen/session.ts'
import type { SetupContext, SetupRequest } from './types.ts'

/** The state of each client that is set up, with the options that a setup keeps. */
export function previousSetups(
  session: Session,
  clients: readonly Client[],
  runs: Runs,
): ReadonlyMap<Client, ClientState> {
  const setups = clients.flatMap((client): [Client, ClientState][] => {
    const state = stateNow(session, client)
    if (state?.endpoint.baseUrl === undefined || !isSetUpByRepoint(client, state, runs)) return []
    return [[client, { ...state, options: configuredOptions(client, state, runs) }]]
  })
  return new Map(setups)
}

/** The options that the user requests now for a client. */
export function requestedFor(
  { optionsOf }: Pick<SetupRequest, 'optionsOf'>,
  { id }: Client,
): ClientOptions {
  return optionsOf?.(id) ?? {}
}

/** The part of a setup on which a client's input depends. `repoint run` has no more than this. */
interface InputSources extends Pick<SetupContext, 'previous'> {
  readonly request: Pick<SetupRequest, 'optionsOf' | 'isKeyOnly'> & {
    readonly flags: Pick<SetupFlags, 'defaults'>
  }
}

/** Nothing asked, and no probe follows. */
export const noGatewayInfo: GatewayInfo = {
  catalogAnswer: { kind: 'not-asked' },
  rejected: [],
  noProbeFollows: true,
}

/** The input with which one client decides its options for this gateway. */
export function resolveInputFor(
  setup: InputSources,
  client: Client,
  gateway: Gateway,
  gatewayInfo: GatewayInfo,
): ResolveInput {
  const { request, previous } = setup
  const requested = requestedFor(request, client)
  const before = previous.get(client)
  if (before === undefined) return { requested, gatewayInfo }
  if (request.flags.defaults) return { requested, resetToDefaults: true, gatewayInfo }

  const isOtherGateway = !pointsAt(client, before, gateway)
  // A new key changes nothing else, even at another gateway.
  const options = request.isKeyOnly
    ? before.options
    : validOptions(client, before, { requested, gatewayInfo, isOtherGateway })
  return {
    requested,
    previous: { options, defaults: before.defaults, isOtherGateway },
    gatewayInfo,
  }
}

/** The previous options that still apply: without unavailable models, and without what is requested now. */
function validOptions(
  client: Client,
  before: ClientState,
  now: {
    readonly requested: ClientOptions
    readonly gatewayInfo: GatewayInfo
    readonly isOtherGateway: boolean
  },
): ClientOptions {
  const { requested, gatewayInfo, isOtherGateway } = now
  const unavailable = unavailableModels(client, before, gatewayInfo)
  const options = withoutModels(before.options, unavailable)

  // The window belongs to the models. A subagent's model does not change it.
  const requestedModels = modelsIn({ ...requested, subagentModel: undefined })
  const keepsModels = unavailable.length === 0 && requestedModels.length === 0

  // The protocol belongs to the models and the gateway. If no file names it, nobody chose it: earlier
  // versions of repoint wrote chat for every model.
  const isChosenProtocol = before.defaults?.includes('protocol') !== true
  const keepsProtocol = keepsModels && !isOtherGateway && isChosenProtocol

  return {
    ...options,
    slotModels: slotModelsToKeep(options, requested),
    contextWindow: keepsModels ? options.contextWindow : undefined,
    protocol: keepsProtocol ? options.protocol : undefined,
  }
}

/** Whether the previous setup was for this gateway. */
export function pointsAt(
  client: Client,
  { endpoint: { baseUrl }, options }: ClientState,
  gateway: Gateway,
): boolean {
  const expected = baseUrlFor(gateway, protocolOf(client, options))
  return baseUrl !== undefined && isSameButVersion(baseUrl, expected)
}

/**
 * The previous models that the gateway does not have. The rules replace them. A gateway may serve a model
 * that it does not list, so such a model is unavailable only after a rejection. A small model is never
 * probed, so for it the catalog decides.
 */
export function unavailableModels(
  client: Client,
  { options }: ClientState,
  gatewayInfo: GatewayInfo,
): readonly string[] {
  const catalog = catalogIn(gatewayInfo)
  if (catalog === undefined) return []

  const probed = modelsIn({ ...options, smallModel: undefined })
  return modelsIn(options).filter((id) => {
    const listed = listing(catalog, id, client.protocols)
    if (listed === 'of another protocol') return true
    if (listed === 'absent' && !probed.includes(id)) return true
    // `listing` also accepts another spelling of the ID, which the gateway may reject.
    const isListedExactly = catalogEntry(catalog, id) !== undefined
    return !isListedExactly && isRejectedEverywhere(id, client, gatewayInfo.rejected)
  })
}

/** Whether the gateway does not know a model, or rejected it over every protocol of the client. */
function isRejectedEverywhere(
  id: string,
  { protocols }: Client,
  rejected: GatewayInfo['rejected'],
): boolean {
  const rejections = rejected.filter(({ model }) => model === id)
  const isUnknown = rejections.some(({ error }) => lacksModel(error))
  const rejectedProtocols = rejections.map(({ protocol }) => protocol)
  return isUnknown || protocols.every((protocol) => rejectedProtocols.includes(protocol))
}
