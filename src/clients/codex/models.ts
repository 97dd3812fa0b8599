import { compact } from '../../compact.ts'
import type { FileEdit, SettingChange } from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import type { Finding, Findings } from '../../finding.ts'
import { asList, asObject, jsonIn } from '../../gateway/foreign-text.ts'
import { removeVendor } from '../../gateway/models/ids.ts'
import { catalogEntry, supportsProtocol } from '../../gateway/models/rules.ts'
import type { CatalogModel } from '../../gateway/types.ts'
import { findingAt } from '../checks/findings.ts'
import type { ClientContext } from '../contract/client.ts'
import type { LoadedFiles } from '../contract/files.ts'
import {
  catalogIn,
  type ResolvedOptions,
  type ResolveInput,
  type SetupTarget,
} from '../contract/setup.ts'
import { isOwnAddress } from '../files/addresses.ts'
import { fileOf, type ParsedFile, parseKind, textOf } from '../files/parse-file.ts'
import { textIn } from '../files/tables.ts'
import { offeredModels } from '../models/picker.ts'
import { effectiveOptions } from '../options/chosen-options.ts'
import { providerInUse } from './config.ts'

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
function isForAll(entry: Entry): boolean {
  const efforts = levelsOf(entry).map(({ effort }) => String(effort))
  const isKnown = efforts.every((effort) => knownEfforts.includes(effort))
  return isKnown && entry['supports_reasoning_summaries'] !== undefined
}

// The models file.

/**
 * Codex reads its models from the models file, which `model_catalog_json` names, instead of its own list. It exits
 * at its start if the file is missing, cut or in another format. Versions before 0.105.0 do not read it. Run on
 * 0.98.0 to 0.169.0, 2026-11-23.
 */
export const modelsFilePath = ['model_catalog_json']

/**
 * The edit of the models file. It is written before config.toml names it, and removed after config.toml no
 * longer does. Undefined: the file stays unchanged.
 */
export function planModelsFile(files: LoadedFiles, target: SetupTarget): FileEdit | undefined {
  const { path, bytes } = fileOf(files, 'models')
  const { modelsFile } = target.resolved
  if (target.input.requested.hasModelsFile && modelsFile === undefined)
    throw new UserError({
      code: 'client-failed',
      message: '--catalog needs Codex to print its models, and this Codex cannot',
      hint: 'Install Codex 0.122.0 or newer, or remove --catalog.',
    })

  if (modelsFile === undefined && (bytes === null || !dropsModelsFile(target))) return undefined

  return {
    client: 'codex',
    path,
    format: 'json',
    scope: 'whole',
    changes: [{ path: ['models'], value: modelsFile?.ids }],
    before: bytes,
    after: modelsFile ? new TextEncoder().encode(modelsFile.text) : null,
    holdsSecret: false,
  }
}

function dropsModelsFile({ input: { requested, resetToDefaults = false } }: SetupTarget): boolean {
  return requested.hasModelsFile === false || resetToDefaults
}

/** The changes in config.toml. A file of the user stays configured. */
export function modelsFileChanges(files: LoadedFiles, config: ParsedFile, target: SetupTarget) {
  const { path } = fileOf(files, 'models')
  if (target.resolved.modelsFile) return [{ path: modelsFilePath, value: path }]
  const isDropped = usesModelsFile(files, config) && dropsModelsFile(target)
  return isDropped ? [{ path: modelsFilePath, value: undefined }] : []
}

/** Whether Codex reads the file that a setup writes. */
export function usesModelsFile(files: LoadedFiles, config: ParsedFile): boolean {
  return config.text(modelsFilePath) === fileOf(files, 'models').path
}

/** Reports a file with which Codex, or some of its versions, does not start. */
export function* checkModelsFile(files: LoadedFiles, config: ParsedFile): Findings {
  if (!usesModelsFile(files, config)) return
  const file = fileOf(files, 'models')
  const { path, bytes } = file
  const entries = entriesIn(textOf(file))
  const misfit = entries.find((entry) => !isForAll(entry))

  let why: string
  if (bytes === null) why = 'does not exist: Codex does not start'
  else if (entries.length === 0) why = 'is not a catalog of models: Codex does not start'
  else if (misfit !== undefined)
    why = `describes ${misfit.slug} in a form with which Codex 0.105.0 to 0.146.0 do not start`
  else return

  yield findingAt(config, modelsFilePath, {
    code: 'codex-catalog',
    message: `${path} (model_catalog_json) ${why}`,
    hint: 'Write the catalog again: repoint codex --catalog',
    becomes: { value: undefined },
    topic: 'broken',
  })
}

