import type { Findings } from '../../finding.ts'
import { isExported, proxyFindings, variableFindings } from '../checks/environment.ts'
import {
  findingAt,
  missingKeyFinding,
  otherAddressFinding,
  relativePathFindings,
  unreadFileFinding,
} from '../checks/findings.ts'
import { addressFindings } from '../checks/other-tools.ts'
import type { ClientContext } from '../contract/client.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { mayNeedNoKey } from '../files/addresses.ts'
import { fileOf } from '../files/parse-file.ts'
import { textIn } from '../files/tables.ts'
import { clineName } from '../names.ts'
import { readHeaders } from '../plan/headers.ts'
import {
  hasLogin,
  type ProvidersFile,
  providerId,
  readProviders,
  settingsPath,
  usedPath,
} from './providers.ts'

/** Reports what would defeat the entry that a setup is about to write. */
export function* checkSetup(context: ClientContext, target: SetupTarget): Findings {
  const file = readProviders(fileOf(context.files, 'providers'))
  yield* checkSurroundings(context, file)
  yield* checkOtherEntry(context, file, target)
  yield* checkLogin(file)
  yield* proxyFindings(clineName, target.baseUrl, context.machine.env)
  if (target.keyHeader !== 'authorization') yield* checkSecondKey(context)
}

/** Reports what is wrong with the effective configuration of Cline. */
export function* checkNow(context: ClientContext): Findings {
  const file = readProviders(fileOf(context.files, 'providers'))
  yield* checkSurroundings(context, file)
  // With another provider, the user may configure Cline freely.
  if (file.used !== providerId) return

  const { settings } = file
  const url = textIn(settings, ['baseUrl'])
  const key = textIn(settings, ['apiKey'])
  yield* checkMissingKey(context, file, url)
  yield* addressFindings(clineName, context, file, {
    url,
    path: [...settingsPath, 'baseUrl'],
    name: 'baseUrl of its provider',
    key,
    keyPlace: file.place([...settingsPath, 'apiKey']),
  })
  if (url !== undefined) yield* proxyFindings(clineName, url, context.machine.env)
  if (!key && readHeaders(settings['headers']).headerKey) yield* checkSecondKey(context)
}

function* checkSurroundings(context: ClientContext, file: ProvidersFile): Findings {
  yield* relativePathFindings(clineName, context.machine, {
    names: ['CLINE_DIR', 'CLINE_DATA_DIR', 'CLINE_PROVIDER_SETTINGS_PATH'],
  })
  yield* variableFindings(context, [
    {
      name: 'CLINE_SANDBOX',
      code: 'cline-sandbox',
      effect: 'Cline reads a sandbox folder instead of your settings',
      severity: 'error',
    },
  ])

  yield* unreadFileFinding(file, {
    code: 'cline-providers-unreadable',
    effect:
      'Cline ignores the whole file, and replaces it at the next start with a file without keys',
    topic: 'broken',
  })
}

function checkOtherEntry(
  context: ClientContext,
  file: ProvidersFile,
  target: SetupTarget,
): Findings {
  return otherAddressFinding(context, target, {
    code: 'cline-provider-conflict',
    what: `the provider ${providerId}`,
    url: textIn(file.settings, ['baseUrl']),
    location: file.place([...settingsPath, 'baseUrl']),
    hint: 'Nothing to do: Cline has no second provider for gateways.',
  })
}

/** Reports a login of the provider that Cline starts with before the setup. */
function* checkLogin(file: ProvidersFile): Findings {
  const { used } = file
  if (used === undefined || !hasLogin(file, used)) return

  yield findingAt(file, usedPath, {
    code: 'cline-login',
    message: `Cline is logged in with an account of its provider ${used}`,
    hint: 'Nothing to do. repoint rollback restores the login.',
    needsConsentTo: `Stop using the login of Cline's provider ${used}. repoint rollback restores it.`,
    severity: 'warning',
  })
}

function* checkMissingKey(
  context: ClientContext,
  file: ProvidersFile,
  url: string | undefined,
): Findings {
  const { settings } = file
  const hasKey =
    Boolean(settings['apiKey']) || readHeaders(settings['headers']).headerKey !== undefined
  const isKeyElsewhere = hasLogin(file, providerId) || isExported(context, 'OPENAI_API_KEY')
  if (hasKey || isKeyElsewhere || mayNeedNoKey(url, context)) return

  const message = 'the provider of Cline has no apiKey: Cline sends no key'
  yield missingKeyFinding(clineName, file.place(settingsPath), message)
}

/** Reports a variable whose key Cline would send in addition to the gateway's key in another header. */
function checkSecondKey(context: ClientContext): Findings {
  return variableFindings(context, [
    {
      name: 'OPENAI_API_KEY',
      code: 'cline-second-key',
      effect: 'Cline sends this value as a second key',
      severity: 'error',
    },
  ])
}
