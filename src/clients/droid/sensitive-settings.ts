import type { SensitiveSettings } from '../contract/config.ts'
import { entryIdOf } from './settings.ts'

const tried = '0.215.0 and 0.225.2, 2026-11-22'

/** Files that override the user's own. */
const stronger = ['project', 'upper', 'managed']
const all = ['settings', ...stronger]
const folder = ['project']

export const sensitiveSettings: SensitiveSettings = {
  codeWord: 'settings',
  providerTable: (providerId) => entryIdOf(providerId),
  rows: [
    // An entry with our ID replaces our whole entry.
    { path: 'customModels.:provider.baseUrl', role: 'address', fileKinds: all, source: tried },
    { path: 'customModels.:provider.apiKey', role: 'key', fileKinds: all, source: tried },
    { path: 'customModels.:provider.extraHeaders', role: 'key', fileKinds: folder, source: tried },
    { path: 'customModels.:provider.provider', role: 'provider', fileKinds: all, source: tried },
    { path: 'customModels.:provider.authMode', role: 'provider', fileKinds: all, source: tried },
    { path: 'customModels.:provider.bedrock', role: 'provider', fileKinds: all, source: tried },
    { path: 'customModels.:provider.model', role: 'model', fileKinds: ['settings'], source: tried },
    { path: 'model', role: 'model', fileKinds: [...all, 'project-agent'], source: tried },
    { path: 'sessionDefaultSettings.model', role: 'model', fileKinds: all, source: tried },
    {
      path: 'sessionDefaultSettings.specModeModel',
      role: 'model',
      fileKinds: ['settings', ...folder],
      source: tried,
    },
  ],
}
