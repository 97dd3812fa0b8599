import { stringify } from '@iarna/toml'
import { Conflict } from './dialect.ts'
import type { KeyChange, KeyPath } from './plan.ts'
import { emptyTable, isTable, Literal, type Value, type ValueTable } from './values.ts'

/** A value on one line. */
export function renderToml(value: Value): string {
  if (value === null) throw new Conflict('TOML has no null', 0)
  if (value instanceof Literal) return value.source
  if (Array.isArray(value)) return `[${value.map(renderToml).join(', ')}]`
  if (isTable(value)) return renderInline(value)
  if (typeof value === 'string') return renderString(value)
  // Its types leave out bigint, which it renders (seen in 3.0.0).
  return stringify.value(value as number | boolean)
}

export function renderKey(path: KeyPath): string {
  return path.map((key) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : renderString(key))).join('.')
}

/** The block that a person would add: root keys first, then one table after the other. */
export function renderBlock(changes: readonly KeyChange[], toValue: (v: never) => Value): string {
  const blocks = new Map<string, string[]>()
  for (const { path, value } of changes) {
    const table = renderKey(path.slice(0, -1))
    const line = `${renderKey(path.slice(-1))} = ${renderToml(toValue(value as never))}`
    blocks.set(table, [...(blocks.get(table) ?? []), line])
  }
  return [...blocks]
    .toSorted(([a], [b]) => Number(a !== '') - Number(b !== ''))
    .map(([table, lines]) => [...(table === '' ? [] : [`[${table}]`]), ...lines].join('\n'))
    .join('\n\n')
}

/** The rest of a path as nested inline tables around `value`. */
export function nest(path: KeyPath, value: string): string {
  return path.reduceRight((inner, key) => `{ ${renderKey([key])} = ${inner} }`, value)
}

function renderInline(table: ValueTable): string {
  const entries = Object.entries(table).map(
    ([key, value]) => `${renderKey([key])} = ${renderToml(value)}`,
  )
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}

function renderString(text: string): string {
  if (/\p{Surrogate}/u.test(text))
    throw new Conflict('half a character cannot stand in a TOML file', 0)
  // @iarna/toml escapes only the first control character (seen in 3.0.0).
  return stringify.value(text).replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must be escaped
    /[\u0000-\u001f\u007f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A change's value as a TOML parser gives it back: integers are bigint. */
export function toTomlValue(value: KeyChange['value']): Value {
  if (typeof value === 'number') {
    return Number.isInteger(value) && !Object.is(value, -0) ? BigInt(value) : value
  }
  if (Array.isArray(value)) return value.map(toTomlValue)
  if (typeof value === 'object' && value !== null) {
    const table = emptyTable()
    for (const [key, child] of Object.entries(value)) table[key] = toTomlValue(child)
    return table
  }
  return value as Value
}
