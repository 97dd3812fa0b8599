import { compact } from '../../compact.ts'
import type { FileEdit, SettingChange } from '../../edits/types.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { pointsElsewhere } from '../files/addresses.ts'
import { fileOf } from '../files/read-file.ts'
import { textIn } from '../files/tables.ts'
import { editReadably } from '../plan/edit-file.ts'
import { bearerChanges, headerChanges } from '../plan/headers.ts'
import { factChanges } from '../plan/model-list.ts'
import { clineName } from './name.ts'
import { providerId, providerPath, readProviders, settingsPath, usedPath } from './providers.ts'
import { sensitiveSettings } from './sensitive-settings.ts'

export function plan(files: LoadedFiles, target: SetupTarget): readonly FileEdit[] {
  const file = fileOf(files, 'providers')
  const edit = editReadably({
    client: clineName,
    sensitiveSettings,
    file,
    changes: ourChanges(file, target),
    fixes: target.fixes,
    read: readProviders,
  })
  return [edit]
}

/** The changes are in the order in which Cline writes them. */
export function ourChanges(file: LoadedFile, target: SetupTarget): readonly SettingChange[] {
  const { baseUrl, resolved } = target
  const { model, contextWindow } = resolved
  const { root: now, settings } = readProviders(file)
  const at = (name: string) => [...settingsPath, name]
  const isNew = (name: string) => now[name] === undefined

  const url = textIn(settings, ['baseUrl'])
  const isOtherGateway = pointsElsewhere(url, baseUrl)
  const isOtherModel = settings['model'] !== model
  const isLoggedIn = settings['auth'] !== undefined
  const stamp = textIn(now, [...providerPath, 'updatedAt'])

  return [
    ...(isNew('version') ? [{ path: ['version'], value: 1 }] : []),
    { path: usedPath, value: providerId },
    // Cline would add it itself.
    ...(isNew('modes') ? [{ path: ['modes'], value: {} }] : []),
    { path: at('provider'), value: providerId },
    ...bearerChanges(at('apiKey'), settings['apiKey'], target),
    ...(isLoggedIn ? [{ path: at('auth'), value: undefined, isSecret: true }] : []),
    { path: at('model'), value: model },
    ...factChanges(
      { path: settingsPath, now: settings, isOtherGateway, isOtherModel },
      { id: model, ...compact({ contextWindow }) },
      { contextWindow: { value: contextWindow, by: ['contextWindow'] } },
      target,
    ),
    { path: at('baseUrl'), value: baseUrl },
    ...headerChanges(at('headers'), settings['headers'], target, isOtherGateway),
    // Cline requires both. It writes the time of each start.
    { path: [...providerPath, 'updatedAt'], value: stamp ?? unknownTime, rewrittenByClient: true },
    ...(stamp === undefined ? [{ path: [...providerPath, 'tokenSource'], value: 'manual' }] : []),
  ]
}

const unknownTime = '1970-01-01T00:00:00.000Z'
