import { messages } from '../codecs/messages.ts'
import { asList, isObject, type JsonObject } from '../requests/json.ts'
import { Refusal } from '../requests/refusal.ts'
import { RecentAnswers, type SentAnswer } from './recent-answers.ts'

/** The members that a thread keeps from its first request. */
const creationMembers = ['system', 'tools']

/**
 * The message threads of the beta `message-threads-2026-08-12`: `thread: {type: "create"}`, then
 * `{type: "continue", previous_message_id}` with only the new turns, as the tool runner of
 * @anthropic-ai/sdk 1.12.0 sends them (2026-11-23).
 */
export class MessageThreads {
  readonly #answers = new RecentAnswers()

  keep(answer: SentAnswer): void {
    this.#answers.keep(`msg_${answer.facts.id}`, answer)
  }

  /**
   * The request with the earlier turns of its thread. Undefined if it belongs to no thread.
   *
   * @throws Refusal
   */
  wholeRequest({ thread, ...asked }: JsonObject): JsonObject | undefined {
    if (thread === undefined || thread === null) return undefined
    const type = isObject(thread) ? thread['type'] : undefined
    if (type === 'create') return asked
    if (type !== 'continue')
      throw new Refusal("thread.type: Input should be 'create' or 'continue'", 'thread')

    const id = String((thread as JsonObject)['previous_message_id'])
    const before = this.#answers.find(id)
    if (before === undefined)
      throw new Refusal(`thread: message ${id} not found`, 'thread', 'thread_not_found', 404)
    const repeated = creationMembers.find((name) => asked[name] !== undefined)
    if (repeated !== undefined)
      throw new Refusal(`${repeated}: a thread keeps what it was created with`, repeated)
    if (!Array.isArray(asked['messages'])) return asked

    const { body, facts, answer } = before
    const { role, content } = messages.document(body, facts, answer) as JsonObject
    const kept = creationMembers.filter((name) => body[name] !== undefined)

    return {
      ...asked,
      ...Object.fromEntries(kept.map((name) => [name, body[name]])),
      messages: [...asList(body['messages']), { role, content }, ...asked['messages']],
    }
  }
}
