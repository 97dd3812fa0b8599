/**
 * From step 4 back to step 3: what a client uses after the gateway has rejected its models. It tries the
 * same model over another protocol first, then another model. Otherwise it keeps its choice, and step 4
 * reports the rejection.
 */
import type { Client, GatewayInfo, RejectedModel } from '../../../clients/client.ts'
import { usualProtocol } from '../../../clients/protocols.ts'
import { routesToProve } from '../../../clients/resolve.ts'
import { UserError } from '../../../errors.ts'
import { errorFrom, isFinding } from '../../../finding.ts'
import { sameBaseUrls } from '../../../gateway/base-urls.ts'
import { mayHelp } from '../../../gateway/judge/traits.ts'
import { catalogEntry, nativeProtocol } from '../../../gateway/models/rules.ts'
import type { Catalog } from '../../../gateway/types.ts'
import type { Chosen } from '../request.ts'
import { askForOtherModel } from './ask-for-model.ts'
import { canChooseAgain, chooseModels } from './choose-models.ts'
import { isModelRejection, type ProbeAnswer } from './probes.ts'
import {
  type Proving,
  probeChosen,
  type ResolvingClient,
  rejectionsIn,
  runForClient,
} from './proving.ts'

/** How often the user may name a model that the gateway rejects. */
const maxTries = 3

/** A client, and the gateway's answers to the models that it chose. */
interface ProbedClient {
  readonly proving: Proving
  readonly resolving: ResolvingClient
  readonly current: Chosen
  readonly answers: readonly ProbeAnswer[]
  /** How often another model has replaced the client's. */
  readonly replacements: number
}

/** What to do with a client. */
type Decision =
  /** Probe these options. */
  | { readonly kind: 'probe'; readonly chosen: Chosen; readonly isOtherModel: boolean }
  /** The user leaves the client out. */
  | { readonly kind: 'skip' }
  /** Nothing was rejected, or nothing else can be tried. */
  | { readonly kind: 'keep' }

/**
 * Probes the chosen models until no choice changes any more.
 *
 * @throws UserError `cancelled` if the user skipped every client
 */
export async function chooseAgain(proving: Proving): Promise<void> {
  const { chosen, failed } = proving
  const replacements = new Map<Client, number>()

  let isChanged = true
  while (isChanged) {
    isChanged = false
    const answersOf = await probeChosen(proving)

    for (const resolving of proving.clients) {
      const { client } = resolving
      const current = chosen.get(client)
      if (current === undefined) continue

      await runForClient(proving, client, async () => {
        const answers = answersOf.get(client) ?? []
        const count = replacements.get(client) ?? 0
        const probed = { proving, resolving, current, answers, replacements: count }
        const decision = await decide(probed)
        if (decision.kind === 'keep') return

        isChanged = true
        if (decision.kind === 'skip') chosen.delete(client)
        else chosen.set(client, decision.chosen)
        if (decision.kind === 'probe' && decision.isOtherModel) replacements.set(client, count + 1)
      })
    }
  }

  if (chosen.size + failed.size === 0)
    throw new UserError({ code: 'cancelled', message: 'You skipped every client' })
}

/** @throws UserError if the client can use its model over no protocol, and no other model is chosen */
async function decide(probed: ProbedClient): Promise<Decision> {
  const overProtocol = overOtherProtocol(probed)
  const protocolError = overProtocol instanceof UserError ? overProtocol : undefined
  if (overProtocol !== undefined && !(overProtocol instanceof UserError))
    return { kind: 'probe', chosen: overProtocol, isOtherModel: false }

  const decision = await withOtherModel(probed, protocolError)
  if (decision.kind === 'keep' && protocolError !== undefined) throw protocolError
  return decision
}

/**
 * The same models over other protocols, or at base URLs that have turned out to be others.
 *
 * @returns undefined if nothing was rejected; an error if the client can use no other protocol
 */
