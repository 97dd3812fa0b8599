import { isSameButVersion } from '../../gateway/base-urls.ts'
import type { GatewaySettings } from '../contract/config.ts'
import type { LoadedFiles } from '../contract/files.ts'
import { fileOf } from '../files/parse-file.ts'
import { knownElement, type Table, textIn } from '../files/tables.ts'
import { defaultModelPath, modelCalled, readSettings } from './settings.ts'

/** All models at the address in use, because each entry also holds the key. */
export function gatewaySettings(files: LoadedFiles): GatewaySettings {
  const settings = readSettings(fileOf(files, 'settings'))
  const url = textIn(modelCalled(settings, settings.defaultModel)?.entry, ['baseUrl'])
  if (url === undefined) return {}

  const isAtGateway = (entry: Table) => {
    const entryUrl = textIn(entry, ['baseUrl'])
    return entryUrl !== undefined && isSameButVersion(entryUrl, url)
  }
  const entries = settings.models.map(({ entry }) => entry)
  const others = entries.filter((entry) => !isAtGateway(entry))
  const chosen = [defaultModelPath, ['model']].filter((path) => settings.get(path) !== undefined)
  return {
    settings: [
      ...chosen,
      ...entries
        .filter(isAtGateway)
        .map((entry) => ['customModels', knownElement(entry, entryNames, others)]),
    ],
  }
}

/** The members that identify an entry. */
const entryNames = ['id', 'model', 'displayName', 'baseUrl']
