import { type KeyPath, listHolds, listLacks } from '../../edits/plan.ts'
import type { Choice, FileTexts, Obstacle, Scene } from '../client.ts'
import { placeholderOf, projectCode, relativePlaceObstacles, unreadFile } from '../obstacles.ts'
import { variableObstacles } from '../shell.ts'
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
  valueIn,
} from '../texts.ts'
import { loginOf, ownFiles, readAuth } from './config.ts'
import type { Layout } from './layout.ts'
import {
  formerProviders,
  providerInTheWay,
  providerWrongNow,
  type View,
  viewOf,
} from './provider-obstacles.ts'

/** What would defeat the pair about to be written, as run against opencode 1.18.33 (2026-11-21). */
export function inTheWay(layout: Layout, scene: Scene, choice: Choice): readonly Obstacle[] {
  const { model, smallModel = model } = choice.models
  const view = viewOf(layout, scene, choice.providerId)
  return [
    ...aroundTheProvider(layout, scene),
    ...otherKey(view, choice),
    ...hiddenByLists(view, [model, smallModel]),
    ...providerInTheWay(view, choice),
    ...formerProviders(view, choice),
    ...overridden(view),
  ]
}

/** What is wrong with what the client believes now. */
export function wrongNow(layout: Layout, scene: Scene): readonly Obstacle[] {
  const view = viewOf(layout, scene)
  const { config, chosen, provider, providerId } = view
  const found = [...aroundTheProvider(layout, scene)]
  // With a provider that it ships it may be set up as its owner likes.
  const isCustom = provider.url !== undefined && !layout.reservedIds.includes(providerId)
  if (isCustom || chosen !== undefined) {
    const inUse = [config['model'], config['small_model']].flatMap((model) =>
      typeof model === 'string' && model.startsWith(`${providerId}/`)
        ? [model.slice(providerId.length + 1)]
        : [],
    )
    found.push(...hiddenByLists(view, inUse))
  }
  if (!isCustom) return found
  return [...found, ...providerWrongNow(view), ...overridden(view)]
}

