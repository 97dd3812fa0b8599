import type { ConfigValue } from '../../edits/types.ts'
import { ifPossible, UserError } from '../../errors.ts'
import type { LoadedFiles } from '../contract/files.ts'
import { type LaunchSettings, launchKeyVariable, type ProcessToStart } from '../contract/program.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { fileOf } from '../files/parse-file.ts'
import { isTable, overlaid, type Table } from '../files/tables.ts'
import { mergedConfig, providerOf } from './config.ts'
import type { Fork } from './fork.ts'
import { ourChanges } from './plan.ts'

const ownId = 'repoint-run'

/**
 * Uses `OPENCODE_CONFIG_CONTENT` or the like, which overrides all files, including those of projects; its `apiKey`
 * overrides auth.json.
 */
export function launchSettings(
  fork: Fork,
  files: LoadedFiles,
  target: SetupTarget,
  { args, env }: ProcessToStart,
): LaunchSettings {
  const contentVariable = `${fork.variables}_CONFIG_CONTENT`
  const { value: config } = mergedConfig(files)

  // The client would send an entry of auth.json as a bearer token in addition to a key in another header.
  const hasOtherKeyHeader = target.keyHeader !== 'authorization'
  // The client would send a provider's headers to the new address too: in that case the run uses a separate
  // provider.
  const hasHeaders = providerOf(config, target.providerId).options['headers'] !== undefined
  const providerId = hasOtherKeyHeader || hasHeaders ? ownId : target.providerId
  const apiKey = ['provider', providerId, 'options', 'apiKey']
  const [enabled, disabled] = [config['enabled_providers'], config['disabled_providers']]

  const changes = [
    ...ourChanges(fork, fileOf(files, 'config'), { ...target, providerId }),
    ...(hasOtherKeyHeader ? [] : [{ path: apiKey, value: `{env:${launchKeyVariable}}` }]),
    ...(Array.isArray(enabled)
      ? [{ path: ['enabled_providers'], value: [...enabled, providerId] }]
      : []),
    ...(Array.isArray(disabled)
      ? [{ path: ['disabled_providers'], value: disabled.filter((id) => id !== providerId) }]
      : []),
  ]

  const content = overlaid(readContent(contentVariable, env[contentVariable]), changes)
  return {
    args,
    env: { ...env, [contentVariable]: JSON.stringify(content) },
    resumeKeeps: providerId === ownId ? 'gateway and model' : 'model',
  }
}

/** @throws UserError `usage` */
function readContent(variable: string, text: string | undefined): Table {
  const content = ifPossible((): ConfigValue => JSON.parse(text || '{}'))
  if (isTable(content)) return content

  throw new UserError({
    code: 'usage',
    message: `${variable} is set, and is not a JSON object that repoint can extend`,
    hint: `Unset it for this run: env -u ${variable} repoint run …`,
  })
}
