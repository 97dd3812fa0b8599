import { ifPossible } from '../../errors.ts'
import type { FileFix, Findings } from '../../finding.ts'
import { isNewer, runningServer, serverFinding } from '../checks/background-server.ts'
import { proxyFindings, variableFindings } from '../checks/environment.ts'
import { findingAt, missingKeyFinding, relativePathFindings } from '../checks/findings.ts'
import { leftoverFindings, placeholderOf } from '../checks/other-tools.ts'
import type { ClientContext, ClientWorld } from '../contract/client.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { isOwnAddress } from '../files/addresses.ts'
import { fileOf, type ParsedFile, parseKind, parseLayers } from '../files/parse-file.ts'
import { pathsOf } from '../files/paths.ts'
import { codexName } from '../names.ts'
import {
  codexHome,
  configRepair,
  identityVariables,
  keyFileName,
  keyVariables,
  type Provider,
  providerInUse,
  providersOf,
  readCodexAuth,
  reservedIds,
  tableName,
  variables,
} from './config.ts'
import {
  checkMigratedModel,
  checkModelsFile,
  checkOtherModelsFile,
  checkStaleModelsFile,
} from './models.ts'
import { checkKeyInAuth, keepsLogin } from './plan.ts'
import { checkProvidersForSetup, checkProvidersNow } from './providers.ts'

// The start.

/**
 * Reports what keeps Codex from starting, whichever provider is in use.
 *
 * @param plannedId the ID of the provider whose table a setup is about to write; the setup fixes its faults
 */
export function* startupFindings(config: ParsedFile, plannedId?: string): Findings {
  for (const finding of checkStart(config, plannedId)) yield { ...finding, topic: 'broken' }
}

function* checkStart(config: ParsedFile, plannedId: string | undefined): Findings {
  yield* checkRoot(config, plannedId)
  for (const provider of providersOf(config)) {
    if (reservedIds.includes(provider.id)) yield* checkReservedId(config, provider)
    else if (provider.id !== plannedId) yield* checkTable(config, provider)
  }
}

function* checkRoot(config: ParsedFile, plannedId: string | undefined): Findings {
  if (config.error !== undefined)
    yield {
      code: 'codex-config-invalid',
      message: `Codex does not start: ${config.error.message}`,
      location: config.path,
      hint: 'Fix the file, then run the command again.',
      severity: 'error',
    }

  if (config.get(['profile']) !== undefined)
    yield findingAt(config, ['profile'], {
      code: 'codex-legacy-profile',
      message: 'Codex does not start with `profile` at the root of the file',
      hint: 'Remove the line. To choose a profile: codex --profile NAME',
      becomes: { value: undefined },
    })

  // A setup writes these itself.
  const texts = plannedId === undefined ? ['model', 'model_provider', 'openai_base_url'] : []
  for (const name of texts) {
    const value = config.get([name])
    if (value !== undefined && typeof value !== 'string')
      yield findingAt(config, [name], {
        code: 'codex-config-invalid',
        message: `Codex does not start: ${name} must be a text`,
        hint: 'Fix the line, or set Codex up: repoint codex',
      })
  }

  const { id, isMissing } = providerInUse(config)
  if (plannedId === undefined && isMissing)
    yield findingAt(config, ['model_provider'], {
      code: 'codex-provider-missing',
      message: `Codex does not start: model_provider = ${JSON.stringify(id)} has no table in model_providers`,
      hint: 'Remove the line, or set Codex up: repoint codex',
    })
}

const bedrockKeys = ['base_url', 'auth', 'http_headers', 'aws']

/** The settings that the tables of built-in providers may contain (0.169.0, 2026-11-24). */
const builtInKeys: Readonly<Record<string, readonly string[]>> = {
  'amazon-bedrock': bedrockKeys,
  'amazon-bedrock-runtime': bedrockKeys,
  gcp: ['base_url', 'auth', 'http_headers', 'project_id', 'location', 'credential_file'],
}

function* checkReservedId(config: ParsedFile, { id, table, path }: Provider): Findings {
  const allowed = builtInKeys[id]
  if (allowed && Object.keys(table).every((key) => allowed.includes(key))) return
  yield findingAt(config, path, {
    code: 'codex-reserved-provider',
    message: `Codex does not start: ${tableName(id)} uses an ID that Codex reserves`,
    hint: 'Remove the table, or rename it.',
    becomes: { value: undefined },
    needsConsentTo: `Remove the table ${tableName(id)} from config.toml.`,
  })
}

