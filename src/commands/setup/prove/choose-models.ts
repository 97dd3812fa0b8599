/**
 * Step 3 of a setup: the models and other options of one client, by its rules or by the user.
 *
 * In: a `ReachedGateway` and a client. Out: a `ResolvedChoice`. Sends nothing, unless the user types models.
 */
import type { Client } from '../../../clients/contract/client.ts'
import type { RejectedModel } from '../../../clients/contract/setup.ts'
import { effectiveOptions, modelsIn } from '../../../clients/options/chosen-options.ts'
import { adviseNamingModel } from '../../../gateway/catalog.ts'
import { traitsOf } from '../../../gateway/judge/traits.ts'
import type { GatewayAccess } from '../../../gateway/types.ts'
import {
  type OpenChoice,
  type Resolution,
  type ResolvedChoice,
  resolveClient,
} from '../../resolve/client-choice.ts'
import { canAskUser, inputFor, type ReachedGateway, type SetupContext } from '../context.ts'
import { askForModel } from './ask-for-model.ts'
import { installedProgram } from './programs.ts'

/**
 * Decides the options of a client: by its rules, or by the user if no rule decides.
 *
 * @param rejections what the gateway has rejected for this client
 * @throws UserError `usage`, `model-unknown`, `protocol-unsupported`; the catalog's error if only a
 *   catalog could have decided
 * @throws ClientSkipped
 */
export async function chooseModels(
  context: SetupContext,
  gateway: ReachedGateway,
  client: Client,
  rejections: readonly RejectedModel[] = [],
): Promise<ResolvedChoice> {
  const choice = await choiceFor(context, gateway, client, rejections)
  const resolution = resolveClient(choice)
  if (resolution.kind === 'decided') return resolution.choice
  if (resolution.kind === 'impossible') throw resolution.error

  const { error } = resolution
  const { catalogAnswer } = gateway
  const catalogError = catalogAnswer.kind === 'failed' ? catalogAnswer.error : undefined
  const hasModel = modelsIn(effectiveOptions(choice.input)).length > 0
  const reason = catalogError === undefined || hasModel ? error : adviseNamingModel(catalogError)

  // If the catalog failed for another reason, such as a wrong key, a model would not help.
  const isOtherFailure = catalogError !== undefined && traitsOf(catalogError)?.mayLackList !== true
  if (!canAskUser(context) || isOtherFailure) throw reason
  return askForModel(context, gateway, choice, reason)
}

/** A client, with everything that decides its options now. */
export async function choiceFor(
  context: SetupContext,
  { requester, catalogAnswer }: ReachedGateway,
  client: Client,
  rejections: readonly RejectedModel[] = [],
): Promise<OpenChoice> {
  const { access } = requester
  const program = await installedProgram(context, client)
  const gatewayInfo = { catalogAnswer, accessSoFar: access, rejections }
  return { client, program, input: inputFor(context, client, access, gatewayInfo) }
}

/** Applies a client's rules without the gateway's catalog. `undecided`: they need the catalog. */
export function resolveWithoutCatalog(
  context: SetupContext,
  client: Client,
  access: GatewayAccess,
): Resolution {
  const gatewayInfo = { catalogAnswer: { kind: 'pending' }, rejections: [] } as const
  const input = inputFor(context, client, access, gatewayInfo)
  return resolveClient({ client, program: {}, input })
}
