import { formatOf } from '../edits/format.ts'
import type { FileEdit, SettingChange, SettingPath } from '../edits/plan.ts'
import { samePath, startsWith } from '../edits/values.ts'
import type { FileFix, Finding } from '../finding.ts'
import type { ClientName, ConfigRules, LoadedFile, LoadedFiles, SetupTarget } from './client.ts'
import { fileOf } from './loaded-files.ts'
import { roleOf } from './overrides.ts'
import { expectRead, repairToStrictJson, type StrictFile } from './strict-json.ts'

/** Whose edits they are, and what decides where its key goes. */
type Editing = Pick<ClientName, 'id'> & { readonly config: Pick<ConfigRules, 'sensitiveSettings'> }

/**
 * The edit of one file: our own keys, and the repairs that concern it. Where both name a key, or one
 * lies inside the other, our own wins. What the client's table says of them decides which are bound.
 *
 * @throws UserError `config-invalid`, `config-conflict`
 */
export function editKeys(
  { id, config }: Editing,
  file: LoadedFile,
  own: readonly SettingChange[],
  repairs: readonly FileFix[] = [],
): FileEdit {
  const ofFile = repairs.filter((repair) => repair.fileKind === file.kind)
  const others = ofFile
    .flatMap((repair) => repair.changes)
    .filter(({ path }) => !own.some((change) => overlap(change.path, path)))
    .filter(({ path }, index, all) => all.findIndex((one) => samePath(one.path, path)) === index)
  const changes = [...others, ...own].map((change): SettingChange => {
    const role = roleOf(config.sensitiveSettings, file.kind, change.path)
    if (role === undefined) return change
    return role === 'model' ? { ...change, role } : { ...change, role, isBound: true }
  })

  const strict = ofFile.find((repair) => repair.toStrictJson)?.toStrictJson
  const bearsComments = strict === 'but-comments'
  const start =
    strict !== undefined && file.bytes !== null
      ? repairToStrictJson(file.bytes, file.path, {
          keepsComments: bearsComments,
          removesBom: bearsComments,
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
    holdsSecret: file.holdsSecret || changes.some((one) => one.isSecret && one.value !== undefined),
  }
}

/**
 * The same of a file that the client must be able to read afterwards.
 *
 * @param read as the client does
 * @throws UserError `config-invalid`, `config-conflict`
 */
export function editReadably(
  client: Editing & Pick<ClientName, 'label'>,
  file: LoadedFile,
  own: readonly SettingChange[],
  { fixes }: Pick<SetupTarget, 'fixes'>,
  read: (file: LoadedFile) => StrictFile,
): FileEdit {
  const edit = editKeys(client, file, own, fixes)
  expectRead(client.label, read({ ...file, bytes: edit.after }))
  return edit
}

/**
 * The edits that carry out repairs alone, without a setup.
 *
 * @throws UserError `config-invalid`, `config-conflict`
 */
export function planFixes(
  client: Editing,
  files: LoadedFiles,
  repairs: readonly FileFix[],
): readonly FileEdit[] {
  const roles = [...new Set(repairs.map((repair) => repair.fileKind))]
  return roles.map((role) => editKeys(client, fileOf(files, role), [], repairs))
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
    consent: `${what} is removed from ${path}.`,
  }
}

/** Whether one path is the other or leads to it. */
function overlap(a: SettingPath, b: SettingPath): boolean {
  return startsWith(a, b) || startsWith(b, a)
}
