import type { Finding, Findings } from '../../../finding.ts'
import { isExported } from '../../checks/environment.ts'
import {
  findingAt,
  missingKeyFinding,
  missingVersionFinding,
  otherAddressFinding,
} from '../../checks/findings.ts'
import type { ClientContext } from '../../contract/client.ts'
import type { SetupTarget } from '../../contract/setup.ts'
import {
  isOwnAddress,
  mayNeedNoKey,
  pointsElsewhere,
  shownUrl,
  withoutTrailingSlash,
} from '../../files/addresses.ts'
import type { ParsedFile } from '../../files/parse-file.ts'
import { textIn } from '../../files/tables.ts'
import { codexName } from '../../names.ts'
import { checkKeyFile, keepsLogin } from '../key-file.ts'
import { checkHarmfulLayers, checkOthersForSetup, checkOthersNow } from './check-other-providers.ts'
import { printsKeyFile } from './key-command.ts'
import {
  builtInAddressPath,
  configRepair,
  credentialSettings,
  harmfulSettings,
  isBedrockName,
  isTurnedOff,
  keyBlockers,
  keySourceOf,
  type Provider,
  providerInUse,
  providersOf,
  reservedIds,
  tableName,
  takesAuthFile,
  vendorName,
  vendorUrl,
} from './provider.ts'

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
  // The plan replaces what an earlier setup of ours wrote.
  const blockers: readonly unknown[] = Object.values(keyBlockers)
  const notOurs = Object.entries(table).filter(
    ([name, value]) => !blockers.includes(value) && !(name === 'auth' && printsKeyFile(value)),
  )
  const effect = keepsLogin(target.input) ? 'would replace the gateway key' : 'overrides auth.json'
  yield* checkOwnAuth(config, { id, path, table: Object.fromEntries(notOurs) }, effect)
}

/** Reports what is wrong with the provider in use. */
export function* checkProvidersNow(context: ClientContext, config: ParsedFile): Findings {
  const provider = providersOf(config).find(({ id }) => id === providerInUse(config)?.id)
  if (provider === undefined || reservedIds.includes(provider.id)) return
  const url = config.text([...provider.path, 'base_url'])

  yield* checkMissingV1(context, config, provider)
  if (url !== undefined && isOwnAddress(url, context)) {
    yield* checkHarmfulSettings(config, provider)
    yield* checkHarmfulLayers(context.files, provider.id)
  }
  if (isTurnedOff(provider.table)) {
    yield turnedOffFinding(config, provider)
    return
  }
  if (url !== undefined && isOwnAddress(url, context) && takesAuthFile(config))
    yield* checkOthersNow(context.files, config, withoutTrailingSlash(url))

  yield* checkName(config, provider)
  const source = keySourceOf(provider.table)
  const isOurs = url !== undefined && isOwnAddress(url, context)
  if (isOurs && provider.table['requires_openai_auth'] === true)
    yield* checkOwnAuth(config, provider)
  if (source.kind === 'key-file') yield* checkKeyFile(context, config, provider)
  if (source.kind === 'variable') yield* checkKeyVariable(context, config, provider, source.name)
  if (source.kind === 'auth.json' && !url) yield missingAddressFinding(config, provider)
  if (source.kind === 'none' && !mayNeedNoKey(url, context))
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
