import type { ConfigValue } from '../../edits/types.ts'
import { errorFrom } from '../../errors.ts'
import { includesHeader } from '../../gateway/input/header.ts'
import type { LoadedFiles } from '../contract/files.ts'
import { type LaunchSettings, launchKeyVariable, type ProcessToStart } from '../contract/program.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { type ParsedFile, parseKind } from '../files/parse-file.ts'
import type { Table } from '../files/tables.ts'
import { effectiveOptions } from '../options/chosen-options.ts'
import { headersInVariables, textMembers } from '../plan/headers.ts'
import { settingOptions } from './flags.ts'
import { withoutOfferOnce } from './migrations.ts'
import { startupFindings } from './providers/check-start.ts'
import { harmfulSettings, otherLayers } from './providers/provider.ts'

/** Settings of a table that no `-c` can remove, and that send a credential, which may be another gateway's. */
const lastingCredentials = ['auth', 'http_headers', 'env_http_headers']

/**
 * Uses `-c`. `env_key` overrides auth.json, `CODEX_API_KEY` and the bearer token of the file. With the
 * configured provider ID, recorded conversations use the gateway too, and later the configured address again.
 * If a table with that ID has settings that no `-c` can remove, the run uses another ID. `openai_base_url`
 * stays unchanged: if the run set it, Codex would send the key of auth.json to the gateway. Run with exec on
 * 0.98.0 to 0.169.0, and with the UI on 0.169.0, 2026-11-22.
 *
 * @throws UserError `config-conflict` if Codex would not start with the user's file
 */
export function launchSettings(
  files: LoadedFiles,
  target: SetupTarget,
  { args, env }: ProcessToStart,
): LaunchSettings {
  const config = parseKind(files, 'config')
  const { resolved, query = [] } = target
  const options = effectiveOptions(target.input)

  const tables = [config, ...otherLayers(files)].map((file) =>
    file.table(['model_providers', target.providerId]),
  )
  const isPlain = (table: Table = {}) =>
    textMembers(table['query_params']).every((parameter) => includesHeader(parameter, query)) &&
    lastingCredentials.every((name) => table[name] === undefined) &&
    harmfulSettings(table).length === 0
  const id = tables.every(isPlain) ? target.providerId : 'repoint-run'

  const headers = headersInVariables(target)
  const forcedLogin = [config, ...otherLayers(files)].some(
    (file) => file.text(['forced_login_method']) === 'chatgpt',
  )
  const secrets = [launchKeyVariable, ...headers.map(({ variable }) => variable)]
  const excluded = config.table(['shell_environment_policy'])?.['exclude']

  /** Undefined: the run passes no value. */
  const settings: readonly (readonly [path: string, value: ConfigValue | undefined])[] = [
    ['model_provider', id],
    [`model_providers.${id}.name`, 'Gateway'],
    [`model_providers.${id}.base_url`, target.baseUrl],
    [`model_providers.${id}.wire_api`, 'responses'],
    [
      `model_providers.${id}.env_key`,
      target.keyHeader === 'authorization' ? launchKeyVariable : undefined,
    ],
    ...query.map(
      ({ name, value }) => [`model_providers.${id}.query_params.${name}`, value] as const,
    ),
    [`model_providers.${id}.requires_openai_auth`, false],
    [`model_providers.${id}.supports_websockets`, false],
    ...repairs(config, id),
    // Without it the model's shell could print the key.
    [
      'shell_environment_policy.exclude',
      [...new Set([...(Array.isArray(excluded) ? excluded : []), ...secrets])],
    ],
    // A value that is already right may come from the user's profile.
    ['model', config.text(['model']) === resolved.model ? undefined : resolved.model],
    ['model_context_window', resolved.contextWindow],
    // Codex would delete the login and stop.
    ['forced_login_method', forcedLogin ? 'api' : undefined],
    ...settingOptions.map(({ option, path }) => [path.join('.'), options[option]] as const),
  ]

  // JSON is also valid TOML for text, numbers, booleans and lists of them.
  const flags = settings.flatMap(([path, value]) =>
    value === undefined ? [] : ['-c', `${path}=${JSON.stringify(value)}`],
  )
  const members = headers.map(({ name, variable }) => `${JSON.stringify(name)}="${variable}"`)
  const headerFlags =
    members.length === 0
      ? []
      : ['-c', `model_providers.${id}.env_http_headers={${members.join(',')}}`]

  return {
    args: [...flags, ...headerFlags, ...withoutOfferOnce(resolved.model), ...args],
    env: {
      ...env,
      ...Object.fromEntries(headers.map(({ variable, value }) => [variable, value])),
    },
  }
}

/**
 * What keeps Codex from starting in tables that the run does not use, as a setup repairs it.
 *
 * @throws UserError `config-conflict` if no `-c` can: it removes nothing
 */
function repairs(config: ParsedFile, id: string): readonly (readonly [string, ConfigValue])[] {
  return [...startupFindings(config, id)].flatMap((problem) => {
    const changes = problem.fix?.changes ?? []
    const values = changes.flatMap(({ path, value }): (readonly [string, ConfigValue])[] =>
      value !== undefined && path.every((name) => /^[\w-]+$/.test(String(name)))
        ? [[path.join('.'), value]]
        : [],
    )
    if (changes.length === 0 || values.length < changes.length) throw errorFrom(problem)
    return values
  })
}
