import type { Protocol } from '../../../protocols.ts'
import { anthropicErrors, openaiErrors, Refusal, type VendorErrors } from '../refusal.ts'
import limits from './limits.json' with { type: 'json' }
import rules from './rules.json' with { type: 'json' }
import type { Shape } from './shapes.ts'

/**
 * What holds for a member beside its type. scripts/schemas.js writes limits.json out of the vendors'
 * documents; rules.json adds and overrides, and says of each row who says or sends so, and when.
 */
interface Row {
  readonly least?: number
  readonly most?: number
  readonly isWhole?: boolean
  /** Of a text, in characters. */
  readonly shortest?: number
  readonly longest?: number
  /** Of a list or a map. */
  readonly fewestEntries?: number
  readonly mostEntries?: number
  /** That a text must match. */
  readonly pattern?: string
  /** As the vendor lists them, where that is not what the types say. */
  readonly choices?: readonly string[]
  /** Although the types want it. */
  readonly isOptional?: boolean
  /** A member that the types lack. */
  readonly also?: Shape
  /** What this gateway does not do. */
  readonly notDone?: string
  /** Values that ask for nothing of it. */
  readonly nothing?: readonly unknown[]
  /** A list asks for it only where this is in it. */
  readonly holding?: string
}

/** The rows of one member, and of those within it by their names; `*`: of whatever name. */
export interface Rows extends Row {
  readonly inner: ReadonlyMap<string, Rows>
}

/** @param table of which `at` is where a row's members stand, without the places in lists */
function buildRows(table: readonly (Row & { readonly at: string })[]): Rows {
  const root: Rows = { inner: new Map() }
  for (const { at, ...row } of table)
    for (const path of at.split(' ')) {
      const rows = path.split('.').reduce(innerRows, root)
      Object.assign(rows, row)
    }
  return root
}

function rowsOfProtocol(protocol: Protocol): Rows {
  return buildRows([...limits[protocol], ...rules[protocol]] as [])
}

function innerRows({ inner }: Rows, name: string): Rows {
  const found = inner.get(name) ?? { inner: new Map() }
  ;(inner as Map<string, Rows>).set(name, found)
  return found
}

/** Chat has another word for a member of the body itself. */
const chatErrors: VendorErrors = {
  ...openaiErrors,
  unknown: (path) =>
    path.length > 1
      ? openaiErrors.unknown(path)
      : new Refusal(`Unrecognized request argument supplied: ${path.join('')}`),
}

/** What holds for the body of a protocol, and how its vendor says what is wrong. */
export const protocolRules: Readonly<Record<Protocol, { rows: Rows; words: VendorErrors }>> = {
  chat: { rows: rowsOfProtocol('chat'), words: chatErrors },
  responses: { rows: rowsOfProtocol('responses'), words: openaiErrors },
  messages: { rows: rowsOfProtocol('messages'), words: anthropicErrors },
}
