import type { ConfigValue, KeyPath, SettingRole } from '../edits/plan.ts'
import { isSameButVersion } from '../gateway/roots.ts'
import type {
  ClientModule,
  ClientName,
  DecidingSetting,
  DecidingTable,
  FileText,
  FileTexts,
  Obstacle,
} from './client.ts'
import { isTable, readFile, rootOf, shownUrl } from './texts.ts'

/** A setting of a client's table that stands in a file. */
interface DecidingFound extends DecidingSetting {
  /** Up to the first list on the way. */
  readonly path: KeyPath
  readonly value: ConfigValue
}

/** What a client is set up with, or about to be: what says the same leads nowhere else. */
export interface OwnSetup {
  readonly root?: string | undefined
  readonly providerId?: string | undefined
  readonly model?: string | undefined
}

type Decided = DecidingSetting['decides']

/** What stands outside of the user's own files and decides one of these takes the key elsewhere. */
const takingKey: readonly Decided[] = ['address', 'key', 'provider', 'proxy', 'trust']

type TabledClient = Pick<ClientName, 'family' | 'label'> &
  Pick<ClientModule, 'deciding' | 'interprets'>

/**
 * What files that are not the user's own settings say of where the key goes: those of the folder that
 * the client is started in, of the administrator, and others that win. Every reader of such files
 * takes it from here: setup, `use`, `key`, `run`, `status`, `doctor`.
 */
export function* layerObstacles(
  client: TabledClient,
  texts: FileTexts,
  own: OwnSetup,
): Generator<Obstacle, void> {
  for (const file of texts) {
    if (file.use !== 'layer') continue
    const found = [...settingsIn(client, file, own.providerId)].filter(
      (setting) => !isSameAs(setting, client, own),
    )
    const those = (kinds: readonly Decided[]) =>
      found.filter(({ decides }) => kinds.includes(decides))

    if (file.role === 'profile') {
      yield* ofStronger(client, file, found, 'may-block')
      continue
    }
    if (!file.role.startsWith('project')) {
      yield* ofStronger(client, file, those(takingKey), 'blocks')
      yield* ofStronger(client, file, those(['model']), 'may-block')
      continue
    }

    yield* ofFolder(client, file, those(takingKey), whyUntold(client, file))
    yield* ofFolder(client, file, those(['model']))
  }
}

/** The settings of a client's table that stand in a file and say something. */
function* settingsIn(
  { deciding }: Pick<ClientModule, 'deciding'>,
  file: FileText,
  providerId?: string,
): Generator<DecidingFound, void> {
  const content = contentOf(file)
  const isOfFolder = file.role.startsWith('project')
  const provider = providerId && (deciding.nameOf?.(providerId) ?? providerId)

  for (const row of deciding.rows.filter(({ layers }) => layers.includes(file.role))) {
    const fits = (pattern: string, name: string) =>
      pattern === ':provider' ? isOfFolder || name === provider : isLike(pattern, name)
    for (const { path, value } of leavesAt(content, row.at.split('.'), fits))
      if (saysSomething(value) || isEmptyAddress(row, value)) yield { ...row, path, value }
  }
}

/** What a file of any kind says, as one table. */
function contentOf(file: FileText): ConfigValue {
  const text = textOf(file)
  if (file.role.endsWith('-env'))
    return { env: Object.fromEntries(variablesIn(text).map(({ name }) => [name, true])) }
  if (file.path.endsWith('.md')) {
    const [, head = ''] = /^---\r?\n(.*?)\r?\n---/s.exec(text) ?? []
    const keys = [...head.matchAll(/^([\w-]+):[ \t]*(.*)$/gm)]
    return Object.fromEntries(keys.map(([, name, value]) => [name!, value || true]))
  }
  return readFile(file).document?.root ?? null
}

function textOf({ bytes }: FileText): string {
  return new TextDecoder().decode(bytes ?? new Uint8Array()).replace(/\r\n?/g, '\n')
}

/**
 * The variables that a .env file gives a value, as dotenv 17.1 in Qwen Code 0.24.4 reads it: `NAME: value`
 * counts, with the `=` or a quoted value on a later line too, and no `unset` takes one out again.
 */
function variablesIn(text: string): readonly { readonly name: string; readonly line: number }[] {
  const pattern = /^[^\S\n]*(?:export[^\S\n]+)?([\w.-]+)(?:\s*=|:\s)(?:[^\S\n]*[^\s#]|\s*['"`])/gm
  return [...text.matchAll(pattern)].map(({ 1: name = '', index }) => ({
    name,
    line: text.slice(0, index).split('\n').length,
  }))
}

/** The roles of settings that undo restores together. */
const undoRoles: Readonly<Partial<Record<Decided, SettingRole>>> = {
  address: 'address',
  key: 'key',
  provider: 'provider',
  model: 'model',
}

/**
 * What a setting in a file of this role decides; undefined: nothing that undo must know. The choice of
 * a model counts in every file.
 */
export function roleOf(
  { rows }: DecidingTable,
  role: string,
  path: KeyPath,
): SettingRole | undefined {
  const fits = (pattern: string, key: KeyPath[number] | undefined) =>
    key !== undefined &&
    (pattern === ':provider' || isLike(pattern, typeof key === 'string' ? key : ''))
  const row = rows.find(
    ({ at, decides, layers }) =>
      undoRoles[decides] !== undefined &&
      (decides === 'model' || layers.includes(role)) &&
      at.split('.').every((pattern, index) => fits(pattern, path[index])),
  )
  return row && undoRoles[row.decides]
}

/** A list counts element by element: its place is all that can be told of them. */
function* leavesAt(
  value: ConfigValue,
  [pattern, ...rest]: readonly string[],
  fits: (pattern: string, name: string) => boolean,
  path: KeyPath = [],
  isInList = false,
): Generator<Pick<DecidingFound, 'path' | 'value'>, void> {
  if (pattern === undefined) {
    yield { path, value }
    return
  }

  const isList = Array.isArray(value)
  if (!isList && !isTable(value)) return

  for (const [index, below] of Object.entries(value)) {
    const id = isTable(below) ? below['id'] : undefined
    const name = isList && typeof id === 'string' ? id : index
    const stays = isInList || isList
    if (fits(pattern, name))
      yield* leavesAt(below, rest, fits, stays ? path : [...path, name], stays)
  }
}

/** What is switched off, or holds nothing, decides nothing. */
function saysSomething(value: ConfigValue): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return value !== null && value !== '' && value !== false
}

/** Then a client asks its own service: Claude Code 2.1.330 is on its way to it with the key (2026-11-23). */
function isEmptyAddress({ decides }: DecidingSetting, value: ConfigValue): boolean {
  return decides === 'address' && value === ''
}

/** In any letters: variables of proxies count in both, on Windows every one does. */
function isLike(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 'is').test(name)
}

