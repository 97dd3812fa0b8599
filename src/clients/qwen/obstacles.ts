import type { ConfigValue, KeyPath } from '../../edits/plan.ts'
import type { Choice, FileTexts, Obstacle, Scene } from '../client.ts'
import {
  leftoverObstacles,
  lostVersion,
  relativePlaceObstacles,
  strongerSettings,
  unreadFile,
} from '../obstacles.ts'
import { removal } from '../repairs.ts'
import { exportedVariables, isExported, proxyObstacles, variableObstacles } from '../shell.ts'
import {
  fileOf,
  isTable,
  layersOf,
  mayNeedNoKey,
  placeOf,
  type ReadFile,
  readFile,
  valueIn,
} from '../texts.ts'
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
  problemOf,
} from './settings.ts'

const qwenName = { id: 'qwen', label: 'Qwen Code' }

/** What would defeat the settings about to be written, as run against 0.15.10 and 0.24.4 (2026-11-22). */
export function inTheWay(scene: Scene, choice: Choice): readonly Obstacle[] {
  const file = readFile(fileOf(scene.texts, 'settings'))
  return [
    ...unreadable(scene.texts),
    ...folders(scene),
    ...brokenEntries(file),
    ...onlyOtherType(scene.texts),
    ...login(scene.texts),
    ...otherOfSameId(file, choice.models.model),
    ...older(file),
    ...variables(scene),
    // With 0.15.10 no exemption helps.
    ...proxyObstacles(qwenName, choice.root, scene.machine.env),
    ...layers(scene),
  ]
}

/** What is wrong with what Qwen Code believes now. */
export function wrongNow(scene: Scene): readonly Obstacle[] {
  const { texts } = scene
  const file = readFile(fileOf(texts, 'settings'))
  const { value } = mergedSettings(texts)
  const found = [...unreadable(texts), ...folders(scene), ...brokenEntries(file), ...copies(texts)]
  const used = inUse(value)
  // With another service Qwen Code may be set up as its owner likes.
  if (literalIn(value, paths.type) !== 'openai' || used.url === undefined) return found

  const isOwn = used.variable === keyVariable
  return [
    ...found,
    ...onlyOtherType(texts),
    ...withoutVersion(scene, used),
    ...withoutKey(scene, used),
    ...leftovers(scene, used),
    ...proxyObstacles(qwenName, used.url, scene.machine.env),
    ...(isOwn ? [...older(file), ...variables(scene), ...layers(scene)] : []),
    ...(isOwn && used.model !== undefined ? otherOfSameId(file, used.model) : []),
  ]
}

function unreadable(texts: FileTexts): readonly Obstacle[] {
  const file = fileOf(texts, 'settings')
  const problem = problemOf(file)
  if (problem === undefined) return []
  return [
    unreadFile(
      {
        code: 'qwen-settings-broken',
        message: `Qwen Code does not start with it, or (as version 0.15.10) sets the whole file aside: ${problem}`,
        file,
        isRepairable: readFile(file).problem === undefined,
        covers: 'broken',
      },
      {
        cure: 'Take trailing commas out of it.',
        consent: 'Trailing commas are taken out of',
        toStrictJson: 'but-comments',
      },
    ),
  ]
}

/** Where the settings lie; the .env files of the home can say so too. */
function folders({ machine, texts }: Scene): readonly Obstacle[] {
  const elsewhere = machine.env['QWEN_HOME']
    ? []
    : envLines(texts, 'QWEN_HOME').filter(({ isOfHome }) => isOfHome)
  return [
    ...relativePlaceObstacles(machine, 'qwen-relative-folder', 'Qwen Code', ['QWEN_HOME']),
    ...elsewhere.map(
      ({ place }): Obstacle => ({
        code: 'qwen-folder-elsewhere',
        message: 'QWEN_HOME is set in a .env file: Qwen Code reads settings.json of that folder',
        place,
        cure: 'Remove the line, or export QWEN_HOME in your shell, where repoint sees it too.',
        weight: 'blocks',
      }),
    ),
  ]
}

