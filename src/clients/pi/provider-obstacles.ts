import type { KeyPath } from '../../edits/plan.ts'
import type { Choice, FileTexts, Obstacle, Scene } from '../client.ts'
import { leftoverObstacles } from '../obstacles.ts'
import {
  fileOf,
  isLoopbackUrl,
  isOwnAddress,
  isTable,
  placeOf,
  readFile,
  rootOf,
  shownUrl,
  tableAt,
  withLostVersion,
} from '../texts.ts'
import { modelOf, modelPath, providerOf, providerPath, readModels, readPiKey } from './config.ts'

/** What stands in the place of the provider about to be written, or beats it. */
export function providerInTheWay(scene: Scene, choice: Choice): readonly Obstacle[] {
  const { providerId, root } = choice
  const { url } = providerOf(readModels(scene.texts), providerId)
  const found = [
    ...authorizingHeaders(scene.texts, providerId, choice.key),
    ...otherAddresses(scene.texts, providerId, root),
  ]
  if (url === undefined || isOwnAddress(url, scene, choice)) return found
  return [
    {
      code: 'pi-provider-conflict',
      message: `the provider ${providerId} already stands for another address, ${shownUrl(url)}`,
      place: placeIn(scene.texts, [...providerPath(providerId), 'baseUrl']),
      cure: 'To keep it, choose another id with --provider-id.',
      needsConsent: `The provider ${providerId} will be overwritten; rollback brings it back.`,
      weight: 'may-block',
    },
    ...found,
  ]
}

/** What is wrong with the provider in use: its address, its key, its models. */
export function providerWrongNow(
  scene: Scene,
  providerId: string,
  model: string,
): readonly Obstacle[] {
  const { texts } = scene
  const provider = providerOf(readModels(texts), providerId)
  return [
    ...authorizingHeaders(texts, providerId),
    ...otherAddresses(texts, providerId, rootOf(provider.url!)),
    ...withoutVersion(scene, providerId, provider.url!),
    ...(modelOf(provider, model) ? [] : [unlisted(texts, providerId, model)]),
    ...withoutKey(scene, providerId),
    ...leftoverObstacles(
      {
        family: 'pi',
        label: 'pi',
        url: provider.url,
        urlPlace: placeIn(texts, [...providerPath(providerId), 'baseUrl']),
        key: readPiKey(texts, providerId)?.key,
        keyPlace: readPiKey(texts, providerId)?.keyPath ?? '',
      },
      scene,
    ),
  ]
}

function placeIn(texts: FileTexts, path: KeyPath): string {
  return placeOf(readFile(fileOf(texts, 'models')), path)
}

/**
 * A header in which a key goes stands in the place of the provider's own.
 *
 * @param wanted the key that is about to be written; absent: what stands there counts
 */
function authorizingHeaders(
  texts: FileTexts,
  providerId: string,
  wanted?: string,
): readonly Obstacle[] {
  const provider = providerOf(readModels(texts), providerId)
  const key = wanted ?? provider.table['apiKey']
  const said = provider.table['modelOverrides']
  const overrides = isTable(said) ? said : {}
  const all = /^(?:authorization|x-api-key|api-key)$/i
  const tables = [
    {
      path: providerPath(providerId),
      headers: provider.table['headers'],
      // The others a setup itself makes what they must be.
      names: wanted === undefined ? all : /^authorization$/i,
    },
    ...provider.models.map(({ id, headers }) => ({
      path: modelPath(providerId, String(id)),
      headers,
      names: all,
    })),
    // They count in 0.87.1, and not in 0.73.1.
    ...Object.entries(overrides).map(([id, override]) => ({
      path: [...providerPath(providerId), 'modelOverrides', id],
      headers: isTable(override) ? override['headers'] : undefined,
      names: all,
    })),
  ]
  return tables.flatMap(({ path, headers, names }) =>
    Object.entries(isTable(headers) ? headers : {})
      .filter(([name, value]) => names.test(name) && value !== key)
      .map(([name]): Obstacle => {
        const header = [...path, 'headers', name]
        return {
          code: 'pi-authorizing-header',
          message: `the header ${name} of ${providerId} takes the place of its key`,
          place: placeIn(texts, header),
          cure: 'Remove it.',
          repair: {
            role: 'models',
            changes: [{ path: header, value: undefined, isSecret: true, isBound: true }],
          },
          needsConsent: `The header ${name} of ${providerId} is removed from ${fileOf(texts, 'models').path}.`,
          weight: 'blocks',
        }
      }),
  )
}

