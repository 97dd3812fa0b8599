import type { Bytes, FileEdit, KeyChange, KeyPath } from '../../edits/plan.ts'
import { UserError } from '../../errors.ts'
import type { Machine } from '../../platform/platform.ts'
import type {
  Choice,
  ClientModule,
  ConfigFile,
  FileText,
  FileTexts,
  Look,
  Origins,
  Settings,
} from '../client.ts'
import { chooseOneModel } from '../models.ts'
import { pathsOf } from '../paths.ts'
import { checkProviderId } from '../provider-ids.ts'
import { editKeys } from '../repairs.ts'
import { compact, fileOf, isTable, originOf, readFile, rootOf, tableAt, textAt } from '../texts.ts'
import { isOpencodeAuth, readCodexAuth } from './auth.ts'
import { codexObstacles } from './obstacles.ts'
import { addressInUse, reservedIds, strayAddress, takesAuthFile } from './provider.ts'

/** The responses agent. Facts: run against Codex 0.169.0, 2026-11-21. */
export const codex: ClientModule = {
  binary: {
    command: 'codex',
    versionArgs: ['--version'],
    testedVersions: ['0.169.0'],
    pingArgs: (prompt) => [
      'exec',
      '--skip-git-repo-check',
      '--disable',
      'unbounded_connection_retries',
      prompt,
    ],
    pingEnv: {},
  },
  protocol: 'responses',
  restartAdvice: 'Close every running Codex: terminal, desktop app and editor extension.',
  files: codexFiles,
  checkOptions: ({ providerId }) => checkProviderId(providerId, 'Codex', reservedIds),
  choose: (catalog, options) => chooseOneModel(catalog, options, 'responses'),
  plan: planCodex,
  readBack: readBackCodex,
  origins: originsOfCodex,
  asConfigured: ({ model }) => ({ model }),
  obstacles: codexObstacles,
}

/** `$CODEX_HOME`, else `~/.codex`. Absolute. */
export function codexHome(machine: Machine): string {
  const { join, named } = pathsOf(machine)
  return named('CODEX_HOME') ?? join(machine.home, '.codex')
}

function codexFiles(machine: Machine, look: Look): readonly ConfigFile[] {
  const { join } = pathsOf(machine)
  const home = codexHome(machine)
  const layer = { format: 'toml', holdsSecret: false, use: 'layer' } as const
  const system = machine.os === 'win32' ? [] : [{ role: 'system', path: '/etc/codex/config.toml' }]
  const managed =
    machine.os === 'win32'
      ? [{ role: 'managed', path: join(home, 'managed_config.toml') }]
      : [{ role: 'managed', path: '/etc/codex/managed_config.toml' }]
  const profiles = look
    .entries(home)
    .filter((name) => name.endsWith('.config.toml'))
    .map((name) => ({ role: 'profile', path: join(home, name) }))
  return [
    // The key goes first: a config that names the gateway never stands beside another login.
    {
      role: 'auth',
      path: join(home, 'auth.json'),
      format: 'json',
      holdsSecret: true,
      use: 'target',
    },
    {
      role: 'config',
      path: join(home, 'config.toml'),
      format: 'toml',
      holdsSecret: false,
      use: 'target',
    },
    ...[...system, ...projectFiles(machine, look, home), ...profiles, ...managed]
      .filter(({ path }) => look.exists(path))
      .map((file) => ({ ...layer, ...file })),
  ]
}

/**
 * The configurations of the project around the working folder, from its root inwards. In a folder
 * that is trusted their `model` wins; a provider in them is ignored (0.169.0, 2026-11-21).
 */
function projectFiles(machine: Machine, look: Look, home: string) {
  const { join, dirname } = pathsOf(machine)
  const folders = [machine.cwd]
  while (!look.exists(join(folders[0]!, '.git'))) {
    const above = dirname(folders[0]!)
    // Outside of a repository the working folder alone is the project.
    if (above === folders[0]) return projectIn([machine.cwd])
    folders.unshift(above)
  }
  return projectIn(folders)

  function projectIn(places: readonly string[]) {
    return places
      .map((folder) => join(folder, '.codex'))
      .filter((folder) => folder !== home)
      .map((folder) => ({ role: 'project', path: join(folder, 'config.toml') }))
  }
}

