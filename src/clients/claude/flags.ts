import { type ClientFlag, type Slot, slots } from '../client.ts'
import { contextWindowFlag, modelFlag } from '../flags.ts'

/** The messages client has a model for each slot. */
export const claudeFlags: readonly ClientFlag[] = [
  { ...modelFlag, help: 'pin the model of the chosen slot' },
  {
    flag: '--slot <slot>',
    help: 'the slot to start with',
    choices: slots,
    toOptions: (slot) => ({ slot: slot as Slot }),
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
    help: 'let the client list the gateway’s models',
    toOptions: (discoverModels) => ({ discoverModels: discoverModels === true }),
  },
  {
    flag: '--no-attribution',
    help: 'leave out the client’s attribution block',
    toOptions: (attribution) => ({ disableAttribution: attribution === false }),
  },
  contextWindowFlag,
]
