import type { ModelRequest } from '../../../src/serve/requests/model-request.ts'
import type { Turn } from '../../../src/serve/requests/turns/turns.ts'

/** A request in the form that the model receives. */
export function aModelRequest(
  turns: readonly Turn[],
  more: Partial<ModelRequest> = {},
): ModelRequest {
  return {
    model: 'm',
    turns,
    tools: [],
    toolChoice: 'auto',
    isParallel: true,
    thinking: 'never',
    maxOutputTokens: undefined,
    stopSequences: [],
    ...more,
  }
}
