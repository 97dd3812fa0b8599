/**
 * From step 4 back to step 3: what a client uses after the gateway has rejected its models.
 *
 * In: a client's choice and the rejections. Out: another choice to probe, or `nothing-to-try`. Then step 4
 * reports the rejection.
 */
import { catalogIn, type RejectedModel } from '../../../clients/contract/setup.ts'
import { usualProtocol } from '../../../clients/models/protocols.ts'
import { modelsToProve } from '../../../clients/models/resolve.ts'
import { modelsIn } from '../../../clients/options/chosen-options.ts'
import type { UserError } from '../../../errors.ts'
import { sameBaseUrls } from '../../../gateway/base-urls.ts'
import { lacksModel, lacksTools, mayHelp } from '../../../gateway/judge/traits.ts'
import { catalogEntry, nativeProtocol } from '../../../gateway/models/rules.ts'
import type { Catalog } from '../../../gateway/types.ts'
import { isModelRejection } from '../../probes/probes.ts'
import { type ResolvedChoice, resolveClient } from '../../resolve/client-choice.ts'
import { canAskUser, type ReachedGateway, requestedOptions, type SetupContext } from '../context.ts'
import { askForOtherModel } from './ask-for-model.ts'
import { chooseModels } from './choose-models.ts'

/** How often other models may replace a client's, most of them named by the user. */
const maxReplacements = 3

/** A client whose models were probed, and the ones that the gateway rejected. */
interface ProbedClient {
  readonly context: SetupContext
  readonly gateway: ReachedGateway
  readonly choice: ResolvedChoice
  readonly rejections: readonly RejectedModel[]
}

/** What to probe next for a client. */
type NextChoice =
  | { readonly kind: 'probe'; readonly choice: ResolvedChoice }
  /** The gateway rejected nothing, or nothing else may help. */
  | { readonly kind: 'nothing-to-try' }

/** The client can use its models over no protocol that the gateway has not rejected. */
interface NoProtocol {
  readonly kind: 'no-protocol'
  /** Why no protocol is left. */
  readonly error: UserError
}

/**
 * Tries the rows of docs/choosing-models.md in their order.
 *
 * @throws UserError if the client can use its models over no protocol, and no other model replaces them
 * @throws ClientSkipped
 */
export async function chooseAgain(probed: ProbedClient): Promise<NextChoice> {
  const sameModels = trySameModels(probed)
  if (sameModels.kind === 'probe') return sameModels
  const protocolError = sameModels.kind === 'no-protocol' ? sameModels.error : undefined

  const byRules = await tryModelByRules(probed)
  if (byRules.kind === 'probe') return byRules

  const fromUser = await tryModelFromUser(probed, protocolError)
  // Without this error, step 4 would report only the last rejection.
  if (fromUser.kind === 'nothing-to-try' && protocolError !== undefined) throw protocolError
  return fromUser
}

/**
 * Resolves the same models again, for one of two reasons:
 *
 * - The gateway rejected one of them, and may serve it over another protocol.
 * - Since this choice, a probe of any client has found other base URLs. They decide which protocols the client's
 *   list of models can mix (`protocolsOfProvider`).
 */
function trySameModels({ gateway, choice, rejections }: ProbedClient): NextChoice | NoProtocol {
  const { access } = gateway.requester
  const catalog = catalogIn(gateway)
  const { client, input } = choice
  if (client.protocols.length === 1) return { kind: 'nothing-to-try' }

  // Other rejections would be the same over every protocol, so the client may choose their models again.
  const retryable = rejections.filter((rejection) => mayWorkOverOtherProtocol(rejection, catalog))
  const knownBaseUrls = input.gatewayInfo.accessSoFar?.baseUrls
  const hasMoved = knownBaseUrls !== undefined && !sameBaseUrls(knownBaseUrls, access.baseUrls)
  if (retryable.length === 0 && !hasMoved) return { kind: 'nothing-to-try' }

  const toAvoid = [...input.gatewayInfo.rejections, ...retryable]
  const gatewayInfo = { ...input.gatewayInfo, rejections: toAvoid, accessSoFar: access }
  const resolution = resolveClient({ ...choice, input: { ...input, gatewayInfo } })
  if (resolution.kind !== 'decided') return { kind: 'no-protocol', error: resolution.error }

  // With some settings a client can use one protocol only, so it may choose a rejected one again.
  const next = { ...resolution.choice, replacements: choice.replacements }
  const models = modelsToProve(next.resolved, catalog)
  const repeated = toAvoid.find((rejection) =>
    models.some(
      ({ model, protocol }) => model === rejection.model && protocol === rejection.protocol,
    ),
  )
  if (repeated !== undefined) return { kind: 'no-protocol', error: repeated.error }
  return { kind: 'probe', choice: next }
}

