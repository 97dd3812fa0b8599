import type { ListElement, SettingPath } from '../../edits/types.ts'
import { uniquePaths } from '../../edits/values/paths.ts'
import { isSameButVersion } from '../../gateway/base-urls.ts'
import { protocols } from '../../gateway/types.ts'
import type { GatewaySettings } from '../contract/config.ts'
import type { LoadedFiles } from '../contract/files.ts'
import { fileOf } from '../files/parse-file.ts'
import { knownElement, type Table } from '../files/tables.ts'
import {
  elementOf,
  entriesIn,
  inUse,
  keyVariable,
  listPath,
  paths,
  readSettings,
  textWithoutVariables,
  usualVariables,
} from './settings.ts'

/**
 * Every model at the address in use, the variable of its key, and the settings that choose the model and that
 * kind of login.
 */
export function gatewaySettings(files: LoadedFiles): GatewaySettings {
  const settings = readSettings(fileOf(files, 'settings'))
  const { root } = settings
  const used = inUse(root)
  if (used?.url === undefined) return {}

  const { url, key, entry, variable, protocol } = used
  // The addresses of one gateway differ only in a `/v1`, whatever the protocol.
  const isAtGateway = (listed: Table) =>
    entry !== undefined && isSameButVersion(textWithoutVariables(listed, ['baseUrl']) ?? '', url)
  const lists = protocols.map((listProtocol) => {
    const entries = entriesIn(root, listProtocol)
    return {
      protocol: listProtocol,
      atGateway: entries.filter(isAtGateway),
      others: entries.filter((listed) => !isAtGateway(listed)),
    }
  })
  const isShared = lists.some(({ others }) => others.some(({ envKey }) => envKey === variable))
  const usual = usualVariables[protocol]
  const textPaths: readonly SettingPath[] = [
    ...(isShared ? [] : [['env', variable]]),
    // Qwen Code reads them only if no entry names another variable for its key.
    ...(variable === usual.key ? [usual.url, usual.model] : []).map((name) => ['env', name]),
    paths.type,
    // Qwen Code does not read these if the entry has its own.
    ...(textWithoutVariables(root, ['security', 'auth', 'apiKey']) === key
      ? [['security', 'auth', 'apiKey']]
      : []),
    ...(textWithoutVariables(entry, ['baseUrl']) ? [] : [['security', 'auth', 'baseUrl']]),
    paths.model,
    paths.modelUrl,
  ]
  return {
    settings: [
      ...lists.flatMap(({ protocol, atGateway, others }) =>
        atGateway.map((listed) => [...listPath(protocol), elementFor(listed, others)]),
      ),
      ...uniquePaths(textPaths).filter((path) => settings.get(path) !== undefined),
    ],
  }
}

/** Identifies one of our entries by the same members as a setup does. */
function elementFor(entry: Table, others: readonly Table[]): ListElement {
  const isOurs = entry['envKey'] === keyVariable
  return isOurs
    ? elementOf(String(entry['id']))
    : knownElement(entry, ['id', 'envKey', 'baseUrl'], others)
}