/** Both versions end at once with an entry that has no id. */
function brokenEntries(file: ReadFile): readonly Obstacle[] {
  const list = file.document?.get(paths.entries)
  const isWrong = (entry: ConfigValue) => !isTable(entry) || !entry['id']
  const isList = Array.isArray(list)
  if (list === undefined || (isList && !(list as readonly ConfigValue[]).some(isWrong))) return []
  return [
    {
      code: 'qwen-entry-broken',
      message: `Qwen Code ends at once: modelProviders.openai ${isList ? 'holds an entry without an id' : 'is not a list'}`,
      place: placeOf(file, paths.entries),
      cure: isList ? 'Give the entry its id, or remove it.' : 'Make it a list of models.',
      weight: 'blocks',
    },
  ]
}

/** It waits for another kind of login then, for ever where there is no terminal. */
function onlyOtherType(texts: FileTexts): readonly Obstacle[] {
  const text = fileOf(texts, 'settings')
  const file = readFile(text)
  const path = paths.onlyType
  const only = file.document?.get(path)
  if (only === undefined || only === 'openai') return []
  const name = path.join('.')
  return [
    {
      code: 'qwen-only-other-login',
      message: `${name} admits ${JSON.stringify(only)} alone: Qwen Code asks to log in, and does nothing else`,
      place: placeOf(file, path),
      ...removal(text, name, { path }),
      weight: 'blocks',
    },
  ]
}

function login(texts: FileTexts): readonly Obstacle[] {
  const file = readFile(fileOf(texts, 'settings'))
  if (file.document?.get(paths.type) !== 'qwen-oauth' || layersOf(texts, 'login').length === 0)
    return []
  return [
    {
      code: 'qwen-login',
      message: 'Qwen Code is logged in with an account of its vendor',
      place: placeOf(file, paths.type),
      cure: 'Nothing to do: the login itself stays where it is.',
      needsConsent: 'The login of Qwen Code goes out of use; rollback brings it back.',
      weight: 'may-block',
    },
  ]
}

/** The first entry of an id is asked, where nothing beside the model tells them apart. */
function otherOfSameId(file: ReadFile, model: string): readonly Obstacle[] {
  if (!isBehindAnother(file, model)) return []
  return [
    {
      code: 'qwen-same-model',
      message: `another entry for ${model} comes first: versions such as 0.15.10 ask it, newer ones only where model.baseUrl does not name ours`,
      place: placeOf(file, [...paths.entries, { element: { id: model } }]),
      cure: 'With such a version put it behind the entry called Gateway, or remove it.',
      weight: 'may-block',
    },
  ]
}

function older(file: ReadFile): readonly Obstacle[] {
  const root = file.document?.root
  if (root === undefined || root['$version'] === layoutVersion || isCurrentLayout(file)) return []
  return [
    {
      code: 'qwen-rewrites',
      message:
        'Qwen Code rewrites the file at its next start, since it is of an older layout: others on this machine can read it then, and versions such as 0.15.10 leave a copy beside it',
      place: placeOf(file, ['$version']),
      cure: 'Start Qwen Code once before the setup; else run `repoint doctor qwen --fix` after its start.',
      weight: 'may-block',
    },
  ]
}

/** Another value of the variable that our entry names wins over the settings. */
function variables(scene: Scene): readonly Obstacle[] {
  return [
    ...variableObstacles(scene, [
      {
        name: keyVariable,
        code: 'qwen-shell-variable',
        effect: 'Qwen Code sends it in the place of the key in its settings',
        weight: 'blocks',
      },
    ]),
    ...envLines(scene.texts, keyVariable).map(
      ({ place }): Obstacle => ({
        code: 'qwen-env-file',
        message: `${keyVariable} is set in a .env file that Qwen Code reads: it sends that key in the place of the one in its settings`,
        place,
        cure: 'Remove the line.',
        weight: 'blocks',
      }),
    ),
  ]
}

