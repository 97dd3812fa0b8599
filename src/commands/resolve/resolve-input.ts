/**
 * The input of a client's `resolve`: what the user requests now, what an earlier setup chose, and what the
 * gateway has answered so far.
 */
import type { Client } from '../../clients/contract/client.ts'
import type { ClientOptions } from '../../clients/contract/options.ts'
import {
  catalogIn,
  type GatewayInfo,
  type RejectedModel,
  type ResolveInput,
} from '../../clients/contract/setup.ts'
import type { ClientState } from '../../clients/contract/state.ts'
import { protocolOf } from '../../clients/models/protocols.ts'
import { listing } from '../../clients/models/resolve.ts'
import { modelsIn, withoutModels } from '../../clients/options/chosen-options.ts'
import { baseUrlFor, isSameButVersion } from '../../gateway/base-urls.ts'
import { lacksModel } from '../../gateway/judge/traits.ts'
import { catalogEntry } from '../../gateway/models/rules.ts'
import type { Gateway } from '../../gateway/types.ts'
import type { Runs } from '../../transaction/record.ts'
import { configuredOptions, isSetUpByRepoint } from '../client-state/client-facts.ts'
import { stateNow } from '../client-state/client-files.ts'
import type { Session } from '../screen/session.ts'
import type { SetupPolicy } from './policy.ts'

/** A client's setup that a command finds in its files. */
export interface EarlierSetup extends Pick<ClientState, 'options' | 'unsetOptions'> {
  readonly baseUrl: string
}

/** The setups of these clients, by client ID. A client that is not set up has none. */
export function findEarlierSetups(
  session: Session,
  clients: readonly Client[],
  runs: Runs,
): ReadonlyMap<string, EarlierSetup> {
  const setups = clients.flatMap((client): [string, EarlierSetup][] => {
    const state = stateNow(session, client)
    const { baseUrl } = state.endpoint
    if (baseUrl === undefined || !isSetUpByRepoint(client, state, runs)) return []
    const { unsetOptions } = state
    return [[client.id, { baseUrl, options: configuredOptions(client, state, runs), unsetOptions }]]
  })
  return new Map(setups)
}

/** What decides a client's options, in addition to the gateway. */
interface OptionSources {
  /** What the user requests now. */
  readonly requested: ClientOptions
  readonly earlier: EarlierSetup | undefined
  readonly policy: SetupPolicy
}

/** The input with which one client decides its options for this gateway. */
export function resolveInputFor(
  client: Client,
  sources: OptionSources,
  gateway: Gateway,
  gatewayInfo: GatewayInfo,
): ResolveInput {
  const { requested, earlier, policy } = sources
  if (earlier === undefined) return { requested, gatewayInfo }
  if (policy.keeps === 'none') return { requested, resetToDefaults: true, gatewayInfo }

  const isOtherGateway = !pointsAt(client, earlier, gateway)
  const options =
    policy.keeps === 'all'
      ? earlier.options
      : servableOptions(client, earlier, { requested, gatewayInfo, isOtherGateway })
  return {
    requested,
    earlier: { options, unsetOptions: earlier.unsetOptions, isOtherGateway },
    gatewayInfo,
  }
}

/** The earlier options that still apply: without unavailable models, and without what is requested now. */
function servableOptions(
  client: Client,
  earlier: EarlierSetup,
  now: {
    readonly requested: ClientOptions
    readonly gatewayInfo: GatewayInfo
    readonly isOtherGateway: boolean
  },
): ClientOptions {
  const { requested, gatewayInfo, isOtherGateway } = now
  const unavailable = unavailableModels(client, earlier, gatewayInfo)
  const options = withoutModels(earlier.options, unavailable)

  // The window belongs to the models. A subagent's model does not change it.
  const requestedModels = modelsIn({ ...requested, subagentModel: undefined })
  const keepsModels = unavailable.length === 0 && requestedModels.length === 0

  // The protocol belongs to the models and the gateway. If no file names it, nobody chose it: earlier
  // versions of repoint wrote chat for every model.
  const isChosenProtocol = earlier.unsetOptions?.includes('protocol') !== true
  const keepsProtocol = keepsModels && !isOtherGateway && isChosenProtocol

  return {
    ...options,
    contextWindow: keepsModels ? options.contextWindow : undefined,
    protocol: keepsProtocol ? options.protocol : undefined,
  }
}

/** Whether the earlier setup was for this gateway. */
export function pointsAt(
  client: Client,
  { baseUrl, options }: EarlierSetup,
  gateway: Gateway,
): boolean {
  return isSameButVersion(baseUrl, baseUrlFor(gateway, protocolOf(client, options)))
}

/**
 * The models of the earlier setup that the gateway does not have. The rules replace them. A gateway may serve a model
 * that it does not list, so such a model is unavailable only after a rejection. A small model is never
 * probed, so for it the catalog decides.
 */
export function unavailableModels(
  client: Client,
  { options }: EarlierSetup,
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
    return !isListedExactly && isRejectedEverywhere(id, client, gatewayInfo.rejections)
  })
}

/** Whether the gateway does not know a model, or rejected it over every protocol of the client. */
function isRejectedEverywhere(
  id: string,
  { protocols }: Client,
  rejected: readonly RejectedModel[],
): boolean {
  const rejections = rejected.filter(({ model }) => model === id)
  const isUnknown = rejections.some(({ error }) => lacksModel(error))
  const rejectedProtocols = rejections.map(({ protocol }) => protocol)
  return isUnknown || protocols.every((protocol) => rejectedProtocols.includes(protocol))
}
