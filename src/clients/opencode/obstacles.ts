import { type ConfigValue, type KeyPath, listHolds, listLacks } from '../../edits/plan.ts'
import type { Machine } from '../../platform/platform.ts'
import type { FileTexts, Obstacle, ObstacleContext } from '../client.ts'
import { placeholderOf } from '../leftovers.ts'
import { relativePlaceObstacles } from '../paths.ts'
import { variableObstacles } from '../shell-variables.ts'
import { readStrictJson } from '../strict-json.ts'
import { fileOf, isOwnAddress, isTable, layersOf, placeOf, readFile, tableAt } from '../texts.ts'
import { configuredProvider, mergedConfig, ownFiles } from './config.ts'
import { formerObstacles, providerObstacles } from './provider-obstacles.ts'

/** What would defeat the pair, as run against opencode 1.18.33 (2026-11-21). */
export function opencodeObstacles(
  texts: FileTexts,
  machine: Machine,
  context: ObstacleContext,
): readonly Obstacle[] {
  // With a provider that it ships opencode may be set up as its owner likes.
  const isPointed =
    context.choice !== undefined || configuredProvider(texts, context.providerId).isCustom
  return [
    ...unreadable(texts),
    ...relativePlaceObstacles(machine, 'opencode-relative-folder', 'opencode', [
      'XDG_CONFIG_HOME',
      'XDG_DATA_HOME',
      'OPENCODE_CONFIG',
    ]),
    ...authObstacles(texts, context),
    ...(isPointed || isChosen(texts, context.providerId) ? listObstacles(texts, context) : []),
    ...(isPointed
      ? [
          ...providerObstacles(texts, machine, context),
          ...formerObstacles(texts, context),
          ...agentObstacles(texts, context),
          ...variableObstacles(machine, context, [
            {
              name: 'OPENCODE_AUTH_CONTENT',
              code: 'opencode-environment-auth',
              effect: 'opencode reads it in the place of auth.json',
              weight: 'blocks',
            },
            {
              name: 'OPENCODE_CONFIG_CONTENT',
              code: 'opencode-environment-config',
              effect: 'what it sets wins over every file',
              weight: 'may-block',
            },
          ]),
          ...layerObstacles(texts, context),
        ]
      : []),
  ]
}

/** Whether the default model is one of the provider's. */
function isChosen(texts: FileTexts, providerId: string): boolean {
  const { model } = mergedConfig(texts).value
  return typeof model === 'string' && model.startsWith(`${providerId}/`)
}

function unreadable(texts: FileTexts): readonly Obstacle[] {
  const found: Obstacle[] = []
  for (const file of ownFiles(texts)) {
    if (file.problem !== undefined) {
      found.push({
        code: 'opencode-config-invalid',
        message: `opencode does not start, and prints the whole file: ${file.problem}`,
        place: file.path,
        cure: 'Correct the file by hand.',
        weight: 'blocks',
      })
    }
    if (file.document?.get(['permissions']) !== undefined) {
      found.push({
        code: 'opencode-newer-keys',
        message: 'permissions belongs to another major version: opencode 1 does not start with it',
        place: placeOf(file, ['permissions']),
        cure: 'Remove it, or call it "permission" as version 1 does.',
        weight: 'blocks',
      })
    }
  }
  return found
}

function authObstacles(texts: FileTexts, context: ObstacleContext): readonly Obstacle[] {
  const file = fileOf(texts, 'auth')
  if (file.bytes === null) return []
  const read = readStrictJson(file.bytes, { allowsBom: true })
  if (read.kind === 'refused') {
    return [
      {
        code: 'opencode-auth-unreadable',
        message: `opencode ignores auth.json without a word, every login in it included: ${read.why}`,
        place: file.path,
        cure: read.isRepairable
          ? 'Take comments and trailing commas out of it.'
          : 'Correct the file by hand.',
        ...(read.isRepairable
          ? {
              repair: { role: 'auth', changes: [], toStrictJson: true } as const,
              needsConsent: `Comments and trailing commas are taken out of ${file.path}, which comes into force as a whole.`,
            }
          : {}),
        weight: 'blocks',
        covers: 'key-missing',
      },
    ]
  }
  const { choice, providerId } = context
  const entry = read.root[providerId] as ConfigValue | undefined
  if (!choice || !isTable(entry) || entry['key'] === choice.key) return []
  const { url } = configuredProvider(texts, providerId)
  const isKey = entry['type'] === 'api'
  const isPlaceholder = typeof entry['key'] === 'string' && placeholderOf(entry['key'])
  if (isKey && (isOwnAddress(url, context) || isPlaceholder)) return []
  const kind = isKey ? 'API key' : 'login'
  return [
    {
      code: 'opencode-other-key',
      message: `auth.json holds an entry for ${providerId} that no setup of repoint has put there`,
      place: placeOf(readFile(file), [providerId]),
      cure: 'To keep it, choose another id with --provider-id.',
      needsConsent: `The ${kind} for ${providerId} in auth.json will be replaced; rollback brings it back.`,
      weight: 'may-block',
    },
  ]
}

