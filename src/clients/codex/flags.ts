import type { ClientFlag, SettingOption } from '../contract/options.ts'
import {
  contextWindowFlag,
  modelFlag,
  providerIdFlag,
  reasoningEffortFlag,
  switchFlags,
} from '../options/flags.ts'

declare module '../contract/options.ts' {
  interface ClientOptions {
    /** Codex reads its models from a file of repoint's. */
    readonly hasModelsFile?: boolean | undefined
    /** The earlier provider keeps its old key, in config.toml. */
    readonly keepOldGateway?: boolean | undefined
  }
}

export const effortPath = ['model_reasoning_effort']

/** The options that one setting of config.toml holds. `repoint run` passes each with `-c`. */
export const settingOptions: readonly SettingOption[] = [
  { ...reasoningEffortFlag, path: effortPath },
]

const catalogFlags = switchFlags(
  'catalog',
  { on: "list the gateway's models instead of Codex's own", off: "list Codex's own models again" },
  (hasModelsFile) => ({ hasModelsFile }),
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
  keepOldGatewayFlag,
]
