import type { FileFix, Findings } from '../../finding.ts'
import { proxyFindings, variableFindings } from '../checks/environment.ts'
import { findingAt, missingKeyFinding, relativePathFindings } from '../checks/findings.ts'
import { leftoverFindings, placeholderOf } from '../checks/other-tools.ts'
import type { ClientContext } from '../contract/client.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { isOwnAddress } from '../files/addresses.ts'
import { fileOf, type ParsedFile, parseKind, parseLayers } from '../files/parse-file.ts'
import { isTable } from '../files/tables.ts'
import { codexName } from '../names.ts'
import { readCodexAuth } from './auth.ts'
import { checkKeyInAuth, keepsLogin } from './key-file.ts'
import { checkMigratedModel } from './migrations.ts'
import { checkModelsFile, checkOtherModelsFile, checkStaleModelsFile } from './models-file.ts'
import { checkProvidersForSetup, checkProvidersNow } from './providers/check-provider.ts'
import { startupFindings } from './providers/check-start.ts'
import { addressInUse, keySourceInUse, providerInUse, takesAuthFile } from './providers/provider.ts'
import { oldServerFindings } from './server.ts'
import { identityVariables, keyVariables, variables } from './variables.ts'

const homeVariable = { names: ['CODEX_HOME'], code: 'codex-relative-home' }

/** Reports what would defeat the address and key that a setup is about to write. */
export function* checkSetup(context: ClientContext, target: SetupTarget): Findings {
  const config = parseKind(context.files, 'config')
  yield* startupFindings(config, target.providerId)
  if (target.resolved.modelsFile === undefined) yield* checkModelsFile(context.files, config)
  yield* checkOtherModelsFile(context.files, config, target)
  yield* relativePathFindings(codexName, context.machine, homeVariable)
  yield* checkProvidersForSetup(context, config, target)
  yield* checkProxy(context, target.baseUrl)
  yield* checkContextWindow(config, target)

  const needsAuthFile = !keepsLogin(target.input)
  yield* variableFindings(context, needsAuthFile ? variables.harmful : identityVariables)
  yield* checkSystemLayers(context.files, config, { needsAuthFile })
  if (needsAuthFile) {
    yield* checkLostLogin(context, config, target)
    yield* checkLoginSettings(config)
  } else {
    yield* checkKeyInAuth(context, target)
    yield* checkForcedKey(context.files, config)
  }
}

/** Reports what is wrong with the effective configuration of Codex. */
export function* checkNow(context: ClientContext): Findings {
  const config = parseKind(context.files, 'config')
  const inUse = providerInUse(config)
  // With its own service, or a key from another place, the user may configure Codex freely.
  const needsAuthFile = inUse?.table !== undefined && takesAuthFile(config)

  yield* startupFindings(config)
  yield* checkModelsFile(context.files, config)
  yield* checkStaleModelsFile(context, config)
  yield* relativePathFindings(codexName, context.machine, homeVariable)
  yield* checkUselessAuth(context.files, { needsAuthFile })
  yield* checkProvidersNow(context, config)
  yield* checkMigratedModel(context, config)
  if (inUse !== undefined) yield* variableFindings(context, identityVariables)
  if (needsAuthFile) {
    yield* variableFindings(context, keyVariables)
    yield* checkLoginSettings(config)
  }
  if (keySourceInUse(config).kind === 'key-file') yield* checkForcedKey(context.files, config)

  yield* checkProxy(context, addressInUse(config).url)
  yield* checkLeftovers(context, config)
  yield* checkSystemLayers(context.files, config, { needsAuthFile })
  yield* oldServerFindings(context.world)
}

/** At a dead proxy Codex waits without end (0.171.0, 2026-11-28). */
function* checkProxy({ machine }: ClientContext, url: string | undefined): Findings {
  if (url !== undefined) yield* proxyFindings(codexName, url, machine.env, { readsAllProxy: true })
}

const keepHint = 'To keep the login, add --keep-login.'

