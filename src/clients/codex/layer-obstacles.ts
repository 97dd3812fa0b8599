import type { FileTexts, Obstacle, ObstacleContext } from '../client.ts'
import { isTable, layersOf, placeOf, type ReadFile, readFile, tableAt } from '../texts.ts'

/** The root keys by which another layer redirects Codex. */
const redirecting = ['model', 'model_provider', 'cli_auth_credentials_store', 'forced_login_method']

/** What lies above and beneath config.toml, as run against Codex 0.169.0 (2026-11-21). */
export function layerObstacles(
  texts: FileTexts,
  config: ReadFile,
  context: ObstacleContext,
  isPointed: boolean,
): readonly Obstacle[] {
  return [
    ...systemObstacles(texts, config, isPointed),
    ...(isPointed ? redirections(texts, context) : []),
  ]
}

function systemObstacles(
  texts: FileTexts,
  config: ReadFile,
  isPointed: boolean,
): readonly Obstacle[] {
  return layersOf(texts, 'system')
    .map(readFile)
    .flatMap((layer): Obstacle[] => {
      const hidden = ['cli_auth_credentials_store', 'forced_login_method'].filter(
        (key) =>
          isPointed &&
          layer.document?.get([key]) !== undefined &&
          config.document?.get([key]) === undefined,
      )
      const chatWire = Object.entries(tableAt(layer, ['model_providers']) ?? {}).find(
        ([, provider]) => isTable(provider) && provider['wire_api'] === 'chat',
      )
      const keys = [...hidden, ...(chatWire ? [`model_providers.${chatWire[0]}.wire_api`] : [])]
      if (keys.length === 0) return []
      return [
        {
          code: 'codex-system-config',
          message: `this file, which lies beneath config.toml, sets ${keys.join(', ')}`,
          place: layer.path,
          cure: 'Ask the administrator of this machine, or set the key in config.toml.',
          weight: 'blocks',
        },
      ]
    })
}

function redirections(texts: FileTexts, context: ObstacleContext): readonly Obstacle[] {
  const found: Obstacle[] = []
  for (const layer of layersOf(texts, 'managed').map(readFile)) {
    const keys = redirectingKeys(layer, context)
    if (keys.length === 0) continue
    found.push({
      code: 'codex-managed-config',
      message: `the administrator's file sets ${keys.join(', ')}, which wins over config.toml`,
      place: layer.path,
      cure: 'Ask the administrator of this machine.',
      weight: 'blocks',
    })
  }
  for (const layer of layersOf(texts, 'project').map(readFile)) {
    if (layer.document?.get(['model']) === undefined) continue
    found.push({
      code: 'codex-project-config',
      message:
        'this project sets model, which wins over yours while Codex runs here, if it is trusted',
      place: placeOf(layer, ['model']),
      cure: 'Remove it there, or start Codex in another folder.',
      weight: 'may-block',
    })
  }
  for (const layer of layersOf(texts, 'profile').map(readFile)) {
    const keys = redirectingKeys(layer, context)
    if (keys.length === 0) continue
    found.push({
      code: 'codex-profile',
      message: `this profile sets ${keys.join(', ')}: \`codex --profile\` with its name does not use the gateway's settings`,
      place: layer.path,
      cure: 'Nothing to do unless you use that profile.',
      weight: 'may-block',
    })
  }
  return found
}

function redirectingKeys(layer: ReadFile, context: ObstacleContext): readonly string[] {
  const keys = redirecting.filter((key) => layer.document?.get([key]) !== undefined)
  const provider = ['model_providers', context.providerId]
  return tableAt(layer, provider) ? [...keys, provider.join('.')] : keys
}
