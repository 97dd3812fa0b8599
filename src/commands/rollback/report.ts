/** What `repoint rollback` shows before it asks, and what it reports afterwards: as lines, and as JSON. */
import { familyIds } from '../../clients/list.ts'
import { actionText, describeChanges } from '../../edits/describe.ts'
import { isWholeFile } from '../../edits/types.ts'
import { plainPath } from '../../edits/values/paths.ts'
import { errorCodes } from '../../error-codes.ts'
import type { Finding } from '../../finding.ts'
import type { RollbackPlan } from '../../transaction/plan-rollback.ts'
import {
  type ApplyResult,
  isHeldBack,
  type KeptSetting,
  type ReasonToKeep,
  type Runs,
} from '../../transaction/record.ts'
import { shownAddress } from '../client-state/client-facts.ts'
import type { Session } from '../screen/session.ts'
import { type ClientUndo, isHereCheck, type RollbackContext } from './context.ts'
import { describeRun, labelsOf, whatWasUndone } from './list-runs.ts'

/** The messages name this many further runs, and count the others. */
const maxRunsShown = 5

/** A line names this many entries of a table. `--json` names all. */
const maxNamesShown = 8

/** Shows the runs, the changes of each file, the service that each client will use, and what else follows. */
export function showPlan(
  context: RollbackContext,
  rollbackPlan: RollbackPlan,
  clientUndos: readonly ClientUndo[],
): void {
  const { session } = context
  const changedClients = clientUndos.filter(({ client }) =>
    isChanged(client.id, rollbackPlan.files),
  )
  showRuns(context, rollbackPlan)
  showFiles(session, rollbackPlan)
  for (const clientUndo of changedClients) showService(session, clientUndo)

  const effects = sideEffects(session, rollbackPlan, changedClients)
  for (const { message, hint } of effects) session.say(`  ${message}. ${hint ?? ''}`.trimEnd())
  session.addShownFindings(...keptFindings(rollbackPlan), ...effects)
}

function showRuns({ session, runs }: RollbackContext, { kind, runs: undone }: RollbackPlan): void {
  const isRedo = kind === 'redo'
  const now = session.platform.clock.now()
  const [first, ...more] = undone.map((run) =>
    isRedo ? whatWasUndone(run, runs) : describeRun(run, runs, now),
  )
  session.say(isRedo ? `This sets up again what was undone: ${first}` : `This undoes ${first}`)

  const shown = more.length > maxRunsShown ? more.slice(0, maxRunsShown - 1) : more
  for (const run of shown) session.say(`  and ${run}`)
  if (shown.length < more.length) session.say(`  and ${more.length - shown.length} earlier runs`)
}

function showFiles(session: Session, rollbackPlan: RollbackPlan): void {
  for (const { path, action } of rollbackPlan.files) {
    const keptSettings = keptIn(rollbackPlan, path)
    if (action === 'unchanged' && keptSettings.length === 0) continue

    session.say(`  ${session.showPath(path)} (${actionText(action)})`)
    for (const line of changesIn(rollbackPlan, path, maxNamesShown)) session.say(`    ${line}`)
    if (keptSettings.length > 0) session.say(`    ${describeKept(keptSettings)}`)
  }
}

function showService(session: Session, { client, resultState }: ClientUndo): void {
  const service = shownAddress(client, resultState) ?? 'its own service'
  const login = resultState.login === undefined ? '' : `, with ${resultState.login}`
  session.say(`${client.label} will use ${service} again${login}.`)
}

/** The changes of one file, one line each. */
function changesIn({ edits }: RollbackPlan, path: string, maxNames?: number): string[] {
  const edit = edits.find((candidate) => candidate.path === path)
  return edit === undefined ? [] : describeChanges(edit, maxNames)
}

function keptIn({ kept }: RollbackPlan, path: string): readonly KeptSetting[] {
  return kept.filter(({ file }) => file === path)
}

