import type { Choice, FileTexts, Obstacles, Repair, Scene } from '../client.ts'
import {
  leftoverObstacles,
  missingKey,
  obstacleAt,
  placeholderOf,
  relativePlaceObstacles,
} from '../obstacles.ts'
import { variableObstacles } from '../shell.ts'
import { fileOf, isOwnAddress, isTable, type ReadFile, readLayers, readRole } from '../texts.ts'
import { readCodexAuth } from './auth.ts'
import { catalogFaults, otherCatalog, staleCatalog } from './catalog-file.ts'
import { tookOffer } from './migrations.ts'
import { addressInUse, providerInUse } from './provider.ts'
import { providersInTheWay, providersWrongNow, startObstacles } from './provider-obstacles.ts'

/** What would defeat the pair about to be written, as run against Codex 0.169.0 (2026-11-21). */
export function* inTheWay(scene: Scene, choice: Choice): Obstacles {
  const config = readRole(scene.texts, 'config')
  yield* startObstacles(config, choice.providerId)
  if (choice.models.catalog === undefined) yield* catalogFaults(scene.texts, config)
  yield* otherCatalog(scene.texts, config, choice)
  yield* relativePlaceObstacles(scene.machine, 'codex-relative-home', 'Codex', ['CODEX_HOME'])
  yield* lostWithAuth(scene, config, choice)
  yield* providersInTheWay(scene, config, choice)
  yield* environmentKey(scene)
  yield* loginSettings(config)
  yield* windowOfAnother(config, choice)
  yield* systemLayers(scene.texts, config, true)
}

/** What is wrong with what Codex believes now. */
export function* wrongNow(scene: Scene): Obstacles {
  const config = readRole(scene.texts, 'config')
  const inUse = providerInUse(config)
  // With its own service, or a key from elsewhere, Codex may be set up as its owner likes.
  const isPointed = inUse?.table?.['requires_openai_auth'] === true

  yield* startObstacles(config)
  yield* catalogFaults(scene.texts, config)
  yield* staleCatalog(scene, config)
  yield* relativePlaceObstacles(scene.machine, 'codex-relative-home', 'Codex', ['CODEX_HOME'])
  yield* uselessAuth(scene.texts, isPointed)
  yield* providersWrongNow(scene, config)
  yield* tookOffer(scene, config)
  if (isPointed) {
    yield* environmentKey(scene)
    yield* loginSettings(config)
  }

  yield* leftovers(scene, config)
  yield* systemLayers(scene.texts, config, isPointed)
}

function environmentKey(scene: Scene): Obstacles {
  return variableObstacles(scene, [
    {
      name: 'CODEX_API_KEY',
      code: 'codex-environment-key',
      effect: 'Codex sends this value in place of the key in auth.json',
      weight: 'blocks',
    },
  ])
}

/** The setup replaces the file as a whole. */
function* lostWithAuth(scene: Scene, config: ReadFile, choice: Choice): Obstacles {
  const file = fileOf(scene.texts, 'auth')
  const { path: place } = file
  const auth = readCodexAuth(file)
  const key = auth.usableKey ?? auth.shadowedKey

  if (auth.login !== undefined)
    yield {
      code: 'codex-login',
      message: `Codex prefers ${auth.login} to any key, and would send the token of that login to the gateway`,
      place,
      cure: 'To keep the login in use as well, give this setup a folder of its own in CODEX_HOME.',
      needsConsent: `Your ${auth.login.replace(/^an? /, '')} in auth.json will be replaced by the key; rollback brings it back.`,
      weight: 'blocks',
    }
  else if (auth.unreadKeys !== undefined)
    yield {
      code: 'codex-unread-key',
      message: `${auth.unreadKeys.join(', ')} in auth.json: Codex reads no key of that name`,
      place,
      cure: 'Keep a copy of it if you need it elsewhere.',
      needsConsent: `${auth.unreadKeys.join(', ')} in auth.json will be dropped; rollback brings it back.`,
      weight: 'may-block',
    }
  else if (key !== undefined && key !== choice.key && !placeholderOf(key)) {
    if (isOwnAddress(addressInUse(config).url, scene, choice)) return
    yield {
      code: 'codex-other-key',
      message: 'auth.json holds an API key that no setup of repoint has put there',
      place,
      cure: 'Keep a copy of that key if you need it elsewhere.',
      needsConsent: 'The API key in auth.json will be replaced; rollback brings it back.',
      weight: 'may-block',
    }
  }
}

