/** The tools in a client's request, as far as a gateway may reject some of them. */
import { asList, asObject } from '../foreign-text.ts'
import type { FirstRequest, Protocol } from '../types.ts'

/** The members of a tool that every gateway knows. Chat keeps all but the type in `function`. */
const usualMembers: Readonly<Record<Protocol, readonly string[]>> = {
  chat: ['type', 'function'],
  responses: ['type', 'name', 'description', 'parameters', 'strict'],
  messages: ['type', 'name', 'description', 'input_schema', 'cache_control'],
}

/** Why a gateway may not know a tool: its type, or a member. Undefined: it is a function. */
export function unusualPartOf(protocol: Protocol, tool: unknown): string | undefined {
  const members = asObject(tool) ?? {}
  const usualType = protocol === 'messages' ? 'custom' : 'function'
  const { type = usualType } = members
  if (type !== usualType) return String(type)
  return Object.keys(members).find((name) => !usualMembers[protocol].includes(name))
}

/** The functions among the client's tools, and the parts of the others that a gateway may not know. */
export function splitTools(protocol: Protocol, { body }: FirstRequest) {
  const tools = asList(body['tools'])
  const inInput = asList(body['input']).filter(offersTools)
  const parts = [
    ...tools.map((tool) => unusualPartOf(protocol, tool)),
    ...inInput.map((item) => String(asObject(item)?.['type'])),
  ]
  return {
    functions: tools.filter((tool) => unusualPartOf(protocol, tool) === undefined),
    unusual: [...new Set(parts.filter((part): part is string => part !== undefined))],
  }
}

/** The client's request with its functions only. */
export function withFunctionsOnly(protocol: Protocol, request: FirstRequest): FirstRequest {
  const { tools, input, ...body } = request.body
  const { functions } = splitTools(protocol, request)
  return {
    ...request,
    body: {
      ...body,
      ...(functions.length > 0 && { tools: functions }),
      ...(Array.isArray(input) && {
        input: input.filter((item) => !offersTools(item)),
      }),
    },
  }
}

/** An item of the input can contain tools, instead of the request's own list. */
function offersTools(item: unknown): boolean {
  return Array.isArray(asObject(item)?.['tools'])
}
