import type { ConfigValue, KeyPath } from '../edits/plan.ts'
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
import { exportedVariables } from './shell.ts'
import { isTable, placeOf, type ReadFile, readFile, rootOf, shownUrl } from './texts.ts'

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

type Asked = Pick<ClientName, 'family' | 'label'> & Pick<ClientModule, 'deciding' | 'interprets'>

/**
 * What files that are not the user's own settings say of where the key goes: those of the folder that
 * the client is started in, of the administrator, and others that win. Every reader of such files
 * takes it from here: setup, `use`, `key`, `run`, `status`, `doctor`.
 */
export function* layerObstacles(
  client: Asked,
  texts: FileTexts,
  own: OwnSetup,
): Generator<Obstacle, void> {
  for (const file of texts) {
    if (file.use !== 'layer') continue
    const found = [...settingsIn(client, file, own.providerId)].filter(
      (setting) => !isSameAs(setting, client, own),
    )
    const those = (...kinds: readonly DecidingSetting['decides'][]) =>
      found.filter(({ decides }) => kinds.includes(decides))
    const taking = those('address', 'key', 'provider', 'proxy', 'trust')

    if (!file.role.startsWith('project')) {
      yield* ofStronger(client, file, taking, 'blocks')
      yield* ofStronger(client, file, those('model'), 'may-block')
      continue
    }
    yield* untold(client, file)
    yield* leading(client, file, taking)
    yield* starting(client, file, those('program'))
    yield* choosing(client, file, those('model'))
  }
}

/** The settings of a client's table that stand in a file and say something. */
export function* settingsIn(
  { deciding }: Pick<ClientModule, 'deciding'>,
  file: FileText,
  providerId?: string,
): Generator<DecidingFound, void> {
  const content = contentOf(file)
  const isOfFolder = file.role.startsWith('project')
  const provider = providerId && (deciding.nameOf?.(providerId) ?? providerId)

  for (const row of deciding.rows.filter(({ layers }) => layers.includes(file.role))) {
    if (row.at === '') {
      yield { ...row, path: [], value: true }
      continue
    }
    const fits = (pattern: string, name: string) =>
      pattern === ':provider' ? isOfFolder || name === provider : isLike(pattern, name)
    for (const { path, value } of leavesAt(content, row.at.split('.'), fits))
      yield { ...row, path, value }
  }
}

/** What a file of any kind says, as one table. */
function contentOf(file: FileText): ConfigValue {
  const text = new TextDecoder().decode(file.bytes ?? new Uint8Array())
  if (file.role.endsWith('-env')) {
    const names = exportedVariables(file.path, text).map(({ name }) => [name, true] as const)
    return { env: Object.fromEntries(names) }
  }
  if (file.path.endsWith('.md')) {
    const [, head = ''] = /^---\r?\n(.*?)\r?\n---/s.exec(text) ?? []
    const keys = [...head.matchAll(/^([\w-]+):[ \t]*(.*)$/gm)]
    return Object.fromEntries(keys.map(([, name, value]) => [name!, value || true]))
  }
  return readFile(file).document?.root ?? null
}

/** Whether an undo takes a key back together with all that send a key to an address, or not at all. */
export function isBoundKey({ rows }: DecidingTable, role: string, path: KeyPath): boolean {
  const fits = (pattern: string, key: KeyPath[number] | undefined) =>
    key !== undefined &&
    (pattern === ':provider' || isLike(pattern, typeof key === 'string' ? key : ''))
  return rows.some(
    ({ at, decides, layers }) =>
      ['address', 'key', 'provider'].includes(decides) &&
      layers.includes(role) &&
      at.split('.').every((pattern, index) => fits(pattern, path[index])),
  )
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
    if (saysSomething(value)) yield { path, value }
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

/** In any letters: variables of proxies count in both, on Windows every one does. */
function isLike(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 'is').test(name)
}

/** Whether a setting says what the client's own files say. */
function isSameAs({ decides, value }: DecidingFound, { deciding }: Asked, own: OwnSetup): boolean {
  if (typeof value !== 'string') return false
  const { root, providerId, model } = own
  if (decides === 'address') return root !== undefined && isSameButVersion(root, rootOf(value))
  if (decides !== 'model') return false
  const provider = providerId && (deciding.nameOf?.(providerId) ?? providerId)
  return [model, provider, `${provider}/${model}`].includes(value)
}

