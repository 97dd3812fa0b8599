import { compact } from '../../compact.ts'
import type { ConfigValue, KeyChange } from '../../edits/plan.ts'
import {
  type AskedRun,
  type Choice,
  type FileTexts,
  type OneRun,
  runKeyVariable,
} from '../client.ts'
import { layersOf, overlaid, readFile } from '../texts.ts'
import { layoutVersion, paths } from './settings.ts'

const fileName = 'qwen-settings.json'

/**
 * By a file of the administrator's settings, which win over those of user and project; what the real
 * one says stays in force beside it. Options and variables lose to an entry of the model. Run with
 * 0.15.10 and 0.24.4, 2026-11-22.
 */
export function forOneRun(texts: FileTexts, choice: Choice, asked: AskedRun): OneRun {
  const { args, env, folder } = asked
  const administrators = layersOf(texts, 'managed').map(readFile)[0]?.document?.root ?? {}
  const settings = overlaid(administrators, settingsFor(choice))
  return {
    args,
    env: { ...env, QWEN_CODE_SYSTEM_SETTINGS_PATH: `${folder}/${fileName}` },
    files: { [fileName]: JSON.stringify(settings, null, 2) },
  }
}

function settingsFor({ root, models }: Choice): readonly KeyChange[] {
  const entry: ConfigValue = compact({
    id: models.model,
    name: 'Gateway',
    baseUrl: root,
    envKey: runKeyVariable,
    generationConfig:
      models.contextWindow === undefined ? undefined : { contextWindowSize: models.contextWindow },
  })
  return [
    { path: ['$version'], value: layoutVersion },
    { path: paths.entries, value: [entry] },
    { path: paths.type, value: 'openai' },
    { path: paths.onlyType, value: 'openai' },
    { path: paths.model, value: models.model },
    { path: paths.modelUrl, value: root },
  ]
}