/** Lists by which a provider or a model is hidden. In each, the stronger file's list replaces the weaker's. */
function listObstacles(texts: FileTexts, context: ObstacleContext): readonly Obstacle[] {
  const { providerId, choice } = context
  const target = readFile(fileOf(texts, 'config'))
  const { value } = mergedConfig(texts)
  const inUse = choice
    ? [choice.models.model, choice.models.smallModel ?? choice.models.model]
    : [value['model'], value['small_model']].flatMap((model) =>
        typeof model === 'string' && model.startsWith(`${providerId}/`)
          ? [model.slice(providerId.length + 1)]
          : [],
      )
  const lists = [
    { path: ['enabled_providers'], mustHold: true, ids: [providerId] },
    { path: ['disabled_providers'], mustHold: false, ids: [providerId] },
    { path: ['provider', providerId, 'whitelist'], mustHold: true, ids: inUse },
    { path: ['provider', providerId, 'blacklist'], mustHold: false, ids: inUse },
  ]
  return lists.flatMap(({ path, mustHold, ids }): Obstacle[] => {
    const held = valueIn(value, path)
    if (!Array.isArray(held)) return []
    const hidden = [...new Set(ids)].filter((id) => held.includes(id) !== mustHold)
    if (hidden.length === 0) return []

    const name = path.at(-1)
    const file = ownFiles(texts).findLast((one) => one.document?.get(path) !== undefined)
    const mended = mustHold ? [...held, ...hidden] : held.filter((id) => !hidden.includes(id))
    const changes =
      file?.path === target.path
        ? hidden.map((id) => (mustHold ? listHolds : listLacks)(path, id))
        : [{ path, value: mended }]
    return [
      {
        code: 'opencode-hidden',
        message: `${name} hides ${hidden.join(', ')} from opencode`,
        place: file ? placeOf(file, path) : target.path,
        cure: mustHold ? `Add it to ${name}.` : `Take it out of ${name}.`,
        repair: { role: 'config', changes },
        weight: 'blocks',
      },
    ]
  })
}

function valueIn(table: ConfigValue | undefined, path: readonly string[]): ConfigValue | undefined {
  return path.reduce<ConfigValue | undefined>(
    (value, key) => (isTable(value) ? value[key] : undefined),
    table,
  )
}

/** An agent with a model of its own does not use the default model. */
function agentObstacles(texts: FileTexts, context: ObstacleContext): readonly Obstacle[] {
  return ownFiles(texts).flatMap((file) =>
    ['agent', 'mode'].flatMap((kind) =>
      Object.entries(tableAt(file, [kind]) ?? {}).flatMap(([name, agent]): Obstacle[] => {
        const model = isTable(agent) ? agent['model'] : undefined
        if (typeof model !== 'string' || model.startsWith(`${context.providerId}/`)) return []
        return [
          {
            code: 'opencode-agent-model',
            message: `the agent ${name} has a model of its own, ${model}, and does not use the gateway`,
            place: placeOf(file, [kind, name, 'model']),
            cure: 'Remove it, if that agent is to use the gateway.',
            weight: 'may-block',
          },
        ]
      }),
    ),
  )
}

function layerObstacles(texts: FileTexts, context: ObstacleContext): readonly Obstacle[] {
  const provider = ['provider', context.providerId]
  const watched: readonly KeyPath[] = [
    ['model'],
    ['small_model'],
    ['enabled_providers'],
    ['disabled_providers'],
    provider,
  ]
  return ['project', 'upper', 'managed'].flatMap((role) =>
    layersOf(texts, role).flatMap((text): Obstacle[] => {
      const file = readFile(text)
      const paths = watched.filter((path) => file.document?.get(path) !== undefined)
      const first = paths[0]
      if (first === undefined) return []
      const keys = paths.map((path) => path.join('.')).join(', ')
      return [
        {
          code: `opencode-${role}-config`,
          message:
            role === 'project'
              ? `this folder's own configuration sets ${keys}, which wins over yours while opencode runs here`
              : `this file sets ${keys}, which wins over ${fileOf(texts, 'config').path}`,
          place: placeOf(file, first),
          cure:
            role === 'managed' ? 'Ask the administrator of this machine.' : 'Remove them there.',
          weight: role === 'project' ? 'may-block' : 'blocks',
        },
      ]
    }),
  )
}
