/**
 * Finds the providers other than the gateway's that would get the key of auth.json.
 * `check-other-providers.ts` reports them, with the fixes that keep the key from them.
 *
 * All providers share auth.json, and Codex can use each of them next to the one in use: in a conversation
 * that was recorded with it, with `-c model_provider=ID`, or in a profile. Codex merges the tables of all
 * layers key by key. It does not read a project's providers. Run on 0.140.0, 0.145.0, 0.152.1, 0.161.0 and
 * 0.169.0, 2026-11-23.
 */
import type { SettingPath } from '../../../edits/types.ts'
import { addressFor, isSameButVersion } from '../../../gateway/base-urls.ts'
import type { LoadedFiles } from '../../contract/files.ts'
import { isLoopbackUrl, shownUrl, withoutTrailingSlash } from '../../files/addresses.ts'
import { type ParsedFile, parseKind, parseLayers } from '../../files/parse-file.ts'
import { isTable, merged, type Table, tableIn, textIn } from '../../files/tables.ts'
import {
  builtInAddressPath,
  harmfulSettings,
  hasOwnKey,
  providerInUse,
  reservedIds,
  vendorUrl,
} from './provider.ts'

/** A provider that sends the key of auth.json to another address than the gateway's. */
export interface OtherProvider {
  readonly id: string
  /** Merged from all layers. */
  readonly table: Table
  readonly url: string
  /** The address that gets the key, as shown to the user. */
  readonly address: string
  /** The file and line that set this address. */
  readonly location: string
  /** Its address is in a file that overrides config.toml: a profile, or the administrator's file. */
  readonly isAbove: boolean
  /** The file is a profile, and the address is on this machine: the key stays here. */
  readonly isLocalProfile: boolean
}

/**
 * The providers that send the key of auth.json to another address than `baseUrl`, including Codex's built-in
 * one. For the table of `ourId` only the address counts: a setup removes its harmful settings.
 *
 * @param planned what a setup is about to write into config.toml
 */
export function* otherProviders(
  files: LoadedFiles,
  baseUrl: string,
  ourId: string | undefined,
  planned: Table = {},
): Generator<OtherProvider> {
  const config = parseKind(files, 'config')
  const ignoredIds = reservedIds.filter((id) => id !== 'openai')
  const reported = new Set<string>()

  for (const layers of layerStacks(files, planned)) {
    for (const [id, table] of Object.entries(providerTablesIn(layers.settings))) {
      if (ignoredIds.includes(id) || reported.has(id)) continue
      if (!isTable(table) || hasOwnKey(table)) continue

      const redirect = redirectOf(table, baseUrl, id !== ourId)
      if (redirect === undefined) continue
      // Each provider is reported once, although several profiles may merge its table.
      reported.add(id)

      const path = id === 'openai' ? builtInAddressPath : ['model_providers', id, redirect.setting]
      const { url, address } = redirect
      const { location, isAbove, isProfile } = locate(layers, path, config)
      const isLocalProfile = isProfile && isLoopbackUrl(url)
      yield { id, table, url, address, location, isAbove, isLocalProfile }
    }
  }
}

/** The files that Codex merges in one of its starts, and the settings that follow. */
interface LayerStack {
  readonly settings: Table
  /** The administrator's defaults and config.toml, weakest first. */
  readonly below: readonly ParsedFile[]
  /** The files that override config.toml: a profile, and what the administrator manages. */
  readonly above: readonly ParsedFile[]
}

/**
 * Merges the layers without a profile, then with each profile: Codex uses at most one at a time.
 *
 * @param planned what a setup is about to write into config.toml
 */
function layerStacks(files: LoadedFiles, planned: Table = {}): readonly LayerStack[] {
  const below = [...parseLayers(files, 'system'), parseKind(files, 'config')]
  const managed = parseLayers(files, 'managed')
  const profiles = parseLayers(files, 'profile').map((profile) => [profile])

  return [[], ...profiles].map((profile) => {
    const above = [...profile, ...managed]
    const tables = [...tablesOf(below), planned, ...tablesOf(above)]
    return { settings: tables.reduce(merged, {}), below, above }
  })
}

function tablesOf(files: readonly ParsedFile[]): readonly Table[] {
  return files.map((file) => file.root)
}

/** The setting of a provider's table that sends its key elsewhere. Undefined: none does. */
function redirectOf(
  table: Table,
  baseUrl: string,
  mayHaveHarmfulSettings: boolean,
): { readonly setting: string; readonly url: string; readonly address: string } | undefined {
  const url = textIn(table, ['base_url']) ?? vendorUrl
  if (!isSameButVersion(url, baseUrl)) return { setting: 'base_url', url, address: shownUrl(url) }

  const [harmful] = mayHaveHarmfulSettings ? harmfulSettings(table) : []
  if (harmful === undefined) return undefined
  return { setting: harmful, url, address: `another address (${harmful})` }
}

/** The strongest file that sets a path, or else config.toml. */
function locate({ below, above }: LayerStack, path: SettingPath, config: ParsedFile) {
  const isSetIn = (file: ParsedFile) => file.get(path) !== undefined
  const strongest = [...below, ...above].findLast(isSetIn)
  return {
    location: strongest?.place(path) ?? config.path,
    isAbove: above.some(isSetIn),
    isProfile: strongest?.kind === 'profile',
  }
}

/** The provider tables of the merged settings, with Codex's built-in provider. */
function providerTablesIn(settings: Table): Table {
  const vendor = textIn(settings, builtInAddressPath) ?? vendorUrl
  const openai = { base_url: vendor, requires_openai_auth: true }
  return { ...tableIn(settings, ['model_providers']), openai }
}

/** The address other than `baseUrl` to which every version sends the key of auth.json. Not one that a user accepts. */
export function otherAddress(files: LoadedFiles, baseUrl: string): string | undefined {
  const ourId = providerInUse(parseKind(files, 'config'))?.id
  for (const { table, url, address, isLocalProfile } of otherProviders(files, baseUrl, ourId)) {
    if (table['requires_openai_auth'] !== true || isLocalProfile) continue
    return isSameButVersion(url, baseUrl)
      ? address
      : shownUrl(addressFor(withoutTrailingSlash(url), 'responses'))
  }
  return undefined
}
