/**
 * Finds out which part of a client's request the gateway rejects: with the words of the rejection, and with
 * smaller requests. A gateway may know only some of its tools.
 */

import { asList, asObject } from '../foreign-text.ts'
import type { UnusableResponse } from '../judge/judge.ts'
import {
  parameterUnsupported,
  rejectedParts,
  rejectsLimit,
  speaksOfTools,
  toolsUnsupported,
  toolTypesUnsupported,
} from '../judge/request-parts.ts'
import type { Outcome } from '../judge/types.ts'
import type { FirstRequest, Protocol } from '../types.ts'
import { formOf, isAboutRequest, type ProbeAttempt, type ProbeInput, send } from './attempt.ts'
import type { RequestForm } from './probe-request.ts'

/** An attempt whose outcome names the rejected part of the client's request, if there may be one. */
export async function nameRejectedPart(
  input: ProbeInput,
  attempt: ProbeAttempt,
): Promise<ProbeAttempt> {
  if (attempt.kind !== 'unusable') return attempt

  const { sender } = input
  const mayBlameClient =
    sender !== undefined &&
    (rejectedParts(attempt.response, sender).length > 0 || isAboutRequest(attempt))
  if (!speaksOfTools(attempt.outcome) && !mayBlameClient) return attempt
  return { ...attempt, outcome: await searchPart(input, attempt.baseUrl, attempt) }
}

/**
 * Searches the rejected part with smaller requests, as far as the limit allows. The first row that applies
 * decides. If the gateway does not serve a minimal request either, the outcome stays as it is.
 *
 *     sender      the gateway rejects             the outcome names
 *     none        any part                        the tools
 *     a client    a part that its words name      that part
 *     a client    the functions                   the tools
 *     a client    the tools of unusual types      their types
 *     a client    none of these                   the other parts
 */
async function searchPart(
  input: ProbeInput,
  baseUrl: string,
  { response, outcome }: UnusableResponse,
): Promise<Outcome> {
  const { protocol, model, sender, searches } = input
  const isLimited = !rejectsLimit(response)
  const serves = async (more: Partial<RequestForm>): Promise<boolean> => {
    if (searches.left <= 0) return false
    searches.left--
    const judged = await send(input, baseUrl, formOf(input, { isLimited, ...more }))
    return judged.kind === 'served'
  }
  const servesMinimal = () => serves({})

  if (sender === undefined)
    return (await servesMinimal()) ? toolsUnsupported(outcome, model) : outcome

  const rejected = rejectedParts(response, sender)
  if (rejected.some((name) => name !== 'tools'))
    return (await servesMinimal())
      ? parameterUnsupported(outcome, model, sender, rejected)
      : outcome

  const { functions, unusual } = splitTools(protocol, sender)
  const namesTools = speaksOfTools(outcome)
  const rejectsFunctions = namesTools && unusual.length === 0
  const tools = functions.length > 0 ? functions : 'noop'
  if (rejectsFunctions || !(await serves({ tools })))
    return (await servesMinimal()) ? toolsUnsupported(outcome, model) : outcome

  const rejectsUnusualTools =
    namesTools ||
    (unusual.length > 0 && (await serves({ clientRequest: withFunctionsOnly(protocol, sender) })))
  return rejectsUnusualTools
    ? toolTypesUnsupported(outcome, model, sender, unusual)
    : parameterUnsupported(outcome, model, sender, rejected)
}

/** The members of a tool that every gateway knows. Chat keeps all but the type in `function`. */
const usualMembers: Readonly<Record<Protocol, readonly string[]>> = {
  chat: ['type', 'function'],
  responses: ['type', 'name', 'description', 'parameters', 'strict'],
  messages: ['type', 'name', 'description', 'input_schema', 'cache_control'],
}

/** Why a gateway may not know a tool: its type, or a member. Undefined: it is a function. */
function unusualPartOf(protocol: Protocol, tool: unknown): string | undefined {
  const members = asObject(tool) ?? {}
  const usualType = protocol === 'messages' ? 'custom' : 'function'
  const { type = usualType } = members
  if (type !== usualType) return String(type)
  return Object.keys(members).find((name) => !usualMembers[protocol].includes(name))
}

/** The functions among the client's tools, and the parts of the others that a gateway may not know. */
function splitTools(protocol: Protocol, { body }: FirstRequest) {
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
function withFunctionsOnly(protocol: Protocol, request: FirstRequest): FirstRequest {
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
