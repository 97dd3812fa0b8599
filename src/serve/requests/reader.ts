/**
 * How a body becomes a `ModelRequest`: `checks/` has the checks that the protocols share, with the rules in
 * `data/`; `chat-request.ts`, `messages-request.ts` and `responses-request.ts` check and read what is
 * particular to a protocol; `turns/` reads the conversation. A check throws the vendor's error, a `Refusal`.
 */
import type { Protocol } from '../../protocols.ts'
import { checkBody } from './checks/check-body.ts'
import { createCombinationChecks } from './checks/combinations.ts'
import { readProtocolVersion } from './checks/version.ts'
import { checkWindow } from './checks/window.ts'
import { isMissing, type JsonObject } from './json.ts'
import { InvalidRequest, type ModelRequest, type RequestContext } from './model-request.ts'

/**
 * Creates the function that reads the bodies of a protocol. It runs the shared checks before and after
 * `readBody`.
 */
export function createReader(protocol: Protocol, readBody: (body: JsonObject) => ModelRequest) {
  const { checkFirst, checkGeneral, checkFamily } = createCombinationChecks(protocol)

  /** @throws InvalidRequest, Refusal */
  return (sent: JsonObject, context: RequestContext = {}): ModelRequest => {
    const { input, headers = {}, families = 'vendor' } = context
    const body = input === undefined ? sent : { ...sent, input }
    requireConversation(protocol, body)

    checkFirst(sent)
    checkBody(protocol, sent)
    const version = protocol === 'messages' ? readProtocolVersion(headers) : ''
    checkGeneral(body, version)

    const request = readBody(body)
    if (families === 'vendor') checkFamily(sent)
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
