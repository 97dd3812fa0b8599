import { compact } from '../../compact.ts'
import type { ConfigValue } from '../../edits/plan.ts'
import type { Finding, Findings } from '../../finding.ts'
import { isSameButVersion, shownRoot } from '../../gateway/roots.ts'
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
  rootOf,
  shownUrl,
  type Table,
  tableIn,
  textIn,
} from '../loaded-files.ts'
import { isExported, unsetCommand } from '../shell.ts'
import { readCodexAuth } from './auth.ts'
import {
  configRepair,
  harmfulKeys,
  hasOwnKey,
  marks,
  noKey,
  otherLayers,
  ownAddressPath,
  providerInUse,
  reservedIds,
  vendorUrl,
} from './provider.ts'

/**
 * auth.json is one for all providers, and each of them can be chosen beside the one in use: by a
 * conversation that was recorded with it, by `-c model_provider=ID`, by a profile. One with `env_key`
 * of a variable that nobody sets is asked nothing at all; its conversations open, and
 * `env_key_instructions` come in the place of an answer. The tables of all layers are merged key by
 * key, so that the two lines count in config.toml for a table of a profile too. A project's providers
 * are not read. Run on 0.140.0, 0.145.0, 0.152.1, 0.161.0 and 0.169.0, 2026-11-23.
 */
interface OtherProvider {
  readonly id: string
  /** As all layers say it. */
  readonly table: Table
  readonly url: string
  /** Where else than to the gateway it takes the key, in words. */
  readonly address: string
  readonly place: string
  /** Its address stands where it wins over config.toml: in a profile, or in the administrator's file. */
  readonly isAbove: boolean
}

/**
 * The providers that take the key of auth.json elsewhere than to `root`; Codex's own is among them.
 * In the table of `ownId` only the address is judged: `harmfulKeys` of it are removed.
 *
 * @param planned what a setup is about to write into config.toml
 */
function* otherProviders(
  texts: LoadedFiles,
  root: string,
  ownId: string | undefined,
  planned: Table = {},
) {
  const filesOf = (role: string) => readLayers(texts, role)
  const tablesOf = (files: readonly ReadFile[]) => files.map((file) => file.table([]) ?? {})
  const config = readKind(texts, 'config')
  const below = [...filesOf('system'), config]
  const seen = new Set(reservedIds.filter((id) => id !== 'openai'))

  for (const profile of [[], ...filesOf('profile').map((file) => [file])]) {
    const above = [...profile, ...filesOf('managed')]
    const all = [...tablesOf(below), planned, ...tablesOf(above)].reduce(merged, {})
    const vendor = textIn(all, ownAddressPath) ?? vendorUrl
    const openai = { base_url: vendor, requires_openai_auth: true }

    for (const [id, table] of Object.entries({ ...tableIn(all, ['model_providers']), openai })) {
      if (seen.has(id) || !isTable(table) || hasOwnKey(table)) continue
      const url = textIn(table, ['base_url']) ?? vendorUrl
      const isThere = isSameButVersion(root, rootOf(url))
      const [harmful] = id === ownId ? [] : harmfulKeys(table)
      if (isThere && harmful === undefined) continue

      seen.add(id)
      const key = isThere && harmful !== undefined ? harmful : 'base_url'
      const path = id === 'openai' ? ownAddressPath : ['model_providers', id, key]
      const address = isThere ? `another address (${key})` : shownUrl(url)
      const says = (file: ReadFile) => file.get(path) !== undefined
      const file = [...below, ...above].findLast(says)
      const place = file ? file.place(path) : config.path
      const isAbove = above.some(says)
      const other: OtherProvider = { id, table, url, address, place, isAbove }
      yield other
    }
  }
}

/** Where the key of auth.json goes beside `root`, in every version. */
export function otherAddress(files: LoadedFiles, root: string): string | undefined {
  const ownId = providerInUse(readKind(files, 'config'))?.id
  for (const { table, url, address } of otherProviders(files, root, ownId)) {
    if (table['requires_openai_auth'] !== true) continue
    const isThere = isSameButVersion(root, rootOf(url))
    return isThere ? address : shownUrl(shownRoot(rootOf(url), 'responses'))
  }
  return undefined
}

