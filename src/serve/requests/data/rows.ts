import type { Protocol } from '../../../protocols.ts'
import { anthropicRefusal, openaiRefusal, type Problem, Refusal } from '../refusal.ts'
import limits from './limits.json' with { type: 'json' }
import rules from './rules.json' with { type: 'json' }
import type { Shape } from './shapes.ts'

/**
 * The rules for a member in addition to its type. scripts/schemas.js generates limits.json from the
 * vendors' documents. rules.json adds and overrides rows, each with a source and a date.
 */
interface Row {
  readonly least?: number
  readonly most?: number
  readonly isWhole?: boolean
  /** The length of a string, in characters. */
  readonly shortest?: number
  readonly longest?: number
  /** The length of the name of an entry of a map, in characters. */
  readonly longestName?: number
  /** The pattern that the name of an entry of a map must match. */
  readonly namePattern?: string
  /** The number of entries of a list or a map. */
  readonly fewestEntries?: number
  readonly mostEntries?: number
  /** The pattern that a string must match. */
  readonly pattern?: string
  /** The vendor's list of choices, if it differs from the types. */
  readonly choices?: readonly string[]
  /** The member is optional although the types require it. */
  readonly isOptional?: boolean
  /** The shape of a member that the types lack. */
  readonly also?: Shape
  /** The feature that this gateway does not support. */
  readonly notDone?: string
  /** The values that do not request the feature. */
  readonly nothing?: readonly unknown[]
  /** A list requests the feature only if it contains this value. */
  readonly holding?: string
}

/** The rows of a member and of its inner members by name. `*` matches every name. */
export interface Rows extends Row {
  readonly inner: ReadonlyMap<string, Rows>
}

/** @param table rows whose `at` has the paths of their members, without list indexes */
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

/** Chat has another message for an unknown member of the body itself. */
function chatRefusal(problem: Problem): Refusal {
  const { type, path } = problem
  return type === 'unknown' && path.length === 1
    ? new Refusal(`Unrecognized request argument supplied: ${path[0]}`)
    : openaiRefusal(problem)
}

/** The rules for the body of each protocol, and the errors of its vendor. */
export const protocolRules = {
  chat: { rows: rowsOfProtocol('chat'), refuse: chatRefusal },
  responses: { rows: rowsOfProtocol('responses'), refuse: openaiRefusal },
  messages: { rows: rowsOfProtocol('messages'), refuse: anthropicRefusal },
}
