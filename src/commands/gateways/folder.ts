import { resolve } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { resultOf, UserError } from '../../errors.ts'
import { isThere } from '../../transaction/files.ts'
import { changeFolders, readFolders, type SavedFolder } from '../../transaction/folders.ts'
import { commandOf, examples, GatewayArgument } from '../command.ts'
import { savedGateway } from '../inventory/saved-gateways.ts'
import type { Session } from '../screen/session.ts'
import { folderHere, gatewayOf, realPath, shownFolder } from './by-folder.ts'

function define() {
  return new Command('folder')
    .description('remember which gateway clients use that are started in this folder')
    .addArgument(new GatewayArgument('[name]', 'the gateway; absent: show the remembered folders'))
    .option('--forget [path]', 'forget this folder, or that at the path')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(['repoint folder work', 'repoint run -- codex', 'repoint folder --forget']) +
        examples(['source <(repoint completion bash --hook)'], 'For `codex` alone, in your shell'),
    )
}

/** Remembers the folder, forgets it, or shows all. Nothing is written in the folder itself. */
export const command = commandOf(define, (session, name, { forget }) => {
  if (name !== undefined && forget !== undefined)
    throw new UserError({
      code: 'usage',
      message: 'A gateway is named, and --forget',
      hint: 'repoint folder NAME remembers it for this folder, repoint folder --forget forgets the folder.',
    })

  const changed =
    name !== undefined
      ? remember(session, name)
      : forget !== undefined
        ? forgetAt(session, forget === true ? '.' : forget)
        : showAll(session)
  const here = folderHere(session)
  session.showNotices('warning')
  session.document({
    command: 'folder',
    changed,
    here: here ?? null,
    folders: readFolders(session.platform),
    warnings: session.notices,
  })
  return 0
})

/** Each of these returns whether anything has changed. */
function remember(session: Session, name: string): boolean {
  const { platform } = session
  const { baseUrl } = savedGateway(session, name)
  const path = realPath(platform.files, platform.machine.cwd)
  const shown = shownFolder(session, { path })
  const before = readFolders(platform).find((one) => one.path === path)
  const changed = before?.gateway !== name || before.baseUrl !== baseUrl

  if (changed)
    changeFolders(platform, (all) => [
      { path, gateway: name, baseUrl },
      ...all.filter((one) => one.path !== path),
    ])
  session.say(`${changed ? '✔ ' : ''}Clients started in ${shown} use gateway ${name} (${baseUrl}),`)
  session.say('  started as repoint run -- CLIENT, or through the hook of your shell.')
  session.say('  No file in the folder was changed. Now run: repoint run -- codex')
  return changed
}

function forgetAt(session: Session, typed: string): boolean {
  const { platform } = session
  const path = resolve(platform.machine.cwd, typed)
  const places = [path, realPath(platform.files, path)]
  const isIt = (one: SavedFolder) => places.includes(one.path)
  const found = readFolders(platform).find(isIt)
  if (found !== undefined) {
    changeFolders(platform, (all) => all.filter((one) => !isIt(one)))
    session.say(`Forgotten: ${shownFolder(session, found)} had gateway ${found.gateway}.`)
  } else session.say(`${shownFolder(session, { path })} has no gateway of its own.`)

  const above = folderHere(session)
  if (above !== undefined)
    session.say(`Here ${shownFolder(session, above)} counts, with gateway ${above.gateway}.`)
  return found !== undefined
}

function showAll(session: Session): boolean {
  const all = readFolders(session.platform)
  const here = folderHere(session)
  if (all.length === 0)
    session.say('No folder has a gateway of its own. In one: repoint folder NAME')
  else
    session.sayTable(
      ['  FOLDER', 'GATEWAY', 'ADDRESS'],
      all.map((one) => [
        `${one.path === here?.path ? '*' : ' '} ${shownFolder(session, one)}`,
        one.gateway,
        one.baseUrl,
      ]),
    )

  for (const one of all) {
    const failure = resultOf(() => gatewayOf(session, one))
    if (failure instanceof UserError) session.say(`! ${failure.message}`)
    else if (!isThere(session.platform.files, one.path))
      session.say(`! There is no folder ${shownFolder(session, one)} any more`)
  }
  if (here !== undefined) session.remark('`*`: counts here.')
  return false
}
