import { compact } from '../../compact.ts'
/**
 * The providers other than the gateway's that would get the key of auth.json, and how a setup keeps it from
 * them.
 *
 * All providers share auth.json, and Codex can use each of them next to the one in use: in a conversation
 * that was recorded with it, with `-c model_provider=ID`, or in a profile. If `env_key` names a variable that
 * nobody sets, Codex sends the provider nothing: its conversations open, and Codex shows
 * `env_key_instructions` instead of an answer. Codex merges the tables of all layers key by key, so the two
 * lines in config.toml also apply to a table of a profile. It does not read a project's providers. Run on
 * 0.140.0, 0.145.0, 0.152.1, 0.161.0 and 0.169.0, 2026-11-23.
 */
import type { ConfigValue } from '../../edits/plan.ts'
import type { Finding, Findings } from '../../finding.ts'
import { addressFor, isSameButVersion } from '../../gateway/base-urls.ts'
import type { ClientContext, ClientOptions, LoadedFiles, SetupTarget } from '../client.ts'
import { findingAt, formerProviderFinding, placeholderOf } from '../findings.ts'
import {
  fileOf,
  isTable,
  layersOf,
  merged,
  type ReadFile,
  readFile,
  readKind,
  readLayers,
  shownUrl,
  type Table,
  tableIn,
  textIn,
  withoutTrailingSlash,
} from '../loaded-files.ts'
import { isExported, unsetCommand } from '../shell.ts'
import { readCodexAuth } from './auth.ts'
import {
  builtInAddressPath,
  configRepair,
  harmfulSettings,
  hasOwnKey,
  keyBlockers,
  noKey,
  otherLayers,
  providerInUse,
  reservedIds,
  vendorUrl,
} from './provider.ts'

interface OtherProvider {
  readonly id: string
  /** Merged from all layers. */
  readonly table: Table
  readonly url: string
  /** The address other than the gateway's that gets the key, as shown to the user. */
  readonly address: string
  /** The file and line that set this address. */
  readonly place: string
  /** Its address is in a file that overrides config.toml: a profile, or the administrator's file. */
  readonly isAbove: boolean
}

/**
 * The providers that send the key of auth.json to another address than `baseUrl`, including Codex's own. For the
 * table of `ownId` only the address counts: a setup removes its `namesOfHarmful`.
 *
 * @param planned what a setup is about to write into config.toml
 */
function* otherProviders(
  files: LoadedFiles,
  baseUrl: string,
  ownId: string | undefined,
  planned: Table = {},
): Generator<OtherProvider> {
  const config = readKind(files, 'config')
  const below = [...readLayers(files, 'system'), config]
  const managed = readLayers(files, 'managed')
  const reported = new Set(reservedIds.filter((id) => id !== 'openai'))

  // Codex uses at most one profile at a time, so each is merged by itself.
  const profiles = readLayers(files, 'profile').map((file) => [file])
  for (const profile of [[], ...profiles]) {
    const above = [...profile, ...managed]
    const settings = [...tablesOf(below), planned, ...tablesOf(above)].reduce(merged, {})

    for (const [id, table] of Object.entries(providerTablesIn(settings))) {
      if (reported.has(id) || !isTable(table) || hasOwnKey(table)) continue
      const url = textIn(table, ['base_url']) ?? vendorUrl
      const isAtGateway = isSameButVersion(baseUrl, withoutTrailingSlash(url))
      const [harmful] = id === ownId ? [] : harmfulSettings(table)
      if (isAtGateway && harmful === undefined) continue
      reported.add(id)

      const key = isAtGateway && harmful !== undefined ? harmful : 'base_url'
      const path = id === 'openai' ? builtInAddressPath : ['model_providers', id, key]
      const setsAddress = (file: ReadFile) => file.get(path) !== undefined
      yield {
        id,
        table,
        url,
        address: isAtGateway ? `another address (${key})` : shownUrl(url),
        place: [...below, ...above].findLast(setsAddress)?.place(path) ?? config.path,
        isAbove: above.some(setsAddress),
      }
    }
  }
}

function tablesOf(files: readonly ReadFile[]): readonly Table[] {
  return files.map((file) => file.table([]) ?? {})
}

/** The provider tables of the merged settings, with Codex's own provider. */
function providerTablesIn(settings: Table): Table {
  const vendor = textIn(settings, builtInAddressPath) ?? vendorUrl
  const openai = { base_url: vendor, requires_openai_auth: true }
  return { ...tableIn(settings, ['model_providers']), openai }
}

