/** The result of a client's rules for one gateway. The only file here that reads the codes of their errors. */
import { resultOf, UserError } from '../../../errors.ts'
import { lacksModel } from '../../../gateway/judge/traits.ts'
import type { ClientSetup, ResolvedSetup } from '../client-setup.ts'

export type Resolution =
  | { readonly kind: 'decided'; readonly setup: ResolvedSetup }
  /** No rule chooses a model, or the gateway has none for a slot. A model from the user would help. */
  | { readonly kind: 'undecided'; readonly error: UserError }
  /** The client cannot use the gateway with these options. */
  | { readonly kind: 'impossible'; readonly error: UserError }

/** Applies a client's rules. */
export function resolveClient(setup: ClientSetup): Resolution {
  const result = resultOf(() => resolvedSetup(setup))
  if (!(result instanceof UserError)) return { kind: 'decided', setup: result }

  const needsModel = result.code === 'usage' || lacksModel(result)
  return { kind: needsModel ? 'undecided' : 'impossible', error: result }
}

/** As `resolveClient`, where an undecided client is an error too. @throws UserError as `Client.resolve` does */
export function resolvedSetup(setup: ClientSetup): ResolvedSetup {
  const { client, program, input } = setup
  return { ...setup, resolved: client.resolve(input, program.version), replacements: 0 }
}