/** A model with an address of its own: the provider's key goes there. */
function otherAddresses(texts: FileTexts, providerId: string, root: string): readonly Obstacle[] {
  const { models } = providerOf(readModels(texts), providerId)
  return models.flatMap(({ id, baseUrl }): Obstacle[] => {
    if (typeof baseUrl !== 'string' || rootOf(baseUrl) === root) return []
    const path = [...modelPath(providerId, String(id)), 'baseUrl']
    return [
      {
        code: 'pi-model-address',
        message: `the model ${id} of ${providerId} has an address of its own, ${shownUrl(baseUrl)}, which gets the key too`,
        place: placeIn(texts, path),
        cure: 'Remove it.',
        repair: { role: 'models', changes: [{ path, value: undefined, isBound: true }] },
        needsConsent: `The address of the model ${id} of ${providerId} is removed from ${fileOf(texts, 'models').path}.`,
        weight: 'blocks',
      },
    ]
  })
}

function withoutVersion(scene: Scene, providerId: string, url: string): readonly Obstacle[] {
  const right = withLostVersion(url, scene)
  if (right === undefined) return []
  const path = [...providerPath(providerId), 'baseUrl']
  return [
    {
      code: 'pi-base-url-version',
      message: `baseUrl of ${providerId} does not end in /v1: every request misses, and pi may answer nothing at all`,
      place: placeIn(scene.texts, path),
      cure: 'Add /v1.',
      repair: { role: 'models', changes: [{ path, value: right, isBound: true }] },
      weight: 'blocks',
    },
  ]
}

function unlisted(texts: FileTexts, providerId: string, model: string): Obstacle {
  return {
    code: 'pi-model-unlisted',
    message: `the model ${model} is not among the models of ${providerId}: pi starts with the first that it has a key for`,
    place: placeOf(readFile(fileOf(texts, 'settings')), ['defaultModel']),
    cure: 'Run `repoint pi`, which lists the models of the gateway.',
    weight: 'blocks',
  }
}

function withoutKey(scene: Scene, providerId: string): readonly Obstacle[] {
  const { texts, machine } = scene
  const { table, url } = providerOf(readModels(texts), providerId)
  const said = table['apiKey']
  const isElsewhere =
    typeof said === 'string' && (said.startsWith('!') || hasVariable(said, machine.env))
  // A model server on this machine may need none.
  const needsNone = isLoopbackUrl(url) && !isOwnAddress(url, scene)
  if (isElsewhere || needsNone || readPiKey(texts, providerId)) return []
  return [
    {
      code: 'pi-no-key',
      message: `pi finds no key for ${providerId}`,
      place: placeIn(texts, [...providerPath(providerId), 'apiKey']),
      cure: 'Run `repoint pi`.',
      weight: 'blocks',
      covers: 'key-missing',
    },
  ]
}

function hasVariable(said: string, env: Scene['machine']['env']): boolean {
  const names = /^\w+$/.test(said)
    ? [said]
    : [...said.matchAll(/\$\{?(\w+)\}?/g)].map(([, name]) => name!)
  return names.length > 0 && names.every((name) => env[name])
}

/**
 * The provider of an earlier setup under another id. For the same address it is the same one under
 * an old name, and goes; one for another address may be wanted beside the new one.
 */
export function formerProviders(
  { texts, ownRoots }: Scene,
  { root, providerId }: Choice,
): readonly Obstacle[] {
  const file = readFile(fileOf(texts, 'models'))
  return Object.keys(tableAt(file, ['providers']) ?? {}).flatMap((id): Obstacle[] => {
    const { url } = providerOf(readModels(texts), id)
    if (id === providerId || url === undefined || !ownRoots.includes(rootOf(url))) return []
    const isRenamed = rootOf(url) === root
    return [
      {
        code: 'pi-former-provider',
        message: `the provider ${id} is left of an earlier setup, for ${shownUrl(url)}`,
        place: placeOf(file, providerPath(id)),
        cure: isRenamed ? 'Remove it.' : 'Nothing to do if you use both; else delete it.',
        ...(isRenamed
          ? {
              repair: {
                role: 'models',
                changes: [
                  { path: providerPath(id), value: undefined, isSecret: true, isBound: true },
                ],
              },
              needsConsent: `The provider ${id} of an earlier setup will be removed, with its key; rollback brings it back.`,
            }
          : {}),
        weight: 'may-block',
      },
    ]
  })
}
