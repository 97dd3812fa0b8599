import { formatOf } from '../../edits/format.ts'
import type { FileEdit, SettingChange, SettingPath } from '../../edits/plan.ts'
import { samePath, startsWith } from '../../edits/values/paths.ts'
import type { FileFix, Finding } from '../../finding.ts'
import type { ClientName } from '../contract/client.ts'
import type { ConfigRules } from '../contract/config.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { fileOf } from '../files/read-file.ts'
import { roleOf } from '../files/sensitive-settings.ts'
import { expectRead, repairToStrictJson, type StrictFile } from '../files/strict-json.ts'

/** The members of a client that editing its files requires. */
type Editing = Pick<ClientName, 'id'> & { readonly config: Pick<ConfigRules, 'sensitiveSettings'> }

/**
 * The edit of one file: the setup's own changes, and the fixes for this file. If both concern the same
 * setting, or one is inside the other, the setup's change wins. The client's table gives each change its
 * role, so that undo keeps an address and its key together.
 *
 * @throws UserError `config-invalid`, `config-conflict`
 */
export function editFile(
  { id, config }: Editing,
  file: LoadedFile,
  own: readonly SettingChange[],
  fixes: readonly FileFix[] = [],
): FileEdit {
  const ofFile = fixes.filter(({ fileKind }) => fileKind === file.kind)
  const others = ofFile
    .flatMap((fix) => fix.changes)
    .filter(({ path }) => !own.some((change) => overlap(change.path, path)))
    .filter(
      ({ path }, index, all) => all.findIndex((change) => samePath(change.path, path)) === index,
    )
  const changes = [...others, ...own].map((change): SettingChange => {
    const role = roleOf(config.sensitiveSettings, file.kind, change.path)
    if (role === undefined) return change
    return role === 'model' ? { ...change, role } : { ...change, role, undoTogether: true }
  })

  const strict = ofFile.find((fix) => fix.toStrictJson)?.toStrictJson
  const keepsComments = strict === 'but-comments'
  const start =
    strict !== undefined && file.bytes !== null
      ? repairToStrictJson(file.bytes, file.path, {
          keepsComments,
          removesBom: keepsComments,
        })
      : file.bytes

  return {
    client: id,
    path: file.path,
    format: file.format,
    scope: 'keys',
    changes,
    before: file.bytes,
    after: changes.length === 0 ? start : formatOf(file.format).edit(start, changes, file.path),
    holdsSecret:
      file.holdsSecret || changes.some(({ isSecret, value }) => isSecret && value !== undefined),
  }
}

/**
 * As `editFile`, for a file that the client must be able to read afterwards.
 *
 * @param read as the client reads it
 * @throws UserError `config-invalid`, `config-conflict`
 */
export function editReadably(
  client: Editing & Pick<ClientName, 'label'>,
  file: LoadedFile,
  own: readonly SettingChange[],
  { fixes }: Pick<SetupTarget, 'fixes'>,
  read: (file: LoadedFile) => StrictFile,
): FileEdit {
  const edit = editFile(client, file, own, fixes)
  expectRead(client.label, read({ ...file, bytes: edit.after }))
  return edit
}

/**
 * The edits of fixes without a setup.
 *
 * @throws UserError `config-invalid`, `config-conflict`
 */
export function planFixes(
  client: Editing,
  files: LoadedFiles,
  fixes: readonly FileFix[],
): readonly FileEdit[] {
  const kinds = [...new Set(fixes.map(({ fileKind }) => fileKind))]
  return kinds.map((kind) => editFile(client, fileOf(files, kind), [], fixes))
}

/** The hint, fix and consent of a finding that `change` removes from a file, and that the user may miss. */
export function removal(
  { kind: fileKind, path }: Pick<LoadedFile, 'kind' | 'path'>,
  what: string,
  change: Omit<SettingChange, 'value'>,
): Pick<Finding, 'hint' | 'fix' | 'consent'> {
  return {
    hint: 'Remove it.',
    fix: { fileKind, changes: [{ ...change, value: undefined }] },
    consent: `Remove ${what} from ${path}.`,
  }
}

/** Whether the paths are equal, or one is inside the other. */
function overlap(a: SettingPath, b: SettingPath): boolean {
  return startsWith(a, b) || startsWith(b, a)
}
