/**
 * How a body becomes a `ModelRequest`: `checks/` has the checks that the protocols share, with the rules in
 * `data/`; `chat-request.ts`, `messages-request.ts` and `responses-request.ts` check and read what is
 * particular to a protocol; `turns/` reads the conversation. A check throws the vendor's error, a
 * `RequestRejection`.
 */
import type { Protocol } from '../../protocols.ts'
import { checkMembers } from './checks/check-members.ts'
import {
  bareModelName,
  checkAfterMembers,
  checkBeforeMembers,
  checkFamily,
} from './checks/combinations.ts'
import { isMissing, type JsonObject } from './json.ts'
import {
  countInputTokens,
  InvalidRequest,
  type ModelRequest,
  type RequestContext,
  type RequestHeaders,
} from './model-request.ts'
import { RequestRejection } from './rejection.ts'

/**
 * Creates the function that reads the bodies of a protocol. It runs the shared checks before and after
 * `readBody`.
 */
export function createReader(protocol: Protocol, readBody: (body: JsonObject) => ModelRequest) {
  /** @throws InvalidRequest, RequestRejection */
  return (sentBody: JsonObject, context: RequestContext = {}): ModelRequest => {
    const { input, headers = {}, families = 'vendor' } = context
    // With the stored conversation, whose items may have members that a client must not send.
    const wholeBody = input === undefined ? sentBody : { ...sentBody, input }
    requireConversation(protocol, wholeBody)

    checkBeforeMembers(protocol, sentBody)
    checkMembers(protocol, sentBody)
    const version = protocol === 'messages' ? readProtocolVersion(headers) : ''
    checkAfterMembers(protocol, wholeBody, version)

    const request = readBody(wholeBody)
    if (families === 'vendor') checkFamily(protocol, sentBody)
    checkWindow(protocol, request)
    return request
  }
}

/** Checks what the imitated gateway itself requires. */
function requireConversation(protocol: Protocol, { messages, input }: JsonObject): void {
  if (protocol === 'responses') {
    if (isMissing(input)) throw new InvalidRequest('input is required')
    return
  }

  const isEmpty = Array.isArray(messages) && messages.length === 0
  if (isMissing(messages) || isEmpty) throw new InvalidRequest('field messages is required')
}

/** The known context windows by family, in tokens (models.dev in opencode 1.18.34, 2026-11-23). */
const contextWindows: readonly (readonly [modelPattern: RegExp, tokens: number])[] = [
  [/^claude-(opus-4-[6-9]|opus-[5-9]|sonnet-[4-9]|fable-)/, 1_000_000],
  [/^claude-haiku-4/, 200_000],
  [/^gpt-5\.\d-mini/, 400_000],
  [/^gpt-5\.[4-9]/, 1_050_000],
]

/** The errors for a conversation that exceeds the window (from the vendors' references). */
const windowExceeded: Readonly<
  Record<Protocol, (tokens: number, window: number) => RequestRejection>
> = {
  chat: (tokens, window) =>
    new RequestRejection(
      `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
      { param: 'messages', code: 'context_length_exceeded' },
    ),
  responses: () =>
    new RequestRejection(
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      { param: 'input', code: 'context_length_exceeded' },
    ),
  messages: (tokens, window) =>
    new RequestRejection(`prompt is too long: ${tokens} tokens > ${window} maximum`),
}

/** @throws RequestRejection if the conversation exceeds the model's context window */
function checkWindow(protocol: Protocol, request: ModelRequest): void {
  const id = bareModelName(request.model)
  const window = contextWindows.find(([modelPattern]) => modelPattern.test(id))?.[1]
  const tokens = countInputTokens(request)
  if (window !== undefined && tokens > window) throw windowExceeded[protocol](tokens, window)
}

/**
 * The versions of the messages protocol, for the header `anthropic-version`
 * (https://platform.claude.com/docs/en/api/versioning, read 2026-11-23). Without the header, the imitated gateway
 * uses the one of 2023.
 */
const versions = ['2023-01-01', '2023-06-01', '2026-10-21']

/**
 * The form of a beta's name. The gateway accepts every name of this form: clients send new betas with
 * most versions, and no SDK lists them all.
 */
const betaNamePattern = /^[a-z0-9-]+-(?:\d{8}|\d{4}-\d{2}-\d{2})$/

/**
 * Checks the headers of version and betas.
 *
 * @returns the version
 * @throws RequestRejection for an invalid version or beta
 */
function readProtocolVersion(headers: RequestHeaders): string {
  const version = String(headers['anthropic-version'] ?? versions[1])
  if (!versions.includes(version))
    throw new RequestRejection(`anthropic-version: "${version}" is not a valid version.`)

  const betas = String(headers['anthropic-beta'] ?? '').split(',')
  const unknown = betas
    .map((beta) => beta.trim())
    .find((beta) => beta !== '' && !betaNamePattern.test(beta))
  if (unknown !== undefined)
    throw new RequestRejection(
      `Unexpected value(s) \`${unknown}\` for the \`anthropic-beta\` header. Please consult our documentation at docs.claude.com or try again without the header.`,
    )
  return version
}
