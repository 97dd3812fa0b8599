/** The check of `repoint run` before it starts a client in a folder with settings for that client. */
import { resolve } from 'node:path'
import { overrideFindings } from '../../clients/checks/overrides.ts'
import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import { ifPossible } from '../../errors.ts'
import { asNoteWithLocation, type Finding, messageWithLocation } from '../../finding.ts'
import { baseUrlFor } from '../../gateway/base-urls.ts'
import type { GatewayAccess } from '../../gateway/types.ts'
import { refuseRedirectedKey } from '../client-state/check-files.ts'
import { readClientFiles } from '../client-state/client-files.ts'
import { folderSettings } from '../client-state/folder-settings.ts'
import { versionOfPackage } from '../client-state/program/installed-program.ts'
import { realPath } from '../find-gateway/folder-gateway.ts'
import { providerIdOf } from '../resolve/point-client.ts'
import type { Session } from '../screen/session.ts'

/**
 * Checks the project files in the working folder as a setup does, and in the folders that the clients'
 * arguments name. If they redirect a client or the key, nothing starts unless the user says yes. Untested settings
 * that may do so are a question on a terminal. Other settings in these folders are only reported.
 *
 * @throws UserError `config-conflict` if repoint cannot ask; `Declined` if the user says no
 */
export async function confirmFolders(
  session: Session,
  access: GatewayAccess,
  clients: readonly Client[],
  args: readonly string[],
  { isShell }: { readonly isShell: boolean },
): Promise<void> {
  for (const client of clients) {
    const folders = workingFolders(session, client, args)
    const configured = {
      baseUrl: baseUrlFor(access, client.protocols[0]),
      providerId: providerIdOf(session, client),
      // A shell gets variables only, which the folder's files override.
      byRun: isShell ? undefined : (true as const),
    }
    const layers = filesOfFolders(session, client, folders)
    const findings: readonly Finding[] = [
      ...overrideFindings(client, layers, configured, () => versionOfPackage(session, client)),
      ...folderSettings(session, client, folders),
    ]
    if (!session.canAsk) refuseRedirectedKey(client, findings)

    for (const finding of findings) {
      const mayRedirect = ['redirected-key', 'untested-setting'].includes(finding.topic ?? '')
      if (!mayRedirect || !session.canAsk) continue
      const problem = messageWithLocation(finding, (path) => session.showPath(path))
      const question = {
        message: `${problem}. Start it anyway?`,
        default: false,
      }
      await session.askIfPossible('ask', question)
    }
    // `repoint run` chooses the model, whatever these files say.
    const others = findings.filter(
      ({ code, topic }) => code === 'folder-settings' || topic === 'untested-setting',
    )
    session.addFindings(...others.map(asNoteWithLocation))
  }
}

/** The working folder, then the folders that the arguments tell a client to work in. */
function workingFolders(
  { platform: { files, machine } }: Session,
  client: Client,
  args: readonly string[],
): readonly string[] {
  const paths = client.program.foldersIn?.(args) ?? []
  const folders = paths
    .map((path) => realPath(files, resolve(machine.cwd, path)))
    .filter((folder) => ifPossible(() => files.stat(folder))?.kind === 'folder')

  return [...new Set([machine.cwd, ...folders])]
}

/** The files that come with each folder, each file once. */
function filesOfFolders(session: Session, client: Client, folders: readonly string[]): LoadedFiles {
  const files = folders
    .flatMap((cwd) => readClientFiles(session, client, { cwd }))
    .filter(({ owner }) => owner === 'folder')
  return [...new Map(files.map((file) => [file.path, file])).values()]
}
