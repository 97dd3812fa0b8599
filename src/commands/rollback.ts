/**
 * `repoint rollback`: undoes the newest run. On a terminal it asks which run, if there are several, shows what
 * the undo would change, and asks for consent.
 *
 * The undo restores what the run changed, and keeps what others changed since:
 * `transaction/plan-rollback.ts` explains both.
 */
import { Command, Option } from '@commander-js/extra-typings'
import { clientRows, familyIds, familyRows, loadClients } from '../clients/list.ts'
import type { FileEdit } from '../edits/types.ts'
import { UserError } from '../errors.ts'
import { checkPlannedFiles } from '../transaction/check-planned-files.ts'
import {
  applyRollback,
  planRollback,
  type RollbackOptions,
  type RollbackPlan,
  settingsHeldBack,
  type WhichRuns,
} from '../transaction/plan-rollback.ts'
import type { ApplyResult, Runs } from '../transaction/record.ts'
import { isRefused } from '../transaction/undo/undo-safety.ts'
import { gatewayOf, runsOf, shownAddress } from './client-state/client-facts.ts'
import { readClientFiles } from './client-state/client-files.ts'
import { adviceForRunning, stopOldServers } from './client-state/program/running.ts'
import { recoverAndListRuns } from './client-state/recorded-runs.ts'
import { clientArgument } from './command-line/arguments.ts'
import { commandOf, examples, type FlagsOf } from './command-line/command.ts'
import {
  type ClientUndo,
  clientUndosOf,
  isHereCheck,
  type RollbackContext,
} from './rollback/context.ts'
import { situationsFinder } from './rollback/find-situations.ts'
import { showRunList, withPickedRun } from './rollback/list-runs.ts'
import {
  changesAny,
  isChanged,
  reportDryRun,
  reportNothing,
  reportUndo,
  showPlan,
  undoCommandFor,
} from './rollback/report.ts'
import type { Consent, Session } from './screen/session.ts'

function define() {
  return new Command('rollback')
    .description('undo the newest run, or the newest run of one client')
    .addArgument(clientArgument('the client whose newest run to undo'))
    .option('--list', 'list the recorded runs, newest first')
    .option('--run <id>', 'undo this run and every newer run of its clients')
    .addOption(
      new Option('--original', 'undo every run: restore your original files').conflicts('run'),
    )
    .addOption(new Option('--redo', 'undo the newest undo').conflicts(['run', 'original']))
    .option('--force', 'restore the old files, even if they changed since')
    .option('--dry-run', 'show what it would undo')
    .option('--yes', 'undo without asking')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples([
        'repoint rollback',
        'repoint rollback codex --dry-run',
        'repoint rollback --redo',
        'repoint rollback --list',
      ]),
    )
}

export const command = commandOf(define, rollback)

type RollbackFlags = FlagsOf<typeof define>

/** Undoes a run, or lists the runs. Returns the exit status. */
export async function rollback(
  session: Session,
  id: string | undefined,
  flags: RollbackFlags,
): Promise<number> {
  const { platform } = session
  // It ends an unfinished run first, because the plan below starts from the files as they are then.
  const runs = recoverAndListRuns(session)
  if (flags.list) return showRunList(session, runsOfClient(id, runs))

  const clients = await loadClients(familyRows.filter((row) => runsOf(row, runs).length > 0))
  const context: RollbackContext = { session, runs, clients }
  const consent = session.consent(flags.yes)
  const options = optionsFor(context, id, flags)
  const chosen = choosesRun(flags, consent) ? await withPickedRun(context, options) : options
  const rollbackPlan = planRollback(platform, chosen)
  if (rollbackPlan === undefined) {
    const heldBack = flags.redo ? [] : settingsHeldBack(platform, options)
    return reportNothing(context, runsOfClient(id, runs), { ...flags, heldBack })
  }

  await checkAndShow(context, rollbackPlan, flags)
  if (flags.dryRun) return reportDryRun(session, rollbackPlan)
  const isAll = chosen.which?.kind === 'all' && chosen.clients === undefined
  const advice = isAll ? ['Saved keys and copies stay. To delete them: repoint forget --all'] : []
  return applyAndReport(context, rollbackPlan, consent, advice)
}

/** Whether the user chooses the run from a list. With `--yes` and in a script, it is the newest. */
function choosesRun(flags: RollbackFlags, consent: Consent): boolean {
  const { force, dryRun } = flags
  return whichRuns(flags).kind === 'newest' && !force && !dryRun && consent === 'ask'
}

function whichRuns({ run, original, redo }: RollbackFlags): WhichRuns {
  if (run !== undefined) return { kind: 'run', id: run }
  if (original) return { kind: 'all' }
  return { kind: redo ? 'newest-undo' : 'newest' }
}

