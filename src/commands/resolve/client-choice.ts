/** One client on its way through a setup, and the rules that decide its options. */
import type { Client } from '../../clients/contract/client.ts'
import type { ClientOptions } from '../../clients/contract/options.ts'
import {
  ModelNeeded,
  type ResolvedOptions,
  type ResolveInput,
} from '../../clients/contract/setup.ts'
import { UserError, valueOrError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
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
  /** How the installed client itself has shown that it gets an answer. */
  readonly answered?: Finding
  /** Options that leave out what the gateway rejects, and what the user should know about them. */
  readonly cured?: { readonly options: ClientOptions; readonly findings: readonly Finding[] }
  /** Choices with the other models that the user typed, for the case that the gateway rejects this one. */
  readonly alternatives?: readonly ResolvedChoice[]
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
