import type { ListElement, SettingPath } from '../../edits/plan.ts'
import { uniquePaths } from '../../edits/values.ts'
import type { GatewaySettings, LoadedFiles } from '../client.ts'
import { fileOf, knownElement, readFile, type Table } from '../loaded-files.ts'
import {
  elementOf,
  entriesIn,
  inUse,
  keyVariable,
  literalIn,
  paths,
  readSettings,
  usualVariable,
} from './settings.ts'

/** Qwen Code reads them only if no entry names another variable for its key. */
const usualVariables = ['OPENAI_BASE_URL', 'OPENAI_MODEL']

/**
 * Every model at the address in use, the variable of its key, and the settings that choose the model and that
 * kind of login.
 */
export function gatewaySettings(files: LoadedFiles): GatewaySettings {
  const file = fileOf(files, 'settings')
  const settings = readFile(file)
  const { root } = readSettings(file)
  const { url, key, entry, variable } = inUse(root)
  if (literalIn(root, paths.type) !== 'openai' || url === undefined) return {}

  const isThere = (one: Table) => entry !== undefined && literalIn(one, ['baseUrl']) === url
  const entries = entriesIn(root)
  const others = entries.filter((one) => !isThere(one))
  const isShared = others.some(({ envKey }) => envKey === variable)
  const texts: readonly SettingPath[] = [
    ...(isShared ? [] : [['env', variable]]),
    ...(variable === usualVariable ? usualVariables : []).map((name) => ['env', name]),
    paths.type,
    // Qwen Code does not read these if the entry has its own.
    ...(literalIn(root, ['security', 'auth', 'apiKey']) === key
      ? [['security', 'auth', 'apiKey']]
      : []),
    ...(literalIn(entry, ['baseUrl']) ? [] : [['security', 'auth', 'baseUrl']]),
    paths.model,
    paths.modelUrl,
  ]
  return {
    settings: [
      ...entries.filter(isThere).map((one) => [...paths.entries, elementFor(one, others)]),
      ...uniquePaths(texts).filter((path) => settings.get(path) !== undefined),
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
