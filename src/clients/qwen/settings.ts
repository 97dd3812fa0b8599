import type { ConfigValue, ListElement, SettingPath } from '../../edits/types.ts'
import { type ModelAndProtocol, type Protocol, protocols } from '../../gateway/types.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import {
  brokenText,
  fileOf,
  filesOfKind,
  mergedFiles,
  type ParsedFile,
  parseFile,
} from '../files/parse-file.ts'
import { readStrictly, type StrictFile } from '../files/strict-json.ts'
import { isTable, type Table, valueIn } from '../files/tables.ts'

/**
 * How Qwen Code reads its settings: both versions that were run do it the same way. An *entry* is an element of a
 * list in `modelProviders`. It is ours if its `envKey` is `keyVariable`.
 */

/**
 * The variable with our key: the entry of our model names it, and `env` of the settings sets its value. If an
 * entry names a variable, `OPENAI_API_KEY`, `OPENAI_BASE_URL` and `OPENAI_MODEL` change nothing, in the
 * environment or in a .env file.
 */
export const keyVariable = 'QWEN_GATEWAY_API_KEY'

/**
 * The version of the layout that both versions of Qwen Code write. When they start, they rewrite a file that
 * has no version or another one. Comments and other keys stay, but afterwards other users can read the file,
 * and a symlink becomes a file. 0.15.10 leaves the old contents next to it, as settings.json.orig.
 */
export const layoutVersion = 4

/**
 * Keys at the root of the current layout that older ones did not have, or had with the same meaning. A file
 * with other keys may have an older layout, which the client migrates if the file has no version.
 */
const currentKeys: readonly string[] = [
  '$schema',
  'env',
  'mcpServers',
  'modelProviders',
  'hooks',
  'permissions',
  'ui',
  'tools',
  'mcp',
  'context',
  'security',
  'ide',
  'privacy',
  'advanced',
]

/** Whether a file has no version, and otherwise certainly the current layout. */
export function lacksOnlyVersion({ root }: ParsedFile): boolean {
  const isKnown = (name: string) =>
    currentKeys.includes(name) ||
    (name === 'model' && isTable(root[name])) ||
    (name === 'general' && valueIn(root, ['general', 'gitCoAuthor']) === undefined)
  return !('$version' in root) && Object.keys(root).every(isKnown)
}

/**
 * The kind of login that uses each protocol, which is also the name of its list of models. Run with 0.24.4,
 * 2026-11-26: `/model` offers the models of all lists, and switches the kind of login with the model.
 */
export const loginTypes: Readonly<Record<Protocol, string>> = {
  chat: 'openai',
  responses: 'openai-responses',
  messages: 'anthropic',
}

/** The protocol of the login in use. Undefined: another kind of login. */
export function loginProtocol(settings: ConfigValue | undefined): Protocol | undefined {
  const type = textWithoutVariables(settings, paths.type)
  return protocols.find((protocol) => loginTypes[protocol] === type)
}

export const paths = {
  type: ['security', 'auth', 'selectedType'],
  onlyType: ['security', 'auth', 'enforcedType'],
  key: ['env', keyVariable],
  model: ['model', 'name'],
  /** Distinguishes entries with the same ID; 0.15.10 does not know it. */
  modelUrl: ['model', 'baseUrl'],
  /** In an entry. */
  window: ['generationConfig', 'contextWindowSize'],
  /** In an entry: false turns the model's thinking off. */
  reasoning: ['generationConfig', 'reasoning'],
  /** In an entry: parameters that it sends unchanged, such as a limit or a temperature. */
  sampling: ['generationConfig', 'samplingParams'],
  /** In an entry: members that it adds to the body of each request. */
  body: ['generationConfig', 'extra_body'],
  /** In an entry; headers next to the model are not sent for an entry. `authorization` replaces the key. */
  headers: ['generationConfig', 'customHeaders'],
} as const satisfies Record<string, SettingPath>

/** The list of the models that Qwen Code requests over a protocol. */
export function listPath(protocol: Protocol): SettingPath {
  return ['modelProviders', loginTypes[protocol]]
}

/** The path of our entry for a model. */
export function entryPath(protocol: Protocol, id: string): SettingPath {
  return [...listPath(protocol), elementOf(id)]
}

/** The path of a new entry for a model, at the start of the list. */
export function newFirstPath(protocol: Protocol, id: string): SettingPath {
  return [...listPath(protocol), { ...elementOf(id), isFirst: true }]
}

/** The path of the first of our entries in a list, whatever its model is: a path finds the first match. */
export function ourFirstPath(protocol: Protocol): SettingPath {
  return [...listPath(protocol), { element: { envKey: keyVariable } }]
}

/** Identifies our entry for a model in its list. */
export function elementOf(id: string): ListElement {
  return { element: { envKey: keyVariable, id } }
}

/** The administrator's defaults, then the user's settings. A project's settings override both. */
export function filesBelowProject(files: LoadedFiles): readonly ParsedFile[] {
  return [...filesOfKind(files, 'lower'), fileOf(files, 'settings')].map(parseFile)
}

/**
 * A settings file, which may have comments but no trailing commas. Otherwise 0.24.4 does not start. 0.15.10
 * renames the file to settings.json.corrupted.NUMBER, also because of a byte order mark, and continues
 * without it.
 */
