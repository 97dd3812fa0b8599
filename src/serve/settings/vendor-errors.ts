import type { GatewayFailure } from '../codecs/failure.ts'

type VendorError = readonly [status: number, type: string, message: string]

const invalid = 'invalid_request_error'

/**
 * The vendors' errors by name: on messages Anthropic says them, elsewhere OpenAI. From their references
 * of errors and what their SDKs tell apart (openai 7.57.0, @anthropic-ai/sdk 1.12.0), 2026-11-23.
 */
const anthropicErrors = {
  invalid_request_error: [400, invalid, 'The request is invalid.'],
  authentication_error: [401, 'authentication_error', 'invalid x-api-key'],
  permission_error: [403, 'permission_error', 'Your API key has no permission to use this.'],
  not_found_error: [404, 'not_found_error', 'model: MODEL'],
  request_too_large: [413, 'request_too_large', 'Request exceeds the maximum number of bytes.'],
  context_length_exceeded: [400, invalid, 'prompt is too long: 200001 tokens > 200000 maximum'],
  rate_limit_error: [429, 'rate_limit_error', 'This request would exceed your rate limit.'],
  insufficient_quota: [400, invalid, 'Your credit balance is too low to access the Anthropic API.'],
  api_error: [500, 'api_error', 'Internal server error'],
  timeout_error: [504, 'timeout_error', 'Request timed out.'],
  overloaded_error: [529, 'overloaded_error', 'Overloaded'],
} satisfies Readonly<Record<string, VendorError>>

export type VendorErrorName = keyof typeof anthropicErrors

export const vendorErrorNames = Object.keys(anthropicErrors) as readonly VendorErrorName[]

const openaiErrors: Readonly<Record<VendorErrorName, VendorError>> = {
  invalid_request_error: [400, invalid, 'The request is invalid.'],
  authentication_error: [401, invalid, 'Incorrect API key provided.'],
  permission_error: [403, invalid, 'You have insufficient permissions for this operation.'],
  not_found_error: [
    404,
    invalid,
    'The model `MODEL` does not exist or you do not have access to it.',
  ],
  request_too_large: [413, invalid, 'The request body is too large.'],
  context_length_exceeded: [400, invalid, 'Your input exceeds the context window of this model.'],
  rate_limit_error: [429, 'requests', 'Rate limit reached for MODEL on requests per min (RPM).'],
  insufficient_quota: [429, 'insufficient_quota', 'You exceeded your current quota.'],
  api_error: [500, 'server_error', 'The server had an error while processing your request.'],
  timeout_error: [504, 'server_error', 'The request timed out.'],
  overloaded_error: [503, 'server_error', 'The engine is currently overloaded.'],
}

const openaiCodes: Readonly<Partial<Record<VendorErrorName, string>>> = {
  authentication_error: 'invalid_api_key',
  not_found_error: 'model_not_found',
  context_length_exceeded: 'context_length_exceeded',
  rate_limit_error: 'rate_limit_exceeded',
  insufficient_quota: 'insufficient_quota',
}

/** @param route whose vendor refuses */
export function vendorError(name: VendorErrorName, route: string, model: string): GatewayFailure {
  const errors = route === 'messages' ? anthropicErrors : openaiErrors
  const [status, type, message] = errors[name]
  const place = route === 'chat' ? 'messages' : 'input'

  return {
    status,
    shape: 'vendor',
    type,
    message: message.replace('MODEL', model),
    code: openaiCodes[name] ?? null,
    ...(name === 'context_length_exceeded' ? { param: place } : {}),
    // The vendors say when to come back; so that a suite does not wait, it is soon.
    ...(name === 'rate_limit_error' ? { retryAfter: 1 } : {}),
  }
}
