import type { Machine } from '../../platform/platform.ts'
import type { Choice, FileTexts, Obstacle, Scene } from '../client.ts'
import { leftoverObstacles } from '../leftovers.ts'
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
  textAt,
  withLostVersion,
} from '../texts.ts'
import {
  type ConfiguredProvider,
  chosenProvider,
  configuredProvider,
  hasLogin,
  isAuthIgnored,
  mergedConfig,
  ownFiles,
  readKey,
} from './config.ts'
import type { Layout } from './layout.ts'

/** What stands in the place of the provider about to be written, or beats it. */
export function providerInTheWay(
  layout: Layout,
  scene: Scene,
  choice: Choice,
): readonly Obstacle[] {
  const { providerId } = choice
  const { url } = configuredProvider(layout, scene.texts, providerId)
  const keys = inlineKeys(layout, scene.texts, providerId)
  if (url === undefined || isOwnAddress(url, scene, choice)) return keys
  const target = readFile(fileOf(scene.texts, 'config'))
  return [
    {
      code: `${layout.id}-provider-conflict`,
      message: `the provider ${providerId} already stands for another address, ${shownUrl(url)}`,
      place: placeOf(target, ['provider', providerId, 'options', 'baseURL']),
      cure: 'To keep it, choose another id with --provider-id.',
      needsConsent: `The provider ${providerId} will be overwritten; rollback brings it back.`,
      weight: 'may-block',
    },
    ...keys,
  ]
}

/** What is wrong with the provider in use: its address, its key, its models. */
export function providerWrongNow(
  layout: Layout,
  scene: Scene,
  providerId: string,
): readonly Obstacle[] {
  const { texts } = scene
  const found = [
    ...(hasLogin(texts, providerId) ? inlineKeys(layout, texts, providerId) : []),
    ...withoutVersion(layout, scene, providerId),
  ]
  if (chosenProvider(texts) !== providerId) return found
  return [
    ...found,
    ...unlistedModel(layout, texts, providerId),
    ...withoutKey(layout, scene, providerId),
    ...leftovers(layout, scene, providerId),
  ]
}

function inlineKeys(layout: Layout, texts: FileTexts, providerId: string): readonly Obstacle[] {
  const target = fileOf(texts, 'config')
  const path = ['provider', providerId, 'options', 'apiKey']
  return ownFiles(texts).flatMap((file): Obstacle[] => {
    const value = file.document?.get(path)
    if (value === undefined) return []
    const changes = [{ path, value: undefined, isSecret: true, isBound: true }]
    return [
      {
        code: `${layout.id}-api-key`,
        message: `options.apiKey of ${providerId} wins over auth.json${value === '' ? ', even though it is empty' : ''}`,
        place: placeOf(file, path),
        cure: 'Remove it.',
        ...(file.path === target.path ? { repair: { role: 'config', changes } } : {}),
        needsConsent: `options.apiKey of ${providerId} is removed from ${file.path}.`,
        weight: 'blocks',
      },
    ]
  })
}

function withoutVersion(layout: Layout, scene: Scene, providerId: string): readonly Obstacle[] {
  const { url } = configuredProvider(layout, scene.texts, providerId)
  const right = url && withLostVersion(url, scene)
  if (!right) return []
  const target = readFile(fileOf(scene.texts, 'config'))
  const path = ['provider', providerId, 'options', 'baseURL']
  const changes = [{ path, value: right, isBound: true }]
  return [
    {
      code: `${layout.id}-base-url-version`,
      message: `baseURL of ${providerId} does not end in /v1: every request misses, and ${layout.label} tries again without end`,
      place: placeOf(target, path),
      cure: 'Add /v1.',
      ...(textAt(target, path) === url ? { repair: { role: 'config', changes } } : {}),
      weight: 'blocks',
    },
  ]
}

function unlistedModel(layout: Layout, texts: FileTexts, providerId: string): readonly Obstacle[] {
  const { model } = mergedConfig(texts).value
  const id = String(model).slice(providerId.length + 1)
  const path = ['provider', providerId, 'models', id]
  if (ownFiles(texts).some((file) => tableAt(file, path))) return []
  return [
    {
      code: `${layout.id}-model-unlisted`,
      message: `the model ${id} is not among the models of ${providerId}: ${layout.label} does not find it`,
      place: placeOf(readFile(fileOf(texts, 'config')), ['model']),
      // Only the gateway could tell whether listing it would help.
      cure: `Run \`repoint ${layout.id}\`, which lists the models of the gateway.`,
      weight: 'blocks',
    },
  ]
}