/** Of what cannot be read nobody knows where it leads: too large, no document, or keys of variables. */
function* untold(
  { family, label, deciding, interprets }: Asked,
  file: FileText,
): Generator<Obstacle, void> {
  if (file.role !== 'project') return
  const { document, problem } = readFile(file)
  const isRead = file.bytes !== null && problem === undefined
  if (isRead && !hasKeyLike(document?.root ?? null, interprets.names)) return

  const what = `${label}, started in this folder, may take your key elsewhere`
  const why = isRead ? 'holds keys of which it makes others' : (problem ?? 'cannot be read')
  yield {
    code: `${family}-project-${deciding.called}`,
    message: `${nameOf(file)} of this folder ${isRead ? why : `tells nothing (${why})`}: ${what}`,
    place: file.path,
    cure: `Do not start ${label} in this folder, unless you trust whoever wrote it.`,
    needsConsent: `${what}: what ${file.path} says cannot be told.`,
    leadsElsewhere: true,
    weight: 'blocks',
  }
}

function hasKeyLike(value: ConfigValue, pattern: RegExp | null): boolean {
  if (pattern === null || typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(
    ([key, below]) => pattern.test(key) || hasKeyLike(below, pattern),
  )
}

/** Whoever wrote this folder decides where the key goes, or what is run to get one. */
function* leading(
  { family, label, deciding }: Asked,
  file: FileText,
  found: readonly DecidingFound[],
): Generator<Obstacle, void> {
  const [first] = found
  if (first === undefined) return
  const what = `${label}, started in this folder, ${effects[first.decides](first.value)}`
  yield {
    code: `${family}-project-${deciding.called}`,
    message: `${nameOf(file)} of this folder sets ${keysOf(found)}: ${what}`,
    place: placeIn(file, first),
    cure: `Do not start ${label} in this folder, unless you trust whoever wrote it.`,
    needsConsent: `${what}: ${file.path} says so.`,
    leadsElsewhere: true,
    weight: 'blocks',
  }
}

/** As the end of a sentence about the client. */
const effects: Readonly<Record<DecidingSetting['decides'], (value: ConfigValue) => string>> = {
  address: (value) =>
    `takes your key to ${typeof value === 'string' ? shownUrl(value) : 'another address'}`,
  key: () => 'takes your key to another place, or goes by another key',
  provider: () => 'may take your key to another provider',
  proxy: () => "takes your key through a proxy of the folder's",
  trust: () => "takes your key to whoever has a certificate of the folder's choice",
  program: () => "starts programs of the folder's own, which can read your key",
  model: () => 'asks another model',
}

function* starting(
  { family, label, deciding }: Asked,
  file: FileText,
  found: readonly DecidingFound[],
): Generator<Obstacle, void> {
  const [first] = found
  if (first === undefined) return
  const what = `${label}, started in this folder, ${effects.program(first.value)}`
  const isCode = file.role === 'project-code'
  yield {
    code: `${family}-project-${isCode ? 'code' : deciding.called}`,
    message: `${what}: ${keysOf(found) || nameOf(file)}`,
    place: placeIn(file, first),
    cure: `Do not start ${label} in this folder, unless you trust whoever wrote it.`,
    needsConsent: `${what}: ${file.path} names them.`,
    weight: 'may-block',
  }
}

function* choosing(
  { family, label, deciding }: Asked,
  file: FileText,
  found: readonly DecidingFound[],
): Generator<Obstacle, void> {
  const [first] = found
  if (first === undefined) return
  yield {
    code: `${family}-project-${deciding.called}`,
    message: `${nameOf(file)} of this folder sets ${keysOf(found)}, which wins over yours while ${label} runs here`,
    place: placeIn(file, first),
    cure: `Remove it there, or start ${label} in another folder.`,
    weight: 'may-block',
  }
}

/** A file of the administrator's, or of the user's own that a setup does not write. */
function* ofStronger(
  { family, deciding }: Asked,
  file: FileText,
  found: readonly DecidingFound[],
  weight: Obstacle['weight'],
): Generator<Obstacle, void> {
  const [first] = found
  if (first === undefined) return
  const isManaged = file.role === 'managed'
  yield {
    code: `${family}-${file.role}-${deciding.called}`,
    message: `${isManaged ? "the administrator's" : 'this'} file sets ${keysOf(found)}, which wins over yours`,
    place: placeIn(file, first),
    cure: isManaged ? 'Ask the administrator of this machine.' : 'Remove it there.',
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
  const read: ReadFile = readFile(file)
  const [parent, name] = path
  if (!file.role.endsWith('-env') || parent !== 'env') return placeOf(read, path)
  const text = new TextDecoder().decode(file.bytes ?? new Uint8Array())
  const line = exportedVariables(file.path, text).find((one) => one.name === name)?.line
  return line === undefined ? file.path : `${file.path}:${line}`
}
