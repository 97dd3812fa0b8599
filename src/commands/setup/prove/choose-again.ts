/**
 * From step 4 back to step 3: what a client uses after the gateway has rejected its models. It tries the
 * same models over another protocol, then other models by its rules, then a model from the user. If nothing
 * is left to try, it keeps its choice, and step 4 reports the rejection.
 */
import { catalogIn, type RejectedModel } from '../../../clients/contract/setup.ts'
import { usualProtocol } from '../../../clients/models/protocols.ts'
import { routesToProve } from '../../../clients/models/resolve.ts'
import { modelsIn } from '../../../clients/options/chosen-options.ts'
import type { UserError } from '../../../errors.ts'
import { sameBaseUrls } from '../../../gateway/base-urls.ts'
import { lacksModel, lacksTools, mayHelp } from '../../../gateway/judge/traits.ts'
import { catalogEntry, nativeProtocol } from '../../../gateway/models/rules.ts'
import type { Catalog } from '../../../gateway/types.ts'
import { isModelRejection } from '../../probes/probes.ts'
import { type ResolvedChoice, resolveClient } from '../../resolve/client-choice.ts'
import { requestedFor } from '../context.ts'
import type { AskedGateway, SetupContext } from '../types.ts'
import { askForModel, askForOtherModel } from './ask-for-model.ts'
import { chooseModels } from './choose-models.ts'

/** How often other models may replace a client's, most of them named by the user. */
const maxReplacements = 3

/** A client whose models were probed, and the ones that the gateway rejected. */
interface ProbedClient {
  readonly context: SetupContext
  readonly gateway: AskedGateway
  readonly choice: ResolvedChoice
  readonly rejections: readonly RejectedModel[]
}

/** What to do with the client next. */
export type Attempt =
  | { readonly kind: 'probe'; readonly choice: ResolvedChoice }
  | { readonly kind: 'nothing-to-try' }

/** As `Attempt`, for the models that the client has: it may be able to use them over no protocol. */
type ProtocolAttempt = Attempt | { readonly kind: 'impossible'; readonly error: UserError }

/**
 * @throws UserError if the client can use its models over no protocol, and no other model replaces them
 * @throws ClientSkipped
 */
export async function chooseAgain(probed: ProbedClient): Promise<Attempt> {
  const otherProtocol = tryOtherProtocol(probed)
  if (otherProtocol.kind === 'probe') return otherProtocol
  const error = otherProtocol.kind === 'impossible' ? otherProtocol.error : undefined

  const byRules = await tryModelByRules(probed)
  if (byRules.kind !== 'nothing-to-try') return byRules
  const fromUser = await askUserForModel(probed, error)
  if (fromUser.kind !== 'nothing-to-try') return fromUser

  if (error !== undefined) throw error
  return { kind: 'nothing-to-try' }
}

/** Tries the same models over other protocols, or at the base URLs that the probes have found since. */
function tryOtherProtocol({ gateway, choice, rejections }: ProbedClient): ProtocolAttempt {
  const { access } = gateway.requester
  const catalog = catalogIn(gateway)
  const { client, input } = choice
  if (client.protocols.length === 1) return { kind: 'nothing-to-try' }

  const retryable = rejections.filter((rejection) => mayWorkOverOtherProtocol(rejection, catalog))
  const known = input.gatewayInfo.gateway?.baseUrls
  const isMoved = known !== undefined && !sameBaseUrls(known, access.baseUrls)
  if (retryable.length === 0 && !isMoved) return { kind: 'nothing-to-try' }

  const rejected = [...input.gatewayInfo.rejected, ...retryable]
  const gatewayInfo = { ...input.gatewayInfo, rejected, gateway: access }
  const resolution = resolveClient({ ...choice, input: { ...input, gatewayInfo } })
  if (resolution.kind !== 'decided') return { kind: 'impossible', error: resolution.error }

  // With some settings a client can use one protocol only, so it may choose a rejected one again.
  const next = resolution.choice
  const routes = routesToProve(next.resolved, catalog)
  const repeated = rejected.find((route) =>
    routes.some(({ model, protocol }) => model === route.model && protocol === route.protocol),
  )
  if (repeated !== undefined) return { kind: 'impossible', error: repeated.error }
  return { kind: 'probe', choice: next }
}