/** What Codex cannot use of auth.json, while a provider takes its key from there. */
function* uselessAuth(texts: FileTexts, isPointed: boolean): Obstacles {
  const file = fileOf(texts, 'auth')
  const { path: place } = file
  const auth = readCodexAuth(file)

  if (auth.ignored !== undefined)
    yield {
      code: 'codex-auth-unreadable',
      message: `Codex ignores auth.json without a word, and sends no key: ${auth.ignored}`,
      place,
      cure: 'Run `repoint codex`: it replaces the file.',
      weight: 'blocks',
      covers: 'key-missing',
    }
  else if (isPointed && auth.login !== undefined)
    yield {
      code: 'codex-login',
      message: `${auth.login} is in auth.json: Codex uses that login, and sends its token to the gateway`,
      place,
      cure: 'Replace the login by the key: `repoint codex`. Rollback brings the login back.',
      needsConsent: `Your ${auth.login.replace(/^an? /, '')} in auth.json goes; rollback brings it back.`,
      ...(auth.shadowedKey === undefined ? {} : { repair: withoutLogin }),
      weight: 'blocks',
      covers: 'key-missing',
    }
  else if (isPointed && auth.usableKey === undefined)
    yield missingKey(
      { id: 'codex' },
      place,
      auth.unreadKeys
        ? `auth.json holds ${auth.unreadKeys.join(', ')} but no OPENAI_API_KEY, which alone Codex reads: it sends no key`
        : 'no key is in auth.json: Codex sends none, or asks to sign in',
    )
}

const withoutLogin: Repair = {
  role: 'auth',
  changes: [
    { path: ['tokens'], value: undefined, isSecret: true, isBound: true },
    { path: ['auth_mode'], value: undefined },
    { path: ['last_refresh'], value: undefined },
  ],
}

function* loginSettings(config: ReadFile): Obstacles {
  const store = config.text(['cli_auth_credentials_store'])
  if (store !== undefined && store !== 'file' && store !== 'auto')
    yield obstacleAt(config, ['cli_auth_credentials_store'], {
      code: 'codex-credential-store',
      message: `cli_auth_credentials_store = ${JSON.stringify(store)}: Codex does not read auth.json, and sends no key`,
      cure: 'Set it to "file".',
      becomes: { value: 'file' },
    })

  if (config.text(['forced_login_method']) === 'chatgpt')
    yield obstacleAt(config, ['forced_login_method'], {
      code: 'codex-forced-login',
      message: 'forced_login_method = "chatgpt": Codex deletes a key login and stops',
      cure: 'Remove the line.',
      becomes: { value: undefined },
      needsConsent: 'forced_login_method = "chatgpt" is removed from config.toml.',
    })

  for (const [name] of config.members(['profiles']))
    yield obstacleAt(config, ['profiles', name], {
      code: 'codex-profile',
      message: `[profiles.${name}] is no longer read; \`codex --profile ${name}\` reads ${name}.config.toml`,
      cure: 'Nothing to do unless you use that profile.',
      weight: 'may-block',
    })
}

/** A window that was set for another model makes Codex compact too late or too early. */
function* windowOfAnother(config: ReadFile, choice: Choice): Obstacles {
  const window = config.get(['model_context_window'])
  if (window === undefined || choice.models.contextWindow !== undefined) return
  if (config.text(['model']) === choice.models.model) return
  yield obstacleAt(config, ['model_context_window'], {
    code: 'codex-context-window',
    message: `model_context_window = ${String(window)} was set for another model, and the gateway does not say the window of ${choice.models.model}`,
    cure: 'Give the right one with --context-window, or remove the line.',
    weight: 'may-block',
    covers: 'context-window-unknown',
  })
}

function leftovers(scene: Scene, config: ReadFile): Obstacles {
  const { path, url } = addressInUse(config)
  const auth = fileOf(scene.texts, 'auth')
  return leftoverObstacles({ id: 'codex', label: 'Codex' }, scene, {
    url,
    urlPlace: config.place(path),
    key: readCodexAuth(auth).usableKey,
    keyPlace: auth.path,
  })
}

/** What lies beneath config.toml. */
function* systemLayers(texts: FileTexts, config: ReadFile, isPointed: boolean): Obstacles {
  for (const layer of readLayers(texts, 'system')) {
    const hidden = ['cli_auth_credentials_store', 'forced_login_method'].filter(
      (key) => isPointed && layer.get([key]) !== undefined && config.get([key]) === undefined,
    )
    const chatWire = layer
      .members(['model_providers'])
      .find(([, provider]) => isTable(provider) && provider['wire_api'] === 'chat')

    const keys = [...hidden, ...(chatWire ? [`model_providers.${chatWire[0]}.wire_api`] : [])]
    if (keys.length > 0)
      yield {
        code: 'codex-system-config',
        message: `this file, which lies beneath config.toml, sets ${keys.join(', ')}`,
        place: layer.path,
        cure: 'Ask the administrator of this machine, or set the key in config.toml.',
        weight: 'blocks',
      }
  }
}
