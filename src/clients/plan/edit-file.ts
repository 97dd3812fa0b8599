import { formatOf } from '../../edits/format.ts'
import type { FileEdit, SettingChange, SettingPath } from '../../edits/types.ts'
import { samePath, startsWith } from '../../edits/values/paths.ts'
import type { FileFix, Finding } from '../../finding.ts'
import type { Client, ClientModule, ClientName } from '../contract/client.ts'
import type { SensitiveSettings } from '../contract/config.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { fileOf } from '../files/parse-file.ts'
import { rolesIn } from '../files/sensitive-settings.ts'
import { expectRead, removeSyntax, type StrictFile } from '../files/strict-json.ts'

/** A change of one file by a setup. */
interface EditRequest {
  readonly client: ClientName
  /** They give each change its role, so that undo keeps an address and its key together. */
  readonly sensitiveSettings: SensitiveSettings
  readonly file: LoadedFile
  readonly changes: readonly SettingChange[]
  readonly fixes?: readonly FileFix[]
}

/**
 * The edit of one file: the setup's own changes, and the fixes for this file. If both concern the same
 * setting, or one is inside the other, the setup's change wins.
 *
 * @throws UserError `config-invalid`, `config-conflict`
 */
export function editFile(request: EditRequest): FileEdit {
  const { client, sensitiveSettings, file, changes: own, fixes = [] } = request
  const ofFile = fixes.filter(({ fileKind }) => fileKind === file.kind)
  const others = ofFile
    .flatMap((fix) => fix.changes)
    .filter(({ path }) => !own.some((change) => overlap(change.path, path)))
    .filter(
      ({ path }, index, all) => all.findIndex((change) => samePath(change.path, path)) === index,
    )
  const roleOf = rolesIn(sensitiveSettings, file.kind)
  const changes = [...others, ...own].map((change): SettingChange => {
    const role = roleOf(change.path)
    return role === undefined ? change : { ...change, role }
  })

  const [syntax] = ofFile.flatMap(({ removesSyntax }) => removesSyntax ?? [])
  const start =
    syntax !== undefined && file.bytes !== null
      ? removeSyntax(file.bytes, file.path, syntax)
      : file.bytes

  return {
    client: client.id,
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
 * @param request `read` reads the file as the client does
 * @throws UserError `config-invalid`, `config-conflict`
 */
export function editReadably(
  request: EditRequest & { readonly read: (file: LoadedFile) => StrictFile },
): FileEdit {
  const { client, file, read } = request
  const edit = editFile(request)
  expectRead(client.label, read({ ...file, bytes: edit.after }))
  return edit
}

/** A client with one editable file: what `planOneFile` needs to know of it. */
interface OneFile {
  readonly client: ClientName
  readonly sensitiveSettings: SensitiveSettings
  readonly kind: string
  readonly read: (file: LoadedFile) => StrictFile
  readonly changes: (
    file: LoadedFile,
    target: SetupTarget,
    files: LoadedFiles,
  ) => readonly SettingChange[]
}

/** The `plan` of a client with one editable file. */
export function planOneFile({ kind, changes, ...shared }: OneFile): ClientModule['plan'] {
  return (files, target) => {
    const file = fileOf(files, kind)
    const { fixes } = target
    return [editReadably({ ...shared, file, changes: changes(file, target, files), fixes })]
  }
}

/**
 * The edits of fixes without a setup.
 *
 * @throws UserError `config-invalid`, `config-conflict`
 */
export function planFixes(
  client: Client,
  files: LoadedFiles,
  fixes: readonly FileFix[],
): readonly FileEdit[] {
  const { sensitiveSettings } = client.config
  const kinds = [...new Set(fixes.map(({ fileKind }) => fileKind))]
  return kinds.map((kind) =>
    editFile({ client, sensitiveSettings, file: fileOf(files, kind), changes: [], fixes }),
  )
}

/** The hint and fix of a finding that `change` removes from a file, and that the user may miss. */
export function removal(
  { kind: fileKind, path }: Pick<LoadedFile, 'kind' | 'path'>,
  what: string,
  change: Omit<SettingChange, 'value'>,
): Pick<Finding, 'hint' | 'fix' | 'needsConsentTo'> {
  return {
    hint: 'Remove it.',
    fix: { fileKind, changes: [{ ...change, value: undefined }] },
    needsConsentTo: `Remove ${what} from ${path}.`,
  }
}

/** Whether the paths are equal, or one is inside the other. */
function overlap(a: SettingPath, b: SettingPath): boolean {
  return startsWith(a, b) || startsWith(b, a)
}
