import type { KeyPath } from '../../edits/plan.ts'
import type { Machine } from '../../platform/platform.ts'
import { type FileTexts, type Obstacle, type ObstacleContext, slots } from '../client.ts'
import { leftoverObstacles } from '../leftovers.ts'
import { relativePlaceObstacles } from '../paths.ts'
import { unsetCommand } from '../shell-variables.ts'
import { fileOf, layersOf, placeOf, readFile } from '../texts.ts'
import { credentials, managedKey } from './credential-obstacles.ts'
import {
  inEnv,
  names,
  quietButDiscovering,
  serviceSwitches,
  slotVariable,
  slotVariables,
} from './keys.ts'
import { type Scene, setEnv } from './scene.ts'
import { type ClaudeSettings, readRepairedSettings, readSettings } from './settings.ts'
import { proxy, shell } from './shell-obstacles.ts'

/** What would defeat the settings, as run against Claude Code 2.1.197 and 2.1.329 (2026-11-21). */
export function claudeObstacles(
  texts: FileTexts,
  machine: Machine,
  context: ObstacleContext,
): readonly Obstacle[] {
  const file = fileOf(texts, 'settings')
  const current = readSettings(file)
  // A setup brings a skipped file into force, with all that stands in it.
  const settings = context.choice ? readRepairedSettings(file) : current
  const place = (path: KeyPath) => placeOf(readFile(file), path)
  const scene: Scene = { settings, machine, context, place }
  // With its own service Claude Code may be set up as its owner likes.
  const isPointed = context.choice !== undefined || Boolean(settings.env[names.baseUrl])
  return [
    ...skipped(current, context),
    ...folder(machine),
    ...leftovers(scene),
    ...(isPointed
      ? [
          ...credentials(scene),
          ...managedKey(texts),
          ...models(scene),
          ...address(scene, texts),
          ...shell(scene),
          ...proxy(scene),
          ...layers(texts),
        ]
      : []),
  ]
}

function skipped(settings: ClaudeSettings, context: ObstacleContext): readonly Obstacle[] {
  const { isRepairable } = settings
  if (settings.skipped === undefined) return []
  // What else may be wrong, the plan rights or refuses.
  if (context.choice && !isRepairable) return []
  return [
    {
      code: 'claude-settings-skipped',
      message: `Claude Code skips the whole file without a word, and then asks to log in: ${settings.skipped}`,
      place: settings.path,
      cure: isRepairable
        ? 'Take comments and trailing commas out of it.'
        : 'Correct the file by hand.',
      ...(isRepairable
        ? {
            repair: { role: 'settings', changes: [], toStrictJson: true } as const,
            needsConsent: `Comments and trailing commas are taken out of ${settings.path}, which comes into force as a whole.`,
          }
        : {}),
      weight: 'blocks',
    },
  ]
}

/** Where the settings lie: from an empty name Claude Code makes the folder that it is started in. */
function folder(machine: Machine): readonly Obstacle[] {
  if (machine.env[names.folder] !== '')
    return relativePlaceObstacles(machine, 'claude-relative-folder', 'Claude Code', [names.folder])
  return [
    {
      code: 'claude-empty-folder',
      message: `${names.folder} is set but empty: Claude Code reads settings.json of whatever folder it is started in`,
      place: 'environment',
      cure: unsetCommand(machine, names.folder),
      weight: 'blocks',
    },
  ]
}

function leftovers({ settings, machine, context, place }: Scene): readonly Obstacle[] {
  const own = settings.env[names.baseUrl]
  const [key, keyName] = [settings.env[names.token], names.token]
  return leftoverObstacles(
    {
      family: 'claude',
      label: 'Claude Code',
      url: own ?? machine.env[names.baseUrl],
      urlPlace: () => (own === undefined ? 'environment' : place(inEnv(names.baseUrl))),
      key: key ?? machine.env[keyName],
      keyPlace: () => (key === undefined ? 'environment' : place(inEnv(keyName))),
    },
    context,
  )
}

