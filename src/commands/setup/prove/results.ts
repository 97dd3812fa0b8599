/**
 * The results of steps 3 and 4 for several clients: if one of them fails, the others continue.
 *
 * In: one client's part of a step. Out: a `SetupResult`. An error that concerns all clients is thrown.
 */
import type { Client } from '../../../clients/contract/client.ts'
import { canContinueAfter, UserError } from '../../../errors.ts'
import { traitsOf } from '../../../gateway/judge/traits.ts'
import type { Culprit } from '../../../outcome-codes.ts'
import type { ResolvedChoice } from '../../resolve/client-choice.ts'

/** The result of the steps so far for one client. */
export type SetupResult<Choice = ResolvedChoice> =
  | { readonly kind: 'working'; readonly choice: Choice }
  | FailedClient
  /** The user chose no model for it. */
  | { readonly kind: 'skipped' }

/** A client that cannot use the gateway, and why. */
export interface FailedClient {
  readonly kind: 'failed'
  readonly client: Client
  readonly error: UserError
}

/** The user skips this client instead of choosing a model for it. The other clients continue. */
export class ClientSkipped extends UserError {
  constructor({ label }: Client) {
    super({ code: 'cancelled', message: `You skipped ${label}` })
  }
}

/** The clients that can still use the gateway. */
export function workingChoices<Choice>(results: readonly SetupResult<Choice>[]): readonly Choice[] {
  return results.flatMap((result) => (result.kind === 'working' ? [result.choice] : []))
}

/** The clients that cannot. */
export function failedClients(results: readonly SetupResult<unknown>[]): readonly FailedClient[] {
  return results.filter((result) => result.kind === 'failed')
}

/**
 * Runs one client's part of a step.
 *
 * @throws UserError if it concerns all clients, or if the user cancels the command
 */
export async function resultFor<Choice>(
  client: Client,
  work: () => Promise<Choice>,
): Promise<SetupResult<Choice>> {
  try {
    return { kind: 'working', choice: await work() }
  } catch (error) {
    if (error instanceof ClientSkipped) return { kind: 'skipped' }
    if (!canContinueAfter(error) || concernsAll(error)) throw error
    return { kind: 'failed', client, error }
  }
}

/** Runs a step for every client that still works, one after the other, because each may ask the user. */
export async function continueWith<Choice>(
  results: readonly SetupResult[],
  step: (choice: ResolvedChoice) => Promise<Choice>,
): Promise<readonly SetupResult<Choice>[]> {
  const next: SetupResult<Choice>[] = []
  for (const result of results) {
    if (result.kind !== 'working') next.push(result)
    else next.push(await resultFor(result.choice.client, () => step(result.choice)))
  }
  return next
}

function concernsAll(error: UserError): boolean {
  const traits = traitsOf(error)
  return traits !== undefined && isSharedByClients[traits.blames]
}

/** Whether all clients share what a failure blames. */
const isSharedByClients: Readonly<Record<Culprit, boolean>> = {
  key: true,
  address: true,
  connection: true,
  header: true,
  quota: true,
  model: false,
  route: false,
  gateway: false,
  policy: false,
}