interface EnvLine {
  readonly place: string
  readonly isOfHome: boolean
}

/** Where .env files give a variable its value. */
function envLines(texts: FileTexts, name: string): readonly EnvLine[] {
  return ['home-env', 'project-env'].flatMap((role) =>
    layersOf(texts, role).flatMap(({ path, bytes }) =>
      exportedVariables(path, new TextDecoder().decode(bytes ?? new Uint8Array()))
        .filter((found) => found.name === name)
        .map(({ line }) => ({ place: `${path}:${line}`, isOfHome: role === 'home-env' })),
    ),
  )
}

/** No undo reaches what the client has copied. */
function copies(texts: FileTexts): readonly Obstacle[] {
  return layersOf(texts, 'copy').flatMap((text) => {
    const file = readFile(text)
    if (file.document?.get(paths.key) === undefined) return []
    return [
      {
        code: 'qwen-copy',
        message: 'Qwen Code has left a copy of its settings, with a key that a setup has put there',
        place: placeOf(file, paths.key),
        cure: 'Delete the copy.',
        weight: 'may-block',
      },
    ]
  })
}

function withoutVersion(scene: Scene, { url, variable }: InUse): readonly Obstacle[] {
  const path = [...ownEntry, 'baseUrl']
  if (variable !== keyVariable) return []
  return lostVersion(qwenName, scene, {
    url,
    name: 'baseUrl of the entry',
    place: placeOf(readFile(fileOf(scene.texts, 'settings')), path),
    target: { role: 'settings', path },
  })
}

function withoutKey(scene: Scene, { url, key, variable, entry }: InUse): readonly Obstacle[] {
  const { texts } = scene
  const { value } = mergedSettings(texts)
  const names = [variable, 'OPENAI_API_KEY']
  const isElsewhere = names.some(
    (name) =>
      isExported(scene, name) ||
      envLines(texts, name).length > 0 ||
      isOpen(valueIn(value, ['env', name])),
  )
  const needsNone = isOpen(entry?.['envKey']) || mayNeedNoKey(url, scene)
  if (key !== undefined || isElsewhere || needsNone) return []
  return [
    {
      code: 'qwen-no-key',
      message: `${variable} has no value, in the settings or around them: Qwen Code does not start`,
      place: fileOf(texts, 'settings').path,
      cure: 'Run `repoint qwen`.',
      weight: 'blocks',
      covers: 'key-missing',
    },
  ]
}

function leftovers(scene: Scene, { url, key, variable }: InUse): readonly Obstacle[] {
  const file = readFile(fileOf(scene.texts, 'settings'))
  return leftoverObstacles(
    {
      family: 'qwen',
      label: 'Qwen Code',
      url,
      urlPlace: placeOf(file, paths.entries),
      key,
      keyPlace: placeOf(file, ['env', variable]),
    },
    scene,
  )
}

const watched: readonly KeyPath[] = [
  ['modelProviders'],
  ['providerProtocol'],
  paths.key,
  paths.type,
  paths.onlyType,
  paths.model,
  paths.modelUrl,
]

/** Those that decide where a key goes (a project's lists replace the user's); the others change the model. */
const takingAway = watched.slice(0, 5)

/** Files that win over the settings: of the folder that Qwen Code is started in, and of the administrator. */
function layers({ texts }: Scene): readonly Obstacle[] {
  return [...layersOf(texts, 'project'), ...layersOf(texts, 'managed')].flatMap((text) => {
    const file = readFile(text)
    const found = watched.filter((path) => file.document?.get(path) !== undefined)
    const [first] = found
    if (first === undefined) return []
    const keys = found.map((path) => path.join('.')).join(', ')
    const place = placeOf(file, first)
    const takesKey = found.some((path) => takingAway.includes(path))
      ? { url: file.document && inUse(file.document.root).url }
      : undefined
    return [strongerSettings(qwenName, { file: text, keys, place, takesKey })]
  })
}
