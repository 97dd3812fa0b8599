import type { GatewayFailure } from '../codecs/failure.ts'
import errors from './vendor-errors.json' with { type: 'json' }

/**
 * The vendors' errors: on messages Anthropic says them, elsewhere OpenAI. From the vendors' references
 * of errors and what their SDKs tell apart (openai 7.57.0, @anthropic-ai/sdk 1.12.0), 2026-11-23.
 */
export type VendorErrorName = keyof typeof errors

export const vendorErrorNames = Object.keys(errors) as VendorErrorName[]

interface VendorError {
  readonly status: number
  readonly type: string
  readonly message: string
  readonly code?: string
}

/** @param route whose vendor refuses */
export function vendorError(name: VendorErrorName, route: string, model: string): GatewayFailure {
  const error: VendorError = errors[name][route === 'messages' ? 'anthropic' : 'openai']
  const place = route === 'chat' ? 'messages' : 'input'

  return {
    ...error,
    shape: 'vendor',
    message: error.message.replace('MODEL', model),
    code: error.code ?? null,
    ...(name === 'context_length_exceeded' ? { param: place } : {}),
    // The vendors say when to come back; so that a suite does not wait, it is soon.
    ...(name === 'rate_limit_error' ? { retryAfter: 1 } : {}),
  }
}
