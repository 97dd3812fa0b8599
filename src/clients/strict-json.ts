import type { Bytes } from '../edits/plan.ts'
import { repairToStrictJson, strictJsonProblem } from '../edits/strict-json.ts'
import { UserError } from '../errors.ts'

/** What a reader that knows only plain JSON makes of a file. */
export type StrictJson =
  | { readonly kind: 'object'; readonly root: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'refused'
      /** In words, with line and column. */
      readonly why: string
      /** Without comments and trailing commas it would be read. */
      readonly isRepairable: boolean
    }

/**
 * Reads a file as strictly as serde_json and JSON.parse do: UTF-8 only, no comments, no trailing
 * commas, an object at the root.
 */
export function readStrictJson(bytes: Bytes, options: { readonly allowsBom: boolean }): StrictJson {
  const why = strictJsonProblem(bytes, options)
  if (why !== undefined) {
    return { kind: 'refused', why, isRepairable: isRepairable(bytes, options) }
  }
  const text = new TextDecoder().decode(bytes)
  return { kind: 'object', root: JSON.parse(text) as Readonly<Record<string, unknown>> }
}

function isRepairable(bytes: Bytes, options: { readonly allowsBom: boolean }): boolean {
  try {
    return strictJsonProblem(repairToStrictJson(bytes, 'it'), options) === undefined
  } catch (error) {
    if (error instanceof UserError) return false
    throw error
  }
}
