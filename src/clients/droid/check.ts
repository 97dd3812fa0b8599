import type { SettingPath } from '../../edits/types.ts'
import type { Findings } from '../../finding.ts'
import { variableFindings } from '../checks/environment.ts'
import {
  findingAt,
  missingKeyFinding,
  otherAddressFinding,
  relativePathFindings,
  unreadFileFinding,
} from '../checks/findings.ts'
import { addressFindings } from '../checks/other-tools.ts'
import type { ClientContext } from '../contract/client.ts'
import type { LoadedFile } from '../contract/files.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { mayNeedNoKey } from '../files/addresses.ts'
import { fileOf, filesOfKind } from '../files/parse-file.ts'
import { isTable, tableIn, textIn } from '../files/tables.ts'
import { droidName } from '../names.ts'
import {
  type CustomModel,
  customPrefix,
  type DroidSettings,
  defaultModelPath,
  entryIdOf,
  entryPath,
  knownProviders,
  modelCalled,
  protocolOfEntry,
  readSettings,
} from './settings.ts'

/** Reports what would defeat the entry that a setup is about to write. */
export function* checkSetup(context: ClientContext, target: SetupTarget): Findings {
  yield* checkSurroundings(context)
  yield* checkOtherEntry(context, target)
  yield* checkOverridden(context, entryIdOf(target.providerId), target.baseUrl)
}

/** Reports what is wrong with the effective configuration of droid. */
export function* checkNow(context: ClientContext): Findings {
  yield* checkSurroundings(context)

  const settings = readSettings(fileOf(context.files, 'settings'))
  const { defaultModel: chosen } = settings
  // With one of Factory's models, the user may configure droid freely.
  if (!chosen?.startsWith(customPrefix)) return

  const customModel = modelCalled(settings, chosen)
  if (customModel === undefined) {
    yield findingAt(settings, defaultModelPath, {
      code: 'droid-model-missing',
      message: `the default model ${chosen} is not in customModels: droid ends with "Exec failed"`,
      hint: 'Add it: repoint droid',
    })
    return
  }

  const url = textIn(customModel.entry, ['baseUrl'])
  yield* checkMissingKey(context, settings, customModel)
  yield* addressFindings(droidName, context, settings, {
    url,
    protocol: protocolOfEntry(customModel.entry),
    path: pathIn(customModel, 'baseUrl'),
    name: `baseUrl of ${textIn(customModel.entry, ['model']) ?? 'the model'}`,
    key: textIn(customModel.entry, ['apiKey']),
    keyPlace: settings.path,
  })
  yield* checkOverridden(context, customModel.entryId, url)
}

/** The path of a member of an entry. Without an ID only the list has a path. */
function pathIn({ entryId }: CustomModel, name: string): SettingPath {
  return entryId === undefined ? ['customModels'] : [...entryPath(entryId), name]
}

function* checkSurroundings({ files, machine }: ClientContext): Findings {
  const settings = readSettings(fileOf(files, 'settings'))
  yield* relativePathFindings(droidName, machine, { names: ['FACTORY_HOME_OVERRIDE'] })

  yield* unreadFileFinding(settings, {
    code: 'droid-settings-unreadable',
    effect: 'droid ignores its settings',
    topic: 'broken',
  })
  yield* checkProvider(settings)
}

function* checkProvider(settings: DroidSettings): Findings {
  const wrong = settings.models.find(({ entry }) => {
    const provider = entry['provider']
    return typeof provider === 'string' && !knownProviders.includes(provider)
  })
  if (wrong === undefined) return

  const { entry } = wrong
  const name = textIn(entry, ['displayName']) ?? textIn(entry, ['model']) ?? 'an entry'
  yield findingAt(settings, pathIn(wrong, 'provider'), {
    code: 'droid-unknown-provider',
    message: `${name} has a provider that droid does not know (${textIn(entry, ['provider'])}): droid reads none of the models`,
    hint: 'Fix the entry, or remove it.',
    severity: 'warning',
  })
}

