import { listHolds, listLacks } from '../../edits/plan.ts'
import type { Choice, FileTexts, Obstacles, Scene } from '../client.ts'
import { obstacleAt, placeholderOf, relativePlaceObstacles, unreadFile } from '../obstacles.ts'
import { variableObstacles } from '../shell.ts'
import { fileOf, isOwnAddress, isTable, readRole, valueIn } from '../texts.ts'
import { loginOf, ownFiles, readAuth } from './config.ts'
import type { Layout } from './layout.ts'
import {
  formerProviders,
  type OpencodeView,
  providerInTheWay,
  providerWrongNow,
  viewOf,
} from './provider-obstacles.ts'

/** What would defeat the pair about to be written, as run against opencode 1.18.33 (2026-11-21). */
export function* inTheWay(layout: Layout, scene: Scene, choice: Choice): Obstacles {
  const { model, smallModel = model } = choice.models
  const view = viewOf(layout, scene, choice.providerId)
  yield* aroundTheProvider(layout, scene)
  yield* otherKey(view, choice)
  yield* hiddenByLists(view, [model, smallModel])
  yield* providerInTheWay(view, choice)
  yield* formerProviders(view, choice)
  yield* overridden(view)
}

/** What is wrong with what the client believes now. */
export function* wrongNow(layout: Layout, scene: Scene): Obstacles {
  const view = viewOf(layout, scene)
  const { config, chosen, provider, providerId } = view
  yield* aroundTheProvider(layout, scene)

  // With a provider that it ships it may be set up as its owner likes.
  const isCustom = provider.url !== undefined && !layout.reservedIds.includes(providerId)
  if (isCustom || chosen !== undefined) {
    const inUse = [config['model'], config['small_model']].flatMap((model) =>
      typeof model === 'string' && model.startsWith(`${providerId}/`)
        ? [model.slice(providerId.length + 1)]
        : [],
    )
    yield* hiddenByLists(view, inUse)
  }
  if (!isCustom) return

  yield* providerWrongNow(view)
  yield* overridden(view)
}

/** Files that the client does not read, or does not find. */
function* aroundTheProvider(layout: Layout, { texts, machine }: Scene): Obstacles {
  const { id, label, variables } = layout
  const folders = ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', `${variables}_CONFIG`]

  yield* unreadable(layout, texts)
  yield* relativePlaceObstacles(machine, `${id}-relative-folder`, label, folders)
  yield* unreadFile(readAuth(fileOf(texts, 'auth')), {
    code: `${id}-auth-unreadable`,
    effect: `${label} ignores auth.json without a word, every login in it included`,
    covers: 'key-missing',
  })
}

function* unreadable({ id, label, stopsAtNewerKeys }: Layout, texts: FileTexts): Obstacles {
  for (const file of ownFiles(texts)) {
    if (file.problem !== undefined)
      yield {
        code: `${id}-config-invalid`,
        message: `${label} does not start, and prints the whole file: ${file.problem}`,
        place: file.path,
        cure: 'Correct the file by hand.',
        weight: 'blocks',
      }

    if (stopsAtNewerKeys && file.get(['permissions']) !== undefined)
      yield obstacleAt(file, ['permissions'], {
        code: `${id}-newer-keys`,
        message: `permissions belongs to another major version: ${stopsAtNewerKeys} does not start with it`,
        cure: 'Remove it, or call it "permission" as version 1 does.',
      })
  }
}

function* otherKey(view: OpencodeView, choice: Choice): Obstacles {
  const { id, scene, providerId, provider } = view
  const entry = loginOf(scene.texts, providerId)
  if (!isTable(entry) || entry['key'] === choice.key) return

  const isKey = entry['type'] === 'api'
  const isPlaceholder = typeof entry['key'] === 'string' && placeholderOf(entry['key'])
  if (isKey && (isOwnAddress(provider.url, scene, choice) || isPlaceholder)) return

  const kind = isKey ? 'API key' : 'login'
  yield obstacleAt(readRole(scene.texts, 'auth'), [providerId], {
    code: `${id}-other-key`,
    message: `auth.json holds an entry for ${providerId} that no setup of repoint has put there`,
    cure: 'To keep it, choose another id with --provider-id.',
    needsConsent: `The ${kind} for ${providerId} in auth.json will be replaced; rollback brings it back.`,
    weight: 'may-block',
  })
}

/** Lists by which a provider or a model is hidden. In each, the stronger file's list replaces the weaker's. */
function* hiddenByLists(
  { id, label, scene, config, target, providerId }: OpencodeView,
  models: readonly string[],
): Obstacles {
  const lists = [
    { path: ['enabled_providers'], mustHold: true, ids: [providerId] },
    { path: ['disabled_providers'], mustHold: false, ids: [providerId] },
    { path: ['provider', providerId, 'whitelist'], mustHold: true, ids: models },
    { path: ['provider', providerId, 'blacklist'], mustHold: false, ids: models },
  ]

  for (const { path, mustHold, ids } of lists) {
    const held = valueIn(config, path)
    if (!Array.isArray(held)) continue
    const hidden = [...new Set(ids)].filter((one) => held.includes(one) !== mustHold)
    if (hidden.length === 0) continue

    const name = path.at(-1)
    const file = ownFiles(scene.texts).findLast((one) => one.get(path) !== undefined)
    const mended = mustHold ? [...held, ...hidden] : held.filter((one) => !hidden.includes(one))
    const changes =
      file?.path === target.path
        ? hidden.map((one) => (mustHold ? listHolds : listLacks)(path, one))
        : [{ path, value: mended }]
    yield obstacleAt(file ?? target, path, {
      code: `${id}-hidden`,
      message: `${name} hides ${hidden.join(', ')} from ${label}`,
      cure: mustHold ? `Add it to ${name}.` : `Take it out of ${name}.`,
      repair: { role: 'config', changes },
    })
  }
}

/** What wins over the files, or does not use them. */
function* overridden(view: OpencodeView): Obstacles {
  const { id, label, scene, variables } = view
  yield* agentObstacles(view)
  yield* variableObstacles(scene, [
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
  ])
}

/** An agent with a model of its own does not use the default model. */
function* agentObstacles({ id, scene, providerId }: OpencodeView): Obstacles {
  const agents = ownFiles(scene.texts).flatMap((file) =>
    ['agent', 'mode'].flatMap((kind) =>
      file.members([kind]).map(([name, agent]) => ({
        name,
        model: isTable(agent) ? agent['model'] : undefined,
        place: file.place([kind, name, 'model']),
      })),
    ),
  )

  for (const { name, model, place } of agents) {
    if (typeof model !== 'string' || model.startsWith(`${providerId}/`)) continue
    yield {
      code: `${id}-agent-model`,
      message: `the agent ${name} has a model of its own, ${model}, and does not use the gateway`,
      place,
      cure: 'Remove it, if that agent should use the gateway.',
      weight: 'may-block',
    }
  }
}