/** Reports what is lost because the setup replaces the whole file. */
function* checkLostLogin(
  context: ClientContext,
  config: ParsedFile,
  target: SetupTarget,
): Findings {
  const file = fileOf(context.files, 'auth')
  const { path: location } = file
  const auth = readCodexAuth(file)
  const key = auth.usableKey ?? auth.shadowedKey

  if (auth.login !== undefined)
    yield {
      code: 'codex-login',
      message: `Codex would use a ${auth.login} instead of your key, and send its token to the gateway`,
      location,
      hint: keepHint,
      needsConsentTo: `Replace your ${auth.login} in auth.json by the key. To keep it, add --keep-login. repoint rollback restores it.`,
      severity: 'error',
    }
  else if (auth.shadowedLogin !== undefined && key !== target.key)
    yield {
      code: 'codex-login',
      message: `auth.json also contains a ${auth.shadowedLogin}, and a setup replaces the file`,
      location,
      hint: keepHint,
      needsConsentTo: `Replace your ${auth.shadowedLogin} in auth.json by the key. To keep it, add --keep-login. repoint rollback restores it.`,
      severity: 'warning',
    }
  else if (auth.unreadKeys !== undefined)
    yield {
      code: 'codex-unread-key',
      message: `auth.json contains ${auth.unreadKeys.join(', ')}, which Codex does not read`,
      location,
      hint: 'Keep a copy of it if you need it elsewhere.',
      needsConsentTo: `Remove ${auth.unreadKeys.join(', ')} from auth.json. repoint rollback restores it.`,
      severity: 'warning',
    }
  else if (key !== undefined && key !== target.key && !placeholderOf(key)) {
    if (isOwnAddress(addressInUse(config).url, context, target)) return
    yield {
      code: 'codex-other-key',
      message: 'auth.json contains an API key that repoint did not write',
      location,
      hint: 'Keep a copy of that key if you need it elsewhere.',
      needsConsentTo: 'Replace the API key in auth.json. repoint rollback restores it.',
      severity: 'warning',
    }
  }
}

interface AuthFileUse {
  /** The provider takes its key from auth.json. */
  readonly needsAuthFile: boolean
}

/** Reports contents of auth.json that Codex cannot use. */
function* checkUselessAuth(files: LoadedFiles, { needsAuthFile }: AuthFileUse): Findings {
  const file = fileOf(files, 'auth')
  const { path: location } = file
  const auth = readCodexAuth(file)

  if (auth.whyIgnored !== undefined)
    yield {
      code: 'codex-auth-unreadable',
      message: `Codex ignores auth.json and sends no key: ${auth.whyIgnored}`,
      location,
      hint: 'Replace the file: repoint codex',
      severity: 'error',
      topic: 'key-missing',
    }
  else if (needsAuthFile && auth.login !== undefined)
    yield {
      code: 'codex-login',
      message: `Codex uses a ${auth.login} in auth.json, and sends its token to the gateway`,
      location,
      hint: 'Replace the login by the key: repoint codex',
      // A rollback would let Codex send the login to the gateway, so it is refused.
      needsConsentTo: `Remove your ${auth.login} from auth.json. To use it again later, log in again.`,
      ...(auth.shadowedKey === undefined ? {} : { fix: withoutLogin }),
      severity: 'error',
      topic: 'key-missing',
    }
  else if (needsAuthFile && auth.usableKey === undefined)
    yield missingKeyFinding(
      codexName,
      location,
      auth.unreadKeys
        ? `Codex sends no key: auth.json contains ${auth.unreadKeys.join(', ')}, and Codex reads only OPENAI_API_KEY`
        : 'auth.json contains no key: Codex sends none, or asks you to sign in',
    )
}

const withoutLogin: FileFix = {
  fileKind: 'auth',
  changes: [
    { path: ['tokens'], value: undefined, isSecret: true, role: 'key' },
    { path: ['auth_mode'], value: undefined },
    { path: ['last_refresh'], value: undefined },
  ],
}

