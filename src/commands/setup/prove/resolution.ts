/** The result of a client's rules for one gateway. The only file here that reads the codes of their problems. */
import { type Finding, isFinding } from '../../../finding.ts'
import { lacksModel } from '../../../gateway/judge/traits.ts'
import type { ClientSetup, ResolvedSetup } from '../client-setup.ts'

export type Resolution =
  | { readonly kind: 'decided'; readonly setup: ResolvedSetup }
  /** No rule chooses a model, or the gateway has none for a slot. A model from the user would help. */
  | { readonly kind: 'undecided'; readonly problem: Finding }
  /** The client cannot use the gateway with these options. */
  | { readonly kind: 'impossible'; readonly problem: Finding }

/** Applies a client's rules. */
export function resolveClient(setup: ClientSetup): Resolution {
  const { client, program, input } = setup
  const resolved = client.resolve(input, program.version)
  if (!isFinding(resolved))
    return { kind: 'decided', setup: { ...setup, resolved, replacements: 0 } }

  const needsModel = resolved.code === 'usage' || lacksModel(resolved)
  return { kind: needsModel ? 'undecided' : 'impossible', problem: resolved }
}
