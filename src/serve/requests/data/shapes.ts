import type { Protocol } from '../../../protocols.ts'
import shapes from './shapes.json' with { type: 'json' }

/**
 * What a value may be, as scripts/schemas.js writes it from the types of the official SDKs: a kind, one
 * of some texts, the place of a shape that several share, or a list, a map, an object, a union.
 */
export type Shape = number | Form
export type Form =
  | 'string'
  | 'number'
  | 'boolean'
  | 'any'
  | readonly string[]
  | { readonly list: Shape }
  | { readonly map: Shape }
  | ObjectForm
  | { readonly any: readonly Shape[] }
export interface ObjectForm {
  readonly of: Readonly<Record<string, Shape>>
  /** Members that have to be there. */
  readonly needs: readonly string[]
}

const shared = shapes.shared as unknown as readonly Form[]

/** What the body of each protocol may be. */
export const bodies = shapes as unknown as Readonly<Record<Protocol, Shape>>

/** The form that a shape is, itself or by its place among those that several share. */
export function resolveShape(shape: Shape): Form {
  return typeof shape === 'number' ? shared[shape]! : shape
}
