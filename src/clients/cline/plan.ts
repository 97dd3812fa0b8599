import { compact } from '../../compact.ts'
import type { SettingChange } from '../../edits/types.ts'
import type { LoadedFile } from '../contract/files.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { pointsElsewhere } from '../files/addresses.ts'
import { textIn } from '../files/tables.ts'
import { clineName } from '../names.ts'
import { planOneFile } from '../plan/edit-file.ts'
import { type EntryMember, entryChanges } from '../plan/entries.ts'
import { bearerChanges, headerChanges } from '../plan/headers.ts'
import { providerId, providerPath, readProviders, settingsPath, usedPath } from './providers.ts'
import { sensitiveSettings } from './sensitive-settings.ts'

export const plan = planOneFile({
  client: clineName,
  sensitiveSettings,
  kind: 'providers',
  read: readProviders,
  changes: ourChanges,
})

/**
 * The changes to providers.json, in the order in which Cline writes its members. A setup writes, for example:
 *
 *     {
 *       "version": 1,
 *       "lastUsedProvider": "openai-compatible",
 *       "modes": {},
 *       "providers": {
 *         "openai-compatible": {
 *           "settings": {
 *             "provider": "openai-compatible",
 *             "apiKey": "sk-…",
 *             "model": "glm-5",
 *             "contextWindow": 200000,
 *             "baseUrl": "https://…/v1"
 *           },
 *           "updatedAt": "1970-01-01T00:00:00.000Z",
 *           "tokenSource": "manual"
 *         }
 *       }
 *     }
 */
export function ourChanges(file: LoadedFile, target: SetupTarget): readonly SettingChange[] {
  const { baseUrl, resolved } = target
  const { model, contextWindow } = resolved
  const { root, settings: now } = readProviders(file)
  const isMissing = (name: string) => root[name] === undefined
  const updatedAt = textIn(root, [...providerPath, 'updatedAt'])

  const isOtherGateway = pointsElsewhere(textIn(now, ['baseUrl']), baseUrl)
  const entry = {
    path: settingsPath,
    now,
    isOtherGateway,
    isOtherModel: now['model'] !== model,
  }
  const isLoggedIn = now['auth'] !== undefined
  const members: readonly EntryMember[] = [
    { path: ['provider'], value: providerId },
    ...bearerChanges(['apiKey'], now['apiKey'], target),
    ...(isLoggedIn ? [{ path: ['auth'], value: undefined, isSecret: true }] : []),
    { path: ['model'], value: model },
    { path: ['contextWindow'], value: contextWindow, about: ['contextWindow'] },
    { path: ['baseUrl'], value: baseUrl },
    ...headerChanges(['headers'], now['headers'], target, isOtherGateway),
  ]

  return [
    ...(isMissing('version') ? [{ path: ['version'], value: 1 }] : []),
    { path: usedPath, value: providerId },
    // Cline would add it itself.
    ...(isMissing('modes') ? [{ path: ['modes'], value: {} }] : []),
    ...entryChanges(entry, members, { id: model, ...compact({ contextWindow }) }, target),
    // Cline requires both. It writes the time of each start.
    {
      path: [...providerPath, 'updatedAt'],
      value: updatedAt ?? unknownTime,
      rewrittenByClient: true,
    },
    ...(updatedAt === undefined
      ? [{ path: [...providerPath, 'tokenSource'], value: 'manual' }]
      : []),
  ]
}

const unknownTime = '1970-01-01T00:00:00.000Z'