/** The other address, besides `baseUrl`, to which every version sends the key of auth.json. */
export function otherAddress(files: LoadedFiles, baseUrl: string): string | undefined {
  const ownId = providerInUse(readKind(files, 'config'))?.id
  for (const { table, url, address } of otherProviders(files, baseUrl, ownId)) {
    if (table['requires_openai_auth'] !== true) continue
    const isAtGateway = isSameButVersion(baseUrl, withoutTrailingSlash(url))
    return isAtGateway ? address : shownUrl(addressFor(withoutTrailingSlash(url), 'responses'))
  }
  return undefined
}

/**
 * Reports harmful settings in files that a setup does not write, in the table of our provider: no line in
 * config.toml removes them.
 */
export function* checkHarmfulLayers(files: LoadedFiles, ownId: string): Findings {
  for (const file of otherLayers(files))
    for (const id of [ownId, 'openai']) {
      const path = ['model_providers', id]
      const [first, ...others] = harmfulSettings(file.table(path) ?? {})
      if (first === undefined) continue
      yield {
        code: 'codex-key-elsewhere',
        message: `[model_providers.${id}] in this file has ${[first, ...others].join(', ')}: Codex may send the key to another address, or not start`,
        location: file.place([...path, first]),
        hint: 'Remove these settings from the file.',
        severity: 'error',
      }
    }
}

/**
 * Keeps the new key from every other address, and enables a provider again whose address is now the
 * gateway's.
 */
export function* checkOthersForSetup(
  context: ClientContext,
  config: ReadFile,
  target: SetupTarget,
): Findings {
  const { providerId, baseUrl, keyHeader } = target
  // The setup removes auth.json if the key has a header, so that no provider gets it.
  if (keyHeader !== undefined) return

  const ownTable = { base_url: baseUrl, requires_openai_auth: true }
  const planned = { openai_base_url: baseUrl, model_providers: { [providerId]: ownTable } }
  const isAtGateway = (url: string | undefined) =>
    url !== undefined && isSameButVersion(baseUrl, withoutTrailingSlash(url))
  // The setup removes the table of an earlier setup for the same gateway.
  const isFormer = (id: string) => {
    const table = config.table(['model_providers', id])
    if (table === undefined || id === providerId || isChosen(context.files, id)) return false
    return isAtGateway(textIn(table, ['base_url'])) && isAsWeWrite(table)
  }

  for (const other of otherProviders(context.files, baseUrl, providerId, planned)) {
    const { id } = other
    if (isFormer(id)) continue
    if (id === 'openai' || id === providerId) yield keyElsewhere(other)
    else {
      const former = formerKey(context.files, config, id, target)
      yield withoutOurKey(config, other, former, target.input.requested)
    }

    if (isExported(context, keyBlockers.env_key))
      yield {
        code: 'codex-set-aside-variable',
        message: `${keyBlockers.env_key} is set, so repoint cannot stop Codex from sending the key to ${other.address}`,
        location: 'environment',
        hint: unsetCommand(context.machine, keyBlockers.env_key),
        severity: 'error',
      }
  }

  for (const [id, table] of config.members(['model_providers'])) {
    const url = textIn(table, ['base_url'])
    const isHarmless = [config, ...otherLayers(context.files)].every(
      (file) => harmfulSettings(file.table(['model_providers', id]) ?? {}).length === 0,
    )
    const marked = Object.entries(keyBlockers).filter(
      ([key, value]) => textIn(table, [key]) === value,
    )

    if (url !== undefined && isFormer(id))
      yield formerProviderFinding({ id: 'codex', label: 'Codex' }, target, config, {
        providerId: id,
        url,
        hasKey: false,
        change: { path: ['model_providers', id], undoTogether: true },
      })
    else if (marked.length > 0 && ((isAtGateway(url) && isHarmless) || id === providerId))
      yield findingAt(config, ['model_providers', id], {
        code: 'codex-set-aside',
        message: `[model_providers.${id}] points at the gateway, and an earlier setup turned off its key`,
        hint: 'Remove the settings that turned it off.',
        fix: configRepair(
          ...marked.map(([key]) => ({ path: ['model_providers', id, key], value: undefined })),
        ),
        severity: 'warning',
      })
  }
}

