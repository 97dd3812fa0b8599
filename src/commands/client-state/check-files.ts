/** What in a client's files, in its environment and in the folder keeps it from using a gateway? */
import { unknownVariableFindings } from '../../clients/checks/environment.ts'
import { type ConfiguredGateway, overrideFindings } from '../../clients/checks/overrides.ts'
import type { Client, ClientContext } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import type { SetupTarget } from '../../clients/contract/setup.ts'
import { errorFrom, findingFrom } from '../../errors.ts'
import { type Finding, type Findings, messageWithLocation } from '../../finding.ts'
import { rememberedModels } from '../../state/remembered.ts'
import { whyNoRecords, whyNotReplaceable } from '../../transaction/check-planned-files.ts'
import type { Runs } from '../../transaction/record.ts'
import type { Session } from '../screen/session.ts'
import { writtenBaseUrls } from './client-facts.ts'
import { readShellProfiles } from './client-files.ts'
import { worldWritablePaths } from './file-permissions.ts'
import { folderSettings } from './folder-settings.ts'
import { isInstalled, type ProgramVersion, versionOfPackage } from './program/installed-program.ts'

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
  const versionOf = () => versionOfPackage(session, client)
  const overrides = configured ? overrideFindings(client, context.files, configured, versionOf) : []
  return [
    ...(target ? client.checkSetup(context, target) : client.checkNow(context)),
    ...overrides,
    ...(configured ? unknownVariableFindings(client, context) : []),
    ...(configured ? folderSettings(session, client) : []),
    ...worldWritablePaths(session, context.files),
    ...unwritableFindings(session, client, context),
  ]
}

/** Reports the first file that no run could replace, for a client that is on this machine or was set up here. */
function* unwritableFindings(
  session: Session,
  client: Client,
  { files, writtenBaseUrls }: ClientContext,
): Findings {
  const hasNoFiles = files.every(({ bytes }) => bytes === null)
  if (hasNoFiles && writtenBaseUrls.length === 0 && !isInstalled(session, client)) return
  const finding = whyUnwritable(session, client, files)
  if (finding !== undefined) yield finding
}

/** The first file of a client that no run could replace. */
function whyUnwritable(
  { platform }: Session,
  { label, program }: Client,
  files: LoadedFiles,
): Finding | undefined {
  const editable = files.filter(({ use }) => use === 'editable')
  const [error] = editable.flatMap((file) => whyNotReplaceable(platform, file) ?? [])
  if (error === undefined) return undefined

  // Without a cause it is a rule of repoint's own, such as one about the owner.
  const isRefusedBySystem = error.code === 'not-permitted' && error.cause !== undefined
  const stopsClient = program.writesItsFolder === true && isRefusedBySystem
  return {
    ...findingFrom(error),
    message: stopsClient ? `${label} does not start: ${error.message}` : error.message,
    severity: stopsClient ? 'error' : 'warning',
    topic: 'unwritable',
  }
}

/**
 * Stops a run that has to change the files of a client and could not write or record them, before it sends a
 * request.
 *
 * @throws UserError `not-permitted`, `disk-full`, `locked`, `config-conflict`, as the run would
 */
export function expectWritable(session: Session, client: Client, files: LoadedFiles): void {
  const records = whyNoRecords(session.platform)
  if (records !== undefined) throw records
  const finding = whyUnwritable(session, client, files)
  if (finding !== undefined) throw errorFrom(finding)
}

/**
 * Reports what keeps `repoint run` from starting a client. It sets the address, the key, the provider and the
 * model itself, so that only a file that the client cannot read, or a folder that it cannot write, is still a
 * problem. That is a warning: some clients start without the file, and a container may name another folder.
 */
export function checkFilesForLaunch(
  session: Session,
  client: Client,
  context: ClientContext,
): readonly Finding[] {
  const unreadable = [...client.checkNow(context)].filter(({ topic }) => topic === 'broken')
  const unwritable = [...unwritableFindings(session, client, context)]
  return [
    ...[...unreadable, ...unwritable.filter(({ severity }) => severity === 'error')].map(
      (finding) => ({ ...finding, severity: 'warning' as const }),
    ),
    ...worldWritablePaths(session, context.files),
  ]
}

/**
 * What a client's checks may read.
 *
 * @param program the installed program, if it was asked. Absent: its package says the version
 */
export function contextOf(
  session: Session,
  client: Client,
  files: LoadedFiles,
  runs: Runs,
  program?: ProgramVersion,
): ClientContext {
  return {
    files,
    machine: session.platform.machine,
    writtenBaseUrls: writtenBaseUrls(client, runs),
    // These read files, and few checks need them.
    get knownModels() {
      return rememberedModels(session.platform)
    },
    get version() {
      return program?.version ?? versionOfPackage(session, client)
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
  const message = `${label} would not use the gateway here: ${messageWithLocation(redirect)}`
  const hint =
    'Run the command in another folder, such as your home, or remove that setting from the file.'
  throw errorFrom({ ...redirect, hint }, message)
}
