import { Refusal } from './refusal.ts'

/**
 * What families of models refuse that others take, by the beginning of their ids. Ids may be prefixed
 * by a vendor.
 */
interface Family {
  readonly models: RegExp
  readonly refuses: (asked: Asked) => boolean
  readonly message: string
  readonly source: string
}

/** What of a messages request it depends on. */
export interface Asked {
  readonly thinking: unknown
  readonly sampling: Readonly<Record<'temperature' | 'top_p' | 'top_k', unknown>>
  /** Whether the model is to go on with what it seems to have said. */
  readonly isPrefilled: boolean
}

const from46 = /^claude-(opus-4-[6-9]|sonnet-4-[6-9]|(opus|sonnet|haiku|fable|mythos)-[5-9])/
const from47 = /^claude-(opus-4-[7-9]|(opus|sonnet|fable|mythos)-[5-9])/

const families: readonly Family[] = [
  {
    models: from47,
    refuses: ({ thinking }) => thinking === 'enabled',
    message:
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    source: 'https://github.com/OpenHands/software-agent-sdk/issues/3427, read 2026-11-23',
  },
  ...(['temperature', 'top_p', 'top_k'] as const).map((name) => ({
    models: from47,
    refuses: ({ sampling }: Asked) => typeof sampling[name] === 'number',
    message: `\`${name}\` is deprecated for this model.`,
    source: 'https://github.com/UKGovernmentBEIS/inspect_ai/issues/3721, read 2026-11-23',
  })),
  {
    models: /^claude-/,
    refuses: ({ sampling: { temperature, top_p: topP } }) =>
      typeof temperature === 'number' && typeof topP === 'number',
    message:
      '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
    source: 'https://github.com/BerriAI/litellm/issues/15097, read 2026-11-23',
  },
  {
    models: from46,
    refuses: ({ isPrefilled }) => isPrefilled,
    message:
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    source: 'https://github.com/vercel/ai/issues/12296, read 2026-11-23',
  },
]

/** @throws Refusal where a model of this id does not take what is asked */
export function checkFamily(model: string, asked: Asked): void {
  const id = model.slice(model.lastIndexOf('/') + 1)
  const family = families.find(({ models, refuses }) => models.test(id) && refuses(asked))
  if (family !== undefined) throw new Refusal(family.message)
}

/** Context windows by family, in tokens (https://models.dev, read 2026-11-23); of others none is known. */
const windows: readonly (readonly [models: RegExp, tokens: number])[] = [
  [from46, 1_000_000],
  [/^claude-/, 200_000],
  [/^gpt-5\.[4-9]/, 1_050_000],
]

export function windowOf(model: string): number {
  const id = model.slice(model.lastIndexOf('/') + 1)
  return windows.find(([models]) => models.test(id))?.[1] ?? Number.POSITIVE_INFINITY
}
