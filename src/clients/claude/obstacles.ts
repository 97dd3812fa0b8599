import type { KeyChange, KeyPath } from '../../edits/plan.ts'
import {
  type Choice,
  type FileTexts,
  type Obstacle,
  type Obstacles,
  type Repair,
  type Scene,
  slots,
} from '../client.ts'
import { leftoverObstacles, obstacleAt, relativePlaceObstacles, unreadFile } from '../obstacles.ts'
import { isExported, proxyObstacles, unsetCommand, variableObstacles } from '../shell.ts'
import { fileOf, readLayers, rootOf } from '../texts.ts'
import { autoMode } from './auto-mode.ts'
import { isCredentialLine, linesOf } from './headers.ts'
import {
  type ClaudeSettings,
  hasLogin,
  inEnv,
  isMapping,
  isOn,
  names,
  quietButDiscovering,
  readRepairedSettings,
  readSettings,
  serviceSwitches,
  slotModelsIn,
  slotVariable,
} from './settings.ts'

/** What would defeat the settings about to be written, as run against 2.1.197 and 2.1.329 (2026-11-21). */
export function* inTheWay(scene: Scene, choice: Choice): Obstacles {
  const file = fileOf(scene.texts, 'settings')
  const now = readSettings(file)
  // A setup brings a skipped file into force, with all that stands in it.
  const settings = readRepairedSettings(file)

  // What else may be wrong with a skipped file, the plan rights or refuses.
  if (now.isRepairable) yield* skipped(now)
  yield* folder(scene)
  if (choice.keyHeader === undefined) yield* apiKey(scene, settings)
  else yield* asksForKey(scene.texts, choice.key)
  yield* otherCredentials(scene, settings)
  yield* loginKey(scene.texts)
  yield* models(scene, settings)
  yield* oldPins(scene, settings, choice)
  yield* shell(scene, settings, choice)
  yield* proxy(scene, settings, choice.root)
  if (choice.answersSafeguards === false) yield* autoMode(scene.texts, settings)
}

/** What is wrong with what Claude Code believes now. */
export function* wrongNow(scene: Scene): Obstacles {
  const settings = readSettings(fileOf(scene.texts, 'settings'))
  const { env } = settings
  const url = env[names.baseUrl]

  yield* skipped(settings)
  yield* folder(scene)
  yield* leftovers(scene, settings)
  // With its own service Claude Code may be set up as its owner likes.
  if (!url) return

  if (env[names.token]) yield* apiKey(scene, settings)
  yield* otherCredentials(scene, settings)
  yield* loginKey(scene.texts)
  yield* models(scene, settings)
  yield* modelDefault(settings)
  yield* address(scene, settings, url)
  yield* shell(scene, settings)
  yield* proxy(scene, settings, url)
}

function skipped(file: ClaudeSettings): Obstacles {
  return unreadFile(file, {
    code: 'claude-settings-skipped',
    effect: 'Claude Code skips the whole file without a word, and then asks to log in',
  })
}

/** Where the settings lie: from an empty name Claude Code makes the folder that it is started in. */
function* folder({ machine }: Scene): Obstacles {
  yield* relativePlaceObstacles(machine, 'claude-relative-folder', 'Claude Code', [names.folder])
  if (machine.env[names.folder] !== '') return

  yield {
    code: 'claude-empty-folder',
    message: `${names.folder} is set but empty: Claude Code reads settings.json of whatever folder it is started in`,
    place: 'environment',
    cure: unsetCommand(machine, names.folder),
    weight: 'blocks',
  }
}

function leftovers(scene: Scene, settings: ClaudeSettings): Obstacles {
  const { machine } = scene
  const own = settings.env[names.baseUrl]
  const [key, keyName] = [settings.env[names.token], names.token]
  return leftoverObstacles(claudeName, scene, {
    url: own ?? machine.env[names.baseUrl],
    urlPlace: own === undefined ? 'environment' : settings.place(inEnv(names.baseUrl)),
    key: key ?? machine.env[keyName],
    keyPlace: key === undefined ? 'environment' : settings.place(inEnv(keyName)),
  })
}

/** What a setup takes out of the settings, where it stands there and once its owner agrees. */
function* unwanted(
  settings: ClaudeSettings,
  path: KeyPath,
  { value, ...said }: Unwanted,
): Obstacles {
  const { env, root } = settings
  const name = String(path.at(-1))
  if (path.length === 1 ? root[name] === undefined : !env[name]) return

  yield {
    place: settings.place(path),
    cure: 'Remove it.',
    repair: settingsRepair(change(path, value)),
    needsConsent: `${name} is removed from ${settings.path}.`,
    weight: 'blocks',
    ...said,
  }
}

interface Unwanted
  extends Pick<Obstacle, 'code' | 'message'>,
    Partial<Pick<Obstacle, 'cure' | 'needsConsent' | 'weight'>> {
  /** What is to stand in its place. */
  readonly value?: string | undefined
}

function settingsRepair(...changes: readonly KeyChange[]): Repair {
  return { role: 'settings', changes }
}

