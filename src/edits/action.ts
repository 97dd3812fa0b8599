import type { FileEdit } from './plan.ts'
import { sameBytes } from './text.ts'

/** What becomes of a file. */
export type FileAction = 'created' | 'updated' | 'unchanged' | 'removed'

/** What an edit does to its file. */
export function actionOf({ before, after, mode }: FileEdit): FileAction {
  if (sameBytes(before, after)) return mode === undefined ? 'unchanged' : 'updated'
  if (before === null) return 'created'
  return after === null ? 'removed' : 'updated'
}
