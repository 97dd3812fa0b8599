/** The base URLs of a gateway that have answered. All of them must fit into one saved gateway. */
import { UserError } from '../errors.ts'
import type { Outcome } from './judge/types.ts'
import type { BaseUrls, KeyHeader, Protocol } from './types.ts'

/** A base URL that answered. */
interface AnsweredBaseUrl {
  readonly side: keyof BaseUrls
  readonly baseUrl: string
  /** The probe that it answered. Absent: it answered the catalog request, or the user named it. */
  readonly probe?: { readonly protocol: Protocol; readonly keyHeader: KeyHeader }
}

export class AnsweredBaseUrls {
  #answers: readonly AnsweredBaseUrl[] = []

  at(side: keyof BaseUrls): string | undefined {
    return this.#answers.find((answer) => answer.side === side)?.baseUrl
  }

  /** @throws Contradiction if the answer and an earlier one need different settings */
  remember(answer: AnsweredBaseUrl): void {
    const contradiction = this.#answers
      .map((earlier) => contradictionBetween(earlier, answer))
      .find(Boolean)
    if (contradiction !== undefined)
      throw new Contradiction({ code: 'protocol-unsupported', ...contradiction })
    this.#answers = [...this.#answers, answer]
  }

  /** Drops the base URL of the catalog: it belongs to a different product from the one that answered. */
  forgetCatalog(side: keyof BaseUrls): void {
    const isFromCatalog = (answer: AnsweredBaseUrl) =>
      answer.side === side && answer.probe === undefined
    this.#answers = this.#answers.filter((answer) => !isFromCatalog(answer))
  }
}

/** Two answers need different settings, and one saved gateway cannot have both. */
export class Contradiction extends UserError {}

/** Why one saved gateway cannot have the settings of two answers. Undefined: it can. */
function contradictionBetween(
  earlier: AnsweredBaseUrl,
  { side, baseUrl, probe }: AnsweredBaseUrl,
): Pick<Outcome, 'message' | 'hint'> | undefined {
  if (probe === undefined) return undefined
  if (earlier.probe !== undefined && earlier.probe.keyHeader !== probe.keyHeader)
    return {
      message: `The gateway accepts the key as ${probe.keyHeader} for the ${probe.protocol} protocol, and as ${earlier.probe.keyHeader} for another protocol`,
      hint: 'Set up each client separately, with a different --name NAME.',
    }
  if (earlier.side === side && earlier.baseUrl !== baseUrl)
    return {
      message: `The gateway serves the ${probe.protocol} protocol at ${baseUrl}, and another protocol at ${earlier.baseUrl}`,
      hint: 'Set up each client separately, each with its address: {--base-url URL}',
    }
  return undefined
}
