/**
 * Step 8 of a setup: each changed client that is installed answers one word with the files just written. Only this
 * proves the whole: the size of the request, logins, proxies, variables, plugins, a new major version.
 */
import type { Client } from '../../clients/contract/client.ts'
import { canContinueAfter, UserError } from '../../errors.ts'
import { type Finding, messageWithLocation } from '../../finding.ts'
import { clientNow } from '../client-state/client-now.ts'
import { isInstalled } from '../client-state/program/installed-program.ts'
import { readRecords } from '../client-state/recorded-runs.ts'
import { changedClients } from '../plan/write-plan.ts'
import type { TriedClient } from '../prove/ask-client.ts'
import type { Session } from '../screen/session.ts'
import type { AppliedSetup } from './apply.ts'
import type { SetupPlan } from './plan.ts'

/**
 * Without `--try-client`, only on a terminal, where Ctrl-C skips it. A failure is then a warning: the setup stays.
 *
 * @throws UserError with `--try-client`: `client-failed`, `cancelled`
 */
export async function trySetup(
  plan: SetupPlan,
  applied: AppliedSetup,
): Promise<readonly TriedClient[]> {
  const { session, request, access } = plan.proven
  const isRequested = request.flags.tryClient === true
  const clients = clientsToTry(plan, applied)
  if (clients.length === 0) return []

  const { tryClients } = await import('../prove/ask-client.ts')
  let tried: readonly TriedClient[]
  try {
    tried = await tryClients(session, clients, access)
  } catch (error) {
    if (isRequested || canContinueAfter(error) || !(error instanceof UserError)) throw error
    session.say('  Skipped. The setup stays.')
    return []
  }
  reportTries(session, tried)

  const [failure] = tried.flatMap((one) => failureOf(session, one) ?? [])
  if (isRequested && failure !== undefined) {
    const { message, hint } = failure
    const members = { tried: tried.map(triedDocument) }
    throw new UserError({ code: 'client-failed', message, hint, members })
  }
  return tried
}

function clientsToTry(
  { proven: { session, request }, clientPlans }: SetupPlan,
  { applied }: AppliedSetup,
): readonly Client[] {
  const { tryClient, verify } = request.flags
  const clients = clientPlans.map(({ client }) => client)
  if (!verify || tryClient === false) return []
  if (tryClient) return clients
  if (!session.canAsk) return []
  return changedClients(applied, clients).filter(
    (client) => isInstalled(session, client) && !client.program.isSlow,
  )
}

/** Shows what each client said: its own words first, then the cause if repoint knows it. */
export function reportTries(session: Session, tried: readonly TriedClient[]): void {
  for (const one of tried) {
    const { client, words, seconds } = one
    const failure = failureOf(session, one)
    if (failure === undefined) {
      session.say(`✔ ${client.label} answers: ${words.split('\n').at(-1)} (${seconds} s)`)
      continue
    }
    session.say(`✗ ${failure.message} (${seconds} s)`)
    session.say(`  ${failure.hint}`)
    session.addShownFindings({ ...failure, severity: 'warning' })
  }
}

/** Undefined: the client answered. */
export function failureOf(
  session: Session,
  { client, kind, words }: TriedClient,
): (Finding & { readonly hint: string }) | undefined {
  if (kind === 'answered') return undefined
  const message = `${client.label} ${words}`
  return { code: 'client-failed', severity: 'error', message, hint: cureFor(session, client) }
}

/** The cause that the client's files and variables show, with its cure. */
function cureFor(session: Session, client: Client): string {
  const { findings } = clientNow(session, client, readRecords(session).runs)
  const error = findings.find(({ severity }) => severity === 'error')
  if (error === undefined) return `Find the cause: repoint doctor ${client.family}`
  const cause = messageWithLocation(error, (path) => session.showPath(path))
  return error.hint === undefined
    ? cause
    : `${cause}. ${session.completeHint(error.hint, client.family)}`
}

/** A try as `--json` prints it. */
export function triedDocument({ client, kind, words, seconds }: TriedClient) {
  return { client: client.id, ok: kind === 'answered', seconds, said: words }
}