/** Reports other addresses to which Codex can send its current key. */
export function* checkOthersNow(files: LoadedFiles, config: ReadFile, baseUrl: string): Findings {
  const ownId = providerInUse(config)?.id
  for (const other of otherProviders(files, baseUrl, ownId)) {
    const { id, address, place: location, isAbove } = other

    if (id !== 'openai' && id !== ownId) yield withoutOurKey(config, other)
    else if (isAbove) yield keyElsewhere(other)
    else
      yield {
        code: 'codex-old-conversations',
        message: `an old conversation, if you resume it, sends the key of auth.json to ${address}`,
        location,
        hint: `Set openai_base_url = ${JSON.stringify(baseUrl)}.`,
        fix: configRepair({ path: builtInAddressPath, value: baseUrl }),
        severity: 'error',
      }
  }
}

/** No line in config.toml can prevent that address from getting the key. */
function keyElsewhere({ address, place: location }: OtherProvider): Finding {
  return {
    code: 'codex-key-elsewhere',
    message: `this file makes Codex send the key of auth.json to ${address}`,
    location,
    hint: 'Remove that address from the file.',
    severity: 'error',
  }
}

/**
 * Reports a provider that would get our key, with the lines in its table that keep the key from it: another
 * token, or a variable that nobody sets.
 *
 * @param former the provider's own key, if the provider is in use and auth.json holds its key
 */
function withoutOurKey(
  config: ReadFile,
  { id, table, address, place: location }: OtherProvider,
  former?: string,
  { keepOldGateway }: ClientOptions = {},
): Finding {
  const name = `[model_providers.${id}]`
  const path = ['model_providers', id]
  const takesKey = table['requires_openai_auth'] === true
  const keptKey = keepOldGateway ? former : undefined
  const token = takesKey ? keptKey : tokenWithoutKey(table)

  const { experimental_bearer_token: _, ...withoutToken } = keyBlockers
  const lines = token === undefined ? withoutToken : { experimental_bearer_token: token }
  // A profile's provider has no table here, and Codex does not start if a table has no name.
  const nameLine = config.table(path) ? {} : { name: textIn(table, ['name']) ?? id }
  const changes = Object.entries({ ...nameLine, ...lines }).map(([key, value]) => ({
    path: [...path, key],
    value,
    isSecret: value === token && value !== noKey,
  }))

  const offer = former
    ? ' To continue these conversations with the old key: repoint codex --keep-old-gateway'
    : ''
  let consent: string | undefined
  if (token === undefined)
    consent = `Turn off ${name}, so that ${address} does not get the new key. You can still read its conversations. To continue one at the new gateway, which then receives all of it: codex fork ID. repoint rollback restores ${name}.${offer}`
  else if (keptKey)
    consent = `Write the old key to config.toml, only for ${name}, so that its conversations continue at ${address}. repoint rollback removes it.`

  return {
    code: takesKey ? 'codex-other-provider' : 'codex-keyless-provider',
    message: takesKey
      ? `${name} makes Codex send the key of auth.json to ${address}, from old conversations too`
      : `${name} has no key: Codex up to 0.145.0 sends the key of auth.json to ${address}`,
    location,
    hint: 'Give it a separate key (env_key), or remove it.',
    fix: configRepair(...changes),
    ...compact({ consent }),
    severity: takesKey ? 'error' : 'warning',
  }
}

/** The token for a provider that needs no key. Undefined: it has a credential that is not a bearer token. */
function tokenWithoutKey(table: Table): string | undefined {
  const headers = { ...tableIn(table, ['env_http_headers']), ...tableIn(table, ['http_headers']) }
  // Codex does not send it with a token (0.169.0), nor with auth.json (0.145.0; 2026-11-23).
  const header = Object.entries(headers).find(([name]) => /^authorization$/i.test(name))
  return header ? /^Bearer (\S+)$/.exec(String(header[1]))?.[1] : noKey
}

/** The key of auth.json, if it belongs to that provider. */
function formerKey(files: LoadedFiles, config: ReadFile, id: string, { key }: SetupTarget) {
  const { usableKey } = readCodexAuth(fileOf(files, 'auth'))
  const isOfProvider = providerInUse(config)?.id === id && usableKey !== key
  return isOfProvider && !placeholderOf(usableKey) ? usableKey : undefined
}

/** Whether an earlier setup wrote the table, under another ID. */
function isAsWeWrite(table: ConfigValue): boolean {
  const { requires_openai_auth, supports_websockets, wire_api } = tableIn(table, [])
  return requires_openai_auth === true && supports_websockets === false && wire_api === 'responses'
}

function isChosen(files: LoadedFiles, id: string): boolean {
  const chosen = layersOf(files, 'profile').map((file) => readFile(file).text(['model_provider']))
  return chosen.includes(id)
}
