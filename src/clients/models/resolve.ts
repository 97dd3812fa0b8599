import { UserError, valueOrError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { lacksProtocol } from '../../gateway/judge/traits.ts'
import {
  catalogEntry,
  closestModels,
  type DefaultModel,
  defaultModels,
  resolveModel,
  supportsAny,
} from '../../gateway/models/rules.ts'
import type { Catalog, ModelAndProtocol, Protocol } from '../../gateway/types.ts'
import { counted, listWords } from '../../text.ts'
import type { Client } from '../contract/client.ts'
import {
  catalogIn,
  type GatewayInfo,
  ModelNeeded,
  type ModelUse,
  type ResolvedOptions,
  type ResolveInput,
} from '../contract/setup.ts'
import { effectiveOptions, keepsModels } from '../options/chosen-options.ts'
import { type WindowHandling, windowOf } from './context-window.ts'
import { chooseProtocol } from './protocols.ts'

/**
 * The model for a client with one model, and its protocol: the requested model, or else the earlier one, or else
 * the one that the rules choose from the catalog.
 *
 * @param protocols the protocols that the client supports
 * @throws ModelNeeded if only the user can choose
 * @throws UserError `protocol-unsupported`, or why the gateway rejected the model over every protocol
 */
export function resolveOneModel(
  input: ResolveInput,
  protocols: Client['protocols'],
  window: WindowHandling,
): ResolvedOptions {
  const model = pickModel(input, protocols)
  const protocol = protocols.length > 1 ? chooseProtocol(model, input, protocols) : protocols[0]

  const { notes, ...limits } = windowOf(input, [model], window)
  const rule = modelByRule(input, protocols)
  return {
    probeModel: model,
    otherModels: [],
    model,
    protocol,
    offered: [],
    offersWholeCatalog: false,
    uses: rule === undefined ? [] : [rule],
    ...limits,
    findings: [...nameFindings(input, [input.requested.model]), ...notes],
  }
}

/** The models that the rules choose from a catalog, and for what. Empty if only the user can choose. */
export function usesByRules(client: Client, catalog: Catalog): readonly ModelUse[] {
  const gatewayInfo = { catalogAnswer: { kind: 'received', catalog }, rejections: [] } as const
  const resolved = valueOrError(() => client.resolve({ requested: {}, gatewayInfo }))
  return resolved instanceof UserError ? [] : resolved.uses.filter(({ isGuess }) => !isGuess)
}

/** The ID of the model that `resolveOneModel` chooses. @throws UserError as it does */
export function pickModel(input: ResolveInput, supported: readonly Protocol[]): string {
  const { catalogAnswer, provenModel } = input.gatewayInfo
  const { model } = effectiveOptions(input)
  const protocols = protocolsFor(input, supported)
  if (model !== undefined) return resolveModelId(input, model, protocols)
  const hasNoList = catalogAnswer.kind === 'failed' || catalogAnswer.kind === 'not-requested'
  if (hasNoList && provenModel !== undefined) return provenModel.model
  if (catalogAnswer.kind === 'not-requested')
    throw new ModelNeeded({
      code: 'usage',
      message: 'Which model? repoint does not ask the gateway (--no-verify)',
      hint: 'Name it: {--model ID}. Or remove --no-verify.',
    })
  if (catalogAnswer.kind !== 'received')
    throw new ModelNeeded({
      code: 'usage',
      message: 'Which model? The gateway has no list of models',
      hint: 'Name it: {--model ID}',
    })

  const chosen = modelByRule(input, supported)
  if (chosen !== undefined) return chosen.id

  throw whichModel(input, catalogAnswer.catalog, protocols)
}

/** What only the user knows if no rule knows one of the gateway's models. */
export function whichModel(
  { gatewayInfo }: Pick<ResolveInput, 'gatewayInfo'>,
  catalog: Catalog,
  protocols: readonly Protocol[],
): ModelNeeded {
  const usable = catalog.models.filter((entry) => supportsAny(entry, protocols))
  const rejected = gatewayInfo.rejections.filter(({ model }) =>
    usable.some(({ id }) => id === model),
  )
  const last = rejected.at(-1)
  const which = `repoint knows no default among the gateway's ${counted(usable.length, 'model')}`
  const address = gatewayInfo.accessSoFar?.baseUrls?.chat
  const tried = [...new Set(rejected.map(({ model }) => model))]
  return new ModelNeeded({
    code: last?.error.code ?? 'usage',
    message:
      usable.length === 0
        ? `The gateway has no model for the ${protocols.join(' or ')} protocol`
        : last === undefined
          ? which
          : rejected.every(({ error }) => lacksProtocol(error))
            ? notServed(last.error, tried)
            : `${which}, and the gateway rejects ${listWords(tried)} (${last.error.message})`,
    hint:
      usable.length === 0
        ? address && `Which clients can use it: repoint check ${address}`
        : `Name one with --model${colonList(usable.slice(0, 5).map(({ id }) => id))}${allModels(gatewayInfo, 5)}`,
  })
}

/** @param tried ends with the model that `last` rejects */
function notServed(last: UserError, tried: readonly string[]): string {
  const others = tried.slice(0, -1)
  return others.length === 0 ? last.message : `${last.message}, nor ${listWords(others, 'or')}`
}

/** Where to see the rest of a list that shows the first `shown` models. */
export function allModels(gatewayInfo: GatewayInfo, shown: number): string {
  const count = catalogIn(gatewayInfo)?.models.length ?? 0
  const chat = gatewayInfo.accessSoFar?.baseUrls?.chat
  if (count <= shown || chat === undefined) return ''
  return `. All ${count}: repoint models --base-url ${chat}`
}

function protocolsFor(
  { requested: { protocol } }: ResolveInput,
  supported: readonly Protocol[],
): readonly Protocol[] {
  return protocol ? [protocol] : supported
}

/** The best default model that the gateway has not rejected over every protocol, unless the user chose one. */
function modelByRule(
  input: ResolveInput,
  supported: readonly Protocol[],
): DefaultModel | undefined {
  const { rejections } = input.gatewayInfo
  const catalog = catalogIn(input.gatewayInfo)
  if (catalog === undefined || effectiveOptions(input).model !== undefined) return undefined
  const protocols = protocolsFor(input, supported)
  const isRejected = (id: string) =>
    protocols.every((protocol) =>
      rejections.some((one) => one.model === id && one.protocol === protocol),
    )
  const models = defaultModels(catalog, ...protocols)
  // Without another one, the rejection of the best model is the error to show.
  const ruled = models.find(({ isGuess }) => !isGuess)
  return models.find(({ id }) => !isRejected(id)) ?? ruled
}

/**
 * What a catalog states about a model for a client with these protocols. `absent`: nothing, but the gateway
 * may serve it, for example a deployment, an alias or a match of a wildcard.
 */
export function listing(
  catalog: Catalog,
  id: string,
  protocols: readonly Protocol[],
): 'absent' | 'usable' | 'of another protocol' {
  const entry = catalogEntry(catalog, resolveModel(catalog, id)?.id)
  if (entry === undefined) return 'absent'
  return supportsAny(entry, protocols) ? 'usable' : 'of another protocol'
}

/**
 * The models that must answer before repoint writes anything: the first one, and others that no catalog
 * lists.
 */
export function modelsToProve(
  { probeModel, otherModels, protocol }: ResolvedOptions,
  catalog: Catalog | undefined,
): readonly ModelAndProtocol[] {
  const unlisted = otherModels.filter((id) => catalogEntry(catalog, id) === undefined)
  return [...new Set([probeModel, ...unlisted])].map((model) => ({ model, protocol }))
}

/**
 * The catalog's ID for the requested model. The name stays unchanged without a catalog, if the catalog does
 * not list it, or if it is configured already: the client sends it unchanged.
 *
 * @throws UserError `protocol-unsupported` if the client cannot use it
 */
export function resolveModelId(
  input: ResolveInput,
  name: string,
  protocols: readonly Protocol[],
): string {
  const catalog = catalogIn(input.gatewayInfo)
  if (catalog === undefined || keepsModels(input)) return name
  const listed = resolveModel(catalog, name)
  if (listed === undefined) return name

  const entry = catalogEntry(catalog, listed.id)
  if (entry !== undefined && !supportsAny(entry, protocols)) {
    throw new UserError({
      code: 'protocol-unsupported',
      message: `The gateway does not serve ${listed.id} over the ${protocols.join(' or ')} protocol`,
      hint: 'Name another model: {--model ID}',
    })
  }

  return listed.id
}

/** Reports models that the catalog lists under another name, or not at all. */
export function nameFindings(
  input: ResolveInput,
  names: readonly (string | undefined)[],
): readonly Finding[] {
  const catalog = catalogIn(input.gatewayInfo)
  if (catalog === undefined || keepsModels(input)) return []

  return [...new Set(names)].flatMap((name): Finding[] => {
    if (name === undefined) return []
    const listed = resolveModel(catalog, name)
    if (listed === undefined) return [notListedFinding(catalog, name)]
    if (listed.id === name) return []
    const message = `repoint writes ${name} as ${listed.id}, ${listed.reason}`
    return [{ code: 'model-renamed', severity: 'note', message }]
  })
}

/**
 * Notes that the gateway does not list a model. If a probe requests the model and the gateway does not serve
 * it, that is a separate error.
 */
function notListedFinding(catalog: Catalog, name: string): Finding {
  const nearest = closestModels(name, catalog)
  const hint = `If you mistyped it: {--model ${nearest.join('|')}}`
  return {
    code: 'model-not-listed',
    severity: 'note',
    message: `The gateway does not list ${name}`,
    ...(nearest.length > 0 && { hint }),
  }
}

function colonList(ids: readonly string[]): string {
  return ids.length === 0 ? '' : `: ${ids.join(', ')}`
}
