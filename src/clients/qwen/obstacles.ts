import type { ConfigValue } from '../../edits/plan.ts'
import type { Choice, FileTexts, Obstacles, Scene } from '../client.ts'
import {
  leftoverObstacles,
  lostVersion,
  missingKey,
  obstacleAt,
  relativePlaceObstacles,
  unreadFile,
} from '../obstacles.ts'
import { removal } from '../repairs.ts'
import { exportedVariables, isExported, proxyObstacles, variableObstacles } from '../shell.ts'
import {
  fileOf,
  isTable,
  layersOf,
  mayNeedNoKey,
  type ReadFile,
  readLayers,
  readRole,
  valueIn,
} from '../texts.ts'
import { qwenName } from './deciding.ts'
import {
  type InUse,
  inUse,
  isBehindAnother,
  isCurrentLayout,
  isOpen,
  keyVariable,
  layoutVersion,
  literalIn,
  mergedSettings,
  ownEntry,
  paths,
  readSettings,
} from './settings.ts'

/** What would defeat the settings about to be written, as run against 0.15.10 and 0.24.4 (2026-11-22). */
export function* inTheWay(scene: Scene, choice: Choice): Obstacles {
  const file = readRole(scene.texts, 'settings')
  yield* aroundTheEntries(scene)
  yield* brokenEntries(file)
  yield* onlyOtherType(scene.texts)
  yield* login(scene.texts)
  yield* otherOfSameId(file, choice.models.model)
  yield* older(file)
  yield* variables(scene)
  // With 0.15.10 no exemption helps.
  yield* proxyObstacles(qwenName, choice.root, scene.machine.env)
}

/** What is wrong with what Qwen Code believes now. */
export function* wrongNow(scene: Scene): Obstacles {
  const { texts } = scene
  const file = readRole(texts, 'settings')
  const { value } = mergedSettings(texts)
  yield* aroundTheEntries(scene)
  yield* brokenEntries(file)
  yield* copies(texts)

  const used = inUse(value)
  // With another service Qwen Code may be set up as its owner likes.
  if (literalIn(value, paths.type) !== 'openai' || used.url === undefined) return

  yield* onlyOtherType(texts)
  yield* withoutKey(scene, used)
  yield* addresses(scene, used)
  yield* proxyObstacles(qwenName, used.url, scene.machine.env)
  if (used.variable !== keyVariable) return

  yield* older(file)
  yield* variables(scene)
  if (used.model !== undefined) yield* otherOfSameId(file, used.model)
}

/** What the settings are, and where they lie; the .env files of the home can say so too. */
function* aroundTheEntries({ machine, texts }: Scene): Obstacles {
  yield* unreadFile(readSettings(fileOf(texts, 'settings')), {
    code: 'qwen-settings-broken',
    effect: 'Qwen Code does not start with it, or (as version 0.15.10) sets the whole file aside',
    covers: 'broken',
  })

  yield* relativePlaceObstacles(machine, 'qwen-relative-folder', 'Qwen Code', ['QWEN_HOME'])
  if (machine.env['QWEN_HOME']) return

  for (const place of envLines(texts, 'QWEN_HOME', ['home-env']))
    yield {
      code: 'qwen-folder-elsewhere',
      message: 'QWEN_HOME is set in a .env file: Qwen Code reads settings.json of that folder',
      place,
      cure: 'Remove the line, or export QWEN_HOME in your shell, where repoint sees it too.',
      weight: 'blocks',
    }
}

/** Both versions end at once with an entry that has no id. */
function* brokenEntries(file: ReadFile): Obstacles {
  const list = file.get(paths.entries)
  const isWrong = (entry: ConfigValue) => !isTable(entry) || !entry['id']
  const isList = Array.isArray(list)
  if (list === undefined || (isList && !(list as readonly ConfigValue[]).some(isWrong))) return

  yield obstacleAt(file, paths.entries, {
    code: 'qwen-entry-broken',
    message: `Qwen Code ends at once: modelProviders.openai ${isList ? 'holds an entry without an id' : 'is not a list'}`,
    cure: isList ? 'Give the entry its id, or remove it.' : 'Make it a list of models.',
  })
}

/** It waits for another kind of login then, for ever where there is no terminal. */
function* onlyOtherType(texts: FileTexts): Obstacles {
  const file = readRole(texts, 'settings')
  const path = paths.onlyType
  const only = file.get(path)
  if (only === undefined || only === 'openai') return

  const name = path.join('.')
  yield obstacleAt(file, path, {
    code: 'qwen-only-other-login',
    message: `${name} admits ${JSON.stringify(only)} alone: Qwen Code asks to log in, and does nothing else`,
    ...removal(file, name, { path }),
  })
}

