import { describeEdit } from '../../edits/describe.ts'
import { actionOf, type FileEdit } from '../../edits/plan.ts'
import type { Session } from './session.ts'

/** Every key that an edit changes, a line each. */
export function changesOf(session: Session, edit: FileEdit): string[] {
  return describeEdit(edit, session)
    .slice(1)
    .map((line) => line.trim())
}

/** A file of a plan, as the documents of `--json` tell it. */
export function fileDocument(session: Session, edit: FileEdit) {
  return { path: edit.path, action: actionOf(edit), changes: changesOf(session, edit) }
}
