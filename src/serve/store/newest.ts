/** As many answers are kept, and of as many characters of requests; the oldest go first. */
const mostKept = 500
const mostCharacters = 16 * 1024 * 1024

/** The newest answers by their ids. `size` is that of the request, in characters. */
export class NewestAnswers<Answer extends { readonly size: number }> {
  readonly #byId = new Map<string, Answer>()
  #characters = 0

  keep(id: string, answer: Answer): void {
    this.#byId.set(id, answer)
    this.#characters += answer.size
    for (const oldest of this.#byId.keys()) {
      if (this.#byId.size <= mostKept && this.#characters <= mostCharacters) break
      this.forget(oldest)
    }
  }

  find(id: string): Answer | undefined {
    return this.#byId.get(id)
  }

  /** Returns whether it was there. */
  forget(id: string): boolean {
    this.#characters -= this.#byId.get(id)?.size ?? 0
    return this.#byId.delete(id)
  }
}
