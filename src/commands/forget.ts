import { Command, Option } from '@commander-js/extra-typings'
import { clientRows, loadClients } from '../clients/list.ts'
import { ifPossible, UserError, valueOrError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import type { Platform } from '../platform/platform.ts'
import { readFolders, removeFolders, type SavedFolder } from '../state/folders.ts'
import { changeGateways, removeGateways, type SavedGateway } from '../state/gateway-list.ts'
import { forgetAddress, forgetModels } from '../state/remembered.ts'
import { savedGateway, savedGateways } from '../state/saved-gateways.ts'
import { applyForget, type ForgetPlan, planForget } from '../transaction/records/forget.ts'
import { readClientFiles } from './client-state/client-files.ts'
import { clientReports, usersOf } from './client-state/client-report.ts'
import { recoverAndReport, runsSoFar } from './client-state/recorded-runs.ts'
import { GatewayArgument } from './command-line/arguments.ts'
import { commandOf, examples } from './command-line/command.ts'
import { positiveInteger } from './command-line/flags.ts'
import { shownFolder } from './find-gateway/folder-gateway.ts'
import type { Session } from './screen/session.ts'

function define() {
  return new Command('forget')
    .description('delete a saved gateway, or old runs and their copies of files')
    .addArgument(new GatewayArgument('[name]', 'the gateway to delete; its runs stay'))
    .addOption(
      new Option('--older-than <days>', 'delete every run older than this')
        .argParser(positiveInteger('days'))
        .conflicts('all'),
    )
    .option('--all', 'delete every run and every gateway')
    .option('--dry-run', 'show what it would delete')
    .option('--yes', 'delete without asking for confirmation')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(['repoint forget work', 'repoint forget --older-than 90', 'repoint forget --all']),
    )
}

const dayMs = 24 * 60 * 60_000

/** Forgets a gateway, or runs. Returns the exit status. */
export const command = commandOf(define, async (session, name, { olderThan, all, dryRun, yes }) => {
  const { platform } = session
  const forgetsRuns = all === true || olderThan !== undefined
  if (forgetsRuns === (name !== undefined))
    throw new UserError({
      code: 'usage',
      message: forgetsRuns ? 'One command deletes either a gateway or runs' : 'Say what to forget',
      hint: 'A gateway: repoint forget NAME. Old runs: repoint forget --older-than 90. Everything: repoint forget --all',
    })

  const isRecovered = recoverUnlessAll(session, all)
  const contents = contentsToForget(session, { name, olderThan, all })
  const isNothing = isRecovered && contents.isEmpty
  await show(session, contents, { name, all })
  if (!isNothing)
    session.addFindings(...(await remainingCopies(session, clientsOf(session, contents.plan))))
  session.showFindings()

  if (isNothing) session.say('There is nothing to forget.')
  else if (dryRun) session.say('Dry run: nothing changed.')
  else {
    await session.requireConsent(
      session.consent(yes),
      { message: 'Delete this? The files of your clients stay as they are.', default: false },
      {
        message: 'This deletes data, and repoint cannot ask here',
        hint: 'To accept, add --yes. To see what it would delete, add --dry-run.',
      },
    )
    if (forgetsRuns) applyForget(platform, contents.plan)
    if (all) removeLists(platform)
    else if (name !== undefined) removeGateway(platform, name)
    session.say('Forgotten.')
  }

  const { plan, gateways = [], folders = [] } = contents
  session.document({
    command: 'forget',
    dryRun,
    changed: !isNothing && !dryRun,
    runs: plan.runs.map(({ id }) => id),
    damaged: plan.damaged,
    originals: plan.originals,
    gateways: gateways.map((gateway) => gateway.name),
    folders: all ? folders.map(({ path }) => path) : [],
    warnings: session.findingsAsJson,
  })
  return 0
})

/** What the user wants to forget. */
interface Selection {
  readonly name: string | undefined
  /** In days. */
  readonly olderThan?: number | undefined
  readonly all: true | undefined
}

/** What a command would delete. An undefined list cannot be read. */
interface Contents {
  readonly plan: ForgetPlan
  readonly gateways: readonly SavedGateway[] | undefined
  readonly folders: readonly SavedFolder[] | undefined
  readonly isEmpty: boolean
}