/** Files that the client does not read, or does not find. */
function aroundTheProvider(layout: Layout, { texts, machine }: Scene): readonly Obstacle[] {
  const { id, label, variables } = layout
  const folders = ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', `${variables}_CONFIG`]
  return [
    ...unreadable(layout, texts),
    ...relativePlaceObstacles(machine, `${id}-relative-folder`, label, folders),
    ...unreadableAuth(layout, texts),
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
  const read = readAuth(texts)
  if (read?.kind !== 'refused') return []
  return [
    unreadFile({
      code: `${id}-auth-unreadable`,
      message: `${label} ignores auth.json without a word, every login in it included: ${read.why}`,
      file: fileOf(texts, 'auth'),
      isRepairable: read.isRepairable,
      covers: 'key-missing',
    }),
  ]
}

function otherKey(view: View, choice: Choice): readonly Obstacle[] {
  const { id, scene, providerId, provider } = view
  const entry = loginOf(scene.texts, providerId)
  if (!isTable(entry) || entry['key'] === choice.key) return []
  const isKey = entry['type'] === 'api'
  const isPlaceholder = typeof entry['key'] === 'string' && placeholderOf(entry['key'])
  if (isKey && (isOwnAddress(provider.url, scene, choice) || isPlaceholder)) return []
  const kind = isKey ? 'API key' : 'login'
  return [
    {
      code: `${id}-other-key`,
      message: `auth.json holds an entry for ${providerId} that no setup of repoint has put there`,
      place: placeOf(readFile(fileOf(scene.texts, 'auth')), [providerId]),
      cure: 'To keep it, choose another id with --provider-id.',
      needsConsent: `The ${kind} for ${providerId} in auth.json will be replaced; rollback brings it back.`,
      weight: 'may-block',
    },
  ]
}

/** Lists by which a provider or a model is hidden. In each, the stronger file's list replaces the weaker's. */
function hiddenByLists(
  { id, label, scene, config, target, providerId }: View,
  models: readonly string[],
): readonly Obstacle[] {
  const lists = [
    { path: ['enabled_providers'], mustHold: true, ids: [providerId] },
    { path: ['disabled_providers'], mustHold: false, ids: [providerId] },
    { path: ['provider', providerId, 'whitelist'], mustHold: true, ids: models },
    { path: ['provider', providerId, 'blacklist'], mustHold: false, ids: models },
  ]
  return lists.flatMap(({ path, mustHold, ids }): Obstacle[] => {
    const held = valueIn(config, path)
    if (!Array.isArray(held)) return []
    const hidden = [...new Set(ids)].filter((one) => held.includes(one) !== mustHold)
    if (hidden.length === 0) return []

    const name = path.at(-1)
    const file = ownFiles(scene.texts).findLast((one) => one.document?.get(path) !== undefined)
    const mended = mustHold ? [...held, ...hidden] : held.filter((one) => !hidden.includes(one))
    const changes =
      file?.path === target.path
        ? hidden.map((one) => (mustHold ? listHolds : listLacks)(path, one))
        : [{ path, value: mended }]
    return [
      {
        code: `${id}-hidden`,
        message: `${name} hides ${hidden.join(', ')} from ${label}`,
        place: placeOf(file ?? target, path),
        cure: mustHold ? `Add it to ${name}.` : `Take it out of ${name}.`,
        repair: { role: 'config', changes },
        weight: 'blocks',
      },
    ]
  })
}

/** What wins over the files, or does not use them. */
function overridden(view: View): readonly Obstacle[] {
  const { id, label, scene, layout } = view
  return [
    ...agentObstacles(view),
    ...variableObstacles(scene, [
      {
        name: `${layout.variables}_AUTH_CONTENT`,
        code: `${id}-environment-auth`,
        effect: `${label} reads it in the place of auth.json`,
        weight: 'blocks',
      },
      {
        name: `${layout.variables}_CONFIG_CONTENT`,
        code: `${id}-environment-config`,
        effect: 'what it sets wins over every file',
        weight: 'may-block',
      },
    ]),
    ...layerObstacles(view),
    ...projectCode(layout, scene.texts),
  ]
}

/** An agent with a model of its own does not use the default model. */
function agentObstacles({ id, scene, providerId }: View): readonly Obstacle[] {
  return ownFiles(scene.texts).flatMap((file) =>
    ['agent', 'mode'].flatMap((kind) =>
      Object.entries(tableAt(file, [kind]) ?? {}).flatMap(([name, agent]): Obstacle[] => {
        const model = isTable(agent) ? agent['model'] : undefined
        if (typeof model !== 'string' || model.startsWith(`${providerId}/`)) return []
        return [
          {
            code: `${id}-agent-model`,
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

/** Files that win over the user's own. */
function layerObstacles({ id, label, scene, target, providerId }: View): readonly Obstacle[] {
  const provider = ['provider', providerId]
  const watched: readonly KeyPath[] = [
    provider,
    ['plugin'],
    ['model'],
    ['small_model'],
    ['enabled_providers'],
    ['disabled_providers'],
  ]
  const layers = ['project', 'upper', 'managed'].flatMap((role) => layersOf(scene.texts, role))
  return layers.flatMap(({ role, ...text }): Obstacle[] => {
    const file = readFile({ role, ...text })
    const paths = watched.filter((path) => file.document?.get(path) !== undefined)
    const [first] = paths
    if (first === undefined) return []
    const keys = paths.map((path) => path.join('.')).join(', ')
    const place = placeOf(file, first)

    if (role !== 'project')
      return [
        {
          code: `${id}-${role}-config`,
          message: `this file sets ${keys}, which wins over ${target.path}`,
          place,
          cure:
            role === 'managed' ? 'Ask the administrator of this machine.' : 'Remove them there.',
          weight: 'blocks',
        },
      ]

    const shared = { code: `${id}-project-config`, place }
    const says = `this folder's own configuration sets ${keys}`
    const isTaken = first === provider || paths.some(([key]) => key === 'plugin')
    if (!isTaken)
      return [
        {
          ...shared,
          message: `${says}, which wins over yours while ${label} runs here`,
          cure: 'Remove them there.',
          weight: 'may-block',
        },
      ]

    // Whoever wrote this folder decides where the key goes, or what runs beside it.
    const url = textAt(file, [...provider, 'options', 'baseURL'])
    const what = url === undefined ? 'obeys it with your key' : `takes your key to ${shownUrl(url)}`
    return [
      {
        ...shared,
        message: `${says}: ${label}, started here, ${what}`,
        cure: `Do not start ${label} in this folder, unless you trust whoever wrote it.`,
        needsConsent: `${label}, started in this folder, ${what}: ${file.path} says so.`,
        ...(url === undefined ? {} : { leadsTo: rootOf(url) }),
        weight: 'blocks',
      },
    ]
  })
}
