/** The results of steps 3 and 4 for several clients: if one of them fails, the others continue. */
import type { Client } from '../../../clients/contract/client.ts'
import { canContinueAfter, UserError } from '../../../errors.ts'
import { traitsOf } from '../../../gateway/judge/traits.ts'
import type { Culprit } from '../../../outcome-codes.ts'
import type { ResolvedSetup } from '../client-setup.ts'

/** The setup of each client, or why it cannot use the gateway. A client that the user skips is missing. */
export type SetupResults = ReadonlyMap<Client, ResolvedSetup | UserError>

/** The clients that can still use the gateway. */
export function workingSetups(results: SetupResults): readonly ResolvedSetup[] {
  return [...results.values()].flatMap((result) => (result instanceof UserError ? [] : [result]))
}

/** Why each of the other clients cannot use it. */
export function failuresIn(results: SetupResults): ReadonlyMap<Client, UserError> {
  const failures = new Map<Client, UserError>()
  for (const [client, result] of results)
    if (result instanceof UserError) failures.set(client, result)
  return failures
}

/**
 * Runs one client's part of a step. If only this client fails, its error is the result.
 *
 * @throws UserError if the failure concerns all clients
 */
export async function valueOrClientError<Result>(
  work: () => Promise<Result>,
): Promise<Result | UserError> {
  try {
    return await work()
  } catch (error) {
    if (!canContinueAfter(error) || concernsAll(error)) throw error
    return error
  }
}

/** Runs a step for every setup that still works, one after the other, because each may ask the user. */
export async function continueWith(
  results: SetupResults,
  step: (setup: ResolvedSetup) => Promise<ResolvedSetup | undefined>,
): Promise<SetupResults> {
  const next = new Map<Client, ResolvedSetup | UserError>()
  for (const [client, before] of results) {
    const result =
      before instanceof UserError ? before : await valueOrClientError(() => step(before))
    if (result !== undefined) next.set(client, result)
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
  network: true,
  header: true,
  account: true,
  model: false,
  route: false,
  gateway: false,
  sender: false,
}
