import type { SettingPath } from '../../edits/types.ts'
import { type Protocol, protocols } from '../../gateway/types.ts'
import type { LoadedFile } from '../contract/files.ts'
import { textOf, wordsIn } from '../files/parse-file.ts'
import { readStrictly, type StrictFile } from '../files/strict-json.ts'
import { isTable, type Table, textIn } from '../files/tables.ts'

/**
 * How droid reads its settings. The *entry ID* is the member `id` of an entry in `customModels`. The *model ID* is
 * its member `model`, which droid sends to the gateway.
 */

/** The entry IDs of the user's own models begin with it. */
export const customPrefix = 'custom:'

/**
 * The entry ID of the model that droid starts with, or of another model of the provider. If an entry has no `id`,
 * droid derives its ID from its name and its position (`custom:Gateway-0`), so it changes with the other entries.
 * When its screen starts, droid writes `id` and `index` into every entry and removes the comments from the file;
 * it keeps an existing ID (0.225.2).
 */
export function entryIdOf(providerId: string, otherModelId?: string): string {
  const name = otherModelId === undefined ? providerId : `${providerId}/${otherModelId}`
  return customPrefix + name
}

/** The provider ID in an entry ID: `gateway` of `custom:gateway/glm-4.7`. */
export function providerIdOf({ entryId }: CustomModel): string | undefined {
  return entryId?.slice(customPrefix.length).replace(/\/.*/s, '')
}

export function entryPath(entryId: string): SettingPath {
  return ['customModels', { element: { id: entryId } }]
}

export const defaultModelPath: SettingPath = ['sessionDefaultSettings', 'model']

/** The values of `provider` for each protocol (each run with 0.215.0 and 0.225.2, 2026-11-26). */
export const providerValueOf: Readonly<Record<Protocol, string>> = {
  chat: 'generic-chat-completion-api',
  responses: 'openai',
  messages: 'anthropic',
}

export function protocolOfEntry({ provider }: Table): Protocol | undefined {
  return protocols.find((protocol) => providerValueOf[protocol] === provider)
}

/**
 * The values that `provider` accepts. With any other text in one entry, the whole list counts as empty. droid skips
 * entries that are not objects or that lack a member. The names are in the program of 0.225.2; the first two and
 * `openai` were run.
 */
export const knownProviders = wordsIn(
  `${providerValueOf.chat} anthropic bedrock-converse factory google openai voyage xai`,
)

/** A settings file as droid reads it. */
export interface DroidSettings extends StrictFile {
  readonly models: readonly CustomModel[]
  /** The newer key overrides the older one. */
  readonly defaultModel: string | undefined
}

/** An entry of `customModels`. */
export interface CustomModel {
  /** Undefined: it has none, or one that does not begin with `custom:`. */
  readonly entryId: string | undefined
  readonly entry: Table
}

/**
 * droid accepts comments. With a trailing comma, a byte order mark or another fault, the file counts as missing.
 */
export function readSettings(file: LoadedFile): DroidSettings {
  const isBlank = textOf(file).trim() === ''
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
  return { entryId: id?.startsWith(customPrefix) ? id : undefined, entry }
}

/**
 * Finds an entry as droid does: by its ID, else by its name and the number of earlier entries with that name, else
 * by its name and position in the list, else by its model. If several match, the first counts.
 */
export function modelCalled(
  { models }: DroidSettings,
  entryId: string | undefined,
): CustomModel | undefined {
  if (!entryId?.startsWith(customPrefix)) return undefined

  const called = entryId.slice(customPrefix.length)
  const names = models.map(({ entry }) => nameOf(entry))
  const counted = names.map((name, index) => {
    return `${name}-${names.slice(0, index).filter((earlier) => earlier === name).length}`
  })

  return (
    models.find((model) => model.entryId === entryId) ??
    models[counted.indexOf(called)] ??
    models[names.findIndex((name, index) => `${name}-${index}` === called)] ??
    models.find(({ entry }) => entry['model'] === called)
  )
}

function nameOf({ displayName, model }: Table): string {
  const name = displayName ?? model
  return typeof name === 'object' ? '' : String(name).trim().replace(/\s+/g, '-')
}

/** Whether a text contains an environment variable: `${NAME}`, which is empty if the variable is not set. */
export function isFromVariable(text: string): boolean {
  return /\$\{[^}]+\}/.test(text)
}

/** In tokens. Without a limit droid asks for 128,000, which many models reject (0.225.2). */
export const defaultOutputTokens = 16_384
