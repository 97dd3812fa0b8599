import { Command, Option } from '@commander-js/extra-typings'
import { familyIds, familyRows, loadClients } from '../clients/list.ts'
import { actionText, describeChanges } from '../edits/describe.ts'
import { plainPath } from '../edits/values/paths.ts'
import { exitStatus, UserError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import { counted } from '../text.ts'
import { checkTargets } from '../transaction/check-targets.ts'
import type { ApplyResult, KeptSetting, RunRecord, Runs } from '../transaction/record.ts'
import {
  applyRollback,
  planRollback,
  type RollbackOptions,
  type RollbackPlan,
  undoableRuns,
} from '../transaction/rollback.ts'
import { superuserFinding } from '../transaction/target.ts'
import { runsSoFar, settleInterruptedRun } from './client-state/history.ts'
import { stopOldServers } from './client-state/program.ts'
import { runsOf, shownAddress } from './client-state/state.ts'
import { clientArgument, commandOf, examples, type FlagsOf } from './command.ts'
import { describeRun, labelsOf, timeAgo, whatItDid, whatWasUndone } from './rollback/describe.ts'
import {
  type ClientUndo,
  clientUndosOf,
  isInstalledHere,
  problemAfterUndo,
  type RollbackContext,
  refuseUnknownClient,
  refuseWrongKey,
} from './rollback/guard.ts'
import type { Session } from './screen/session.ts'

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
    .option('--yes', 'do not ask; undo the newest run')
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
  session.addFindings(...superuserFinding(platform))
  settleInterruptedRun(session)
  const runs = runsSoFar(session)
  if (flags.list) return listRecorded(session, runsOfClient(id, runs))

  const clients = await loadClients(familyRows.filter((row) => runsOf(row, runs).length > 0))
  const undoing: RollbackContext = { session, runs, clients }
  const options = await withPickedRun(undoing, flags, optionsFor(undoing, id, flags))
  const undo = planRollback(platform, options)
  if (undo === undefined) return reportNothing(undoing, id, flags)

  await refuseUnknownClient(session, undo)
  const outlooks = clientUndosOf(undoing, undo)
  // Only --force can restore an address without its key.
  if (flags.force) refuseWrongKey(undoing, outlooks)

  session.addFindings(...checkTargets(platform, undo.plan))
  session.showFindings('warning')
  showPlan(undoing, undo, outlooks)
  const effects = sideEffects(session, undo, outlooks)
  for (const { message, hint } of effects) session.say(`  ${message}. ${hint ?? ''}`.trimEnd())
  session.addFindings(...keptNotices(undo), ...effects)

  return flags.dryRun ? reportDryRun(session, undo) : applyAndReport(undoing, flags, undo)
}

function optionsFor(
  undoing: RollbackContext,
  id: string | undefined,
  { run, original, redo, force }: RollbackFlags,
): RollbackOptions {
  return {
    clients: id === undefined ? undefined : familyIds(id),
    run,
    original,
    redo,
    force,
    isHere: isInstalledHere(undoing),
    problemAfter: problemAfterUndo(undoing),
  }
}

/** How many runs the user can choose from. */
const maxChoices = 10

/** On a terminal, the user chooses the run. With `--yes` and in a script, it is the newest. */
async function withPickedRun(
  { session, runs }: RollbackContext,
  { run, original, redo, force, yes, dryRun }: RollbackFlags,
  options: RollbackOptions,
): Promise<RollbackOptions> {
  const needsNoQuestion = run !== undefined || original || redo || force || dryRun
  if (needsNoQuestion || session.consent(yes) !== 'ask') return options
  const { platform } = session
  const undoable = undoableRuns(platform, options)
  if (undoable.length < 2) return options

  const now = platform.clock.now()
  const choices = undoable.slice(0, maxChoices).map((one, index) => ({
    value: one.id,
    name: `${describeRun(one, runs, now)}${newerRuns(one, undoable.slice(0, index))}`,
  }))
  const all = { value: 'original', name: 'everything: restore your original files' }
  const message = 'What do you want to undo?'
  const picked = await platform.ask.search({ message, choices: [...choices, all] })
  if (picked === all.value) return { ...options, original: true }
  return picked === undoable[0]?.id ? options : { ...options, run: picked }
}

/** The number of newer runs of the same clients, in words: they are undone together with the run. */
function newerRuns({ files }: RunRecord, newer: Runs): string {
  const clients = files.map(({ client }) => client)
  const isOfSameClient = (run: RunRecord) =>
    run.files.some(({ client }) => clients.includes(client))
  const count = newer.filter(isOfSameClient).length
  return count === 0 ? '' : `, and ${counted(count, 'newer run')}`
}

// ---------------------------------------------------------------- what it would do

/** The messages name this many further runs, and count the others. */
const maxRunsShown = 5

