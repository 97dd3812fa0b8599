import type { Choice, Obstacles, Scene } from '../client.ts'
import { readHeaders } from '../headers.ts'
import {
  addressObstacles,
  missingKey,
  obstacleAt,
  otherAddress,
  relativePlaceObstacles,
  unreadFile,
} from '../obstacles.ts'
import { isExported, proxyObstacles, variableObstacles } from '../shell.ts'
import { fileOf, mayNeedNoKey, textIn } from '../texts.ts'
import { clineName } from './deciding.ts'
import {
  hasLogin,
  type ProvidersFile,
  providerId,
  readProviders,
  settingsPath,
  usedPath,
} from './providers.ts'

/** What would defeat the entry about to be written, as run against 3.0.57 and 3.0.65 (2026-11-23). */
export function* inTheWay(scene: Scene, choice: Choice): Obstacles {
  const file = readProviders(fileOf(scene.texts, 'providers'))
  yield* aroundTheFile(scene, file)
  yield* otherEntry(scene, file, choice)
  yield* login(file)
  yield* proxyObstacles(clineName, choice.root, scene.machine.env)
  if (choice.keyHeader !== undefined) yield* secondKey(scene)
}

/** What is wrong with what Cline believes now. */
export function* wrongNow(scene: Scene): Obstacles {
  const file = readProviders(fileOf(scene.texts, 'providers'))
  yield* aroundTheFile(scene, file)
  // With another provider it may be set up as its owner likes.
  if (file.used !== providerId) return

  const { settings } = file
  const url = textIn(settings, ['baseUrl'])
  const key = textIn(settings, ['apiKey'])
  yield* withoutKey(scene, file, url)
  yield* addressObstacles(clineName, scene, file, {
    url,
    path: [...settingsPath, 'baseUrl'],
    name: 'baseUrl of its provider',
    key,
    keyPlace: file.place([...settingsPath, 'apiKey']),
  })
  if (url !== undefined) yield* proxyObstacles(clineName, url, scene.machine.env)
  if (!key && readHeaders(settings['headers']).keyed) yield* secondKey(scene)
}

function* aroundTheFile(scene: Scene, file: ProvidersFile): Obstacles {
  yield* relativePlaceObstacles(scene.machine, 'cline-relative-folder', 'Cline', [
    'CLINE_DIR',
    'CLINE_DATA_DIR',
    'CLINE_PROVIDER_SETTINGS_PATH',
  ])
  yield* variableObstacles(scene, [
    {
      name: 'CLINE_SANDBOX',
      code: 'cline-sandbox',
      effect: 'Cline reads the settings of a folder for tries, and none of yours',
      weight: 'blocks',
    },
  ])

  yield* unreadFile(file, {
    code: 'cline-providers-unreadable',
    effect:
      'Cline takes the whole file for empty, and at the next start replaces the file by one without any key',
    covers: 'broken',
  })
}

function otherEntry(scene: Scene, file: ProvidersFile, choice: Choice): Obstacles {
  return otherAddress(scene, choice, {
    code: 'cline-provider-conflict',
    what: `the provider ${providerId}`,
    url: textIn(file.settings, ['baseUrl']),
    place: file.place([...settingsPath, 'baseUrl']),
    cure: 'Nothing to do: Cline has no second provider for gateways.',
  })
}

/** Of the provider that it has started with so far. */
function* login(file: ProvidersFile): Obstacles {
  const { used } = file
  if (used === undefined || !hasLogin(file, used)) return

  yield obstacleAt(file, usedPath, {
    code: 'cline-login',
    message: `Cline is logged in with an account of its provider ${used}`,
    cure: 'Nothing to do: rollback brings it back.',
    needsConsent: `The login of Cline's provider ${used} goes out of use; rollback brings it back.`,
    weight: 'may-block',
  })
}

function* withoutKey(scene: Scene, file: ProvidersFile, url: string | undefined): Obstacles {
  const { settings } = file
  const hasKey = Boolean(settings['apiKey']) || readHeaders(settings['headers']).keyed !== undefined
  const isElsewhere = hasLogin(file, providerId) || isExported(scene, 'OPENAI_API_KEY')
  if (hasKey || isElsewhere || mayNeedNoKey(url, scene)) return

  const message = 'the provider of Cline has no apiKey: Cline sends no key'
  yield missingKey(clineName, file.place(settingsPath), message)
}

/** Beside a key in a header of its own. */
function secondKey(scene: Scene): Obstacles {
  return variableObstacles(scene, [
    {
      name: 'OPENAI_API_KEY',
      code: 'cline-second-key',
      effect: 'Cline sends this value as a bearer token beside the key of the gateway',
      weight: 'blocks',
    },
  ])
}
