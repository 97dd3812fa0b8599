import type { FileFix, Finding, Findings } from '../../finding.ts'
import { isSameButVersion } from '../../gateway/base-urls.ts'
import { isExported, unsetCommand } from '../checks/environment.ts'
import {
  findingAt,
  formerProviderFinding,
  missingKeyFinding,
  missingVersionFinding,
  otherAddressFinding,
} from '../checks/findings.ts'
import { placeholderOf } from '../checks/other-tools.ts'
import type { ClientContext } from '../contract/client.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { ClientOptions } from '../contract/options.ts'
import type { SetupTarget } from '../contract/setup.ts'
import {
  isOwnAddress,
  mayNeedNoKey,
  pointsElsewhere,
  shownUrl,
  withoutTrailingSlash,
} from '../files/addresses.ts'
import { fileOf, filesOfKind, type ParsedFile, parseFile } from '../files/parse-file.ts'
import { overlaid, type Table, tableIn, textIn } from '../files/tables.ts'
import { codexName } from '../names.ts'
import {
  builtInAddressPath,
  configRepair,
  credentialSettings,
  harmfulSettings,
  isAuthorization,
  isBedrockName,
  isTurnedOff,
  keyBlockers,
  noKey,
  type OtherProvider,
  otherLayers,
  otherProviders,
  type Provider,
  printsKeyFile,
  providerInUse,
  providersOf,
  readCodexAuth,
  reservedIds,
  tableName,
  vendorName,
  vendorUrl,
} from './config.ts'
import { checkKeyFile, keepsLogin, ourChanges } from './plan.ts'

// Other providers.

/**
 * Reports harmful settings in files that a setup does not write, in the table of our provider: no line in
 * config.toml removes them.
 */
function* checkHarmfulLayers(files: LoadedFiles, ourId: string): Findings {
  for (const file of otherLayers(files))
    for (const id of [ourId, 'openai']) {
      const path = ['model_providers', id]
      const [first, ...others] = harmfulSettings(file.table(path) ?? {})
      if (first === undefined) continue
      yield {
        code: 'codex-key-elsewhere',
        message: `${tableName(id)} in this file has ${[first, ...others].join(', ')}: Codex may send the key to another address, or not start`,
        location: file.place([...path, first]),
        hint: 'Remove these settings from the file.',
        severity: 'error',
      }
    }
}

/** Reports other addresses that would get the new key, and tables of earlier setups. */
function* checkOthersForSetup(
  context: ClientContext,
  config: ParsedFile,
  target: SetupTarget,
): Findings {
  // The setup removes auth.json if the key has a header, so that no provider gets it.
  if (target.keyHeader === 'authorization')
    yield* keepsLogin(target.input)
      ? checkRestoredLogin(context, config, target)
      : checkNewKey(context, config, target)
  yield* checkEarlierTables(context.files, config, target)
}

/** Keeps the new key from every other address. */
function* checkNewKey(context: ClientContext, config: ParsedFile, target: SetupTarget): Findings {
  const { providerId, baseUrl } = target
  const planned = overlaid({}, ourChanges(context.files, target))

  for (const provider of otherProviders(context.files, baseUrl, providerId, planned)) {
    const { id } = provider
    if (isEarlierTable(context.files, config, target, id)) continue

    if (id === 'openai' || id === providerId) yield acceptableFinding(provider)
    else {
      const oldKey = oldKeyOf(context.files, config, id, target)
      yield otherProviderFinding(config, provider, oldKey, target.input.requested)
    }

    if (isExported(context, keyBlockers.env_key))
      yield {
        code: 'codex-set-aside-variable',
        message: `${keyBlockers.env_key} is set, so repoint cannot stop Codex from sending the key to ${provider.address}`,
        location: 'environment',
        hint: unsetCommand(context.machine, keyBlockers.env_key),
        severity: 'error',
      }
  }
}

/** Keeps a login that the setup restores from providers that so far got the key in its place. */
function* checkRestoredLogin(
  { files }: ClientContext,
  config: ParsedFile,
  target: SetupTarget,
): Findings {
  if (readCodexAuth(fileOf(files, 'auth')).usableKey === undefined) return
  for (const provider of otherProviders(files, target.baseUrl, target.providerId)) {
    const { id, table } = provider
    if (id === 'openai' || table['requires_openai_auth'] !== true) continue
    if (isEarlierTable(files, config, target, id)) continue
    yield takingKeyFinding(provider, turnOff(config, provider, 'login'), 'login')
  }
}

