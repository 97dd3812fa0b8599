import { asObject, parseJson } from '../judge/error-body.ts'
import { maskForms } from '../secret-forms.ts'
import type { CatalogModel } from '../types.ts'

type Entry = Readonly<Record<string, unknown>>

/** Whether a body is a catalog of any of the known shapes. */
export function isCatalogBody(body: string): boolean {
  return entriesIn(parseJson(body)) !== undefined
}

/** The models of a catalog, and how many were left out because no file should hold their id. */
export interface CatalogPage {
  readonly models: readonly CatalogModel[]
  readonly leftOut: number
}

/**
 * The models in a catalog of whatever shape: `{data: […]}` of the chat and messages protocols,
 * `{models: […]}` of Ollama and llama.cpp, or a bare list. An id that comes twice counts once;
 * entries without an id are passed over. What holds `key` is left out: it would carry the key into
 * files and onto screens.
 */
export function readModels(body: string, key = ''): CatalogPage {
  const models = new Map<string, CatalogModel>()
  let leftOut = 0
  const isSafe = (text: string): boolean => isPrintable(text) && !holdsKey(text, key)
  for (const entry of entriesIn(parseJson(body)) ?? []) {
    const id = idOf(entry)
    if (id === undefined) continue
    if (!isSafe(id)) leftOut++
    else if (!models.has(id)) models.set(id, readModel(id, asObject(entry) ?? {}, isSafe))
  }
  return { models: [...models.values()], leftOut }
}

/** The id to go on after, where a messages-style catalog has more pages. */
export function nextPage(body: string): string | undefined {
  const root = asObject(parseJson(body))
  const last = root?.['last_id']
  return root?.['has_more'] === true && typeof last === 'string' && last !== '' ? last : undefined
}

function entriesIn(value: unknown): readonly unknown[] | undefined {
  const root = asObject(value)
  if (root !== undefined && (root['error'] ?? null) !== null) return undefined
  const list = [value, root?.['data'], root?.['models']].find(Array.isArray) as
    | unknown[]
    | undefined
  if (
    list !== undefined &&
    (list.length === 0 || list.some((entry) => idOf(entry) !== undefined))
  ) {
    return list
  }
  // New API sends null for a key that may use no model at all.
  return root?.['object'] === 'list' && root['data'] === null ? [] : undefined
}

function idOf(value: unknown): string | undefined {
  const entry = typeof value === 'string' ? { id: value } : asObject(value)
  return [entry?.['id'], entry?.['model'], entry?.['name']].find(
    (id): id is string => typeof id === 'string' && id !== '',
  )
}

function readModel(id: string, entry: Entry, isSafe: (text: string) => boolean): CatalogModel {
  const textOf = (value: unknown): string | undefined =>
    typeof value === 'string' && isSafe(value) ? value : undefined
  const types = entry['supported_endpoint_types']
  const displayName =
    textOf(entry['display_name']) ?? (entry['id'] === undefined ? undefined : textOf(entry['name']))
  const ownedBy = textOf(entry['owned_by'])
  const contextWindow = numberAt(entry, contextPlaces)
  const maxOutputTokens = numberAt(entry, outputPlaces)
  return {
    id,
    ...(Array.isArray(types) && types.length > 0
      ? { endpointTypes: types.filter((type) => textOf(type) !== undefined) }
      : {}),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(displayName === undefined ? {} : { displayName }),
    ...(ownedBy === undefined ? {} : { ownedBy }),
  }
}

/** Where gateways say the context window: OpenRouter, vLLM, LiteLLM, Groq, Mistral, llama.cpp. */
const contextPlaces: readonly (readonly string[])[] = [
  ['context_length'],
  ['max_model_len'],
  ['context_window'],
  ['max_input_tokens'],
  ['max_context_length'],
  ['model_info', 'max_input_tokens'],
  ['limit', 'context'],
  // What one request may use: llama.cpp runs with less than the model was trained for.
  ['meta', 'n_ctx'],
]

const outputPlaces: readonly (readonly string[])[] = [
  ['max_output_tokens'],
  ['max_completion_tokens'],
  ['top_provider', 'max_completion_tokens'],
  ['model_info', 'max_output_tokens'],
  ['limit', 'output'],
]

function numberAt(entry: Entry, places: readonly (readonly string[])[]): number | undefined {
  return places
    .map((place) => place.reduce<unknown>((value, name) => asObject(value)?.[name], entry))
    .map((value) => (typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value))
    .find((value): value is number => Number.isSafeInteger(value) && (value as number) > 0)
}

/** Fit for a file and a terminal: not empty, of a sane length, nothing that is not seen. */
function isPrintable(text: string): boolean {
  return /^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u.test(text)
}

/** Shortest key that is looked for: local servers take words like `ollama` for a key. */
const shortestKey = 12

function holdsKey(text: string, key: string): boolean {
  return key.length >= shortestKey && maskForms(text, key) !== text
}
