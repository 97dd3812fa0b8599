import { compact } from '../../compact.ts'
import { asObject, comparableName, isFilledList, jsonIn, secretForms } from '../foreign-text.ts'
import type { CatalogModel } from '../types.ts'
import { type ListEntry, readFacts } from './facts.ts'
import { isNonConversational } from './purpose.ts'

/** Whether a body is a catalog in one of the known formats. */
export function isCatalogBody(body: string): boolean {
  return findEntries(jsonIn(body)) !== undefined
}

/** A page of a catalog. Most catalogs have only one. */
interface CatalogPage {
  readonly models: readonly CatalogModel[]
  /** The number of models that were skipped because their ID is unsafe in a file. */
  readonly skipped: number
  /** The page has more models than `limit`. */
  readonly isCut: boolean
  /** The number of entries. */
  readonly entries: number
  /** The ID of the last entry. */
  readonly lastId?: string
}

/**
 * Reads the models of a catalog in any known format: a list, or an object by ID, at the root or below a
 * member such as `data`, `models` or `result.items`. A repeated ID counts once. Entries without an ID
 * are ignored. A text that contains one of `secrets` is skipped, so that it reaches no file or screen.
 */
export function readPage(body: string, secrets: readonly string[], limit: number): CatalogPage {
  const isSafe = createSafetyCheck(secrets)
  const models = new Map<string, CatalogModel>()
  const entries = findEntries(jsonIn(body)) ?? []
  let skipped = 0
  let isCut = false
  for (const entry of entries) {
    const id = entryId(entry)
    if (id === undefined || models.has(id)) continue
    if (models.size === limit) {
      isCut = true
      break
    }
    if (isSafe(id)) models.set(id, readModel(id, asObject(entry) ?? {}, isSafe))
    else skipped++
  }

  return compact({
    models: [...models.values()],
    skipped,
    isCut,
    entries: entries.length,
    lastId: entryId(entries.at(-1)),
  })
}

/** The members that contain the list, the most common first, by `comparableName`. */
const listNames = [
  'data',
  'models',
  'items',
  'result',
  'results',
  'list',
  'records',
  'rows',
  'entries',
  'modellist',
  'modelsummaries',
  'modelinfos',
  'modelids',
  'objects',
  'values',
  'content',
  'body',
  'payload',
  'response',
  'page',
  'availablemodels',
  'deployments',
  'endpoints',
  'providers',
  'vendors',
  'available',
]

/** The deepest list that is found: `data.result.models`. */
const maxDepth = 3

function findEntries(value: unknown): readonly unknown[] | undefined {
  const root = asObject(value)
  if (root !== undefined && ((root['error'] ?? null) !== null || isFilledList(root['errors'])))
    return undefined
  const found = findList(value, 0)
  if (found !== undefined) return found

  // New API sends null if the key may use no model.
  if (root?.['object'] === 'list' && root['data'] === null) return []
  const members = membersOf(root ?? {})
  const lists = listNames.map((name) => members.get(name))
  const hasEmptyList = lists.some(
    (list) => isEmptyList(list) || (Array.isArray(list) && list.some(isEmptyList)),
  )
  return hasEmptyList ? [] : undefined
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/** The members of an object by their `comparableName`. */
function membersOf(object: Readonly<Record<string, unknown>>): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(object).map(([name, value]) => [comparableName(name), value]))
}

/** The first list of models at or below a value. An object by ID is converted to a list. */
function findList(value: unknown, depth: number): readonly unknown[] | undefined {
  if (Array.isArray(value)) return checkList(value, depth)
  const object = asObject(value)
  if (object === undefined || depth > maxDepth) return undefined

  const members = membersOf(object)
  for (const name of listNames) {
    const list = findList(members.get(name), depth + 1)
    if (list !== undefined) return list
  }
  const grouped = groupedList(object, depth)
  if (grouped !== undefined) return grouped
  return depth === 0 && !hasModelFacts(object) ? listOfAnyName(object) : listById(object)
}

/** A list below a member that no known catalog has, if its entries have an unmistakable ID. */
function listOfAnyName(object: Readonly<Record<string, unknown>>): readonly unknown[] | undefined {
  const lists = Object.values(object).filter(Array.isArray)
  return lists.find((list) => list.length > 0 && list.every(hasModelId))
}

function hasModelId(entry: unknown): boolean {
  const members = membersOf(asObject(entry) ?? {})
  return ['id', 'model', 'slug', 'modelid', 'modelname'].some(
    (name) => typeof members.get(name) === 'string',
  )
}

