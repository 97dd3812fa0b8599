/** From step 4 back to step 3: what a client tries after the gateway has rejected its models. */
import type { Client, GatewayInfo, RejectedModel } from '../../clients/client.ts'
import { usualProtocol } from '../../clients/protocols.ts'
import { routesToProve } from '../../clients/resolve.ts'
import { UserError } from '../../errors.ts'
import { errorFrom, isFinding } from '../../finding.ts'
import { traitsOf } from '../../gateway/judge/traits.ts'
import { catalogEntry, nativeProtocol } from '../../gateway/models/rules.ts'
import { isSameRoots } from '../../gateway/roots.ts'
import type { Catalog } from '../../gateway/types.ts'
import { isUnserved, type ProbeAnswer } from './probes.ts'
import { askAll, type Proving, rejectionsIn, unlessFailed } from './proving.ts'
import type { Chosen } from './request.ts'
import { askForOtherModel, canChooseAgain, chooseModels, type ResolvingClient } from './resolve.ts'

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

/** What a client does next. */
type Next =
  | { readonly kind: 'try'; readonly chosen: Chosen; readonly isOtherModel?: boolean }
  /** The user leaves the client out. */
  | { readonly kind: 'skip' }
  /** Nothing was rejected, or nothing else can be tried. */
  | { readonly kind: 'stay' }
  | { readonly kind: 'fail'; readonly error: UserError }

/**
 * Probes the chosen models until no choice changes any more. After a rejection, a client tries the same
 * model over another protocol, or else another model.
 *
 * @throws UserError `cancelled` if the user skipped every client
 */
export async function chooseAgain(proving: Proving): Promise<void> {
  const { chosen, failed } = proving
  const replacements = new Map<Client, number>()
  let isChanged = true
  while (isChanged) {
    isChanged = false
    const answersOf = await askAll(proving)
    for (const resolving of proving.clients) {
      const { client } = resolving
      const current = chosen.get(client)
      if (current === undefined) continue

      await unlessFailed(proving, client, async () => {
        const answers = answersOf.get(client) ?? []
        const count = replacements.get(client) ?? 0
        const next = await nextFor({ proving, resolving, current, answers, replacements: count })
        if (next.kind === 'fail') throw next.error
        if (next.kind === 'stay') return

        isChanged = true
        if (next.kind === 'skip') chosen.delete(client)
        else chosen.set(client, next.chosen)
        if (next.kind === 'try' && next.isOtherModel) replacements.set(client, count + 1)
      })
    }
  }
  if (chosen.size + failed.size === 0)
    throw new UserError({ code: 'cancelled', message: 'You skipped every client' })
}

async function nextFor(probed: ProbedClient): Promise<Next> {
  const byProtocol = overOtherProtocol(probed)
  if (byProtocol.kind === 'try') return byProtocol

  const noProtocolLeft = byProtocol.kind === 'fail' ? byProtocol.error : undefined
  const byModel = await withOtherModel(probed, noProtocolLeft)
  return byModel.kind === 'stay' ? byProtocol : byModel
}

/** The same models over other protocols, or at base URLs that have turned out to be others. */
function overOtherProtocol({ proving, resolving, current, answers }: ProbedClient): Next {
  const { finder, catalog } = proving
  const { client, version } = resolving
  if (client.protocols.length === 1) return { kind: 'stay' }

  const rejections = rejectionsIn(answers).filter((one) => mayServeOtherwise(one, catalog))
  const known = current.input.gatewayInfo.gateway
  const isMoved =
    known?.baseUrls !== undefined && !isSameRoots(known.baseUrls, finder.access.baseUrls)
  if (rejections.length === 0 && !isMoved) return { kind: 'stay' }

  const gatewayInfo = { ...withRejected(current, rejections), gateway: finder.access }
  const input = { ...current.input, gatewayInfo }
  const resolved = client.resolve(input, version)
  if (isFinding(resolved)) return { kind: 'fail', error: errorFrom(resolved) }

  // With some settings a client can use one protocol only, so it may choose a rejected one again.
  const routes = routesToProve(client, resolved, catalog)
  const again = gatewayInfo.rejected.find((rejected) =>
    routes.some(
      ({ model, protocol }) => model === rejected.model && protocol === rejected.protocol,
    ),
  )
  if (again !== undefined) return { kind: 'fail', error: again.error }
  return { kind: 'try', chosen: { ...current, input, resolved } }
}

/**
 * Another model: by the rules if the rejected one comes from an earlier setup, or by the user.
 *
 * @param noProtocolLeft why the client cannot use the model over another protocol
 */
async function withOtherModel(
  { proving, resolving, current, answers, replacements }: ProbedClient,
  noProtocolLeft: UserError | undefined,
): Promise<Next> {
  const { run, catalog } = proving
  const rejections = rejectionsIn(answers)
  const again = { ...resolving, gatewayInfo: withRejected(current, rejections) }

  const missing = missingModels(rejections, catalog)
  const [firstMissing] = missing
  const missingIds = missing.map(({ model }) => model)
  if (firstMissing && replacements === 0 && canChooseAgain(resolving, missingIds))
    return tryOrSkip(await chooseModels({ ...again, refusal: firstMissing.error }))

  const rejected = rejections.map(({ error }) => error)
  const errors = noProtocolLeft === undefined ? rejected : [noProtocolLeft, ...rejected]
  const reason = errors.find((error) => traitsOf(error)?.blames === 'model')
  if (run.consent !== 'ask' || reason === undefined || replacements >= maxTries)
    return { kind: 'stay' }
  return tryOrSkip(await askForOtherModel(again, current.input, reason))
}

/** @param chosen undefined: the user skips the client */
function tryOrSkip(chosen: Chosen | undefined): Next {
  return chosen === undefined ? { kind: 'skip' } : { kind: 'try', chosen, isOtherModel: true }
}

function withRejected(
  { input: { gatewayInfo } }: Chosen,
  rejections: readonly RejectedModel[],
): GatewayInfo {
  return { ...gatewayInfo, rejected: [...gatewayInfo.rejected, ...rejections] }
}

/** Whether the gateway may serve a model over another protocol that it rejected over this one. */
function mayServeOtherwise(
  { model, protocol, error }: RejectedModel,
  catalog: Catalog | undefined,
): boolean {
  if (traitsOf(error)?.mayWorkOverAnotherProtocol !== true) return false
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
 * Models that the gateway neither serves nor lists. If it lists a model and does not serve it, the fault
 * is the gateway's, and no reason to choose another model.
 */
function missingModels(
  rejections: readonly RejectedModel[],
  catalog: Catalog | undefined,
): readonly RejectedModel[] {
  return rejections.filter(
    ({ model, error }) => isUnserved(error) && catalogEntry(catalog, model) === undefined,
  )
}
