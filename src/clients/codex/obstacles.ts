import type { Machine } from '../../platform/platform.ts'
import type { FileTexts, Obstacle, ObstacleContext } from '../client.ts'
import { leftoverObstacles } from '../leftovers.ts'
import { relativePlaceObstacles } from '../paths.ts'
import { variableObstacles } from '../shell-variables.ts'
import { fileOf, placeOf, type ReadFile, readFile, tableAt, textAt } from '../texts.ts'
import { readCodexAuth } from './auth.ts'
import { authObstacles } from './auth-obstacles.ts'
import { layerObstacles } from './layer-obstacles.ts'
import { providerInUse } from './provider.ts'
import { configRepair, providerObstacles } from './provider-obstacles.ts'

/** What would defeat the pair, as run against Codex 0.169.0 (2026-11-21). */
export function codexObstacles(
  texts: FileTexts,
  machine: Machine,
  context: ObstacleContext,
): readonly Obstacle[] {
  const config = readFile(fileOf(texts, 'config'))
  // With its own service, or a key from elsewhere, Codex may be set up as its owner likes.
  const isPointed =
    context.choice !== undefined || providerInUse(config)?.table?.['requires_openai_auth'] === true
  return [
    ...unreadable(config),
    ...brokenRoot(config),
    ...relativePlaceObstacles(machine, 'codex-relative-home', 'Codex', ['CODEX_HOME']),
    ...authObstacles(texts, config, context),
    ...providerObstacles(texts, config, context),
    ...(isPointed
      ? [
          ...variableObstacles(machine, context, [
            {
              name: 'CODEX_API_KEY',
              code: 'codex-environment-key',
              effect: 'Codex sends its value in the place of the key in auth.json',
              weight: 'blocks',
            },
          ]),
          ...loginSettings(config),
          ...windowObstacle(config, context),
        ]
      : []),
    ...leftovers(texts, config, context),
    ...layerObstacles(texts, config, context, isPointed),
  ]
}

function unreadable(config: ReadFile): readonly Obstacle[] {
  if (config.problem === undefined) return []
  return [
    {
      code: 'codex-config-invalid',
      message: `Codex does not start: ${config.problem}`,
      place: config.path,
      cure: 'Correct the file by hand: it cannot be edited safely as it is.',
      weight: 'blocks',
    },
  ]
}

/** Root keys with which Codex does not start, whatever it is pointed at. */
function brokenRoot(config: ReadFile): readonly Obstacle[] {
  if (config.document?.get(['profile']) === undefined) return []
  return [
    {
      code: 'codex-legacy-profile',
      message: 'profile at the root: Codex refuses to start with it',
      place: placeOf(config, ['profile']),
      cure: 'Remove the line; choose a profile with `codex --profile` instead.',
      repair: configRepair({ path: ['profile'], value: undefined }),
      weight: 'blocks',
    },
  ]
}

function loginSettings(config: ReadFile): readonly Obstacle[] {
  const found: Obstacle[] = []
  const store = textAt(config, ['cli_auth_credentials_store'])
  if (store !== undefined && store !== 'file' && store !== 'auto') {
    found.push({
      code: 'codex-credential-store',
      message: `cli_auth_credentials_store = ${JSON.stringify(store)}: Codex does not read auth.json, so it sends no key`,
      place: placeOf(config, ['cli_auth_credentials_store']),
      cure: 'Set it to "file".',
      repair: configRepair({ path: ['cli_auth_credentials_store'], value: 'file' }),
      weight: 'blocks',
    })
  }
  if (textAt(config, ['forced_login_method']) === 'chatgpt') {
    found.push({
      code: 'codex-forced-login',
      message: 'forced_login_method = "chatgpt": Codex deletes a key login and stops',
      place: placeOf(config, ['forced_login_method']),
      cure: 'Remove the line.',
      repair: configRepair({ path: ['forced_login_method'], value: undefined }),
      needsConsent: 'forced_login_method = "chatgpt" is removed from config.toml.',
      weight: 'blocks',
    })
  }
  for (const name of Object.keys(tableAt(config, ['profiles']) ?? {})) {
    found.push({
      code: 'codex-profile',
      message: `[profiles.${name}] is no longer read; \`codex --profile ${name}\` reads ${name}.config.toml`,
      place: placeOf(config, ['profiles', name]),
      cure: 'Nothing to do unless you use that profile.',
      weight: 'may-block',
    })
  }
  return found
}

/** A window that was set for another model makes Codex compact too late or too early. */
function windowObstacle(config: ReadFile, context: ObstacleContext): readonly Obstacle[] {
  const { choice } = context
  const window = config.document?.get(['model_context_window'])
  if (!choice || window === undefined || choice.models.contextWindow !== undefined) return []
  if (textAt(config, ['model']) === choice.models.model) return []
  return [
    {
      code: 'codex-context-window',
      message: `model_context_window = ${String(window)} was set for another model, and the gateway does not say the window of ${choice.models.model}`,
      place: placeOf(config, ['model_context_window']),
      cure: 'Give the right one with --context-window, or remove the line.',
      weight: 'may-block',
      covers: 'context-window-unknown',
    },
  ]
}

function leftovers(
  texts: FileTexts,
  config: ReadFile,
  context: ObstacleContext,
): readonly Obstacle[] {
  const inUse = providerInUse(config)
  const url = inUse?.table?.['base_url']
  const auth = fileOf(texts, 'auth')
  return leftoverObstacles(
    {
      family: 'codex',
      label: 'Codex',
      url: typeof url === 'string' ? url : undefined,
      urlPlace: () => placeOf(config, ['model_providers', inUse?.id ?? '', 'base_url']),
      key: readCodexAuth(auth).usableKey,
      keyPlace: () => auth.path,
    },
    context,
  )
}
