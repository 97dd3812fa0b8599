/** Compares and formats paths, such as `model_providers.gateway.name`. */
import type { SettingPath } from '../types.ts'
import { isEmptyContainer, isValueTable, sameValue, type Value } from './values.ts'

/** A path of settings, or a path in a text, where the key of an element is its index. */
type AnyPath = readonly (SettingPath[number] | number)[]

export function startsWith(path: AnyPath, prefix: AnyPath): boolean {
  return prefix.every((key, index) => sameStep(path[index], key))
}

export function samePath(a: AnyPath, b: AnyPath): boolean {
  return a.length === b.length && startsWith(a, b)
}

function sameStep(a: AnyPath[number] | undefined, b: AnyPath[number]): boolean {
  if (typeof b !== 'object') return a === b
  return typeof a === 'object' && sameValue(a.element, b.element)
}

export function includesPath(paths: readonly SettingPath[], path: SettingPath): boolean {
  return paths.some((candidate) => samePath(candidate, path))
}

/** Each path once. */
export function uniquePaths(paths: readonly SettingPath[]): SettingPath[] {
  const seen = new Set<string>()
  return paths.filter((path) => {
    const key = pathKey(path)
    const isFirst = !seen.has(key)
    seen.add(key)
    return isFirst
  })
}

/** A string for a path. Two paths have the same string exactly if they are equal for `samePath`. */
export function pathKey(path: AnyPath): string {
  if (path.every((step) => typeof step === 'string')) return JSON.stringify(path)
  return JSON.stringify(path, (_name, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`
    if (typeof value !== 'object' || value === null) return value
    if ('element' in value) return { element: value.element }
    // The order of the members of a table does not matter.
    const isTable = isValueTable(value as Value)
    return isTable ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)) : value
  })
}

interface PathNode<Content> {
  content?: Content
  readonly inside: Map<string | number, PathNode<Content>>
}

/** A map by the paths of a text. In a picker with thousands of models, keys as `pathKey` writes them took most of the time. */
export class PathMap<Content> {
  readonly #root: PathNode<Content> = { inside: new Map() }

  get(path: readonly (string | number)[]): Content | undefined {
    let node: PathNode<Content> | undefined = this.#root
    for (const key of path) node = node?.inside.get(key)
    return node?.content
  }

  set(path: readonly (string | number)[], content: Content): void {
    let node = this.#root
    for (const key of path) {
      const inner: PathNode<Content> = node.inside.get(key) ?? { inside: new Map() }
      node.inside.set(key, inner)
      node = inner
    }
    node.content = content
  }
}

/** The paths of all values below `path` that are not tables, and of all empty tables. */
export function leafPaths(value: Value | undefined, path: SettingPath): SettingPath[] {
  if (!isValueTable(value) || isEmptyContainer(value)) return [path]
  return Object.keys(value).flatMap((key) => leafPaths(value[key], [...path, key]))
}

/**
 * Formats a path for people: `model_providers.gateway.name`. A string in a list is formatted as
 * `enabled_providers: "gateway"`, a table in a list as `models.gateway.name`. Keys that are not plain
 * words are quoted.
 */
export function showPath(path: AnyPath): string {
  const last = path.at(-1)
  if (typeof last === 'object' && typeof last.element === 'string')
    return `${showPath(path.slice(0, -1))}: ${JSON.stringify(last.element)}`
  return path
    .map(plainKey)
    .map((key) => (/^[\w$-]+$/.test(key) ? key : JSON.stringify(key)))
    .join('.')
}

/** Formats a path for programs: nothing is quoted. */
export function plainPath(path: SettingPath): string {
  return path.map(plainKey).join('.')
}

export function plainKey(key: AnyPath[number]): string {
  if (typeof key !== 'object') return String(key)
  return typeof key.element === 'string' ? key.element : Object.values(key.element).join(' ')
}