/** Why settings stay, as the end of a sentence: `model stays: you changed it after the setup`. */
const reasons: Readonly<Record<ReasonToKeep, string>> = {
  changed: 'you changed it after the setup',
  together: 'address, key and models of a gateway belong together',
  unreadable: 'the client could not read what would be left of the file',
  'wrong-key': "the client would have another login or key for the gateway's address, or none",
  'our-key-stays': "the gateway's key stays in a login file that you changed",
  'our-key-elsewhere': "the file with the address of the gateway's key is gone or has another",
  'address-moved': 'another file of the client names the gateway',
  needed: 'the client could not read your additions without it',
  newer: 'you wrote it after the setup',
}

/** `model stays: you changed it after the setup`, for the settings of one file. */
function describeKept(settings: readonly KeptSetting[]): string {
  const isFileChanged = settings.some(({ why, path }) => why === 'changed' && isWholeFile(path))
  if (isFileChanged) return 'stays: you changed or deleted this file after the setup'

  const whys = [...new Set(settings.map(({ why }) => why))]
  return whys
    .map((reason) => {
      const names = settings
        .filter(({ why }) => why === reason)
        .map(({ path }) => (isWholeFile(path) ? 'the file' : plainPath(path)))
      const text = names.length === 1 ? reasons[reason] : reasons[reason].replace(/\bit\b/, 'them')
      return `${nounWithStay(names)}: ${text}`
    })
    .join('; ')
}

/** `model stays`, or `model, env.KEY stay`. */
function nounWithStay(names: readonly string[]): string {
  return `${names.join(', ')} ${names.length === 1 ? 'stays' : 'stay'}`
}

/**
 * Reports the kept settings of each file. Those that are held back have the command that undoes them too. Not even
 * `--force` restores a wrong key.
 */
function keptFindings({ kind, kept }: Pick<RollbackPlan, 'kind' | 'kept'>): readonly Finding[] {
  const redo = kind === 'redo' ? ' --redo' : ''
  return [...new Set(kept.map(({ file }) => file))].flatMap((file): readonly Finding[] => {
    const ofFile = kept.filter((setting) => setting.file === file)
    const [first, ...more] = ofFile.filter(isHeldBack)
    const others = ofFile.filter((setting) => !isHeldBack(setting))
    const isRefused = kept.some(
      ({ client, why }) => client === first?.client && why === 'wrong-key',
    )
    const hint = isRefused
      ? `Set it up instead: repoint ${first?.client}. Or point it back at its own service: repoint off ${first?.client}`
      : `Undo it too: repoint rollback ${first?.client}${redo} --force`
    return [
      ...(first ? [{ ...note('rollback-held', file, [first, ...more]), hint }] : []),
      ...(others.length > 0 ? [note('rollback-kept', file, others)] : []),
    ]
  })
}

function note(code: string, file: string, settings: readonly KeptSetting[]): Finding {
  return { code, severity: 'note', message: `${file}: ${describeKept(settings)}` }
}

/** Reports what else the undo means for the clients, such as where old conversations continue. */
function sideEffects(
  { platform }: Session,
  { clientsLosingTables }: RollbackPlan,
  changedClients: readonly ClientUndo[],
): readonly Finding[] {
  const ofClients = changedClients.flatMap(({ client, now, result }) => [
    ...(client.sideEffects?.(platform, { by: 'undo', before: now, after: result }) ?? []),
  ])
  if (clientsLosingTables.length === 0) return ofClients

  const lost: Finding = {
    code: 'changes-go-too',
    severity: 'note',
    message: `Your additions to the gateway's tables are removed too, because ${labelsOf(clientsLosingTables)} cannot read what would be left of them`,
    hint: 'Restore them: repoint rollback --redo',
  }
  return [...ofClients, lost]
}

/** Whether the rollback changes a file of this client's family. */
export function isChanged(id: string, files: ApplyResult['files']): boolean {
  return files.some(
    ({ client, action }) => action !== 'unchanged' && familyIds(id).includes(client),
  )
}

/** Whether a rollback changes any file. */
export function changesAny(files: ApplyResult['files']): boolean {
  return files.some(({ action }) => action !== 'unchanged')
}

/** Returns the exit status. */
export function reportDryRun(session: Session, rollbackPlan: RollbackPlan): number {
  session.say('Dry run: nothing changed.')
  const changed = changesAny(rollbackPlan.files)
  printDocument(session, rollbackPlan, { dryRun: true, changed, run: null, next: [] })
  return 0
}

