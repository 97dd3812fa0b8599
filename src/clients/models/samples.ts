/**
 * Which models a client's list contains, and over which protocol. A protocol that a written model uses has answered
 * once, or the model is left out. One answer counts for a group:
 *
 *     the protocol is               one answer counts for
 *     native to the model           every model over this protocol
 *     in the list for the model     every model over this protocol
 *     another one                   the models with the same native protocol: a gateway may serve GLM over chat, and
 *                                   GPT not
 */
import type { UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { deniesModel, lacksRoute } from '../../gateway/judge/traits.ts'
import { defaultModels, nativeProtocol, supportsProtocol } from '../../gateway/models/rules.ts'
import type { CatalogModel, ModelAndProtocol, Protocol } from '../../gateway/types.ts'
import { counted, withoutRequestId } from '../../text.ts'
import { catalogIn, type GatewayInfo, type Sample } from '../contract/setup.ts'
import { byPreference, likelyProtocol } from './protocols.ts'

/** After so many models that the gateway does not serve to this key, the others of the group are left out too. */
const maxDenied = 3

/** The models of a list next to the one that the client starts with. */
interface Offer {
  readonly others: readonly { readonly model: CatalogModel; readonly protocol: Protocol }[]
  /** The model to request next. Absent: every protocol of `others` is decided. */
  readonly nextSample?: ModelAndProtocol
  readonly findings: readonly Finding[]
}

/**
 * @param first the protocol of the model that the client starts with
 * @param protocols those that the client can use for its other models
 */
export function readSamples(
  models: readonly CatalogModel[],
  first: Protocol,
  protocols: readonly Protocol[],
  gatewayInfo: GatewayInfo,
): Offer {
  const { samples } = gatewayInfo
  if (samples === undefined) {
    const others = models.flatMap((model) => {
      const protocol = likelyProtocol(model, first, gatewayInfo, protocols)
      return protocol === undefined ? [] : [{ model, protocol }]
    })
    return { others, findings: [] }
  }

  const listed = catalogIn(gatewayInfo)?.models ?? []
  const stated = protocols.filter((protocol) =>
    listed.some((model) => supportsProtocol(model, protocol) === true),
  )
  const groups = new Map<string, Group>()
  const rejected = new Map<CatalogModel, UserError>()
  const others = models.flatMap((model): Offer['others'] => {
    const native = nativeProtocol(model.id)
    const order = orderOf(model, protocols, stated)
    const errors: UserError[] = []
    for (const protocol of order) {
      const isUsual = protocol === native || supportsProtocol(model, protocol) === true
      const key = isUsual ? protocol : `${native} over ${protocol}`
      const group =
        groups.get(key) ?? newGroup(protocol, isUsual ? undefined : native, samples, listed)
      groups.set(key, group)
      const error = whyRejected(model, group)
      if (error === undefined) {
        group.models.push(model)
        return [{ model, protocol }]
      }
      errors.push(error)
      if (deniesModel(error)) break
    }
    if (errors.length > 0) rejected.set(model, errors[0]!)
    return []
  })

  const undecided = [...groups.values()].filter(
    (group) => group.models.length > 0 && group.served === undefined && group.busy === undefined,
  )
  // A missing route counts for all models, so the models that it is native to are asked first.
  const next = undecided.find(({ native }) => native === undefined) ?? undecided[0]
  return {
    others,
    nextSample: next && { model: bestOf(next), protocol: next.protocol },
    findings: [...leftOutFindings(rejected), ...busyFindings(groups.values())],
  }
}

/** Models whose protocol one answer proves. */
interface Group {
  readonly protocol: Protocol
  /** The native protocol of the models, if it is another one and the list does not state this one. */
  readonly native: Protocol | undefined
  /** The models that the list contains over this protocol. */
  readonly models: CatalogModel[]
  readonly served: Sample | undefined
  readonly busy: Sample | undefined
  /** Why the gateway serves none of them over this protocol. */
  readonly error: UserError | undefined
  /** The models that it does not serve, whatever the protocol. */
  readonly denied: readonly Sample[]
}

function newGroup(
  protocol: Protocol,
  native: Protocol | undefined,
  samples: readonly Sample[],
  listed: readonly CatalogModel[],
): Group {
  const over = samples.filter((sample) => sample.protocol === protocol)
  const own = over.filter(({ model }) => native === undefined || nativeProtocol(model) === native)
  // A GPT model that chat rejects says nothing about the models that chat is native to.
  const isUsualFor = ({ model }: Sample) =>
    nativeProtocol(model) === protocol ||
    listed.some((entry) => entry.id === model && supportsProtocol(entry, protocol) === true)
  const failed = own.filter(
    (sample) =>
      sample.error !== undefined && !sample.isBusy && (native !== undefined || isUsualFor(sample)),
  )
  const denied = failed.filter(({ error }) => deniesModel(error!))
  const served = own.find(({ error }) => error === undefined)
  const missing = over.find(({ error }) => error !== undefined && lacksRoute(error))
  const other = failed.find((sample) => !denied.includes(sample))
  const lastDenied = denied.length < maxDenied ? undefined : denied.at(-1)
  return {
    protocol,
    native,
    models: [],
    served,
    busy: own.find(({ isBusy }) => isBusy),
    // A model that is served shows that a rejection was about another one.
    error: served === undefined ? (missing ?? other ?? lastDenied)?.error : undefined,
    denied,
  }
}

function whyRejected({ id }: CatalogModel, { error, denied }: Group): UserError | undefined {
  return denied.find(({ model }) => model === id)?.error ?? error
}

/**
 * The protocols to offer a model over, the best first. Its native one counts although the list does not state it,
 * unless the list states it for others: New API lists GPT models for chat only, and translates.
 */
function orderOf(
  model: CatalogModel,
  protocols: readonly Protocol[],
  stated: readonly Protocol[],
): readonly Protocol[] {
  const possible = byPreference(model.id, protocols).filter(
    (protocol) => supportsProtocol(model, protocol) !== false,
  )
  const isStated = (protocol: Protocol) => supportsProtocol(model, protocol) === true
  const isUnlikely = (protocol: Protocol) => !isStated(protocol) && stated.includes(protocol)
  if (!possible.some(isStated)) return possible
  return [
    ...possible.filter((protocol) => !isUnlikely(protocol)),
    ...possible.filter((protocol) => isUnlikely(protocol)),
  ]
}

/** The model of a group that a user would most likely choose. */
function bestOf({ models, protocol }: Group): string {
  return defaultModels({ models }, protocol)[0]?.id ?? models[0]!.id
}

function leftOutFindings(rejected: ReadonlyMap<CatalogModel, UserError>): readonly Finding[] {
  const byReason = new Map<string, string[]>()
  for (const [{ id }, { message }] of rejected) {
    const reason = withoutRequestId(message)
    byReason.set(reason, [...(byReason.get(reason) ?? []), id])
  }

  return [...byReason].map(([reason, ids]) => ({
    code: 'models-left-out',
    severity: 'note',
    message: `repoint leaves ${shownIds(ids)} out of the list. ${reason}`,
  }))
}

function busyFindings(groups: Iterable<Group>): readonly Finding[] {
  return [...groups].flatMap(({ models, protocol, served, busy }): Finding[] => {
    if (models.length === 0 || served !== undefined || busy?.error === undefined) return []
    const ids = models.map(({ id }) => id)
    return [
      {
        code: 'models-not-tested',
        severity: 'note',
        message: `The list contains ${shownIds(ids)}, but repoint could not test the ${protocol} protocol. ${busy.error.message}`,
        hint: 'Run the command again later: it leaves out what the gateway then rejects.',
      },
    ]
  })
}

/** `claude-opus-5, claude-sonnet-5 and 4 other models`. */
function shownIds(ids: readonly string[]): string {
  const shown = ids.length <= 3 ? ids : ids.slice(0, 2)
  const more = ids.length - shown.length
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${counted(more, 'other model')}`
}
