import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import type { ClientFlag, ClientOptions } from '../clients/contract/options.ts'
import { type ClientRow, checkOptions, loadClients, rowOf } from '../clients/list.ts'
import { mergeOptions } from '../clients/options/flags.ts'
import { compact } from '../compact.ts'
import type { Runs } from '../transaction/record.ts'
import { superuserFinding } from '../transaction/target.ts'
import { runsSoFar, settleInterruptedRun } from './client-state/history.ts'
import { expectInstalled } from './client-state/program.ts'
import {
  commandOf,
  examples,
  gatewayCommand,
  type ListedCommand,
  withSetupFlags,
} from './command.ts'
import type { Session } from './screen/session.ts'
import { applySetup } from './setup/apply.ts'
import { confirmSetup, showSetup } from './setup/confirm.ts'
import { optionOf } from './setup/flag-values.ts'
import { planSetup } from './setup/plan.ts'
import { proveGateway } from './setup/prove/prove-gateway.ts'
import { reportSetup } from './setup/report.ts'
import type { SetupContext, SetupRequest } from './setup/request.ts'
import { previousSetups, requestedFor } from './setup/resolve-input.ts'

export function commandFor(row: ClientRow): ListedCommand {
  const define = () => {
    const command = gatewayCommand(row.id)
    for (const flag of row.flags) command.addOption(optionOf(flag))
    return withSetupFlags(command, 'the real client').addHelpText('after', examples(row.examples))
  }

  return commandOf(define, (session, flags, command) => {
    const requested = setupOptions(row.flags, command)
    return setup(session, {
      command: row.id,
      clients: [row.id],
      flags,
      optionsOf: () => requested,
      // `--model` without an ID.
      picksModel: command.getOptionValue('model') === true,
    })
  })
}

/** The options of a client that the user typed as flags. */
export function setupOptions(
  flags: readonly ClientFlag[],
  command: Pick<CommandUnknownOpts, 'getOptionValue' | 'getOptionValueSource'>,
): ClientOptions {
  const typed = flags.flatMap((flag): ClientOptions[] => {
    const name = optionOf(flag).attributeName()
    // Commander gives a `--no-…` flag a default value that nobody typed.
    if (command.getOptionValueSource(name) !== 'cli') return []
    const value = command.getOptionValue(name) as string | number | boolean
    return flag.takes === 'model' && value === true ? [] : [flag.toOptions(value)]
  })
  return mergeOptions(typed)
}

/**
 * Settles an interrupted run and returns the recorded runs. Every command that sets clients up starts with
 * this, before its first question.
 */
export function settleRecords(session: Session): Runs {
  session.addFindings(...superuserFinding(session.platform))
  session.showFindings('note')
  settleInterruptedRun(session)
  return runsSoFar(session)
}

/** What a command did before it calls `setup`. Absent: `setup` does it. */
interface DoneBeforeSetup {
  /** The result of `settleRecords`. */
  readonly runs?: Runs
  readonly startedPrograms?: SetupContext['startedPrograms']
}

/**
 * Sets clients up, in eight steps: find the gateway, ask it, resolve each client's options, prove their
 * models, plan, show and ask, apply, report. Returns the exit status.
 */
export async function setup(
  session: Session,
  request: SetupRequest,
  { runs = settleRecords(session), startedPrograms }: DoneBeforeSetup = {},
): Promise<number> {
  const context = {
    ...(await loadContext(session, request, runs)),
    ...compact({ startedPrograms }),
  }

  // Steps 1 to 4 are one function, because a rejection in step 2, 3 or 4 can lead back to an earlier step.
  const proven = await proveGateway(context)

  const plan = await planSetup(proven)
  showSetup(plan)
  if (request.flags.dryRun) {
    reportSetup(plan)
    return 0
  }

  await confirmSetup(plan)
  const applied = await applySetup(plan)
  reportSetup(plan, applied)
  return 0
}

/**
 * Loads the clients and their previous options.
 *
 * @throws UserError `usage`, `client-failed`
 */
async function loadContext(
  session: Session,
  request: SetupRequest,
  runs: Runs,
): Promise<SetupContext> {
  const clients = await loadClients(request.clients.map(rowOf))
  for (const client of clients) {
    checkOptions(client, requestedFor(request, client))
    if (request.flags.tryClient) expectInstalled(session, client)
  }

  const consent = session.consent(request.flags.yes)
  const previous = previousSetups(session, clients, runs)
  return { session, request, consent, clients, runs, previous }
}
