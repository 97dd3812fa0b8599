import { messages } from '../codecs/messages.ts'
import { asList, isMissing, isObject, type JsonObject } from '../requests/json.ts'
import { RequestRejection } from '../requests/rejection.ts'
import { RecentAnswers, type StoredAnswer } from './recent-answers.ts'

/** The members that a thread takes from its first request. */
const creationMembers = ['system', 'tools']

/**
 * The message threads of the beta `message-threads-2026-08-12`: `thread: {type: "create"}`, then
 * `{type: "continue", previous_message_id}` with only the new turns, as the tool runner of
 * @anthropic-ai/sdk 1.12.0 sends them (2026-11-23).
 */
export class MessageThreads {
  readonly #answers = new RecentAnswers()

  add(answer: StoredAnswer): void {
    this.#answers.add(`msg_${answer.facts.id}`, answer)
  }

  /**
   * The request with the earlier turns of its thread. Undefined if it belongs to no thread.
   *
   * @throws RequestRejection
   */
  wholeRequest(body: JsonObject): JsonObject | undefined {
    const { thread } = body
    if (isMissing(thread)) return undefined
    const type = isObject(thread) ? thread['type'] : undefined
    if (type === 'create') return body
    if (type !== 'continue')
      throw new RequestRejection("thread.type: Input should be 'create' or 'continue'", {
        param: 'thread',
      })

    const id = String((thread as JsonObject)['previous_message_id'])
    const previous = this.#answers.find(id)
    if (previous === undefined)
      throw new RequestRejection(`thread: message ${id} not found`, {
        param: 'thread',
        code: 'thread_not_found',
        status: 404,
      })
    const repeated = creationMembers.find((name) => body[name] !== undefined)
    if (repeated !== undefined)
      throw new RequestRejection(`${repeated}: a thread keeps what it was created with`, {
        param: repeated,
      })
    if (!Array.isArray(body['messages'])) return body

    const { body: previousBody, facts, answer } = previous
    const { role, content } = messages.document(previousBody, facts, answer) as JsonObject
    const inherited = creationMembers.filter((name) => previousBody[name] !== undefined)

    return {
      ...body,
      ...Object.fromEntries(inherited.map((name) => [name, previousBody[name]])),
      messages: [...asList(previousBody['messages']), { role, content }, ...body['messages']],
    }
  }
}
