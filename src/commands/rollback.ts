import { Command, Option } from '@commander-js/extra-typings'
import type { Client } from '../clients/client.ts'
import { familyIds, familyRows, loadClients } from '../clients/list.ts'
import { compact } from '../compact.ts'
import { describeChanges, willBe } from '../edits/describe.ts'
import { plainPath } from '../edits/values.ts'
import { exitStatus, UserError } from '../errors.ts'
import type { Notice } from '../notice.ts'
import { checkTargets } from '../transaction/apply.ts'
import { endOf } from '../transaction/history.ts'
import type { Applied, RollbackPlan, RunRecord, Runs } from '../transaction/record.ts'
import { applyRollback, planRollback, type RollbackOptions } from '../transaction/rollback.ts'
import { rootNotice } from '../transaction/target.ts'
import { clientArgument, commandOf, examples, type FlagsOf } from './command.ts'
import { stopLeftRunning } from './inventory/client-program.ts'
import { runsOf, shownAddress } from './inventory/client-state.ts'
import { runsSoFar, settleFirst } from './inventory/history.ts'
import {
  brokenIn,
  isAbandoned,
  isInstalledHere,
  type Outlook,
  type Prospect,
  prospectOf,
  refuseStrangeLogin,
  refuseUnknownClient,
  type Undoing,
} from './rollback/guard.ts'
import type { Session } from './screen/session.ts'

function define() {
  return new Command('rollback')
    .description('undo the newest run, or the newest run of one client')
    .addArgument(clientArgument('whose newest run'))
    .option('--list', 'list the recorded runs, newest first')
    .option('--run <id>', 'go back to before this run, and so to before newer runs of its files')
    .addOption(
      new Option('--original', 'go back to before the first run: your own files').conflicts('run'),
    )
    .addOption(
      new Option('--redo', 'redo: take back the newest undo').conflicts(['run', 'original']),
    )
    .option('--force', 'put the old contents back, whatever was changed since')
    .option('--dry-run', 'show what would be undone')
    .option('--yes', 'do not ask')
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
  const { dryRun } = flags
  session.notice(...rootNotice(session.platform))
  settleFirst(session)
  const runs = runsSoFar(session)
  if (flags.list) return listRecorded(session, runsAsked(id, runs))

  const families = await loadClients(familyRows.filter((row) => runsOf(row, runs).length > 0))
  const undoing: Undoing = { session, runs, families }
  const prospect = findRollback(undoing, id, flags)
  if (prospect === undefined) {
    const isHere = isInstalledHere(undoing)
    const isElsewhere = (run: RunRecord) => run.files.some((file) => !isHere(file))
    return reportNothing(session, runsAsked(id, runs).find(isElsewhere), flags)
  }

  const { found } = prospect
  await refuseUnknownClient(session, found)
  refuseStrangeLogin(undoing, prospect)

  const { platform } = session
  session.notice(...checkTargets(platform, found.plan))
  session.showNotices('warning')
  showWayBack(undoing, prospect)

  session.notice(...noticesOf(session, prospect))

  const wouldChange = found.files.some(({ action }) => action !== 'unchanged')
  if (wouldChange && !dryRun) await askToGo(session, found, flags)
  const applied = dryRun ? undefined : applyRollback(platform, found)
  if (applied !== undefined) session.noteApplied(applied, wayOutOf(found))
  const isChanged = dryRun ? wouldChange : applied?.run !== undefined
  const next = applied?.run ? await whatIsNext(undoing, flags, applied) : []

  if (dryRun) session.say('Dry run: nothing was changed.')
  else if (isChanged)
    session.say(`Done in run ${applied?.run?.id}; \`${wayOutOf(found)}\` undoes it.`)
  else session.say('Nothing was changed.')
  for (const line of next) session.say(`  ${line}`)
  session.document({
    command: 'rollback',
    dryRun,
    changed: isChanged,
    run: applied?.run?.id ?? null,
    undoes: found.undoes.id,
    files: found.files.map(({ path, action, kept, note }) => ({
      path,
      action,
      kept: kept.map(plainPath),
      note,
      changes: dryRun && describedChanges(found, path),
    })),
    warnings: session.notices,
    next,
  })
  const isHeld = !dryRun && found.files.some(isHeldBack)
  return isHeld ? exitStatus['held-back'] : 0
}

