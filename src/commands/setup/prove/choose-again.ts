/**
 * From step 4 back to step 3: what a client uses after the gateway has rejected its models.
 *
 * In: a client's choice and the rejections. Out: another choice to request, or none. Then step 4 reports the
 * rejection.
 */
import { catalogIn, type RejectedModel } from '../../../clients/contract/setup.ts'
import { rowOf } from '../../../clients/list.ts'
import { usualProtocol } from '../../../clients/models/protocols.ts'
import { modelsToProve } from '../../../clients/models/resolve.ts'
import { modelsIn } from '../../../clients/options/chosen-options.ts'
import { canContinueAfter, UserError } from '../../../errors.ts'
import type { Finding } from '../../../finding.ts'
import { sameBaseUrls } from '../../../gateway/base-urls.ts'
import { CurableError } from '../../../gateway/judge/judge.ts'
import {
  lacksModel,
  lacksTools,
  mayHelp,
  rejectsParameter,
  traitsOf,
} from '../../../gateway/judge/traits.ts'
import { catalogEntry, nativeProtocol } from '../../../gateway/models/rules.ts'
import type { Catalog } from '../../../gateway/types.ts'
import { asSentence } from '../../../text.ts'
import { expectTrustedBy } from '../../client-state/certificates.ts'
import { isInstalled } from '../../client-state/program/installed-program.ts'
import { optionsOfFlag } from '../../command-line/client-flags.ts'
import type { Rejections } from '../../prove/prove.ts'
import { type ResolvedChoice, resolveClient, resolveOrThrow } from '../../resolve/client-choice.ts'
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
  readonly rejections: Rejections
}

/**
 * Tries the attempts in docs/choosing-models.md in their order. Undefined: nothing else may help.
 *
 * @throws UserError if the client can use its models over no protocol, and no other model replaces them
 * @throws Skipped
 */
export async function chooseAgain(probed: ProbedClient): Promise<ResolvedChoice | undefined> {
  const { alternatives: [other, ...alternatives] = [] } = probed.choice
  if (other !== undefined && probed.rejections.some(({ error }) => isModelRejection(error)))
    return { ...other, alternatives }

  const sameModels = trySameModels(probed)
  if (sameModels !== undefined && !(sameModels instanceof UserError)) return sameModels

  const otherModels = await tryModelByRules(probed)
  if (otherModels !== undefined) return otherModels

  // Without this error, step 4 would report only the last rejection.
  return askClientThenUser(probed, sameModels ?? probed.rejections[0].error)
}

/**
 * Asks the installed client itself, and then the user: whether to leave out what the gateway rejects, or for another
 * model.
 *
 * @param reason why the client cannot use the gateway, as far as requests have shown it
 * @throws UserError the verdict; Skipped
 */
async function askClientThenUser(
  probed: ProbedClient,
  reason: UserError,
): Promise<ResolvedChoice | undefined> {
  const { context, gateway, choice, rejections } = probed
  const { session, policy } = context
  const { client } = choice
  const [rejection] = rejections

  let verdict = reason
  const isForClient = mayHelp('client', rejection.error)
  if (isForClient && !policy.asksClient && isInstalled(session, client))
    verdict = reason.with({
      message: `${asSentence(reason.message)} repoint did not ask ${client.label} itself`,
    })
  if (isForClient && policy.asksClient) {
    const { access } = gateway.requester
    await expectTrustedBy(client, access)
    const { appeal } = await import('../../prove/ask-client.ts')
    try {
      const answered = await appeal(session, access, choice, rejection.error, reason)
      return { ...choice, answered }
    } catch (error) {
      if (!canContinueAfter(error)) throw error
      verdict = error
    }
    const cured = await tryCure(probed, verdict)
    if (cured !== undefined) return cured
  }

  const otherModels = await tryModelFromUser(probed, verdict)
  if (otherModels === undefined && verdict !== rejection.error) throw verdict
  return otherModels
}

/** Leaves out what the gateway rejects, if the client has an option for that and the user agrees. */
async function tryCure(
  { context, choice, rejections }: ProbedClient,
  verdict: UserError,
): Promise<ResolvedChoice | undefined> {
  const { session, policy } = context
  const { client, cured, input, replacements } = choice
  const { gatewayInfo, requested } = input
  const all = [...rejections, ...gatewayInfo.rejections]
  const curable = all.map(({ error }) => error).find((error) => error instanceof CurableError)
  if (curable === undefined || !policy.writesOptions) return undefined

  const { message, flag } = curable
  const options = optionsOfFlag(rowOf(client.id).flags, flag)
  if (options === undefined || Object.keys(options).some((name) => name in (cured?.options ?? {})))
    return undefined

  if (canAskUser(context)) {
    session.remark(`✗ ${verdict.message}`)
    const question = `Set up ${client.label} with ${flag}?`
    if (!(await session.platform.ask.confirm({ message: question, default: true })))
      return undefined
  }

  const finding: Finding = {
    code: 'part-left-out',
    severity: 'note',
    message: `${message}, so repoint sets up ${client.label} with ${flag}`,
  }
  const stillRejected = all.filter(({ error }) => !(error instanceof CurableError))
  const next = resolveOrThrow({
    ...choice,
    input: {
      ...input,
      requested: { ...requested, ...options },
      gatewayInfo: { ...gatewayInfo, rejections: stillRejected },
    },
  })
  return {
    ...next,
    replacements,
    cured: {
      options: { ...cured?.options, ...options },
      findings: [...(cured?.findings ?? []), finding],
    },
  }
}

