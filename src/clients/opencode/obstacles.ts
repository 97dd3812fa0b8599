import { type ConfigValue, type KeyPath, listHolds, listLacks } from '../../edits/plan.ts'
import type { Choice, FileTexts, Obstacle, Scene } from '../client.ts'
import { placeholderOf } from '../leftovers.ts'
import { relativePlaceObstacles } from '../paths.ts'
import { variableObstacles } from '../shell.ts'
import { readStrictJson } from '../strict-json.ts'
import {
  fileOf,
  isOwnAddress,
  isTable,
  layersOf,
  placeOf,
  readFile,
  rootOf,
  shownUrl,
  tableAt,
  textAt,
} from '../texts.ts'
import { chosenProvider, configuredProvider, mergedConfig, ownFiles } from './config.ts'
import type { Layout } from './layout.ts'
import { formerProviders, providerInTheWay, providerWrongNow } from './provider-obstacles.ts'

/** What would defeat the pair about to be written, as run against opencode 1.18.33 (2026-11-21). */
export function inTheWay(layout: Layout, scene: Scene, choice: Choice): readonly Obstacle[] {
  const { texts } = scene
  return [
    ...unreadable(layout, texts),
    ...relativeFolders(layout, scene),
    ...unreadableAuth(layout, texts),
    ...otherKey(layout, scene, choice),
    ...listObstacles(layout, texts, choice.providerId, choice),
    ...providerInTheWay(layout, scene, choice),
    ...formerProviders(layout, scene, choice),
    ...overridden(layout, scene, choice.providerId),
  ]
}

/** What is wrong with what the client believes now. */
export function wrongNow(layout: Layout, scene: Scene): readonly Obstacle[] {
  const { texts } = scene
  const chosen = chosenProvider(texts)
  const providerId = chosen ?? 'gateway'
  const found = [
    ...unreadable(layout, texts),
    ...relativeFolders(layout, scene),
    ...unreadableAuth(layout, texts),
  ]
  // With a provider that it ships it may be set up as its owner likes.
  const isCustom = configuredProvider(layout, texts, providerId).isCustom
  if (isCustom || chosen !== undefined) found.push(...listObstacles(layout, texts, providerId))
  if (!isCustom) return found
  return [
    ...found,
    ...providerWrongNow(layout, scene, providerId),
    ...overridden(layout, scene, providerId),
  ]
}

function relativeFolders(
  { id, label, variables }: Layout,
  { machine }: Scene,
): readonly Obstacle[] {
  return relativePlaceObstacles(machine, `${id}-relative-folder`, label, [
    'XDG_CONFIG_HOME',
    'XDG_DATA_HOME',
    `${variables}_CONFIG`,
  ])
}

/** What wins over the files, or does not use them. */
function overridden(layout: Layout, scene: Scene, providerId: string): readonly Obstacle[] {
  const { id, label, variables } = layout
  return [
    ...agentObstacles(layout, scene.texts, providerId),
    ...variableObstacles(scene, [
      {
        name: `${variables}_AUTH_CONTENT`,
        code: `${id}-environment-auth`,
        effect: `${label} reads it in the place of auth.json`,
        weight: 'blocks',
      },
      {
        name: `${variables}_CONFIG_CONTENT`,
        code: `${id}-environment-config`,
        effect: 'what it sets wins over every file',
        weight: 'may-block',
      },
    ]),
    ...layerObstacles(layout, scene.texts, providerId),
    ...projectCode(layout, scene.texts),
  ]
}

function unreadable(
  { id, label, stopsAtNewerKeys }: Layout,
  texts: FileTexts,
): readonly Obstacle[] {
  const found: Obstacle[] = []
  for (const file of ownFiles(texts)) {
    if (file.problem !== undefined) {
      found.push({
        code: `${id}-config-invalid`,
        message: `${label} does not start, and prints the whole file: ${file.problem}`,
        place: file.path,
        cure: 'Correct the file by hand.',
        weight: 'blocks',
      })
    }
    if (stopsAtNewerKeys && file.document?.get(['permissions']) !== undefined) {
      found.push({
        code: `${id}-newer-keys`,
        message: `permissions belongs to another major version: ${stopsAtNewerKeys} does not start with it`,
        place: placeOf(file, ['permissions']),
        cure: 'Remove it, or call it "permission" as version 1 does.',
        weight: 'blocks',
      })
    }
  }
  return found
}

