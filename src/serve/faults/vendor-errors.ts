import type { Failure } from '../codecs/failure.ts'
import errors from './vendor-errors.json' with { type: 'json' }

/**
 * The errors of the vendors: of Anthropic on messages, of OpenAI elsewhere. They come from the vendors'
 * error references and from the error types of their SDKs (openai 7.57.0, @anthropic-ai/sdk 1.12.0,
 * 2026-11-23).
 *
 * The names are listed here, because the build creates no types from JSON.
 */
export type VendorErrorName =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'request_too_large'
  | 'context_length_exceeded'
  | 'rate_limit_error'
  | 'insufficient_quota'
  | 'api_error'
  | 'timeout_error'
  | 'overloaded_error'

export const vendorErrorNames = Object.keys(errors) as readonly VendorErrorName[]

interface VendorError {
  readonly status: number
  readonly type: string
  readonly message: string
  readonly code?: string
}

/** @param route selects the vendor */
export function vendorError(name: VendorErrorName, route: string, model: string): Failure {
  const error: VendorError = errors[name][route === 'messages' ? 'anthropic' : 'openai']
  const place = route === 'chat' ? 'messages' : 'input'

  return {
    ...error,
    kind: 'failure',
    shape: 'vendor',
    message: error.message.replace('MODEL', model),
    code: error.code ?? null,
    ...(name === 'context_length_exceeded' ? { param: place } : {}),
    // The vendors say when to retry. The time is short, so that test suites do not wait.
    ...(name === 'rate_limit_error' ? { retryAfter: 1 } : {}),
  }
}
