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
  type ProtocolVersion,
} from './checks/combinations.ts'
import { createModelTest, vendorOf } from './checks/generations.ts'
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
export function createReader(
  protocol: Protocol,
  readBody: (body: JsonObject, options: { readonly checksSchemas: boolean }) => ModelRequest,
) {
  /** @throws InvalidRequest, RequestRejection */
  return (sentBody: JsonObject, context: RequestContext = {}): ModelRequest => {
    const { input, headers = {}, families = 'vendor' } = context
    // With the stored conversation, whose items may have members that a client must not send.
    const wholeBody = input === undefined ? sentBody : { ...sentBody, input }
    requireConversation(protocol, wholeBody)

    const version = protocol === 'messages' ? readProtocolVersion(headers) : noVersion
    checkBeforeMembers(protocol, sentBody, version)
    checkMembers(protocol, sentBody)
    checkAfterMembers(protocol, wholeBody, version)

    // The rules for schemas are those of the vendor whose model answers. A gateway that rewrites also rewrites schemas.
    const isOwnModel = vendorOf(bareModelName(String(sentBody['model']))) === vendors[protocol]
    const request = readBody(wholeBody, { checksSchemas: families === 'vendor' && isOwnModel })
    if (families === 'vendor') checkFamily(protocol, sentBody, version)
    checkWindow(protocol, request)
    return request
  }
}

const vendors: Readonly<Record<Protocol, ReturnType<typeof vendorOf>>> = {
  chat: 'openai',
  responses: 'openai',
  messages: 'anthropic',
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

/**
 * The known context windows by family, in tokens (models.dev in opencode 1.18.34, 2026-11-23; Haiku 5.5:
 * https://platform.claude.com/docs/es/models/haiku-5-5/overview, from an excerpt of 2026-11-28).
 */
const contextWindows: readonly (readonly [includes: (id: string) => boolean, tokens: number])[] = [
  [createModelTest('opus>=4.6 sonnet>=4.6 haiku>=5 fable mythos'), 1_000_000],
  [createModelTest('claude'), 200_000],
  [(id) => /-(mini|nano)\b/.test(id) && createModelTest('gpt>=5')(id), 400_000],
  [createModelTest('gpt>=5.4'), 1_050_000],
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
  const window = contextWindows.find(([includes]) => includes(id))?.[1]
  const tokens = countInputTokens(request)
  if (window !== undefined && tokens > window) throw windowExceeded[protocol](tokens, window)
}

const noVersion: ProtocolVersion = { version: '', betas: [] }

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
 * Reads the headers of version and betas.
 *
 * @throws RequestRejection for an invalid version or beta
 */
function readProtocolVersion(headers: RequestHeaders): ProtocolVersion {
  const version = String(headers['anthropic-version'] ?? versions[1])
  if (!versions.includes(version))
    throw new RequestRejection(`anthropic-version: "${version}" is not a valid version.`)

  const betas = String(headers['anthropic-beta'] ?? '')
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '')
  const unknown = betas.find((beta) => !betaNamePattern.test(beta))
  if (unknown !== undefined)
    throw new RequestRejection(
      `Unexpected value(s) \`${unknown}\` for the \`anthropic-beta\` header. Please consult our documentation at docs.claude.com or try again without the header.`,
    )
  return { version, betas }
}
