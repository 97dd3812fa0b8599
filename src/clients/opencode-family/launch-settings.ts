import type { ConfigValue } from '../../edits/types.ts'
import { errorFrom, ifPossible, UserError } from '../../errors.ts'
import type { LoadedFiles } from '../contract/files.ts'
import { type LaunchSettings, launchKeyVariable, type ProcessToStart } from '../contract/program.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { pointsElsewhere } from '../files/addresses.ts'
import { isTable, overlaid, type Table } from '../files/tables.ts'
import { hasForeignSettings } from '../plan/foreign-settings.ts'
import { checkReadable } from './check.ts'
import { mergedConfig, providerOf } from './config.ts'
import type { Fork } from './fork.ts'
import { harmless, ourChanges } from './plan.ts'
import { sdkBaseUrl } from './protocols.ts'

const ownId = 'repoint-run'

/**
 * Uses `OPENCODE_CONFIG_CONTENT` or the like, which overrides all files, including those of projects; its `apiKey`
 * overrides auth.json.
 *
 * @throws UserError for a file with which the client does not start; `usage`
 */
export function launchSettings(
  fork: Fork,
  files: LoadedFiles,
  target: SetupTarget,
  { args, env }: ProcessToStart,
): LaunchSettings {
  for (const finding of checkReadable(fork, files)) throw errorFrom(finding)
  const contentVariable = `${fork.variables}_CONFIG_CONTENT`
  const { value: config } = mergedConfig(files)

  // The client would send an entry of auth.json as a bearer token in addition to a key in another header.
  const hasOtherKeyHeader = target.keyHeader !== 'authorization'
  // The client would send a provider's headers to the new address too, for example: in that case the run uses a
  // separate provider.
  const { table, options, url } = providerOf(config, target.providerId)
  const isForeign = hasForeignSettings(
    {
      now: table,
      isOtherGateway: pointsElsewhere(url, sdkBaseUrl(target)),
      harmless: [...harmless, 'options.apiKey'],
    },
    target,
  )
  const hasHeaders = options['headers'] !== undefined
  const providerId = hasOtherKeyHeader || hasHeaders || isForeign ? ownId : target.providerId
  const apiKey = ['provider', providerId, 'options', 'apiKey']
  const [enabled, disabled] = [config['enabled_providers'], config['disabled_providers']]

  const changes = [
    ...ourChanges(fork, files, { ...target, providerId }),
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
