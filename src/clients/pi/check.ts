import { addToList, type ConfigValue } from '../../edits/types.ts'
import type { Findings } from '../../finding.ts'
import { isExported, proxyFindings, unsetCommand } from '../checks/environment.ts'
import { findingAt, relativePathFindings, unreadFileFinding } from '../checks/findings.ts'
import type { ClientContext } from '../contract/client.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { parseKind } from '../files/parse-file.ts'
import type { StrictFile } from '../files/strict-json.ts'
import { textIn } from '../files/tables.ts'
import { piName } from '../names.ts'
import {
  checkFormerProviders,
  checkProviderForSetup,
  checkProviderNow,
  hasSetVariables,
  type ProviderView,
  providerOf,
} from '../pi-family/providers.ts'
import {
  incompleteProvider,
  loginOf,
  providerFormat,
  readAuth,
  readModels,
  readPiKey,
  readSettings,
  startingModel,
} from './config.ts'

interface PiView extends ProviderView {
  readonly settings: StrictFile
}

function viewOf(context: ClientContext, providerId: string, model: string): PiView {
  const [models, settings] = [readModels(context.files), readSettings(context.files)]
  const provider = providerOf(providerFormat, models, providerId)
  const configuredKey = textIn(provider.table, ['apiKey']) ?? ''

  return {
    context,
    format: providerFormat,
    models,
    settings,
    providerId,
    provider,
    model,
    modelPlace: settings.place(['defaultModel']),
    sent: readPiKey(context.files, providerId) ?? {},
    isKeyElsewhere:
      configuredKey.startsWith('!') || hasSetVariables(configuredKey, context.machine.env),
  }
}

/** Reports what would defeat the setup. */
export function* checkSetup(context: ClientContext, target: SetupTarget): Findings {
  const view = viewOf(context, target.providerId, target.resolved.model)
  yield* checkSurroundings(context)
  yield* checkKeyVariable(context, target.key)
  yield* proxyFindings(providerFormat.client, target.baseUrl, context.machine.env)
  yield* checkOtherLogin(view)
  yield* checkProviderForSetup(view, target)
  yield* checkOtherProviders(view)
  yield* checkFormerProviders(view, target)
  yield* checkModelLists(view)
}

/** Reports what is wrong with the effective configuration of pi. */
export function* checkNow(context: ClientContext): Findings {
  yield* checkSurroundings(context)
  const { providerId, model } = startingModel(readSettings(context.files))
  if (providerId === undefined || model === undefined) return

  const view = viewOf(context, providerId, model)
  const { url } = view.provider
  // With a provider that pi ships, the user may configure it freely.
  if (url === undefined) return

  yield* proxyFindings(providerFormat.client, url, context.machine.env)
  yield* checkOtherLogin(view)
  yield* checkProviderNow(view, url)
  yield* checkModelLists(view)
}

function* checkSurroundings({ files, machine }: ClientContext): Findings {
  const readFiles = [
    {
      file: readAuth(files),
      code: 'pi-auth-unreadable',
      effect: 'pi 0.87 finds no key, and older versions find no login',
    },
    {
      file: readModels(files),
      code: 'pi-models-invalid',
      effect: 'pi ignores every provider of the file',
    },
    {
      file: readSettings(files),
      code: 'pi-settings-invalid',
      effect: 'pi ignores the file, and starts with the first model that it has a key for',
    },
  ]

  for (const { file, code, effect } of readFiles)
    if (file) yield* unreadFileFinding(file, { code, effect, topic: 'broken' })

  const names = ['PI_CODING_AGENT_DIR']
  yield* relativePathFindings(piName, machine, { names, takesTilde: true })
}

/** Up to 0.76 pi takes a key for a variable if a variable has the same name. */
function* checkKeyVariable(context: ClientContext, key: string): Findings {
  if (!/^\w+$/.test(key) || !isExported(context, key)) return

  yield {
    code: 'pi-key-is-variable',
    message: 'a variable has the key as its name: pi up to 0.76 would send its value',
    location: 'environment',
    hint: unsetCommand(context.machine, 'the variable'),
    severity: 'warning',
  }
}

function* checkOtherProviders({ models, providerId }: PiView): Findings {
  const lack = incompleteProvider(models, providerId)
  if (lack === undefined) return

  yield {
    code: 'pi-provider-incomplete',
    message: `${lack}: older versions of pi ignore every provider`,
    location: models.path,
    hint: 'Complete it, or remove it.',
    severity: 'warning',
  }
}

function* checkOtherLogin({ context, providerId }: PiView): Findings {
  if (loginOf(context.files, providerId) === undefined) return

  yield findingAt(parseKind(context.files, 'auth'), [providerId], {
    code: 'pi-other-key',
    message: `the login for ${providerId} in auth.json overrides the key in models.json`,
    hint: 'Remove it.',
    becomes: { value: undefined, isSecret: true, role: 'key' },
    needsConsentTo: `Remove the login for ${providerId} from auth.json. repoint rollback restores it.`,
  })
}

/** If the list contains only other models, pi starts with the first of them. */
function* checkModelLists({ settings, providerId, model }: PiView): Findings {
  const full = `${providerId}/${model}`
  const path = ['enabledModels']
  if (!isNarrowed(settings.root['enabledModels'], full, model)) return

  yield findingAt(settings, path, {
    code: 'pi-enabled-models',
    message: `enabledModels does not contain ${model}: pi starts with another model`,
    hint: 'Add it to enabledModels.',
    fix: { fileKind: 'settings', changes: [addToList(path, full)] },
  })
}

/** Whether the list contains patterns, in pi's syntax, and none of them matches the model. */
function isNarrowed(list: ConfigValue | undefined, full: string, id: string): boolean {
  if (!Array.isArray(list) || list.length === 0) return false
  return !list.some((entry: ConfigValue) => {
    if (typeof entry !== 'string') return false
    const pattern = entry.replace(/:(?:off|minimal|low|medium|high|xhigh|max)$/, '')
    return [full, id].some((name) => matches(pattern, name))
  })
}

/** `*` matches any text without a slash, `?` one character of it. */
function matches(pattern: string, name: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*?/g, '[^/]*')
    .replace(/\?/g, '[^/]')
  return new RegExp(`^${source}$`, 'i').test(name)
}
