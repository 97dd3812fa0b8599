import type { ClientFlag } from './client.ts'

/** For a client with one model. */
export const modelFlag: ClientFlag = {
  flag: '--model <id>',
  help: 'the model (default: chosen from the catalog)',
  means: (model) => ({ model: String(model) }),
}

/** For a client whose configuration has a table of providers. */
export const providerIdFlag: ClientFlag = {
  flag: '--provider-id <id>',
  help: 'name of the provider entry',
  default: 'gateway',
  means: (providerId) => ({ providerId: String(providerId) }),
}

export const contextWindowFlag: ClientFlag = {
  flag: '--context-window <tokens>',
  help: 'context window, where the gateway does not say',
  takes: 'tokens',
  means: (contextWindow) => ({ contextWindow: Number(contextWindow) }),
}
