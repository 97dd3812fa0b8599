import type { ClientFlag, SettingOption } from '../contract/options.ts'
import {
  contextWindowFlag,
  enumFlag,
  modelFlag,
  providerIdFlag,
  reasoningEffortFlag,
  switchFlags,
} from '../options/flags.ts'

export const effortPath = ['model_reasoning_effort']
export const searchPath = ['web_search']

/** The options that one setting of config.toml holds. `repoint run` passes each with `-c`. */
export const settingOptions: readonly SettingOption[] = [
  { ...reasoningEffortFlag, path: effortPath },
  {
    // Run with 0.105.0 and 0.169.0, 2026-11-29.
    ...enumFlag({
      option: 'webSearch',
      flag: '--web-search <mode>',
      help: 'how Codex searches the web',
      choices: ['disabled', 'cached', 'live'],
    }),
    path: searchPath,
  },
]

const catalogFlags = switchFlags(
  'catalog',
  { on: "list the gateway's models instead of Codex's own", off: "list Codex's own models again" },
  (hasModelsFile) => ({ hasModelsFile }),
)

const keepLoginFlags = switchFlags(
  'keep-login',
  {
    on: 'keep the ChatGPT login; the key goes into a separate file',
    off: 'replace the ChatGPT login by the key',
  },
  (keepsLogin) => ({ keepsLogin }),
)

const keepOldGatewayFlag: ClientFlag = {
  flag: '--keep-old-gateway',
  help: 'keep the key of the earlier gateway for its conversations',
  toOptions: (keepOldGateway) => ({ keepOldGateway: keepOldGateway === true }),
}

export const codexFlags: readonly ClientFlag[] = [
  modelFlag,
  providerIdFlag,
  contextWindowFlag,
  ...settingOptions,
  ...catalogFlags,
  ...keepLoginFlags,
  keepOldGatewayFlag,
]
