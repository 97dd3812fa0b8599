/**
 * From step 4 back to step 3: what a client uses after the gateway has rejected its models. It tries the
 * same models over another protocol, then other models by its rules, then a model from the user. If nothing
 * is left to try, it keeps its choice, and step 4 reports the rejection.
 */
import type { Client } from '../../../clients/contract/client.ts'
import type { GatewayInfo, RejectedModel } from '../../../clients/contract/setup.ts'
import { usualProtocol } from '../../../clients/models/protocols.ts'
import { routesToProve } from '../../../clients/models/resolve.ts'
import { UserError } from '../../../errors.ts'
import { errorFrom } from '../../../finding.ts'
import { sameBaseUrls } from '../../../gateway/base-urls.ts'
import { lacksModel, mayHelp } from '../../../gateway/judge/traits.ts'
import { catalogEntry, nativeProtocol } from '../../../gateway/models/rules.ts'
import type { Catalog } from '../../../gateway/types.ts'
import type { ChosenOptions } from '../request.ts'
import { askForOtherModel } from './ask-for-model.ts'
import { canChooseAgain, chooseModels } from './choose-models.ts'
import { isModelRejection, type ProbeAnswer } from './probes.ts'
import { resolveClient } from './resolution.ts'
import {
  type Candidate,
  probeChosen,
  rejectionsIn,
  runOrRecordFailure,
  type UnfinishedProof,
} from './unfinished-proof.ts'

/** How often the user may name a model that the gateway rejects. */
const maxTries = 3

/** A client, and the gateway's answers to the models that it chose. */
interface ProbedClient {
  readonly proof: UnfinishedProof
  readonly candidate: Candidate
  readonly current: ChosenOptions
  readonly answers: readonly ProbeAnswer[]
  /** How often another model has replaced the client's. */
  readonly replacements: number
}

/** What to do with a client. */
type Decision =
  /** Probe these options. */
  | { readonly kind: 'probe'; readonly chosen: ChosenOptions; readonly isOtherModel: boolean }
  /** The user leaves the client out. */
  | { readonly kind: 'skip' }
  /** Nothing was rejected, or this attempt has nothing to try. */
  | { readonly kind: 'keep' }
  /** The client can use its models over no protocol. */
  | { readonly kind: 'fail'; readonly error: UserError }

const keep: Decision = { kind: 'keep' }

/**
 * Probes the chosen models until no choice changes any more.
 *
 * @throws UserError `cancelled` if the user skipped every client
 */
export async function chooseAgain(proof: UnfinishedProof): Promise<void> {
  const { chosen, failed } = proof
  const replacements = new Map<Client, number>()

  let isChanged = true
  while (isChanged) {
    isChanged = false
    const answersOf = await probeChosen(proof)

    for (const candidate of proof.candidates) {
      const { client } = candidate
      const current = chosen.get(client)
      if (current === undefined) continue

      await runOrRecordFailure(proof, client, async () => {
        const answers = answersOf.get(client) ?? []
        const count = replacements.get(client) ?? 0
        const probed = { proof, candidate, current, answers, replacements: count }
        const decision = await decide(probed)
        if (decision.kind === 'keep') return
        if (decision.kind === 'fail') throw decision.error

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

/** The first attempt that probes or skips the client decides. */
async function decide(probed: ProbedClient): Promise<Decision> {
  const overOtherProtocol = tryOtherProtocol(probed)
  if (overOtherProtocol.kind === 'probe') return overOtherProtocol

  const byRules = await tryModelByRules(probed)
  if (byRules.kind !== 'keep') return byRules

  const protocolError = overOtherProtocol.kind === 'fail' ? overOtherProtocol.error : undefined
  const fromUser = await askUserForModel(probed, protocolError)
  if (fromUser.kind !== 'keep') return fromUser

  return overOtherProtocol
}

/** Tries the same models over other protocols, or at the base URLs that the probes have found since. */
function tryOtherProtocol({ proof, candidate, current, answers }: ProbedClient): Decision {
  const { finder, catalog } = proof
  const { client, version } = candidate
  if (client.protocols.length === 1) return keep

  const rejections = rejectionsIn(answers).filter((rejection) =>
    mayWorkOverOtherProtocol(rejection, catalog),
  )
  const known = current.input.gatewayInfo.gateway
  const isMoved =
    known?.baseUrls !== undefined && !sameBaseUrls(known.baseUrls, finder.access.baseUrls)
  if (rejections.length === 0 && !isMoved) return keep

  const gatewayInfo = { ...withRejected(current, rejections), gateway: finder.access }
  const input = { ...current.input, gatewayInfo }
  const resolution = resolveClient(client, input, version)
  if (resolution.kind !== 'decided') return { kind: 'fail', error: errorFrom(resolution.problem) }

  // With some settings a client can use one protocol only, so it may choose a rejected one again.
  const { resolved } = resolution
  const routes = routesToProve(client, resolved, catalog)
  const repeated = gatewayInfo.rejected.find((rejected) =>
    routes.some(
      ({ model, protocol }) => model === rejected.model && protocol === rejected.protocol,
    ),
  )
  if (repeated !== undefined) return { kind: 'fail', error: repeated.error }
  return { kind: 'probe', chosen: { ...current, input, resolved }, isOtherModel: false }
}

/** Lets the rules choose other models once, if the rejected ones come from an earlier setup. */
async function tryModelByRules(probed: ProbedClient): Promise<Decision> {
  const { proof, candidate, answers, replacements } = probed
  const rejected = rejectedAndUnlisted(rejectionsIn(answers), proof.catalog)
  const ids = rejected.map(({ model }) => model)
  const [first] = rejected
  if (first === undefined || replacements > 0 || !canChooseAgain(candidate, ids)) return keep

  const chosen = await chooseModels({ ...afterRejection(probed), rejection: first.error })
  return probeOrSkip(chosen)
}

/**
 * Asks the user for a model, if the gateway rejected one and repoint may ask.
 *
 * @param protocolError why the client cannot use its model over another protocol
 */
async function askUserForModel(
  probed: ProbedClient,
  protocolError: UserError | undefined,
): Promise<Decision> {
  const { proof, current, answers, replacements } = probed
  const errors = rejectionsIn(answers).map(({ error }) => error)
  const modelError = [protocolError, ...errors].find(isModelRejection)
  const canAsk = proof.context.consent === 'ask' && replacements < maxTries
  if (modelError === undefined || !canAsk) return keep

  const chosen = await askForOtherModel(afterRejection(probed), current.input, modelError)
  return probeOrSkip(chosen)
}

/** @param chosen undefined: the user skips the client */
function probeOrSkip(chosen: ChosenOptions | undefined): Decision {
  return chosen === undefined ? { kind: 'skip' } : { kind: 'probe', chosen, isOtherModel: true }
}

/** The candidate with the rejections of its current models. */
function afterRejection({ candidate, current, answers }: ProbedClient): Candidate {
  return { ...candidate, gatewayInfo: withRejected(current, rejectionsIn(answers)) }
}

function withRejected(
  { input: { gatewayInfo } }: ChosenOptions,
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

  if (lacksModel(error)) {
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
function rejectedAndUnlisted(
  rejections: readonly RejectedModel[],
  catalog: Catalog | undefined,
): readonly RejectedModel[] {
  return rejections.filter(
    ({ model, error }) => isModelRejection(error) && catalogEntry(catalog, model) === undefined,
  )
}
