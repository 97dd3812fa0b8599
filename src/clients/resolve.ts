import { compact } from '../compact.ts'
import type { SettingChange, SettingPath } from '../edits/plan.ts'
import { type Finding, isFinding } from '../finding.ts'
import { withKnownFacts } from '../gateway/models/facts.ts'
import {
  type ChosenModel,
  catalogEntry,
  closestModels,
  defaultModel,
  resolveModel,
  supportsAny,
} from '../gateway/models/rules.ts'
import type { Catalog, ModelRoute, Protocol } from '../gateway/types.ts'
import {
  type Client,
  type ClientOptions,
  type ClientState,
  type GatewayInfo,
  isConfiguredAs,
  type ModelUse,
  type OptionName,
  type ResolvedOptions,
  type ResolveInput,
} from './client.ts'
import type { ReadFile } from './loaded-files.ts'
import { chooseProtocol } from './protocols.ts'

/** The options in effect: requested options override previous ones. */
export function effectiveOptions({
  requested,
  previous,
}: Omit<ResolveInput, 'gatewayInfo'>): ClientOptions {
  return {
    ...previous?.options,
    ...compact(requested),
    slotModels: { ...previous?.options.slotModels, ...requested.slotModels },
  }
}

/**
 * Sets an option in a file. If the option is undecided, the setting stays, except that `--defaults` removes
 * it.
 */
export function optionChange(
  file: Pick<ReadFile, 'get'>,
  path: SettingPath,
  value: string | number | undefined,
  { resetToDefaults }: Pick<ResolveInput, 'resetToDefaults'>,
): readonly SettingChange[] {
  const isRemoved = resetToDefaults === true && file.get(path) !== undefined
  return value === undefined && !isRemoved ? [] : [{ path, value }]
}

/**
 * The options of the current configuration that a setup keeps. It keeps a provider ID only if a setup can
 * write it.
 *
 * @param isOwn whether it was set up as this client of its family. Absent: the state decides
 */
export function optionsToKeep(
  client: Pick<Client, 'id' | 'family' | 'config'>,
  state: ClientState,
  isOwn = isConfiguredAs(client, state),
): ClientOptions {
  const { reservedProviderIds = [], keptOptions, familyOptions, modelSuffix } = client.config
  const names = isOwn ? keptOptions : familyOptions
  const kept: ClientOptions = Object.fromEntries(
    Object.entries(state.options).filter(([name]) => names?.includes(name as OptionName) ?? true),
  )

  const { providerId = '' } = kept
  const isUsable = providerId !== '' && !reservedProviderIds.includes(providerId)
  return compact({
    ...withoutSuffixes(kept, modelSuffix),
    providerId: isUsable ? providerId : undefined,
  })
}

function withoutSuffixes(options: ClientOptions, suffix: RegExp | undefined): ClientOptions {
  if (suffix === undefined) return options
  const { startModel, subagentModel, slotModels = {} } = options
  const idOf = (model: string | undefined) => model?.replace(suffix, '')
  const bySlot = Object.entries(slotModels).map(([slot, model]) => [slot, idOf(model)])
  return {
    ...options,
    startModel: idOf(startModel),
    subagentModel: idOf(subagentModel),
    slotModels: Object.fromEntries(bySlot),
  }
}

/**
 * Whether an earlier setup chose the models and the user requests no others. Then they stay as they are, and
 * repoint does not look for them under another name.
 */
export function keepsModels({ requested, previous }: Omit<ResolveInput, 'gatewayInfo'>): boolean {
  return previous !== undefined && requested.slot === undefined && modelsIn(requested).length === 0
}

/** Every model in the options, once. */
export function modelsIn(options: ClientOptions): readonly string[] {
  const { model, startModel, slotModels = {}, subagentModel, smallModel } = options
  const all = [model, startModel, ...Object.values(slotModels), subagentModel, smallModel]
  return [...new Set(all.filter((id) => id !== undefined))]
}

/**
 * The model for a client with one model, and its protocol if the client supports several: the requested
 * model, or else the previous one, or else the one that the rules choose from the catalog.
 *
 * @param protocols the protocols that the client supports
 * @returns a finding `model-unknown`, `protocol-unsupported`, or `usage` if only the user can choose; or the
 *   reason why the gateway rejected the model over every protocol
 */
