import { compact } from '../../compact.ts'
import type { Finding } from '../../finding.ts'
import { asList, asObject, jsonIn } from '../../gateway/foreign-text.ts'
import { removeVendor } from '../../gateway/models/ids.ts'
import { catalogEntry, supportsProtocol } from '../../gateway/models/rules.ts'
import type { CatalogModel } from '../../gateway/types.ts'
import { catalogIn, type ResolvedOptions, type ResolveInput } from '../contract/setup.ts'
import { offeredModels } from '../models/picker.ts'
import { effectiveOptions } from '../options/chosen-options.ts'

/**
 * In tokens: the window that Codex assumes for a model that it does not know, and the most that it then
 * accepts.
 */
export const assumedWindow = 272_000

/** An entry of the list of models that Codex prints, or of a models file: both have the same format. */
export type Entry = Readonly<Record<string, unknown>> & { readonly slug: string }

/**
 * The fields that 0.105.0 and 0.169.0 both know. With a newer field, some version exits, mentions models that
 * the gateway may not have (`upgrade`), or sends requests in the format of Responses Lite. Run on ten
 * versions from 0.98.0 to 0.169.0, 2026-11-23.
 */
const knownFields = [
  'default_reasoning_level',
  'supported_reasoning_levels',
  'shell_type',
  'base_instructions',
  'support_verbosity',
  'default_verbosity',
  'apply_patch_tool_type',
  'truncation_policy',
  'supports_image_detail_original',
  'effective_context_window_percent',
  'experimental_supported_tools',
  'input_modalities',
]

/** The efforts that all versions know: 0.142.5 exits with `max`. */
const knownEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh']

/** The entries of what Codex prints or of a models file. Empty: the text is neither. */
export function entriesIn(text: string | undefined): readonly Entry[] {
  const models = asObject(jsonIn(text ?? ''))?.['models']
  const entries = asList(models).map(asObject)
  return entries.every((entry): entry is Entry => typeof entry?.['slug'] === 'string')
    ? entries
    : []
}

/** Codex searches its list of models by the beginning of an ID, without its vendor. */
export function entryOf(entries: readonly Entry[], id: string): Entry | undefined {
  const name = removeVendor(id)
  const fitting = entries.filter(({ slug }) => name.startsWith(slug))
  const [longest] = fitting.toSorted((a, b) => b.slug.length - a.slug.length)
  return longest
}

/**
 * Adds the models file to the options, if the user wants one (`--catalog`). It describes the models of the
 * gateway's catalog, each like an entry of the list that Codex prints.
 *
 * @param printedModels Absent: Codex printed none, so a setup leaves the file as it is
 */
export function withModelsFile(
  input: ResolveInput,
  resolved: ResolvedOptions,
  printedModels: string | undefined,
): ResolvedOptions {
  const { requested, gatewayInfo } = input
  const entries = entriesIn(printedModels)
  if (!effectiveOptions(input).hasModelsFile)
    return {
      ...resolved,
      findings: [...resolved.findings, ...cappedWindowFindings(entries, resolved)],
    }

  // Without the gateway's catalog, the existing file stays: nothing new is known about its models.
  if (entries.length === 0 || (catalogIn(gatewayInfo) === undefined && !requested.hasModelsFile))
    return resolved

  // The picker offers the models that the gateway lists for responses. If the gateway does not say that of
  // the chosen model, it also offers the models about which the gateway says nothing.
  const listed = catalogEntry(catalogIn(gatewayInfo), resolved.model)
  const chosenSupport = listed === undefined ? 'unknown' : supportsProtocol(listed, 'responses')
  const canUse = (model: CatalogModel) =>
    [true, chosenSupport].includes(supportsProtocol(model, 'responses'))
  const offered = offeredModels(input, resolved, ['responses']).offered.filter(
    (model) => model.id === resolved.model || canUse(model),
  )
  const modelsFile = composeModelsFile(entries, offered, resolved.contextWindow)
  const missing = offered.length - modelsFile.ids.length
  const cut: Finding = {
    code: 'codex-catalog-cut',
    severity: 'note',
    message: `Codex's list has no room for ${missing} of the gateway's ${offered.length} models`,
  }

  return {
    ...resolved,
    modelsFile,
    findings: missing === 0 ? resolved.findings : [...resolved.findings, cut],
  }
}

/** In bytes. Each entry repeats the instructions that Codex sends. */
const maxModelsFileBytes = 2_000_000