/** A credential is undone together with address and token: alone it would go to the gateway. */
function change(path: KeyPath, value: string | undefined): KeyChange {
  const isCredential = credentials.some((name) => name === path.at(-1))
  return { path, value, ...(isCredential ? { isSecret: true } : {}) }
}

const credentials = [names.apiKey, names.token, names.headers, 'apiKeyHelper']

/** The value that takes the effect of a variable away: in the settings' `env` it beats the shell's. */
function withoutEffect(scene: Scene, name: string): '' | undefined {
  return isExported(scene, name) ? '' : undefined
}

function apiKey(scene: Scene, settings: ClaudeSettings): Obstacles {
  return unwanted(settings, inEnv(names.apiKey), {
    code: 'claude-api-key',
    message: `${names.apiKey} stands beside the token: Claude Code sends both, and gateways of this family read the API key first`,
    value: withoutEffect(scene, names.apiKey),
  })
}

/** Credentials beside the token, and services in its place. */
function* otherCredentials(scene: Scene, settings: ClaudeSettings): Obstacles {
  const { env, path } = settings
  yield* unwanted(settings, ['apiKeyHelper'], {
    code: 'claude-api-key-helper',
    message: 'apiKeyHelper: what it prints goes out as an API key beside the token',
  })

  const headers = env[names.headers]
  if (carriesCredential(headers)) {
    yield* unwanted(settings, inEnv(names.headers), {
      code: 'claude-custom-headers',
      message: `${names.headers} carries a credential, which goes out beside the token`,
      value: withoutCredential(headers),
      needsConsent: `The credential in ${names.headers} is removed from ${path}.`,
    })
  }

  for (const name of serviceSwitches) {
    yield* unwanted(settings, inEnv(name), {
      code: 'claude-service-switch',
      message: `${name} makes Claude Code use another service than the gateway`,
      value: withoutEffect(scene, name),
    })
  }
}

/**
 * The key that a login of the vendor's console leaves in the client's own state. An empty
 * ANTHROPIC_API_KEY in the settings does not take its effect away. Not with `--bare`. Run against
 * 2.1.197 and 2.1.329, 2026-11-21.
 */
function* loginKey(texts: FileTexts): Obstacles {
  for (const state of readLayers(texts, 'state')) {
    if (!state.text(['primaryApiKey'])) continue
    yield obstacleAt(state, ['primaryApiKey'], {
      code: 'claude-login-key',
      message:
        'primaryApiKey, which a login has left: Claude Code sends it beside the token, and gateways of this family read it first',
      cure: 'Log out with `claude auth logout`.',
    })
  }
}

function withoutCredential(headers: string | undefined): string | undefined {
  const lines = linesOf(headers).filter((line) => !isCredentialLine(line))
  return lines.join('\n') || undefined
}

/**
 * Its UI asks once whether to use an API key, with No as the default answer, which means what else it
 * has: a saved login goes to the gateway then. Headless it does not ask. Run with 2.1.197 and 2.1.330,
 * 2026-11-22.
 */
export function* asksForKey(texts: FileTexts, key: string): Obstacles {
  const answer = answerFor(texts, key)
  if (answer?.list === 'approved') return

  const isLoggedIn = hasLogin(texts)
  const otherwise = isLoggedIn ? 'it sends your saved login to the gateway' : 'it has no key'

  yield {
    code: 'claude-asks-for-key',
    message:
      answer === undefined
        ? `the gateway takes the key as x-api-key alone, so it is ${names.apiKey} for Claude Code, whose UI asks once whether to use it`
        : `Claude Code's UI was told not to use this key as ${names.apiKey}: ${otherwise}`,
    place: answer?.place ?? 'at its next start',
    cure:
      answer === undefined
        ? `Answer Yes; with No, which it offers first, ${otherwise}.`
        : 'Take the entry out of that list.',
    ...(isLoggedIn && {
      needsConsent: `Unless you answer Yes when Claude Code asks whether to use the API key, ${otherwise}.`,
    }),
    weight: 'may-block',
  }
}

/** What was answered for a key, of which the client keeps the last 20 characters. */
function answerFor(
  texts: FileTexts,
  key: string,
): { readonly list: 'approved' | 'rejected'; readonly place: string } | undefined {
  const [state] = readLayers(texts, 'state')
  for (const list of ['approved', 'rejected'] as const) {
    const path = ['customApiKeyResponses', list]
    const value = state?.get(path)
    if (state && Array.isArray(value) && value.includes(key.slice(-20)))
      return { list, place: state.place(path) }
  }

  return undefined
}

function* models(scene: Scene, settings: ClaudeSettings): Obstacles {
  yield* unwanted(settings, inEnv(names.model), {
    code: 'claude-environment-model',
    message: `${names.model} in the settings beats "model"`,
    value: withoutEffect(scene, names.model),
  })
  yield* unwanted(settings, inEnv(names.smallFast), {
    code: 'claude-small-fast-model',
    message: `${names.smallFast} beats the model of the haiku slot for background work`,
    value: withoutEffect(scene, names.smallFast),
    weight: 'may-block',
  })
}