function models({ settings, context, place }: Scene): readonly Obstacle[] {
  const found: Obstacle[] = []
  if (settings.env[names.model]) {
    found.push({
      code: 'claude-environment-model',
      message: `${names.model} in the settings beats "model"`,
      place: place(inEnv(names.model)),
      cure: 'Remove it.',
      repair: setEnv(names.model, undefined),
      needsConsent: `${names.model} is removed from ${settings.path}.`,
      weight: 'blocks',
    })
  }
  if (settings.env[names.smallFast]) {
    found.push({
      code: 'claude-small-fast-model',
      message: `${names.smallFast} beats the model of the haiku slot for background work`,
      place: place(inEnv(names.smallFast)),
      cure: 'Remove it.',
      repair: setEnv(names.smallFast, undefined),
      needsConsent: `${names.smallFast} is removed from ${settings.path}.`,
      weight: 'may-block',
    })
  }
  if (settings.root['model'] === 'default' && !context.choice) {
    found.push({
      code: 'claude-model-default',
      message: '"model": "default" is sent to the gateway as it stands',
      place: place(['model']),
      cure: 'Name a slot, such as "sonnet".',
      repair: { role: 'settings', changes: [{ path: ['model'], value: 'sonnet' }] },
      weight: 'blocks',
    })
  }
  // Beside a base URL they belong to its setup, and the plan renews them.
  if (settings.env[names.baseUrl] !== undefined || !context.choice) return found
  for (const slot of slots) {
    const name = slotVariable(slot)
    if (!settings.env[name] || context.choice.models.slotModels?.[slot]) continue
    found.push({
      code: 'claude-old-pin',
      message: `${name} = ${JSON.stringify(settings.env[name])}: the slot ${slot} asks the gateway for that model`,
      place: place(inEnv(name)),
      cure: 'Remove it, unless the gateway has that model.',
      repair: setEnv(name, undefined),
      needsConsent: `${name} is removed from ${settings.path}.`,
      weight: 'may-block',
    })
  }
  return found
}

function address({ settings, context, place }: Scene, texts: FileTexts): readonly Obstacle[] {
  const url = settings.env[names.baseUrl]
  if (!url || context.choice) return []
  const found: Obstacle[] = []
  if (/\/v1\/*$/.test(url)) {
    found.push({
      code: 'claude-base-url-version',
      message: `${names.baseUrl} ends in /v1, which Claude Code adds itself: every request misses`,
      place: place(inEnv(names.baseUrl)),
      cure: 'Take the /v1 away.',
      repair: setEnv(names.baseUrl, url.replace(/\/v1\/*$/, '')),
      weight: 'blocks',
    })
  }
  if (!settings.env[names.token] && layersOf(texts, 'credentials').some((file) => file.bytes)) {
    found.push({
      code: 'claude-login-leak',
      message: `${names.baseUrl} stands without a token, and a login is saved: Claude Code sends that login to the gateway`,
      place: place(inEnv(names.baseUrl)),
      cure: 'Run `repoint claude`, which writes the token too.',
      weight: 'blocks',
      covers: 'key-missing',
    })
  }
  if (isSet(settings.env[names.discovery]) && settings.env[names.quiet]) {
    found.push({
      code: 'claude-discovery-suppressed',
      message: `${names.quiet} suppresses the discovery of models in versions such as 2.1.197, with any value`,
      place: place(inEnv(names.quiet)),
      cure: `Write ${quietButDiscovering.join(', ')} in its place.`,
      repair: {
        role: 'settings',
        changes: [
          { path: inEnv(names.quiet), value: undefined },
          ...quietButDiscovering.map((name) => ({ path: inEnv(name), value: '1' })),
        ],
      },
      weight: 'may-block',
    })
  }
  return found
}

function layers(texts: FileTexts): readonly Obstacle[] {
  return texts
    .filter(({ role }) => role === 'project' || role === 'managed')
    .flatMap((file): Obstacle[] => {
      const settings = readSettings(file)
      const document = readFile(file)
      const watched = [
        names.baseUrl,
        names.token,
        names.apiKey,
        names.model,
        ...serviceSwitches,
        ...slotVariables,
      ].filter((name) => settings.env[name])
      const paths = [
        ...watched.map(inEnv),
        ...['model', 'apiKeyHelper']
          .filter((key) => settings.root[key] !== undefined)
          .map((key) => [key]),
      ]
      const first = paths[0]
      if (first === undefined) return []
      const keys = paths.map((path) => path.at(-1)).join(', ')
      return [
        file.role === 'project'
          ? {
              code: 'claude-project-settings',
              message: `this folder's own settings set ${keys}, which wins over yours while Claude Code runs here`,
              place: placeOf(document, first),
              cure: 'Remove them there, or start Claude Code in another folder.',
              weight: 'may-block',
            }
          : {
              code: 'claude-managed-settings',
              message: `the administrator's settings set ${keys}, which wins over yours`,
              place: placeOf(document, first),
              cure: 'Ask the administrator of this machine.',
              weight: 'blocks',
            },
      ]
    })
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0'
}
