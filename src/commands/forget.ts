import { Command, Option } from '@commander-js/extra-typings'
import { clientRows, loadClients } from '../clients/list.ts'
import { ifPossible, UserError, valueOrError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import type { Platform } from '../platform/platform.ts'
import { folderList, type SavedFolder } from '../state/folders.ts'
import { gatewayList, type SavedGateway } from '../state/gateway-list.ts'
import { forgetAddress, forgetModels, forgetServed } from '../state/remembered.ts'
import { savedGateway, savedGateways } from '../state/saved-gateways.ts'
import { changeList, readList, removeList } from '../state/saved-list.ts'
import { applyForget, type ForgetPlan, planForget } from '../transaction/records/forget.ts'
import { readClientFiles } from './client-state/client-files.ts'
import { clientsNow, usersOf } from './client-state/client-now.ts'
import { forgottenKeyFindings, keysOfRuns, knownKeys } from './client-state/known-keys.ts'
import { recoverAndReport, runsSoFar } from './client-state/recorded-runs.ts'
import { GatewayArgument } from './command-line/arguments.ts'
import { commandOf, examples, type FlagsOf } from './command-line/command.ts'
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

export const command = commandOf(define, forget)

/** Forgets the gateway with this name, or runs. Returns the exit status. */
export async function forget(
  session: Session,
  name: string | undefined,
  { olderThan, all, dryRun, yes }: FlagsOf<typeof define>,
): Promise<number> {
  const { platform } = session
  const selection = selectionOf({ name, olderThan, all })
  const isAll = selection.kind === 'all'

  const isRecovered = recover(session, selection)
  const contents = contentsToForget(session, selection)
  const { plan } = contents
  const isNothing = isRecovered && isEmpty(contents)
  await show(session, contents, selection)
  if (!isNothing) {
    session.addFindings(...(await remainingCopies(session, clientsOf(session, plan))))
    session.addFindings(...(await remainingKeys(session, contents)))
  }
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
    if (selection.kind === 'gateway') removeGateway(platform, selection.name)
    else applyForget(platform, plan)
    if (isAll) removeLists(platform)
    session.say('Forgotten.')
  }

  session.document({
    command: 'forget',
    dryRun,
    changed: !isNothing && !dryRun,
    runs: plan.runs.map(({ id }) => id),
    damaged: plan.damaged,
    originals: plan.originals,
    gateways: readable(contents.gateways).map((gateway) => gateway.name),
    folders: isAll ? readable(contents.folders).map(({ path }) => path) : [],
    warnings: session.findingsAsJson,
  })
  return 0
}

/** What the user wants to forget. `all`: every run, every gateway and every folder. */
type Selection =
  | { readonly kind: 'gateway'; readonly name: string }
  | { readonly kind: 'old-runs'; readonly olderThanDays: number }
  | { readonly kind: 'all' }

/** @throws UserError `usage` */
function selectionOf({
  name,
  olderThan,
  all,
}: {
  readonly name: string | undefined
  readonly olderThan?: number
  readonly all?: true
}): Selection {
  const usageError = (message: string) =>
    new UserError({
      code: 'usage',
      message,
      hint: 'A gateway: repoint forget NAME. Old runs: repoint forget --older-than 90. Everything: repoint forget --all',
    })
  if (name !== undefined) {
    if (all || olderThan !== undefined)
      throw usageError('One command deletes either a gateway or runs')
    return { kind: 'gateway', name }
  }
  if (all) return { kind: 'all' }
  if (olderThan !== undefined) return { kind: 'old-runs', olderThanDays: olderThan }
  throw usageError('Say what to forget')
}

/** A saved list. One that repoint cannot read is deleted by `--all` all the same. */
type ListIfReadable<Item> = readonly Item[] | 'unreadable'

function readable<Item>(list: ListIfReadable<Item>): readonly Item[] {
  return list === 'unreadable' ? [] : list
}

