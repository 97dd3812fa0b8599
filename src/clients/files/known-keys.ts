/** Which known keys do a client's files contain, next to which address, and what belongs to them? */
import {
  type ConfigValue,
  type SettingPath,
  type SettingRole,
  wholeFile,
} from '../../edits/types.ts'
import { startsWith, uniquePaths } from '../../edits/values/paths.ts'
import { isLoopback } from '../../gateway/input/local-host.ts'
import type { Client } from '../contract/client.ts'
import type { GatewaySettings } from '../contract/config.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import type { ClientState } from '../contract/state.ts'
import { parseFile, textOf } from './parse-file.ts'
import { gatewaySettingsIn, rolesIn } from './sensitive-settings.ts'
import { isTable, knownElement } from './tables.ts'

/** A key that repoint wrote or saved. */
export interface KnownKey {
  readonly key: string
  /** The addresses of its gateways, with their base URLs. */
  readonly addresses: readonly string[]
}

/** A value in a client's file that is or contains a known key. */
export interface KeyPlace {
  readonly file: LoadedFile
  /** Never contains the key. `wholeFile`: repoint knows only that the file contains it. */
  readonly path: SettingPath
  readonly known: KnownKey
}

/**
 * Whether files can be searched for a key. A short word, such as `ollama` or `lm-studio`, is also a name, and a
 * usual value for servers that need no key.
 */
function isSearchable(key: string): boolean {
  return key.length >= 8 && /\d/.test(key) && !/\s/.test(key)
}

/** Finds the known keys in the user's files of a client, in the parts that decide how it reaches a gateway. */
export function findKnownKeys(
  client: Client,
  files: LoadedFiles,
  known: readonly KnownKey[],
): readonly KeyPlace[] {
  const searched = known.filter(({ key }) => isSearchable(key))
  const ofUser = searched.length === 0 ? [] : files.filter(({ owner }) => owner === 'user')

  const texts = ofUser.flatMap((file): readonly TextValue[] =>
    file.content === 'variables'
      ? [{ file, path: wholeFile, value: textOf(file) }]
      : valuesIn(file).filter(({ path }) => decidesGateway(client, file, path)),
  )
  return texts.flatMap(({ file, path, value }) =>
    searched
      .filter(({ key }) => containsKey(value, key))
      .map((found): KeyPlace => ({ file, path, known: found })),
  )
}

/** The keys in these settings. A name of a variable is no key. */
export function keysIn(
  client: Client,
  files: LoadedFiles,
  settings: GatewaySettings,
): readonly string[] {
  return files
    .flatMap((file) => {
      const paths = file.use === 'editable' ? (settings[file.kind] ?? []) : []
      return valuesIn(file).filter(
        ({ path }) =>
          roleIn(client, file, path) === 'key' && paths.some((at) => startsWith(path, at)),
      )
    })
    .map(({ value }) => value)
    .filter((value) => isSearchable(value) && !/^\$?[A-Z][A-Z0-9_]*$/.test(value))
}

/** Whether a setting is in a part of the file that decides the gateway. The user may give other parts, such as those of MCP servers, the same key. */
function decidesGateway(
  { config: { sensitiveSettings } }: Client,
  { content }: LoadedFile,
  [name]: SettingPath,
): boolean {
  if (content === 'credentials') return true
  return sensitiveSettings.rows.some(
    ({ path, role }) => role !== 'model' && path.split('.')[0] === name,
  )
}

/** Whether a text is a key, or has it between other characters, as in `Bearer KEY`. */
function containsKey(text: string, key: string): boolean {
  const at = text.indexOf(key)
  if (at < 0) return false
  const around = [text[at - 1] ?? ' ', text[at + key.length] ?? ' ']
  return (
    around.every((character) => !/[\w-]/.test(character)) || containsKey(text.slice(at + 1), key)
  )
}

/** Whether the client has the key for the gateway that it belongs to. */
export function isAtItsGateway(
  client: Client,
  files: LoadedFiles,
  { endpoint }: ClientState,
  { file, path, known }: KeyPlace,
): boolean {
  if (endpoint.key === known.key)
    return endpoint.baseUrl !== undefined && isAddressOf(endpoint.baseUrl, known)

  // The address next to the key, or else that of its provider in another file, or else any.
  const unit = unitOf(client, file, path)
  const id = providerIn(client, file, path)
  const all = files.flatMap((other) => addressesIn(client, other))
  const candidates = [
    all.filter((address) => address.file === file && startsWith(address.path, unit)),
    all.filter(
      (address) => id !== undefined && providerIn(client, address.file, address.path) === id,
    ),
    all,
  ]
  const addresses = candidates.find((found) => found.length > 0) ?? []
  return addresses.some(({ value }) => isAddressOf(value, known))
}

/**
 * What belongs to the known keys in the client's editable files: the keys, the providers and entries with them or
 * with their address, and the settings that choose a model of these.
 */
export function knownKeySettings(
  client: Client,
  files: LoadedFiles,
  known: readonly KnownKey[],
): GatewaySettings {
  const editable = files.filter(({ use }) => use === 'editable')
  const places = findKnownKeys(client, editable, known)
  const found = [...new Set(places.map((place) => place.known))]
  if (found.length === 0) return {}

  const addresses = editable
    .flatMap((file) => addressesIn(client, file))
    .filter(({ value }) => found.some((key) => isAddressOf(value, key)))
    .filter((address) => !hasOtherKey(client, address, found))
  const units = [...places, ...addresses].map(({ file, path }) => ({
    file,
    path: unitOf(client, file, path),
    providerId: providerIn(client, file, path),
  }))
  const choosesUnit = (value: string) =>
    units.some(({ providerId: id }) => id && (value === id || value.startsWith(`${id}/`)))

  const settings = editable.map((file): [string, readonly SettingPath[]] => {
    const ofModels = valuesIn(file).filter(
      ({ path, value }) => roleIn(client, file, path) === 'model' && choosesUnit(value),
    )
    const ofFile = [
      ...units.filter((unit) => unit.file === file).map(({ path }) => path),
      ...ofModels.map(pathInList),
    ]
    const isWhole = file.scope === 'whole' && ofFile.length > 0
    return [file.kind, isWhole ? keySettingsOf(client, file) : uniquePaths(ofFile)]
  })
  return Object.fromEntries(settings.filter(([, paths]) => paths.length > 0))
}

