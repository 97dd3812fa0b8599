import type { Protocol } from '../../../protocols.ts'
import { countInputTokens, type ModelRequest } from '../model-request.ts'
import { Refusal } from '../refusal.ts'
import { bareModelName } from './combinations.ts'

/** The known context windows by family, in tokens (models.dev in opencode 1.18.34, 2026-11-23). */
const contextWindows: readonly (readonly [models: RegExp, tokens: number])[] = [
  [/^claude-(opus-4-[6-9]|opus-[5-9]|sonnet-[4-9]|fable-)/, 1_000_000],
  [/^claude-haiku-4/, 200_000],
  [/^gpt-5\.\d-mini/, 400_000],
  [/^gpt-5\.[4-9]/, 1_050_000],
]

/** The errors for a conversation that exceeds the window (from the vendors' references). */
const windowExceeded: Readonly<Record<Protocol, (tokens: number, window: number) => Refusal>> = {
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

/** @throws Refusal if the conversation exceeds the model's context window */
export function checkWindow(protocol: Protocol, request: ModelRequest): void {
  const id = bareModelName(request.model)
  const window = contextWindows.find(([models]) => models.test(id))?.[1]
  const tokens = countInputTokens(request)
  if (window !== undefined && tokens > window) throw windowExceeded[protocol](tokens, window)
}