/** What a command would delete. */
interface Contents {
  readonly plan: ForgetPlan
  readonly gateways: ListIfReadable<SavedGateway>
  /** The folders that lose their gateway. Only `--all` deletes them too. */
  readonly folders: ListIfReadable<SavedFolder>
}

function contentsToForget(session: Session, selection: Selection): Contents {
  const { platform } = session

  switch (selection.kind) {
    case 'gateway': {
      const { name } = selection
      const folders = readable(savedFolders(platform)).filter(({ gateway }) => gateway === name)
      const plan = { isAll: false, runs: [], damaged: [], originals: [] }
      return { plan, gateways: [savedGateway(session, name)], folders }
    }
    case 'old-runs': {
      const now = platform.clock.now().getTime()
      const plan = planForget(platform, new Date(now - selection.olderThanDays * dayMs))
      return { plan, gateways: [], folders: [] }
    }
    case 'all': {
      const saved = valueOrError(() => savedGateways(session))
      const gateways = saved instanceof UserError ? 'unreadable' : saved
      return { plan: planForget(platform), gateways, folders: savedFolders(platform) }
    }
  }
}

function savedFolders(platform: Platform): ListIfReadable<SavedFolder> {
  return ifPossible(() => readList(platform, folderList)) ?? 'unreadable'
}

function isEmpty({ plan, gateways, folders }: Contents): boolean {
  const lists = [plan.runs, plan.damaged, gateways, folders]
  return lists.every((list) => list !== 'unreadable' && list.length === 0)
}

async function show(
  session: Session,
  { plan, gateways, folders }: Contents,
  selection: Selection,
): Promise<void> {
  showForgotten(session, plan)
  await showGateways(session, gateways)
  for (const folder of readable(folders)) showFolder(session, folder, selection)
}

function removeLists(platform: Platform): void {
  removeList(platform, folderList)
  removeList(platform, gatewayList)
  forgetModels(platform)
  forgetServed(platform)
  forgetAddress(platform)
}

function removeGateway(platform: Platform, name: string): void {
  changeList(platform, gatewayList, (gateways) =>
    gateways.filter((gateway) => gateway.name !== name),
  )
}

/** Recovers an unfinished run, and returns whether that succeeded. `--all` removes one that cannot be restored. */
function recover(session: Session, { kind }: Selection): boolean {
  const failure = valueOrError(() => recoverAndReport(session))
  if (!(failure instanceof UserError)) return true
  if (kind !== 'all' || failure.code === 'locked') throw failure
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

/** Reports the keys in clients' files that repoint would no longer find. A client that uses its gateway keeps it. */
async function remainingKeys(
  session: Session,
  { plan, gateways }: Contents,
): Promise<readonly Finding[]> {
  const forgotten = [...readable(gateways), ...keysOfRuns(session, plan.runs)].map(({ key }) => key)
  const runs = valueOrError(() => runsSoFar(session))
  const known = knownKeys(session, runs instanceof UserError ? plan.runs : runs).filter(({ key }) =>
    forgotten.includes(key),
  )
  const clients = await clientsNow(session, [])
  return clients.flatMap((client) => forgottenKeyFindings(session, client, known))
}

async function showGateways(
  session: Session,
  gateways: ListIfReadable<SavedGateway>,
): Promise<void> {
  if (gateways === 'unreadable')
    return session.say('Deletes the list of gateways, which repoint cannot read')
  if (gateways.length === 0) return

  // The clients' files alone tell which gateway they use.
  const clients = await clientsNow(session, [])
  for (const gateway of gateways) {
    const users = usersOf(gateway, clients).map(({ client }) => client.id)
    const verb = users.length > 1 ? 'use' : 'uses'
    const note = users.length === 0 ? '' : ` (${users.join(', ')} still ${verb} it)`
    session.say(`Deletes gateway ${gateway.name} and its key: ${gateway.address}${note}`)
  }
}

function showFolder(session: Session, folder: SavedFolder, { kind }: Selection): void {
  const effect =
    kind === 'all'
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
