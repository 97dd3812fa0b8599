/** What in a client's files, in its environment and in the folder keeps it from using a gateway? */
import { type ConfiguredGateway, overrideFindings } from '../../clients/checks/overrides.ts'
import type { Client, ClientContext } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import type { SetupTarget } from '../../clients/contract/setup.ts'
import { UserError } from '../../errors.ts'
import { type Finding, messageWithLocation } from '../../finding.ts'
import { rememberedModels } from '../../state/remembered.ts'
import type { Runs } from '../../transaction/record.ts'
import type { Session } from '../screen/session.ts'
import { writtenBaseUrls } from './client-facts.ts'
import { readShellProfiles } from './client-files.ts'
import { worldWritablePaths } from './file-permissions.ts'
import { folderSettings } from './folder-settings.ts'

/**
 * Reports what would keep a client from using a gateway: in its files, its environment and the folder.
 *
 * @param target what a setup is about to write. Absent: nothing, so that the files are checked as they are
 * @param configured the gateway that the client uses, or will use. Undefined: its own service, so that
 *   overrides are the user's business
 */
export function checkFiles(
  session: Session,
  client: Client,
  context: ClientContext,
  {
    target,
    configured,
  }: {
    readonly target?: SetupTarget
    readonly configured: ConfiguredGateway | undefined
  },
): readonly Finding[] {
  const overrides = configured ? overrideFindings(client, context.files, configured) : []
  return [
    ...(target ? client.checkSetup(context, target) : client.checkNow(context)),
    ...overrides,
    ...(configured ? folderSettings(session, client) : []),
    ...worldWritablePaths(session, context.files),
  ]
}

/**
 * Reports what keeps `repoint run` from starting a client. It sets the address, the key, the provider and the
 * model itself, so that only a file that the client cannot read is still a problem. That is a warning, because
 * some clients start without the file.
 */
export function checkFilesForLaunch(
  session: Session,
  client: Client,
  context: ClientContext,
): readonly Finding[] {
  const unreadable = [...client.checkNow(context)].filter(({ topic }) => topic === 'broken')
  return [
    ...unreadable.map((finding) => ({ ...finding, severity: 'warning' as const })),
    ...worldWritablePaths(session, context.files),
  ]
}

/** What a client's checks may read. */
export function contextOf(
  session: Session,
  client: Client,
  files: LoadedFiles,
  runs: Runs,
): ClientContext {
  return {
    files,
    machine: session.platform.machine,
    writtenBaseUrls: writtenBaseUrls(client, runs),
    // These read files, and few checks need them.
    get knownModels() {
      return rememberedModels(session.platform)
    },
    get shellProfiles() {
      return readShellProfiles(session)
    },
    world: session.platform,
  }
}

/** @throws UserError `config-conflict` if a file of this folder sends the key elsewhere */
export function refuseRedirectedKey(
  { label }: Pick<Client, 'label'>,
  findings: readonly Finding[],
): void {
  const redirect = findings.find(({ topic }) => topic === 'redirected-key')
  if (redirect === undefined) return
  throw new UserError({
    code: 'config-conflict',
    message: `${label} would not use the gateway here: ${messageWithLocation(redirect)}`,
    hint: 'Run the command in another folder, such as your home, or remove that setting from the file.',
  })
}
