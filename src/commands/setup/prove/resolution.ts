/** The result of a client's rules for one gateway. The only file here that reads the codes of their problems. */
import type { Client } from '../../../clients/contract/client.ts'
import type { ResolvedOptions, ResolveInput } from '../../../clients/contract/setup.ts'
import { type Finding, isFinding } from '../../../finding.ts'
import { lacksModel } from '../../../gateway/judge/traits.ts'

export type Resolution =
  | { readonly kind: 'decided'; readonly resolved: ResolvedOptions }
  /** No rule chooses a model, or the gateway has none for a slot. A model from the user would help. */
  | { readonly kind: 'undecided'; readonly problem: Finding }
  /** The client cannot use the gateway with these options. */
  | { readonly kind: 'impossible'; readonly problem: Finding }

/** Applies a client's rules. @param version of the installed client, if known */
export function resolveClient(client: Client, input: ResolveInput, version?: string): Resolution {
  const result = client.resolve(input, version)
  if (!isFinding(result)) return { kind: 'decided', resolved: result }

  const needsModel = result.code === 'usage' || lacksModel(result)
  return { kind: needsModel ? 'undecided' : 'impossible', problem: result }
}
