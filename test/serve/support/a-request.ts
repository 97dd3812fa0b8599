import type { LoggedRequest } from '../../../src/serve/index.ts'
import type { Turn } from '../../../src/serve/requests/reading/turns.ts'
import type { ModelRequest } from '../../../src/serve/requests/request.ts'

/** A request as the log tells it. */
export function aRequest(more: Partial<LoggedRequest> = {}): LoggedRequest {
  return {
    id: 'a',
    number: 1,
    at: new Date('2026-11-22T10:00:00Z'),
    method: 'POST',
    path: '/v1/responses',
    protocol: 'responses',
    client: 'it/1',
    auth: 'bearer',
    key: 'sk-…0123',
    keyMatches: true,
    modelAsked: 'gpt-5.6',
    modelServed: 'gpt-5.6-sol',
    stream: false,
    state: 'done',
    status: 200,
    firstByteMs: 3,
    totalMs: 10,
    inputTokens: 1,
    outputTokens: 1,
    fault: undefined,
    reason: undefined,
    headers: {},
    requestBody: '',
    requestBytes: 0,
    responseHeaders: {},
    responseBody: '',
    responseBytes: 0,
    ...more,
  }
}

/** A request as the model is given it. */
export function aModelRequest(
  messages: readonly Turn[],
  more: Partial<ModelRequest> = {},
): ModelRequest {
  return {
    model: 'm',
    messages,
    tools: [],
    toolChoice: 'auto',
    isParallel: true,
    thinking: 'never',
    maxOutputTokens: undefined,
    stopSequences: [],
    ...more,
  }
}
