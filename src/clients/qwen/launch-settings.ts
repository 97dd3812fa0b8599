import { compact } from '../../compact.ts'
import type { LoadedFiles } from '../contract/files.ts'
import { type LaunchSettings, launchKeyVariable, type ProcessToStart } from '../contract/program.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { parseLayers } from '../files/parse-file.ts'
import { overlaid } from '../files/tables.ts'
import { newEntry } from '../plan/entries.ts'
import { headersInVariables } from '../plan/headers.ts'
import { clientFlagValues } from '../program/arguments.ts'
import { membersOf } from './plan.ts'
import { layoutVersion, listPath, loginTypes, paths } from './settings.ts'

const fileName = 'qwen-settings.json'

/**
 * Uses a file of administrator settings, which override those of user and project; the settings of the real one
 * stay in force. An entry of the model overrides options and variables.
 */
export function launchSettings(
  files: LoadedFiles,
  target: SetupTarget,
  { args, env, tempFolder }: ProcessToStart,
): LaunchSettings {
  const { model, contextWindow, offered, protocol } = target.resolved

  // The file names variables, and Qwen Code replaces them with their values.
  const headers = headersInVariables(target)
  const customHeaders = Object.fromEntries(
    headers.map(({ name, variable }) => [name, `\${${variable}}`]),
  )
  const entryOf = (id: string) => {
    const known = offered.find((offer) => offer.id === id) ?? { id }
    const offeredModel = { ...known, protocol, ...compact({ contextWindow }) }
    return overlaid(newEntry(membersOf({ model: offeredModel, name: 'Gateway' }, target)), [
      { path: ['id'], value: id },
      { path: ['envKey'], value: launchKeyVariable },
      { path: paths.headers, value: customHeaders },
    ])
  }

  // For a model without an entry, Qwen Code would use the first entry instead.
  const ids = [model, ...clientFlagValues(args, ['--model', '-m'])]
  const administrators = parseLayers(files, 'managed')[0]?.root ?? {}
  const settings = overlaid(administrators, [
    { path: ['$version'], value: layoutVersion },
    { path: listPath(protocol), value: ids.map(entryOf) },
    { path: paths.type, value: loginTypes[protocol] },
    { path: paths.onlyType, value: loginTypes[protocol] },
    { path: paths.model, value: model },
    { path: paths.modelUrl, value: target.baseUrl },
  ])

  return {
    args,
    env: {
      ...env,
      QWEN_CODE_SYSTEM_SETTINGS_PATH: `${tempFolder}/${fileName}`,
      ...Object.fromEntries(headers.map(({ variable, value }) => [variable, value])),
    },
    files: { [fileName]: JSON.stringify(settings, null, 2) },
  }
}
