import type { ConfigValue, KeyPath } from '../../edits/plan.ts'
import { strictJsonProblem } from '../../edits/strict-json.ts'
import type { FileText, FileTexts } from '../client.ts'
import { brokenText, fileOf, isTable, layersOf, type ReadFile, readFile } from '../texts.ts'

/** How Qwen Code 0.15.10 and 0.24.4 read their settings, which they do alike: run on 2026-11-22. */

type Table = { readonly [key: string]: ConfigValue }

/**
 * The variable with our key: the entry of our model names it, and `env` of the settings gives it its
 * value. With an entry that names one, `OPENAI_API_KEY`, `OPENAI_BASE_URL` and `OPENAI_MODEL` change
 * nothing, in the environment or in a .env file.
 */
export const keyVariable = 'QWEN_GATEWAY_API_KEY'

/** The version of the layout that both write: files of other versions they rewrite at their start. */
export const layoutVersion = 4

export const paths = {
  type: ['security', 'auth', 'selectedType'],
  onlyType: ['security', 'auth', 'enforcedType'],
  key: ['env', keyVariable],
  entries: ['modelProviders', 'openai'],
  model: ['model', 'name'],
  /** Tells entries of the same id apart; 0.15.10 does not know it. */
  modelUrl: ['model', 'baseUrl'],
} as const satisfies Record<string, KeyPath>

/** The entry of our model. */
export const ownEntry: KeyPath = [...paths.entries, { element: { envKey: keyVariable } }]

/** The user's own settings, the weaker file before the stronger. */
export function ownFiles(texts: FileTexts): readonly ReadFile[] {
  return [...layersOf(texts, 'lower'), fileOf(texts, 'settings')].map(readFile)
}

/**
 * Why Qwen Code cannot read a file, which may hold comments but no trailing commas. 0.24.4 does not
 * start then; 0.15.10 sets the file aside as settings.json.corrupted.NUMBER, with a byte order mark
 * too, and goes on without.
 */
export function problemOf(file: FileText): string | undefined {
  if (file.bytes === null) return undefined
  return strictJsonProblem(file.bytes, { allowsBom: true, allowsComments: true })
}

/** Tables are merged key by key, all else is replaced. */
export function mergedSettings(texts: FileTexts): {
  readonly value: Table
  readonly problem: string | undefined
} {
  const target = fileOf(texts, 'settings')
  const problem = problemOf(target)
  if (problem !== undefined) return { value: {}, problem: brokenText(target.path, problem) }
  return {
    value: ownFiles(texts).reduce<Table>((all, { document }) => merge(all, document?.root), {}),
    problem: undefined,
  }
}

function merge(below: Table, above: Table = {}): Table {
  const merged = new Map(Object.entries(below))
  for (const [key, value] of Object.entries(above)) {
    const old = merged.get(key)
    merged.set(key, isTable(old) && isTable(value) ? merge(old, value) : value)
  }
  return Object.fromEntries(merged)
}

export function valueIn(settings: ConfigValue | undefined, path: KeyPath): ConfigValue | undefined {
  return path.reduce<ConfigValue | undefined>(
    (value, key) => (isTable(value) && typeof key === 'string' ? value[key] : undefined),
    settings,
  )
}

export function textIn(settings: ConfigValue | undefined, path: KeyPath): string | undefined {
  const value = valueIn(settings, path)
  return typeof value === 'string' && value !== '' ? value : undefined
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
export function entryInUse(settings: ConfigValue | undefined): Table | undefined {
  const entries = entriesIn(settings)
  const url = textIn(settings, paths.modelUrl)
  const sameId = entries.filter(({ id }) => id === textIn(settings, paths.model))
  return sameId.find(({ baseUrl }) => url !== undefined && baseUrl === url) ?? sameId[0] ?? entries[0]
}

/** What is asked, and with which key, as far as files tell. */
export interface InUse {
  readonly url: string | undefined
  readonly urlPath: KeyPath
  readonly model: string | undefined
  readonly key: string | undefined
  /** The variable that the key comes from. */
  readonly variable: string
  readonly entry: Table | undefined
}

/** Without an entry `env` comes before what stands beside the type. */
export function inUse(settings: ConfigValue): InUse {
  const entry = entryInUse(settings)
  const auth = valueIn(settings, ['security', 'auth'])
  const variable = textIn(entry, ['envKey']) ?? 'OPENAI_API_KEY'
  const fromEnv = textIn(settings, ['env', variable])
  const urlVariable = ['env', 'OPENAI_BASE_URL']
  return {
    url:
      entry === undefined
        ? (textIn(settings, urlVariable) ?? textIn(auth, ['baseUrl']))
        : textIn(entry, ['baseUrl']),
    urlPath: entry === undefined ? ['security', 'auth', 'baseUrl'] : paths.entries,
    model: entry === undefined ? textIn(settings, paths.model) : textIn(entry, ['id']),
    key: fromEnv ?? (entry?.['envKey'] === undefined ? textIn(auth, ['apiKey']) : undefined),
    variable,
    entry,
  }
}
