/** Which header a rejection asks for, in addition to the key. */
import type { ErrorBody } from './error-body.ts'
import { type Evidence, hundredsOf } from './evidence.ts'
import { headerMissing } from './outcomes.ts'
import type { Outcome } from './types.ts'

/** The outcome if the gateway asks for a header that repoint does not send. */
export function diagnoseMissingHeader(evidence: Evidence): Outcome | undefined {
  const { response, error, status } = evidence
  if (hundredsOf(status) !== 4 || error.kind === 'page') return undefined
  const header = wantedHeader(error, response.body)
  return header === undefined ? undefined : headerMissing(evidence, header)
}

/** Required headers that the sentence does not name. */
const unnamedHeaders: readonly {
  readonly words?: RegExp
  readonly codes?: readonly string[]
  readonly header: string
  readonly source: string
}[] = [
  {
    words: /^no api key found in request\b/i,
    header: 'apikey',
    source: 'https://developer.konghq.com/plugins/key-auth/ (2026-11-23)',
  },
  {
    words: /\bmissing subscription key\b/i,
    header: 'ocp-apim-subscription-key',
    source: 'https://github.com/continuedev/continue/issues/4601 (2025-03)',
  },
  {
    codes: ['2009'],
    header: 'cf-aig-authorization',
    source:
      'https://developers.cloudflare.com/ai-gateway/configuration/authentication/ (2026-11-24)',
  },
]

/** Headers that contain a key, and headers that repoint sends with every request. */
const sentHeaders =
  /^(?:x-api-key|api-key|x-goog-api-key|content-\w+|accept(?:-\w+)?|user-agent|set-\w+)$/

/** Words with a hyphen that are not headers. */
const hyphenatedWord =
  /^(?:(?:re|non|pre|multi|sub|up|opt|e|third|end|real|long|short|pay|top|old|new|api|sign|log|gpt|claude|per)-.*|.*-(?:only|in|up|out|based|level|specific|authentication))$/i

/** A word that may be the name of a header. */
const headerName = /(?<![\w/.@-])(?:x-[a-z][\w-]*|[a-z]+(?:-[a-z]+)+)(?![\w/@])/gi

/** What surrounds the name of a header: "the **header named** x-team", "x-team **request header**". */
const headerBefore = /(?:\bheaders?|请求头)\s*(?:named\s*)?:?\s*["'`]?$/i
const headerAfter = /^["'`]?:?\s*(?:(?:request|http)\s+)?(?:header\b|请求头)/i

/** Whether a sentence says that something is missing. */
const saysMissing =
  /\b(?:missing|requir\w+|must|provided?|includ\w+|set|send|sent|suppl(?:y|ied)|specif\w+|expected|contain\w*|absent|add|needs?|mandatory|not (?:found|present)|empty)\b|缺少|缺失|必须|需要|未提供|未携带|请提供|请携带|不能为空/i

/** The header that a rejection asks for, in lower case. */
function wantedHeader(error: ErrorBody, body: string): string | undefined {
  const { words, codes } = error
  const unnamed = unnamedHeaders.find(
    (row) => row.words?.test(words) || codes.some(({ name }) => row.codes?.includes(name)),
  )
  if (unnamed !== undefined) return unnamed.header

  // FastAPI names the place of what is missing.
  const placed = /"loc"\s*:\s*\[\s*"header"\s*,\s*"([\w-]{1,60})"/.exec(body)?.[1]
  if (placed !== undefined) return isForeign(placed) ? placed.toLowerCase() : undefined
  if (!saysMissing.test(words)) return undefined

  const candidates = [...words.matchAll(headerName)].filter(([name]) => isForeign(name))
  const wanted =
    candidates.find(({ 0: name, index }) => isCalledHeader(words, index, name)) ??
    candidates.find(([name]) => /^(?:x|cf)-/i.test(name))
  return wanted?.[0].toLowerCase()
}

/** Whether a word can be a header that repoint does not send. */
function isForeign(name: string): boolean {
  return !sentHeaders.test(name.toLowerCase()) && !hyphenatedWord.test(name)
}

function isCalledHeader(words: string, index: number, name: string): boolean {
  const end = index + name.length
  return (
    headerBefore.test(words.slice(Math.max(0, index - 30), index)) ||
    headerAfter.test(words.slice(end, end + 30))
  )
}
