import type { FileEdit } from '../../edits/types.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { asPlanned, fileOf } from '../files/parse-file.ts'
import { expectRead } from '../files/strict-json.ts'
import { openclawName } from '../names.ts'
import { providerChanges } from '../pi-family/providers.ts'
import { editFile } from '../plan/edit-file.ts'
import { defaultModelPath, providerFormat, readConfig } from './config.ts'
import { sensitiveSettings } from './sensitive-settings.ts'

/**
 * A setup writes openclaw.json, here for a model over chat:
 *
 *     {
 *       "models": {
 *         "providers": {
 *           "gateway": {
 *             "baseUrl": "https://…/v1",
 *             "api": "openai-completions",
 *             "apiKey": "sk-…",
 *             "auth": "api-key",
 *             "models": [ { "id": "glm-5", "name": "GLM 5", "contextWindow": 200000 } ]
 *           }
 *         }
 *       },
 *       "agents": { "defaults": { "model": { "primary": "gateway/glm-5" } } }
 *     }
 */
export function plan(files: LoadedFiles, target: SetupTarget): readonly FileEdit[] {
  const { providerId, resolved, fixes } = target
  const file = fileOf(files, 'config')
  const { root } = readConfig(files)
  const changes = [
    ...providerChanges(providerFormat, { ...file, root }, target),
    { path: defaultModelPath(root), value: `${providerId}/${resolved.model}` },
  ]

  const edit = editFile({ client: openclawName, sensitiveSettings, file, changes, fixes })
  expectRead(openclawName.label, readConfig(asPlanned(files, [edit])))
  return [edit]
}
