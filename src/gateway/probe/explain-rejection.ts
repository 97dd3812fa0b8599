/**
 * Finds out which part of a client's request the gateway rejects: with the words of the rejection, and with
 * smaller requests.
 */

import type { Rejection } from '../ask.ts'
import {
  parameterUnsupported,
  rejectedParts,
  rejectsLimit,
  speaksOfTools,
  toolsUnsupported,
  toolTypesUnsupported,
} from '../judge/request-parts.ts'
import type { Outcome } from '../judge/types.ts'
import { formOf, isAboutRequest, type ProbeAttempt, type ProbeInput, send } from './attempt.ts'
import type { RequestForm } from './probe-request.ts'
import { splitTools, withFunctionsOnly } from './request-tools.ts'

/** An attempt whose outcome names the rejected part of the client's request, if there may be one. */
export async function explainRejection(
  input: ProbeInput,
  attempt: ProbeAttempt,
): Promise<ProbeAttempt> {
  if (attempt.kind !== 'rejected') return attempt

  const { sender } = input
  const mayBlameClient =
    sender !== undefined &&
    (rejectedParts(attempt.response, sender).length > 0 || isAboutRequest(attempt))
  if (!speaksOfTools(attempt.outcome) && !mayBlameClient) return attempt
  return { ...attempt, outcome: await searchPart(input, attempt.baseUrl, attempt) }
}

/**
 * Searches the rejected part with smaller requests, as far as the limit allows. If the gateway serves a
 * minimal request, it rejects a part of the client's request: the part that the gateway names, else the
 * tools, else the tools of unusual types, else the other parts.
 */
async function searchPart(
  input: ProbeInput,
  baseUrl: string,
  { response, outcome }: Rejection,
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
