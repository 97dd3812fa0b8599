import type { Block, FinishReason, Utterance, WholeAnswer } from '../codecs/answer.ts'
import { splitTokens } from '../codecs/tokens.ts'
import { countInputTokens, type ModelRequest } from '../requests/model-request.ts'
import type { Usage } from '../requests/turns/turns.ts'

/** The contents of an answer. `finish` and `usage` override the values that follow from it. */
export interface Script {
  readonly utterances: readonly Utterance[]
  readonly finish?: 'stop' | 'length' | 'tool-calls' | 'refusal' | 'content-filter'
  readonly usage?: Partial<Usage>
}

/** Builds an answer from a script, and applies the limits of the request. */
export function buildAnswer(
  { utterances, finish, usage }: Script,
  request: ModelRequest,
  newCallId: () => string,
): WholeAnswer {
  const blocks: Block[] = []
  let reason: FinishReason = { type: 'stop' }
  let outputTokens = 0
  let reasoningTokens = 0

  for (const utterance of utterances) {
    const { type } = utterance
    if (type === 'call' && reason.type === 'tool-calls' && !request.isParallel) break
    const remainingTokens = (request.maxOutputTokens ?? Number.POSITIVE_INFINITY) - outputTokens
    if (remainingTokens === 0) {
      reason = { type: 'length' }
      break
    }

    const { text, sequence } = cutAtStop(utterance, request.stopSequences)
    const tokens = splitTokens({ type, text })
    const usedTokens = tokens.slice(0, remainingTokens)
    const isCut = usedTokens.length < tokens.length
    const id = type === 'call' ? newCallId() : ''
    blocks.push({ ...utterance, text: usedTokens.join(''), isCut, id })
    outputTokens += usedTokens.length
    if (type === 'thinking') reasoningTokens += usedTokens.length

    if (type === 'call') reason = { type: 'tool-calls' }
    if (type === 'text' && utterance.isRefusal) reason = { type: 'refusal' }
    if (sequence !== undefined) reason = { type: 'stop-sequence', sequence }
    if (isCut) reason = { type: 'length' }
    if (isCut || sequence !== undefined) break
  }

  const inputTokens = countInputTokens(request)

  return {
    blocks,
    reason: finish === undefined ? reason : { type: finish },
    usage: { inputTokens, cachedTokens: 0, outputTokens, reasoningTokens, ...usage },
  }
}

/** The text up to the first stop sequence, and that sequence. Only texts end at one. */
function cutAtStop(
  { type, text }: Utterance,
  sequences: readonly string[],
): { readonly text: string; readonly sequence?: string } {
  if (type !== 'text') return { text }

  let end = text.length
  let firstSequence: string | undefined
  for (const sequence of sequences) {
    const index = sequence === '' ? -1 : text.indexOf(sequence)
    if (index !== -1 && index < end) {
      end = index
      firstSequence = sequence
    }
  }
  return { text: text.slice(0, end), sequence: firstSequence }
}
