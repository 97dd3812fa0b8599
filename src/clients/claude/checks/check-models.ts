import type { Findings } from '../../../finding.ts'
import { findingAt } from '../../checks/findings.ts'
import type { ClientContext } from '../../contract/client.ts'
import type { SetupTarget } from '../../contract/setup.ts'
import { slots } from '../flags.ts'
import { type ClaudeSettings, inEnv, names, slotVariable } from '../settings.ts'
import { checkUnwantedSettings, withoutEffect } from './unwanted-settings.ts'

export function* checkModels(context: ClientContext, settings: ClaudeSettings): Findings {
  yield* checkUnwantedSettings(settings, inEnv(names.model), {
    code: 'claude-environment-model',
    message: `${names.model} overrides the chosen model`,
    value: withoutEffect(context, names.model),
  })
  yield* checkUnwantedSettings(settings, inEnv(names.smallFast), {
    code: 'claude-small-fast-model',
    message: `${names.smallFast} overrides the model of the haiku slot for background work`,
    value: withoutEffect(context, names.smallFast),
    severity: 'warning',
  })
}

export function* checkModelDefault(settings: ClaudeSettings): Findings {
  if (settings.root['model'] !== 'default') return

  yield findingAt(settings, ['model'], {
    code: 'claude-model-default',
    message: 'Claude Code sends "model": "default" to the gateway, and no model has this name',
    hint: 'Name a slot, such as "sonnet".',
    becomes: { value: 'sonnet' },
  })
}

/** Reports pins for another service. Next to a base URL, pins belong to its setup: see `hasPinsOfSetup`. */
export function* checkOldPins(
  context: ClientContext,
  settings: ClaudeSettings,
  { resolved }: SetupTarget,
): Findings {
  const { env } = settings
  if (env[names.baseUrl] !== undefined) return

  for (const slot of slots.filter((name) => !resolved.slotModels?.[name])) {
    const name = slotVariable(slot)
    yield* checkUnwantedSettings(settings, inEnv(name), {
      code: 'claude-old-pin',
      message: `${name} sets the model of the slot ${slot} to ${JSON.stringify(env[name])}`,
      value: withoutEffect(context, name),
      hint: 'If the gateway does not have that model, remove the line.',
      severity: 'warning',
    })
  }
}
