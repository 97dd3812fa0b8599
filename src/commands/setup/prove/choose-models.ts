/** Step 3 of a setup: the models and other options of each client, by its rules or by the user. */
import type { Client } from '../../../clients/contract/client.ts'
import { effectiveOptions, modelsIn } from '../../../clients/options/chosen-options.ts'
import { UserError } from '../../../errors.ts'
import { errorFrom } from '../../../finding.ts'
import { adviseNamingModel } from '../../../gateway/catalog.ts'
import { traitsOf } from '../../../gateway/judge/traits.ts'
import type { GatewayAccess } from '../../../gateway/types.ts'
import type { ChosenOptions, SetupContext } from '../request.ts'
import { noGatewayInfo, requestedFor, resolveInputFor } from '../resolve-input.ts'
import { askForModel } from './ask-for-model.ts'
import { resolveClient } from './resolution.ts'
import type { Candidate } from './unfinished-proof.ts'

/**
 * Decides the options of a client: by its rules, or by the user if no rule decides. Undefined: the user
 * skips the client.
 *
 * @throws UserError `usage`, `model-unknown`, `protocol-unsupported`; the catalog's error if only a
 *   catalog could have decided
 */
export async function chooseModels(candidate: Candidate): Promise<ChosenOptions | undefined> {
  const { context, access, client, version, gatewayInfo, rejection } = candidate
  const input = resolveInputFor(context, client, access, gatewayInfo)

  // Without a catalog the rules would choose the rejected model again.
  if (rejection !== undefined && gatewayInfo.catalog === undefined)
    return askForModel(candidate, input, rejection)

  const resolution = resolveClient(client, input, version)
  if (resolution.kind === 'decided') return { resolved: resolution.resolved, input }
  const error = errorFrom(resolution.problem)
  if (resolution.kind === 'impossible') throw error

  const { catalogError } = gatewayInfo
  const hasModel = modelsIn(effectiveOptions(input)).length > 0
  const reason = catalogError === undefined || hasModel ? error : adviseNamingModel(catalogError)

  // If the catalog failed for another reason, such as a wrong key, a model would not help.
  const isOtherFailure = catalogError !== undefined && traitsOf(catalogError)?.mayLackList !== true
  if (context.consent !== 'ask' || isOtherFailure) throw reason
  return askForModel(candidate, input, reason)
}

/**
 * Whether a client's options are decided without the gateway's catalog.
 *
 * @throws UserError if the client cannot use the gateway, whatever its catalog lists
 */
export function isDecided(context: SetupContext, client: Client, access: GatewayAccess): boolean {
  const catalogError = new UserError({
    code: 'usage',
    message: 'repoint did not ask the gateway for its models',
  })
  const input = resolveInputFor(context, client, access, { ...noGatewayInfo, catalogError })
  const resolution = resolveClient(client, input)
  if (resolution.kind === 'impossible') throw errorFrom(resolution.problem)
  return resolution.kind === 'decided'
}

/**
 * Whether to choose again after the gateway rejected models. With a catalog, the rules replace previous
 * models, unless only the key changes. Without a catalog and a requested model, the user may know one.
 */
export function canChooseAgain(
  { context, client, gatewayInfo }: Candidate,
  rejected: readonly string[],
): boolean {
  const { consent, request, previous } = context
  const requested = modelsIn(requestedFor(request, client))
  if (rejected.every((id) => requested.includes(id))) return false
  if (gatewayInfo.catalog === undefined)
    return consent === 'ask' && requested.length === 0 && !previous.has(client)
  return previous.has(client) && !request.flags.defaults && !request.isKeyOnly
}