/**
 * Settings of files that a setup does not write, in the table of the provider that it does: no line in
 * config.toml removes them.
 */
export function* harmfulLayers(files: LoadedFiles, ownId: string): Findings {
  for (const file of otherLayers(files))
    for (const id of [ownId, 'openai']) {
      const path = ['model_providers', id]
      const [first, ...others] = harmfulKeys(file.table(path) ?? {})
      if (first === undefined) continue
      yield {
        code: 'codex-key-elsewhere',
        message: `${[first, ...others].join(', ')} in [model_providers.${id}] of this file: Codex may send the key to another address, or not start, whatever config.toml says`,
        location: file.place([...path, first]),
        hint: 'Remove that from the file.',
        severity: 'error',
      }
    }
}

/**
 * What keeps the new key from every other address, and gives a provider back whose address is the
 * gateway's again.
 */
export function* othersInTheWay(
  context: ClientContext,
  config: ReadFile,
  target: SetupTarget,
): Findings {
  const { providerId, baseUrl, keyHeader } = target
  // The file goes then.
  if (keyHeader !== undefined) return
  const own = { [providerId]: { base_url: baseUrl, requires_openai_auth: true } }
  const planned = { openai_base_url: baseUrl, model_providers: own }
  const isAtGateway = (url: string | undefined) =>
    url !== undefined && isSameButVersion(baseUrl, rootOf(url))
  // The table of an earlier setup for the same gateway is removed.
  const isFormer = (id: string) => {
    const table = config.table(['model_providers', id])
    if (table === undefined || id === providerId || isChosen(context.files, id)) return false
    return isAtGateway(textIn(table, ['base_url'])) && isAsWeWrite(table)
  }

  for (const other of otherProviders(context.files, baseUrl, providerId, planned)) {
    const { id } = other
    if (isFormer(id)) continue
    if (id === 'openai' || id === providerId) yield elsewhere(other)
    else
      yield kept(
        config,
        other,
        formerKey(context.files, config, id, target),
        target.input.requested,
      )
    if (isExported(context, marks.env_key))
      yield {
        code: 'codex-set-aside-variable',
        message: `${marks.env_key} is set: with it, ${other.address} cannot be kept from the key`,
        location: 'environment',
        hint: unsetCommand(context.machine, marks.env_key),
        severity: 'error',
      }
  }

  for (const [id, table] of config.members(['model_providers'])) {
    const url = textIn(table, ['base_url'])
    const isHarmless = [config, ...otherLayers(context.files)].every(
      (file) => harmfulKeys(file.table(['model_providers', id]) ?? {}).length === 0,
    )
    const ours = Object.entries(marks).filter(([key, value]) => textIn(table, [key]) === value)

    if (url !== undefined && isFormer(id))
      yield formerProviderFinding({ id: 'codex', label: 'Codex' }, target, config, {
        providerId: id,
        url,
        hasKey: false,
        change: { path: ['model_providers', id], undoTogether: true },
      })
    else if (ours.length > 0 && ((isAtGateway(url) && isHarmless) || id === providerId))
      yield findingAt(config, ['model_providers', id], {
        code: 'codex-set-aside',
        message: `[model_providers.${id}] was kept from the key, and is at the gateway`,
        hint: 'Take out what kept it.',
        fix: configRepair(
          ...ours.map(([key]) => ({ path: ['model_providers', id, key], value: undefined })),
        ),
        severity: 'warning',
      })
  }
}

/** Where the key that Codex has now can go beside `root`. */
export function* checkOthersNow(files: LoadedFiles, config: ReadFile, root: string): Findings {
  const ownId = providerInUse(config)?.id
  for (const other of otherProviders(files, root, ownId)) {
    const { id, address, place: location, isAbove } = other

    if (id !== 'openai' && id !== ownId) yield kept(config, other)
    else if (isAbove) yield elsewhere(other)
    else
      yield {
        code: 'codex-old-conversations',
        message: `a conversation from before, when it is resumed, sends the key of auth.json to ${address}`,
        location,
        hint: `Set openai_base_url = ${JSON.stringify(root)}.`,
        fix: configRepair({ path: ownAddressPath, value: root }),
        severity: 'error',
      }
  }
}

