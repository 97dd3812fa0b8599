import { UserError } from '../../errors.ts'
import { type Protocol, protocols } from '../../gateway/types.ts'
import {
  type ClientFlag,
  type ClientOptions,
  defaultProviderId,
  type EnumFlag,
} from '../contract/options.ts'

/** For a client with one model. */
export const modelFlag: ClientFlag = {
  flag: '--model [id]',
  help: 'the model; without an ID: from a list',
  takes: 'model',
  toOptions: (model) => ({ model: String(model) }),
}

/** For a client whose configuration has a table of providers. */
export const providerIdFlag: ClientFlag = {
  flag: '--provider-id <id>',
  help: `name of the provider entry (default: ${defaultProviderId})`,
  toOptions: (providerId) => ({ providerId: String(providerId) }),
}

/** For a client that supports several protocols. */
export const protocolFlag: ClientFlag = {
  flag: '--protocol <name>',
  help: 'protocol of the model (default: its own, if the gateway serves it)',
  choices: protocols,
  toOptions: (protocol) => ({ protocol: protocol as Protocol }),
}

export const contextWindowFlag: ClientFlag = {
  flag: '--context-window <tokens>',
  help: 'context window, if the gateway does not report it',
  takes: 'tokens',
  toOptions: (contextWindow) => ({ contextWindow: Number(contextWindow) }),
}

export const outputLimitFlag: ClientFlag = {
  flag: '--output-limit <tokens>',
  help: 'longest answer, if the gateway does not report it',
  takes: 'tokens',
  toOptions: (outputLimit) => ({ outputLimit: Number(outputLimit) }),
}

/** What helps if the gateway rejects such a high token limit. */
export const outputLimitCure =
  'Name a limit that the gateway accepts: {--output-limit TOKENS}. If the gateway rejects the name of the limit, name another model: {--model ID}'

/** The same by the name of the limit in the request. */
export const outputLimitCures = {
  max_tokens: outputLimitCure,
  max_completion_tokens: outputLimitCure,
  max_output_tokens: outputLimitCure,
} as const

/** What helps if the gateway rejects reasoning. */
export const noReasoningCure = 'Turn reasoning off: {--no-reasoning}'

/** For a client whose configuration has the token limits of a model. */
export const limitFlags: readonly ClientFlag[] = [contextWindowFlag, outputLimitFlag]

/** A flag and its opposite. The last one on the command line counts. */
export function switchFlags(
  name: string,
  help: { readonly on: string; readonly off: string },
  means: (isOn: boolean) => ClientOptions,
): readonly ClientFlag[] {
  const meansValue: ClientFlag['toOptions'] = (value) => means(value === true)
  return [
    { flag: `--${name}`, help: help.on, toOptions: meansValue },
    { flag: `--no-${name}`, help: help.off, toOptions: meansValue },
  ]
}

export function enumFlag(parts: Omit<EnumFlag, 'toOptions'>): EnumFlag {
  return { ...parts, toOptions: (value) => ({ [parts.option]: String(value) }) }
}

/** For a client that can set how long its models reason. */
export const reasoningEffortFlag = enumFlag({
  option: 'reasoningEffort',
  flag: '--reasoning-effort <effort>',
  help: 'how much the model reasons',
  choices: ['low', 'medium', 'high'],
})

/** The hint for a gateway that rejects an effort that the user chose. */
export const effortCure =
  'Name an effort that the gateway accepts: --reasoning-effort low, medium or high. For the usual one: --defaults'

/** For a client whose configuration states which models accept images. */
export const imageFlags = switchFlags(
  'images',
  { on: 'the model accepts images', off: 'the model accepts no images' },
  (images) => ({ images }),
)

/** For a client whose configuration states which models reason. */
const reasoningFlags = switchFlags(
  'reasoning',
  { on: 'the model reasons', off: 'the model does not reason' },
  (reasoning) => ({ reasoning }),
)

/** For a client whose list of models states all of these facts. */
export const factFlags = [...limitFlags, ...imageFlags, ...reasoningFlags]

/** Merges options. The last one counts, also for each slot. */
export function mergeOptions(options: readonly ClientOptions[]): ClientOptions {
  const slotModels = Object.assign({}, ...options.map((option) => option.slotModels))
  return Object.assign({}, ...options, { slotModels })
}

/**
 * Checks that an ID can be used for a provider. A slash would end the ID early in opencode's
 * `provider/model`; error messages and `-c` of Codex take a dot for a separator. Pure.
 *
 * @param reserved IDs that mean something to the client already
 * @throws UserError `usage`
 */
export function expectUsableProviderId(
  id: string | undefined,
  label: string,
  reserved: readonly string[],
): void {
  const refusal = (why: string) =>
    new UserError({
      code: 'usage',
      message: `Cannot use ${JSON.stringify(id)} as the provider ID: ${why}`,
      hint: 'Use another: {--provider-id ID}. Or remove the flag: the default is "gateway".',
    })
  if (id === undefined) return
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(id))
    throw refusal(
      'it may contain letters, digits, "-" and "_", and must begin with a letter or a digit',
    )
  if (reserved.includes(id)) throw refusal(`${label} has a built-in provider of that name`)
}