function* modelDefault(settings: ClaudeSettings): Obstacles {
  if (settings.root['model'] !== 'default') return

  yield obstacleAt(settings, ['model'], {
    code: 'claude-model-default',
    message: '"model": "default" is sent to the gateway as it stands',
    cure: 'Name a slot, such as "sonnet".',
    becomes: { value: 'sonnet' },
  })
}

/** Slots that someone pinned for another service. Beside a base URL they belong to its setup. */
function* oldPins(scene: Scene, settings: ClaudeSettings, { models }: Choice): Obstacles {
  const { env } = settings
  if (env[names.baseUrl] !== undefined) return

  for (const slot of slots.filter((one) => !models.slotModels?.[one])) {
    const name = slotVariable(slot)
    yield* unwanted(settings, inEnv(name), {
      code: 'claude-old-pin',
      message: `${name} = ${JSON.stringify(env[name])}: the slot ${slot} asks the gateway for that model`,
      value: withoutEffect(scene, name),
      cure: 'Remove it, unless the gateway has that model.',
      weight: 'may-block',
    })
  }
}

function* address(scene: Scene, settings: ClaudeSettings, url: string): Obstacles {
  const { env } = settings
  if (/\/v1\/*$/.test(url) && !scene.ownRoots.includes(rootOf(url))) {
    yield obstacleAt(settings, inEnv(names.baseUrl), {
      code: 'claude-base-url-version',
      message: `${names.baseUrl} ends in /v1, which Claude Code adds itself: every request misses`,
      cure: 'Take the /v1 away.',
      becomes: { value: url.replace(/\/v1\/*$/, '') },
    })
  }

  const apiKey = env[names.apiKey]
  const isApproved = apiKey !== undefined && answerFor(scene.texts, apiKey)?.list === 'approved'
  if (!env[names.token] && !isApproved && hasLogin(scene.texts)) {
    yield obstacleAt(settings, inEnv(names.baseUrl), {
      code: 'claude-login-leak',
      message: `${names.baseUrl} stands without a token, and a login is saved: Claude Code sends that login to the gateway`,
      cure: `Run \`repoint ${isMapping(slotModelsIn(settings)) ? 'claude-gpt' : 'claude'}\`, which writes the token too.`,
      covers: 'key-missing',
    })
  }

  if (isOn(env[names.discovery]) && env[names.quiet]) {
    yield obstacleAt(settings, inEnv(names.quiet), {
      code: 'claude-discovery-suppressed',
      message: `${names.quiet} suppresses the discovery of models in versions such as 2.1.197, with any value`,
      cure: `Write ${quietButDiscovering.join(', ')} in its place.`,
      repair: settingsRepair(
        change(inEnv(names.quiet), undefined),
        ...quietButDiscovering.map((name) => change(inEnv(name), '1')),
      ),
      weight: 'may-block',
    })
  }
}

/** The settings' `env` beats the shell's, and an empty value there takes a variable's effect away. */
function shell(scene: Scene, settings: ClaudeSettings, choice?: Choice): Obstacles {
  const { machine } = scene
  const filled = choice?.models.slotModels ?? {}
  const isKeyAlone = choice ? choice.keyHeader !== undefined : !settings.env[names.token]
  const effects: readonly (readonly [name: string, effect: string])[] = [
    isKeyAlone
      ? [names.token, 'Claude Code sends it beside the API key, to a gateway that refuses it']
      : [names.apiKey, 'Claude Code sends it beside the token, and gateways read it first'],
    ...serviceSwitches.map(
      (name) => [name, 'Claude Code uses another service than the gateway'] as const,
    ),
    [names.model, 'it beats "model" in the settings'],
    [names.smallFast, 'it beats the model of the haiku slot for background work'],
    ...slots
      .filter((slot) => !filled[slot])
      .map((slot) => [slotVariable(slot), `it changes what the slot ${slot} asks for`] as const),
    ...(carriesCredential(machine.env[names.headers])
      ? [[names.headers, 'it carries a credential, which goes out beside the token'] as const]
      : []),
  ]

  return variableObstacles(
    scene,
    effects
      .filter(([name]) => settings.env[name] === undefined)
      .map(([name, effect]) => ({
        name,
        code: 'claude-shell-variable',
        effect,
        weight: name === names.smallFast ? 'may-block' : 'blocks',
        repair: settingsRepair(change(inEnv(name), '')),
      })),
  )
}

/** A proxy is asked for loopback addresses too, unless NO_PROXY says otherwise. */
function proxy({ machine }: Scene, settings: ClaudeSettings, url: string): Obstacles {
  const env = { ...machine.env, ...settings.env }
  return proxyObstacles(claudeName, url, env, ({ variable, exempt }) => ({
    place: settings.env[variable] === undefined ? 'environment' : settings.path,
    repair: settingsRepair(...['NO_PROXY', 'no_proxy'].map((name) => change(inEnv(name), exempt))),
  }))
}

const claudeName = { id: 'claude', label: 'Claude Code' }

function carriesCredential(headers: string | undefined): boolean {
  return linesOf(headers).some(isCredentialLine)
}
