import type { FileEdit } from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import type { Findings } from '../../finding.ts'
import { findingAt } from '../checks/findings.ts'
import type { ClientContext } from '../contract/client.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { fileOf, type ParsedFile, parseKind, textOf } from '../files/parse-file.ts'
import { entriesIn, isForAll } from './compose-models-file.ts'

/**
 * Codex reads its models from the models file, which `model_catalog_json` names, instead of its own list. It exits
 * at its start if the file is missing, cut or in another format. Versions before 0.105.0 do not read it. Run on
 * 0.98.0 to 0.169.0, 2026-11-23.
 */
export const modelsFilePath = ['model_catalog_json']

/**
 * The edit of the models file. It is written before config.toml names it, and removed after config.toml no
 * longer does. Undefined: the file stays unchanged.
 */
export function planModelsFile(files: LoadedFiles, target: SetupTarget): FileEdit | undefined {
  const { path, bytes } = fileOf(files, 'models')
  const { modelsFile } = target.resolved
  if (target.input.requested.hasModelsFile && modelsFile === undefined)
    throw new UserError({
      code: 'client-failed',
      message: '--catalog needs Codex to print its models, and this Codex cannot',
      hint: 'Install Codex 0.122.0 or newer, or remove --catalog.',
    })

  if (modelsFile === undefined && (bytes === null || !dropsModelsFile(target))) return undefined

  return {
    client: 'codex',
    path,
    format: 'json',
    scope: 'whole',
    changes: [{ path: ['models'], value: modelsFile?.ids }],
    before: bytes,
    after: modelsFile ? new TextEncoder().encode(modelsFile.text) : null,
    holdsSecret: false,
  }
}

function dropsModelsFile({ input: { requested, resetToDefaults = false } }: SetupTarget): boolean {
  return requested.hasModelsFile === false || resetToDefaults
}

/** The changes in config.toml. A file of the user stays configured. */
export function modelsFileChanges(files: LoadedFiles, config: ParsedFile, target: SetupTarget) {
  const { path } = fileOf(files, 'models')
  if (target.resolved.modelsFile) return [{ path: modelsFilePath, value: path }]
  const isDropped = usesModelsFile(files, config) && dropsModelsFile(target)
  return isDropped ? [{ path: modelsFilePath, value: undefined }] : []
}

/** Whether Codex reads the file that a setup writes. */
export function usesModelsFile(files: LoadedFiles, config: ParsedFile): boolean {
  return config.text(modelsFilePath) === fileOf(files, 'models').path
}

/** Reports a file with which Codex, or some of its versions, does not start. */
export function* checkModelsFile(files: LoadedFiles, config: ParsedFile): Findings {
  if (!usesModelsFile(files, config)) return
  const file = fileOf(files, 'models')
  const { path, bytes } = file
  const entries = entriesIn(textOf(file))
  const misfit = entries.find((entry) => !isForAll(entry))

  let why: string
  if (bytes === null) why = 'does not exist: Codex does not start'
  else if (entries.length === 0) why = 'is not a catalog of models: Codex does not start'
  else if (misfit !== undefined)
    why = `describes ${misfit.slug} in a form with which Codex 0.105.0 to 0.146.0 do not start`
  else return

  yield findingAt(config, modelsFilePath, {
    code: 'codex-catalog',
    message: `${path} (model_catalog_json) ${why}`,
    hint: 'Write the catalog again: repoint codex --catalog',
    becomes: { value: undefined },
    topic: 'broken',
  })
}

/** Reports that a setup is about to configure its own file instead of another one. */
export function* checkOtherModelsFile(
  files: LoadedFiles,
  config: ParsedFile,
  target: SetupTarget,
): Findings {
  const named = config.get(modelsFilePath)
  if (target.resolved.modelsFile === undefined || named === undefined) return
  if (usesModelsFile(files, config)) return
  yield findingAt(config, modelsFilePath, {
    code: 'codex-other-catalog',
    message: `model_catalog_json already names ${JSON.stringify(named)}`,
    hint: 'To keep it, remove --catalog.',
    needsConsentTo: `Replace model_catalog_json = ${JSON.stringify(named)}. repoint rollback restores it.`,
    severity: 'warning',
  })
}

/** The models in the file that a setup wrote. */
export function offeredByModelsFile(files: LoadedFiles): readonly string[] {
  if (!usesModelsFile(files, parseKind(files, 'config'))) return []
  return entriesIn(textOf(fileOf(files, 'models'))).map(({ slug }) => slug)
}

/**
 * Reports a model that was chosen after the setup and that the file does not describe: Codex guesses its
 * facts, and warns.
 */
export function* checkStaleModelsFile({ files }: ClientContext, config: ParsedFile): Findings {
  const model = config.text(['model'])
  const ids = offeredByModelsFile(files)
  if (model === undefined || ids.length === 0 || ids.includes(model)) return

  yield {
    code: 'codex-catalog-stale',
    message: `Codex's catalog does not describe ${model}, which Codex uses`,
    location: fileOf(files, 'models').path,
    hint: 'Write the catalog again: repoint codex',
    severity: 'warning',
  }
}
