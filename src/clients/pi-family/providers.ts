/**
 * The providers of pi's file, and of OpenClaw's, which is based on pi's library: how the files list them, what a setup
 * changes, what the checks report.
 */
import type { ConfigValue, SettingChange, SettingPath } from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import type { Findings } from '../../finding.ts'
import { isSameButVersion, sideOf } from '../../gateway/base-urls.ts'
import { type ExtraHeader, type Protocol, protocols } from '../../gateway/types.ts'
import {
  findingAt,
  formerProviderFindings,
  missingKeyFinding,
  otherAddressFinding,
} from '../checks/findings.ts'
import { addressFindings } from '../checks/other-tools.ts'
import type { ClientContext, ClientName } from '../contract/client.ts'
import type { LoadedFile } from '../contract/files.ts'
import type { OfferedModel, ResolvedOptions, SetupTarget } from '../contract/setup.ts'
import type { ClientState, SentKey } from '../contract/state.ts'
import {
  isOwnAddress,
  mayNeedNoKey,
  pointsElsewhere,
  shownUrl,
  withoutTrailingSlash,
} from '../files/addresses.ts'
import type { StrictFile } from '../files/strict-json.ts'
import { isTable, numberIn, plainName, type Table, tableIn, textIn } from '../files/tables.ts'
import { removal } from '../plan/edit-file.ts'
import { type EntryMember, listChanges, writtenAbility } from '../plan/entries.ts'
import { withoutForeignSettings } from '../plan/foreign-settings.ts'
import { headerChanges, readHeaders } from '../plan/headers.ts'

// Facts.

/**
 * How a client's file lists its providers: pi's, and that of OpenClaw, which is based on pi's library. Each
 * provider has an address, a protocol, a key, headers and a list of models.
 */
export interface ProviderFormat {
  readonly client: Pick<ClientName, 'id' | 'label'>
  /** Of the table of providers. */
  readonly path: readonly string[]
  /** The settings that every provider of a setup has in addition. */
  readonly always: Readonly<Record<string, ConfigValue>>
  /** The client rejects a model without a name. */
  readonly namesModels: boolean
  /** Of `TakenTable`, for a provider. */
  readonly harmless: readonly string[]
  /** What the client does with a model that is not in the list, as the end of a sentence. */
  readonly unlisted: string
  /** The additional settings that a reasoning model with this ID needs, by protocol. */
  readonly compat?: Readonly<Partial<Record<Protocol, (id: string) => Table | undefined>>>
}

/**
 * The values of `api` for each protocol; both clients know more (pi 0.87.1, OpenClaw 2026.9.6, 2026-11-23).
 */
export const apiOf: Readonly<Record<Protocol, string>> = {
  responses: 'openai-responses',
  chat: 'openai-completions',
  messages: 'anthropic-messages',
}

/**
 * The settings that pi and OpenClaw only use themselves, and those of `compat` that `firstRequest` applies to the
 * probe. Read in the schema of pi 0.87.1, 2026-11-28.
 */
export const harmlessInBoth: readonly string[] = [
  ...['name', 'authHeader'],
  ...['id', 'name', 'input', 'reasoning', 'cost', 'contextWindow', 'maxTokens'].map(
    (member) => `models.*.${member}`,
  ),
  ...['compat', 'models.*.compat'].flatMap((compat) => [
    `${compat}.supports*`,
    `${compat}.maxTokensField`,
  ]),
]

// Reader.

/** A provider of the table. */
export interface PiProvider {
  readonly table: Table
  /** Absent: the client ships the provider, or there is none. */
  readonly url: string | undefined
  /** If several have the same ID, pi uses the last. */
  readonly models: readonly Table[]
}

interface Rooted {
  readonly root: Table
}

export function providerOf(format: ProviderFormat, { root }: Rooted, id: string): PiProvider {
  const table = tableIn(root, providerPath(format, id))
  const list: readonly ConfigValue[] = Array.isArray(table['models']) ? table['models'] : []
  return { table, url: textIn(table, ['baseUrl']), models: list.filter(isTable) }
}

export function modelOf({ models }: PiProvider, id: string | undefined): Table | undefined {
  return models.findLast((model) => model['id'] === id)
}

