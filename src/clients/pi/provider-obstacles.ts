import type { KeyPath } from '../../edits/plan.ts'
import type { Choice, Obstacle, Obstacles, Scene } from '../client.ts'
import { formerProvider, leftoverObstacles, lostVersion, otherAddress } from '../obstacles.ts'
import { removal } from '../repairs.ts'
import type { StrictFile } from '../strict-json.ts'
import { mayNeedNoKey, placeOf, rootOf, shownUrl, tableAt, tableIn } from '../texts.ts'
import {
  modelOf,
  modelPath,
  type PiProvider,
  providerOf,
  providerPath,
  readModels,
  readPiKey,
  readSettings,
} from './config.ts'

export const piName = { id: 'pi', label: 'pi' }

/** What stands there, with the provider and the model that it is about. */
export interface PiView {
  readonly scene: Scene
  readonly models: StrictFile
  readonly settings: StrictFile
  readonly providerId: string
  readonly provider: PiProvider
  readonly model: string
}

export function viewOf(scene: Scene, providerId: string, model: string): PiView {
  const models = readModels(scene.texts)
  const provider = providerOf(models, providerId)
  return { scene, models, settings: readSettings(scene.texts), providerId, provider, model }
}

/** What stands in the place of the provider about to be written, or beats it. */
export function* providerInTheWay(view: PiView, choice: Choice): Obstacles {
  const { scene, models, providerId, provider } = view
  yield* otherAddress(scene, choice, {
    code: 'pi-provider-conflict',
    what: `the provider ${providerId}`,
    url: provider.url,
    place: placeOf(models, addressOf(providerId)),
  })
  yield* authorizingHeaders(view, choice.key)
  yield* modelAddresses(view, choice.root)
}

/** What is wrong with the provider in use: its address, its key, its models. */
export function* providerWrongNow(view: PiView, url: string): Obstacles {
  const { scene, models, providerId, provider, model } = view
  const path = addressOf(providerId)
  const key = readPiKey(scene.texts, providerId)

  yield* authorizingHeaders(view)
  yield* modelAddresses(view, rootOf(url))
  yield* lostVersion(piName, scene, {
    url,
    name: `baseUrl of ${providerId}`,
    effect: ', and pi may answer nothing at all',
    place: placeOf(models, path),
    target: { role: 'models', path },
  })
  if (modelOf(provider, model) === undefined) yield unlisted(view)
  if (key === undefined) yield* withoutKey(view)

  const left = { family: 'pi', label: 'pi', url, urlPlace: placeOf(models, path) }
  yield* leftoverObstacles({ ...left, key: key?.key, keyPlace: key?.keyPath ?? '' }, scene)
}

function addressOf(providerId: string): KeyPath {
  return [...providerPath(providerId), 'baseUrl']
}

/**
 * A header in which a key goes stands in the place of the provider's own.
 *
 * @param wanted the key that is about to be written; absent: what stands there counts
 */
function* authorizingHeaders({ models, providerId, provider }: PiView, wanted?: string): Obstacles {
  const key = wanted ?? provider.table['apiKey']
  const all = /^(?:authorization|x-api-key|api-key)$/i
  const tables = [
    {
      path: providerPath(providerId),
      headers: tableIn(provider.table, ['headers']),
      // The others a setup itself makes what they must be.
      names: wanted === undefined ? all : /^authorization$/i,
    },
    ...provider.models.map((model) => ({
      path: modelPath(providerId, String(model['id'])),
      headers: tableIn(model, ['headers']),
      names: all,
    })),
    // They count in 0.87.1, and not in 0.73.1.
    ...Object.entries(tableIn(provider.table, ['modelOverrides'])).map(([id, override]) => ({
      path: [...providerPath(providerId), 'modelOverrides', id],
      headers: tableIn(override, ['headers']),
      names: all,
    })),
  ]

  for (const { path, headers, names } of tables) {
    for (const [name, value] of Object.entries(headers)) {
      if (!names.test(name) || value === key) continue
      const what = `header ${name} of ${providerId}`
      const change = { path: [...path, 'headers', name], isSecret: true, isBound: true }
      yield {
        code: 'pi-authorizing-header',
        message: `the ${what} takes the place of its key`,
        place: placeOf(models, change.path),
        ...removal(models, `The ${what}`, change),
        weight: 'blocks',
      }
    }
  }
}

/** A model with an address of its own: the provider's key goes there. */
function* modelAddresses({ models, providerId, provider }: PiView, root: string): Obstacles {
  for (const { id, baseUrl } of provider.models) {
    if (typeof baseUrl !== 'string' || rootOf(baseUrl) === root) continue
    const path = [...modelPath(providerId, String(id)), 'baseUrl']
    const what = `the model ${id} of ${providerId}`
    yield {
      code: 'pi-model-address',
      message: `${what} has an address of its own, ${shownUrl(baseUrl)}, which gets the key too`,
      place: placeOf(models, path),
      ...removal(models, `The address of ${what}`, { path }),
      weight: 'blocks',
    }
  }
}

function unlisted({ settings, providerId, model }: PiView): Obstacle {
  return {
    code: 'pi-model-unlisted',
    message: `the model ${model} is not among the models of ${providerId}: pi starts with the first that it has a key for`,
    place: placeOf(settings, ['defaultModel']),
    cure: 'Run `repoint pi`, which lists the models of the gateway.',
    weight: 'blocks',
  }
}

function* withoutKey({ scene, models, providerId, provider }: PiView): Obstacles {
  const said = provider.table['apiKey']
  const isElsewhere =
    typeof said === 'string' && (said.startsWith('!') || hasVariable(said, scene.machine.env))
  if (isElsewhere || mayNeedNoKey(provider.url, scene)) return

  yield {
    code: 'pi-no-key',
    message: `pi finds no key for ${providerId}`,
    place: placeOf(models, [...providerPath(providerId), 'apiKey']),
    cure: 'Run `repoint pi`.',
    weight: 'blocks',
    covers: 'key-missing',
  }
}

function hasVariable(said: string, env: Scene['machine']['env']): boolean {
  const names = /^\w+$/.test(said)
    ? [said]
    : [...said.matchAll(/\$\{?(\w+)\}?/g)].map(([, name]) => name!)
  return names.length > 0 && names.every((name) => env[name])
}

/** Providers of earlier setups, each with its key. */
export function* formerProviders({ scene, models, providerId }: PiView, choice: Choice): Obstacles {
  for (const id of Object.keys(tableAt(models, ['providers']) ?? {})) {
    const { url } = providerOf(models, id)
    if (id === providerId || url === undefined || !scene.ownRoots.includes(rootOf(url))) continue
    const path = providerPath(id)
    yield formerProvider(piName, choice, {
      providerId: id,
      url,
      place: placeOf(models, path),
      role: 'models',
      change: { path, isSecret: true, isBound: true },
      hasKey: true,
    })
  }
}
