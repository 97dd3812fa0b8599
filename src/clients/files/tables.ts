import type { ConfigValue, ListElement, SettingChange, SettingPath } from '../../edits/types.ts'

export type Table = { readonly [key: string]: ConfigValue }

export function isTable(value: ConfigValue | undefined): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value at `path` below a value. Only tables are searched, and no lists. */
export function valueIn(
  value: ConfigValue | undefined,
  path: SettingPath,
): ConfigValue | undefined {
  let inner = value
  for (const key of path) {
    if (!isTable(inner) || typeof key !== 'string' || !Object.hasOwn(inner, key)) return undefined
    inner = inner[key]
  }
  return inner
}

/** The table at `path` below a value. Empty if there is none. */
export function tableIn(value: ConfigValue | undefined, path: SettingPath): Table {
  const found = valueIn(value, path)
  return isTable(found) ? found : {}
}

export function textIn(value: ConfigValue | undefined, path: SettingPath): string | undefined {
  const found = valueIn(value, path)
  return typeof found === 'string' ? found : undefined
}

export function numberIn(value: ConfigValue | undefined, path: SettingPath): number | undefined {
  const found = valueIn(value, path)
  return typeof found === 'number' ? found : undefined
}

/** Merges tables key by key; `above` replaces any other value. */
export function merged(below: Table, above: Table = {}): Table {
  const all = new Map(Object.entries(below))
  for (const [key, value] of Object.entries(above)) {
    const old = all.get(key)
    all.set(key, isTable(old) && isTable(value) ? merged(old, value) : value)
  }
  return Object.fromEntries(all)
}

/**
 * Identifies an entry of a list by the first of these members, and by more of them while an entry in `others`
 * has the same values. None may be a secret, because records name it.
 */
export function knownElement(
  entry: Table,
  members: readonly string[],
  others: readonly Table[],
): ListElement {
  const known = members.filter((name) => typeof entry[name] === 'string')
  const isLike = (other: Table, names: readonly string[]) =>
    names.every((name) => other[name] === entry[name])
  const count = known.findIndex((_, index) =>
    others.every((other) => !isLike(other, known.slice(0, index + 1))),
  )
  const names = count === -1 ? known : known.slice(0, count + 1)
  return { element: Object.fromEntries(names.map((name) => [name, String(entry[name])])) }
}

/** A name that should be text. Empty for a table, a list, or nothing. */
export function plainName(value: ConfigValue | undefined): string {
  return value === undefined || typeof value === 'object' ? '' : String(value)
}

/** An object with the values of `changes` at their paths, over those of `base`. Ignores removals. */
export function overlaid(base: Table, changes: readonly SettingChange[]): Table {
  return changes.reduce<Table>(
    (all, { path, value }) => (value === undefined ? all : withValue(all, path, value)),
    base,
  )
}

/** Ignores a path into a list. */
function withValue(base: Table, [name, ...rest]: SettingPath, value: ConfigValue): Table {
  if (typeof name !== 'string') return base
  const below = Object.hasOwn(base, name) ? base[name] : undefined
  const inner = rest.length === 0 ? value : withValue(isTable(below) ? below : {}, rest, value)
  return Object.fromEntries([...Object.entries(base), [name, inner]])
}