/** Codex validates every table, also one that it does not use (0.169.0, 2026-11-28). */
function* checkTable(config: ParsedFile, { id, table, path }: Provider): Findings {
  const [other] = ['env_key', 'experimental_bearer_token', 'requires_openai_auth'].filter(
    (name) => table[name] !== undefined && table[name] !== false,
  )
  if (table['auth'] !== undefined && other !== undefined)
    yield findingAt(config, [...path, 'auth'], {
      code: 'codex-auth-combined',
      message: `Codex does not start: ${tableName(id)} has auth and ${other}`,
      hint: 'Remove one of the two.',
    })

  const wire = table['wire_api']
  if (wire !== undefined && wire !== 'responses')
    yield findingAt(config, [...path, 'wire_api'], {
      code: 'codex-chat-wire',
      message: `Codex does not start: ${tableName(id)} has wire_api = ${typeof wire === 'string' ? JSON.stringify(wire) : typeof wire}`,
      hint: 'Set it to "responses".',
      becomes: { value: 'responses' },
    })

  const name = table['name']
  if (name === undefined || (typeof name === 'string' && name.trim() === ''))
    yield findingAt(config, path, {
      code: 'codex-nameless-provider',
      message: `Codex does not start: ${tableName(id)} has no name`,
      hint: 'Give it a name, or remove the table.',
      fix: configRepair({ path: [...path, 'name'], value: id }),
    })
}

// The server.

/** How long to wait for Codex to stop, in ms. It waits for running turns: without any it took 5 s. */
const stopTimeoutMs = 30_000

/**
 * The server that Codex's terminal UI leaves running. It keeps the API key that it read at its start: after a
 * switch, the next UI sends the old key to the new gateway. `codex exec` does not use it.
 *
 * Reads the server's pid file and checks whether that process runs; starts nothing. `stop` asks Codex itself,
 * because another process may have taken the pid. A server that started after the files with keys were written
 * has the key in them.
 */
function* oldServerFindings(world: ClientWorld): Findings {
  const { join } = pathsOf(world.machine)
  const home = codexHome(world.machine)
  const path = join(home, 'app-server-daemon', 'daemon.pid')
  const pid = runningServer(world, path)
  const keyFiles = ['auth.json', keyFileName].map((name) => join(home, name))
  const written = keyFiles.filter((file) => ifPossible(() => world.files.stat(file)) !== undefined)
  const isFresh = written.length > 0 && written.every((file) => isNewer(world, path, file))
  if (pid === undefined || isFresh) return

  const process = { stopCommand: 'codex app-server daemon stop', stop: () => stop(world) }
  yield serverFinding(codexName, pid, process)
}

async function stop(world: ClientWorld): Promise<string | undefined> {
  const command = world.processes.which('codex') ?? serversOwnBinary(world)
  if (command === undefined) return 'codex is not in PATH'
  const result = await world.processes.run(command, ['app-server', 'daemon', 'stop'], {
    timeoutMs: stopTimeoutMs,
    env: world.machine.env,
  })
  const status = /"status"\s*:\s*"(\w+)"/.exec(result.stdout)?.[1]
  const hasEnded = status === 'stopped' || status === 'notRunning'
  if (result.exitStatus === 0 && hasEnded) return undefined
  return whyFailed(result.reason, result.stderr, status)
}

/** The copy of its program that Codex 0.169.0 keeps for its server. */
function serversOwnBinary(world: ClientWorld): string | undefined {
  const { join } = pathsOf(world.machine)
  const folder = join(codexHome(world.machine), 'packages', 'app-server-daemon', 'current', 'bin')
  const path = join(folder, world.machine.os === 'win32' ? 'codex.exe' : 'codex')
  return ifPossible(() => world.files.stat(path))?.kind === 'file' ? path : undefined
}

function whyFailed(reason: string, stderr: string, status: string | undefined): string {
  if (reason === 'timed-out') return `it did not end within ${stopTimeoutMs / 1000} s`
  const error = stderr.split('\n').find((line) => line.startsWith('Error'))
  return (
    error ?? (status === undefined ? 'codex did not answer as expected' : `codex says ${status}`)
  )
}

// The checks.

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
  const { id, table, url, keySource } = providerInUse(config)
  // With its own service, or a key from another place, the user may configure Codex freely.
  const needsAuthFile = table !== undefined && keySource.kind === 'auth.json'

  yield* startupFindings(config)
  yield* checkModelsFile(context.files, config)
  yield* checkStaleModelsFile(context, config)
  yield* relativePathFindings(codexName, context.machine, homeVariable)
  yield* checkUselessAuth(context.files, { needsAuthFile })
  yield* checkProvidersNow(context, config)
  yield* checkMigratedModel(context, config)
  if (id !== undefined) yield* variableFindings(context, identityVariables)
  if (needsAuthFile) {
    yield* variableFindings(context, keyVariables)
    yield* checkLoginSettings(config)
  }
  if (keySource.kind === 'key-file') yield* checkForcedKey(context.files, config)

  yield* checkProxy(context, url)
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
    if (isOwnAddress(providerInUse(config).url, context, target)) return
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
  const { addressPath, url } = providerInUse(config)
  const auth = fileOf(context.files, 'auth')
  return leftoverFindings(codexName, context, {
    url,
    urlPlace: () => config.place(addressPath),
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
    const chatWire = providersOf(layer).find(({ table }) => table['wire_api'] === 'chat')

    const keys = [...hidden, ...(chatWire ? [`model_providers.${chatWire.id}.wire_api`] : [])]
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
