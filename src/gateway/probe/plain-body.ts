/** The minimal request of a probe without a client. It loads nothing, because every client module needs it. */
import type { FirstRequest, Protocol } from '../types.ts'

/**
 * The question of such a probe. It looks like real work, because the filters of some gateways reject a bare
 * `ping` as a test of the key (2026-11-23).
 */
export const prompt = 'In one word: which type does this JavaScript have? const total = 1 + 1'

const messages = [{ role: 'user', content: prompt }]
const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: prompt }] }]

const bodies: Readonly<Record<Protocol, FirstRequest['body']>> = {
  chat: { messages },
  responses: { input, store: false },
  messages: { messages },
}

/** The body of a minimal request, except the model and the limit. */
export function plainBody(protocol: Protocol): FirstRequest['body'] {
  return { ...bodies[protocol], stream: true }
}
