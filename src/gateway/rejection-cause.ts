/** Finds out which part of a client's request is the cause of a rejection. */
import { type Attempt, formOf, isAboutRequest, type ProbeInput, send } from './attempt.ts'
import type { HttpAnswer, Outcome } from './judge/answer.ts'
import {
  parameterUnsupported,
  refusedIn,
  refusesLimit,
  speaksOfTools,
  toolsUnsupported,
  toolTypesUnsupported,
} from './judge/carried.ts'
import type { QuestionForm } from './question.ts'
import { splitTools, withFunctionsOnly } from './request-tools.ts'

/** A rejection by an API. */
interface Refusal extends Attempt {
  readonly result: HttpAnswer
  readonly outcome: Outcome
}

/** An attempt whose outcome names the cause, if a part of the client's request may be the cause. */
export async function withCause(input: ProbeInput, attempt: Attempt): Promise<Attempt> {
  const { root, result, outcome } = attempt
  if (outcome === undefined || !('status' in result)) return attempt

  const { sender } = input
  const mayBlameClient =
    sender !== undefined &&
    (refusedIn(result, sender).length > 0 || isAboutRequest(result, outcome))
  if (!speaksOfTools(outcome) && !mayBlameClient) return attempt
  return { ...attempt, outcome: await searchCause(input, { root, result, outcome }) }
}

/**
 * Searches the cause of a rejection with smaller requests, as far as the limit allows. If the gateway serves
 * a minimal request, a part of the client's request is the cause: the part that the gateway names, else the
 * tools, else the tools of unusual types, else the other parts.
 */
async function searchCause(
  input: ProbeInput,
  { root, result: rejection, outcome }: Refusal,
): Promise<Outcome> {
  const { protocol, model, sender, searches } = input
  const isLimited = !refusesLimit(rejection)
  const serves = async (more: Partial<QuestionForm>) => {
    if (searches.left <= 0) return false
    searches.left--
    const answer = await send(input, root, formOf(input, { isLimited, ...more }))
    return answer.outcome === undefined
  }

  const servesMinimal = () => serves({})

  if (sender === undefined)
    return (await servesMinimal()) ? toolsUnsupported(outcome, model) : outcome
  const refused = refusedIn(rejection, sender)
  if (refused.some((name) => name !== 'tools'))
    return (await servesMinimal()) ? parameterUnsupported(outcome, model, sender, refused) : outcome

  const { functions, unusual } = splitTools(protocol, sender)
  const namesTools = speaksOfTools(outcome)
  const rejectsFunctions = namesTools && unusual.length === 0
  const tools = functions.length > 0 ? functions : 'one'
  if (rejectsFunctions || !(await serves({ tools })))
    return (await servesMinimal()) ? toolsUnsupported(outcome, model) : outcome

  const rejectsUnusual =
    namesTools ||
    (unusual.length > 0 && (await serves({ carried: withFunctionsOnly(protocol, sender) })))
  return rejectsUnusual
    ? toolTypesUnsupported(outcome, model, sender, unusual)
    : parameterUnsupported(outcome, model, sender, refused)
}
