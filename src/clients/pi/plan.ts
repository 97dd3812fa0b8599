import type { FileEdit, SettingChange } from '../../edits/types.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { asPlanned, fileOf, filesOfKind } from '../files/parse-file.ts'
import { expectRead } from '../files/strict-json.ts'
import { piName } from '../names.ts'
import { providerChanges, providerOf, providerPath } from '../pi-family/providers.ts'
import { editFile } from '../plan/edit-file.ts'
import { providerFormat, readAuth, readModels, readSettings } from './config.ts'
import { sensitiveSettings } from './sensitive-settings.ts'

/**
 * A setup writes two files, here for a model over chat:
 *
 *     models.json      {
 *                        "providers": {
 *                          "gateway": {
 *                            "name": "Gateway",
 *                            "baseUrl": "https://…/v1",
 *                            "api": "openai-completions",
 *                            "apiKey": "sk-…",
 *                            "models": [ { "id": "glm-5", "contextWindow": 200000 } ]
 *                          }
 *                        }
 *                      }
 *     settings.json    { "defaultProvider": "gateway", "defaultModel": "glm-5" }
 *
 * It does not write auth.json, but a fix may remove an earlier login from it. All three must be readable for pi
 * afterwards.
 */
export function plan(files: LoadedFiles, target: SetupTarget): readonly FileEdit[] {
  const changesByFile: Readonly<Record<string, readonly SettingChange[]>> = {
    auth: [],
    models: modelsChanges(files, target),
    settings: [
      { path: ['defaultProvider'], value: target.providerId },
      { path: ['defaultModel'], value: target.resolved.model },
    ],
  }
  const { fixes } = target
  const edits = Object.entries(changesByFile).flatMap(([kind, changes]) =>
    filesOfKind(files, kind).map((file) =>
      editFile({ client: piName, sensitiveSettings, file, changes, fixes }),
    ),
  )

  const after = asPlanned(files, edits)
  for (const file of [readAuth(after), readModels(after), readSettings(after)])
    if (file !== undefined) expectRead(piName.label, file)
  return edits
}

function modelsChanges(files: LoadedFiles, target: SetupTarget): readonly SettingChange[] {
  const { providerId } = target
  const { root } = readModels(files)
  const path = providerPath(providerFormat, providerId)
  const isNamed = providerOf(providerFormat, { root }, providerId).table['name'] !== undefined

  return [
    ...(isNamed ? [] : [{ path: [...path, 'name'], value: 'Gateway' }]),
    ...providerChanges(providerFormat, { ...fileOf(files, 'models'), root }, target),
  ]
}
