import { Option } from '@commander-js/extra-typings'
import type { ClientFlag, SetupOptions } from '../clients/client.ts'
import { type ClientRow, loadClients, rowOf } from '../clients/list.ts'
import { windowNotices } from '../clients/models.ts'
import { actionOf, type Plan } from '../edits/plan.ts'
import { UserError } from '../errors.ts'
import type { Notice } from '../notice.ts'
import { applyPlan, checkTargets } from '../transaction/apply.ts'
import type { Applied } from '../transaction/record.ts'
import { rootNotice } from '../transaction/target.ts'
import { type CommandFile, examples, gatewayCommand, positiveInteger } from './command.ts'
import { readClientFiles } from './inventory/client-files.ts'
import { expectInstalled, type Tried, tryClient } from './inventory/client-program.ts'
import { runsSoFar, settleFirst } from './inventory/history.ts'
import { stopLeftRunning } from './inventory/left-running.ts'
import { rememberModels } from './inventory/model-cache.ts'
import type { Session } from './screen/session.ts'
import { type Draft, draftSetup, expectReadBack } from './setup/draft.ts'
import { findProvenGateway, proveModels } from './setup/prove.ts'
import { reportDryRun, reportSetup, showDrafts } from './setup/report.ts'
import type { RunWithGateway, SetupRequest, SetupRun } from './setup/run.ts'

export function commandFor(row: ClientRow): CommandFile<SetupRequest> {
  return {
    run: setup,
    define(run) {
      const command = gatewayCommand(row.id).description(row.description)
      for (const flag of row.flags) command.addOption(asOption(flag))
      return command
        .option('--dry-run', 'prove and show everything, change nothing')
        .option('--yes', 'accept everything that would be asked')
        .option('--no-verify', 'leave the network alone')
        .option('--try-client', 'also run the real client once')
        .option('--json', 'print one JSON document')
        .addHelpText('after', examples(row.examples))
        .action((flags) =>
          run({
            command: row.id,
            clients: [row.id],
            gateway: flags,
            options: setupOptions(row.flags, command.opts()),
            isDryRun: flags.dryRun === true,
            yes: flags.yes === true,
            verify: flags.verify,
            tryClient: flags.tryClient === true,
          }),
        )
    },
  }
}

function asOption({ flag, help, choices, default: usual, takes }: ClientFlag): Option {
  const option = new Option(flag, help)
  if (choices !== undefined) option.choices(choices)
  if (usual !== undefined) option.default(usual)
  if (takes !== undefined) option.argParser(positiveInteger(takes))
  return option
}

/** What the given flags of a client say together. */
function setupOptions(
  flags: readonly ClientFlag[],
  values: Readonly<Record<string, unknown>>,
): SetupOptions {
  const said = flags.flatMap((flag): SetupOptions[] => {
    const value = values[asOption(flag).attributeName()] as string | number | boolean | undefined
    return value === undefined ? [] : [flag.means(value)]
  })
  const slotModels = Object.assign({}, ...said.map((one) => one.slotModels))
  return Object.assign({}, ...said, { slotModels })
}

/** Carries out a setup from the first question to the last proof. Returns the exit status. */
export async function setup(session: Session, request: SetupRequest): Promise<number> {
  session.notice(...rootNotice(session.platform))
  session.showNotices('note')
  settleFirst(session)
  const clients = await loadClients(request.clients.map(rowOf))
  for (const client of clients) {
    client.checkOptions?.(request.options)
    if (request.tryClient) expectInstalled(session, client)
  }
  const consent = session.consent(request.yes)
  const asked: SetupRun = { session, request, consent, clients, runs: runsSoFar(session) }

  const { access, proof } = await findProvenGateway(asked)
  const run: RunWithGateway = { ...asked, access }
  const drafts = clients.map((client) => draftSetup(run, client, proof.models.get(client)!))
  const plan = planOf(run, drafts)

  session.notice(...drafts.flatMap(({ notices }) => notices))
  session.notice(...windowNotices(drafts.flatMap(({ unknownWindows }) => unknownWindows)))
  showDrafts(run, drafts)
  const consents = consentsOf(drafts)
  for (const { message } of consents) session.say(`  ! ${message}`)
  session.notice(...checkTargets(session.platform, plan))
  session.showNotices('note')
  session.notice(...consents)
  if (request.isDryRun) {
    reportDryRun(run, plan)
    return 0
  }

  if (plan.edits.some((edit) => actionOf(edit) !== 'unchanged')) await askToApply(run, consents)
  session.platform.ask.release()
  if (session.platform.interrupt.aborted)
    throw new UserError({ code: 'cancelled', message: 'Cancelled' })

  const applied = applyPlan(session.platform, plan)
  session.noteApplied(applied)
  if (proof.catalog !== undefined) rememberModels(session, proof.catalog)
  await proveWritten(run, drafts)

  const changed = clients.filter(({ id }) => isChanged(applied, id))
  const toDo = await stopLeftRunning(session, changed, consent)
  const tried: Tried[] = []
  if (request.tryClient) for (const client of clients) tried.push(await tryClient(session, client))
  const advice = clients.map(({ restartAdvice }) => restartAdvice)
  const next = applied.run ? [...toDo, ...advice, 'Undo: repoint rollback'] : []
  reportSetup(run, { plan, applied, tried, next })
  return 0
}

function planOf({ request, access }: RunWithGateway, drafts: readonly Draft[]): Plan {
  return {
    command: request.command,
    baseUrl: access.baseUrl,
    model: drafts[0]!.models.model,
    edits: drafts.flatMap(({ edits }) => edits),
  }
}

/** What of a person's own goes out of use. */
function consentsOf(drafts: readonly Draft[]): readonly Notice[] {
  return drafts.flatMap(({ obstacles }) =>
    obstacles.flatMap(({ code, needsConsent }) =>
      needsConsent === undefined ? [] : [{ code, message: needsConsent }],
    ),
  )
}

/** One question for the whole run. */
function askToApply({ session, consent }: SetupRun, consents: readonly Notice[]): Promise<void> {
  const needed = consents.map(
    ({ message }) => `it needs your consent: ${message.replace(/\.$/, '')}`,
  )
  return session.agree(
    consent,
    {
      message: consents.length > 0 ? 'Apply this, with what is marked "!"?' : 'Apply this?',
      default: consents.length === 0,
    },
    {
      message: ['There is no terminal to ask whether to apply the plan', ...needed].join('; '),
      hint: 'Add --yes to accept the plan, or --dry-run to see it.',
    },
  )
}

/** Reads the files back as the clients will, and proves what they say. */
async function proveWritten(
  { session, request, access }: RunWithGateway,
  drafts: readonly Draft[],
): Promise<void> {
  for (const { client } of drafts) expectReadBack(client, readClientFiles(session, client), access)
  if (!request.verify) return

  try {
    await proveModels(session, access, new Map(drafts.map((one) => [one.client, one.models])))
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    throw new UserError({
      code: error.code,
      message:
        error.code === 'cancelled'
          ? 'Cancelled after the files were written, before the last proof'
          : `The files are written, but the last proof failed: ${error.message}`,
      hint: error.hint,
      cause: error,
    })
  }
}

function isChanged({ files }: Applied, id: string): boolean {
  return files.some(({ client, action }) => client === id && action !== 'unchanged')
}
