/** The question of a command for one client without files to write, or for none. */
import {
  catalogIn,
  type GatewayInfo,
  type RejectedModel,
  type ResolvedOptions,
} from '../../clients/contract/setup.ts'
import { UserError, valueOrError } from '../../errors.ts'
import { adviseNamingModel, catalogUnavailable } from '../../gateway/catalog.ts'
import { GatewayRequester } from '../../gateway/gateway-requester.ts'
import { mayHelp, traitsOf } from '../../gateway/judge/traits.ts'
import type { GatewayAccess, Sender } from '../../gateway/types.ts'
import type { SavedGateway } from '../../state/gateway-list.ts'
import { rememberModels } from '../../state/remembered.ts'
import { isTypedAddress, savedGateway } from '../../state/saved-gateways.ts'
import { recoverAndReport, runsSoFar } from '../client-state/recorded-runs.ts'
import type { GatewayFlags } from '../command-line/flags.ts'
import { accessToSaved } from '../find-gateway/access.ts'
import { type FoundGateway, findGateway } from '../find-gateway/find-gateway.ts'
import { type GatewayInUse, presetUnlessNamed } from '../find-gateway/preset.ts'
import type { Session } from '../screen/session.ts'
import { type Probed, probedOf } from './first-requests.ts'
import { prove } from './prove.ts'

/**
 * The gateway of a command that only reads from it: the saved one with this name, the one at this address, or else
 * that of the newest setup.
 */
export async function findGatewayToRead(
  session: Session,
  gateway: string | undefined,
  flags: GatewayFlags,
): Promise<
  Pick<FoundGateway, 'access' | 'findings'> & {
    readonly saved?: SavedGateway
    readonly inUse?: GatewayInUse
  }
> {
  if (gateway !== undefined && !isTypedAddress(session, gateway)) {
    const saved = savedGateway(session, gateway)
    return { access: accessToSaved(session, saved, flags.timeout * 1000), findings: [], saved }
  }

  const findFlags = gateway === undefined ? flags : { ...flags, baseUrl: gateway }
  const { preset, inUse } = await presetUnlessNamed(session, findFlags, runsSoFar(session))
  return { ...(await findGateway(session, findFlags, preset)), inUse }
}

export async function openNamedGateway(
  session: Session,
  gateway: string | undefined,
  flags: GatewayFlags,
): Promise<GatewayRequester> {
  recoverAndReport(session)
  const { access, findings, inUse } = await findGatewayToRead(session, gateway, flags)
  if (inUse) session.remark(`Using ${inUse.label}'s gateway. Another: --base-url URL`)

  session.platform.ask.acceptTyping()
  session.addFindings(...findings)
  return new GatewayRequester(access)
}

interface OneQuestion<Choice> {
  readonly requester: GatewayRequester
  readonly model: string | undefined
  /** The best choice with what is known of the gateway. @throws UserError why there is none */
  readonly choose: (known: GatewayInfo) => Choice
  /** Absent: what the client sends besides messages and tools is not known. */
  readonly senderFor?: (probed: Probed) => Promise<Sender>
}

/**
 * Proves the address, the key and a model.
 *
 * @throws UserError with the diagnosis
 */
export async function proveOne<
  Choice extends Pick<ResolvedOptions, 'probeModel' | 'protocol'> &
    Partial<Pick<ResolvedOptions, 'offered'>>,
>(
  session: Session,
  { requester, model, choose, senderFor }: OneQuestion<Choice>,
): Promise<{ readonly access: GatewayAccess; readonly choice: Choice }> {
  const requestOf = async ({ probeModel: model, protocol, offered }: Choice) => {
    const asked = { model, protocol }
    return { ...asked, sender: await senderFor?.(probedOf(asked, offered)) }
  }
  const rejected: RejectedModel[] = []
  const { list, answers, access, fault } = await prove<Choice>(session, requester, {
    isModelKnown: model !== undefined,
    asksFor: (catalogAnswer) => {
      const catalog = catalogIn({ catalogAnswer })
      if (catalog !== undefined) rememberModels(session.platform, catalog)
      const known = () => ({ catalogAnswer, rejections: rejected, accessSoFar: requester.access })
      return [
        {
          first: () => chooseOrExplain(known(), choose),
          requestsOf: async (choice) => [await requestOf(choice)],
          next: (choice, [rejection]) => {
            if (!mayHelp('protocol', rejection.error)) return undefined
            rejected.push(rejection)
            return nextChoice({ choice, rejection, rejected }, () => choose(known()))
          },
        },
      ]
    },
  })

  if (fault !== undefined) throw fault
  const [answer] = answers
  if (answer?.kind !== 'works') throw (answer as { readonly error: UserError }).error
  if (list.kind === 'failed') session.addFindings(catalogUnavailable(list.error))
  return { access, choice: answer.choice }
}

/** A choice as a request: its model and its protocol. */
type Requested = Pick<ResolvedOptions, 'probeModel' | 'protocol'>

/**
 * The next choice after a rejection. Another model helps only if the gateway rejects the model.
 *
 * @throws UserError that describes the rejections of a model better than the first of them
 */
export function nextChoice<Choice extends Requested>(
  {
    choice,
    rejection,
    rejected,
  }: {
    readonly choice: Requested
    readonly rejection: RejectedModel
    readonly rejected: readonly RejectedModel[]
  },
  choose: () => Choice,
): Choice | undefined {
  const isOfModel = traitsOf(rejection.error)?.blames === 'model'
  const next = valueOrError(choose)
  if (next instanceof UserError) {
    if (isOfModel) throw next
    return undefined
  }
  const { probeModel, protocol } = next
  const isTried = rejected.some((one) => one.model === probeModel && one.protocol === protocol)
  return isTried || (!isOfModel && probeModel !== choice.probeModel) ? undefined : next
}

/** @throws UserError of the list, if only a list could have decided */
function chooseOrExplain<Choice>(
  known: GatewayInfo,
  choose: (known: GatewayInfo) => Choice,
): Choice {
  const choice = valueOrError(() => choose(known))
  if (!(choice instanceof UserError)) return choice
  const { catalogAnswer } = known
  throw catalogAnswer.kind === 'failed' ? adviseNamingModel(catalogAnswer.error) : choice
}
