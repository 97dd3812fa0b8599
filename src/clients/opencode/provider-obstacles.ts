import type { Machine } from '../../platform/platform.ts'
import type { FileTexts, Obstacle, ObstacleContext } from '../client.ts'
import { isHere, leftoverObstacles } from '../leftovers.ts'
import {
  fileOf,
  isOwnAddress,
  isTable,
  placeOf,
  readFile,
  rootOf,
  shownUrl,
  tableAt,
  textAt,
} from '../texts.ts'
import {
  type ConfiguredProvider,
  configuredProvider,
  hasLogin,
  isAuthIgnored,
  mergedConfig,
  ownFiles,
  readOpencodeKey,
} from './config.ts'

/** What is wrong with the provider itself: its address, its key, its models. */
export function providerObstacles(
  texts: FileTexts,
  machine: Machine,
  context: ObstacleContext,
): readonly Obstacle[] {
  const found: Obstacle[] = []
  const { providerId, choice } = context
  const path = ['provider', providerId]
  const target = readFile(fileOf(texts, 'config'))
  const provider = configuredProvider(texts, providerId)
  const { url } = provider
  if (choice && url !== undefined && !isOwnAddress(url, context)) {
    found.push({
      code: 'opencode-provider-conflict',
      message: `the provider ${providerId} already stands for another address, ${shownUrl(url)}`,
      place: placeOf(target, [...path, 'options', 'baseURL']),
      cure: 'To keep it, choose another id with --provider-id.',
      needsConsent: `The provider ${providerId} will be overwritten; rollback brings it back.`,
      weight: 'may-block',
    })
  }
  for (const file of choice || hasLogin(texts, providerId) ? ownFiles(texts) : []) {
    const key = [...path, 'options', 'apiKey']
    const value = file.document?.get(key)
    if (value !== undefined) {
      found.push({
        code: 'opencode-api-key',
        message: `options.apiKey of ${providerId} wins over auth.json${value === '' ? ', even though it is empty' : ''}`,
        place: placeOf(file, key),
        cure: 'Remove it.',
        ...(file.path === target.path
          ? {
              repair: {
                role: 'config',
                changes: [{ path: key, value: undefined, isSecret: true, isBound: true }],
              },
            }
          : {}),
        needsConsent: `options.apiKey of ${providerId} is removed from ${file.path}.`,
        weight: 'blocks',
      })
    }
  }
  if (choice) return found
  const urlPath = [...path, 'options', 'baseURL']
  const isVersionMissing = url !== undefined && isOwnAddress(url, context) && !/\/v1\/*$/.test(url)
  if (isVersionMissing) {
    found.push({
      code: 'opencode-base-url-version',
      message: `baseURL of ${providerId} does not end in /v1: every request misses, and opencode tries again without end`,
      place: placeOf(target, urlPath),
      cure: 'Add /v1.',
      ...(textAt(target, urlPath) === url
        ? {
            repair: {
              role: 'config',
              changes: [{ path: urlPath, value: `${rootOf(url)}/v1`, isBound: true }],
            },
          }
        : {}),
      weight: 'blocks',
    })
  }
  const { value } = mergedConfig(texts)
  const model = typeof value['model'] === 'string' ? value['model'] : undefined
  const id = model?.startsWith(`${providerId}/`) ? model.slice(providerId.length + 1) : undefined
  if (id === undefined) return found
  if (!ownFiles(texts).some((file) => tableAt(file, [...path, 'models', id]))) {
    found.push({
      code: 'opencode-model-unlisted',
      message: `the model ${id} is not among the models of ${providerId}: opencode does not find it`,
      place: placeOf(target, ['model']),
      // Only the gateway could tell whether listing it would help.
      cure: 'Run `repoint opencode`, which lists the models of the gateway.',
      weight: 'blocks',
    })
  }
  const read = readOpencodeKey(texts, providerId, provider.options)
  // A model server on this machine may need none.
  const needsNone = isHere(url) && !isOwnAddress(url, context)
  const isMissing = read === undefined && !isAuthIgnored(texts)
  if (isMissing && !needsNone && !hasKeyFromOutside(provider, machine)) {
    found.push({
      code: 'opencode-no-key',
      message: `no key for ${providerId} is in auth.json: opencode sends none`,
      place: fileOf(texts, 'auth').path,
      cure: 'Run `repoint opencode`.',
      weight: 'blocks',
      covers: 'key-missing',
    })
  }
  const leftovers = leftoverObstacles(
    {
      family: 'opencode',
      label: 'opencode',
      url,
      urlPlace: () => placeOf(target, [...path, 'options', 'baseURL']),
      key: read?.key,
      keyPlace: () => read?.keyPath ?? '',
    },
    context,
  )
  return [...found, ...leftovers]
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
export function formerObstacles(texts: FileTexts, context: ObstacleContext): readonly Obstacle[] {
  const { choice, providerId } = context
  if (!choice) return []
  const target = readFile(fileOf(texts, 'config'))
  const auth = readFile(fileOf(texts, 'auth'))
  return Object.entries(tableAt(target, ['provider']) ?? {}).flatMap(([id, table]): Obstacle[] => {
    const options = isTable(table) ? table['options'] : undefined
    const url = isTable(options) ? options['baseURL'] : undefined
    const isAsWeWrite =
      isTable(table) &&
      table['npm'] === '@ai-sdk/openai-compatible' &&
      typeof url === 'string' &&
      context.ownBaseUrls.includes(rootOf(url))
    if (id === providerId || !isAsWeWrite) return []
    const isRenamed = rootOf(url) === choice.baseUrl
    const hasKey = textAt(auth, [id, 'type']) === 'api'
    const provider: Obstacle = {
      code: 'opencode-former-provider',
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
        code: 'opencode-former-key',
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
