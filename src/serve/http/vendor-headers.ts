import type { Protocol } from '../../protocols.ts'
import type { LogEntry } from '../log/request-log.ts'

/** Requests and tokens a minute that the vendors are said to allow; only faults limit them here. */
const allowed = { requests: 10_000, tokens: 10_000_000 }

/** @param left requests until the vendor's limit; 0: it is reached */
export function vendorHeaders(
  protocol: Protocol | undefined,
  { id, at }: LogEntry,
  left = allowed.requests - 1,
): Record<string, string | number> {
  const { requests, tokens } = allowed
  if (protocol === 'messages') {
    const reset = at.toISOString()
    return {
      'request-id': `req_${id}`,
      'anthropic-ratelimit-requests-limit': requests,
      'anthropic-ratelimit-requests-remaining': left,
      'anthropic-ratelimit-requests-reset': reset,
      'anthropic-ratelimit-tokens-limit': tokens,
      'anthropic-ratelimit-tokens-remaining': tokens,
      'anthropic-ratelimit-tokens-reset': reset,
    }
  }
  return {
    'x-request-id': `req_${id}`,
    'x-ratelimit-limit-requests': requests,
    'x-ratelimit-remaining-requests': left,
    'x-ratelimit-reset-requests': '6ms',
    'x-ratelimit-limit-tokens': tokens,
    'x-ratelimit-remaining-tokens': tokens,
    'x-ratelimit-reset-tokens': '0s',
  }
}
