import { Conflict } from './dialect.ts'
import type { KeyChange } from './plan.ts'
import { emptyTable, isTable, Literal, type Value } from './values.ts'

/** How an object writes its members. */
export interface JsonLayout {
  readonly isMultiLine: boolean
  /** The line break of the neighbouring line. */
  readonly eol: string
  /** One level of indentation. */
  readonly unit: string
  /** What stands before each member's key on its line. */
  readonly indent: string
  /** What stands between key and value: `: `. */
  readonly colon: string
}

export function renderJson(value: Value, layout: JsonLayout): string {
  if (value instanceof Literal) return value.source
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new Conflict('JSON has only finite numbers', 0)
  }
  if (Array.isArray(value)) {
    return enclose(
      '[',
      value.map((item) => renderJson(item, deeper(layout))),
      ']',
      layout,
    )
  }
  if (!isTable(value)) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, child]) =>
    renderMember(key, renderJson(child, deeper(layout)), layout),
  )
  return enclose('{', members, '}', layout)
}

export function renderMember(key: string, value: string, layout: JsonLayout): string {
  return JSON.stringify(key) + layout.colon + value
}

/** `value` inside objects for the keys of `path`, as the value of a member laid out by `layout`. */
export function nestJson(
  path: readonly string[],
  layout: JsonLayout,
  value: (layout: JsonLayout) => string,
): string {
  const [key, ...rest] = path
  if (key === undefined) return value(layout)
  const inner = nestJson(rest, deeper(layout), value)
  return enclose('{', [renderMember(key, inner, layout)], '}', layout)
}

/** A change's value as `judgeJson` gives it back: numbers as they are written. */
export function toJsonValue(value: KeyChange['value']): Value {
  if (typeof value === 'number' || typeof value === 'bigint') {
    if (typeof value === 'number' && !Number.isFinite(value)) return value
    return new Literal(Object.is(value, -0) ? '-0' : String(value))
  }
  if (Array.isArray(value)) return value.map(toJsonValue)
  if (typeof value === 'object' && value !== null) {
    const table = emptyTable()
    for (const [key, child] of Object.entries(value)) table[key] = toJsonValue(child)
    return table
  }
  return value as Value
}

/** The object that a person would merge into the file. */
export function renderByHand(changes: readonly KeyChange[]): string {
  const root: Record<string, Value> = emptyTable()
  for (const { path, value } of changes) {
    let table = root
    for (const key of path.slice(0, -1)) {
      if (!isTable(table[key])) table[key] = emptyTable()
      table = table[key] as Record<string, Value>
    }
    table[path.at(-1) ?? ''] = toJsonValue(value)
  }
  return renderJson(root, { isMultiLine: true, eol: '\n', unit: '  ', indent: '', colon: ': ' })
}

function deeper(layout: JsonLayout): JsonLayout {
  return { ...layout, indent: layout.indent + layout.unit }
}

function enclose(
  open: string,
  parts: readonly string[],
  close: string,
  { isMultiLine, eol, unit, indent, colon }: JsonLayout,
): string {
  if (parts.length === 0) return open + close
  if (!isMultiLine) {
    const space = colon.endsWith(' ') ? ' ' : ''
    const pad = open === '{' ? space : ''
    return open + pad + parts.join(`,${space}`) + pad + close
  }
  const lines = parts.map((part) => indent + unit + part).join(`,${eol}`)
  return open + eol + lines + eol + indent + close
}
