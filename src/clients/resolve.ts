import { compact } from '../compact.ts'
import type { SettingChange, SettingPath } from '../edits/plan.ts'
import { UserError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import { withKnownFacts } from '../gateway/models/facts.ts'
import {
  type ChosenModel,
  closestModels,
  defaultModel,
  resolveModel,
  supportsProtocol,
} from '../gateway/models/rules.ts'
import type { Catalog, CatalogModel, Protocol } from '../gateway/types.ts'
import type {
  Client,
  ClientState,
  ModelUse,
  PreviousOptions,
  ResolvedOptions,
  ResolveInput,
} from './client.ts'
import type { ReadFile } from './loaded-files.ts'

/** What holds in the end: what is named, and beside it what is kept. */
export function effectiveOptions({
  requested,
  previous,
}: Omit<ResolveInput, 'gatewayInfo'>): PreviousOptions {
  return {
    ...previous,
    ...compact(requested),
    slotModels: { ...previous?.slotModels, ...requested.slotModels },
  }
}

/**
 * The change that makes a setting say an option. An undecided option leaves the setting alone, except that
 * `--defaults` removes it.
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

/** What is kept of what a client believes; a provider's id, where a setup can write it. */
export function optionsToKeep(
  { toOptions, config: { reservedProviderIds = [] } }: Pick<Client, 'toOptions' | 'config'>,
  state: ClientState,
  isOwn?: boolean,
): PreviousOptions {
  if (toOptions) return toOptions(state, isOwn)

  const { providerId = '', reasoningEffort } = state
  const { model, smallModel, protocol, contextWindow, writeModelCatalog } = state
  const isUsable = providerId !== '' && !reservedProviderIds.includes(providerId)
  const kept = { model, smallModel, protocol, contextWindow, writeModelCatalog, reasoningEffort }
  return { ...kept, providerId: isUsable ? providerId : undefined }
}

/** Whether the models are those of before: they are not looked for under another name. */
export function keepsModels({ requested, previous }: Omit<ResolveInput, 'gatewayInfo'>): boolean {
  return previous !== undefined && requested.slot === undefined && modelsIn(requested).length === 0
}

/** Every model that is named or kept, once. */
export function modelsIn(said: PreviousOptions): readonly string[] {
  const { model, startModel, slotModels = {}, subagentModel, smallModel } = said
  const all = [model, startModel, ...Object.values(slotModels), subagentModel, smallModel]
  return [...new Set(all.filter((id) => id !== undefined))]
}

/**
 * The model for a client that has one: the one asked for, else by the rules over the catalog.
 *
 * @throws UserError `model-unknown`, `protocol-unsupported`, or `usage` where only a person can choose
 */
export function resolveOneModel(
  input: ResolveInput,
  protocol: Protocol,
  window: WindowHabit,
): ResolvedOptions {
  const model = pickModel(input, protocol)
  const { notes, ...limits } = windowOf(input, [model], window)
  return {
    probeModel: model,
    model,
    ...limits,
    findings: [...aboutNames(input, [input.requested.model]), ...notes],
  }
}

/**
 * The protocol for a client that speaks several: the first of `ranked` that the gateway lists for the
 * model that is asked for or chosen by the rules; else chat, which every gateway serves.
 */
export function listedProtocol(
  input: ResolveInput,
  ranked: readonly Protocol[],
  byRules: (catalog: Catalog) => ChosenModel | undefined,
): Protocol {
  const { catalog } = input.gatewayInfo
  if (catalog === undefined) return 'chat'
  const { model } = effectiveOptions(input)
  const chosen = model === undefined ? byRules(catalog) : resolveModel(catalog, model)
  const entry = entryOf(catalog, chosen?.id)
  return ranked.find((protocol) => entry && supportsProtocol(entry, protocol) === true) ?? 'chat'
}

/** What every gateway serves, where it does not say more. */
export const usualProtocol: Protocol = 'chat'

/**
 * In this order, where the gateway says that the model speaks it: the one that keeps the most of what
 * a model says between two requests before the others, and a model's own before a translation.
 */
export const protocolsByRank: readonly Protocol[] = ['responses', 'messages', 'chat']

/** For a client that speaks all protocols. Undefined: only a person can choose. */
export function defaultOfAny(catalog: Catalog): ChosenModel | undefined {
  const protocols = [usualProtocol, ...protocolsByRank]
  return protocols.map((protocol) => defaultModel(catalog, protocol)).find(Boolean)
}

/** What the rules would take a model for, in a client that has one. */
export function oneUse(chosen: ChosenModel | undefined, role?: string): readonly ModelUse[] {
  return chosen === undefined ? [] : [{ ...chosen, ...(role === undefined ? {} : { role }) }]
}

/** As `chooseOneModel`, the id only. */
export function pickModel(input: ResolveInput, protocol: Protocol): string {
  const { catalog } = input.gatewayInfo
  const { model } = effectiveOptions(input)
  if (model !== undefined) return checkedModel(input, model, protocol)
  if (catalog === undefined) {
    throw new UserError({
      code: 'usage',
      message: 'Without asking the gateway, the model must be named',
      hint: 'Add --model ID, or leave --no-verify out.',
    })
  }

  const chosen = defaultModel(catalog, protocol)
  if (chosen !== undefined) return chosen.id

  const usable = catalog.models.filter((one) => supportsProtocol(one, protocol) !== false)
  throw new UserError({
    code: 'usage',
    message:
      usable.length === 0
        ? `None of the gateway's models speaks the ${protocol} protocol`
        : `The gateway has ${usable.length} models, and none is a default that repoint knows: which one do you want?`,
    hint: `Name one with --model${listed(usable.slice(0, 5).map(({ id }) => id))}. \`repoint models\` shows all.`,
  })
}

/**
 * What a list says of a model and a protocol. `absent`: nothing, and it may be served all the same, as
 * deployments, aliases and what a wildcard stands for are.
 */
export function listing(
  catalog: Catalog,
  id: string,
  protocol: Protocol,
): 'absent' | 'usable' | 'of another protocol' {
  const found = entryOf(catalog, resolveModel(catalog, id)?.id)
  if (found === undefined) return 'absent'
  return supportsProtocol(found, protocol) === false ? 'of another protocol' : 'usable'
}

/** The ids that are to be asked for themselves: the first, and of the others those that no list has. */
export function idsToProve(
  { probeModel, alsoSent = [] }: ResolvedOptions,
  catalog: Catalog | undefined,
): readonly string[] {
  const unlisted = alsoSent.filter((id) => entryOf(catalog, id) === undefined)
  return [...new Set([probeModel, ...unlisted])]
}

/**
 * The catalog's id for a model that a person asked for. Without a catalog, for what it does not list,
 * and for what is configured already, the name as it stands: the client sends it so.
 *
 * @throws UserError `protocol-unsupported`
 */
export function checkedModel(input: ResolveInput, asked: string, protocol: Protocol): string {
  const { catalog } = input.gatewayInfo
  if (catalog === undefined || keepsModels(input)) return asked
  const found = resolveModel(catalog, asked)
  if (found === undefined) return asked
  const model = entryOf(catalog, found.id)
  if (model !== undefined && supportsProtocol(model, protocol) === false) {
    throw new UserError({
      code: 'protocol-unsupported',
      message: `The model ${found.id} does not speak the ${protocol} protocol`,
      hint: '`repoint models` shows which models do.',
    })
  }

  return found.id
}

/** What is said of models that the list has under another name, or not at all. */
export function aboutNames(
  input: ResolveInput,
  asked: readonly (string | undefined)[],
): readonly Finding[] {
  const { catalog } = input.gatewayInfo
  if (catalog === undefined || keepsModels(input)) return []

  return [...new Set(asked)].flatMap((name): Finding[] => {
    if (name === undefined) return []
    const found = resolveModel(catalog, name)
    if (found === undefined) return [notListed(catalog, name)]
    if (found.id === name) return []
    return [
      { code: 'model-renamed', message: `${name} is written as ${found.id}, ${found.reason}` },
    ]
  })
}

/** Where it is asked for the model and does not serve it, that is an error of its own. */
function notListed(catalog: Catalog, asked: string): Finding {
  const nearest = closestModels(asked, catalog)
  return {
    code: 'model-not-listed',
    message: `The gateway does not list ${asked}`,
    ...compact({
      hint:
        nearest.length === 0 ? undefined : `If it is mistyped: nearest are ${nearest.join(', ')}.`,
    }),
  }
}

/** What a client does about the context windows of models. */
export interface WindowHabit {
  /** Whether it knows the model's window by itself. Absent: it knows none. */
  readonly knows?: (id: string) => boolean
  /** What it does without knowing it, in words. */
  readonly otherwise: string
}

/**
 * The window to be written: the smallest among models, where all are known; none where the client
 * itself knows one of them. What is named wins, then what was chosen for this gateway, then what the
 * gateway says, then what was chosen for another.
 */
export function windowOf(
  input: ResolveInput,
  ids: readonly string[],
  { knows = () => false, otherwise }: WindowHabit,
): { readonly contextWindow?: number; readonly notes: readonly Finding[] } {
  const { requested, previous, gatewayInfo } = input
  const chosen =
    requested.contextWindow ?? (previous?.isElsewhere ? undefined : previous?.contextWindow)
  if (chosen !== undefined)
    return { contextWindow: chosen, notes: keepsModels(input) ? [] : aboutSize(chosen) }

  const said = ids.map((id) => entryOf(gatewayInfo.catalog, id)?.contextWindow)
  const isAllSaid = ids.length > 0 && !said.includes(undefined)
  if (previous?.contextWindow !== undefined && !isAllSaid)
    return { contextWindow: previous.contextWindow, notes: [] }

  const sizes = ids.map(
    (id, index) => said[index] ?? (knows(id) ? 'own' : withKnownFacts({ id }).contextWindow),
  )
  const unknown = [...new Set(ids.filter((_, index) => sizes[index] === undefined))]
  if (unknown.length > 0)
    return { notes: keepsModels(input) ? [] : [unknownWindow(unknown, otherwise)] }

  const known = sizes.filter((size) => typeof size === 'number')
  const isAll = known.length === ids.length && ids.length > 0
  if (!isAll) return { notes: [] }
  const smallest = Math.min(...known)
  return { contextWindow: smallest, notes: keepsModels(input) ? [] : aboutSize(smallest) }
}

/**
 * In tokens. What the clients say of themselves and their tools before the first question takes up to
 * 14,000 (opencode 1.18.33, Claude Code 2.1.330, 2026-11-23).
 */
const smallestWindow = 16_000

function aboutSize(window: number): readonly Finding[] {
  if (window >= smallestWindow) return []
  return [
    {
      code: 'context-window-small',
      message: `A context window of ${window} tokens is too small for a coding client: the instructions and tools of the client fill most of the window`,
      hint: 'Have the server give the model more (Ollama: OLLAMA_CONTEXT_LENGTH; vLLM: --max-model-len; llama.cpp: -c), or choose another.',
    },
  ]
}

function unknownWindow(ids: readonly string[], otherwise: string): Finding {
  return {
    code: 'context-window-unknown',
    message: `The gateway does not say the context window of ${ids.join(', ')}: ${otherwise}`,
    hint: 'Type: --context-window TOKENS',
  }
}

export function entryOf(
  catalog: Catalog | undefined,
  id: string | undefined,
): CatalogModel | undefined {
  return catalog?.models.find((model) => model.id === id)
}

function listed(ids: readonly string[]): string {
  return ids.length === 0 ? '' : `: ${ids.join(', ')}`
}