export function readSettings(file: LoadedFile): StrictFile {
  return readStrictly(file, { allowsBom: true, allowsComments: true })
}

export function mergedSettings(files: LoadedFiles): {
  readonly value: Table
  readonly problem: string | undefined
} {
  const { path, whyIgnored } = readSettings(fileOf(files, 'settings'))
  if (whyIgnored !== undefined) return { value: {}, problem: brokenText(path, whyIgnored) }
  return { value: mergedFiles(filesBelowProject(files)), problem: undefined }
}

/** Undefined if the value is no text, is empty or contains a variable (`$NAME`, `${NAME}`). */
export function textWithoutVariables(
  settings: ConfigValue | undefined,
  path: SettingPath,
): string | undefined {
  const value = valueIn(settings, path)
  return typeof value === 'string' && value !== '' && !hasVariable(value) ? value : undefined
}

/** Both versions replace variables in every text of their settings. */
export const variablePattern = /\$(?:\w|\{\w)/

export function hasVariable(value: ConfigValue | undefined): boolean {
  return typeof value === 'string' && variablePattern.test(value)
}

/** The models that Qwen Code requests over a protocol, in order. */
export function entriesIn(settings: ConfigValue | undefined, protocol: Protocol): readonly Table[] {
  const list = valueIn(settings, listPath(protocol))
  return Array.isArray(list) ? (list as readonly ConfigValue[]).filter(isTable) : []
}

/** One of our entries that the file has now. */
export interface OurEntry {
  readonly id: string
  /** The protocol of its list. */
  readonly protocol: Protocol
  readonly table: Table
}

/** Our entries in the lists of all protocols. */
export function ourEntries(settings: ConfigValue | undefined): readonly OurEntry[] {
  return protocols.flatMap((protocol) =>
    entriesIn(settings, protocol)
      .filter(({ envKey }) => envKey === keyVariable)
      .map((table) => ({ id: String(table['id']), protocol, table })),
  )
}

/**
 * The entry that Qwen Code uses: the first with the model's ID, unless another one with that ID has the
 * address next to the model. For a model without an entry it is the first of the list, with its own ID.
 */
function entryInUse(settings: ConfigValue, protocol: Protocol): Table | undefined {
  const entries = entriesIn(settings, protocol)
  const url = textWithoutVariables(settings, paths.modelUrl)
  const sameId = entries.filter(({ id }) => id === textWithoutVariables(settings, paths.model))
  return (
    sameId.find(({ baseUrl }) => url !== undefined && baseUrl === url) ?? sameId[0] ?? entries[0]
  )
}

/**
 * Whether another entry for that model precedes ours: the one for this model, or else the first of ours, which
 * gets this model. If there is none, a setup writes a new one at the start of the list.
 */
export function isBehindAnother(
  { root }: ParsedFile,
  { model, protocol }: ModelAndProtocol,
): boolean {
  const entries = entriesIn(root, protocol)
  const isOurs = ({ envKey }: Table) => envKey === keyVariable
  const isOfModel = ({ id }: Table) => id === model
  const our = entries.find((entry) => isOurs(entry) && isOfModel(entry)) ?? entries.find(isOurs)
  if (our === undefined) return false

  const first = entries.findIndex(isOfModel)
  return first !== -1 && first < entries.indexOf(our)
}

/** The model in use, its address and its key, as far as the files tell. */
export interface InUse {
  readonly protocol: Protocol
  readonly url: string | undefined
  readonly model: string | undefined
  readonly key: string | undefined
  /** The variable that holds the key. */
  readonly variable: string
  readonly entry: Table | undefined
}

/**
 * If the entry does not set a value, `env` does under the usual names, and last the settings next to the
 * type. Undefined: Qwen Code uses another kind of login.
 */
export function inUse(settings: ConfigValue): InUse | undefined {
  const protocol = loginProtocol(settings)
  if (protocol === undefined) return undefined

  const usual = usualVariables[protocol]
  const entry = entryInUse(settings, protocol)
  const auth = valueIn(settings, ['security', 'auth'])
  const variable = textWithoutVariables(entry, ['envKey']) ?? usual.key
  const variables = [...new Set([variable, usual.key])]
  const key = variables.map((name) => textWithoutVariables(settings, ['env', name])).find(Boolean)

  return {
    protocol,
    url: [
      textWithoutVariables(entry, ['baseUrl']),
      textWithoutVariables(settings, ['env', usual.url]),
      textWithoutVariables(auth, ['baseUrl']),
    ].find(Boolean),
    model:
      entry === undefined
        ? textWithoutVariables(settings, paths.model)
        : textWithoutVariables(entry, ['id']),
    key: key ?? textWithoutVariables(auth, ['apiKey']),
    variable,
    entry,
  }
}

const openAiVariables = { key: 'OPENAI_API_KEY', url: 'OPENAI_BASE_URL', model: 'OPENAI_MODEL' }

/** The variables that Qwen Code reads if no entry names one for its key. */
export const usualVariables = {
  chat: openAiVariables,
  responses: openAiVariables,
  messages: {
    key: 'ANTHROPIC_API_KEY',
    url: 'ANTHROPIC_BASE_URL',
    model: 'ANTHROPIC_MODEL',
  },
} as const satisfies Record<Protocol, Readonly<Record<'key' | 'url' | 'model', string>>>