/** The headers that the files add for one model. An entry overrides `modelOverrides` (read in 0.87.1, 2026-11-28). */
export function headersOfModel(
  provider: PiProvider,
  id: string,
): readonly ExtraHeader[] | undefined {
  const override = tableIn(provider.table, ['modelOverrides', id, 'headers'])
  return readHeaders({ ...override, ...tableIn(modelOf(provider, id), ['headers']) }).headers
}

export function providerPath({ path }: ProviderFormat, id: string): readonly string[] {
  return [...path, id]
}

function modelPath(format: ProviderFormat, providerId: string, id: string): SettingPath {
  return [...providerPath(format, providerId), 'models', { element: { id } }]
}

/** The effective settings of the provider that the client starts with, except the key. */
export function effectiveSettings(
  provider: PiProvider,
  model: string | undefined,
): Pick<ClientState, 'endpoint' | 'options'> {
  const { table, models } = provider
  const entry = modelOf(provider, model) ?? {}
  const url = entry['baseUrl'] ?? provider.url
  const api = entry['api'] ?? table['api']
  const baseUrl = typeof url === 'string' ? withoutTrailingSlash(url) : undefined
  const { headers, headerKey } = readHeaders(table['headers'])

  // A model of the same provider may have another address, to which the client sends the same key. The base
  // URL of another protocol of the same gateway does not count.
  const urls = models.flatMap(({ baseUrl: modelUrl }) =>
    typeof modelUrl === 'string' ? [modelUrl] : [],
  )
  return {
    endpoint: {
      baseUrl,
      keyHeader: headerKey?.keyHeader ?? 'authorization',
      headers,
      alsoSendsTo: urls.find((url) => !isSameButVersion(url, baseUrl ?? '')),
    },
    options: {
      protocol: protocols.find((protocol) => apiOf[protocol] === api),
      model,
      contextWindow: numberIn(entry, ['contextWindow']),
    },
  }
}

// Plan.

/**
 * The changes to a provider. Its models keep what the user wrote into them.
 *
 * @throws UserError `config-conflict` if it lists a model twice, which only the user can fix
 */
export function providerChanges(
  format: ProviderFormat,
  file: LoadedFile & Rooted,
  target: SetupTarget,
): readonly SettingChange[] {
  const { resolved, providerId, key, baseUrl } = target
  const path = providerPath(format, providerId)
  const now = providerOf(format, file, providerId)

  const ids = now.models.map(({ id }) => id)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined)
    throw new UserError({
      code: 'config-conflict',
      message: `${file.path} lists the model ${twice} of ${providerId} twice`,
      hint: `Remove one of them: ${format.client.label} uses only one.`,
    })

  const isOtherGateway = pointsElsewhere(now.url, baseUrl)
  const changes: readonly SettingChange[] = [
    { path: [...path, 'baseUrl'], value: baseUrl },
    { path: [...path, 'api'], value: apiOf[resolved.protocol] },
    { path: [...path, 'apiKey'], value: key, isSecret: true },
    ...Object.entries(format.always).map(([name, value]) => ({ path: [...path, name], value })),
    // Without it, the client sends the key only as x-api-key over messages; pi adds the value of
    // ANTHROPIC_AUTH_TOKEN.
    ...(usesMessages(resolved) ? [{ path: [...path, 'authHeader'], value: true }] : []),
    ...headerChanges([...path, 'headers'], now.table['headers'], target, isOtherGateway),
    ...modelChanges(format, file, now, target),
  ]
  return withoutForeignSettings(
    changes,
    { path, now: now.table, isOtherGateway, harmless: format.harmless },
    target,
  )
}

function modelChanges(
  format: ProviderFormat,
  file: LoadedFile,
  now: PiProvider,
  target: SetupTarget,
): readonly SettingChange[] {
  const { providerId, baseUrl } = target
  const list = {
    pathOf: (id: string) => modelPath(format, providerId, id),
    now: new Map(now.models.map((entry) => [plainName(entry['id']), entry])),
    // Also true for the address of another protocol: the models had that protocol.
    isOtherGateway: now.url !== undefined && withoutTrailingSlash(now.url) !== baseUrl,
    hasOtherAddress: (entry: Table) => pointsElsewhere(textIn(entry, ['baseUrl']), baseUrl),
    membersOf: (model: OfferedModel, entry?: Table) => membersOf(format, model, target, entry),
  }
  return listChanges(file, list, target)
}

