/** `repoint off`: points clients back at their own service. `off/plan.ts` plans the edits of each client. */
import { Argument, Command } from '@commander-js/extra-typings'
import { clientRows, environmentRows } from '../clients/list.ts'
import type { Plan } from '../edits/types.ts'
import { checkPlannedFiles } from '../transaction/check-planned-files.ts'
import type { ApplyResult } from '../transaction/record.ts'
import { stopOldServers } from './client-state/program/running.ts'
import { recoverAndListRuns } from './client-state/recorded-runs.ts'
import { commandOf, examples, type FlagsOf } from './command-line/command.ts'
import { type ClientOffPlan, changesFile, mismatchesIn, planClients } from './off/plan.ts'
import { confirmEdits, showEdits } from './plan/confirm-edits.ts'
import {
  changedClients,
  fileDocuments,
  type NextSteps,
  nextSteps,
  sayOutcome,
  writePlan,
} from './plan/write-plan.ts'
import type { Session } from './screen/session.ts'

function define() {
  const ids = [...clientRows, ...environmentRows].map(({ id }) => id)
  return new Command('off')
    .addArgument(
      new Argument(
        '[clients...]',
        'only these; without it: every client that points at a gateway',
      ).choices(ids),
    )
    .option('--details', 'show every setting that changes')
    .option('--dry-run', 'show everything; change nothing')
    .option('--yes', 'apply without asking for confirmation')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nRemoves the address, key, provider and models. Restores a replaced login.',
    )
    .addHelpText('after', examples(['repoint off', 'repoint off codex', 'repoint off --dry-run']))
}

export const command = commandOf(define, off)

/** Points clients back at their own service, no matter which tool set them up. Returns the exit status. */
export async function off(
  session: Session,
  ids: readonly string[],
  flags: FlagsOf<typeof define>,
): Promise<number> {
  const runs = recoverAndListRuns(session)
  const clients = await planClients(session, runs, ids)
  const edits = clients.flatMap((client) => client.edits)
  const plan: Plan = { kind: 'off', command: 'off', edits }

  const isDetailed = flags.details === true || flags.dryRun === true
  showPlan(session, clients, { isDetailed })
  session.addFindings(...clients.flatMap(({ findings }) => findings))
  session.addFindings(...checkPlannedFiles(session.platform, plan))
  session.showFindings()
  if (flags.dryRun) return report(session, { plan, clients })

  const consent = session.consent(flags.yes)
  const showDetails = isDetailed
    ? undefined
    : () => showPlan(session, clients, { isDetailed: true })
  await confirmEdits(session, { edits, consent, showDetails })

  const applied = writePlan(session, plan, { findMismatches: () => mismatchesIn(session, clients) })
  const planned = clients.map(({ client }) => client)
  const changed = changedClients(applied, planned)
  const serverAdvice = await stopOldServers(session, changed, consent)
  const steps = await nextSteps(session, { applied, clients: changed, serverAdvice })
  return report(session, { plan, clients, applied, nextSteps: steps })
}

function showPlan(
  session: Session,
  clients: readonly ClientOffPlan[],
  { isDetailed }: { readonly isDetailed: boolean },
): void {
  const isAnyChanged = clients.some(({ edits }) => edits.length > 0)
  for (const plan of clients) {
    const { client, edits } = plan
    if (edits.length > 0) {
      session.say(`${client.label}: back to its own service, ${loginText(plan)}`)
      showEdits(session, edits.filter(changesFile), isDetailed)
    } else if (isAnyChanged) session.say(`${client.label}: no file points it at a gateway`)
  }
}

function loginText({ client, after }: ClientOffPlan): string {
  const { login, endpoint } = client.read(after)
  if (login !== undefined) return `with ${login}`
  return endpoint.key === undefined ? 'and may ask you to log in' : 'with your own key'
}

interface OffResult {
  readonly plan: Plan
  readonly clients: readonly ClientOffPlan[]
  /** Absent: a dry run. */
  readonly applied?: ApplyResult
  readonly nextSteps?: NextSteps
}

function report(session: Session, result: OffResult): number {
  const { plan, clients, applied, nextSteps: steps } = result
  const isAnyChanged = plan.edits.length > 0
  const unchanged = 'No file points a client at a gateway'
  if (isAnyChanged) sayOutcome(session, applied, { done: '✔ Done', unchanged })
  else session.say(`${unchanged}. Nothing changed.`)
  if (isAnyChanged) for (const line of steps?.forPerson ?? []) session.say(`  ${line}`)
  if (!session.isJson) return 0

  session.document({
    command: 'off',
    dryRun: applied === undefined || undefined,
    changed: applied ? applied.run !== undefined : isAnyChanged,
    run: applied?.run?.id ?? null,
    clients: clients.map(({ client, edits, after }) => ({
      id: client.family,
      changed: edits.length > 0,
      login: client.read(after).login ?? null,
    })),
    files: fileDocuments(plan, applied),
    warnings: session.findingsAsJson,
    next: steps?.forScript ?? [],
  })
  return 0
}
