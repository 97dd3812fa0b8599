import { compact } from '../../compact.ts'
import { showPath } from '../../edits/values/paths.ts'
import type { Findings } from '../../finding.ts'
import {
  findingAt,
  formerProviderFinding,
  missingKeyFinding,
  missingVersionFinding,
  otherAddressFinding,
} from '../checks/findings.ts'
import { leftoverFindings } from '../checks/other-tools.ts'
import type { ClientContext } from '../contract/client.ts'
import { defaultProviderId } from '../contract/options.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { mayNeedNoKey, pointsElsewhere, withoutTrailingSlash } from '../files/addresses.ts'
import { fileOf, type ParsedFile, parseKind, parseLayers } from '../files/parse-file.ts'
import { isTable, type Table, textIn } from '../files/tables.ts'
import { removal } from '../plan/edit-file.ts'
import { withoutForeignSettings } from '../plan/foreign-settings.ts'
import {
  type ConfiguredProvider,
  loginOf,
  mergedConfig,
  providerIdInUse,
  providerOf,
  readAuth,
  readKey,
  userFiles,
} from './config.ts'
import type { Fork } from './fork.ts'
import { harmless } from './plan.ts'
import { sdkBaseUrl, usualPackage } from './protocols.ts'

/** The effective configuration, and the provider that a check is about. */
export interface OpencodeView extends Fork {
  readonly context: ClientContext
  /** The file that a setup writes. */
  readonly configFile: ParsedFile
  /** The user's files merged. */
  readonly config: Table
  /** The provider of the default model. */
  readonly idInUse: string | undefined
  /** The provider that the check is about. */
  readonly providerId: string
  readonly provider: ConfiguredProvider
}

/** @param wanted the provider of a setup. Absent: the one in use */
export function viewOf(fork: Fork, context: ClientContext, wanted?: string): OpencodeView {
  const { value: config } = mergedConfig(context.files)
  const idInUse = providerIdInUse(config)
  const providerId = wanted ?? idInUse ?? defaultProviderId
  return {
    ...fork,
    context,
    configFile: parseKind(context.files, 'config'),
    config,
    idInUse,
    providerId,
    provider: providerOf(config, providerId),
  }
}

/** Reports what conflicts with the provider that a setup is about to write, or overrides it. */
export function* checkProviderForSetup(view: OpencodeView, target: SetupTarget): Findings {
  const { id, context, configFile, providerId, provider } = view
  yield* otherAddressFinding(context, target, {
    code: `${id}-provider-conflict`,
    what: `the provider ${providerId}`,
    url: provider.url,
    location: configFile.place(addressPath(providerId)),
  })
  yield* checkInlineKeys(view)
  yield* checkWeakerFiles(view, target)
}

/** The client merges the provider of a weaker file into ours. repoint does not write such a file. */
function* checkWeakerFiles(
  { id, label, context, providerId, provider }: OpencodeView,
  target: SetupTarget,
): Findings {
  const path = ['provider', providerId]
  const isOtherGateway = pointsElsewhere(provider.url, sdkBaseUrl(target))
  for (const file of parseLayers(context.files, 'lower')) {
    const now = file.table(path) ?? {}
    const taken = { path, now, isOtherGateway, harmless: [...harmless, 'options.apiKey'] }
    const [foreign] = withoutForeignSettings([], taken, target)
    if (foreign === undefined) continue
    yield findingAt(file, foreign.path, {
      code: `${id}-weaker-file`,
      message: `${showPath(foreign.path)} may belong to another gateway, and ${label} would use it for this one`,
      hint: 'Remove it from that file.',
    })
  }
}

/** Reports what is wrong with the provider in use: its address, its key, its models. */
export function* checkProviderNow(view: OpencodeView): Findings {
  const { context, configFile, idInUse, providerId, provider } = view
  const { url } = provider

  if (loginOf(context.files, providerId) !== undefined) yield* checkInlineKeys(view)
  yield* missingVersionFinding(view, context, configFile, {
    url,
    // The client appends `/messages` to the same base URL.
    protocol: 'chat',
    path: addressPath(providerId),
    name: `baseURL of ${providerId}`,
    effect: `, and ${view.label} retries forever`,
  })
  if (idInUse !== providerId) return

  yield* checkModel(view)
  yield* checkMissingKey(view)
  yield* checkLeftovers(view)
}

