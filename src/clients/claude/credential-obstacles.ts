import type { KeyPath } from '../../edits/plan.ts'
import type { FileTexts, Obstacle, Repair } from '../client.ts'
import { isExported } from '../shell-variables.ts'
import { layersOf, placeOf, readFile, textAt } from '../texts.ts'
import { inEnv, names, serviceSwitches } from './keys.ts'
import { carriesCredential, type Scene, setEnv } from './scene.ts'

/** Credentials beside the token, and services in its place. */
export function credentials({ settings, machine, context, place }: Scene): readonly Obstacle[] {
  const found: Obstacle[] = []
  if (settings.env[names.apiKey] && (context.choice || settings.env[names.token])) {
    const returns = isExported(machine, context, names.apiKey)
    found.push({
      code: 'claude-api-key',
      message: `${names.apiKey} stands beside the token: Claude Code sends both, and gateways of this family read the API key first`,
      place: place(inEnv(names.apiKey)),
      cure: 'Remove it.',
      repair: dropCredential(inEnv(names.apiKey), returns ? '' : undefined),
      needsConsent: `${names.apiKey} is removed from ${settings.path}.`,
      weight: 'blocks',
    })
  }
  if (settings.root['apiKeyHelper'] !== undefined) {
    found.push({
      code: 'claude-api-key-helper',
      message: 'apiKeyHelper: what it prints goes out as an API key beside the token',
      place: place(['apiKeyHelper']),
      cure: 'Remove it.',
      repair: dropCredential(['apiKeyHelper']),
      needsConsent: `apiKeyHelper is removed from ${settings.path}.`,
      weight: 'blocks',
    })
  }
  if (carriesCredential(settings.env[names.headers])) {
    found.push({
      code: 'claude-custom-headers',
      message: `${names.headers} carries a credential, which goes out beside the token`,
      place: place(inEnv(names.headers)),
      cure: 'Remove it.',
      repair: dropCredential(inEnv(names.headers)),
      needsConsent: `${names.headers} is removed from ${settings.path}.`,
      weight: 'blocks',
    })
  }
  for (const name of serviceSwitches) {
    if (!settings.env[name]) continue
    found.push({
      code: 'claude-service-switch',
      message: `${name} makes Claude Code use another service than the gateway`,
      place: place(inEnv(name)),
      cure: 'Remove it.',
      repair: setEnv(name, isExported(machine, context, name) ? '' : undefined),
      needsConsent: `${name} is removed from ${settings.path}.`,
      weight: 'blocks',
    })
  }
  return found
}

/**
 * The key that a login of the vendor's console leaves in the client's own state. An empty
 * ANTHROPIC_API_KEY in the settings does not take its effect away. Not with `--bare`. Run against
 * 2.1.197 and 2.1.329, 2026-11-21.
 */
export function managedKey(texts: FileTexts): readonly Obstacle[] {
  return layersOf(texts, 'state').flatMap((layer): Obstacle[] => {
    const state = readFile(layer)
    if (!textAt(state, ['primaryApiKey'])) return []
    return [
      {
        code: 'claude-login-key',
        message:
          'primaryApiKey, which a login has left: Claude Code sends it beside the token, and gateways of this family read it first',
        place: placeOf(state, ['primaryApiKey']),
        cure: 'Log out with `claude auth logout`.',
        weight: 'blocks',
      },
    ]
  })
}

/** It is undone together with address and token: alone it would go to the gateway. */
function dropCredential(path: KeyPath, value?: ''): Repair {
  return { role: 'settings', changes: [{ path, value, isSecret: true, isBound: true }] }
}