/** No line in config.toml can keep the key from there. */
function elsewhere({ address, place: location }: OtherProvider): Finding {
  return {
    code: 'codex-key-elsewhere',
    message: `this file takes the key of auth.json to ${address}, whatever config.toml says`,
    location,
    hint: 'Take that address out of the file.',
    severity: 'error',
  }
}

/** @param keyBefore that of the provider, while it is the one in use and auth.json holds it */
function kept(
  config: ReadFile,
  { id, table, address, place: location }: OtherProvider,
  keyBefore?: string,
  { keepOldGateway }: ClientOptions = {},
): Finding {
  const name = `[model_providers.${id}]`
  const path = ['model_providers', id]
  const takesKey = table['requires_openai_auth'] === true
  const former = keepOldGateway ? keyBefore : undefined
  const token = takesKey ? former : tokenWithoutKey(table)

  const { experimental_bearer_token: _, ...aside } = marks
  const lines = token === undefined ? aside : { experimental_bearer_token: token }
  // Without a name Codex does not start.
  const named = config.table(path) ? {} : { name: textIn(table, ['name']) ?? id }
  const changes = Object.entries({ ...named, ...lines }).map(([key, value]) => ({
    path: [...path, key],
    value,
    isSecret: value === token && value !== noKey,
  }))
  const offer = keyBefore
    ? ' To let it go on with its old key, in config.toml: `repoint codex --keep-old-gateway`.'
    : ''
  const consent =
    token === undefined
      ? `${name} is set aside, so that ${address} does not get the new key: its conversations stay readable and send nothing. \`codex fork ID\` goes on with one at the gateway, which is then sent all of it; rollback brings ${name} back.${offer}`
      : former &&
        `The key of before goes into config.toml, for ${name} alone: its conversations go on at ${address}. Rollback takes it out.`

  return {
    code: takesKey ? 'codex-other-provider' : 'codex-keyless-provider',
    message: takesKey
      ? `${name} takes the key of auth.json to ${address}, from conversations of before too`
      : `${name} names no key of its own: Codex up to 0.145.0 sends ${address} that of auth.json`,
    location,
    hint: 'Give it a key of its own, or keep it from asking.',
    fix: configRepair(...changes),
    ...compact({ consent }),
    severity: takesKey ? 'error' : 'warning',
  }
}

/** For a provider that asks for no key; undefined where it has one that is no token. */
function tokenWithoutKey(table: Table): string | undefined {
  const headers = { ...tableIn(table, ['env_http_headers']), ...tableIn(table, ['http_headers']) }
  // It is not sent beside a token (0.169.0), nor beside auth.json (0.145.0; 2026-11-23).
  const own = Object.entries(headers).find(([name]) => /^authorization$/i.test(name))
  return own ? /^Bearer (\S+)$/.exec(String(own[1]))?.[1] : noKey
}

/** The key of auth.json, where it is that of a provider. */
function formerKey(files: LoadedFiles, config: ReadFile, id: string, { key }: SetupTarget) {
  const { usableKey } = readCodexAuth(fileOf(files, 'auth'))
  const isIts = providerInUse(config)?.id === id && usableKey !== key
  return isIts && !placeholderOf(usableKey) ? usableKey : undefined
}

/** The table of an earlier setup, under another id. */
function isAsWeWrite(table: ConfigValue): boolean {
  const { requires_openai_auth, supports_websockets, wire_api } = tableIn(table, [])
  return requires_openai_auth === true && supports_websockets === false && wire_api === 'responses'
}

function isChosen(files: LoadedFiles, id: string): boolean {
  const chosen = layersOf(files, 'profile').map((file) => readFile(file).text(['model_provider']))
  return chosen.includes(id)
}