/** Whether a setting says what the client's own files say. */
function isSameAs(
  { decides, value }: DecidingFound,
  { deciding }: TabledClient,
  own: OwnSetup,
): boolean {
  if (typeof value !== 'string') return false
  const { root, providerId, model } = own
  if (decides === 'address') return root !== undefined && isSameButVersion(root, rootOf(value))
  if (decides !== 'model') return false
  const provider = providerId && (deciding.nameOf?.(providerId) ?? providerId)
  return [model, provider, `${provider}/${model}`].includes(value)
}

/** Why nobody knows where a project file leads: too large, no document, or keys made of variables. */
function whyUntold({ interprets }: TabledClient, file: FileText): string | undefined {
  if (file.bytes === null && /^project(?:-env)?$/.test(file.role)) return 'cannot be read'
  if (file.role !== 'project') return undefined
  const { document, problem } = readFile(file)
  if (problem !== undefined) return problem
  const isMade = interprets.isInKeys && hasKeyLike(document?.root ?? null, interprets.names)
  return isMade ? 'makes keys of others' : undefined
}

function hasKeyLike(value: ConfigValue, pattern: RegExp | null): boolean {
  if (pattern === null || typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(
    ([key, below]) => pattern.test(key) || hasKeyLike(below, pattern),
  )
}

/** As the end of a sentence about the client. */
const effects: Readonly<Record<Decided, (value: ConfigValue) => string>> = {
  address: (value) =>
    `takes your key to ${(typeof value === 'string' && shownUrl(value)) || 'another address'}`,
  key: () => 'takes your key to another place, or goes by another key',
  provider: () => 'may take your key to another provider',
  proxy: () => "takes your key through a proxy of the folder's",
  trust: () => "takes your key to whoever has a certificate of the folder's choice",
  model: () => 'asks another model than the one that you chose',
}

/** A file of the folder decides where the key goes, or which model is asked. */
function* ofFolder(
  { family, label, deciding }: TabledClient,
  file: FileText,
  found: readonly DecidingFound[],
  untold?: string,
): Generator<Obstacle, void> {
  const [first] = found
  const decides = first?.decides ?? 'provider'
  if (first === undefined && untold === undefined) return

  const what = `${label}, started in this folder, ${effects[decides](first?.value ?? null)}`
  const isLed = takingKey.includes(decides)
  const keys = keysOf(found)

  yield {
    code: `${family}-project-${deciding.called}`,
    message: `${nameOf(file)} of this folder ${keys ? `sets ${keys}` : (untold ?? 'is there')}: ${what}`,
    place: first ? placeIn(file, first) : file.path,
    cure: `Remove it there, or start ${label} in another folder, unless you trust whoever wrote this one.`,
    ...(isLed && { needsConsent: `${what}: ${file.path} says so.`, leadsElsewhere: true }),
    weight: isLed ? 'blocks' : 'may-block',
  }
}

/** Whose a file of a role is, and the cure. */
const strongerFiles: Readonly<Record<string, readonly [string, string]>> = {
  managed: ["the administrator's file", 'Ask the administrator of this machine.'],
  profile: ['this profile, once it is chosen,', 'Nothing to do unless you use that profile.'],
}

/** A file of the administrator's, or of the user's own that a setup does not write. */
function* ofStronger(
  { family, deciding }: TabledClient,
  file: FileText,
  found: readonly DecidingFound[],
  weight: Obstacle['weight'],
): Generator<Obstacle, void> {
  const [first] = found
  if (first === undefined) return
  const isProfile = file.role === 'profile'
  const [whose = 'this file', cure = 'Remove it there.'] = strongerFiles[file.role] ?? []

  yield {
    code: `${family}-${file.role}${isProfile ? '' : `-${deciding.called}`}`,
    message: `${whose} sets ${keysOf(found)}, which wins over yours`,
    place: placeIn(file, first),
    cure,
    weight,
  }
}

/** A variable is shown by its name alone. */
function keysOf(found: readonly DecidingFound[]): string {
  const names = found.map(({ path }) => path.join('.').replace(/^env\./, ''))
  return [...new Set(names)].join(', ')
}

function nameOf({ path }: FileText): string {
  return path.split(/[\\/]/).at(-1)!
}

function placeIn(file: FileText, { path }: DecidingFound): string {
  const [parent, name] = path
  if (!file.role.endsWith('-env') || parent !== 'env') return readFile(file).place(path)
  const line = variablesIn(textOf(file)).find((one) => one.name === name)?.line
  return line === undefined ? file.path : `${file.path}:${line}`
}