/**
 * Removes the tables that earlier setups wrote for the same gateway under another ID, and enables a provider
 * again whose address is now the gateway's.
 */
function* checkEarlierTables(
  files: LoadedFiles,
  config: ParsedFile,
  target: SetupTarget,
): Findings {
  const layers = [config, ...otherLayers(files)]

  for (const { id, table, path } of providersOf(config)) {
    const url = textIn(table, ['base_url'])

    if (url !== undefined && isEarlierTable(files, config, target, id)) {
      yield formerProviderFinding(codexName, target, config, {
        providerId: id,
        url,
        hasKey: false,
        change: { path, role: 'address' },
      })
      continue
    }

    const blockers = Object.entries(keyBlockers)
      .filter(([name, value]) => textIn(table, [name]) === value)
      .map(([name]) => name)
    const isHarmless = layers.every((file) => harmfulSettings(file.table(path) ?? {}).length === 0)
    const isAtGateway = url !== undefined && isSameButVersion(url, target.baseUrl)
    // With a login in auth.json, the table would send it to the gateway.
    const isOther = isAtGateway && isHarmless && !keepsLogin(target.input)
    const isOurs = id === target.providerId || isOther
    if (blockers.length === 0 || !isOurs) continue

    yield findingAt(config, path, {
      code: 'codex-set-aside',
      message: `${tableName(id)} points at the gateway, and an earlier setup turned off its key`,
      hint: 'Remove the settings that turned it off.',
      fix: configRepair(...blockers.map((name) => ({ path: [...path, name], value: undefined }))),
      severity: 'warning',
    })
  }
}