function contentsToForget(session: Session, { name, olderThan, all }: Selection): Contents {
  const { platform } = session
  const now = platform.clock.now().getTime()
  const before = olderThan === undefined ? undefined : new Date(now - olderThan * dayMs)
  const forgetsRuns = all === true || before !== undefined
  const plan = forgetsRuns
    ? planForget(platform, before)
    : { isAll: false, runs: [], damaged: [], originals: [] }
  const gateways = gatewaysToForget(session, name, all)
  const folders = ifPossible(() => readFolders(platform))

  // A list that cannot be read (undefined) counts too: `--all` removes it.
  const hasRuns = plan.runs.length + plan.damaged.length > 0
  const hasGateways = gateways?.length !== 0
  const hasFolders = all === true && folders?.length !== 0
  return { plan, gateways, folders, isEmpty: !hasRuns && !hasGateways && !hasFolders }
}

async function show(
  session: Session,
  { plan, gateways, folders = [] }: Contents,
  { name, all }: Selection,
): Promise<void> {
  showForgotten(session, plan)
  await showGateways(session, gateways)
  for (const folder of folders) if (all || folder.gateway === name) showFolder(session, folder, all)
}

function removeLists(platform: Platform): void {
  removeFolders(platform)
  removeGateways(platform)
  forgetModels(platform)
  forgetAddress(platform)
}

function removeGateway(platform: Platform, name: string): void {
  changeGateways(platform, (gateways) => gateways.filter((gateway) => gateway.name !== name))
}

/** Recovers an unfinished run. If that fails, `--all` still removes the other records. */
function recoverUnlessAll(session: Session, all: true | undefined): boolean {
  const failure = valueOrError(() => recoverAndReport(session))
  if (!(failure instanceof UserError)) return true
  if (!all || failure.code === 'locked') throw failure
  session.addFindings({
    code: failure.code,
    severity: 'warning',
    message: `Cannot undo an interrupted run. Its files stay as they are: ${failure.message}`,
  })
  session.showFindings()
  return false
}

/** The clients that were set up, according to the records. */
function clientsOf(session: Session, { runs }: ForgetPlan): readonly string[] {
  const known = runs.length > 0 ? runs : valueOrError(() => runsSoFar(session))
  return known instanceof UserError ? [] : [...new Set(known.flatMap(({ clients }) => clients))]
}

/**
 * Reports the copies of keys that clients keep in places where neither an undo nor `forget` removes them.
 *
 * @param ids of the clients
 */
async function remainingCopies(
  session: Session,
  ids: readonly string[],
): Promise<readonly Finding[]> {
  const clients = await loadClients(clientRows.filter(({ id }) => ids.includes(id)))
  return clients.flatMap((client) => {
    const files = valueOrError(() => readClientFiles(session, client))
    if (files instanceof UserError) return []
    const change = { by: 'forget', before: files, after: files } as const
    return [...(client.sideEffects?.(session.platform, change) ?? [])]
  })
}

/** @returns undefined if the list cannot be read: `--all` still removes it */
function gatewaysToForget(
  session: Session,
  name: string | undefined,
  all: true | undefined,
): readonly SavedGateway[] | undefined {
  if (name !== undefined) return [savedGateway(session, name)]
  if (!all) return []
  const saved = valueOrError(() => savedGateways(session))
  return saved instanceof UserError ? undefined : saved
}

async function showGateways(
  session: Session,
  gateways: readonly SavedGateway[] | undefined,
): Promise<void> {
  if (gateways === undefined) session.say('Deletes the list of gateways, which repoint cannot read')
  if (!gateways?.length) return

  // The clients' files alone tell which gateway they use.
  const clients = await clientReports(session, [])
  for (const gateway of gateways) {
    const users = usersOf(gateway, clients).map(({ client }) => client.id)
    const verb = users.length > 1 ? 'use' : 'uses'
    const note = users.length === 0 ? '' : ` (${users.join(', ')} still ${verb} it)`
    session.say(`Deletes gateway ${gateway.name} and its key: ${gateway.address}${note}`)
  }
}

function showFolder(session: Session, folder: SavedFolder, all: true | undefined): void {
  const effect = all
    ? 'deleted too'
    : 'clients do not start there until you choose another: repoint folder NAME'
  session.say(`! Folder ${shownFolder(session, folder)} uses gateway ${folder.gateway}: ${effect}`)
}

function showForgotten(session: Session, { runs, damaged, originals }: ForgetPlan): void {
  for (const { id, command: word, clients, address } of runs) {
    const at = address === undefined ? '' : `, ${address}`
    session.say(`Deletes run ${id}: ${word} (${clients.join(', ')})${at}`)
  }
  if (runs.length > 0) session.say('Afterwards you cannot undo these runs.')
  for (const path of damaged)
    session.say(`Deletes ${session.showPath(path)}, a record that repoint cannot read`)
  for (const path of originals)
    session.say(
      `! Afterwards repoint cannot restore ${session.showPath(path)} to its content before these runs`,
    )
}
