import type { Protocol } from '../../protocols.ts'
import { checkBody } from './checks/check-body.ts'
import { createCombinationChecks } from './checks/combinations.ts'
import { readProtocolVersion } from './checks/version.ts'
import { checkWindow } from './checks/window.ts'
import type { JsonObject } from './json.ts'
import { InvalidRequest, type ModelRequest, type RequestContext } from './model-request.ts'

/**
 * Creates the function that reads the bodies of a protocol: the checks that the protocols share, with
 * `read` for the rest.
 */
export function createReader(protocol: Protocol, read: (body: JsonObject) => ModelRequest) {
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

    const request = read(body)
    if (families === 'vendor') checkFamily(sent)
    checkWindow(protocol, request)
    return request
  }
}

/** Checks what the service itself requires. */
function requireConversation(protocol: Protocol, { messages, input }: JsonObject): void {
  if (protocol === 'responses' && (input === undefined || input === null))
    throw new InvalidRequest('input is required')
  const isEmpty = Array.isArray(messages) && messages.length === 0
  if (protocol !== 'responses' && (messages === undefined || messages === null || isEmpty))
    throw new InvalidRequest('field messages is required')
}