function findRollback(
  undoing: Undoing,
  id: string | undefined,
  { run, original, redo, force }: RollbackFlags,
): Prospect | undefined {
  const { platform } = undoing.session
  const clients = id === undefined ? undefined : familyIds(id)
  const options: RollbackOptions = {
    ...compact({ clients, run, original, redo, force }),
    isHere: isInstalledHere(undoing),
    isAbandoned: (path) => isAbandoned(undoing, path),
  }
  const planned = (more: RollbackOptions = {}) => {
    const found = planRollback(platform, { ...options, ...more })
    return found && prospectOf(undoing, found)
  }
  const prospect = planned()
  const broken = prospect ? brokenIn(prospect) : []
  if (broken.length === 0) return prospect

  // A table of ours that holds something of its user's by now must stay whole enough to be read.
  const keepsTablesOf = idsOf(broken)
  const kept = fewerBroken(prospect, planned({ keepsTablesOf }))
  const still = kept ? brokenIn(kept) : []
  if (still.length === 0) return kept

  // Where that is not enough, it goes as a whole.
  const dropped = fewerBroken(kept, planned({ keepsTablesOf, dropsTablesOf: idsOf(still) }))
  return dropped && dropped !== kept ? { ...dropped, mended: still } : kept
}

function idsOf(outlooks: readonly Outlook[]): readonly string[] {
  return outlooks.flatMap(({ client }) => familyIds(client.id))
}

function fewerBroken(one: Prospect | undefined, other: Prospect | undefined): Prospect | undefined {
  return one && other && brokenIn(other).length < brokenIn(one).length ? other : one
}

/** What stays since others have changed it, what of it a client cannot read, and what else to know. */
function noticesOf(session: Session, prospect: Prospect): Notice[] {
  const { found, outlooks } = prospect
  const held = found.files.filter(isHeldBack).map(
    ({ path, kept, note }): Notice => ({
      code: 'rollback-held',
      message: `${path}: ${note ?? `changed since, so it stays: ${kept.map(plainPath).join(', ')}`}`,
      hint: 'repoint rollback --force',
    }),
  )

  const said: Notice[] = []
  for (const { client, before, after } of outlooks)
    if (isConcerned(client, found.files))
      said.push(
        ...(client.aboutConversations?.(session.platform, { before, after }) ?? []),
        ...(client.keepsCopies?.(session.platform, before) ?? []),
      )
  for (const { client, future } of prospect.mended ?? [])
    said.push({
      code: 'changes-go-too',
      message: `What was changed since in the tables of this run goes with them: ${client.label} would else find ${future.broken}`,
      hint: '`repoint rollback --redo` brings it back.',
    })
  for (const { client, future } of brokenIn(prospect))
    said.push({
      code: 'client-broken',
      message: `${client.label} will not start after this: ${future.broken}`,
      hint: 'Correct the file by hand afterwards.',
    })

  for (const { message, hint } of said) session.say(`  ${message}. ${hint ?? ''}`.trimEnd())
  return [...said, ...held]
}

function isHeldBack({ kept, note }: RollbackPlan['files'][number]): boolean {
  return kept.length > 0 || note !== undefined
}

/** On a terminal, as a setup does. A script that types `rollback` has said what it wants. */
async function askToGo(
  session: Session,
  { isRedo }: RollbackPlan,
  { yes }: RollbackFlags,
): Promise<void> {
  const message = isRedo ? 'Redo?' : 'Go back?'
  await session.agree(session.consent(yes), { message, default: true })
  session.platform.ask.release()
  if (session.platform.interrupt.aborted)
    throw new UserError({ code: 'cancelled', message: 'Cancelled' })
}

function wayOutOf({ isRedo }: RollbackPlan): string {
  return isRedo ? 'repoint rollback' : 'repoint rollback --redo'
}