function unreadableAuth({ id, label }: Layout, texts: FileTexts): readonly Obstacle[] {
  const file = fileOf(texts, 'auth')
  const read = file.bytes && readStrictJson(file.bytes, { allowsBom: true })
  if (read?.kind !== 'refused') return []
  return [
    {
      code: `${id}-auth-unreadable`,
      message: `${label} ignores auth.json without a word, every login in it included: ${read.why}`,
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

function otherKey(layout: Layout, scene: Scene, choice: Choice): readonly Obstacle[] {
  const { texts } = scene
  const { key, providerId } = choice
  const file = fileOf(texts, 'auth')
  const read = file.bytes && readStrictJson(file.bytes, { allowsBom: true })
  const entry = read?.kind === 'object' ? (read.root[providerId] as ConfigValue) : undefined
  if (!isTable(entry) || entry['key'] === key) return []
  const { url } = configuredProvider(layout, texts, providerId)
  const isKey = entry['type'] === 'api'
  const isPlaceholder = typeof entry['key'] === 'string' && placeholderOf(entry['key'])
  if (isKey && (isOwnAddress(url, scene, choice) || isPlaceholder)) return []
  const kind = isKey ? 'API key' : 'login'
  return [
    {
      code: `${layout.id}-other-key`,
      message: `auth.json holds an entry for ${providerId} that no setup of repoint has put there`,
      place: placeOf(readFile(file), [providerId]),
      cure: 'To keep it, choose another id with --provider-id.',
      needsConsent: `The ${kind} for ${providerId} in auth.json will be replaced; rollback brings it back.`,
      weight: 'may-block',
    },
  ]
}

/** Lists by which a provider or a model is hidden. In each, the stronger file's list replaces the weaker's. */
function listObstacles(
  layout: Layout,
  texts: FileTexts,
  providerId: string,
  choice?: Choice,
): readonly Obstacle[] {
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
        code: `${layout.id}-hidden`,
        message: `${name} hides ${hidden.join(', ')} from ${layout.label}`,
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
function agentObstacles(layout: Layout, texts: FileTexts, providerId: string): readonly Obstacle[] {
  return ownFiles(texts).flatMap((file) =>
    ['agent', 'mode'].flatMap((kind) =>
      Object.entries(tableAt(file, [kind]) ?? {}).flatMap(([name, agent]): Obstacle[] => {
        const model = isTable(agent) ? agent['model'] : undefined
        if (typeof model !== 'string' || model.startsWith(`${providerId}/`)) return []
        return [
          {
            code: `${layout.id}-agent-model`,
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

function projectCode({ id, label }: Layout, texts: FileTexts): readonly Obstacle[] {
  return layersOf(texts, 'project-code').map(({ path }) => ({
    code: `${id}-project-code`,
    message: `${label}, started in this folder, runs the folder's own code, which may read your key`,
    place: path,
    cure: `Do not start ${label} in this folder, unless you trust whoever wrote it.`,
    needsConsent: `${label}, started in this folder, runs ${path}, which may read your key.`,
    weight: 'may-block',
  }))
}

/** Files that win over the user's own. */
function layerObstacles(layout: Layout, texts: FileTexts, providerId: string): readonly Obstacle[] {
  const provider = ['provider', providerId]
  const watched: readonly KeyPath[] = [
    provider,
    ['plugin'],
    ['model'],
    ['small_model'],
    ['enabled_providers'],
    ['disabled_providers'],
  ]
  const layers = ['project', 'upper', 'managed'].flatMap((role) => layersOf(texts, role))
  return layers.flatMap((text): Obstacle[] => {
    const file = readFile(text)
    const paths = watched.filter((path) => file.document?.get(path) !== undefined)
    const [first] = paths
    if (first === undefined) return []
    const keys = paths.map((path) => path.join('.')).join(', ')
    const place = placeOf(file, first)
    if (text.role === 'project') {
      const isTaken = first === provider || paths.some(([key]) => key === 'plugin')
      const url = textAt(file, [...provider, 'options', 'baseURL'])
      return [
        isTaken
          ? takenByProject(layout, { path: text.path, keys, place, url })
          : ofProject(layout, keys, place),
      ]
    }
    return [
      {
        code: `${layout.id}-${text.role}-config`,
        message: `this file sets ${keys}, which wins over ${fileOf(texts, 'config').path}`,
        place,
        cure:
          text.role === 'managed' ? 'Ask the administrator of this machine.' : 'Remove them there.',
        weight: 'blocks',
      },
    ]
  })
}

function ofProject({ id, label }: Layout, keys: string, place: string): Obstacle {
  return {
    code: `${id}-project-config`,
    message: `this folder's own configuration sets ${keys}, which wins over yours while ${label} runs here`,
    place,
    cure: 'Remove them there.',
    weight: 'may-block',
  }
}

/** Whoever wrote this folder decides where the key goes, or what runs beside it. */
function takenByProject(
  { id, label }: Layout,
  found: {
    readonly path: string
    readonly keys: string
    readonly place: string
    readonly url: string | undefined
  },
): Obstacle {
  const { path, keys, place, url } = found
  const what = url === undefined ? 'obeys it with your key' : `takes your key to ${shownUrl(url)}`
  return {
    code: `${id}-project-config`,
    message: `this folder's own configuration sets ${keys}: ${label}, started here, ${what}`,
    place,
    cure: `Do not start ${label} in this folder, unless you trust whoever wrote it.`,
    needsConsent: `${label}, started in this folder, ${what}: ${path} says so.`,
    ...(url === undefined ? {} : { leadsTo: rootOf(url) }),
    weight: 'blocks',
  }
}