function withoutKey(layout: Layout, scene: Scene, providerId: string): readonly Obstacle[] {
  const { texts, machine } = scene
  const provider = configuredProvider(layout, texts, providerId)
  // A model server on this machine may need none.
  const needsNone = isLoopbackUrl(provider.url) && !isOwnAddress(provider.url, scene)
  const isElsewhere = hasKeyFromOutside(provider, machine) || isAuthIgnored(texts)
  if (needsNone || isElsewhere || readKey(texts, providerId, provider.options)) return []
  return [
    {
      code: `${layout.id}-no-key`,
      message: `no key for ${providerId} is in auth.json: ${layout.label} sends none`,
      place: fileOf(texts, 'auth').path,
      cure: `Run \`repoint ${layout.id}\`.`,
      weight: 'blocks',
      covers: 'key-missing',
    },
  ]
}

function leftovers(layout: Layout, scene: Scene, providerId: string): readonly Obstacle[] {
  const { options, url } = configuredProvider(layout, scene.texts, providerId)
  const read = readKey(scene.texts, providerId, options)
  const target = readFile(fileOf(scene.texts, 'config'))
  return leftoverObstacles(
    {
      family: layout.id,
      label: layout.label,
      url,
      urlPlace: placeOf(target, ['provider', providerId, 'options', 'baseURL']),
      key: read?.key,
      keyPlace: read?.keyPath ?? '',
    },
    scene,
  )
}

/** Whether a key comes from a variable that is set, from another file or from a header. */
function hasKeyFromOutside(provider: ConfiguredProvider, machine: Machine): boolean {
  const inline = provider.options['apiKey']
  if (typeof inline === 'string' && inline !== '') {
    const variable = /^\{env:(.*)\}$/.exec(inline)
    return variable === null || Boolean(machine.env[variable[1]!])
  }
  if (inline === undefined && provider.keyVariables.some((name) => machine.env[name])) return true
  const { headers } = provider.options
  return isTable(headers) && Object.keys(headers).some((name) => /^authorization$/i.test(name))
}

/**
 * The provider of an earlier setup under another id. For the same address it is the same one under
 * an old name, and goes; one for another address may be wanted beside the new one.
 */
export function formerProviders(
  layout: Layout,
  { texts, ownRoots }: Scene,
  { root, providerId }: Choice,
): readonly Obstacle[] {
  const target = readFile(fileOf(texts, 'config'))
  const auth = readFile(fileOf(texts, 'auth'))
  return Object.entries(tableAt(target, ['provider']) ?? {}).flatMap(([id, table]): Obstacle[] => {
    const options = isTable(table) ? table['options'] : undefined
    const url = isTable(options) ? options['baseURL'] : undefined
    const isAsWeWrite =
      isTable(table) &&
      table['npm'] === '@ai-sdk/openai-compatible' &&
      typeof url === 'string' &&
      ownRoots.includes(rootOf(url))
    if (id === providerId || !isAsWeWrite) return []
    const isRenamed = rootOf(url) === root
    const hasKey = textAt(auth, [id, 'type']) === 'api'
    const provider: Obstacle = {
      code: `${layout.id}-former-provider`,
      message: `the provider ${id} is left of an earlier setup, for ${shownUrl(url)}`,
      place: placeOf(target, ['provider', id]),
      cure: isRenamed
        ? 'Remove it.'
        : `Nothing to do if you use both; else delete it, and its entry in ${auth.path}.`,
      ...(isRenamed
        ? {
            repair: {
              role: 'config',
              changes: [{ path: ['provider', id], value: undefined, isBound: true }],
            },
            needsConsent: `The provider ${id} of an earlier setup will be removed${hasKey ? ', with its key' : ''}; rollback brings it back.`,
          }
        : {}),
      weight: 'may-block',
    }
    if (!isRenamed || !hasKey) return [provider]
    return [
      provider,
      {
        code: `${layout.id}-former-key`,
        message: `the key of the provider ${id} is left of an earlier setup`,
        place: placeOf(auth, [id]),
        cure: 'Remove it.',
        repair: {
          role: 'auth',
          changes: [{ path: [id], value: undefined, isSecret: true, isBound: true }],
        },
        weight: 'may-block',
      },
    ]
  })
}
