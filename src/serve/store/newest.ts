import type { WholeAnswer } from '../codecs/answer.ts'
import type { AnswerFacts } from '../codecs/codec.ts'
import type { JsonObject } from '../requests/read.ts'

/** As many answers are kept, and of as many characters of requests; the oldest go first. */
const maxAnswers = 500
const maxCharacters = 16 * 1024 * 1024

/** An answer that was given, as far as a later request can go on from it. */
export interface SentAnswer {
  readonly facts: AnswerFacts
  /** Of messages: with what came before. */
  readonly body: JsonObject
  /** Of responses: with what came before. */
  readonly input: unknown
  readonly answer: WholeAnswer
  /** Of the request, in characters. */
  readonly size: number
}

/** The newest answers by their ids. */
export class RecentAnswers {
  readonly #byId = new Map<string, SentAnswer>()
  #characters = 0

  keep(id: string, answer: SentAnswer): void {
    this.#byId.set(id, answer)
    this.#characters += answer.size
    for (const oldest of this.#byId.keys()) {
      if (this.#byId.size <= maxAnswers && this.#characters <= maxCharacters) break
      this.forget(oldest)
    }
  }

  find(id: string): SentAnswer | undefined {
    return this.#byId.get(id)
  }

  /** Returns whether it was there. */
  forget(id: string): boolean {
    this.#characters -= this.#byId.get(id)?.size ?? 0
    return this.#byId.delete(id)
  }
}