/** Reports an entry with our ID that is for another address. */
function checkOtherEntry(context: ClientContext, target: SetupTarget): Findings {
  const ourId = entryIdOf(target.providerId)
  const settings = readSettings(fileOf(context.files, 'settings'))
  const customModel = settings.models.find(({ entryId }) => entryId === ourId)
  return otherAddressFinding(context, target, {
    code: 'droid-model-conflict',
    what: `the model ${ourId}`,
    url: textIn(customModel?.entry, ['baseUrl']),
    location: settings.place([...entryPath(ourId), 'baseUrl']),
  })
}

function* checkMissingKey(
  context: ClientContext,
  settings: DroidSettings,
  customModel: CustomModel,
): Findings {
  const { entry } = customModel
  const key = textIn(entry, ['apiKey']) ?? ''
  const variables = [...key.matchAll(/\$\{([^}]+)\}/g)].map(([, name]) => name!)
  const areSet = variables.every((name) => context.machine.env[name])
  const hasKey = key !== '' && areSet

  const headers = Object.keys(tableIn(entry, ['extraHeaders']))
  const hasKeyHeader = headers.some((name) => /^(authorization|x-api-key|api-key)$/i.test(name))
  if (hasKey || hasKeyHeader || mayNeedNoKey(textIn(entry, ['baseUrl']), context)) return

  yield missingKeyFinding(
    droidName,
    settings.place(pathIn(customModel, 'apiKey')),
    variables.length > 0
      ? `droid reads its key from ${variables.join(', ')}, which is not set`
      : 'the default model has no apiKey: droid sends none',
  )
}

/** Reports settings that override the user's file, and policies that forbid its models. */
function* checkOverridden(
  context: ClientContext,
  entryId: string | undefined,
  url: string | undefined,
): Findings {
  const { files } = context
  const userFile = fileOf(files, 'settings')
  const layers = ['upper', 'project', 'managed'].flatMap((kind) => filesOfKind(files, kind))
  yield* variableFindings(context, [
    {
      name: 'FACTORY_RUNTIME_SETTINGS_PATH',
      code: 'droid-environment-settings',
      effect: 'the file that it names overrides every other',
      severity: 'warning',
    },
  ])

  for (const file of [userFile, ...layers]) yield* checkPolicies(file, url)
  yield* checkOtherModels(readSettings(userFile), entryId)
}

/** droid ignores a model that a policy forbids. */
function* checkPolicies(file: LoadedFile, url: string | undefined): Findings {
  const settings = readSettings(file)
  const policy = settings.root['modelPolicy']
  if (!isTable(policy)) return

  const allowed = policy['allowedBaseUrls']
  const isForbidden = policy['allowCustomModels'] === false
  const isAllowed = !Array.isArray(allowed) || (url !== undefined && allowed.includes(url))
  if (!isForbidden && isAllowed) return

  const path = ['modelPolicy', isForbidden ? 'allowCustomModels' : 'allowedBaseUrls']
  yield findingAt(settings, path, {
    code: 'droid-model-policy',
    message: isForbidden
      ? 'modelPolicy forbids custom models: droid ignores yours'
      : 'modelPolicy allows only certain addresses, and the gateway is not one of them',
    hint:
      file.kind === 'managed'
        ? 'Ask the administrator of this machine.'
        : `Change ${path.join('.')} in that file.`,
    severity: isForbidden ? 'error' : 'warning',
  })
}

/** Reports parts of droid that use another model. */
function* checkOtherModels(settings: DroidSettings, entryId: string | undefined): Findings {
  const path = ['sessionDefaultSettings', 'specModeModel']
  const model = textIn(settings.root, path)
  if (model === undefined || model === entryId) return

  yield findingAt(settings, path, {
    code: 'droid-spec-model',
    message: `specification mode uses its own model, ${model}, and not the gateway`,
    hint: 'To use the gateway in that mode, remove the setting.',
    severity: 'warning',
  })
}
