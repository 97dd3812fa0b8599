import type { Protocol } from '../../protocols.ts'
import type { LogEntry } from '../log/entry.ts'

/** The limits per minute that the headers report. Only faults really limit requests here. */
const rateLimits = { requests: 10_000, tokens: 10_000_000 }

/** @param remaining the requests left until the vendor's limit; 0 if it is reached */
export function vendorHeaders(
  protocol: Protocol | undefined,
  { id, at }: LogEntry,
  remaining = rateLimits.requests - 1,
): Record<string, string | number> {
  const { requests, tokens } = rateLimits
  if (protocol === 'messages') {
    const reset = at.toISOString()
    return {
      'request-id': `req_${id}`,
      'anthropic-ratelimit-requests-limit': requests,
      'anthropic-ratelimit-requests-remaining': remaining,
      'anthropic-ratelimit-requests-reset': reset,
      'anthropic-ratelimit-tokens-limit': tokens,
      'anthropic-ratelimit-tokens-remaining': tokens,
      'anthropic-ratelimit-tokens-reset': reset,
    }
  }

  return {
    'x-request-id': `req_${id}`,
    'x-ratelimit-limit-requests': requests,
    'x-ratelimit-remaining-requests': remaining,
    'x-ratelimit-reset-requests': '6ms',
    'x-ratelimit-limit-tokens': tokens,
    'x-ratelimit-remaining-tokens': tokens,
    'x-ratelimit-reset-tokens': '0s',
  }
}
