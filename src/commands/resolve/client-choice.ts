/** One client on its way through a setup, and the rules that decide its options. */
import type { Client } from '../../clients/contract/client.ts'
import {
  ModelNeeded,
  type ResolvedOptions,
  type ResolveInput,
} from '../../clients/contract/setup.ts'
import { UserError, valueOrError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import type { SafeguardsAnswer } from '../../gateway/types.ts'
import type { InstalledProgram } from '../client-state/program/installed-program.ts'

/** One client before step 3, with everything that decides its options. */
export interface ClientChoice {
  readonly client: Client
  readonly program: InstalledProgram
  readonly input: ResolveInput
}

/** Steps 3 and 4: a client whose options are decided. */
export interface ResolvedChoice extends ClientChoice {
  readonly resolved: ResolvedOptions
  /** How often other models have replaced the client's, because the gateway rejected them. */
  readonly replacements: number
  /** Whether the gateway answers Claude Code's check of tool calls. */
  readonly safeguards: SafeguardsAnswer
  /** What has proven the models. `client`: the gateway rejects repoint's own request, and answers the client. */
  readonly provenBy: 'nothing' | 'probe' | 'client'
  /** What the answers to the probes say about the gateway, such as that it does not stream. */
  readonly probeFindings: readonly Finding[]
}

/** The result of a client's rules for one gateway. */
export type Resolution =
  | { readonly kind: 'decided'; readonly choice: ResolvedChoice }
  /** No rule chooses a model, or the gateway has none for a slot. A model from the user would help. */
  | { readonly kind: 'undecided'; readonly error: UserError }
  /** The client cannot use the gateway with these options. */
  | { readonly kind: 'impossible'; readonly error: UserError }

/** Applies a client's rules. */
export function resolveClient(choice: ClientChoice): Resolution {
  const result = valueOrError(() => resolveOrThrow(choice))
  if (!(result instanceof UserError)) return { kind: 'decided', choice: result }

  return { kind: result instanceof ModelNeeded ? 'undecided' : 'impossible', error: result }
}

/** As `resolveClient`, for a caller that cannot ask for a model. @throws UserError as `Client.resolve` does */
export function resolveOrThrow(choice: ClientChoice): ResolvedChoice {
  const { client, program, input } = choice
  const resolved = client.resolve(input, program)
  return {
    ...choice,
    resolved,
    replacements: 0,
    safeguards: 'not-requested',
    provenBy: 'nothing',
    probeFindings: [],
  }
}
