import { Conflict, type OldPlace } from './dialect.ts'
import type { KeyPath } from './plan.ts'
import { lineEnd } from './text.ts'
import type { TomlEntry, TomlHeader, TomlText } from './toml-parse.ts'
import { isTable, samePath, showPath, startsWith, valueAt } from './values.ts'

/** The one place where `path` is written as `key = value`. Elements of lists have no path. */
export function entryAt(parsed: TomlText, path: KeyPath): TomlEntry | undefined {
  return parsed.entries.find((entry) => !entry.header?.isInList && samePath(entry.path, path))
}

export function headerAt(parsed: TomlText, path: KeyPath): TomlHeader | undefined {
  return parsed.headers.find((header) => !header.isInList && samePath(header.path, path))
}

export function sourceAt(parsed: TomlText, path: KeyPath): string | undefined {
  const entry = entryAt(parsed, path)
  return entry && parsed.text.slice(entry.valueStart, entry.valueEnd)
}

export function startOf(parsed: TomlText, path: KeyPath): number | undefined {
  const headers = parsed.headers.filter((header) => !header.isInList)
  const own =
    entryAt(parsed, path)?.start ?? headers.find((header) => samePath(header.path, path))?.start
  if (own !== undefined) return own
  const below = [...parsed.entries.filter((entry) => !entry.header?.isInList), ...headers]
    .filter((place) => startsWith(place.path, path))
    .map((place) => place.start)
  return below.length === 0 ? undefined : Math.min(...below)
}

export function placeOf(parsed: TomlText, path: KeyPath): OldPlace | undefined {
  const entry = entryAt(parsed, path)
  if (entry === undefined) return undefined
  const siblings = siblingsOf(parsed, entry)
  const previous = siblings[siblings.indexOf(entry) - 1]
  const lineStop = lineEnd(parsed.text, entry.valueEnd).content
  const trail = entry.inline ? '' : parsed.text.slice(entry.valueEnd, lineStop)
  return { trail, ...(previous ? { after: previous.path } : {}) }
}

function siblingsOf(parsed: TomlText, entry: TomlEntry): readonly TomlEntry[] {
  return entry.inline?.children ?? entry.header?.entries ?? parsed.rootEntries
}

/** @throws Conflict where `path` leads through something that is no table */
export function refuseBlockedPath(parsed: TomlText, path: KeyPath): void {
  for (let length = 1; length <= path.length; length++) {
    const table = path.slice(0, length)
    const value = valueAt(parsed.root, table)
    if (value === undefined) return
    if (isTable(value)) continue
    const what = Array.isArray(value) ? 'a list' : 'a single value'
    throw new Conflict(`${showPath(table)} is ${what}, not a table`, offsetOf(parsed, table))
  }
}

export function offsetOf(parsed: TomlText, path: KeyPath): number {
  const header = parsed.headers.find((candidate) => samePath(candidate.path, path))
  const entry = parsed.entries.find((candidate) => startsWith(candidate.path, path))
  return header?.start ?? entry?.start ?? 0
}