function showWayBack({ session, runs, families }: Undoing, { found, outlooks }: Prospect): void {
  const { undoes, passes, isRedo, files } = found
  const again = runs.find(({ id }) => id === endOf(undoes, runs).id) ?? undoes
  const labels = families.filter((one) =>
    again.clients.some((id) => familyIds(one.id).includes(id)),
  )
  const does = again.command === 'doctor' ? 'repairs' : 'sets up'
  const redo = `Redo: ${does} ${labels.map(({ label }) => label).join(', ')} again, as run ${again.id} did`
  session.say(isRedo ? redo : `Back to before run ${undoes.id}: ${describeWhat(undoes, runs)}`)
  for (const run of passes) session.say(`  and with it run ${run.id}: ${describeWhat(run, runs)}`)

  for (const file of files) {
    session.say(`  ${session.showPath(file.path)} (${willBe(file.action)})`)
    for (const line of describedChanges(found, file.path)) session.say(`    ${line}`)
    if (file.kept.length > 0) session.say(`    stays: ${file.kept.map(plainPath).join(', ')}`)
    if (file.note !== undefined) session.say(`    ${file.note}`)
  }

  for (const { client, future } of outlooks) {
    if (!isConcerned(client, files)) continue
    const where = shownAddress(client, future) ?? 'its own service'
    const how = future.login === undefined ? '' : `, with ${future.login}`
    session.say(`${client.label} will use ${where} again${how}.`)
  }
}

function isConcerned({ id }: Client, files: Applied['files']): boolean {
  const changed = files.filter(({ action }) => action !== 'unchanged')
  return changed.some(({ client }) => familyIds(id).includes(client))
}

function describedChanges({ plan }: RollbackPlan, path: string): string[] {
  const edit = plan.edits.find((one) => one.path === path)
  return edit === undefined ? [] : describeChanges(edit)
}

/** What still holds the old key, and what a person has to do. */
async function whatIsNext(
  { session, families }: Undoing,
  { yes }: RollbackFlags,
  { files }: Applied,
): Promise<string[]> {
  const changed = families.filter((client) => isConcerned(client, files))
  const toDo = await stopLeftRunning(session, changed, session.consent(yes))
  return [...toDo, ...changed.map(({ restartAdvice }) => restartAdvice)]
}

function reportNothing(
  session: Session,
  elsewhere: RunRecord | undefined,
  { redo, dryRun }: RollbackFlags,
): number {
  session.say(`There is nothing to ${redo ? 'redo' : 'undo'}.`)
  if (elsewhere !== undefined) {
    const paths = elsewhere.files.map(({ path }) => session.showPath(path)).join(', ')
    session.notice({
      code: 'other-installation',
      message: `Run ${elsewhere.id} changed files elsewhere: ${paths}`,
      hint: `Set HOME, CODEX_HOME and the like as they were then, or name it: repoint rollback --run ${elsewhere.id}`,
    })
  }
  session.showNotices('note')

  session.document({
    command: 'rollback',
    dryRun,
    changed: false,
    run: null,
    undoes: null,
    files: [],
    warnings: session.notices,
    next: [],
  })
  return 0
}

function listRecorded(session: Session, asked: Runs): number {
  session.showNotices('warning')
  if (asked.length === 0) session.say('No run is recorded.')
  else {
    const rows = asked.map((run) => [run.id, localTime(run.at), describeListed(run, asked)])
    session.sayTable(['RUN', 'WHEN', 'WHAT'], rows)
  }
  session.document({ command: 'rollback', runs: asked.map(asListed), warnings: session.notices })
  return 0
}

function runsAsked(id: string | undefined, runs: Runs): Runs {
  return id === undefined ? runs : runsOf({ id }, runs)
}

/** With the clients, where its first word does not name them. */
function describeListed(run: RunRecord, runs: Runs): string {
  const what = describeWhat(run, runs)
  const isNamed = run.undoes === undefined && run.clients.includes(run.command)
  return isNamed ? what : `${what} (${run.clients.join(', ')})`
}

/** To the minute, in the time zone of this machine. */
function localTime(at: string): string {
  const time = new Date(at)
  const two = (part: number) => String(part).padStart(2, '0')
  const day = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-')
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`
}

function describeWhat(run: RunRecord, runs: Runs): string {
  const { id, isUndone } = endOf(run, runs)
  if (run.undoes !== undefined) return `${isUndone ? 'undid' : 'redid'} ${id}`
  return [run.command, run.baseUrl, run.model].filter((part) => part !== '').join(', ')
}

function asListed({ id, at, command, clients, baseUrl, model, undoes, files }: RunRecord) {
  return {
    run: id,
    at,
    command,
    clients,
    baseUrl,
    model,
    undoes,
    files: files.map(({ path }) => path),
  }
}
