import { resolve } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { UserError, valueOrError } from '../errors.ts'
import { folderList, type SavedFolder } from '../state/folders.ts'
import { savedGateway } from '../state/saved-gateways.ts'
import { changeList, readList } from '../state/saved-list.ts'
import { pathExists } from '../transaction/files.ts'
import { GatewayArgument } from './command-line/arguments.ts'
import { commandOf, examples } from './command-line/command.ts'
import {
  folderDocument,
  folderHere,
  gatewayOfFolder,
  realPath,
  shownFolder,
} from './find-gateway/folder-gateway.ts'
import type { Session } from './screen/session.ts'

function define() {
  return new Command('folder')
    .description('choose a gateway for the clients that you start in this folder')
    .addArgument(new GatewayArgument('[name]', 'the gateway; without it: list the folders'))
    .option('--forget [path]', 'remove the gateway of this folder, or of the folder PATH')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(['repoint folder work', 'repoint run -- codex', 'repoint folder --forget']) +
        examples(['source <(repoint completion bash --hook)'], 'For `codex` alone, in your shell'),
    )
}

/** What the user wants. */
type Action =
  | { readonly kind: 'choose'; readonly gateway: string }
  | { readonly kind: 'forget'; readonly path: string }
  | { readonly kind: 'list' }

/** Remembers the folder, forgets a folder, or shows all of them. Writes nothing into the folder itself. */
export const command = commandOf(define, (session, name, { forget }) => {
  const action = actionFor(name, forget)
  const before = readList(session.platform, folderList)
  const isChanged = applyAction(session, action, before)
  const folders = readList(session.platform, folderList)
  const here = folderHere(session, folders)

  if (action.kind === 'list') show(session, folders, here)
  if (action.kind === 'forget' && here !== undefined)
    session.say(
      `Clients started here use gateway ${here.gateway} (folder ${shownFolder(session, here)}).`,
    )
  session.document({
    command: 'folder',
    changed: isChanged,
    here: here === undefined ? null : folderDocument(here),
    folders: folders.map(folderDocument),
    warnings: session.findingsAsJson,
  })
  return 0
})

/** @throws UserError `usage` */
function actionFor(name: string | undefined, forget: string | true | undefined): Action {
  if (name !== undefined && forget !== undefined)
    throw new UserError({
      code: 'usage',
      message: 'Use either a gateway or --forget',
      hint: 'Choose: repoint folder NAME. Remove: repoint folder --forget',
    })
  if (name !== undefined) return { kind: 'choose', gateway: name }
  if (forget !== undefined) return { kind: 'forget', path: forget === true ? '.' : forget }
  return { kind: 'list' }
}

/** @returns whether the list changes */
function applyAction(session: Session, action: Action, before: readonly SavedFolder[]): boolean {
  switch (action.kind) {
    case 'choose':
      return chooseGateway(session, action.gateway, before)
    case 'forget':
      return forgetFolder(session, action.path, before)
    case 'list':
      return false
  }
}

/** @returns whether the list changes */
function chooseGateway(session: Session, name: string, before: readonly SavedFolder[]): boolean {
  const { platform } = session
  const { address } = savedGateway(session, name)
  const path = realPath(platform.files, platform.machine.cwd)
  const entry = { path, gateway: name, address }
  const isNew = before.every((known) => JSON.stringify(known) !== JSON.stringify(entry))

  if (isNew)
    changeList(platform, folderList, (folders) => [
      entry,
      ...folders.filter((folder) => folder.path !== path),
    ])
  session.say(`✔ Folder ${shownFolder(session, entry)} uses gateway ${name} (${address})`)
  session.say('  `repoint run -- CLIENT` and your shell hook use this gateway. No file changed.')
  session.say('  Now run: repoint run -- codex')
  return isNew
}

/** @returns whether the list changes */
function forgetFolder(session: Session, typed: string, before: readonly SavedFolder[]): boolean {
  const { platform } = session
  const path = resolve(platform.machine.cwd, typed)
  const places = [path, realPath(platform.files, path)]
  const isKnown = before.some((folder) => places.includes(folder.path))

  if (isKnown)
    changeList(platform, folderList, (folders) =>
      folders.filter(({ path }) => !places.includes(path)),
    )
  const shown = shownFolder(session, { path })
  session.say(isKnown ? `✔ Removed: ${shown}` : `${shown} has no gateway.`)
  return isKnown
}

function show(
  session: Session,
  folders: readonly SavedFolder[],
  here: SavedFolder | undefined,
): void {
  if (folders.length === 0) {
    session.say('No folder has a gateway. To choose one here: repoint folder NAME')
    return
  }

  const rows = folders.map((folder) => [
    `${folder.path === here?.path ? '*' : ' '} ${shownFolder(session, folder)}`,
    folder.gateway,
    folder.address,
  ])
  session.sayTable(['  FOLDER', 'GATEWAY', 'ADDRESS'], rows)

  for (const folder of folders) {
    const failure = valueOrError(() => gatewayOfFolder(session, folder))
    if (failure instanceof UserError) session.say(`! ${failure.message}`)
    else if (!pathExists(session.platform.files, folder.path))
      session.say(`! Folder ${shownFolder(session, folder)} no longer exists`)
  }
  if (here !== undefined) session.remark('* used here')
}
