import type { SettingPath } from '../../edits/plan.ts'
import type { Finding, Findings } from '../../finding.ts'
import { isSameButVersion } from '../../gateway/roots.ts'
import { protocols } from '../../gateway/types.ts'
import type { ClientContext, ClientState, SetupTarget } from '../client.ts'
import {
  addressFindings,
  findingAt,
  formerProviderFinding,
  missingKeyFinding,
  otherAddressFinding,
} from '../findings.ts'
import { removal } from '../fixes.ts'
import { mayNeedNoKey, rootOf, shownUrl, tableIn } from '../loaded-files.ts'
import type { StrictFile } from '../strict-json.ts'
import {
  apiOf,
  modelOf,
  modelPath,
  type PiProvider,
  type ProviderTable,
  providerOf,
  providerPath,
} from './providers.ts'

/** What stands there, with the provider and the model that it is about. */
export interface ProviderView {
  readonly context: ClientContext
  readonly at: ProviderTable
  /** That holds the table. */
  readonly models: StrictFile
  readonly providerId: string
  readonly provider: PiProvider
  readonly model: string
  /** Where the model is chosen. */
  readonly modelPlace: string
  /** The key that the client would send, and where it stands, as far as files tell. */
  readonly sent: Pick<ClientState, 'key' | 'keyPath'>
  /** The client has it from where repoint does not look: a variable, a command, a login. */
  readonly isKeyElsewhere: boolean
}

/** What stands in the place of the provider about to be written, or beats it. */
export function* providerInTheWay(view: ProviderView, target: SetupTarget): Findings {
  const { context, at, models, providerId, provider } = view
  yield* otherAddressFinding(context, target, {
    code: `${at.client.id}-provider-conflict`,
    what: `the provider ${providerId}`,
    url: provider.url,
    location: models.place(addressOf(view)),
  })
  yield* authorizingHeaders(view, target.key)
  yield* modelAddresses(view, target.baseUrl)
}

/** What is wrong with the provider in use: its address, its key, its models. */
export function* providerWrongNow(view: ProviderView, url: string): Findings {
  const { context, at, models, providerId, provider, model, sent } = view

  yield* authorizingHeaders(view)
  yield* modelAddresses(view, rootOf(url))
  yield* addressFindings(at.client, context, models, {
    url,
    protocol: protocols.find((one) => apiOf[one] === provider.table['api']),
    path: addressOf(view),
    name: `baseUrl of ${providerId}`,
    effect: `, and ${at.client.label} may answer nothing at all`,
    key: sent.key,
    keyPlace: sent.keyPath ?? '',
  })
  if (modelOf(provider, model) === undefined) yield unlisted(view)
  if (sent.key === undefined) yield* withoutKey(view)
}

function addressOf({ at, providerId }: ProviderView): SettingPath {
  return [...providerPath(at, providerId), 'baseUrl']
}

/**
 * A header in which a key goes stands in the place of the provider's own.
 *
 * @param wanted the key that is about to be written; absent: what stands there counts
 */
function* authorizingHeaders(view: ProviderView, wanted?: string): Findings {
  const { at, models, providerId, provider } = view
  const key = wanted ?? provider.table['apiKey']
  const all = /^(?:authorization|x-api-key|api-key)$/i
  const tables = [
    {
      path: providerPath(at, providerId),
      headers: tableIn(provider.table, ['headers']),
      // The others a setup itself makes what they must be.
      names: wanted === undefined ? all : /^authorization$/i,
    },
    ...provider.models.map((model) => ({
      path: modelPath(at, providerId, String(model['id'])),
      headers: tableIn(model, ['headers']),
      names: all,
    })),
    // In pi they count in 0.87.1, and not in 0.73.1; OpenClaw has none.
    ...Object.entries(tableIn(provider.table, ['modelOverrides'])).map(([id, override]) => ({
      path: [...providerPath(at, providerId), 'modelOverrides', id],
      headers: tableIn(override, ['headers']),
      names: all,
    })),
  ]

  for (const { path, headers, names } of tables) {
    for (const [name, value] of Object.entries(headers)) {
      if (!names.test(name) || value === key) continue

      const what = `header ${name} of ${providerId}`
      const change = { path: [...path, 'headers', name], isSecret: true, undoTogether: true }
      yield findingAt(models, change.path, {
        code: `${at.client.id}-authorizing-header`,
        message: `the ${what} takes the place of its key`,
        ...removal(models, `The ${what}`, change),
      })
    }
  }
}

/** A model with an address of its own: the provider's key goes there. */
function* modelAddresses(
  { at, models, providerId, provider }: ProviderView,
  root: string,
): Findings {
  for (const { id, baseUrl } of provider.models) {
    if (typeof baseUrl !== 'string' || isSameButVersion(rootOf(baseUrl), root)) continue

    const path = [...modelPath(at, providerId, String(id)), 'baseUrl']
    const what = `the model ${id} of ${providerId}`
    yield findingAt(models, path, {
      code: `${at.client.id}-model-address`,
      message: `${what} has an address of its own, ${shownUrl(baseUrl)}, which gets the key too`,
      ...removal(models, `The address of ${what}`, { path }),
    })
  }
}

function unlisted({ at, providerId, model, modelPlace }: ProviderView): Finding {
  const { id } = at.client
  return {
    code: `${id}-model-unlisted`,
    message: `the model ${model} is not among the models of ${providerId}${at.unlisted}`,
    location: modelPlace,
    hint: `Run \`repoint ${id}\`, which lists the models of the gateway.`,
    severity: 'error',
  }
}

function* withoutKey(view: ProviderView): Findings {
  const { context, at, models, providerId, provider } = view
  if (view.isKeyElsewhere || mayNeedNoKey(provider.url, context)) return

  const place = models.place([...providerPath(at, providerId), 'apiKey'])
  yield missingKeyFinding(at.client, place, `${at.client.label} finds no key for ${providerId}`)
}

/** Whether a key is made of variables, all of which are set. */
export function hasVariable(said: string, env: ClientContext['machine']['env']): boolean {
  const names = /^\w+$/.test(said)
    ? [said]
    : [...said.matchAll(/\$\{?(\w+)\}?/g)].map(([, name]) => name!)
  return names.length > 0 && names.every((name) => env[name])
}

/** Providers of earlier setups, each with its key. */
export function* formerProviders(
  { context, at, models, providerId }: ProviderView,
  target: SetupTarget,
): Findings {
  for (const [id] of models.members(at.at)) {
    const { url } = providerOf(at, models, id)
    if (id === providerId || url === undefined || !context.ownRoots.includes(rootOf(url))) continue

    yield formerProviderFinding(at.client, target, models, {
      providerId: id,
      url,
      change: { path: providerPath(at, id), isSecret: true, undoTogether: true },
      hasKey: true,
    })
  }
}
