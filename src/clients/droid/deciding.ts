import type { DecidingTable } from '../client.ts'
import { idOf } from './settings.ts'

const run = '0.215.0 and 0.225.2, 2026-11-22'

const others = ['project', 'upper', 'managed']
const own = ['settings', ...others]
const folder = ['project']

export const deciding: DecidingTable = {
  called: 'settings',
  nameOf: idOf,
  rows: [
    // An entry with the id of ours takes its place as a whole.
    { at: 'customModels.:provider.baseUrl', decides: 'address', layers: own, seen: run },
    { at: 'customModels.:provider.apiKey', decides: 'key', layers: own, seen: run },
    { at: 'customModels.:provider.extraHeaders', decides: 'key', layers: folder, seen: run },
    { at: 'customModels.:provider.provider', decides: 'provider', layers: own, seen: run },
    { at: 'customModels.:provider.authMode', decides: 'provider', layers: own, seen: run },
    { at: 'customModels.:provider.bedrock', decides: 'provider', layers: own, seen: run },
    { at: 'customModels.:provider.model', decides: 'model', layers: [], seen: run },
    { at: 'model', decides: 'model', layers: [...others, 'project-agent'], seen: run },
    { at: 'sessionDefaultSettings.model', decides: 'model', layers: others, seen: run },
    { at: 'sessionDefaultSettings.specModeModel', decides: 'model', layers: folder, seen: run },
  ],
}

export const droidName = { id: 'droid', label: 'droid', deciding }
