/** Which clients has repoint set up, and of which can it not tell where they point? */
import type { Client } from '../../clients/contract/client.ts'
import { whyUnreadable } from '../../clients/contract/state.ts'
import { UserError, valueOrError } from '../../errors.ts'
import type { Gateway } from '../../gateway/types.ts'
import type { RunRecord, Runs } from '../../transaction/record.ts'
import type { Session } from '../screen/session.ts'
import { activeSetup, type ClientFacts, factsOf, oneClientPerFamily } from './client-facts.ts'

/** A client that repoint has set up. */
export interface SetUpClient extends ClientFacts {
  readonly gateway: Gateway
}

/** A client that repoint has set up, and whose files cannot be read now. */
export interface SkippedClient {
  readonly client: Client
  readonly setup: RunRecord
  readonly reason: string
}

/** The clients that repoint has set up. */
export async function clientsSetUp(
  session: Session,
  runs: Runs,
): Promise<{ readonly setUp: readonly SetUpClient[]; readonly skipped: readonly SkippedClient[] }> {
  const setUp: SetUpClient[] = []
  const skipped: SkippedClient[] = []
  for (const client of await oneClientPerFamily(session, runs)) {
    const now = valueOrError(() => factsOf(session, client, runs))
    const reason = whySkipped(now)
    const setup = activeSetup(client, runs)
    if (isSetUpClient(now)) setUp.push(now)
    else if (reason !== undefined && setup !== undefined) skipped.push({ client, setup, reason })
  }
  return { setUp, skipped }
}

function isSetUpClient(now: ClientFacts | UserError): now is SetUpClient {
  return !(now instanceof UserError) && now.isSetUpByRepoint
}

function whySkipped(now: ClientFacts | UserError): string | undefined {
  if (now instanceof UserError) return now.message
  const broken = whyUnreadable(now.state)
  return now.state.endpoint.baseUrl === undefined && broken !== undefined
    ? `it cannot read ${broken}`
    : undefined
}

const fixHint = 'Fix the file, then run the command again.'

/** Reports the clients that are skipped. */
export function reportSkipped(session: Session, skipped: readonly SkippedClient[]): void {
  for (const { client, reason } of skipped) {
    const message = `Skipped ${client.label}: ${reason}`
    session.addFindings({ code: 'client-left-out', severity: 'warning', message, hint: fixHint })
  }
}

/** Why a client is not among those that are set up: its files cannot be read, or `otherwise`. */
export function whyNotSetUp(
  [broken]: readonly SkippedClient[],
  otherwise: { readonly message: string; readonly hint: string },
): UserError {
  if (broken === undefined) return new UserError({ code: 'usage', ...otherwise })
  return new UserError({
    code: 'config-invalid',
    message: `Cannot tell where ${broken.client.label} points: ${broken.reason}`,
    hint: fixHint,
  })
}