/** The path of a text that is no secret: in a list of several, that of the element. */
function pathInList({ path, list = [], value }: TextValue): SettingPath {
  return list.length < 2 ? path : [...path, { element: value }]
}

/** The settings of the key in a file that a setup replaces: the whole file if nothing else is in it. */
function keySettingsOf(
  { config: { sensitiveSettings } }: Client,
  file: LoadedFile,
): readonly SettingPath[] {
  const { root } = parseFile(file)
  const ofKey = gatewaySettingsIn(sensitiveSettings, file)
  const names = ofKey.map(([name]) => name)
  const others = Object.keys(root).filter((name) => !names.includes(name) && root[name] !== null)
  return others.length === 0 ? [wholeFile] : ofKey
}

/** Whether the provider or entry with this address has a key that is not known. */
function hasOtherKey(
  client: Client,
  { file, path }: TextValue,
  known: readonly KnownKey[],
): boolean {
  const unit = unitOf(client, file, path)
  return valuesIn(file).some(
    ({ path: other, value }) =>
      startsWith(other, unit) &&
      roleIn(client, file, other) === 'key' &&
      isSearchable(value) &&
      !known.some(({ key }) => containsKey(value, key)),
  )
}

/** A text in a file. */
interface TextValue {
  readonly file: LoadedFile
  /** In a list of texts: the path of the list, because a record must not name a secret. */
  readonly path: SettingPath
  readonly list?: readonly ConfigValue[]
  readonly value: string
}

function addressesIn(client: Client, file: LoadedFile): readonly TextValue[] {
  return valuesIn(file).filter(({ path }) => roleIn(client, file, path) === 'address')
}

function roleIn(
  { config: { sensitiveSettings } }: Client,
  { kind }: LoadedFile,
  path: SettingPath,
): SettingRole | undefined {
  return rolesIn(sensitiveSettings, kind)(path)
}

/** All texts in a file of settings or credentials. */
function valuesIn(file: LoadedFile): readonly TextValue[] {
  if (file.content === 'variables' || file.content === 'agent') return []
  return [...textsBelow(parseFile(file).root, [])].map((text) => ({ file, ...text }))
}

function* textsBelow(
  value: ConfigValue,
  path: SettingPath,
): Generator<Omit<TextValue, 'file'>, void> {
  if (typeof value === 'string') yield { path, value }
  else if (Array.isArray(value)) {
    const tables = value.filter(isTable)
    for (const element of value) {
      if (typeof element === 'string') yield { path, list: value, value: element }
      else if (isTable(element)) {
        const others = tables.filter((table) => table !== element)
        yield* textsBelow(element, [...path, knownElement(element, entryNames, others)])
      }
    }
  } else if (isTable(value))
    for (const [name, below] of Object.entries(value)) yield* textsBelow(below, [...path, name])
}

/** The members that identify an entry of a list. None is a secret. */
const entryNames = ['id', 'model', 'name', 'displayName', 'envKey', 'baseUrl']

/** The provider or the entry that a setting belongs to, or else the setting. A provider that the client ships stays. */
function unitOf(client: Client, file: LoadedFile, path: SettingPath): SettingPath {
  if (file.content === 'credentials') return path.slice(0, 1)

  const { reservedProviderIds = [] } = client.config
  const table = providerTable(client, path)
  if (table !== undefined && !reservedProviderIds.includes(String(table.at(-1)))) return table

  const index = path.findIndex((step) => typeof step === 'object')
  return index < 0 ? path : path.slice(0, index + 1)
}

/** The ID of the provider that a setting belongs to. */
function providerIn(client: Client, file: LoadedFile, path: SettingPath): string | undefined {
  const [first] = path
  const name = file.content === 'credentials' ? first : providerTable(client, path)?.at(-1)
  return typeof name === 'string' ? name : undefined
}

/** The path of the provider's table that contains a setting. */
function providerTable(
  { config: { sensitiveSettings } }: Client,
  path: SettingPath,
): SettingPath | undefined {
  const lengths = sensitiveSettings.rows.flatMap((row) => {
    const pattern = row.path.split('.')
    const length = pattern.indexOf(':provider')
    const isInside = pattern.slice(0, length).every((name, index) => name === path[index])
    return length > 0 && isInside ? [length + 1] : []
  })
  const [length] = lengths
  const table = length === undefined ? undefined : path.slice(0, length)
  return table?.length === length && typeof table?.at(-1) === 'string' ? table : undefined
}

/** Whether a gateway that has the key is at this host. An address that is no URL may be at any. */
function isAddressOf(address: string, { addresses }: KnownKey): boolean {
  const host = hostOf(address)
  return host === undefined || addresses.some((known) => hostOf(known) === host)
}

/** The host with its port. All names of this machine are one. */
function hostOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const { hostname, host, port, protocol } = new URL(address)
  return isLoopback(hostname) ? `${protocol}//localhost:${port}` : host
}