export function resolveOneModel(
  input: ResolveInput,
  protocols: readonly Protocol[],
  window: WindowHandling,
): ResolvedOptions | Finding {
  const model = pickModel(input, protocols)
  if (isFinding(model)) return model
  const protocol = protocols.length > 1 ? chooseProtocol(model, input, protocols) : undefined
  if (isFinding(protocol)) return protocol

  const { notes, ...limits } = windowOf(input, [model], window)
  const rule = modelByRule(input, protocols)
  return {
    probeModel: model,
    model,
    uses: rule === undefined ? [] : [rule],
    ...compact({ protocol }),
    ...limits,
    findings: [...nameFindings(input, [input.requested.model]), ...notes],
  }
}

/** What the rules would choose the models of a catalog for. Empty if only the user can choose. */
export function usesByRules(client: Client, catalog: Catalog): readonly ModelUse[] {
  const gatewayInfo = { catalog, rejected: [] }
  const resolved = client.resolve({ requested: {}, gatewayInfo })
  return isFinding(resolved) ? [] : (resolved.uses ?? [])
}

/** The ID of the model that `resolveOneModel` chooses. */
export function pickModel(input: ResolveInput, supported: readonly Protocol[]): string | Finding {
  const { catalog } = input.gatewayInfo
  const { model } = effectiveOptions(input)
  const protocols = protocolsFor(input, supported)
  if (model !== undefined) return checkedModel(input, model, protocols)
  if (catalog === undefined) {
    return {
      code: 'usage',
      severity: 'error',
      message: 'Which model? repoint does not ask the gateway (--no-verify)',
      hint: 'Name it: --model ID. Or remove --no-verify.',
    }
  }

  const chosen = modelByRule(input, supported)
  if (chosen !== undefined) return chosen.id

  const usable = catalog.models.filter((entry) => supportsAny(entry, protocols))
  return {
    code: 'usage',
    severity: 'error',
    message:
      usable.length === 0
        ? `The gateway has no model for the ${protocols.join(' or ')} protocol`
        : `Which of the gateway's ${usable.length} models? repoint knows no default among them`,
    hint: `Name one with --model${colonList(usable.slice(0, 5).map(({ id }) => id))}${allModels(input.gatewayInfo, 5)}`,
  }
}

/** Where to see the rest of a list that shows the first `shown` models. */
export function allModels({ catalog, gateway }: GatewayInfo, shown: number): string {
  const count = catalog?.models.length ?? 0
  if (count <= shown || gateway?.baseUrls === undefined) return ''
  return `. All ${count}: repoint models --base-url ${gateway.baseUrls.chat}`
}

function protocolsFor(
  { requested: { protocol } }: ResolveInput,
  supported: readonly Protocol[],
): readonly Protocol[] {
  return protocol ? [protocol] : supported
}