/** Reports that a setup is about to configure its own file instead of another one. */
export function* checkOtherModelsFile(
  files: LoadedFiles,
  config: ParsedFile,
  target: SetupTarget,
): Findings {
  const named = config.get(modelsFilePath)
  if (target.resolved.modelsFile === undefined || named === undefined) return
  if (usesModelsFile(files, config)) return
  yield findingAt(config, modelsFilePath, {
    code: 'codex-other-catalog',
    message: `model_catalog_json already names ${JSON.stringify(named)}`,
    hint: 'To keep it, remove --catalog.',
    needsConsentTo: `Replace model_catalog_json = ${JSON.stringify(named)}. repoint rollback restores it.`,
    severity: 'warning',
  })
}

/** The models in the file that a setup wrote. */
export function offeredByModelsFile(files: LoadedFiles): readonly string[] {
  if (!usesModelsFile(files, parseKind(files, 'config'))) return []
  return entriesIn(textOf(fileOf(files, 'models'))).map(({ slug }) => slug)
}

/**
 * Reports a model that was chosen after the setup and that the file does not describe: Codex guesses its
 * facts, and warns.
 */
export function* checkStaleModelsFile({ files }: ClientContext, config: ParsedFile): Findings {
  const model = config.text(['model'])
  const ids = offeredByModelsFile(files)
  if (model === undefined || ids.length === 0 || ids.includes(model)) return

  yield {
    code: 'codex-catalog-stale',
    message: `Codex's catalog does not describe ${model}, which Codex uses`,
    location: fileOf(files, 'models').path,
    hint: 'Write the catalog again: repoint codex',
    severity: 'warning',
  }
}

// Models that Codex replaces.

/**
 * The new model that the terminal UI offers at its start for an old one, with Yes as the default answer
 * ("Meet GPT-6 Sol"): from the lists in 0.149.1 (GPT-5.4) and 0.169.0 (the others), 2026-11-22.
 */
const offers: Readonly<Record<string, string>> = {
  'gpt-5.4': 'gpt-5.6-terra',
  'gpt-5.4-mini': 'gpt-5.6-luna',
  'gpt-5.5': 'gpt-6-sol',
  'gpt-5.6-sol': 'gpt-6-sol',
  'gpt-5.6-terra': 'gpt-6-sol',
  'gpt-5.6-luna': 'gpt-6-luna',
}

const answersPath = ['notice', 'model_migrations']

/**
 * The arguments for one process, as a value of `-c`. Only a table works: with `notice.model_migrations.ID=…`
 * Codex exits, because it takes the dots of an ID for separators (0.169.0, 2026-11-23).
 */
export function withoutOfferOnce(model: string): readonly string[] {
  const answers = withoutOffer(model).map(
    ({ value }) => `${JSON.stringify(model)}=${JSON.stringify(value)}`,
  )
  return answers.length === 0 ? [] : ['-c', `${answersPath.join('.')}={${answers.join(',')}}`]
}

/** Prevents the offer: Codex does not repeat one that has exactly this answer. */
export function withoutOffer(model: string): readonly SettingChange[] {
  const offered = Object.hasOwn(offers, model) ? offers[model] : undefined
  return offered === undefined ? [] : [{ path: [...answersPath, model], value: offered }]
}

/**
 * Reports an accepted offer: Codex wrote the new model, and every prompt fails if the gateway lacks it.
 * Reports nothing if the last catalog lists the model.
 */
export function* checkMigratedModel(context: ClientContext, config: ParsedFile): Findings {
  const model = config.text(['model'])
  const url = textIn(providerInUse(config).table, ['base_url'])
  if (model === undefined || url === undefined || !isOwnAddress(url, context)) return
  if (context.knownModels.includes(model)) return

  const answers = config.members(answersPath)
  const before = answers.filter(([, offered]) => offered === model).map(([from]) => from)
  const former = before.find((id) => context.knownModels.includes(id)) ?? before[0]
  if (former === undefined) return

  yield findingAt(config, ['model'], {
    code: 'codex-model-migrated',
    message: `You accepted Codex's offer to switch from ${former} to ${model}, and the gateway may not have ${model}`,
    hint: `Set model = ${JSON.stringify(former)}.`,
    becomes: { value: former },
  })
}