function optionsFor(
  context: RollbackContext,
  id: string | undefined,
  flags: RollbackFlags,
): RollbackOptions {
  return {
    clients: id === undefined ? undefined : familyIds(id),
    which: whichRuns(flags),
    force: flags.force,
    isHere: isHereCheck(context),
    findSituations: situationsFinder(context),
  }
}

/** Refuses a rollback that would fail or be unsafe, and shows what it would do. */
async function checkAndShow(
  context: RollbackContext,
  rollbackPlan: RollbackPlan,
  { force }: RollbackFlags,
): Promise<void> {
  const { session } = context
  await refuseUnknownClient(session, rollbackPlan)
  const clientUndos = clientUndosOf(context, rollbackPlan)
  // Without --force, the plan has no unsafe undo.
  if (force) refuseUnsafe(context, rollbackPlan, clientUndos)
  session.addFindings(
    ...checkPlannedFiles(session.platform, rollbackPlan, { rollback: rollbackPlan }),
  )

  session.showFindings()
  showPlan(context, rollbackPlan, clientUndos)
}

async function applyAndReport(
  context: RollbackContext,
  rollbackPlan: RollbackPlan,
  consent: Consent,
  advice: readonly string[],
): Promise<number> {
  const { session } = context
  if (changesAny(rollbackPlan.files)) await askToUndo(session, rollbackPlan, consent)

  const applied = applyRollback(session.platform, rollbackPlan)
  const hasChanged = changesAny(applied.files)
  if (hasChanged) session.noteApplied(applied, undoCommandFor(rollbackPlan))
  const next = hasChanged ? await stopServersAndAdvise(context, applied, consent) : []
  return reportUndo(session, rollbackPlan, applied, [...next, ...advice])
}

/**
 * @throws UserError `cancelled`; `confirmation-needed` without a terminal and without `--yes`
 */
async function askToUndo(
  session: Session,
  { kind }: RollbackPlan,
  consent: Consent,
): Promise<void> {
  const message = kind === 'redo' ? 'Set it up again?' : 'Undo this?'
  await session.requireConsent(
    consent,
    { message, default: true },
    {
      message: 'This changes files, and repoint cannot ask here',
      hint: 'To accept, add --yes. To see every change, add --dry-run.',
    },
  )
  session.stopAsking()
}

/** Stops servers that still use the old key, and returns what the user must do. */
async function stopServersAndAdvise(
  { session, clients }: RollbackContext,
  { files }: ApplyResult,
  consent: Consent,
): Promise<string[]> {
  const changed = clients.filter(({ id }) => isChanged(id, files))
  const serverAdvice = await stopOldServers(session, changed, consent)
  return [...serverAdvice, ...(await adviceForRunning(session, changed))]
}

/** The runs of one client, or all runs. */
function runsOfClient(id: string | undefined, runs: Runs): Runs {
  return id === undefined ? runs : runsOf({ id }, runs)
}

/**
 * Rejects a forced rollback after which a client would send a wrong key. A forced rollback restores
 * copies whatever else changed, so the plan itself does not check this.
 *
 * @throws UserError `config-conflict`
 */
function refuseUnsafe(
  context: RollbackContext,
  { edits }: RollbackPlan,
  clientUndos: readonly ClientUndo[],
): void {
  const { session, runs } = context
  const contents = {
    now: new Map(edits.map(({ path, before }) => [path, before])),
    result: new Map(edits.map(({ path, after }) => [path, after])),
  }
  const findSituations = situationsFinder(context)
  for (const { client, resultState } of clientUndos) {
    if (!isRefused(findSituations(client.id, contents))) continue

    const { endpoint, login } = resultState
    const key = endpoint.key === undefined ? 'no key' : 'a key that repoint did not write'
    const { address } = gatewayOf(session, client, resultState, runs)!
    throw new UserError({
      code: 'config-conflict',
      message: `${client.label} would use ${shownAddress(client, resultState)} with ${login ?? key}`,
      hint: `Set it up instead: repoint ${client.id} --base-url ${address}`,
    })
  }
}

/**
 * Rejects the rollback of a run by another version of repoint, if it wrote for a client that this version
 * does not know into a file of a client that it knows. Only that version can tell what the undo means for
 * the known client.
 *
 * @throws UserError `config-conflict`
 */
async function refuseUnknownClient(session: Session, { edits }: RollbackPlan): Promise<void> {
  const isUnknown = (edit: FileEdit) => clientRows.every(({ id }) => id !== edit.client)
  const unknownEdits = edits.filter(isUnknown)
  if (unknownEdits.length === 0) return

  const clients = await loadClients(familyRows)
  const knownFiles = clients.flatMap((client) => readClientFiles(session, client))
  const edit = unknownEdits.find(({ path }) => knownFiles.some((file) => file.path === path))
  if (edit === undefined) return
  throw new UserError({
    code: 'config-conflict',
    message: `This version of repoint does not know the client ${edit.client}, for which ${session.showPath(edit.path)} was written`,
    hint: 'Use the version of repoint that wrote it, or a newer one.',
  })
}