function* login(texts: FileTexts): Obstacles {
  const file = readRole(texts, 'settings')
  const isChosen = file.get(paths.type) === 'qwen-oauth'
  if (!isChosen || layersOf(texts, 'login').length === 0) return

  yield obstacleAt(file, paths.type, {
    code: 'qwen-login',
    message: 'Qwen Code is logged in with an account of its vendor',
    cure: 'Nothing to do: the login itself stays where it is.',
    needsConsent: 'The login of Qwen Code goes out of use; rollback brings it back.',
    weight: 'may-block',
  })
}

/** The first entry of an id is asked, where nothing beside the model tells them apart. */
function* otherOfSameId(file: ReadFile, model: string): Obstacles {
  if (!isBehindAnother(file, model)) return

  yield obstacleAt(file, [...paths.entries, { element: { id: model } }], {
    code: 'qwen-same-model',
    message: `another entry for ${model} comes first: versions such as 0.15.10 ask it, newer ones only where model.baseUrl does not name ours`,
    cure: 'With such a version put it behind the entry called Gateway, or remove it.',
    weight: 'may-block',
  })
}

function* older(file: ReadFile): Obstacles {
  const root = file.document?.root
  if (root === undefined || root['$version'] === layoutVersion || isCurrentLayout(file)) return

  yield obstacleAt(file, ['$version'], {
    code: 'qwen-rewrites',
    message:
      'Qwen Code rewrites the file at its next start, since it is of an older layout: others on this machine can read it then, and versions such as 0.15.10 leave a copy beside it',
    cure: 'Start Qwen Code once before the setup; else run `repoint doctor qwen --fix` after its start.',
    weight: 'may-block',
  })
}

/** Another value of the variable that our entry names wins over the settings. */
function* variables(scene: Scene): Obstacles {
  yield* variableObstacles(scene, [
    {
      name: keyVariable,
      code: 'qwen-shell-variable',
      effect: 'Qwen Code sends this value in place of the key in settings.json',
      weight: 'blocks',
    },
  ])

  for (const place of envLines(scene.texts, keyVariable, ['home-env']))
    yield {
      code: 'qwen-env-file',
      message: `${keyVariable} is set in a .env file that Qwen Code reads: it sends that key in the place of the one in its settings`,
      place,
      cure: 'Remove the line.',
      weight: 'blocks',
    }
}

/** Where .env files of these roles give a variable its value. */
function envLines(texts: FileTexts, name: string, roles: readonly string[]): readonly string[] {
  return roles.flatMap((role) =>
    layersOf(texts, role).flatMap(({ path, bytes }) =>
      exportedVariables(path, new TextDecoder().decode(bytes ?? new Uint8Array()))
        .filter((found) => found.name === name)
        .map(({ line }) => `${path}:${line}`),
    ),
  )
}

/** No undo reaches what the client has copied. */
function* copies(texts: FileTexts): Obstacles {
  for (const file of readLayers(texts, 'copy')) {
    if (file.get(paths.key) === undefined) continue

    yield obstacleAt(file, paths.key, {
      code: 'qwen-copy',
      message: 'Qwen Code has left a copy of its settings, with a key that a setup has put there',
      cure: 'Delete the copy.',
      weight: 'may-block',
    })
  }
}

function* withoutKey(scene: Scene, { url, key, variable, entry }: InUse): Obstacles {
  const { texts } = scene
  const { value } = mergedSettings(texts)
  const names = [variable, 'OPENAI_API_KEY']
  const isElsewhere = names.some(
    (name) =>
      isExported(scene, name) ||
      envLines(texts, name, ['home-env', 'project-env']).length > 0 ||
      isOpen(valueIn(value, ['env', name])),
  )
  const needsNone = isOpen(entry?.['envKey']) || mayNeedNoKey(url, scene)
  if (key !== undefined || isElsewhere || needsNone) return

  const message = `${variable} has no value, in the settings or around them: Qwen Code does not start`
  yield missingKey(qwenName, fileOf(texts, 'settings').path, message)
}

function* addresses(scene: Scene, { url, key, variable }: InUse): Obstacles {
  const file = readRole(scene.texts, 'settings')
  if (variable === keyVariable) {
    const path = [...ownEntry, 'baseUrl']
    yield* lostVersion(qwenName, scene, file, { url, path, name: 'baseUrl of the entry' })
  }
  yield* leftoverObstacles(qwenName, scene, {
    url,
    urlPlace: file.place(paths.entries),
    key,
    keyPlace: file.place(['env', variable]),
  })
}