/** Adds models until the file is full. @param window of the first model, in tokens */
function composeModelsFile(
  entries: readonly Entry[],
  models: readonly CatalogModel[],
  window: number | undefined,
): NonNullable<ResolvedOptions['modelsFile']> {
  const like = entries.find(({ use_responses_lite }) => use_responses_lite !== true) ?? entries[0]!
  const entryTexts: string[] = []
  let room = maxModelsFileBytes - 100

  for (const [priority, model] of models.entries()) {
    const own = entryOf(entries, model.id)
    const entry = own ? ownEntry(own, model) : foreignEntry(like, model)
    const size = (priority === 0 ? window : undefined) ?? entry.context_window
    const most = Math.max(size, entry.max_context_window)
    const all = { ...entry, priority, context_window: size, max_context_window: most }

    const text = JSON.stringify(all, null, 2)
    room -= new TextEncoder().encode(text).length + 2
    if (room < 0) break
    entryTexts.push(text)
  }
  const ids = models.slice(0, entryTexts.length).map(({ id }) => id)
  return { ids, text: `{"models": [\n${entryTexts.join(',\n')}\n]}\n` }
}

/** Codex's own entry for its model, limited to what this gateway serves. */
function ownEntry(own: Entry, { id, contextWindow, images }: CatalogModel) {
  const window = numberOr(own['context_window'], assumedWindow)
  return {
    ...entryLike(own, id),
    display_name: own['display_name'],
    description: own['description'] ?? null,
    supported_reasoning_levels: levelsAmong(knownEfforts, own),
    ...(images === false ? { input_modalities: ['text'] } : {}),
    context_window: Math.min(window, contextWindow ?? window),
    max_context_window: numberOr(own['max_context_window'], window),
  }
}

/**
 * An entry for a model that Codex does not know: like a known one, without the features that few gateways
 * accept.
 */
function foreignEntry(like: Entry, model: CatalogModel) {
  const { id, displayName, contextWindow = assumedWindow, images, reasoning = false } = model
  const levels = levelsAmong(['low', 'medium', 'high'], like)
  return {
    ...entryLike(like, id),
    display_name: displayName ?? id,
    description: null,
    default_reasoning_level: reasoning ? 'medium' : null,
    supported_reasoning_levels: reasoning ? levels : [],
    supports_reasoning_summaries: reasoning,
    support_verbosity: false,
    default_verbosity: null,
    apply_patch_tool_type: null,
    input_modalities: images === false ? ['text'] : ['text', 'image'],
    context_window: contextWindow,
    max_context_window: contextWindow,
  }
}

function entryLike(entry: Entry, id: string) {
  const known = Object.fromEntries(knownFields.map((name) => [name, entry[name]]))
  return {
    slug: id,
    visibility: 'list',
    supported_in_api: true,
    supports_reasoning_summaries: true,
    supports_parallel_tool_calls: true,
    ...compact(known),
  }
}

function levelsOf({ supported_reasoning_levels: levels }: Entry) {
  return asList(levels).map((level) => ({ ...asObject(level) }))
}

function levelsAmong(efforts: readonly string[], entry: Entry) {
  return levelsOf(entry).filter(({ effort }) => efforts.includes(String(effort)))
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}

/** Reports a window that Codex silently reduces (0.122.0 to 0.169.0, 2026-11-23). */
function cappedWindowFindings(
  entries: readonly Entry[],
  { model, contextWindow = 0 }: ResolvedOptions,
): readonly Finding[] {
  const own = entryOf(entries, model)
  const most = own ? numberOr(own['max_context_window'], Number.POSITIVE_INFINITY) : assumedWindow
  if (entries.length === 0 || contextWindow <= most) return []
  return [
    {
      code: 'codex-window-capped',
      severity: 'note',
      message: `Codex uses only ${most} of the ${contextWindow} tokens of ${model}`,
      hint: 'To use all tokens: repoint codex --catalog',
    },
  ]
}

/** Whether an entry has all that 0.105.0 to 0.146.0 require, and nothing with which 0.142.5 exits. */
export function isForAll(entry: Entry): boolean {
  const efforts = levelsOf(entry).map(({ effort }) => String(effort))
  const isKnown = efforts.every((effort) => knownEfforts.includes(effort))
  return isKnown && entry['supports_reasoning_summaries'] !== undefined
}
