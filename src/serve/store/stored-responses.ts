import { responses } from '../codecs/responses.ts'
import { asList, isObject, type JsonObject } from '../requests/json.ts'
import { Refusal } from '../requests/refusal.ts'
import { inputItems } from '../requests/responses-request.ts'
import { RecentAnswers, type SentAnswer } from './recent-answers.ts'

/** The answers of responses that later requests can continue. */
export class StoredResponses {
  readonly #answers = new RecentAnswers()

  keep(answer: SentAnswer): void {
    this.#answers.keep(`resp_${answer.facts.id}`, answer)
  }

  /** The document of a stored answer. */
  find(id: string): JsonObject | undefined {
    const given = this.#answers.find(id)
    return given && (responses.document(given.body, given.facts, given.answer) as JsonObject)
  }

  /** The input of a stored answer. Each item has an ID. */
  inputOf(id: string, query: URLSearchParams): object | undefined {
    const given = this.#answers.find(id)
    const items = inputItems(given?.input).map((item, at) =>
      itemWithId(item, `${id.slice(5)}_${at}`),
    )
    return given && listPage(items, query)
  }

  delete(id: string): object | undefined {
    return this.#answers.forget(id) ? { id, object: 'response', deleted: true } : undefined
  }

  /**
   * The whole input of a request: the conversation that it continues, and its own input with references
   * replaced by the stored items.
   *
   * @throws Refusal if a response or an item is not stored (any more)
   */
  wholeInput({ input, previous_response_id: previous }: JsonObject): unknown {
    if (typeof previous !== 'string') return this.#resolveReferences(input)
    const before = this.#answers.find(previous)
    if (before === undefined)
      throw new Refusal(
        `Previous response with id '${previous}' not found.`,
        'previous_response_id',
        'previous_response_not_found',
      )
    if (input === undefined || input === null) return input
    const said = asList(this.find(previous)!['output'])
    return [...inputItems(before.input), ...said, ...inputItems(this.#resolveReferences(input))]
  }

  #resolveReferences(input: unknown): unknown {
    if (!Array.isArray(input) || !input.some(isReference)) return input
    return input.map((item) => (isReference(item) ? this.#resolveItem(item) : item))
  }

  #resolveItem(item: JsonObject): unknown {
    const { type, id, encrypted_content: sealed } = item
    const found = this.#findItem(String(id))
    if (type === 'item_reference') {
      if (found === undefined) throw itemNotFound(`Item with id '${String(id)}' not found.`)
      return found
    }
    if (typeof sealed === 'string' || typeof id !== 'string' || found !== undefined) return item
    throw itemNotFound(
      `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    )
  }

  /** The ID of an item contains the ID of its answer. */
  #findItem(id: string): unknown {
    const answer = /^[a-z]+_([A-Za-z0-9]{24})\d+$/.exec(id)?.[1]
    const document = answer === undefined ? undefined : this.find(`resp_${answer}`)
    return asList(document?.['output']).find((item) => isObject(item) && item['id'] === id)
  }
}

function isReference(item: unknown): item is JsonObject {
  return isObject(item) && (item['type'] === 'item_reference' || item['type'] === 'reasoning')
}

function itemNotFound(message: string): Refusal {
  return new Refusal(message, 'input', null, 404)
}

function itemWithId(item: JsonObject, id: string): JsonObject {
  const { type = 'message', content } = item
  const isText = type === 'message' && typeof content === 'string'
  return {
    id: `${type === 'message' ? 'msg' : 'item'}_${id}`,
    type,
    ...item,
    ...(isText ? { content: [{ type: 'input_text', text: content }] } : {}),
    ...(type === 'message' ? { status: 'completed' } : {}),
  }
}

/** A page of a list. The newest items are first, unless the query sets another order. */
function listPage(items: readonly JsonObject[], query: URLSearchParams): object {
  const ordered = query.get('order') === 'asc' ? items : items.toReversed()
  const after = query.get('after')
  const start = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1
  const limit = Math.min(100, Math.max(1, Number(query.get('limit') ?? 20) || 20))

  const data = ordered.slice(start, start + limit)

  return {
    object: 'list',
    data,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: start + limit < ordered.length,
  }
}