/**
 * The members of a model's entry. Without them, the client assumes a model without images and reasoning, and
 * with usual limits.
 *
 * The entry has a protocol only if it is not the provider's, and then also the base URL of that protocol (run
 * with pi 0.73.1 and 0.87.1 and OpenClaw 2026.9.6, 2026-11-26).
 *
 * @param now the entry in the file, unless it is new
 */
export function membersOf(
  { namesModels, compat: compatBy }: ProviderFormat,
  model: OfferedModel,
  target: SetupTarget,
  now?: Table,
): readonly EntryMember[] {
  const { resolved, baseUrl: providerUrl, baseUrls } = target
  const { id, protocol, displayName, outputLimit } = model
  const window = (id === resolved.model ? resolved.contextWindow : undefined) ?? model.contextWindow
  const isOfProvider = protocol === resolved.protocol
  const baseUrl = baseUrls[sideOf(protocol)]
  const images = writtenAbility('images', model, target)
  const inputs = images ? ['text', 'image'] : ['text']
  const reasoning = writtenAbility('reasoning', model, target)
  const compat = reasoning ? compatBy?.[protocol]?.(id) : undefined
  const name = displayName || (namesModels ? id : undefined)

  return [
    ...(now === undefined
      ? [
          { path: ['id'], value: id },
          { path: ['name'], value: name },
        ]
      : []),
    { path: ['input'], value: images === undefined ? undefined : inputs, about: ['images'] },
    { path: ['reasoning'], value: reasoning, about: ['reasoning'] },
    // No option decides this: the user's value stays, unless `--defaults` replaces it.
    { path: ['compat'], value: compat, about: [] },
    { path: ['contextWindow'], value: window, about: ['contextWindow'] },
    { path: ['maxTokens'], value: outputLimit, about: ['outputLimit'] },
    { path: ['api'], value: isOfProvider ? undefined : apiOf[protocol], about: 'protocol' },
    { path: ['baseUrl'], value: baseUrl === providerUrl ? undefined : baseUrl, about: 'protocol' },
  ]
}

// Checks.

/** The configuration, with the provider and the model that a check is about. */
export interface ProviderView {
  readonly context: ClientContext
  readonly format: ProviderFormat
  /** The file that holds the table. */
  readonly models: StrictFile
  readonly providerId: string
  readonly provider: PiProvider
  readonly model: string
  /** The place of the setting that chooses the model. */
  readonly modelPlace: string
  /** The key that the client would send, and the file that holds it, as far as the files tell. */
  readonly sent: Partial<SentKey>
  /** The key comes from a place that repoint does not read: a variable, a command or a login. */
  readonly isKeyElsewhere: boolean
}

/** Reports what conflicts with the provider that a setup is about to write, or overrides it. */
export function* checkProviderForSetup(view: ProviderView, target: SetupTarget): Findings {
  const { context, format, models, providerId, provider } = view
  yield* otherAddressFinding(context, target, {
    code: `${format.client.id}-provider-conflict`,
    what: `the provider ${providerId}`,
    url: provider.url,
    location: models.place(addressPath(view)),
  })
  yield* checkAuthorizingHeaders(view, target.key)
  // The plan replaces or removes the addresses that an earlier setup wrote.
  const isOurs = (url: string) => isOwnAddress(url, context)
  yield* checkModelAddresses(view, target.baseUrl, isOurs)
}

/** Reports what is wrong with the provider in use: its address, its key, its models. */
export function* checkProviderNow(view: ProviderView, url: string): Findings {
  const { context, format, models, providerId, provider, model, sent } = view
  const { id, label } = format.client

  yield* checkAuthorizingHeaders(view)
  yield* checkModelAddresses(view, withoutTrailingSlash(url))
  yield* addressFindings(format.client, context, models, {
    url,
    protocol: protocols.find((protocol) => apiOf[protocol] === provider.table['api']),
    path: addressPath(view),
    name: `baseUrl of ${providerId}`,
    effect: `, and ${label} may not answer`,
    key: sent.key,
    keyPlace: sent.keyPath ?? '',
  })
  if (modelOf(provider, model) === undefined)
    yield {
      code: `${id}-model-unlisted`,
      message: `the model ${model} is not in the models of ${providerId}${format.unlisted}`,
      location: view.modelPlace,
      hint: `Add the models of the gateway: repoint ${id}`,
      severity: 'error',
    }

  if (sent.key !== undefined || view.isKeyElsewhere || mayNeedNoKey(url, context)) return
  yield missingKeyFinding(
    format.client,
    models.place([...providerPath(format, providerId), 'apiKey']),
    `${label} finds no key for ${providerId}`,
  )
}

