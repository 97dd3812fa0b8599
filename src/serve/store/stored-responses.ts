import { responses } from '../codecs/responses.ts'
import { asList, isMissing, isObject, type JsonObject } from '../requests/json.ts'
import { RequestRejection } from '../requests/rejection.ts'
import { inputItems } from '../requests/responses-request.ts'
import { RecentAnswers, type StoredAnswer } from './recent-answers.ts'

/** The answers of responses that later requests can continue. */
export class StoredResponses {
  readonly #answers = new RecentAnswers()

  add(answer: StoredAnswer): void {
    this.#answers.add(`resp_${answer.facts.id}`, answer)
  }

  find(id: string): JsonObject | undefined {
    const storedAnswer = this.#answers.find(id)
    if (storedAnswer === undefined) return undefined
    const { body, facts, answer } = storedAnswer
    return responses.document(body, facts, answer) as JsonObject
  }

  /** The input of a stored answer. Each item has an ID. */
  inputOf(id: string, query: URLSearchParams): object | undefined {
    const storedAnswer = this.#answers.find(id)
    if (storedAnswer === undefined) return undefined
    const answerId = id.slice('resp_'.length)
    const items = inputItems(storedAnswer.input).map((item, index) =>
      itemWithId(item, `${answerId}_${index}`),
    )
    return listPage(items, query)
  }

  delete(id: string): object | undefined {
    return this.#answers.delete(id) ? { id, object: 'response', deleted: true } : undefined
  }

  /**
   * The whole input of a request: the conversation that it continues, then the input that it sends, with
   * references replaced by the stored items.
   *
   * @throws RequestRejection if a response or an item is not stored (any more)
   */
  wholeInput({ input, previous_response_id: previousId }: JsonObject): unknown {
    if (typeof previousId !== 'string') return this.#resolveReferences(input)
    const previous = this.#answers.find(previousId)
    if (previous === undefined)
      throw new RequestRejection(`Previous response with id '${previousId}' not found.`, {
        param: 'previous_response_id',
        code: 'previous_response_not_found',
      })
    if (isMissing(input)) return input

    const output = asList(this.find(previousId)!['output'])
    const newItems = inputItems(this.#resolveReferences(input))
    return [...inputItems(previous.input), ...output, ...newItems]
  }

  #resolveReferences(input: unknown): unknown {
    if (!Array.isArray(input) || !input.some(isReference)) return input
    return input.map((item) => (isReference(item) ? this.#resolveItem(item) : item))
  }

  #resolveItem(item: JsonObject): unknown {
    const { type, id, encrypted_content: seal } = item
    const storedItem = this.#findItem(String(id))
    if (type === 'item_reference') {
      if (storedItem === undefined) throw itemNotFound(`Item with id '${String(id)}' not found.`)
      return storedItem
    }

    // A thought without its text must be stored here.
    if (typeof seal === 'string' || typeof id !== 'string' || storedItem !== undefined) return item
    throw itemNotFound(
      `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    )
  }

  /** The ID of an item contains the ID of its answer. */
  #findItem(id: string): unknown {
    const answerId = /^[a-z]+_([A-Za-z0-9]{24})\d+$/.exec(id)?.[1]
    const document = answerId === undefined ? undefined : this.find(`resp_${answerId}`)
    return asList(document?.['output']).find((item) => isObject(item) && item['id'] === id)
  }
}

function isReference(item: unknown): item is JsonObject {
  return isObject(item) && (item['type'] === 'item_reference' || item['type'] === 'reasoning')
}

function itemNotFound(message: string): RequestRejection {
  return new RequestRejection(message, { param: 'input', status: 404 })
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

/** A page of a list. The newest items are first, unless the query sets a different order. */
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