function showPlan(
  { session, runs }: RollbackContext,
  undo: RollbackPlan,
  outlooks: readonly ClientUndo[],
): void {
  const { isRedo, runs: undone, files, kept } = undo
  const now = session.platform.clock.now()
  const [first, ...more] = undone.map((run) =>
    isRedo ? whatWasUndone(run, runs) : describeRun(run, runs, now),
  )
  session.say(isRedo ? `This sets up again what was undone: ${first}` : `This undoes ${first}`)
  const shown = more.length > maxRunsShown ? more.slice(0, maxRunsShown - 1) : more
  for (const run of shown) session.say(`  and ${run}`)
  if (shown.length < more.length) session.say(`  and ${more.length - shown.length} earlier runs`)

  for (const file of files) {
    const keptHere = kept.filter((one) => one.file === file.path)
    if (file.action === 'unchanged' && keptHere.length === 0) continue
    session.say(`  ${session.showPath(file.path)} (${actionText(file.action)})`)
    for (const line of changesIn(undo, file.path)) session.say(`    ${line}`)
    if (keptHere.length > 0) session.say(`    ${describeKept(keptHere)}`)
  }

  for (const { client, afterState } of outlooks) {
    if (!isConcerned(client.id, files)) continue
    const service = shownAddress(client, afterState) ?? 'its own service'
    const login = afterState.login === undefined ? '' : `, with ${afterState.login}`
    session.say(`${client.label} will use ${service} again${login}.`)
  }
}

function changesIn({ plan }: RollbackPlan, path: string): string[] {
  const edit = plan.edits.find((one) => one.path === path)
  return edit === undefined ? [] : describeChanges(edit)
}

/** `model stays: you changed it after the setup`, for the settings of one file. */
function describeKept(kept: readonly KeptSetting[]): string {
  const changed = kept.filter(({ why }) => why === 'changed').map(({ path }) => plainPath(path))
  const grouped = kept.filter(({ why }) => why === 'together').map(({ path }) => plainPath(path))
  const isWholeFile = changed.includes('')
  if (isWholeFile) return 'stays: you changed or deleted this file after the setup'

  const stay = (names: readonly string[]) =>
    `${names.join(', ')} ${names.length === 1 ? 'stays' : 'stay'}`
  const reasons: string[] = []
  if (changed.length > 0) {
    const pronoun = changed.length === 1 ? 'it' : 'them'
    reasons.push(`${stay(changed)}: you changed ${pronoun} after the setup`)
  }
  if (grouped.length > 0)
    reasons.push(`${stay(grouped)}: address, key and models of a gateway belong together`)
  return reasons.join('; ')
}

/** The settings that stay, file by file, with the command that undoes them too. */
function keptNotices({ files, kept, isRedo }: RollbackPlan): readonly Finding[] {
  return files.flatMap(({ path, client }) => {
    const keptHere = kept.filter(({ file }) => file === path)
    if (keptHere.length === 0) return []
    const redo = isRedo ? ' --redo' : ''
    const hint = `Undo it too: repoint rollback ${client}${redo} --force`
    return [{ code: 'rollback-held', message: `${path}: ${describeKept(keptHere)}`, hint }]
  })
}

/** Reports what else the undo means for the clients, such as where old conversations continue. */
function sideEffects(
  session: Session,
  { files, removedTables }: RollbackPlan,
  outlooks: readonly ClientUndo[],
): readonly Finding[] {
  const { platform } = session
  const notices: Finding[] = []
  for (const { client, before, after } of outlooks)
    if (isConcerned(client.id, files))
      notices.push(...(client.sideEffects?.(platform, { by: 'undo', before, after }) ?? []))
  if (removedTables.length > 0)
    notices.push({
      code: 'changes-go-too',
      message: `Your additions to the gateway's tables are removed too, because ${labelsOf(removedTables)} cannot read what would be left of them`,
      hint: 'Restore them: repoint rollback --redo',
    })

  return notices
}

function isConcerned(id: string, files: ApplyResult['files']): boolean {
  return files.some(
    ({ client, action }) => action !== 'unchanged' && familyIds(id).includes(client),
  )
}

// ---------------------------------------------------------------- doing and reporting it

function changesAny(files: ApplyResult['files']): boolean {
  return files.some(({ action }) => action !== 'unchanged')
}

function reportDryRun(session: Session, undo: RollbackPlan): number {
  session.say('Dry run: nothing changed.')
  const isChanged = changesAny(undo.files)
  printDocument(session, undo, { dryRun: true, changed: isChanged, run: null, next: [] })
  return 0
}

