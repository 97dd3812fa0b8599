import { Argument, Command } from '@commander-js/extra-typings'
import type { Client, LoadedFiles } from '../clients/client.ts'
import { environmentRows, loadClients, rowOf, rows } from '../clients/list.ts'
import { asPlanned, originsOf, readFile } from '../clients/loaded-files.ts'
import { overrideFindings } from '../clients/overrides.ts'
import { isAtGateway, planOwnService } from '../clients/own-service.ts'
import { variableFindings } from '../clients/shell.ts'
import { compact } from '../compact.ts'
import { actionOf, type FileEdit, type Plan } from '../edits/plan.ts'
import { resultOf, UserError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import { checkTargets } from '../transaction/apply.ts'
import type { Applied, Runs } from '../transaction/record.ts'
import { readClientFiles, withLocation } from './client-state/files.ts'
import { earlierFiles } from './client-state/own-service.ts'
import { stopLeftRunning } from './client-state/program.ts'
import { clientsInUse, contextOf } from './client-state/state.ts'
import { commandOf, examples, type FlagsOf } from './command.ts'
import type { Session } from './screen/session.ts'
import { changedClients, nextSteps, writePlan } from './setup/apply.ts'
import { confirmEdits, showEdits } from './setup/confirm.ts'
import { fileDocuments, sayOutcome } from './setup/report.ts'
import { begin } from './setup.ts'

function define() {
  return new Command('off')
    .description('point clients back at their own service')
    .addArgument(
      new Argument('[clients...]', 'only these; absent: all that point at a gateway').choices(
        [...rows, ...environmentRows].map(({ id }) => id),
      ),
    )
    .option('--details', 'show every key that changes')
    .option('--dry-run', 'show everything, change nothing')
    .option('--yes', 'do not ask')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nRemoves address, key, provider and models; restores a replaced login.')
    .addHelpText('after', examples(['repoint off', 'repoint off codex', 'repoint off --dry-run']))
}

export const command = commandOf(define, off)

/** What `off` does for one client. */
interface ClientOff {
  readonly client: Client
  readonly before: LoadedFiles
  readonly after: LoadedFiles
  /** Empty: its files use its own service already. */
  readonly edits: readonly FileEdit[]
  /** What still points it at a gateway, and what changes besides its files. */
  readonly findings: readonly Finding[]
}

/** Points clients back at their own service, in one run. Returns the exit status. */
export async function off(
  session: Session,
  ids: readonly string[],
  flags: FlagsOf<typeof define>,
): Promise<number> {
  const runs = begin(session)
  const clients = (await clientsMeant(session, runs, ids)).flatMap((client) =>
    planClient(session, client, runs, ids.length > 0),
  )
  const changing = clients.filter(({ edits }) => edits.some(isChange))
  const plan: Plan = {
    command: 'off',
    // A client's own service has no address and no model that repoint chose.
    baseUrl: '',
    model: '',
    edits: changing.flatMap(({ edits }) => edits),
  }

  const isDetailed = flags.details === true || flags.dryRun === true
  showPlan(session, clients, isDetailed)
  session.addFindings(...clients.flatMap(({ findings }) => findings))
  session.addFindings(...checkTargets(session.platform, plan))
  session.showFindings('note')
  if (flags.dryRun) return report(session, { plan, clients })

  const consent = session.consent(flags.yes)
  const showDetails = isDetailed ? undefined : () => showPlan(session, clients, true)
  await confirmEdits(session, { edits: plan.edits, consent, showDetails })

  const applied = writePlan(session, plan, {
    findMismatches: () => changing.flatMap((one) => mismatchOf(session, one)),
  })
  const returned = changing.map(({ client }) => client)
  const changed = changedClients(applied, returned)
  const toDo = await stopLeftRunning(session, changed, consent)
  const steps = await nextSteps(session, { applied, clients: returned, changed, toDo })
  return report(session, { plan, clients, applied, ...steps })
}

/** The clients of these IDs, or all. Of each family there is one. */
async function clientsMeant(
  session: Session,
  runs: Runs,
  ids: readonly string[],
): Promise<readonly Client[]> {
  const isMeant = (id: string) => ids.length === 0 || ids.includes(id)
  const families = ids.flatMap((id) => (rows.some((row) => row.id === id) ? rowOf(id).family : []))
  const clients = (await clientsInUse(session, runs)).filter(
    ({ family }) => ids.length === 0 || families.includes(family),
  )
  const others = await loadClients(environmentRows.filter(({ id }) => isMeant(id)))
  return [...clients, ...others]
}

/**
 * @param isNamed the user named the client. Otherwise it is left out if nothing points it at a gateway
 * @throws UserError `config-invalid`, `config-conflict`, `not-permitted` for a client that was named
 */
function planClient(
  session: Session,
  client: Client,
  runs: Runs,
  isNamed: boolean,
): readonly ClientOff[] {
  const planned = resultOf((): ClientOff => {
    const before = readClientFiles(session, client)
    refuseUnreadable(client, before)
    const { key } = client.read(before)
    if (key !== undefined) session.hide(key)

    const isPointed = isAtGateway(client, before)
    const edits = isPointed
      ? planOwnService(client, before, earlierFiles(session, client, before))
      : []
    const after = asPlanned(before, edits)
    return {
      client,
      before,
      after,
      edits,
      findings: [
        ...remainingFindings(session, client, after, runs, isPointed || isNamed),
        ...(isPointed ? sideEffects(session, client, before, after) : []),
      ],
    }
  })

  if (planned instanceof UserError) {
    if (isNamed) throw planned
    const { message, hint } = planned
    const leftOut = { code: 'client-left-out', message: `${client.label} is left out: ${message}` }
    session.addFindings({ ...leftOut, ...compact({ hint }) })
    return []
  }
  const isConcerned = planned.edits.length > 0 || planned.findings.length > 0
  return isNamed || isConcerned ? [planned] : []
}

/** @throws UserError `config-invalid` for a file of which nobody can tell where it points */
function refuseUnreadable({ label }: Client, files: LoadedFiles): void {
  const [problem] = files.flatMap((file) =>
    file.use === 'target' ? (readFile(file).problem ?? []) : [],
  )
  if (problem === undefined) return
  throw new UserError({
    code: 'config-invalid',
    message: `Nobody can tell where ${label} points: ${problem}`,
    hint: 'Fix that file, then run this again.',
  })
}

/** What still points a client at a gateway after `off`: files and variables that repoint does not edit. */
function remainingFindings(
  session: Session,
  client: Client,
  after: LoadedFiles,
  runs: Runs,
  isConcerned: boolean,
): readonly Finding[] {
  const { label, config } = client
  const { addresses, others } = config.gatewayVariables ?? { addresses: [], others: [] }
  const context = contextOf(session, client, after, runs)
  const stillSet = (names: readonly string[]) => [
    ...variableFindings(
      context,
      names.map((name) => ({
        name,
        code: 'still-at-gateway',
        effect: `${label} uses it, whatever its files say`,
        severity: 'warning' as const,
      })),
    ),
  ]
  const moved = stillSet(addresses)
  const layers = [...overrideFindings(client, after, {})]
  const isOverridden = moved.length > 0 || layers.some(({ severity }) => severity === 'error')
  if (!isConcerned && !isOverridden) return []

  const { baseUrl, broken } = client.read(after)
  const { baseUrl: place } = originsOf(client, after)
  const unedited: readonly Finding[] =
    baseUrl === undefined
      ? []
      : [
          {
            code: 'still-at-gateway',
            message: `${label} still points at ${baseUrl}, by a file that repoint does not edit`,
            ...(place && { location: place }),
            hint: 'Remove the address from that file.',
          },
        ]
  const unread: readonly Finding[] =
    broken === undefined
      ? []
      : [{ code: 'broken', message: `${label} cannot read its files: ${broken}` }]

  return [...unedited, ...layers, ...moved, ...stillSet(others), ...unread].map(withLocation)
}

/** What the change means for data that repoint does not edit. */
function sideEffects(
  { platform }: Session,
  { conversationFindings, storedCopies }: Client,
  before: LoadedFiles,
  after: LoadedFiles,
): readonly Finding[] {
  return [
    ...(conversationFindings?.(platform, { before, after }) ?? []),
    ...(storedCopies?.(platform, before) ?? []),
  ]
}

function isChange(edit: FileEdit): boolean {
  return actionOf(edit) !== 'unchanged'
}

/** Why the written files do not say what was planned. */
function mismatchOf(session: Session, { client, after }: ClientOff): readonly UserError[] {
  const [planned, written] = [after, readClientFiles(session, client)].map((files) =>
    client.read(files),
  )
  const isSame = (['baseUrl', 'key', 'login', 'broken'] as const).every(
    (name) => planned?.[name] === written?.[name],
  )
  if (isSame) return []
  return [
    new UserError({
      code: 'internal',
      message: `${client.label} would not read back what the plan put into its files`,
      hint: 'Please report it: `npm bugs repoint` names the place.',
    }),
  ]
}

function showPlan(session: Session, clients: readonly ClientOff[], isDetailed: boolean): void {
  for (const { client, edits, after } of clients) {
    const changes = edits.filter(isChange)
    if (changes.length === 0) continue
    session.say(`${client.label}: back to its own service, ${loginText(client, after)}`)
    showEdits(session, changes, isDetailed)
  }
}

function loginText(client: Client, after: LoadedFiles): string {
  const { login, key } = client.read(after)
  if (login !== undefined) return `with ${login}`
  return key === undefined ? 'which may ask you to log in' : 'with your own key'
}

interface Outcome {
  readonly plan: Plan
  readonly clients: readonly ClientOff[]
  /** Absent: a dry run. */
  readonly applied?: Applied
  readonly next?: readonly string[]
  readonly toType?: readonly string[]
}

function report(session: Session, outcome: Outcome): number {
  const { plan, clients, applied, next = [], toType = [] } = outcome
  const isChanged = plan.edits.some(isChange)
  const unchanged = 'No file points a client at a gateway'
  if (isChanged) sayOutcome(session, applied, { done: '✔ Done', unchanged })
  else session.say(`${unchanged}; nothing was changed.`)
  if (isChanged) for (const line of toType) session.say(`  ${line}`)

  session.document({
    command: 'off',
    dryRun: applied === undefined || undefined,
    changed: applied ? applied.run !== undefined : isChanged,
    run: applied?.run?.id ?? null,
    clients: clients.map(({ client, edits, after }) => ({
      id: client.family,
      changed: edits.some(isChange),
      login: client.read(after).login ?? null,
    })),
    files: fileDocuments(plan, applied),
    warnings: session.warnings,
    next,
  })
  return 0
}