/** The default model, unless the user chose one. */
function modelByRule(input: ResolveInput, supported: readonly Protocol[]): ChosenModel | undefined {
  const { catalog } = input.gatewayInfo
  if (catalog === undefined || effectiveOptions(input).model !== undefined) return undefined
  return defaultModel(catalog, ...protocolsFor(input, supported))
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
export function routesToProve(
  client: Pick<Client, 'protocols'>,
  resolved: ResolvedOptions,
  catalog: Catalog | undefined,
): readonly ModelRoute[] {
  const { probeModel, otherModels = [], protocol = client.protocols[0] } = resolved
  const unlisted = otherModels.filter((id) => catalogEntry(catalog, id) === undefined)
  return [...new Set([probeModel, ...unlisted])].map((model) => ({ model, protocol }))
}

/**
 * The catalog's ID for the requested model. The name stays unchanged without a catalog, if the catalog does
 * not list it, or if it is configured already: the client sends it unchanged.
 *
 * @returns a finding `protocol-unsupported` if the client cannot use it
 */
export function checkedModel(
  input: ResolveInput,
  name: string,
  protocols: readonly Protocol[],
): string | Finding {
  const { catalog } = input.gatewayInfo
  if (catalog === undefined || keepsModels(input)) return name
  const listed = resolveModel(catalog, name)
  if (listed === undefined) return name

  const entry = catalogEntry(catalog, listed.id)
  if (entry !== undefined && !supportsAny(entry, protocols)) {
    return {
      code: 'protocol-unsupported',
      severity: 'error',
      message: `The gateway does not serve ${listed.id} over the ${protocols.join(' or ')} protocol`,
      hint: 'Name another model: --model ID',
    }
  }

  return listed.id
}

/** Reports models that the catalog lists under another name, or not at all. */
export function nameFindings(
  input: ResolveInput,
  names: readonly (string | undefined)[],
): readonly Finding[] {
  const { catalog } = input.gatewayInfo
  if (catalog === undefined || keepsModels(input)) return []

  return [...new Set(names)].flatMap((name): Finding[] => {
    if (name === undefined) return []
    const listed = resolveModel(catalog, name)
    if (listed === undefined) return [notListed(catalog, name)]
    if (listed.id === name) return []
    const message = `repoint writes ${name} as ${listed.id}, ${listed.reason}`
    return [{ code: 'model-renamed', message }]
  })
}

/**
 * Notes that the gateway does not list a model. If a probe requests the model and the gateway does not serve
 * it, that is a separate error.
 */
function notListed(catalog: Catalog, name: string): Finding {
  const nearest = closestModels(name, catalog)
  const hint = `If you mistyped it: --model ${nearest.join(', or --model ')}`
  return {
    code: 'model-not-listed',
    message: `The gateway does not list ${name}`,
    ...(nearest.length > 0 && { hint }),
  }
}

/** How a client treats the context windows of models. */
export interface WindowHandling {
  /** Whether the client knows the window of a model. Absent: it knows none. */
  readonly knows?: (id: string) => boolean
  /** What it does without a known window, as shown to the user. */
  readonly otherwise: string
}

/**
 * The context window to write. It is the requested window, or else the previous one for this gateway, or
 * else the smallest of the models' windows in the catalog, or else the previous one for another gateway.
 * None is written if the client itself knows the window of one of the models.
 */
export function windowOf(
  input: ResolveInput,
  ids: readonly string[],
  { knows = () => false, otherwise }: WindowHandling,
): { readonly contextWindow?: number; readonly notes: readonly Finding[] } {
  const { requested, previous, gatewayInfo } = input
  // Notes are only for models that the user has not seen in an earlier setup.
  const notesUnlessKept = (notes: readonly Finding[]) => (keepsModels(input) ? [] : notes)

  const before = previous?.options.contextWindow
  const chosen = requested.contextWindow ?? (previous?.isOtherGateway ? undefined : before)
  if (chosen !== undefined)
    return { contextWindow: chosen, notes: notesUnlessKept(smallWindowFindings(chosen)) }

  const listedWindows = ids.map((id) => catalogEntry(gatewayInfo.catalog, id)?.contextWindow)
  const isEveryListed = ids.length > 0 && !listedWindows.includes(undefined)
  if (before !== undefined && !isEveryListed) return { contextWindow: before, notes: [] }

  const windows = ids.map((id, index) => {
    if (listedWindows[index] !== undefined) return listedWindows[index]
    return knows(id) ? 'known to the client' : withKnownFacts({ id }).contextWindow
  })
  const unknown = [...new Set(ids.filter((_, index) => windows[index] === undefined))]
  if (unknown.length > 0) return { notes: notesUnlessKept([unknownWindow(unknown, otherwise)]) }

  const sizes = windows.filter((window) => typeof window === 'number')
  if (sizes.length === 0 || sizes.length < ids.length) return { notes: [] }
  const smallest = Math.min(...sizes)
  return { contextWindow: smallest, notes: notesUnlessKept(smallWindowFindings(smallest)) }
}

/**
 * The smallest usable context window, in tokens. Before the first question, the clients send up to 14,000 for
 * their instructions and tools (opencode 1.18.33, Claude Code 2.1.330, 2026-11-23).
 */
const minWindow = 16_000

function smallWindowFindings(window: number): readonly Finding[] {
  if (window >= minWindow) return []
  return [
    {
      code: 'context-window-small',
      message: `A context window of ${window} tokens is too small for a coding client: its instructions and tools fill most of it`,
      hint: 'Increase the window on the server (Ollama: OLLAMA_CONTEXT_LENGTH; vLLM: --max-model-len; llama.cpp: -c). Or name another model: --model ID',
    },
  ]
}

function unknownWindow(ids: readonly string[], otherwise: string): Finding {
  return {
    code: 'context-window-unknown',
    message: `The gateway does not report the context window of ${ids.join(', ')}: ${otherwise}`,
    hint: 'Type: --context-window TOKENS',
  }
}

function colonList(ids: readonly string[]): string {
  return ids.length === 0 ? '' : `: ${ids.join(', ')}`
}
