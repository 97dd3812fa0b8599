import { compact } from '../../compact.ts'
import { asObject, jsonIn, secretForms } from '../foreign-text.ts'
import type { CatalogModel } from '../types.ts'
import { factsIn, type ListEntry } from './facts.ts'
import { saysNoConversation } from './purpose.ts'

/** Whether a body is a catalog of any of the known shapes. */
export function isCatalogBody(body: string): boolean {
  return entriesIn(jsonIn(body)) !== undefined
}

/** A page of a catalog; most have only one. */
export interface CatalogPage {
  readonly models: readonly CatalogModel[]
  /** How many were left out because no file should hold their id. */
  readonly leftOut: number
  /** Whether there were more than `limit`. */
  readonly isCut: boolean
  /** Entries of the page, and the ID of the last one. */
  readonly entries: number
  readonly lastId?: string
}

/**
 * The models in a catalog of any shape: a list, or an object by ID, at the root or below a member such as
 * `data`, `models` or `result.items`. An ID that comes twice counts once; entries without an ID are
 * skipped. What holds one of `secrets` is left out, since it would carry it into files and onto screens.
 */
export function readPage(body: string, secrets: readonly string[], limit: number): CatalogPage {
  const isSafe = safetyCheck(secrets)
  const models = new Map<string, CatalogModel>()
  const entries = entriesIn(jsonIn(body)) ?? []
  let leftOut = 0
  let isCut = false
  for (const entry of entries) {
    const id = idOf(entry)
    if (id === undefined || models.has(id)) continue
    if (models.size === limit) {
      isCut = true
      break
    }
    if (isSafe(id)) models.set(id, readModel(id, asObject(entry) ?? {}, isSafe))
    else leftOut++
  }

  return compact({
    models: [...models.values()],
    leftOut,
    isCut,
    entries: entries.length,
    lastId: idOf(entries.at(-1)),
  })
}

/** Members that hold the list, the usual ones first. */
const listNames = [
  ...['data', 'models', 'items', 'result', 'results', 'list', 'records', 'rows', 'entries'],
  ...[
    'model_list',
    'modelList',
    'modelSummaries',
    'model_summaries',
    'objects',
    'values',
    'content',
  ],
  ...['body', 'payload', 'response', 'page', 'available_models', 'availableModels'],
]

/** Deepest list that is looked for: `data.result.models`. */
const maxDepth = 3

function entriesIn(value: unknown): readonly unknown[] | undefined {
  const root = asObject(value)
  if (root !== undefined && (root['error'] ?? null) !== null) return undefined
  const found = listIn(value, 0)
  if (found !== undefined) return found

  // New API sends null for a key that may use no model at all.
  if (root?.['object'] === 'list' && root['data'] === null) return []
  const children = listNames.flatMap((name) => root?.[name] ?? [])
  return children.some((child) => Array.isArray(child) && child.length === 0) ||
    listNames.some((name) => Array.isArray(root?.[name]) && (root[name] as []).length === 0)
    ? []
    : undefined
}

/** The first list of models at or below a value; an object by ID becomes a list. */
function listIn(value: unknown, depth: number): readonly unknown[] | undefined {
  if (Array.isArray(value)) return listFrom(value, depth)
  const object = asObject(value)
  if (object === undefined || depth > maxDepth) return undefined

  for (const name of listNames) {
    const list = listIn(object[name], depth + 1)
    if (list !== undefined) return list
  }
  return depth === 0 && !hasModelFacts(object) ? undefined : byId(object)
}

function listFrom(list: readonly unknown[], depth: number): readonly unknown[] | undefined {
  // Providers with a list of models each.
  const nested = list.flatMap((entry) => {
    const models = asObject(entry)?.['models']
    return Array.isArray(models) ? models : []
  })
  if (nested.some((entry) => idOf(entry) !== undefined)) return nested
  if (list.some((entry) => idOf(entry) !== undefined)) return list
  return list.length === 0 && depth <= 1 ? list : undefined
}

/** `{"gpt-5.6-sol": {…}, "glm-5": {…}}`: the name is the ID, unless the entry has one of its own. */
function byId(object: Readonly<Record<string, unknown>>): readonly unknown[] | undefined {
  const entries = Object.entries(object)
  if (entries.length === 0 || entries.some(([, entry]) => asObject(entry) === undefined))
    return undefined
  return entries.map(([id, entry]) => ({ ...asObject(entry), id: ownIdOf(asObject(entry)!) ?? id }))
}

/** Whether an object at the root is a list by ID: an error or a status page has no such members. */
function hasModelFacts(object: Readonly<Record<string, unknown>>): boolean {
  return Object.values(object).some((entry) => {
    const names = Object.keys(asObject(entry) ?? {})
    return names.some((name) =>
      /^(?:mode|owned_by|litellm_provider|context_?(?:length|window)|max_(?:input_|output_)?tokens|model_?name|display_?name|modalities)$/i.test(
        name,
      ),
    )
  })
}

/** Members that hold an ID, the usual ones first. Codex reads `slug`, LiteLLM writes `model_name`. */
const idNames = [
  ...['id', 'model', 'slug', 'model_id', 'modelId', 'model_name', 'modelName', 'name', 'key'],
  ...['identifier', 'uid', 'value'],
]

const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i

function idOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  const entry = asObject(value)
  return entry && ownIdOf(entry)
}

/** Cloudflare's `id` is a number of its database, and `name` the ID that is asked for. */
function ownIdOf(entry: Readonly<Record<string, unknown>>): string | undefined {
  const ids = idNames
    .map((name) => entry[name])
    .filter((id): id is string => typeof id === 'string' && id !== '')
  return ids.find((id) => !uuid.test(id)) ?? ids[0]
}

/** New API has nine. */
const maxTypes = 20

function readModel(id: string, entry: ListEntry, isSafe: (text: string) => boolean): CatalogModel {
  const textOf = (value: unknown): string | undefined =>
    typeof value === 'string' && isSafe(value) ? value : undefined
  const types = entry['supported_endpoint_types']
  const hasTypes = Array.isArray(types) && types.length > 0

  return compact({
    id,
    endpointTypes: hasTypes
      ? types.slice(0, maxTypes).filter((type) => textOf(type) !== undefined)
      : undefined,
    ...factsIn(entry),
    isConversational: saysNoConversation(entry) ? (false as const) : undefined,
    displayName:
      textOf(entry['display_name']) ??
      (entry['id'] === undefined || entry['name'] === id ? undefined : textOf(entry['name'])),
  })
}

/** Shortest key that is looked for: local servers take words like `ollama` for a key. */
const shortestKey = 12

/** A plain name, and not the key. */
function safetyCheck(secrets: readonly string[]): (text: string) => boolean {
  const forms = secrets.filter(({ length }) => length >= shortestKey).flatMap(secretForms)
  return (text) => isPlainName(text) && forms.every((form) => text.search(form) === -1)
}

/** Fit for a file and a terminal: not empty, of a sane length, nothing unseen. */
export function isPlainName(text: string): boolean {
  return /^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u.test(text)
}
