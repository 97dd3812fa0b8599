import type { Protocol } from '../../../protocols.ts'
import { isObject } from '../json.ts'
import type { ExpectedKind } from '../rejection.ts'
import shapes from './shapes.json' with { type: 'json' }

/**
 * The shape of a value, in a short form of JSON schema. scripts/write-sdk-data.js generates the shapes from
 * the types of the official SDKs. A number is the index of a form that several shapes share.
 */
export type Shape = number | Form

export type Form =
  | 'string'
  | 'number'
  | 'boolean'
  /** Any value. */
  | 'any'
  /** A choice of strings. */
  | readonly string[]
  | { readonly list: Shape }
  /** An object with any names. */
  | { readonly map: Shape }
  | ObjectForm
  | { readonly anyOf: readonly Shape[] }

/** An object without other members. */
export interface ObjectForm {
  readonly properties: Readonly<Record<string, Shape>>
  readonly required: readonly string[]
}

const sharedForms = shapes.shared as unknown as readonly Form[]

export const bodyShapes = shapes as unknown as Readonly<Record<Protocol, Shape>>

/** Resolves the index of a shared form. Other shapes are returned unchanged. */
export function resolveShape(shape: Shape): Form {
  return typeof shape === 'number' ? sharedForms[shape]! : shape
}

export function isObjectForm(form: Form): form is ObjectForm {
  return typeof form === 'object' && 'properties' in form
}

export function isChoices(form: Form): form is readonly string[] {
  return Array.isArray(form)
}

/** The strings that a member accepts, if its shape is a choice of strings. */
export function memberChoices(
  { properties }: ObjectForm,
  name: string,
): readonly string[] | undefined {
  const form = Object.hasOwn(properties, name) ? resolveShape(properties[name]!) : 'any'
  return isChoices(form) ? form : undefined
}

/** The kind of the values of a form. A union and `any` count as objects. */
export function formKind(form: Form): Exclude<ExpectedKind, 'integer' | 'content'> {
  if (isChoices(form)) return 'string'
  if (typeof form === 'object') return 'list' in form ? 'array' : 'object'
  return form === 'any' ? 'object' : form
}

export function hasForm(value: unknown, form: Form): boolean {
  if (form === 'any') return true
  const kind = formKind(form)
  if (kind === 'array') return Array.isArray(value)
  return kind === 'object' ? isObject(value) : typeof value === kind
}
