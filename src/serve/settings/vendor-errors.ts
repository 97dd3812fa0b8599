import type { GatewayFailure } from '../codecs/failure.ts'

/** How a vendor refuses: status, type and message, and OpenAI's code. */
type VendorError = readonly [
  status: number,
  type: string,
  message: string,
  code?: string,
  param?: string,
]

/**
 * The vendors' errors by name, as Anthropic says them on messages and OpenAI elsewhere. From their
 * references of errors and what their SDKs tell apart (openai 7.57.0, @anthropic-ai/sdk 1.12.0),
 * 2026-11-23.
 */
const vendorErrors = {
  invalid_request_error: [
    [400, 'invalid_request_error', 'The request is invalid.'],
    [400, 'invalid_request_error', 'The request is invalid.'],
  ],
  authentication_error: [
    [401, 'authentication_error', 'invalid x-api-key'],
    [401, 'invalid_request_error', 'Incorrect API key provided.', 'invalid_api_key'],
  ],
  permission_error: [
    [403, 'permission_error', 'Your API key does not have permission to use this resource.'],
    [403, 'invalid_request_error', 'You have insufficient permissions for this operation.'],
  ],
  not_found_error: [
    [404, 'not_found_error', 'model: MODEL'],
    [
      404,
      'invalid_request_error',
      'The model `MODEL` does not exist or you do not have access to it.',
      'model_not_found',
    ],
  ],
  request_too_large: [
    [413, 'request_too_large', 'Request exceeds the maximum allowed number of bytes.'],
    [413, 'invalid_request_error', 'The request body is too large.'],
  ],
  context_length_exceeded: [
    [400, 'invalid_request_error', 'prompt is too long: 200001 tokens > 200000 maximum'],
    [
      400,
      'invalid_request_error',
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      'context_length_exceeded',
      'input',
    ],
  ],
  rate_limit_error: [
    [429, 'rate_limit_error', 'This request would exceed the rate limit of your organization.'],
    [
      429,
      'requests',
      'Rate limit reached for MODEL on requests per min (RPM): Limit 500, Used 500, Requested 1.',
      'rate_limit_exceeded',
    ],
  ],
  insufficient_quota: [
    [400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'],
    [
      429,
      'insufficient_quota',
      'You exceeded your current quota, please check your plan and billing details.',
      'insufficient_quota',
    ],
  ],
  api_error: [
    [500, 'api_error', 'Internal server error'],
    [500, 'server_error', 'The server had an error while processing your request.'],
  ],
  timeout_error: [
    [504, 'timeout_error', 'Request timed out.'],
    [504, 'server_error', 'The request timed out.'],
  ],
  overloaded_error: [
    [529, 'overloaded_error', 'Overloaded'],
    [503, 'server_error', 'The engine is currently overloaded, please try again later.'],
  ],
} satisfies Readonly<Record<string, readonly [anthropic: VendorError, openai: VendorError]>>

export type VendorErrorName = keyof typeof vendorErrors

export const vendorErrorNames = Object.keys(vendorErrors) as readonly VendorErrorName[]

/** @param route whose vendor refuses */
export function vendorError(name: VendorErrorName, route: string, model: string): GatewayFailure {
  const [anthropic, openai]: readonly [VendorError, VendorError] = vendorErrors[name]
  const [status, type, message, code = null, param] = route === 'messages' ? anthropic : openai
  const place = route === 'chat' && param === 'input' ? 'messages' : param
  return {
    status,
    shape: 'vendor',
    type,
    message: message.replace('MODEL', model),
    code,
    ...(place === undefined ? {} : { param: place }),
    // The vendors say when to come back; so that a suite does not wait, it is soon.
    ...(status === 429 && code !== 'insufficient_quota' ? { retryAfter: 1 } : {}),
  }
}