function addressPath(providerId: string): readonly string[] {
  return ['provider', providerId, 'options', 'baseURL']
}

function* checkInlineKeys({ id, context, configFile, providerId }: OpencodeView): Findings {
  const path = ['provider', providerId, 'options', 'apiKey']
  for (const file of userFiles(context.files)) {
    const value = file.get(path)
    if (value === undefined) continue

    const keyRemoval = removal(file, `options.apiKey of ${providerId}`, { path, isSecret: true })
    yield findingAt(file, path, {
      code: `${id}-api-key`,
      message: `options.apiKey of ${providerId} overrides auth.json${value === '' ? ', although it is empty' : ''}`,
      // repoint does not write a weaker file.
      ...(file.path === configFile.path ? keyRemoval : compact({ hint: keyRemoval.hint })),
    })
  }
}

function* checkModel({
  id,
  label,
  context,
  configFile,
  config,
  providerId,
}: OpencodeView): Findings {
  const model = String(config['model']).slice(providerId.length + 1)
  const path = ['provider', providerId, 'models', model]
  if (userFiles(context.files).some((file) => file.table(path))) return

  yield findingAt(configFile, ['model'], {
    code: `${id}-model-unlisted`,
    message: `the model ${model} is not in the models of ${providerId}: ${label} does not find it`,
    // Only the gateway could tell whether an entry for the model would help.
    hint: `Add the models of the gateway: repoint ${id}`,
  })
}

function* checkMissingKey(view: OpencodeView): Findings {
  const { label, context, providerId, provider } = view
  const auth = fileOf(context.files, 'auth')
  const isKeyElsewhere =
    hasKeyFromOutside(provider, context) || readAuth(auth).whyIgnored !== undefined
  if (mayNeedNoKey(provider.url, context) || isKeyElsewhere) return
  if (readKey(context.files, providerId, provider.options)) return

  const message = `auth.json contains no key for ${providerId}: ${label} sends none`
  yield missingKeyFinding(view, auth.path, message)
}

/** Whether the key comes from a variable that is set, from another file or from a header. */
function hasKeyFromOutside(
  { table, options }: ConfiguredProvider,
  { machine }: ClientContext,
): boolean {
  const { apiKey: inline, headers } = options
  if (typeof inline === 'string' && inline !== '') {
    const variable = /^\{env:(.*)\}$/.exec(inline)
    return variable === null || Boolean(machine.env[variable[1]!])
  }
  const variables = Array.isArray(table['env']) ? table['env'] : []
  if (inline === undefined && variables.some((name) => machine.env[String(name)])) return true
  return isTable(headers) && Object.keys(headers).some((name) => /^authorization$/i.test(name))
}

function checkLeftovers(view: OpencodeView): Findings {
  const { context, configFile, providerId, provider } = view
  const read = readKey(context.files, providerId, provider.options)
  return leftoverFindings(view, context, {
    url: provider.url,
    urlPlace: () => configFile.place(addressPath(providerId)),
    key: read?.key,
    keyPlace: read?.keyPath ?? '',
  })
}

/** Reports providers of earlier setups, and their keys. */
export function* checkFormerProviders(view: OpencodeView, target: SetupTarget): Findings {
  const { id: client, context, configFile, providerId } = view
  const auth = parseKind(context.files, 'auth')
  for (const [id, table] of configFile.members(['provider'])) {
    const url = textIn(table, ['options', 'baseURL'])
    const isAsWeWrite = textIn(table, ['npm']) === usualPackage
    if (id === providerId || !isAsWeWrite) continue
    if (url === undefined || !context.writtenBaseUrls.includes(withoutTrailingSlash(url))) continue

    const hasKey = auth.text([id, 'type']) === 'api'
    const provider = formerProviderFinding(view, target, configFile, {
      providerId: id,
      url,
      change: { path: ['provider', id], role: 'address' },
      hasKey,
      otherPlace: `its entry in ${auth.path}`,
    })
    yield provider
    if (provider.fix === undefined || !hasKey) continue

    yield findingAt(auth, [id], {
      code: `${client}-former-key`,
      message: `an earlier setup left the key of the provider ${id}`,
      hint: 'Remove it.',
      becomes: { value: undefined, isSecret: true, role: 'key' },
      severity: 'warning',
    })
  }
}