/**
 * Lets the rules choose other models, once, if the gateway neither serves nor lists those of an earlier setup
 * any more. If it lists a model and rejects it, the fault is the gateway's, and no reason for another model.
 */
async function tryModelByRules(probed: ProbedClient): Promise<NextChoice> {
  const { context, gateway, choice, rejections } = probed
  const { request, earlierSetups, policy } = context
  const { client, replacements } = choice
  // Without a catalog the rules would choose the rejected model again.
  const catalog = catalogIn(gateway)
  const mayReplace = policy.replacesModels && earlierSetups.has(client.id) && replacements === 0
  if (catalog === undefined || !mayReplace) return { kind: 'nothing-to-try' }

  const requested = modelsIn(requestedOptions(request, client))
  const isGone = ({ model, error }: RejectedModel) =>
    isModelRejection(error) &&
    catalogEntry(catalog, model) === undefined &&
    !requested.includes(model)
  if (!rejections.some(isGone)) return { kind: 'nothing-to-try' }

  return replaceModels(probed, await chooseModels(context, gateway, client, allRejected(probed)))
}

/**
 * Asks the user for a model, if the gateway rejected one and repoint may ask.
 *
 * @param protocolError why the client cannot use its model over another protocol
 */
async function tryModelFromUser(
  probed: ProbedClient,
  protocolError: UserError | undefined,
): Promise<NextChoice> {
  const { context, gateway, choice, rejections } = probed
  const { replacements } = choice
  const errors = rejections.map(({ error }) => error)
  const modelError = [protocolError, ...errors].find(isModelRejection)
  const canAsk = canAskUser(context) && replacements < maxReplacements
  if (modelError === undefined || !canAsk) return { kind: 'nothing-to-try' }

  const { input } = choice
  const gatewayInfo = { ...input.gatewayInfo, rejections: allRejected(probed) }
  const rejectedChoice = { ...choice, input: { ...input, gatewayInfo } }
  const next = await askForOtherModel(context, gateway, rejectedChoice, modelError)
  return replaceModels(probed, next)
}

function replaceModels({ choice }: ProbedClient, next: ResolvedChoice): NextChoice {
  return { kind: 'probe', choice: { ...next, replacements: choice.replacements + 1 } }
}

/** What the gateway has rejected for a client, in this and in earlier attempts. */
function allRejected({ choice, rejections }: ProbedClient): readonly RejectedModel[] {
  return [...choice.input.gatewayInfo.rejections, ...rejections]
}

/** Whether the gateway may serve a model over another protocol that it rejected over this one. */
function mayWorkOverOtherProtocol(
  { model, protocol, error }: RejectedModel,
  catalog: Catalog | undefined,
): boolean {
  if (!mayHelp('protocol', error)) return false

  if (lacksModel(error)) {
    if (catalog === undefined) return protocol !== usualProtocol
    // If the catalog does not list it either, no other protocol helps.
    return catalogEntry(catalog, model) !== undefined
  }
  // A model that rejects tools over its native protocol rejects them over every other one.
  if (lacksTools(error)) return nativeProtocol(model) !== protocol
  // Without a catalog, a web page says that the address is wrong.
  return error.code !== 'not-an-api' || catalog !== undefined
}