function planCodex(texts: FileTexts, choice: Choice): readonly FileEdit[] {
  return [planAuth(texts, choice), planConfig(texts, choice)]
}

/**
 * auth.json is replaced as a whole: with a ChatGPT login beside the key, Codex uses the login, and
 * sends its token to the gateway.
 *
 * @throws UserError `config-conflict` if it belongs to opencode
 */
function planAuth(texts: FileTexts, choice: Choice): FileEdit {
  const file = fileOf(texts, 'auth')
  if (isOpencodeAuth(file)) {
    throw new UserError({
      code: 'config-conflict',
      message: `${file.path} holds the logins of opencode, and Codex would need the whole file`,
      hint: 'Give Codex a folder of its own: CODEX_HOME points into that of opencode.',
    })
  }
  const isRight = readCodexAuth(file).usableKey === choice.key
  return {
    client: 'codex',
    path: file.path,
    format: 'json',
    scope: 'whole',
    changes: [{ path: ['OPENAI_API_KEY'], value: choice.key, isSecret: true, isBound: true }],
    before: file.bytes,
    after: isRight ? file.bytes : authWith(choice.key),
    holdsSecret: true,
  }
}

function authWith(key: string): Bytes {
  return new TextEncoder().encode(`${JSON.stringify({ OPENAI_API_KEY: key }, null, 2)}\n`)
}

function planConfig(texts: FileTexts, choice: Choice): FileEdit {
  const file = fileOf(texts, 'config')
  return editKeys('codex', file, ourKeys(file, choice), choice.repairs)
}

function ourKeys(file: FileText, choice: Choice): readonly KeyChange[] {
  const config = readFile(file)
  const provider = ['model_providers', choice.providerId]
  const name = textAt(config, [...provider, 'name'])
  const { contextWindow } = choice.models
  return [
    { path: ['model'], value: choice.models.model },
    ...(contextWindow === undefined
      ? []
      : [{ path: ['model_context_window'], value: contextWindow }]),
    { path: ['model_provider'], value: choice.providerId, isBound: true },
    { path: ['openai_base_url'], value: `${choice.baseUrl}/v1`, isBound: true },
    // Codex stops at an empty name; a name that someone gave stays.
    ...(name ? [] : [{ path: [...provider, 'name'], value: 'Gateway' }]),
    { path: [...provider, 'base_url'], value: `${choice.baseUrl}/v1`, isBound: true },
    { path: [...provider, 'wire_api'], value: 'responses' },
    // Without it no Authorization header is sent.
    { path: [...provider, 'requires_openai_auth'], value: true },
    // Else Codex tries a WebSocket first and prints errors.
    { path: [...provider, 'supports_websockets'], value: false },
  ]
}

function originsOfCodex(texts: FileTexts): Origins {
  const config = readFile(fileOf(texts, 'config'))
  return compact({
    baseUrl: originOf([config], addressInUse(config).path),
    model: originOf([config], ['model']),
  })
}

function readBackCodex(texts: FileTexts): Settings {
  const config = readFile(fileOf(texts, 'config'))
  const authFile = fileOf(texts, 'auth')
  const auth = readCodexAuth(authFile)
  const providerId = textAt(config, ['model_provider'])
  const { url } = addressInUse(config)
  const isKeyUsed = auth.usableKey !== undefined && takesAuthFile(config)
  return compact({
    configuredUrl: url,
    baseUrl: url && rootOf(url),
    model: textAt(config, ['model']),
    key: isKeyUsed ? auth.usableKey : undefined,
    keyPath: isKeyUsed ? authFile.path : undefined,
    alsoSendsTo: isKeyUsed ? strayAddress(config) : undefined,
    providerId,
    login: auth.login,
    broken: config.problem,
  })
}
