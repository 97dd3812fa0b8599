import type { WholeAnswer } from '../codecs/answer.ts'
import type { AnswerFacts } from '../codecs/codec.ts'
import type { JsonObject } from '../requests/json.ts'

/** The limits for the stored answers, and for the characters of their requests. The oldest are dropped first. */
const maxAnswers = 500
const maxCharacters = 16 * 1024 * 1024

/** An answer that a later request can continue. */
export interface StoredAnswer {
  readonly facts: AnswerFacts
  /** For messages: the body with the earlier conversation. */
  readonly body: JsonObject
  /** For responses: the input with the earlier conversation. */
  readonly input: unknown
  readonly answer: WholeAnswer
  /** The size of the request, in characters. */
  readonly size: number
}

/** The newest answers by ID. */
export class RecentAnswers {
  readonly #byId = new Map<string, StoredAnswer>()
  #characters = 0

  add(id: string, answer: StoredAnswer): void {
    this.#byId.set(id, answer)
    this.#characters += answer.size
    for (const oldest of this.#byId.keys()) {
      if (this.#byId.size <= maxAnswers && this.#characters <= maxCharacters) break
      this.delete(oldest)
    }
  }

  find(id: string): StoredAnswer | undefined {
    return this.#byId.get(id)
  }

  /** Returns whether the answer existed. */
  delete(id: string): boolean {
    this.#characters -= this.#byId.get(id)?.size ?? 0
    return this.#byId.delete(id)
  }
}