/**
 * Reports what a rollback did. Returns the exit status.
 *
 * @param next what the user must do
 */
export function reportUndo(
  session: Session,
  rollbackPlan: RollbackPlan,
  applied: ApplyResult,
  next: readonly string[],
): number {
  const changed = changesAny(applied.files)
  session.say(changed ? doneMessage(rollbackPlan) : 'Nothing changed.')
  for (const { hint } of keptFindings(rollbackPlan)) if (hint) session.say(`  ${hint}`)
  for (const line of next) session.say(`  ${line}`)

  const run = applied.run?.id ?? null
  printDocument(session, rollbackPlan, { dryRun: undefined, changed, run, next })
  return rollbackPlan.kept.some(isHeldBack) ? errorCodes['held-back'].exitStatus : 0
}

/** What a rollback that changed something did, with the command that takes it back. */
function doneMessage(rollbackPlan: RollbackPlan): string {
  const command = undoCommandFor(rollbackPlan)
  if (rollbackPlan.kind === 'redo') return `Done. Undo: ${command}`
  const isOff = rollbackPlan.runs.every(({ kind }) => kind === 'off')
  return `Undone. ${isOff ? 'Do it again' : 'Set it up again'}: ${command}`
}

/** The command that takes a rollback back. */
export function undoCommandFor({ kind }: RollbackPlan): string {
  return kind === 'redo' ? 'repoint rollback' : 'repoint rollback --redo'
}

function printDocument(
  session: Session,
  rollbackPlan: RollbackPlan,
  report: {
    readonly dryRun: true | undefined
    readonly changed: boolean
    readonly run: string | null
    readonly next: readonly string[]
  },
): void {
  const { next, ...state } = report
  session.document({
    command: 'rollback',
    ...state,
    undoes: rollbackPlan.runs.at(-1)?.id,
    files: rollbackPlan.files.map(({ path, action }) => ({
      path,
      action,
      kept: keptIn(rollbackPlan, path).map((setting) => plainPath(setting.path)),
      changes: report.dryRun && changesIn(rollbackPlan, path),
    })),
    heldBack: heldBackAsJson(rollbackPlan.kept),
    warnings: session.findingsAsJson,
    next,
  })
}

function heldBackAsJson(kept: readonly KeptSetting[]) {
  return kept.filter(isHeldBack).map(({ file, path, why }) => ({
    path: file,
    setting: plainPath(path),
    why: reasons[why],
  }))
}

/**
 * Reports that there is nothing to undo, or only what earlier undos held back, and a run of another installation.
 * Returns the exit status.
 *
 * @param heldBack what earlier undos held back
 */
export function reportNothing(
  context: RollbackContext,
  runs: Runs,
  {
    redo,
    dryRun,
    heldBack,
  }: {
    readonly redo?: true
    readonly dryRun?: true
    readonly heldBack: readonly KeptSetting[]
  },
): number {
  const { session } = context
  if (heldBack.length === 0) session.say(`There is nothing to ${redo ? 'redo' : 'undo'}.`)
  else session.say('No other run is left to undo, but an earlier undo held this back:')
  session.addFindings(...keptFindings({ kind: 'undo', kept: heldBack }))

  const isHere = isHereCheck(context)
  const foreignRun = runs.find(({ files }) => files.some((file) => !isHere(file)))
  if (foreignRun !== undefined) {
    const paths = foreignRun.files.map(({ path }) => session.showPath(path)).join(', ')
    session.addFindings({
      code: 'other-installation',
      severity: 'note',
      message: `Run ${foreignRun.id} changed files elsewhere: ${paths}`,
      hint: `Undo it by its ID: repoint rollback --run ${foreignRun.id}. Or set HOME and the clients' folder variables as they were.`,
    })
  }
  session.showFindings()

  session.document({
    command: 'rollback',
    dryRun,
    changed: false,
    run: null,
    undoes: null,
    files: [],
    heldBack: heldBackAsJson(heldBack),
    warnings: session.findingsAsJson,
    next: [],
  })
  return heldBack.length > 0 && !dryRun ? errorCodes['held-back'].exitStatus : 0
}
