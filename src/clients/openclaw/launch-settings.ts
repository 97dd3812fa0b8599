import {
  type LaunchSettings,
  type LoadedFiles,
  type ProcessToStart,
  runKeyVariable,
  type SetupTarget,
} from '../client.ts'
import { expectUnsaid, ownFlag } from '../flags.ts'
import { headersInVariables } from '../headers.ts'
import { fileOf, tableIn, valueIn } from '../loaded-files.ts'
import { apiOf, entryOf } from '../pi-family/providers.ts'
import { offeredIn } from '../picker.ts'
import { usualProtocol } from '../protocols.ts'
import { ownModels, providers, readConfig } from './config.ts'

const fileName = 'openclaw-run.json'

/** No provider of the user's is called so: neither headers nor a login of it go along. */
const ownId = 'repoint-run'

/** Each leads to another configuration. */
const otherConfigs = ['--profile', '--dev', '--config', '--isolated', '--auth-env-only']

/** They manage the user's own configuration. */
const managing = ['config', 'configure', 'onboard', 'setup', 'doctor', 'plugins', 'update']

/**
 * By a configuration of its own, which includes the user's and in which the key is `${NAME}`. What such
 * a file says itself wins over what it includes (2026.9.5 and 2026.9.6, 2026-11-23).
 *
 * @throws UserError `usage`
 */
export function launchSettings(
  files: LoadedFiles,
  target: SetupTarget,
  asked: ProcessToStart,
): LaunchSettings {
  const { args, env, tempFolder } = asked
  if (managing.some((command) => command === args[0])) return asked
  expectUnsaid(
    ownFlag(args, otherConfigs),
    (flag) =>
      `${flag} leads OpenClaw to another configuration: here it needs the one with the gateway`,
  )

  const { path, bytes } = fileOf(files, 'config')
  const variables = headersInVariables(target)
  const config = {
    ...(bytes !== null && { $include: path }),
    models: { providers: { [ownId]: providerFor(target, variables) } },
    agents: agentsFor(files, `${ownId}/${target.resolved.model}`),
  }

  const isWindows = /^[A-Za-z]:\\/.test(path)
  const roots = [path.replace(/[\\/][^\\/]*$/, ''), env['OPENCLAW_INCLUDE_ROOTS']]
  const values = variables
    .filter(({ variable }) => variable !== runKeyVariable)
    .map(({ variable, value }) => [variable, value])
  return {
    args,
    env: {
      ...env,
      ...Object.fromEntries(values),
      OPENCLAW_CONFIG_PATH: `${tempFolder}/${fileName}`,
      OPENCLAW_INCLUDE_ROOTS: roots.filter(Boolean).join(isWindows ? ';' : ':'),
    },
    files: { [fileName]: `${JSON.stringify(config, null, 2)}\n` },
  }
}

function providerFor(target: SetupTarget, headers: ReturnType<typeof headersInVariables>) {
  const { baseUrl, resolved } = target
  const protocol = resolved.protocol ?? usualProtocol
  return {
    baseUrl,
    api: apiOf[protocol],
    apiKey: `\${${runKeyVariable}}`,
    ...providers.always,
    ...(protocol === 'messages' && { authHeader: true }),
    headers: Object.fromEntries(headers.map(({ name, variable }) => [name, `\${${variable}}`])),
    models: offeredIn(resolved).map((model) => entryOf(providers, model, target)),
  }
}

/** As texts, in the place of tables too: so no other model stands behind it. */
function agentsFor(files: LoadedFiles, model: string) {
  const { root } = readConfig(files)
  const own = ownModels(root).map(({ agent }) => [agent, { model }])
  // A list of those that may be used grows by what is included in it.
  const isLimited = valueIn(tableIn(root, ['agents', 'defaults']), ['modelPolicy', 'allow'])
  return {
    defaults: { model, ...(isLimited && { modelPolicy: { allow: [`${ownId}/*`] } }) },
    ...(own.length > 0 && { entries: Object.fromEntries(own) }),
  }
}
