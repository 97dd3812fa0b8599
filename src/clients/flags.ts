import { compact } from '../compact.ts'
import { UserError } from '../errors.ts'
import { type Protocol, protocols } from '../gateway/types.ts'
import {
  asReasoningEffort,
  type ClientFlag,
  type ClientOptions,
  reasoningEfforts,
} from './client.ts'

/** For a client with one model. */
export const modelFlag: ClientFlag = {
  flag: '--model [id]',
  help: 'the model; without an ID: chosen from a list',
  takes: 'model',
  toOptions: (model) => ({ model: String(model) }),
}

/** For a client whose configuration has a table of providers. */
export const providerIdFlag: ClientFlag = {
  flag: '--provider-id <id>',
  help: 'name of the provider entry (default: gateway)',
  toOptions: (providerId) => ({ providerId: String(providerId) }),
}

/** For a client that speaks several. */
export const protocolFlag: ClientFlag = {
  flag: '--protocol <name>',
  help: 'protocol of the model (default: its own, if the gateway serves it)',
  choices: protocols,
  toOptions: (protocol) => ({ protocol: protocol as Protocol }),
}

export const contextWindowFlag: ClientFlag = {
  flag: '--context-window <tokens>',
  help: 'context window, where the gateway does not say',
  takes: 'tokens',
  toOptions: (contextWindow) => ({ contextWindow: Number(contextWindow) }),
}

const outputLimitFlag: ClientFlag = {
  flag: '--output-limit <tokens>',
  help: 'most tokens of an answer, where the gateway does not say',
  takes: 'tokens',
  toOptions: (maxOutputTokens) => ({ maxOutputTokens: Number(maxOutputTokens) }),
}

const outputLimitCure =
  'Name a limit that the gateway takes: --output-limit TOKENS. Where it wants another name for the limit, choose another model with --model ID.'

/** Where a gateway refuses so many tokens, by whichever name a client asks for them. */
export const outputLimitCures = {
  max_tokens: outputLimitCure,
  max_completion_tokens: outputLimitCure,
  max_output_tokens: outputLimitCure,
} as const

/** Where a gateway refuses to be asked for reasoning. */
export const noReasoningCure = 'Say that the model does not reason: --no-reasoning.'

/** The first of these flags of a client's own that a person gave it, alone or with a value behind `=`. */
export function ownFlag(args: readonly string[], flags: readonly string[]): string | undefined {
  return flags.find((flag) => args.some((arg) => arg === flag || arg.startsWith(`${flag}=`)))
}

/** @throws UserError `usage` where a flag or a variable of the client's says what a run has to say itself */
export function expectUnsaid(name: string | undefined, why: (name: string) => string): void {
  if (!name) return
  const hint = name.startsWith('-')
    ? `Leave ${name} out of the command.`
    : `Unset it for this run: env -u ${name} repoint run …`
  throw new UserError({ code: 'usage', message: why(name), hint })
}

/** What such flags were given: as the next word, behind `=`, or right behind their letter. */
export function ownValues(args: readonly string[], flags: readonly string[]): readonly string[] {
  const patterns = flags.map((flag) =>
    flag.startsWith('--')
      ? new RegExp(`^${flag}(?:=|$)(.*)`, 's')
      : new RegExp(`^-[A-Za-z]*?${flag[1]}=?(.*)`, 's'),
  )

  return args.flatMap((arg, index) =>
    patterns.flatMap((pattern) => {
      const found = pattern.exec(arg)
      const value = found && (found[1] || args[index + 1])
      return value ? [value] : []
    }),
  )
}

/** For a client that is told how much a model takes and says. */
export const limitFlags: readonly ClientFlag[] = [contextWindowFlag, outputLimitFlag]

/** A flag and its opposite, of which the last that is typed holds. */
function switchFlags(
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

/** For a client that can be told how long its models reason. */
export const reasoningEffortFlag: ClientFlag = {
  flag: '--reasoning-effort <effort>',
  help: 'how long the model reasons',
  choices: reasoningEfforts,
  toOptions: (effort) => compact({ reasoningEffort: asReasoningEffort(effort) }),
}

/** For a client that is told which models see. */
export const imageFlags = switchFlags(
  'images',
  { on: 'the model sees images', off: 'the model sees none' },
  (images) => ({ images }),
)

/** For a client that is told which models reason. */
const reasoningFlags = switchFlags(
  'reasoning',
  { on: 'the model reasons', off: 'the model does not' },
  (reasoning) => ({ reasoning }),
)

/** For a client whose list tells all of that. */
export const factFlags = [...limitFlags, ...imageFlags, ...reasoningFlags]

/** For a client with a table of models of its own. */
export const catalogFlags = switchFlags(
  'catalog',
  { on: "offer the gateway's models instead of its own", off: 'offer its own models again' },
  (writeModelCatalog) => ({ writeModelCatalog }),
)

/** For a client whose providers share one place for the key. */
export const keepOldGatewayFlag: ClientFlag = {
  flag: '--keep-old-gateway',
  help: 'the gateway of before keeps its key, for its conversations',
  toOptions: (keepOldGateway) => ({ keepOldGateway: keepOldGateway === true }),
}

/** What several flags say. */
export function mergeOptions(said: readonly ClientOptions[]): ClientOptions {
  const slotModels = Object.assign({}, ...said.map((one) => one.slotModels))
  return Object.assign({}, ...said, { slotModels })
}

/**
 * Whether a provider can be set up under an id. A slash would end the id early in opencode's
 * `provider/model`; a dot makes a path of it in error messages and in `-c` of Codex. Pure.
 *
 * @param reserved ids that mean something to the client already
 * @throws UserError `usage`
 */
export function checkProviderId(
  id: string | undefined,
  label: string,
  reserved: readonly string[],
): void {
  const refuse = (why: string) =>
    new UserError({
      code: 'usage',
      message: `${JSON.stringify(id)} cannot be the provider's id: ${why}`,
      hint: 'Choose another with --provider-id, or leave it out: the default is "gateway".',
    })
  if (id === undefined) return
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(id))
    throw refuse('only letters, digits, "-" and "_" may stand in it, the first a letter or a digit')
  if (reserved.includes(id)) throw refuse(`${label} has a provider of that name built in`)
}