async function applyAndReport(
  undoing: RollbackContext,
  flags: RollbackFlags,
  undo: RollbackPlan,
): Promise<number> {
  const { session } = undoing
  const wouldChange = changesAny(undo.files)
  if (wouldChange) await askToUndo(session, undo, flags)
  const applied = applyRollback(session.platform, undo)
  const isChanged = changesAny(applied.files)
  if (isChanged) session.noteApplied(applied, undoCommandFor(undo))
  const next = isChanged ? await stopServersAndAdvise(undoing, flags, applied) : []

  if (!isChanged) session.say('Nothing changed.')
  else if (undo.isRedo) session.say(`Done. Undo: ${undoCommandFor(undo)}`)
  else {
    const isOff = undo.runs.every((run) => run.command === 'off')
    const again = isOff ? 'Do it again' : 'Set it up again'
    session.say(`Undone. ${again}: ${undoCommandFor(undo)}`)
  }
  for (const { hint } of keptNotices(undo)) session.say(`  ${hint}`)
  for (const line of next) session.say(`  ${line}`)
  const run = applied.run?.id ?? null
  printDocument(session, undo, { dryRun: undefined, changed: isChanged, run, next })
  return undo.kept.length > 0 ? exitStatus['held-back'] : 0
}

function printDocument(
  session: Session,
  undo: RollbackPlan,
  outcome: {
    readonly dryRun: true | undefined
    readonly changed: boolean
    readonly run: string | null
    readonly next: readonly string[]
  },
): void {
  const { next, ...state } = outcome
  session.document({
    command: 'rollback',
    ...state,
    undoes: undo.runs.at(-1)?.id,
    files: undo.files.map(({ path, action, kept }) => ({
      path,
      action,
      kept: kept.map(plainPath),
      changes: outcome.dryRun && changesIn(undo, path),
    })),
    warnings: session.warnings,
    next,
  })
}

/** Asks on a terminal, as a setup does. A script that runs `rollback` has already decided. */
async function askToUndo(
  session: Session,
  { isRedo }: RollbackPlan,
  { yes }: RollbackFlags,
): Promise<void> {
  const message = isRedo ? 'Set it up again?' : 'Undo this?'
  await session.agree(session.consent(yes), { message, default: true })
  // Ctrl-C that was pressed after the answer still stops the undo.
  session.platform.ask.release()
  if (session.platform.interrupt.aborted)
    throw new UserError({ code: 'cancelled', message: 'Cancelled' })
}

function undoCommandFor({ isRedo }: RollbackPlan): string {
  return isRedo ? 'repoint rollback' : 'repoint rollback --redo'
}

/** Stops servers that still use the old key, and returns what the user must do. */
async function stopServersAndAdvise(
  { session, clients }: RollbackContext,
  { yes }: RollbackFlags,
  { files }: ApplyResult,
): Promise<string[]> {
  const changed = clients.filter(({ id }) => isConcerned(id, files))
  const toDo = await stopOldServers(session, changed, session.consent(yes))
  return [...toDo, ...changed.map(({ program }) => program.restartAdvice)]
}

function reportNothing(
  undoing: RollbackContext,
  id: string | undefined,
  { redo, dryRun }: RollbackFlags,
): number {
  const { session, runs } = undoing
  session.say(`There is nothing to ${redo ? 'redo' : 'undo'}.`)
  const isHere = isInstalledHere(undoing)
  const elsewhere = runsOfClient(id, runs).find((run) => run.files.some((file) => !isHere(file)))
  if (elsewhere !== undefined) {
    const paths = elsewhere.files.map(({ path }) => session.showPath(path)).join(', ')
    session.addFindings({
      code: 'other-installation',
      message: `Run ${elsewhere.id} changed files elsewhere: ${paths}`,
      hint: `Undo it by its ID: repoint rollback --run ${elsewhere.id}. Or set HOME and the clients' folder variables as they were.`,
    })
  }
  session.showFindings('note')

  session.document({
    command: 'rollback',
    dryRun,
    changed: false,
    run: null,
    undoes: null,
    files: [],
    warnings: session.warnings,
    next: [],
  })
  return 0
}

// ---------------------------------------------------------------- the list

function listRecorded(session: Session, runs: Runs): number {
  session.showFindings('warning')
  const now = session.platform.clock.now()
  if (runs.length === 0) session.say('repoint has recorded no run.')
  else {
    const rows = runs.map((run) => {
      const target = run.kind === 'change' ? [run.baseUrl, run.model] : []
      const description = [whatItDid(run, runs), ...target].filter(Boolean).join(', ')
      return [timeAgo(new Date(run.at), now), description, run.id]
    })
    session.sayTable(['WHEN', 'WHAT', 'RUN'], rows)
  }
  session.document({ command: 'rollback', runs: runs.map(asListed), warnings: session.warnings })
  return 0
}

/** The runs of one client, or all runs. */
function runsOfClient(id: string | undefined, runs: Runs): Runs {
  return id === undefined ? runs : runsOf({ id }, runs)
}

function asListed({ id, at, kind, command, clients, baseUrl, model, undoes, files }: RunRecord) {
  return {
    run: id,
    at,
    kind,
    command,
    clients,
    baseUrl,
    model,
    undoes: undoes && [...new Set(undoes.map(({ run }) => run))],
    files: files.map(({ path }) => path),
  }
}
