import { compact } from '../../compact.ts'
import { asObject, jsonIn, secretForms } from '../foreign-text.ts'
import type { CatalogModel } from '../types.ts'
import { factsIn, type ListEntry } from './facts.ts'

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
  /** The id to go on after, where a messages-style catalog has more pages. */
  readonly next?: string
}

/**
 * The models in a catalog of whatever shape: `{data: […]}` of the chat and messages protocols,
 * `{models: […]}` of Ollama and llama.cpp, or a bare list. An id that comes twice counts once;
 * entries without an id are passed over. What holds one of `secrets` is left out: it would carry it
 * into files and onto screens.
 */
export function readPage(body: string, secrets: readonly string[], limit: number): CatalogPage {
  const value = jsonIn(body)
  const isSafe = safetyCheck(secrets)
  const models = new Map<string, CatalogModel>()
  let leftOut = 0
  let isCut = false
  for (const entry of entriesIn(value) ?? []) {
    const id = idOf(entry)
    if (id === undefined || models.has(id)) continue
    if (models.size === limit) {
      isCut = true
      break
    }
    if (isSafe(id)) models.set(id, readModel(id, asObject(entry) ?? {}, isSafe))
    else leftOut++
  }

  const root = asObject(value)
  const next = root?.['has_more'] === true ? root['last_id'] : undefined

  return compact({
    models: [...models.values()],
    leftOut,
    isCut,
    next: typeof next === 'string' && next !== '' ? next : undefined,
  })
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
    displayName:
      textOf(entry['display_name']) ??
      (entry['id'] === undefined ? undefined : textOf(entry['name'])),
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
