import type { ConfigValue } from '../../edits/types.ts'
import type { Findings } from '../../finding.ts'
import { proxyFindings } from '../checks/environment.ts'
import { findingAt, relativePathFindings, unreadFileFinding } from '../checks/findings.ts'
import type { ClientContext } from '../contract/client.ts'
import type { SetupTarget } from '../contract/setup.ts'
import type { StrictFile } from '../files/strict-json.ts'
import { textIn } from '../files/tables.ts'
import { openclawName } from '../names.ts'
import {
  checkFormerProviders,
  checkProviderForSetup,
  checkProviderNow,
  hasSetVariables,
  type ProviderView,
} from '../pi-family/check-provider.ts'
import { providerOf, providerPath } from '../pi-family/providers.ts'
import { removal } from '../plan/edit-file.ts'
import {
  agentsWithModel,
  loginsFor,
  prefersKey,
  providerFormat,
  readConfig,
  readKey,
  startingModel,
  usualAgent,
} from './config.ts'

/** Reports what would defeat the setup. */
export function* checkSetup(context: ClientContext, target: SetupTarget): Findings {
  const { providerId, resolved, baseUrl } = target
  const view = viewOf(context, providerId, resolved.model)
  yield* checkSurroundings(context, view.models)
  yield* checkIncludes(view.models)
  yield* proxyFindings(providerFormat.client, baseUrl, context.machine.env)

  yield* checkOtherLogin(view, { canUseKey: true })
  yield* checkProviderForSetup(view, target)
  yield* checkTransport(view)
  yield* checkFormerProviders(view, target)
  yield* checkOtherModels(view)
}

/** Reports what is wrong with the effective configuration of OpenClaw. */
export function* checkNow(context: ClientContext): Findings {
  const file = readConfig(context.files)
  yield* checkSurroundings(context, file)
  const { providerId, model } = startingModel(file)
  if (providerId === undefined || model === undefined) return

  const view = viewOf(context, providerId, model)
  const { url } = view.provider
  // With a provider that OpenClaw ships, the user may configure it freely.
  if (url === undefined) return

  yield* checkIncludes(file)
  yield* proxyFindings(providerFormat.client, url, context.machine.env)
  yield* checkOtherLogin(view, { canUseKey: view.sent.key !== undefined })
  yield* checkTransport(view)
  yield* checkProviderNow(view, url)
}

function viewOf(context: ClientContext, providerId: string, model: string): ProviderView {
  const models = readConfig(context.files)
  const provider = providerOf(providerFormat, models, providerId)
  const { apiKey } = provider.table
  const configuredKey = textIn(provider.table, ['apiKey']) ?? ''

  return {
    context,
    format: providerFormat,
    models,
    providerId,
    provider,
    model,
    modelPlace: models.place(startingModel(models).path),
    sent: readKey(models, providerId) ?? {},
    isKeyElsewhere:
      (apiKey !== undefined && typeof apiKey !== 'string') ||
      hasSetVariables(configuredKey, context.machine.env) ||
      loginsFor(models, providerId).length > 0,
  }
}

function* checkSurroundings({ machine }: ClientContext, file: StrictFile): Findings {
  const code = 'openclaw-config-invalid'
  const names = ['OPENCLAW_CONFIG_PATH', 'OPENCLAW_STATE_DIR', 'OPENCLAW_HOME']
  yield* unreadFileFinding(file, { code, effect: 'OpenClaw does not start', topic: 'broken' })
  yield* relativePathFindings(openclawName, machine, { names, takesTilde: true })
}

/** The file itself overrides the files that it includes, except for lists: OpenClaw adds those together. */
function* checkIncludes(file: StrictFile): Findings {
  if (!hasInclude(file.root)) return

  yield {
    code: 'openclaw-include',
    message: 'the configuration includes other files ($include), which repoint does not read',
    location: file.path,
    hint: 'Check those files for models of agents and for a provider with the same ID.',
    severity: 'warning',
  }
}

function hasInclude(value: ConfigValue): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, below]) => key === '$include' || hasInclude(below))
}

/**
 * OpenClaw sends a login in its database first, whatever the address of the provider is, unless the file says that
 * its key comes first. A setup does that.
 */
function* checkOtherLogin(
  { models, providerId, provider }: ProviderView,
  { canUseKey }: { readonly canUseKey: boolean },
): Findings {
  const [login] = loginsFor(models, providerId)
  if (login === undefined || prefersKey(provider.table)) return

  const path = [...providerPath(providerFormat, providerId), 'auth']
  yield findingAt(models, ['auth', 'profiles', login], {
    code: 'openclaw-other-key',
    message: `the login ${login} for ${providerId} overrides the key in openclaw.json`,
    hint: canUseKey ? 'Use the key first.' : 'Set it up again: repoint openclaw',
    ...(canUseKey && {
      fix: { fileKind: 'config', changes: [{ path, value: 'api-key' }] },
      needsConsentTo: `Use the key in openclaw.json instead of the login ${login}. repoint rollback restores the login.`,
    }),
  })
}

/**
 * Reports how the provider itself changes its requests: with another key, a proxy, or certificates that are
 * not verified.
 */
function* checkTransport({ models, providerId, provider }: ProviderView): Findings {
  if (provider.table['request'] === undefined) return

  const path = [...providerPath(providerFormat, providerId), 'request']
  yield findingAt(models, path, {
    code: 'openclaw-request',
    message: `request of ${providerId} can change the address and the key`,
    ...removal(models, `request of ${providerId}`, { path, isSecret: true }),
  })
}

/** The agent that answers if the user names none must use our model; the others may use another one. */
function* checkOtherModels({ models, providerId, model }: ProviderView): Findings {
  const defaultAgent = usualAgent(models.root)
  for (const { agent, path, model: agentModel } of agentsWithModel(models.root)) {
    if (agentModel === `${providerId}/${model}`) continue

    const shared = {
      code: 'openclaw-agent-model',
      message: `the agent ${agent} uses its own model, ${agentModel}`,
      location: models.place(path),
    }
    if (agent === defaultAgent) {
      const fix = removal(models, `the model ${agentModel} of the agent ${agent}`, { path })
      yield { ...shared, ...fix, severity: 'error' }
    } else {
      yield { ...shared, hint: 'If you want to keep it, do nothing.', severity: 'warning' }
    }
  }
}
