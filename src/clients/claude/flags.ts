import { UserError } from '../../errors.ts'
import type { ClientFlag, ClientOptions, SettingOption } from '../contract/options.ts'
import {
  contextWindowFlag,
  modelFlag,
  outputLimitFlag,
  reasoningEffortFlag,
} from '../options/flags.ts'

/**
 * The *slots*: Claude Code chooses one for each task, and sends the model of that slot. Newer versions have
 * `fable`. A slot's *pin* is the model that the settings name for it (`ANTHROPIC_DEFAULT_OPUS_MODEL`). Without a
 * pin, the version of Claude Code decides the model. A *mapping* is a set of pins for all slots that are not all
 * Claude models: `repoint claude-gpt` writes one.
 */
export const slots = ['opus', 'sonnet', 'haiku', 'fable'] as const

export type Slot = (typeof slots)[number]

export const defaultSlot = 'sonnet'

/** The slot that Claude Code starts with, unless a `startModel` overrides it. */
export function slotIn({ slot }: ClientOptions): Slot {
  return slots.find((name) => name === slot) ?? defaultSlot
}

/** It overrides the effort in the settings (2.1.330, 2026-11-23). */
export const effortVariable = 'CLAUDE_CODE_EFFORT_LEVEL'

/** The options that one variable in `env` of the settings holds. */
export const settingOptions: readonly SettingOption[] = [
  { ...reasoningEffortFlag, path: ['env', effortVariable] },
]

export const claudeFlags: readonly ClientFlag[] = [
  { ...modelFlag, help: 'pin the model of the chosen slot' },
  {
    flag: '--slot <slot>',
    help: 'the slot to start with',
    choices: slots,
    toOptions: (slot) => ({ slot: String(slot) }),
  },
  ...slots.map(
    (slot): ClientFlag => ({
      flag: `--${slot}-model <id>`,
      help: `pin the model of ${slot}`,
      takes: 'model',
      toOptions: (model) => ({ slotModels: { [slot]: String(model) } }),
    }),
  ),
  {
    flag: '--subagent-model <id>',
    help: 'the model of subagents',
    takes: 'model',
    toOptions: (subagentModel) => ({ subagentModel: String(subagentModel) }),
  },
  {
    flag: '--enable-discovery',
    help: 'let Claude Code list the gateway’s models',
    toOptions: (isDiscovering) => ({ isDiscovering: isDiscovering === true }),
  },
  {
    flag: '--no-attribution',
    help: 'do not send Claude Code’s attribution block',
    toOptions: (attribution) => ({ hidesAttribution: attribution === false }),
  },
  {
    flag: '--no-betas',
    help: 'do not send experimental betas',
    toOptions: (betas) => ({ sendsNoBetas: betas === false }),
  },
  contextWindowFlag,
  outputLimitFlag,
  ...settingOptions,
]

/** @throws UserError `usage` if two flags name the model of one slot */
export function expectDistinctModelFlags(options: ClientOptions): void {
  const { model, slotModels } = options
  const slot = slotIn(options)
  if (model === undefined || slotModels?.[slot] === undefined) return
  throw new UserError({
    code: 'usage',
    message: `--model and --${slot}-model both set the model of ${slot}`,
    hint: 'Use one of them.',
  })
}
