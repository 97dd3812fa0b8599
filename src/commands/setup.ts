import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings'
import { type ClientFlag, type ClientOptions, protocolOf } from '../clients/client.ts'
import { mergeOptions } from '../clients/flags.ts'
import { type ClientRow, checkOptions, loadClients, rowOf } from '../clients/list.ts'
import { compact } from '../compact.ts'
import { actionOf, type Plan } from '../edits/plan.ts'
import { resultOf, UserError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import { unusualRoots } from '../gateway/roots.ts'
import type { GatewayAccess } from '../gateway/types.ts'
import { saveModels } from '../state/model-cache.ts'
import { saveGateway } from '../state/save-gateway.ts'
import { acceptDrift, applyPlan, checkTargets } from '../transaction/apply.ts'
import type { Applied, Runs } from '../transaction/record.ts'
import { rootNotice } from '../transaction/target.ts'
import { readClientFiles } from './client-state/files.ts'
import { runsSoFar, settleFirst } from './client-state/history.ts'
import {
  adviceForRunning,
  expectInstalled,
  nowRun,
  stopLeftRunning,
} from './client-state/program.ts'
import type { Tried } from './client-state/try-client.ts'
import { changedSince } from './client-state/written.ts'
import {
  commandOf,
  examples,
  gatewayCommand,
  type ListedCommand,
  modelId,
  positiveInteger,
  withSetupFlags,
} from './command.ts'
import type { Session } from './screen/session.ts'
import { type ClientPlan, planClient, refuseMismatch } from './setup/plan.ts'
import { findProvenGateway } from './setup/prove.ts'
import { reportSetup, showPlan } from './setup/report.ts'
import type { ProvenRun, SetupRequest, SetupRun } from './setup/request.ts'
import { previousSetups, requestedFor } from './setup/resolve.ts'

export function commandFor(row: ClientRow): ListedCommand {
  const define = () => {
    const command = gatewayCommand(row.id).description(row.description)
    for (const flag of row.flags) command.addOption(asOption(flag))
    return withSetupFlags(command, 'the real client').addHelpText('after', examples(row.examples))
  }

  return commandOf(define, (session, flags, command) => {
    const requested = setupOptions(row.flags, command)
    return setup(session, {
      command: row.id,
      clients: [row.id],
      flags,
      optionsOf: () => requested,
      picksModel: command.getOptionValue('model') === true,
    })
  })
}

function asOption({ flag, help, choices, takes }: ClientFlag): Option {
  const option = new Option(flag, help)
  if (choices !== undefined) option.choices(choices)
  if (takes === 'tokens') option.argParser(positiveInteger(takes))
  if (takes === 'model') option.argParser(modelId)
  return option
}

/** What the given flags of a client say together. */
export function setupOptions(
  flags: readonly ClientFlag[],
  command: Pick<CommandUnknownOpts, 'getOptionValue' | 'getOptionValueSource'>,
): ClientOptions {
  const said = flags.flatMap((flag): ClientOptions[] => {
    const name = asOption(flag).attributeName()
    // commander gives a flag `--no-…` a value that nobody typed.
    if (command.getOptionValueSource(name) !== 'cli') return []
    const value = command.getOptionValue(name) as string | number | boolean
    return flag.takes === 'model' && value === true ? [] : [flag.toOptions(value)]
  })
  return mergeOptions(said)
}

/** What comes before every question of a command that sets clients up. Returns the recorded runs. */
export function begin(session: Session): Runs {
  session.addFindings(...rootNotice(session.platform))
  session.showFindings('note')
  settleFirst(session)
  return runsSoFar(session)
}

/** Carries out a setup from the first question to what the files say in the end. Returns the exit status. */
export async function setup(
  session: Session,
  request: SetupRequest,
  runs = begin(session),
): Promise<number> {
  const { platform } = session
  const { flags } = request
  const named = await loadClients(request.clients.map(rowOf))
  for (const client of named) {
    checkOptions(client, requestedFor(request, client))
    if (flags.tryClient) expectInstalled(session, client)
  }

  const consent = session.consent(flags.yes)
  const kept = previousSetups(session, named, runs)

  const run = await findProvenGateway({ session, request, consent, clients: named, runs, kept })
  const { access, catalog, clients, isLeftToClients } = run
  const drafts: ClientPlan[] = []
  for (const client of clients) drafts.push(await planClient(run, client))
  const plan = planOf(run, drafts)

  session.addFindings(...drafts.flatMap(({ notices }) => notices))
  const isDetailed = flags.details === true || flags.dryRun === true
  const consents = consentsOf(drafts)
  showPlan(run, drafts, { consents, isDetailed })
  session.showFindings('note')

  session.addFindings(...checkTargets(session.platform, plan))
  session.showFindings('note')
  session.addFindings(...consents)
  if (flags.dryRun) {
    reportSetup(run, plan, { tried: [], isProvenBefore: flags.verify, next: [], toType: [] })
    return 0
  }

  const showDetails = () => showPlan(run, drafts, { consents, isDetailed: true })
  if (plan.edits.some((edit) => actionOf(edit) !== 'unchanged'))
    await askToApply(run, consents, isDetailed ? undefined : showDetails)
  session.platform.ask.release()
  if (session.platform.interrupt.aborted)
    throw new UserError({ code: 'cancelled', message: 'Cancelled' })

  const [{ client, models, answersSafeguards }] = drafts as [ClientPlan]
  const isProvenBefore = flags.verify && !isLeftToClients
  const used = {
    access,
    proof: isProvenBefore
      ? compact({
          protocol: protocolOf(client, models),
          model: models.probeModel,
          answersSafeguards,
        })
      : undefined,
  }

  acceptWhatIsKept(run, plan)
  const misread: UserError[] = []
  const applied = applyPlan(platform, plan, {
    readBack: () => misread.push(...misreadAfter(session, drafts, access)),
    lastStep: isLeftToClients ? undefined : (locked) => saveGateway(platform, used, locked),
  })
  session.noteApplied(applied)
  session.warn(...applied.notices)
  if (misread[0] !== undefined) throw misread[0]
  if (catalog !== undefined) saveModels(platform, catalog)

  const changed = clients.filter(({ id }) =>
    applied.files.some(({ client, action }) => client === id && action !== 'unchanged'),
  )
  const toDo = await stopLeftRunning(session, changed, consent)

  const tried: Tried[] = []
  try {
    if (flags.tryClient) {
      const { tryClient } = await import('./client-state/try-client.ts')
      for (const client of clients) tried.push(await tryClient(session, client, access))
    }
  } catch (error) {
    if (isLeftToClients) await takeBack(session, applied)
    throw error
  }

  if (isLeftToClients) session.warn(...saveGateway(platform, used))
  const advice = clients.map(({ program }) => program.restartAdvice)
  const next = applied.run ? [...toDo, ...advice, 'Undo: repoint rollback'] : []
  const running = session.isJson ? [] : await adviceForRunning(session, changed)
  const toType = [...toDo, ...running, nowRun(session, clients)]
  reportSetup(run, plan, { applied, tried, isProvenBefore, next, toType })
  return 0
}

/** Why a client would not believe what was written. */
function misreadAfter(
  session: Session,
  drafts: readonly ClientPlan[],
  access: GatewayAccess,
): readonly UserError[] {
  return drafts
    .map(({ client }) =>
      resultOf(() => refuseMismatch(client, readClientFiles(session, client), access)),
    )
    .filter((one) => one instanceof UserError)
}

/** There is no proof: what was written goes back. */
async function takeBack(session: Session, { run }: Applied): Promise<void> {
  const { applyRollback, planRollback } = await import('../transaction/rollback.ts')
  const plan = run && planRollback(session.platform, { run: run.id })
  if (plan === undefined) return
  applyRollback(session.platform, plan)
  session.noteTakenBack()
}

function planOf({ request, access }: ProvenRun, drafts: readonly ClientPlan[]): Plan {
  return {
    command: request.command,
    baseUrl: access.baseUrl,
    baseUrls: unusualRoots(access),
    model: drafts[0]!.models.model,
    edits: drafts.flatMap(({ edits }) => edits),
  }
}

/** What a person has changed and this setup keeps is no drift any more, though nothing is written. */
function acceptWhatIsKept({ session, runs }: ProvenRun, plan: Plan): void {
  const kept = plan.edits.filter(
    (edit) =>
      actionOf(edit) === 'unchanged' &&
      changedSince(session, { path: edit.path, bytes: edit.before }, runs).length > 0,
  )
  if (kept.length > 0) acceptDrift(session.platform, { ...plan, edits: kept })
}

/** What of a person's own goes out of use. */
function consentsOf(drafts: readonly ClientPlan[]): readonly Finding[] {
  return drafts.flatMap(({ obstacles }) =>
    obstacles.flatMap(({ code, consent }) =>
      consent === undefined ? [] : [{ code, message: consent }],
    ),
  )
}

/** One question for the whole run. @param showDetails absent: all is shown already */
function askToApply(
  { session, consent }: SetupRun,
  consents: readonly Finding[],
  showDetails: (() => void) | undefined,
): Promise<void> {
  const needed = consents.map(
    ({ message }) => `the plan needs your consent: ${message.replace(/\.$/, '')}`,
  )

  return session.agree(
    consent,
    {
      message: consents.length > 0 ? 'Apply this, with what is marked "!"?' : 'Apply this?',
      default: consents.length === 0,
      showDetails,
    },
    {
      message: ['There is no terminal to ask whether to apply the plan', ...needed].join('; '),
      hint: 'Add --yes to accept the plan, or --dry-run to see it.',
    },
  )
}