/** At its start Codex then deletes a ChatGPT login (0.149.1 and 0.169.0, 2026-11-26). */
function* checkForcedKey(files: LoadedFiles, config: ParsedFile): Findings {
  const { login } = readCodexAuth(fileOf(files, 'auth'))
  if (login === undefined || config.text(['forced_login_method']) !== 'api') return
  yield findingAt(config, ['forced_login_method'], {
    code: 'codex-forced-login',
    message: `Codex deletes your ${login}: forced_login_method = "api"`,
    hint: 'Remove the line.',
    becomes: { value: undefined },
    needsConsentTo: 'Remove forced_login_method = "api" from config.toml.',
  })
}

function* checkLoginSettings(config: ParsedFile): Findings {
  const store = config.text(['cli_auth_credentials_store'])
  if (store !== undefined && store !== 'file' && store !== 'auto')
    yield findingAt(config, ['cli_auth_credentials_store'], {
      code: 'codex-credential-store',
      message: `Codex does not read auth.json and sends no key: cli_auth_credentials_store = ${JSON.stringify(store)}`,
      hint: 'Set it to "file".',
      becomes: { value: 'file' },
      topic: 'key-missing',
    })

  if (config.text(['forced_login_method']) === 'chatgpt')
    yield findingAt(config, ['forced_login_method'], {
      code: 'codex-forced-login',
      message: 'Codex deletes the key and stops: forced_login_method = "chatgpt"',
      hint: 'Remove the line.',
      becomes: { value: undefined },
      needsConsentTo: 'Remove forced_login_method = "chatgpt" from config.toml.',
    })

  for (const [name] of config.members(['profiles']))
    yield findingAt(config, ['profiles', name], {
      code: 'codex-profile',
      message: `Codex no longer reads [profiles.${name}]: \`codex --profile ${name}\` reads ${name}.config.toml`,
      hint: 'Nothing to do unless you use that profile.',
      severity: 'warning',
    })
}

/** With the window of another model, Codex compacts too late or too early. */
function* checkContextWindow(config: ParsedFile, target: SetupTarget): Findings {
  const window = config.get(['model_context_window'])
  if (window === undefined || typeof window === 'object') return
  if (target.resolved.contextWindow !== undefined) return
  if (config.text(['model']) === target.resolved.model) return
  yield findingAt(config, ['model_context_window'], {
    code: 'codex-context-window',
    message: `model_context_window = ${String(window)} is for another model, and the gateway does not report the window of ${target.resolved.model}`,
    hint: 'Set the right one: repoint codex --context-window TOKENS. Or remove the line.',
    severity: 'warning',
    topic: 'context-window-unknown',
  })
}

function checkLeftovers(context: ClientContext, config: ParsedFile): Findings {
  const { path, url } = addressInUse(config)
  const auth = fileOf(context.files, 'auth')
  return leftoverFindings(codexName, context, {
    url,
    urlPlace: () => config.place(path),
    key: readCodexAuth(auth).usableKey,
    keyPlace: auth.path,
  })
}

/** Reports the layers below config.toml. */
function* checkSystemLayers(
  files: LoadedFiles,
  config: ParsedFile,
  { needsAuthFile }: AuthFileUse,
): Findings {
  for (const layer of parseLayers(files, 'system')) {
    const hidden = ['cli_auth_credentials_store', 'forced_login_method'].filter(
      (key) => needsAuthFile && layer.get([key]) !== undefined && config.get([key]) === undefined,
    )
    const chatWire = layer
      .members(['model_providers'])
      .find(([, provider]) => isTable(provider) && provider['wire_api'] === 'chat')

    const keys = [...hidden, ...(chatWire ? [`model_providers.${chatWire[0]}.wire_api`] : [])]
    if (keys.length > 0)
      yield {
        code: 'codex-system-config',
        message: `this file also sets ${keys.join(', ')}, and config.toml does not override it`,
        location: layer.path,
        hint: 'Ask the administrator of this machine, or set the key in config.toml.',
        severity: 'error',
      }
  }
}