/**
 * Converts `{"chat": ["gpt-5.6-sol"], "embedding": ["bge-m3"]}` to a list, and objects of providers with
 * models each. The name of a group says what its models are for, unless they say it themselves.
 */
function groupedList(
  object: Readonly<Record<string, unknown>>,
  depth: number,
): readonly unknown[] | undefined {
  const groups = Object.entries(object)
  const lists = groups.map(([, group]) =>
    Array.isArray(group) ? group : modelsOf(asObject(group) ?? {}),
  )
  if (groups.length === 0 || lists.includes(undefined)) return undefined
  // At the root, any status page can have lists.
  if (depth === 0 && !lists.every((list) => list!.every(hasModelId))) return undefined
  const entries = groups.flatMap(([type], group) =>
    lists[group]!.map((entry) =>
      typeof entry === 'string' ? { id: entry, type } : { type, ...asObject(entry) },
    ),
  )
  return entries.some((entry) => entryId(entry) !== undefined) ? entries : undefined
}

function modelsOf(provider: Readonly<Record<string, unknown>>): readonly unknown[] | undefined {
  const models = provider['models'] ?? provider['Models']
  if (Array.isArray(models)) return models
  const byId = asObject(models)
  return byId && listById(byId)
}

function checkList(list: readonly unknown[], depth: number): readonly unknown[] | undefined {
  // A list of providers, each with a list of models.
  const nested = list.flatMap((entry) => modelsOf(asObject(entry) ?? {}) ?? [])
  if (nested.some((entry) => entryId(entry) !== undefined)) return nested
  if (list.some((entry) => entryId(entry) !== undefined)) return list
  return list.length === 0 && depth <= 1 ? list : undefined
}

/** Converts `{"gpt-5.6-sol": {…}, "glm-5": {…}}` to a list. The name is the ID if the entry has none. */
function listById(object: Readonly<Record<string, unknown>>): readonly unknown[] | undefined {
  const entries = Object.entries(object)
  if (entries.length === 0 || entries.some(([, entry]) => asObject(entry) === undefined))
    return undefined
  return entries.map(([id, entry]) => ({
    ...asObject(entry),
    id: idMember(asObject(entry)!, ['id', 'model', 'slug', 'modelid', 'modelname']) ?? id,
  }))
}

/** Whether an object at the root is a catalog by ID. An error or a status page has no such members. */
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

/**
 * The members with an ID, the most common first, by `comparableName`. Codex reads `slug`, LiteLLM
 * writes `model_name`.
 */
const idNames = [
  'id',
  'model',
  'slug',
  'modelid',
  'modelname',
  'name',
  'key',
  'identifier',
  'uid',
  'value',
]

const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i

function entryId(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  const entry = asObject(value)
  return entry && idMember(entry)
}

/** Skips database keys: Cloudflare's `id` is a UUID, and requests need its `name`. */
function idMember(
  entry: Readonly<Record<string, unknown>>,
  names: readonly string[] = idNames,
): string | undefined {
  const isId = (id: unknown): id is string => typeof id === 'string' && id !== ''
  const plain = names.map((name) => entry[name]).filter(isId)
  // Large catalogs: most write these names in lower case.
  const members = plain.length === 0 ? membersOf(entry) : undefined
  const ids = members === undefined ? plain : names.map((name) => members.get(name)).filter(isId)
  return ids.find((id) => !uuid.test(id)) ?? ids[0]
}

/** The most endpoint types that are read. New API has nine. */
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
    ...readFacts(entry),
    isConversational: isNonConversational(entry) ? (false as const) : undefined,
    isRetired: isRetired(entry) ? (true as const) : undefined,
    displayName:
      textOf(entry['display_name']) ??
      (entry['id'] === undefined || entry['name'] === id ? undefined : textOf(entry['name'])),
  })
}

/** Whether a date in the entry, such as Mistral's `deprecation`, is in the past. */
function isRetired(entry: ListEntry): boolean {
  const date = entry['deprecation'] ?? entry['deprecation_date'] ?? entry['retirement_date']
  return typeof date === 'string' && Date.parse(date) < Date.now()
}

/** The shortest key that is searched for. Local servers accept words like `ollama` as a key. */
const minKeyLength = 12

/** Creates a check that a text is a plain name and does not contain a secret. */
function createSafetyCheck(secrets: readonly string[]): (text: string) => boolean {
  const forms = secrets.filter(({ length }) => length >= minKeyLength).flatMap(secretForms)
  return (text) => isPlainName(text) && forms.every((form) => text.search(form) === -1)
}

/** Whether a text is safe in a file and on a terminal: 1 to 200 characters, none of them invisible. */
export function isPlainName(text: string): boolean {
  return /^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u.test(text)
}
