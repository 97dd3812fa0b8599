import type { Protocol } from '../../protocols.ts'
import { asObject, asString, type JsonObject } from './read.ts'
import type { Turn } from './reading/turns.ts'
import { Refusal } from './refusal.ts'
import { countInputTokens, type ModelRequest } from './request.ts'

/** What families of models refuse that others take, by the beginning of their ids. */
interface Family {
  readonly models: RegExp
  readonly refuses: (body: JsonObject, turns: readonly Turn[]) => boolean
  readonly message: string
  readonly source: string
}

const from46 = /^claude-(opus-4-[6-9]|sonnet-4-[6-9]|(opus|sonnet|haiku|fable|mythos)-[5-9])/
const from47 = /^claude-(opus-4-[7-9]|(opus|sonnet|fable|mythos)-[5-9])/

const families: readonly Family[] = [
  {
    models: from47,
    refuses: ({ thinking }) => asObject(thinking)['type'] === 'enabled',
    message:
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    source: 'https://github.com/OpenHands/software-agent-sdk/issues/3427, read 2026-11-23',
  },
  ...(['temperature', 'top_p', 'top_k'] as const).map((name) => ({
    models: from47,
    refuses: (body: JsonObject) => typeof body[name] === 'number',
    message: `\`${name}\` is deprecated for this model.`,
    source: 'https://github.com/UKGovernmentBEIS/inspect_ai/issues/3721, read 2026-11-23',
  })),
  {
    models: /^claude-/,
    refuses: ({ temperature, top_p: topP }) =>
      typeof temperature === 'number' && typeof topP === 'number',
    message:
      '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
    source: 'https://github.com/BerriAI/litellm/issues/15097, read 2026-11-23',
  },
  {
    models: from46,
    refuses: (_, turns) => turns.at(-1)?.role === 'assistant',
    message:
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    source: 'https://github.com/vercel/ai/issues/12296, read 2026-11-23',
  },
]

/** @throws Refusal where the model of a messages request does not take what is asked */
export function checkFamily(body: JsonObject, turns: readonly Turn[]): void {
  const id = bareId(asString(body['model']) ?? '')
  const family = families.find(({ models, refuses }) => models.test(id) && refuses(body, turns))
  if (family !== undefined) throw new Refusal(family.message)
}

/**
 * Context windows by family, in tokens (models.dev as opencode 1.18.34 carries it, 2026-11-23); of others
 * none is known.
 */
const windows: readonly (readonly [models: RegExp, tokens: number])[] = [
  [/^claude-(opus-4-[6-9]|opus-[5-9]|sonnet-[4-9]|fable-)/, 1_000_000],
  [/^claude-haiku-4/, 200_000],
  [/^gpt-5\.\d-mini/, 400_000],
  [/^gpt-5\.[4-9]/, 1_050_000],
]

/** How each protocol says that a conversation is longer than the window (the vendors' references). */
const tooLong: Readonly<Record<Protocol, (tokens: number, window: number) => Refusal>> = {
  chat: (tokens, window) =>
    new Refusal(
      `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
      'messages',
      'context_length_exceeded',
    ),
  responses: () =>
    new Refusal(
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      'input',
      'context_length_exceeded',
    ),
  messages: (tokens, window) =>
    new Refusal(`prompt is too long: ${tokens} tokens > ${window} maximum`),
}

/** @throws Refusal where a conversation is longer than what the model takes */
export function checkWindow(protocol: Protocol, request: ModelRequest): ModelRequest {
  const id = bareId(request.model)
  const window = windows.find(([models]) => models.test(id))?.[1]
  const tokens = countInputTokens(request)
  if (window !== undefined && tokens > window) throw tooLong[protocol](tokens, window)
  return request
}

/** Ids may be prefixed by a vendor. */
function bareId(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1)
}
