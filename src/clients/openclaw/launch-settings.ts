import type { LoadedFiles } from '../contract/files.ts'
import { type LaunchSettings, launchKeyVariable, type ProcessToStart } from '../contract/program.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { fileOf } from '../files/parse-file.ts'
import { tableIn, valueIn } from '../files/tables.ts'
import { offeredIn } from '../models/picker.ts'
import { apiOf, membersOf } from '../pi-family/providers.ts'
import { newEntry } from '../plan/entries.ts'
import { headersInVariables } from '../plan/headers.ts'
import { expectUnset, typedFlag } from '../program/arguments.ts'
import { agentsWithModel, providerFormat, readConfig } from './config.ts'

const fileName = 'openclaw-run.json'

/** No provider of the user has this ID, so OpenClaw adds neither headers nor a login of the user. */
const ownId = 'repoint-run'

/** Each of these options selects another configuration. */
const otherConfigs = ['--profile', '--dev', '--config', '--isolated', '--auth-env-only']

/** These commands manage the user's own configuration. */
const managingCommands = ['config', 'configure', 'onboard', 'setup', 'doctor', 'plugins', 'update']

/**
 * Uses a separate configuration, which includes the user's and in which the key is `${NAME}`. Such a file overrides
 * the files that it includes.
 *
 * @throws UserError `usage`
 */
export function launchSettings(
  files: LoadedFiles,
  target: SetupTarget,
  process: ProcessToStart,
): LaunchSettings {
  const { args, env, tempFolder } = process
  if (managingCommands.some((command) => command === args[0])) return process
  expectUnset(
    typedFlag(args, otherConfigs),
    (flag) => `${flag} chooses another configuration, and repoint needs the one with the gateway`,
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
    .filter(({ variable }) => variable !== launchKeyVariable)
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
  const protocol = resolved.protocol
  return {
    baseUrl,
    api: apiOf[protocol],
    apiKey: `\${${launchKeyVariable}}`,
    ...providerFormat.always,
    ...(protocol === 'messages' && { authHeader: true }),
    headers: Object.fromEntries(headers.map(({ name, variable }) => [name, `\${${variable}}`])),
    models: offeredIn(resolved).map((model) => newEntry(membersOf(providerFormat, model, target))),
  }
}

/** Sets each model as a text, also instead of a table: so it has no fallback models. */
function agentsFor(files: LoadedFiles, model: string) {
  const { root } = readConfig(files)
  const entries = agentsWithModel(root).map(({ agent }) => [agent, { model }])
  // OpenClaw adds the allow list of an included file to this one.
  const isLimited = valueIn(tableIn(root, ['agents', 'defaults']), ['modelPolicy', 'allow'])
  return {
    defaults: { model, ...(isLimited && { modelPolicy: { allow: [`${ownId}/*`] } }) },
    ...(entries.length > 0 && { entries: Object.fromEntries(entries) }),
  }
}