/** Reports other addresses to which Codex can send its current key. */
function* checkOthersNow(files: LoadedFiles, config: ParsedFile, baseUrl: string): Findings {
  const ourId = providerInUse(config).id
  for (const provider of otherProviders(files, baseUrl, ourId)) {
    const { id, address, location, isAbove } = provider

    if (id !== 'openai' && id !== ourId) yield otherProviderFinding(config, provider)
    else if (isAbove) yield unfixableFinding(provider)
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
function unfixableFinding({ address, location, isLocalProfile }: OtherProvider): Finding {
  return {
    code: 'codex-key-elsewhere',
    message: `this file makes Codex send the key of auth.json to ${address}`,
    location,
    hint: 'Remove that address from the file.',
    severity: isLocalProfile ? 'warning' : 'error',
  }
}

/** The same for a setup. opencodex leaves a profile with its address on this machine (2.63.0, 2026-11-29). */
function acceptableFinding(provider: OtherProvider): Finding {
  const finding = unfixableFinding(provider)
  const { address, location, isLocalProfile } = provider
  if (!isLocalProfile) return finding
  const needsConsentTo = `Leave ${location}. Codex sends the key to ${address} if you start it with that profile.`
  return { ...finding, needsConsentTo }
}

/**
 * Reports a provider that would get our key, with the lines in its table that keep the key from it.
 *
 * @param oldKey the provider's own key, if the provider is in use and auth.json holds its key
 */
function otherProviderFinding(
  config: ParsedFile,
  provider: OtherProvider,
  oldKey?: string,
  { keepOldGateway }: ClientOptions = {},
): Finding {
  const { id, table } = provider
  if (table['requires_openai_auth'] !== true) return keylessFinding(config, provider)
  if (oldKey === undefined) return takingKeyFinding(provider, turnOff(config, provider))

  if (keepOldGateway)
    return takingKeyFinding(provider, {
      fix: blockingFix(config, provider, oldKey),
      needsConsentTo: `Write the old key to config.toml, only for ${tableName(id)}, so that its conversations continue at ${provider.address}. repoint rollback removes it.`,
    })

  const { fix, needsConsentTo } = turnOff(config, provider)
  const offer = 'To continue these conversations with the old key: repoint codex --keep-old-gateway'
  return takingKeyFinding(provider, { fix, needsConsentTo: `${needsConsentTo} ${offer}` })
}

type ConsentedFix = Required<Pick<Finding, 'fix' | 'needsConsentTo'>>

/** The provider's table asks for the key of auth.json. */
function takingKeyFinding(
  { id, address, location }: OtherProvider,
  fix: ConsentedFix,
  what = 'key',
): Finding {
  return {
    code: 'codex-other-provider',
    message: `${tableName(id)} makes Codex send the ${what} of auth.json to ${address}, from old conversations too`,
    location,
    hint: separateKeyHint,
    ...fix,
    severity: 'error',
  }
}

/** The provider's table asks for no key. A token in it keeps ours from the provider, and changes nothing else. */
function keylessFinding(config: ParsedFile, provider: OtherProvider): Finding {
  const { id, table, address, location } = provider
  const token = replacementToken(table)
  return {
    code: 'codex-keyless-provider',
    message: `${tableName(id)} has no key: Codex up to 0.145.0 sends the key of auth.json to ${address}`,
    location,
    hint: separateKeyHint,
    ...(token === undefined
      ? turnOff(config, provider)
      : { fix: blockingFix(config, provider, token) }),
    severity: 'warning',
  }
}

const separateKeyHint = 'Give it a separate key (env_key), or remove it.'

function turnOff(config: ParsedFile, provider: OtherProvider, what = 'new key'): ConsentedFix {
  const name = tableName(provider.id)
  const sentences = [
    `Turn off ${name}, so that ${provider.address} does not get the ${what}.`,
    'You can still read its conversations.',
    'To continue one at the new gateway, which then receives all of it: codex fork ID.',
    `repoint rollback restores ${name}.`,
  ]
  return { fix: blockingFix(config, provider), needsConsentTo: sentences.join(' ') }
}

/**
 * The lines that keep our key from a provider. Without a token they turn it off: `env_key` names a variable that nobody
 * sets, so Codex sends the provider nothing. Its conversations open, and Codex shows `env_key_instructions` instead of
 * an answer. Lines in config.toml also apply to a table of a profile, because Codex merges the tables of all layers. Run
 * on the versions that `OtherProvider` names.
 *
 * @param token what the provider sends instead
 */
function blockingFix(config: ParsedFile, { id, table }: OtherProvider, token?: string): FileFix {
  const path = ['model_providers', id]
  const { experimental_bearer_token: _, ...variableLines } = keyBlockers
  const lines = token === undefined ? variableLines : { experimental_bearer_token: token }
  // A profile's provider has no table here, and Codex does not start if a table has no name.
  const nameLine = config.table(path) ? {} : { name: textIn(table, ['name']) ?? id }

  return configRepair(
    ...Object.entries({ ...nameLine, ...lines }).map(([name, value]) => ({
      path: [...path, name],
      value,
      isSecret: value === token && value !== noKey,
    })),
  )
}

/**
 * The token that a provider without a key sends instead of ours. Undefined: it has a credential that is not a
 * bearer token.
 */
function replacementToken(table: Table): string | undefined {
  const headers = { ...tableIn(table, ['env_http_headers']), ...tableIn(table, ['http_headers']) }
  // Codex does not send it with a token (0.169.0), nor with auth.json (0.145.0; 2026-11-23).
  const authorization = Object.entries(headers).find(([name]) => isAuthorization(name))
  if (authorization === undefined) return noKey
  return /^Bearer (\S+)$/.exec(String(authorization[1]))?.[1]
}

/** The key of auth.json, if it belongs to that provider. */
function oldKeyOf(files: LoadedFiles, config: ParsedFile, id: string, { key }: SetupTarget) {
  const { usableKey } = readCodexAuth(fileOf(files, 'auth'))
  const isItsKey = providerInUse(config).id === id && usableKey !== key
  return isItsKey && !placeholderOf(usableKey) ? usableKey : undefined
}

/** Whether an earlier setup for the same gateway wrote the table under another ID. A setup removes it. */
function isEarlierTable(
  files: LoadedFiles,
  config: ParsedFile,
  target: SetupTarget,
  id: string,
): boolean {
  const table = config.table(['model_providers', id])
  if (table === undefined || id === target.providerId || isChosen(files, id)) return false
  const url = textIn(table, ['base_url'])
  return url !== undefined && isSameButVersion(url, target.baseUrl) && isAsWeWrite(table)
}

function isAsWeWrite(table: Table): boolean {
  const { auth, requires_openai_auth, supports_websockets, wire_api } = table
  const hasOurKey = requires_openai_auth === true || printsKeyFile(auth)
  return hasOurKey && supports_websockets === false && wire_api === 'responses'
}

/** Whether a profile selects the provider. */
function isChosen(files: LoadedFiles, id: string): boolean {
  const chosen = filesOfKind(files, 'profile').map((file) =>
    parseFile(file).text(['model_provider']),
  )
  return chosen.includes(id)
}

// The provider in use.

/** Reports what in the provider tables would defeat the address and key that a setup is about to write. */
export function* checkProvidersForSetup(
  context: ClientContext,
  config: ParsedFile,
  target: SetupTarget,
): Findings {
  if (!keepsLogin(target.input)) yield* checkOpenaiBaseUrl(context, config, target)
  const current = providersOf(config).find(({ id }) => id === target.providerId)
  if (current !== undefined) yield* checkPlannedTable(context, config, target, current)

  yield* checkHarmfulLayers(context.files, target.providerId)
  yield* checkOthersForSetup(context, config, target)
}

/** Reports what is in the table that a setup is about to write. */
function* checkPlannedTable(
  context: ClientContext,
  config: ParsedFile,
  target: SetupTarget,
  { id, table, path }: Provider,
): Findings {
  const addressPath = [...path, 'base_url']
  const url = config.text(addressPath)
  yield* otherAddressFinding(context, target, {
    code: 'codex-provider-conflict',
    what: tableName(id),
    url,
    location: config.place(addressPath),
  })

  // The plan removes all others from a table for another gateway, with consent.
  if (!pointsElsewhere(url, target.baseUrl))
    yield* checkHarmfulSettings(config, { id, table, path })
  // The fix of `codex-set-aside` and the plan remove what an earlier setup of ours wrote.
  const blockers: readonly unknown[] = Object.values(keyBlockers)
  const notOurs = Object.entries(table).filter(
    ([name, value]) => !blockers.includes(value) && !(name === 'auth' && printsKeyFile(value)),
  )
  const effect = keepsLogin(target.input) ? 'would replace the gateway key' : 'overrides auth.json'
  yield* checkOwnAuth(config, { id, path, table: Object.fromEntries(notOurs) }, effect)
}

/** Reports what is wrong with the provider in use. */
export function* checkProvidersNow(context: ClientContext, config: ParsedFile): Findings {
  const { id: ourId, url, keySource } = providerInUse(config)
  const provider = providersOf(config).find(({ id }) => id === ourId)
  if (provider === undefined || reservedIds.includes(provider.id)) return
  const isOurs = url !== undefined && isOwnAddress(url, context)

  yield* checkMissingV1(context, config, provider)
  if (isOurs) {
    yield* checkHarmfulSettings(config, provider)
    yield* checkHarmfulLayers(context.files, provider.id)
  }
  if (isTurnedOff(provider.table)) {
    yield turnedOffFinding(config, provider)
    return
  }
  if (isOurs && keySource.kind === 'auth.json')
    yield* checkOthersNow(context.files, config, withoutTrailingSlash(url))

  yield* checkName(config, provider)
  if (isOurs && provider.table['requires_openai_auth'] === true)
    yield* checkOwnAuth(config, provider)
  if (keySource.kind === 'key-file') yield* checkKeyFile(context, config, provider)
  if (keySource.kind === 'variable')
    yield* checkKeyVariable(context, config, provider, keySource.name)
  if (keySource.kind === 'auth.json' && !url) yield missingAddressFinding(config, provider)
  if (keySource.kind === 'none' && !mayNeedNoKey(url, context))
    yield missingAuthFinding(config, provider)
}

/** Reports what makes Codex compact at the server, which only OpenAI's own does. */
function* checkName(config: ParsedFile, { table, path }: Provider): Findings {
  const url = textIn(table, ['base_url'])
  const isVendor =
    url !== undefined && URL.canParse(url) && new URL(url).host === new URL(vendorUrl).host
  if (isVendor) return

  const effect = 'Codex asks the gateway to compact a long conversation, and most cannot'
  const shared = { code: 'codex-remote-compaction', severity: 'warning' } as const
  if (table['name'] === vendorName)
    yield findingAt(config, [...path, 'name'], {
      ...shared,
      message: `name = ${JSON.stringify(vendorName)}: ${effect}`,
      hint: 'Give it another name.',
      becomes: { value: 'Gateway' },
    })
  for (const [name, value] of config.members(['features']))
    if (name.startsWith('remote_compaction') && value === true)
      yield findingAt(config, ['features', name], {
        ...shared,
        message: `features.${name} = true: ${effect}`,
        hint: 'Remove it.',
        becomes: { value: undefined },
      })
}

/** Codex stops if the variable that `env_key` names is not set, even with a token next to it (0.171.0, 2026-11-28). */
function* checkKeyVariable(
  context: ClientContext,
  config: ParsedFile,
  { path }: Provider,
  variable: string,
): Findings {
  if (isExported(context, variable)) return
  const place = config.place([...path, 'env_key'])
  const message = `Codex reads its key from ${variable}, which is not set`
  yield {
    ...missingKeyFinding(codexName, place, message),
    hint: `Set ${variable}, or set Codex up: repoint codex`,
  }
}

/** Offers no fix: the key in auth.json may belong to another address than this provider's. */
function turnedOffFinding(config: ParsedFile, { id, path }: Provider): Finding {
  return findingAt(config, [...path, 'env_key'], {
    code: 'codex-set-aside',
    message: `Codex uses ${tableName(id)}, which a setup turned off: it sends nothing`,
    hint: 'Undo the setup: repoint rollback codex. Or set Codex up again: repoint codex',
    topic: 'key-missing',
  })
}

/** repoint writes this table, so it removes every setting that is not known to be harmless. */
function* checkHarmfulSettings(config: ParsedFile, { id, table, path }: Provider): Findings {
  const [first, ...others] = harmfulSettings(table)
  if (first !== undefined) {
    const keys = [first, ...others]
    const asKey = { value: undefined, isSecret: true, role: 'key' } as const
    const changes = keys.map((key) => ({ path: [...path, key], ...asKey }))
    yield findingAt(config, [...path, first], {
      code: 'codex-provider-setting',
      message: `${keys.join(', ')} in ${tableName(id)}: Codex may send the key to another address, or not start`,
      hint: `Remove ${keys.length === 1 ? 'it' : 'them'}.`,
      fix: configRepair(...changes),
    })
  }

  if (isBedrockName(table['name']))
    yield findingAt(config, [...path, 'name'], {
      code: 'codex-provider-setting',
      message: `Codex sends no key: ${tableName(id)} has name = ${JSON.stringify(table['name'])}`,
      hint: 'Give it another name.',
      becomes: { value: 'Gateway' },
    })
}

function* checkOwnAuth(
  config: ParsedFile,
  { id, table, path }: Provider,
  effect = 'overrides auth.json',
): Findings {
  for (const key of credentialSettings) {
    if (table[key] === undefined) continue
    const isSecret = key === 'experimental_bearer_token'
    yield findingAt(config, [...path, key], {
      code: 'codex-provider-auth',
      message: `${key} in ${tableName(id)} ${effect}`,
      hint: 'Remove it.',
      becomes: { value: undefined, isSecret },
      needsConsentTo: `Remove ${key} from ${tableName(id)}.`,
    })
  }
}

function missingAddressFinding(config: ParsedFile, { id, path }: Provider): Finding {
  return findingAt(config, path, {
    code: 'codex-no-address',
    message: `${tableName(id)} has no base_url: Codex sends the key of auth.json to OpenAI`,
    hint: 'Set Codex up: repoint codex. Or remove the table and model_provider.',
  })
}

function missingAuthFinding(config: ParsedFile, { id, path }: Provider): Finding {
  return findingAt(config, path, {
    code: 'codex-no-auth',
    message: `Codex sends no key: ${tableName(id)} has no requires_openai_auth = true`,
    hint: 'Set requires_openai_auth = true.',
    fix: configRepair({ path: [...path, 'requires_openai_auth'], value: true }),
    topic: 'key-missing',
  })
}

/** Codex appends `/responses` to the address unchanged (0.169.0): without `/v1` a web page answers. */
function* checkMissingV1(
  context: ClientContext,
  config: ParsedFile,
  { id, path }: Provider,
): Findings {
  const addresses = [
    { name: `base_url of ${id}`, path: [...path, 'base_url'] },
    { name: 'openai_base_url', path: builtInAddressPath },
  ]
  for (const { name, path: addressPath } of addresses)
    yield* missingVersionFinding(codexName, context, config, {
      url: config.text(addressPath),
      path: addressPath,
      name,
    })
}

function* checkOpenaiBaseUrl(
  context: ClientContext,
  config: ParsedFile,
  target: SetupTarget,
): Findings {
  const url = config.text(builtInAddressPath)
  if (url === undefined || isOwnAddress(url, context, target)) return
  yield findingAt(config, builtInAddressPath, {
    code: 'codex-openai-base-url',
    message: `openai_base_url already has another address, ${shownUrl(url)}`,
    hint: 'To keep it, use a separate folder for this setup: set CODEX_HOME.',
    needsConsentTo: `Replace openai_base_url, so that old conversations do not send the key to ${shownUrl(url)}. repoint rollback restores it.`,
    severity: 'warning',
  })
}