/** Whether another model may succeed: the gateway rejects the model, its protocol or what its request contains. */
function isModelRejection(error: UserError | undefined): error is UserError {
  return error !== undefined && traitsOf(error)?.blames === 'model'
}

/**
 * Resolves the same models again, for one of two reasons:
 *
 * - The gateway rejected one of them, and may serve it over another protocol.
 * - Since this choice, a probe of any client has found other base URLs. They decide which protocols the client's
 *   list of models can mix (`protocolsOfProvider`).
 *
 * @returns an error if the client can use its models over no protocol that the gateway has not rejected
 */
function trySameModels({
  gateway,
  choice,
  rejections,
}: ProbedClient): ResolvedChoice | UserError | undefined {
  const { access } = gateway.requester
  const catalog = catalogIn(gateway)
  const { client, input } = choice
  if (client.protocols.length === 1) return undefined

  // Other rejections would be the same over every protocol, so the client may choose their models again.
  const retryable = rejections.filter((rejection) => mayWorkOverOtherProtocol(rejection, catalog))
  const knownBaseUrls = input.gatewayInfo.accessSoFar?.baseUrls
  const hasMoved = knownBaseUrls !== undefined && !sameBaseUrls(knownBaseUrls, access.baseUrls)
  if (retryable.length === 0 && !hasMoved) return undefined

  const toAvoid = [...input.gatewayInfo.rejections, ...retryable]
  const gatewayInfo = { ...input.gatewayInfo, rejections: toAvoid, accessSoFar: access }
  const resolution = resolveClient({ ...choice, input: { ...input, gatewayInfo } })
  if (resolution.kind !== 'decided') return resolution.error

  // With some settings a client can use one protocol only, so it may choose a rejected one again.
  const next = { ...resolution.choice, replacements: choice.replacements }
  const models = modelsToProve(next.resolved, catalog)
  const repeated = toAvoid.find((rejection) =>
    models.some(
      ({ model, protocol }) => model === rejection.model && protocol === rejection.protocol,
    ),
  )
  return repeated === undefined ? next : repeated.error
}

/**
 * Lets the rules choose other models: the next default, if they chose the rejected one; or once, if the gateway
 * neither serves nor lists those of an earlier setup any more. If it lists such a model and rejects it, the fault is
 * the gateway's, and no reason for another model.
 */
async function tryModelByRules(probed: ProbedClient): Promise<ResolvedChoice | undefined> {
  const { context, choice, rejections } = probed
  const { request, earlierSetups, policy } = context
  const { client, replacements } = choice
  const gateway = await withList(probed)
  const [byRule] = choice.resolved.uses
  const isDefault = choice.resolved.uses.length === 1 && byRule?.id === choice.resolved.probeModel
  // A rejected part of the request is for the user to cure: another model would hide it.
  const isForModel = ({ error }: RejectedModel) =>
    isModelRejection(error) && !rejectsParameter(error)
  if (isDefault && replacements < maxReplacements && rejections.some(isForModel)) {
    const next = await chooseModels(context, gateway, client, allRejected(probed))
    if (next.resolved.probeModel !== byRule.id) return replaceModels(probed, next)
  }

  // Without a catalog the rules would choose the rejected model again.
  const catalog = catalogIn(gateway)
  const mayReplace = policy.replacesModels && earlierSetups.has(client.id) && replacements === 0
  if (catalog === undefined || !mayReplace) return undefined

  const requested = modelsIn(requestedOptions(request, client))
  const isGone = ({ model, error }: RejectedModel) =>
    isModelRejection(error) &&
    catalogEntry(catalog, model) === undefined &&
    !requested.includes(model)
  if (!rejections.some(isGone)) return undefined

  return replaceModels(probed, await chooseModels(context, gateway, client, allRejected(probed)))
}

/** The gateway with its list of models: one that was too slow is worth the wait once the gateway lacks the model. */
async function withList({ gateway, rejections }: ProbedClient): Promise<ReachedGateway> {
  const { requester, catalogAnswer } = gateway
  const wasSlow = catalogAnswer.kind === 'failed' && catalogAnswer.error.code === 'gateway-fault'
  const isNeeded = wasSlow && rejections.some(({ error }) => lacksModel(error))
  return isNeeded ? { requester, catalogAnswer: await requester.requestCatalog() } : gateway
}

/**
 * Asks the user for a model, if the gateway rejected one and repoint may ask.
 *
 * @param verdict why the client cannot use its model
 */
async function tryModelFromUser(
  probed: ProbedClient,
  verdict: UserError,
): Promise<ResolvedChoice | undefined> {
  const { context, gateway, choice, rejections } = probed
  const { replacements } = choice
  const errors = rejections.map(({ error }) => error)
  const modelError = [verdict, ...errors].find(isModelRejection)
  const canAsk = canAskUser(context) && replacements < maxReplacements
  if (modelError === undefined || !canAsk) return undefined

  const { input } = choice
  const gatewayInfo = { ...input.gatewayInfo, rejections: allRejected(probed) }
  const rejectedChoice = { ...choice, input: { ...input, gatewayInfo } }
  const next = await askForOtherModel(context, gateway, rejectedChoice, modelError)
  return replaceModels(probed, next)
}

function replaceModels({ choice }: ProbedClient, next: ResolvedChoice): ResolvedChoice {
  return { ...next, replacements: choice.replacements + 1 }
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
  return !lacksTools(error) || nativeProtocol(model) !== protocol
}
