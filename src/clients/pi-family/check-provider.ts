import type { SettingPath } from '../../edits/types.ts'
import type { Finding, Findings } from '../../finding.ts'
import { isSameButVersion } from '../../gateway/base-urls.ts'
import { protocols } from '../../gateway/types.ts'
import {
  findingAt,
  formerProviderFinding,
  missingKeyFinding,
  otherAddressFinding,
} from '../checks/findings.ts'
import { addressFindings } from '../checks/other-tools.ts'
import type { ClientContext } from '../contract/client.ts'
import type { SetupTarget } from '../contract/setup.ts'
import type { SentKey } from '../contract/state.ts'
import { isOwnAddress, mayNeedNoKey, shownUrl, withoutTrailingSlash } from '../files/addresses.ts'
import type { StrictFile } from '../files/strict-json.ts'
import { tableIn } from '../files/tables.ts'
import { removal } from '../plan/edit-file.ts'
import {
  apiOf,
  modelOf,
  modelPath,
  type PiProvider,
  type ProviderFormat,
  providerOf,
  providerPath,
} from './providers.ts'

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

  yield* checkAuthorizingHeaders(view)
  yield* checkModelAddresses(view, withoutTrailingSlash(url))
  yield* addressFindings(format.client, context, models, {
    url,
    protocol: protocols.find((protocol) => apiOf[protocol] === provider.table['api']),
    path: addressPath(view),
    name: `baseUrl of ${providerId}`,
    effect: `, and ${format.client.label} may not answer`,
    key: sent.key,
    keyPlace: sent.keyPath ?? '',
  })
  if (modelOf(provider, model) === undefined) yield unlistedModelFinding(view)
  if (sent.key === undefined) yield* checkMissingKey(view)
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
      path: modelPath(format, providerId, String(model['id'])),
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

    const path = [...modelPath(format, providerId, String(id)), 'baseUrl']
    const what = `the model ${id} of ${providerId}`
    yield findingAt(models, path, {
      code: `${format.client.id}-model-address`,
      message: `${what} has a separate address, ${shownUrl(modelUrl)}, which also gets the key`,
      ...removal(models, `the address of ${what}`, { path }),
    })
  }
}

function unlistedModelFinding({ format, providerId, model, modelPlace }: ProviderView): Finding {
  const { id } = format.client
  return {
    code: `${id}-model-unlisted`,
    message: `the model ${model} is not in the models of ${providerId}${format.unlisted}`,
    location: modelPlace,
    hint: `Add the models of the gateway: repoint ${id}`,
    severity: 'error',
  }
}

function* checkMissingKey(view: ProviderView): Findings {
  const { context, format, models, providerId, provider } = view
  if (view.isKeyElsewhere || mayNeedNoKey(provider.url, context)) return

  const place = models.place([...providerPath(format, providerId), 'apiKey'])
  yield missingKeyFinding(
    format.client,
    place,
    `${format.client.label} finds no key for ${providerId}`,
  )
}

/** Whether a key consists of variables that are all set. */
export function hasSetVariables(key: string, env: ClientContext['machine']['env']): boolean {
  const names = /^\w+$/.test(key)
    ? [key]
    : [...key.matchAll(/\$\{?(\w+)\}?/g)].map(([, name]) => name!)
  return names.length > 0 && names.every((name) => env[name])
}

/** Reports providers of earlier setups, each with its key. */
export function* checkFormerProviders(
  { context, format, models, providerId }: ProviderView,
  target: SetupTarget,
): Findings {
  for (const [id] of models.members(format.path)) {
    const { url } = providerOf(format, models, id)
    if (
      id === providerId ||
      url === undefined ||
      !context.writtenBaseUrls.includes(withoutTrailingSlash(url))
    )
      continue

    yield formerProviderFinding(format.client, target, models, {
      providerId: id,
      url,
      change: { path: providerPath(format, id), isSecret: true, role: 'key' },
      hasKey: true,
    })
  }
}