function addressPath({ format, providerId }: ProviderView): SettingPath {
  return [...providerPath(format, providerId), 'baseUrl']
}

/**
 * Reports headers that replace the provider's key.
 *
 * @param wanted the key that a setup is about to write. Absent: the current key
 */
function* checkAuthorizingHeaders(view: ProviderView, wanted?: string): Findings {
  const { format, models, providerId, provider } = view
  const key = wanted ?? provider.table['apiKey']
  const all = /^(?:authorization|x-api-key|api-key)$/i
  const tables = [
    {
      path: providerPath(format, providerId),
      headers: tableIn(provider.table, ['headers']),
      // A setup itself corrects the other headers.
      names: wanted === undefined ? all : /^authorization$/i,
    },
    ...provider.models.map((model) => ({
      path: modelPath(format, providerId, plainName(model['id'])),
      headers: tableIn(model, ['headers']),
      names: all,
    })),
    // pi 0.87.1 reads them, and 0.73.1 does not; OpenClaw has none.
    ...Object.entries(tableIn(provider.table, ['modelOverrides'])).map(([id, override]) => ({
      path: [...providerPath(format, providerId), 'modelOverrides', id],
      headers: tableIn(override, ['headers']),
      names: all,
    })),
  ]

  for (const { path, headers, names } of tables) {
    for (const [name, value] of Object.entries(headers)) {
      if (!names.test(name) || value === key) continue

      const what = `header ${name} of ${providerId}`
      const change = { path: [...path, 'headers', name], isSecret: true, role: 'key' } as const
      yield findingAt(models, change.path, {
        code: `${format.client.id}-authorizing-header`,
        message: `the ${what} overrides its key`,
        ...removal(models, `the ${what}`, change),
      })
    }
  }
}

/** A model with another address: the client sends the provider's key there too. */
function* checkModelAddresses(
  { format, models, providerId, provider }: ProviderView,
  baseUrl: string,
  isOurs: (url: string) => boolean = () => false,
): Findings {
  for (const { id, baseUrl: modelUrl } of provider.models) {
    if (typeof modelUrl !== 'string' || isSameButVersion(modelUrl, baseUrl)) continue
    if (isOurs(modelUrl)) continue

    const path = [...modelPath(format, providerId, plainName(id)), 'baseUrl']
    const what = `the model ${plainName(id)} of ${providerId}`
    yield findingAt(models, path, {
      code: `${format.client.id}-model-address`,
      message: `${what} has a separate address, ${shownUrl(modelUrl)}, which also gets the key`,
      ...removal(models, `the address of ${what}`, { path }),
    })
  }
}

/** Whether a key consists of variables that are all set. */
export function hasSetVariables(key: string, env: ClientContext['machine']['env']): boolean {
  const names = /^\w+$/.test(key)
    ? [key]
    : [...key.matchAll(/\$\{?(\w+)\}?/g)].map(([, name]) => name!)
  return names.length > 0 && names.every((name) => env[name])
}

/** Reports providers of earlier setups, each with its key. */
export function checkFormerProviders(
  { context, format, models }: ProviderView,
  target: SetupTarget,
): Findings {
  const providers = models.members(format.path).map(([providerId]) => {
    const { url } = providerOf(format, models, providerId)
    return { providerId, url, path: providerPath(format, providerId) }
  })
  return formerProviderFindings(format.client, context, target, models, providers)
}

/** Whether a model of the provider is requested over messages. */
export function usesMessages(resolved: ResolvedOptions): boolean {
  return [resolved, ...resolved.offered].some(({ protocol }) => protocol === 'messages')
}
