/**
 * Step 3 of a setup: the models and other options of one client, by its rules or by the user.
 *
 * In: a `ReachedGateway` and a client. Out: a `ResolvedChoice`. Sends nothing, unless the user types models.
 */
import type { Client } from '../../../clients/contract/client.ts'
import { catalogIn, type RejectedModel } from '../../../clients/contract/setup.ts'
import { whichModel } from '../../../clients/models/resolve.ts'
import { effectiveOptions, modelsIn } from '../../../clients/options/chosen-options.ts'
import type { UserError } from '../../../errors.ts'
import { adviseNamingModel } from '../../../gateway/catalog.ts'
import { traitsOf } from '../../../gateway/judge/traits.ts'
import type { GatewayAccess } from '../../../gateway/types.ts'
import { type OpenChoice, type ResolvedChoice, resolveClient } from '../../resolve/client-choice.ts'
import { canAskUser, inputFor, type ReachedGateway, type SetupContext } from '../context.ts'
import { askForModel } from './ask-for-model.ts'
import { installedProgram } from './programs.ts'

/**
 * Decides the options of a client: by its rules, or by the user if no rule decides.
 *
 * @param rejections what the gateway has rejected for this client
 * @throws UserError `usage`, `model-unknown`, `protocol-unsupported`; the catalog's error if only a
 *   catalog could have decided
 * @throws Skipped
 */
export async function chooseModels(
  context: SetupContext,
  gateway: ReachedGateway,
  client: Client,
  rejections: readonly RejectedModel[] = [],
): Promise<ResolvedChoice> {
  const choice = await openChoice(context, gateway, client, rejections)
  const resolution = resolveClient(choice)
  if (resolution.kind === 'decided') {
    const guess = whyGuessed(resolution.choice)
    return guess === undefined || !canAskUser(context)
      ? resolution.choice
      : askForModel(context, gateway, choice, guess)
  }
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

/** The question for a model that no rule knows. Undefined: a rule or the user has chosen it. */
export function whyGuessed({ client, input, resolved }: ResolvedChoice): UserError | undefined {
  const catalog = catalogIn(input.gatewayInfo)
  const isGuess = resolved.uses.some((use) => use.isGuess && use.id === resolved.probeModel)
  return isGuess && catalog !== undefined ? whichModel(input, catalog, client.protocols) : undefined
}

/**
 * A client, with everything that decides its options now.
 *
 * @param rejections what the gateway has rejected for this client
 */
export async function openChoice(
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

/**
 * Whether the rules of every client decide without the catalog.
 *
 * @throws UserError if a client cannot use the gateway, whatever its catalog lists. If the user can skip this
 *   client and set up others, its error waits for step 3.
 */
export function needsNoCatalog(context: SetupContext, access: GatewayAccess): boolean {
  const { clients } = context
  const gatewayInfo = { catalogAnswer: { kind: 'pending' }, rejections: [] } as const
  const resolutions = clients.map((client) =>
    resolveClient({ client, program: {}, input: inputFor(context, client, access, gatewayInfo) }),
  )
  const canSkip = canAskUser(context) && clients.length > 1
  for (const resolution of resolutions)
    if (resolution.kind === 'impossible' && !canSkip) throw resolution.error
  return resolutions.every(({ kind }) => kind === 'decided')
}
