import type { HarmfulVariable, KnownVariables } from '../contract/config.ts'
import { slots } from './flags.ts'
import { names, serviceSwitches, slotVariable } from './settings.ts'

const harmful = (name: string, effect: string): HarmfulVariable => ({
  name,
  code: 'claude-shell-variable',
  effect,
  severity: 'error',
})

/** The client works, with another model. */
const warned = (name: string, effect: string): HarmfulVariable => ({
  ...harmful(name, effect),
  severity: 'warning',
})

/** The `env` of settings.json overrides each of them in the environment, and an empty value there disables it. */
export const disabledBySettings: readonly HarmfulVariable[] = [
  harmful(names.apiKey, 'it overrides your gateway key'),
  harmful(names.token, 'Claude Code sends a second key, which the gateway rejects'),
  harmful(names.headers, 'it sends a second key'),
  ...serviceSwitches.map((name) =>
    harmful(name, 'Claude Code uses another service than the gateway'),
  ),
  warned(names.model, 'it overrides the chosen model'),
  warned(names.smallFast, 'it overrides the model of the haiku slot for background work'),
  ...slots.map((slot) => warned(slotVariable(slot), `it overrides the model of the slot ${slot}`)),
  // Exits with status 1 (2.1.330 and 2.1.332, 2026-11-28).
  harmful('CLAUDE_CODE_CLIENT_DATA_URL', 'Claude Code does not start'),
]

/** Nothing in settings.json changes them: Claude Code says "Not logged in" (2.1.330, 2026-11-28). */
export const readBeforeSettings: readonly HarmfulVariable[] = [
  'ANTHROPIC_UNIX_SOCKET',
  'CLAUDE_CODE_HOST_AUTH_ENV_VAR',
].map((name) => harmful(name, 'Claude Code does not use your key'))

export const variables: KnownVariables = {
  families: ['CLAUDE_', 'ANTHROPIC_'],
  harmful: [...disabledBySettings, ...readBeforeSettings],
  // Each name of 2.1.330 with such a word was set next to the settings of a setup: the gateway got the key, and
  // nobody else a request (2026-11-28). These are set for Claude Code, its own service, or services that a switch
  // selects; a user never set the others.
  harmless: [
    names.baseUrl,
    'ANTHROPIC_AWS_*',
    'ANTHROPIC_BEDROCK_*',
    'ANTHROPIC_FOUNDRY_*',
    'ANTHROPIC_GOOGLE_CLOUD_*',
    'ANTHROPIC_VERTEX_*',
    'ANTHROPIC_API_HOST',
    'CLAUDE_API_KEY',
    'CLAUDE_CODE_OAUTH_*',
    'CLAUDE_CODE_SKIP_*',
    'CLAUDE_CODE_API_KEY_HELPER_TTL_MS',
    'CLAUDE_CODE_MODEL_CATALOG_URL',
    'CLAUDE_CODE_SESSION_ACCESS_TOKEN',
    'CLAUDE_CODE_MESSAGING_*',
  ],
}