function overOtherProtocol({
  proving,
  resolving,
  current,
  answers,
}: ProbedClient): Chosen | UserError | undefined {
  const { finder, catalog } = proving
  const { client, version } = resolving
  if (client.protocols.length === 1) return undefined

  const rejections = rejectionsIn(answers).filter((rejection) =>
    mayWorkOverOtherProtocol(rejection, catalog),
  )
  const known = current.input.gatewayInfo.gateway
  const isMoved =
    known?.baseUrls !== undefined && !sameBaseUrls(known.baseUrls, finder.access.baseUrls)
  if (rejections.length === 0 && !isMoved) return undefined

  const gatewayInfo = { ...withRejected(current, rejections), gateway: finder.access }
  const input = { ...current.input, gatewayInfo }
  const resolved = client.resolve(input, version)
  if (isFinding(resolved)) return errorFrom(resolved)

  // With some settings a client can use one protocol only, so it may choose a rejected one again.
  const routes = routesToProve(client, resolved, catalog)
  const repeated = gatewayInfo.rejected.find((rejected) =>
    routes.some(
      ({ model, protocol }) => model === rejected.model && protocol === rejected.protocol,
    ),
  )
  return repeated === undefined ? { ...current, input, resolved } : repeated.error
}

/**
 * Another model: by the rules if the rejected one comes from an earlier setup, or by the user.
 *
 * @param protocolError why the client cannot use the model over another protocol
 */
async function withOtherModel(
  { proving, resolving, current, answers, replacements }: ProbedClient,
  protocolError: UserError | undefined,
): Promise<Decision> {
  const { context, catalog } = proving
  const rejections = rejectionsIn(answers)
  const afterRejection = { ...resolving, gatewayInfo: withRejected(current, rejections) }

  const unlisted = unlistedModels(rejections, catalog)
  const [firstUnlisted] = unlisted
  const unlistedIds = unlisted.map(({ model }) => model)
  if (firstUnlisted && replacements === 0 && canChooseAgain(resolving, unlistedIds))
    return probeOrSkip(await chooseModels({ ...afterRejection, rejection: firstUnlisted.error }))

  const rejectionErrors = rejections.map(({ error }) => error)
  const errors = protocolError === undefined ? rejectionErrors : [protocolError, ...rejectionErrors]
  const modelError = errors.find(isModelRejection)
  const canAsk = context.consent === 'ask' && replacements < maxTries
  if (modelError === undefined || !canAsk) return { kind: 'keep' }
  return probeOrSkip(await askForOtherModel(afterRejection, current.input, modelError))
}

/** @param chosen undefined: the user skips the client */
function probeOrSkip(chosen: Chosen | undefined): Decision {
  return chosen === undefined ? { kind: 'skip' } : { kind: 'probe', chosen, isOtherModel: true }
}

function withRejected(
  { input: { gatewayInfo } }: Chosen,
  rejections: readonly RejectedModel[],
): GatewayInfo {
  return { ...gatewayInfo, rejected: [...gatewayInfo.rejected, ...rejections] }
}

/** Whether the gateway may serve a model over another protocol that it rejected over this one. */
function mayWorkOverOtherProtocol(
  { model, protocol, error }: RejectedModel,
  catalog: Catalog | undefined,
): boolean {
  if (!mayHelp('protocol', error)) return false

  if (error.code === 'model-unknown') {
    if (catalog === undefined) return protocol !== usualProtocol
    // If the catalog does not list it either, no other protocol helps.
    return catalogEntry(catalog, model) !== undefined
  }
  // Over its native protocol, a model without tools has none.
  if (error.code === 'tools-unsupported') return nativeProtocol(model) !== protocol
  // Without a catalog, a web page says that the address is wrong.
  return error.code !== 'not-an-api' || catalog !== undefined
}

/**
 * The rejected models that the gateway does not list either. If it lists a model and rejects it, the fault
 * is the gateway's, and no reason to choose another model.
 */
function unlistedModels(
  rejections: readonly RejectedModel[],
  catalog: Catalog | undefined,
): readonly RejectedModel[] {
  return rejections.filter(
    ({ model, error }) => isModelRejection(error) && catalogEntry(catalog, model) === undefined,
  )
}
