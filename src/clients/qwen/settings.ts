import type { ConfigValue, ListElement, SettingPath } from '../../edits/plan.ts'
import type { LoadedFile, LoadedFiles } from '../client.ts'
import {
  brokenText,
  fileOf,
  isTable,
  layersOf,
  mergedFiles,
  type ReadFile,
  readFile,
  type Table,
  valueIn,
} from '../loaded-files.ts'
import { readStrictly, type StrictFile } from '../strict-json.ts'

/** How Qwen Code 0.15.10 and 0.24.4 read their settings, which they do alike: run on 2026-11-22. */

/**
 * The variable with our key: the entry of our model names it, and `env` of the settings gives it its
 * value. With an entry that names one, `OPENAI_API_KEY`, `OPENAI_BASE_URL` and `OPENAI_MODEL` change
 * nothing, in the environment or in a .env file.
 */
export const keyVariable = 'QWEN_GATEWAY_API_KEY'

/**
 * The version of the layout that both write. A file without it, or with another, they rewrite at their
 * start: comments and other keys stay, but others can read the file then, and a symlink becomes a file.
 * 0.15.10 leaves the old contents beside it, as settings.json.orig.
 */
export const layoutVersion = 4

/**
 * Keys at the root of the layout of today that were none, or the same, in older ones. A file with
 * others may be of an older layout, which the client translates where it finds no version.
 */
const currentKeys: readonly string[] = [
  ...['$schema', 'env', 'mcpServers', 'modelProviders', 'hooks', 'permissions'],
  ...['ui', 'tools', 'mcp', 'context', 'security', 'ide', 'privacy', 'advanced'],
]

/** Whether a file without a version is of the layout of today beyond doubt. */
export function isCurrentLayout({ document }: ReadFile): boolean {
  const root = document?.root ?? {}
  const isKnown = (name: string) =>
    currentKeys.includes(name) ||
    (name === 'model' && isTable(root[name])) ||
    (name === 'general' && valueIn(root, ['general', 'gitCoAuthor']) === undefined)
  return !('$version' in root) && Object.keys(root).every(isKnown)
}

export const paths = {
  type: ['security', 'auth', 'selectedType'],
  onlyType: ['security', 'auth', 'enforcedType'],
  key: ['env', keyVariable],
  entries: ['modelProviders', 'openai'],
  model: ['model', 'name'],
  /** Tells entries of the same id apart; 0.15.10 does not know it. */
  modelUrl: ['model', 'baseUrl'],
  /** In an entry. */
  window: ['generationConfig', 'contextWindowSize'],
  /** In an entry; those beside the model are not sent with one. `authorization` takes the place of the key. */
  headers: ['generationConfig', 'customHeaders'],
} as const satisfies Record<string, SettingPath>

/** The entry of our model. Of entries with the same id the first is asked. */
export const ownEntry: SettingPath = [
  ...paths.entries,
  { element: { envKey: keyVariable }, isFirst: true },
]

/** An entry of ours in the list. */
export function elementOf(id: string): ListElement {
  return { element: { envKey: keyVariable, id } }
}

/** The user's own settings, the weaker file before the stronger. */
export function ownFiles(files: LoadedFiles): readonly ReadFile[] {
  return [...layersOf(files, 'lower'), fileOf(files, 'settings')].map(readFile)
}

/**
 * A settings file, which may hold comments but no trailing commas. Otherwise 0.24.4 does not start;
 * 0.15.10 sets the file aside as settings.json.corrupted.NUMBER, with a byte order mark too, and goes
 * on without.
 */
export function readSettings(file: LoadedFile): StrictFile {
  return readStrictly(file, { allowsBom: true, allowsComments: true })
}

export function mergedSettings(files: LoadedFiles): {
  readonly value: Table
  readonly problem: string | undefined
} {
  const { path, ignored } = readSettings(fileOf(files, 'settings'))
  if (ignored !== undefined) return { value: {}, problem: brokenText(path, ignored) }
  return { value: mergedFiles(ownFiles(files)), problem: undefined }
}

/** A text; none where it is empty, or takes what a variable says (`$NAME`, `${NAME}`) in. */
export function literalIn(
  settings: ConfigValue | undefined,
  path: SettingPath,
): string | undefined {
  const value = valueIn(settings, path)
  return typeof value === 'string' && value !== '' && !isOpen(value) ? value : undefined
}

/** Both put the values of variables into every text of their settings. */
export const openText = /\$(?:\w|\{\w)/

export function isOpen(value: ConfigValue | undefined): boolean {
  return typeof value === 'string' && openText.test(value)
}

/** The models of its protocol in their order. */
export function entriesIn(settings: ConfigValue | undefined): readonly Table[] {
  const list = valueIn(settings, paths.entries)
  return Array.isArray(list) ? (list as readonly ConfigValue[]).filter(isTable) : []
}

/**
 * The entry that is asked: the first of the model's id, unless another of that id has the address
 * that stands beside the model; of a model without an entry the first of all, under its own id.
 */
function entryInUse(settings: ConfigValue | undefined): Table | undefined {
  const entries = entriesIn(settings)
  const url = literalIn(settings, paths.modelUrl)
  const sameId = entries.filter(({ id }) => id === literalIn(settings, paths.model))
  return (
    sameId.find(({ baseUrl }) => url !== undefined && baseUrl === url) ?? sameId[0] ?? entries[0]
  )
}

/** Whether our entry stands behind another for that model. One that is not there yet will not. */
export function isBehindAnother({ document }: ReadFile, model: string): boolean {
  const entries = entriesIn(document?.root)
  const isOurs = ({ envKey }: Table) => envKey === keyVariable
  const exact = entries.findIndex((entry) => isOurs(entry) && entry['id'] === model)
  const own = exact === -1 ? entries.findIndex(isOurs) : exact
  const first = entries.findIndex(({ id }) => id === model)
  return first !== -1 && first < own
}

/** What is asked, and with which key, as far as files tell. */
export interface InUse {
  readonly url: string | undefined
  readonly model: string | undefined
  readonly key: string | undefined
  /** The variable that the key comes from. */
  readonly variable: string
  readonly entry: Table | undefined
}

/** What an entry does not say, `env` says under the usual names, and last what stands beside the type. */
export function inUse(settings: ConfigValue): InUse {
  const entry = entryInUse(settings)
  const auth = valueIn(settings, ['security', 'auth'])
  const variable = literalIn(entry, ['envKey']) ?? usualVariable
  const variables = [...new Set([variable, usualVariable])]
  const found = variables.map((name) => literalIn(settings, ['env', name])).find(Boolean)

  return {
    url: [
      literalIn(entry, ['baseUrl']),
      literalIn(settings, ['env', 'OPENAI_BASE_URL']),
      literalIn(auth, ['baseUrl']),
    ].find(Boolean),
    model: entry === undefined ? literalIn(settings, paths.model) : literalIn(entry, ['id']),
    key: found ?? literalIn(auth, ['apiKey']),
    variable,
    entry,
  }
}

/** Of the key, where an entry names none. */
export const usualVariable = 'OPENAI_API_KEY'
