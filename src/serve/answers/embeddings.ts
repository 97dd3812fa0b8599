import { failures } from '../codecs/failure.ts'
import { isReachable, type ServedModels } from '../model/catalog.ts'
import { asObject, asString, type JsonObject, jsonIn } from '../requests/read.ts'
import { openaiWords, Refusal } from '../requests/refusal.ts'
import { type Faults, faultFailure } from '../settings/faults.ts'
import { settled } from './decide.ts'

/** How long the vectors of the vendor's models are; only those of the third generation can be shorter. */
const lengths: Readonly<Record<string, number>> = {
  'text-embedding-3-small': 1536,
  'text-embedding-3-large': 3072,
  'text-embedding-ada-002': 1536,
}

/** Of a model that is not in the table. */
const usualLength = 1536

/** Inputs in one request, as at the vendor. */
const mostInputs = 2048

/** POST /v1/embeddings, in the order of checks of the other protocols. */
export function embed(catalog: ServedModels, faults: Faults, text: string) {
  const sent = jsonIn(text)
  const body = asObject(sent)
  const model = asString(body['model'])
  const fault = faults.strike({ route: 'embeddings', model }, text)
  const asked = fault && faultFailure(fault, { route: 'embeddings', model })
  const answer = () => {
    if (asked !== undefined) return asked
    if (sent === undefined) return failures.notJson()
    if (!model) return failures.noModelNamed()
    const entry = catalog.resolve(model)
    if (entry === undefined) return failures.unknownModel(model)
    if (!isReachable(entry, 'embeddings')) return failures.protocolUnsupported()
    return answerTo(body, entry.id)
  }

  const result = settled(answer)
  return { model, fault, result: result instanceof Refusal ? failures.refused(result) : result }
}

/** @throws Refusal */
function answerTo(body: JsonObject, model: string) {
  const inputs = inputsIn(body['input'])
  const length = lengthFor(body['dimensions'], model)
  const format = body['encoding_format'] ?? 'float'
  if (format !== 'float' && format !== 'base64')
    throw openaiWords.notAChoice(['encoding_format'], ['float', 'base64'], format)

  const vectors = inputs.map((words) => vectorOf(words, length))
  const tokens = inputs.reduce((sum, words) => sum + words.length, 0)
  const inFormat = (vector: Float32Array) =>
    format === 'float' ? [...vector] : Buffer.from(vector.buffer).toString('base64')

  return {
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: inFormat(vector),
    })),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}

/** The words, or the tokens, of each input. */
function inputsIn(input: unknown): readonly (readonly (string | number)[])[] {
  const isTokens = (value: unknown) =>
    Array.isArray(value) && value.length > 0 && value.every(Number.isSafeInteger)
  if (input === undefined || input === null) throw openaiWords.missing(['input'])
  const inputs = Array.isArray(input) && !isTokens(input) ? input : [input]
  if (inputs.length === 0 || inputs.length > mostInputs)
    throw new Refusal(`Invalid 'input': 1 to ${mostInputs} inputs are taken at once.`, 'input')

  return inputs.map((one) => {
    if (isTokens(one)) return one
    if (typeof one === 'string' && one !== '')
      return one.toLowerCase().match(/[\p{L}\p{N}]+|[^\p{L}\p{N}\s]/gu) ?? [one]
    throw new Refusal(
      "Invalid 'input': texts or tokens are taken, and none that is empty.",
      'input',
    )
  })
}

function lengthFor(asked: unknown, model: string): number {
  const most = lengths[model] ?? usualLength
  if (asked === undefined || asked === null) return most
  if (!Number.isInteger(asked))
    throw openaiWords.wrongKind(['dimensions'], { kind: 'integer' }, asked)
  const length = asked as number
  if (model === 'text-embedding-ada-002')
    throw new Refusal('This model does not support specifying dimensions.', 'dimensions')
  if (length >= 1 && length <= most) return length
  throw new Refusal(`Invalid 'dimensions': ${model} has 1 to ${most}.`, 'dimensions')
}

/** Places in a vector that one word changes. */
const placesOfWord = 8

/**
 * A vector of length 1 that depends on the words alone: texts that share words lie near each other, so
 * that a search finds what it should.
 */
function vectorOf(words: readonly (string | number)[], length: number): Float32Array {
  const vector = new Float32Array(length)
  for (const word of words) {
    // FNV-1a, and xorshift from there.
    let state = 0x811c9dc5
    for (const letter of String(word)) state = Math.imul(state ^ letter.codePointAt(0)!, 0x01000193)
    for (let place = 0; place < placesOfWord; place++) {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      vector[(state >>> 1) % length]! += state & 1 ? 1 : -1
    }
  }

  const size = Math.hypot(...vector)
  // Words can cancel each other out.
  if (size === 0) vector[0] = 1
  return size === 0 ? vector : vector.map((value) => value / size)
}