/** Lets the rules choose other models once, if the rejected ones come from an earlier setup. */
async function tryModelByRules(probed: ProbedClient): Promise<Attempt> {
  const { context, gateway, choice, rejections } = probed
  const { replacements = 0 } = choice
  const unlisted = rejectedAndUnlisted(rejections, catalogIn(gateway))
  const [rejection] = unlisted
  if (rejection === undefined || replacements > 0 || !mayReplaceModels(probed, unlisted))
    return { kind: 'nothing-to-try' }

  const rejected = allRejected(probed)
  // Without a catalog the rules would choose the rejected model again.
  const next =
    catalogIn(gateway) === undefined
      ? await askForModel(context, gateway, withRejected(choice, rejected), rejection.error)
      : await chooseModels(context, gateway, choice.client, rejected)
  return replaceModels(probed, next)
}

/**
 * Asks the user for a model, if the gateway rejected one and repoint may ask.
 *
 * @param protocolError why the client cannot use its model over another protocol
 */
async function askUserForModel(
  probed: ProbedClient,
  protocolError: UserError | undefined,
): Promise<Attempt> {
  const { context, gateway, choice, rejections } = probed
  const { replacements = 0 } = choice
  const errors = rejections.map(({ error }) => error)
  const modelError = [protocolError, ...errors].find(isModelRejection)
  const canAsk = context.consent === 'ask' && replacements < maxReplacements
  if (modelError === undefined || !canAsk) return { kind: 'nothing-to-try' }

  const rejectedChoice = withRejected(choice, allRejected(probed))
  const next = await askForOtherModel(context, gateway, rejectedChoice, modelError)
  return replaceModels(probed, next)
}

function replaceModels({ choice }: ProbedClient, next: ResolvedChoice): Attempt {
  const { replacements = 0 } = choice
  return { kind: 'probe', choice: { ...next, replacements: replacements + 1 } }
}

/** The routes that the gateway has rejected for a client, in this and in earlier attempts. */
function allRejected({ choice, rejections }: ProbedClient): readonly RejectedModel[] {
  return [...choice.input.gatewayInfo.rejected, ...rejections]
}

function withRejected(choice: ResolvedChoice, rejected: readonly RejectedModel[]): ResolvedChoice {
  const { input } = choice
  return { ...choice, input: { ...input, gatewayInfo: { ...input.gatewayInfo, rejected } } }
}

/**
 * Whether other models may replace these rejected ones. With a catalog, the rules replace previous models,
 * unless only the key changes. Without a catalog and a requested model, the user may know one.
 */
function mayReplaceModels(
  { context, gateway, choice }: ProbedClient,
  unlisted: readonly RejectedModel[],
): boolean {
  const { consent, request, earlier, policy } = context
  const { client } = choice
  const requested = modelsIn(requestedFor(request, client))
  if (unlisted.every(({ model }) => requested.includes(model))) return false
  if (catalogIn(gateway) === undefined)
    return consent === 'ask' && requested.length === 0 && !earlier.has(client)
  return earlier.has(client) && policy.replacesModels
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
  // Over its native protocol, a model without tools has none.
  if (lacksTools(error)) return nativeProtocol(model) !== protocol
  // Without a catalog, a web page says that the address is wrong.
  return error.code !== 'not-an-api' || catalog !== undefined
}

/**
 * The rejected models that the gateway does not list either. If it lists a model and rejects it, the fault
 * is the gateway's, and no reason to choose another model.
 */
function rejectedAndUnlisted(
  rejections: readonly RejectedModel[],
  catalog: Catalog | undefined,
): readonly RejectedModel[] {
  return rejections.filter(
    ({ model, error }) => isModelRejection(error) && catalogEntry(catalog, model) === undefined,
  )
}
