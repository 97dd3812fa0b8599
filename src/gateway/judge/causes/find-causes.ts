/**
 * Finds the cause that a rejection names. repoint reads a rejection as a careful person does: first its code,
 * which is a fixed value of one vendor. Then its sentence: which thing does it name, and what does it say
 * about the thing? "Key" and "expired" are about the key, "credits" and "used up" about the quota, "model"
 * and "not found" about the model.
 *
 * A row ({@link CauseRow}) joins one kind of thing with what gateways say about it, so that it matches
 * sentences that nobody has seen. If no row matches, subjects.ts looks whether the sentence is about one
 * thing only. If that fails too, repoint shows the gateway's words and blames nothing.
 */
import type { ErrorBody } from '../error-body.ts'
import { keyHolderRows } from './account-rows.ts'
import { gatewayRows, upstreamRows } from './gateway-rows.ts'
import { keyRows } from './key-rows.ts'
import { limitRows } from './limit-rows.ts'
import { modelRows } from './model-rows.ts'
import { paymentRows } from './payment-rows.ts'
import { type Cause, type CauseRow, noStatus } from './row.ts'
import { senderRows } from './sender-rows.ts'
import { causeOfSubject } from './subjects.ts'

/** All rows. The first one that matches counts, so the order is part of the rule. */
export const causeRows: readonly CauseRow[] = [
  ...upstreamRows,
  ...senderRows,
  // Before payment: "rate limit" and "quota limit" are both called a limit.
  ...limitRows,
  ...paymentRows,
  ...keyHolderRows,
  ...modelRows,
  ...gatewayRows,
  ...keyRows,
]

type CommonCodes = Required<Pick<CauseRow, 'cause' | 'codes'>>

/** Codes that many failures share. They count only if no row matches the sentence next to them. */
const commonCodes: readonly CommonCodes[] = [
  { cause: 'rate', codes: ['rate_limit_error', 'resource_exhausted', 'rate_limit', 'throttled'] },
  // OpenAI, also for a model that exists and is not allowed.
  { cause: 'model-unknown', codes: ['model_not_found'] },
  // Kimi Code, for other programs as well as for a plan that is used up.
  { cause: 'client', codes: ['access_terminated_error'] },
  {
    cause: 'key',
    codes: [
      'authentication_error',
      'auth_error',
      'invalid_authentication_error',
      'autherror',
      'unauthenticated',
      'unauthorized',
      'authenticationerror',
      'invalid_api_key',
      'invalid_token',
    ],
  },
]

/**
 * The causes that match the codes and words of a rejection, most likely first.
 *
 * @param model the ID of the requested model; the words may use it instead of the word "model"
 */
export function causesOf(error: ErrorBody, status: number, model = ''): readonly Cause[] {
  const rows = matchingRows(error, status, model)
  if (rows.length > 0) return [...new Set(rows.map(({ cause }) => cause))]

  const mayReadSubject = blamesRequest(status) && error.param === ''
  return mayReadSubject ? causeOfSubject(sentencesOf(error, model), status) : []
}

/** The rows that match a rejection: first those with its code, then those with its words. */
export function matchingRows(
  error: ErrorBody,
  status: number,
  model: string,
): readonly (CauseRow | CommonCodes)[] {
  const sentences = sentencesOf(error, model)
  const hasCode = ({ codes = [] }: Pick<CauseRow, 'codes'>) =>
    error.codes.some(({ name }) => codes.includes(name))
  const hasWords = ({ words }: CauseRow) => sentences.some((sentence) => words?.test(sentence))

  const rows = causeRows.filter(({ statuses }) => statuses?.includes(status) ?? true)
  return [...rows.filter(hasCode), ...rows.filter(hasWords), ...commonCodes.filter(hasCode)]
}

/** The sentences of an error. Its codes count as sentences, except those that many failures share. */
function sentencesOf({ codes, words }: ErrorBody, model: string): readonly string[] {
  const isCommon = (code: string) => commonCodes.some((row) => row.codes.includes(code))
  const preciseCodes = codes.filter(({ name }) => !isCommon(name))

  const message = withModelNamed(words, model)
  // A message may be nothing but a code: `bad_credentials`.
  const isOneWord = !/\s/.test(message)
  return [
    ...preciseCodes.map((code) => code.words),
    message,
    isOneWord ? message.replace(/[_-]+/g, ' ') : message,
  ]
}

/** Whether the status says that the request is at fault. Without a status it may be. */
function blamesRequest(status: number): boolean {
  return status === noStatus || (status >= 400 && status < 500)
}

/** The words with "model" instead of the model's ID, so that "no access to gpt-5.6-sol" is about a model. */
function withModelNamed(words: string, model: string): string {
  return model.length < 2 ? words : words.replace(idPattern(model), 'model')
}

/** A model's ID that is not part of a longer one. */
export function idPattern(model: string): RegExp {
  return new RegExp(`(?<![\\w-])${model.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-])`, 'gi')
}
