import type { SettingPath } from '../../edits/plan.ts'
import type { Protocol } from '../../gateway/types.ts'
import type { LoadedFile } from '../client.ts'
import { isTable, type Table, textIn, wordsIn } from '../loaded-files.ts'
import { readStrictly, type StrictFile } from '../strict-json.ts'

/** What stands before the id of every model of the user's own. */
const prefix = 'custom:'

/**
 * The id of our entry, which its member `id` gives it. Without one an entry is called after its name
 * and its place in the list (`custom:Gateway-0`), which changes with its neighbours. When the screen of
 * droid starts, it writes `id` and `index` into every entry and takes the comments out of the file; an
 * id that stands there stays (0.225.2, 2026-11-22).
 */
export function idOf(providerId: string): string {
  return prefix + providerId
}

export function modelPath(providerId: string): SettingPath {
  return ['customModels', { element: { id: idOf(providerId) } }]
}

export const defaultModelPath: SettingPath = ['sessionDefaultSettings', 'model']

/** How an entry names its protocol (each run with 0.215.0 and 0.225.2, 2026-11-26). */
export const apiOf: Readonly<Record<Protocol, string>> = {
  chat: 'generic-chat-completion-api',
  responses: 'openai',
  messages: 'anthropic',
}

/**
 * What `provider` may be. With any other text in one entry the whole list counts as empty, while
 * entries that are no object, or lack something, are passed over (0.215.0, 0.225.2, 2026-11-22). The
 * names are those in the program of 0.225.2; of them the first two and `openai` were run.
 */
export const knownProviders = wordsIn(
  `${apiOf.chat} anthropic bedrock-converse factory google openai voyage xai`,
)

/** A settings file as droid reads it. */
export interface DroidSettings extends StrictFile {
  readonly models: readonly CustomModel[]
  /** The newer key wins over the older one (0.215.0, 0.225.2, 2026-11-22). */
  readonly defaultModel: string | undefined
}

/** An entry of `customModels`. */
export interface CustomModel {
  /** What stands behind `custom:` in its own `id`; undefined: it has none. */
  readonly providerId: string | undefined
  readonly entry: Table
}

/**
 * Comments are borne; with a trailing comma, a byte order mark or anything worse the file counts as
 * absent (0.215.0, 0.225.2, 2026-11-22).
 */
export function readSettings(file: LoadedFile): DroidSettings {
  const isBlank = new TextDecoder().decode(file.bytes ?? undefined).trim() === ''
  const read = readStrictly(isBlank ? { ...file, bytes: null } : file, { allowsComments: true })
  const { root } = read
  const list = root['customModels']
  return {
    ...read,
    models: Array.isArray(list) ? list.filter(isTable).map(customModel) : [],
    defaultModel: textIn(root, defaultModelPath) ?? textIn(root, ['model']),
  }
}

function customModel(entry: Table): CustomModel {
  const id = textIn(entry, ['id'])
  return { providerId: id?.startsWith(prefix) ? id.slice(prefix.length) : undefined, entry }
}

/**
 * The entry that an id stands for: by its own id, else by its name and how many of that name come
 * before it, else by its place in the list, else by its model; of several the first (0.215.0, 0.225.2,
 * 2026-11-22).
 */
export function modelCalled(
  { models }: DroidSettings,
  id: string | undefined,
): CustomModel | undefined {
  if (!id?.startsWith(prefix)) return undefined

  const called = id.slice(prefix.length)
  const names = models.map(({ entry }) => nameOf(entry))
  const counted = names.map((name, index) => {
    return `${name}-${names.slice(0, index).filter((one) => one === name).length}`
  })

  return (
    models.find(({ providerId }) => providerId === called) ??
    models[counted.indexOf(called)] ??
    models[names.findIndex((name, index) => `${name}-${index}` === called)] ??
    models.find(({ entry }) => entry['model'] === called)
  )
}

function nameOf({ displayName, model }: Table): string {
  const name = displayName ?? model
  return typeof name === 'object' ? '' : String(name).trim().replace(/\s+/g, '-')
}

/** Whether a text takes a part from the environment: `${NAME}`, which is empty where it is not set. */
export function isFromVariable(text: string): boolean {
  return /\$\{[^}]+\}/.test(text)
}

/** In tokens. Without a limit droid asks for 128,000, which many models reject (0.225.2). */
export const defaultOutputTokens = 16_384
