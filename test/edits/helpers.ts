import { diffArrays } from 'diff'
import JSON5 from 'json5'
import { parse as parseTomlIndependently } from 'smol-toml'
import type { Bytes, SettingChange } from '../../src/edits/types.ts'

/** The text without its byte order mark. */
export function textOf(bytes: Bytes): string {
  return new TextDecoder().decode(bytes)
}

export function bytesOf(text: string): Bytes {
  return new TextEncoder().encode(text)
}

export function hasMixedEols(bytes: Bytes): boolean {
  const text = show(bytes) as string
  return /(^|[^\r])\n/.test(text) && text.includes('\r\n')
}

export function show(bytes: Bytes | null): string | null {
  return bytes && new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

/**
 * The lines of `before` without our keys that are not in `after`, byte for byte. The last line of a file may gain a
 * line break. In JSON, a line may gain or lose the comma or brace next to our members.
 */
export function linesLost(name: string, before: Bytes, after: Bytes): string[] {
  const [old, fresh] = [before, after].map((bytes) => textOf(bytes).split(/(?<=\n)/)) as [
    string[],
    string[],
  ]
  const core = (line: string) =>
    name === 'toml' ? line.replace(/\r?\n$/, '') : line.replace(/[\s,{}[\]]/g, '')
  const parts = diffArrays(old, fresh)
  const lost = parts.flatMap((part) => (part.removed ? part.value : []))
  const added = parts.flatMap((part) => (part.added ? part.value : [])).map(core)
  return lost.filter(
    (line) =>
      line !== '' &&
      !/model|env|u0065nv/.test(line) &&
      (name === 'toml' && line.endsWith('\n')
        ? true
        : !added.some((addedLine) =>
            name === 'toml' ? addedLine === core(line) : addedLine.includes(core(line)),
          )),
  )
}

export type Plain = { [key: string]: unknown }

/** Decodes JSON after removing comments and trailing commas. With `keepsDigits`, numbers are strings. */
export function decodeJson(bytes: Bytes, keepsDigits = true): Plain {
  const text = textOf(bytes)
  const token = /("(?:[^"\\]|\\.)*")|\/\/[^\n\r]*|\/\*[\s\S]*?\*\/|(-?\d[\d.eE+-]*)/g
  const tag = (number: string) => (keepsDigits ? `"#${number}"` : number)
  const bare = text.replace(token, (_, string, number) => string ?? (number ? tag(number) : ' '))
  const strict = bare.replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_, string) => string ?? ' ')
  return strict.trim() === '' ? {} : JSON.parse(strict)
}

export function decodeJson5(bytes: Bytes): Plain {
  const text = textOf(bytes)
  const bare = text.replace(/\/\/[^\n\r]*|\/\*[\s\S]*?\*\//g, ' ')
  return bare.trim() === '' ? {} : JSON5.parse(text)
}

export function withChanges(root: Plain, changes: readonly SettingChange[]): Plain {
  for (const { path: keys, value } of changes) {
    const path = keys.map(String)
    let table = root
    for (const key of path.slice(0, -1)) {
      if (value !== undefined) table[key] ??= {}
      table = (table[key] ?? {}) as Plain
    }
    const last = path.at(-1) ?? ''
    if (value === undefined) delete table[last]
    else table[last] = value
  }
  return root
}

/** Removes empty tables, because a table may disappear with its last key. Turns plain numbers into strings. */
export function withoutEmptyTables(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'bigint') return `#${value}`
  if (value instanceof Date || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutEmptyTables)
  const entries = Object.entries(value)
    .map(([key, child]) => [key, withoutEmptyTables(child)] as const)
    .filter(
      ([, child]) =>
        !(
          typeof child === 'object' &&
          child !== null &&
          !Array.isArray(child) &&
          !(child instanceof Date) &&
          Object.keys(child).length === 0
        ),
    )
  return Object.fromEntries(entries)
}

export function decodeToml(bytes: Bytes): Plain {
  return parseTomlIndependently(textOf(bytes), {
    integersAsBigInt: true,
  }) as Plain
}
