/** One client on its way through a setup, and the rules that decide its options. */
import type { Client } from '../../clients/contract/client.ts'
import {
  ModelNeeded,
  type ResolvedOptions,
  type ResolveInput,
} from '../../clients/contract/setup.ts'
import { UserError, valueOrError } from '../../errors.ts'
import type { InstalledProgram } from '../client-state/program/installed-program.ts'

/** One client before step 3, with everything that decides its options: its model, its protocol and the others. */
export interface OpenChoice {
  readonly client: Client
  readonly program: InstalledProgram
  readonly input: ResolveInput
}

/** A client after step 3: its options are decided. */
export interface ResolvedChoice extends OpenChoice {
  readonly resolved: ResolvedOptions
  /** How often other models have replaced the client's, because the gateway rejected them. */
  readonly replacements: number
}

/** The result of a client's rules for one gateway. */
export type Resolution =
  | { readonly kind: 'decided'; readonly choice: ResolvedChoice }
  /** No rule chooses a model, or the gateway has none for a slot. A model from the user would help. */
  | { readonly kind: 'undecided'; readonly error: UserError }
  /** The client cannot use the gateway with these options. */
  | { readonly kind: 'impossible'; readonly error: UserError }

/** Applies a client's rules. */
export function resolveClient(choice: OpenChoice): Resolution {
  const result = valueOrError(() => resolveOrThrow(choice))
  if (!(result instanceof UserError)) return { kind: 'decided', choice: result }

  return { kind: result instanceof ModelNeeded ? 'undecided' : 'impossible', error: result }
}

/** As `resolveClient`, for a caller that cannot ask for a model. @throws UserError as `Client.resolve` does */
export function resolveOrThrow(choice: OpenChoice): ResolvedChoice {
  const { client, program, input } = choice
  const resolved = client.resolve(input, program)
  return { ...choice, resolved, replacements: 0 }
}
