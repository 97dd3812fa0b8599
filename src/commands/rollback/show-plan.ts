/** What a rollback would do, in words: the runs, the files, and the settings that it keeps. */
import { familyIds } from '../../clients/list.ts'
import { actionText, describeChanges } from '../../edits/describe.ts'
import { plainPath } from '../../edits/values/paths.ts'
import type { Finding } from '../../finding.ts'
import type { RollbackPlan } from '../../transaction/plan-rollback.ts'
import type { ApplyResult, KeptSetting } from '../../transaction/record.ts'
import { shownAddress } from '../client-state/client-report.ts'
import type { Session } from '../screen/session.ts'
import type { ClientUndo, RollbackContext } from './context.ts'
import { describeRun, labelsOf, whatWasUndone } from './describe.ts'

/** The messages name this many further runs, and count the others. */
const maxRunsShown = 5

/** Shows the runs, the changes of each file, and the service that each client will use. */
export function showPlan(
  context: RollbackContext,
  undo: RollbackPlan,
  clientUndos: readonly ClientUndo[],
): void {
  const { session } = context
  showRuns(context, undo)
  showFiles(session, undo)

  for (const { client, afterState } of clientUndos) {
    if (!isChanged(client.id, undo.files)) continue
    const service = shownAddress(client, afterState) ?? 'its own service'
    const login = afterState.login === undefined ? '' : `, with ${afterState.login}`
    session.say(`${client.label} will use ${service} again${login}.`)
  }
}

function showRuns(
  { session, runs }: RollbackContext,
  { isRedo, runs: undone }: RollbackPlan,
): void {
  const now = session.platform.clock.now()
  const [first, ...more] = undone.map((run) =>
    isRedo ? whatWasUndone(run, runs) : describeRun(run, runs, now),
  )
  session.say(isRedo ? `This sets up again what was undone: ${first}` : `This undoes ${first}`)

  const shown = more.length > maxRunsShown ? more.slice(0, maxRunsShown - 1) : more
  for (const run of shown) session.say(`  and ${run}`)
  if (shown.length < more.length) session.say(`  and ${more.length - shown.length} earlier runs`)
}

function showFiles(session: Session, undo: RollbackPlan): void {
  for (const { path, action } of undo.files) {
    const keptSettings = keptIn(undo, path)
    if (action === 'unchanged' && keptSettings.length === 0) continue

    session.say(`  ${session.showPath(path)} (${actionText(action)})`)
    for (const line of changesIn(undo, path)) session.say(`    ${line}`)
    if (keptSettings.length > 0) session.say(`    ${describeKept(keptSettings)}`)
  }
}

/** The changes of one file, one line each. */
export function changesIn({ plan }: RollbackPlan, path: string): string[] {
  const edit = plan.edits.find((candidate) => candidate.path === path)
  return edit === undefined ? [] : describeChanges(edit)
}

function keptIn({ kept }: RollbackPlan, path: string): readonly KeptSetting[] {
  return kept.filter(({ file }) => file === path)
}

/** `model stays: you changed it after the setup`, for the settings of one file. */
function describeKept(settings: readonly KeptSetting[]): string {
  const namesFor = (reason: KeptSetting['why']) =>
    settings.filter(({ why }) => why === reason).map(({ path }) => plainPath(path))
  const changed = namesFor('changed')
  const grouped = namesFor('together')

  const isWholeFile = changed.includes('')
  if (isWholeFile) return 'stays: you changed or deleted this file after the setup'

  const reasons: string[] = []
  if (changed.length > 0) {
    const pronoun = changed.length === 1 ? 'it' : 'them'
    reasons.push(`${nounWithStay(changed)}: you changed ${pronoun} after the setup`)
  }
  if (grouped.length > 0)
    reasons.push(`${nounWithStay(grouped)}: address, key and models of a gateway belong together`)
  return reasons.join('; ')
}

/** `model stays`, or `model, env.KEY stay`. */
function nounWithStay(names: readonly string[]): string {
  return `${names.join(', ')} ${names.length === 1 ? 'stays' : 'stay'}`
}

/** Reports the kept settings of each file, with the command that undoes them too. */
export function keptFindings(undo: RollbackPlan): readonly Finding[] {
  return undo.files.flatMap(({ path, client }) => {
    const keptSettings = keptIn(undo, path)
    if (keptSettings.length === 0) return []

    const redo = undo.isRedo ? ' --redo' : ''
    const hint = `Undo it too: repoint rollback ${client}${redo} --force`
    return [{ code: 'rollback-held', message: `${path}: ${describeKept(keptSettings)}`, hint }]
  })
}

/** Reports what else the undo means for the clients, such as where old conversations continue. */
export function sideEffects(
  { platform }: Session,
  { files, clientsLosingTables }: RollbackPlan,
  clientUndos: readonly ClientUndo[],
): readonly Finding[] {
  const findings: Finding[] = []
  for (const { client, before, after } of clientUndos)
    if (isChanged(client.id, files))
      findings.push(...(client.sideEffects?.(platform, { by: 'undo', before, after }) ?? []))

  if (clientsLosingTables.length > 0)
    findings.push({
      code: 'changes-go-too',
      message: `Your additions to the gateway's tables are removed too, because ${labelsOf(clientsLosingTables)} cannot read what would be left of them`,
      hint: 'Restore them: repoint rollback --redo',
    })
  return findings
}

/** Whether the rollback changes a file of this client's family. */
export function isChanged(id: string, files: ApplyResult['files']): boolean {
  return files.some(
    ({ client, action }) => action !== 'unchanged' && familyIds(id).includes(client),
  )
}
