import { basename, resolve } from 'node:path'
import {
  type Client,
  type LaunchSettings,
  type LoadedFiles,
  type ProcessToStart,
  protocolOf,
  type RejectedModel,
  type ResolvedOptions,
  type ResolveInput,
  runKeyVariable,
} from '../../clients/client.ts'
import { expectSendable } from '../../clients/headers.ts'
import { checkOptions } from '../../clients/list.ts'
import { overrideFindings } from '../../clients/overrides.ts'
import { modelsIn } from '../../clients/resolve.ts'
import { compact } from '../../compact.ts'
import { ifPossible, resultOf, UserError } from '../../errors.ts'
import { messageWithLocation } from '../../finding.ts'
import { GatewayFinder } from '../../gateway/find-roots.ts'
import { aliasTarget } from '../../gateway/models/rules.ts'
import { isAboutAddress } from '../../gateway/probe.ts'
import { rootOf, shownRoot } from '../../gateway/roots.ts'
import type { Catalog, GatewayAccess, ModelRoute, Protocol } from '../../gateway/types.ts'
import type { ForegroundResult, Machine } from '../../platform/platform.ts'
import type { SavedGateway } from '../../state/gateways.ts'
import { saveProof } from '../../state/save-gateway.ts'
import { isUsual, readClientFiles, stateNow, withLocation } from '../client-state/files.ts'
import { folderSettings } from '../client-state/folder-settings.ts'
import { runsSoFar } from '../client-state/history.ts'
import { expectWorking, type ProgramVersion, versionFindings } from '../client-state/program.ts'
import { refuseRedirectedKey } from '../client-state/state.ts'
import type { Session } from '../screen/session.ts'
import type { PreviousSetup } from '../setup/request.ts'
import { isAt, previousSetups, resolveInputFor } from '../setup/resolve.ts'
import { realPath } from './by-folder.ts'

/** The clients of that program: first the one that it is set up as. */
export function clientsCalled(
  session: Session,
  clients: readonly Client[],
  program: string,
): readonly Client[] {
  const name = basename(program).replace(/\.(exe|cmd|bat)$/i, '')
  const isTaken = (client: Client) => Number(isUsual(session, client))
  return clients
    .filter(
      ({ program: binary, launchSettings }) =>
        binary.command === name && launchSettings !== undefined,
    )
    .toSorted((one, other) => isTaken(other) - isTaken(one))
}

/**
 * Checks the files of the folder as a setup does, and those of folders that the clients' arguments
 * name. If they redirect a client or the key, nothing is started unless a person says yes. Other
 * settings of the folder are named, and stop nothing.
 *
 * @throws UserError `config-conflict` where nobody can be asked; `Declined` on a no
 */
export async function lookAtFolder(
  session: Session,
  access: GatewayAccess,
  clients: readonly Client[],
  args: readonly string[],
): Promise<void> {
  for (const client of clients) {
    const folders = workingFolders(session, client, args)
    const files = filesOfFolders(session, client, folders)
    const own = {
      baseUrl: rootOf(access, client.protocols[0]),
      providerId: providerIdOf(session, client),
    }
    const found = [...overrideFindings(client, files, own)]
    if (!session.canAsk) refuseRedirectedKey(client, found)

    for (const finding of found) {
      if (!finding.redirectsKey) continue
      const problem = messageWithLocation(finding, (path) => session.showPath(path))
      const question = {
        message: `${problem}. Start it all the same?`,
        default: false,
      }
      await session.agree('ask', question)
    }
    session.addFindings(...folderSettings(session, client, folders).map(withLocation))
  }
}

/** The folder that we are in, then those that arguments make a client work in. */
function workingFolders(
  { platform: { files, machine } }: Session,
  client: Client,
  args: readonly string[],
): readonly string[] {
  const named = client.program.foldersIn?.(args) ?? []
  const folders = named
    .map((folder) => realPath(files, resolve(machine.cwd, folder)))
    .filter((folder) => ifPossible(() => files.stat(folder))?.kind === 'folder')

  return [...new Set([machine.cwd, ...folders])]
}

/** The files of the project in each folder, each file once. */
function filesOfFolders(session: Session, client: Client, folders: readonly string[]): LoadedFiles {
  const texts = folders
    .flatMap((folder) => readClientFiles(session, client, folder))
    .filter(({ kind }) => kind.startsWith('project'))
  return [...new Map(texts.map((text) => [text.path, text])).values()]
}

export interface PointedRun extends LaunchSettings {
  /** With the roots that have answered by now. */
  readonly access: GatewayAccess
  /** What a person is told of it. */
  readonly told?: string
}

/** What one process is pointed at. */
export interface Target {
  readonly access: GatewayAccess
  readonly catalog: Catalog | undefined
  readonly asked: ProcessToStart
  /** The one to take, as it was named. */
  readonly model?: string | undefined
  /** The one to take where none is named, and the rules choose none. */
  readonly proven?: ModelRoute | undefined
  /** As `SetupTarget.answersSafeguards`. */
  readonly answersSafeguards?: boolean | undefined
  /** Of the installed clients, by their program, as far as something depends on it. */
  readonly versions: ReadonlyMap<string, ProgramVersion>
  /** Which gateway may be asked for a word; absent: nothing is asked of it. */
  readonly mayAsk?: SavedGateway | 'unremembered' | undefined
}

/**
 * Points one process at a gateway: of a client, in the way that it has for one run; of any other
 * program, by what programs usually look at.
 *
 * @param clients that the program is; none: another
 */
export async function pointProgram(
  session: Session,
  clients: readonly Client[],
  target: Target,
): Promise<PointedRun> {
  const { access, asked } = target
  if (clients.length === 0) return { args: asked.args, env: gatewayEnv(access, asked.env), access }

  const chosen = chosenFor(session, clients, target)
  const program = target.versions.get(chosen.client.program.command) ?? {}
  expectWorking(chosen.client, program, 'run')
  expectSendable(chosen.client, access)
  const rooted = await provenFor(session, chosen, target)
  session.addFindings(...chosen.models.findings, ...versionFindings(chosen.client, program))
  return pointClient(session, chosen, rooted, target)
}

/** The key stands in one variable of its process, and our own are not handed on. */
function pointClient(
  session: Session,
  { client, wanted: input, models: resolved }: ChosenForRun,
  access: GatewayAccess,
  { asked, answersSafeguards }: Target,
): PointedRun {
  const env = {
    ...asked.env,
    ...withoutProxyHere(asked.env),
    [runKeyVariable]: access.key,
    ...(access.caFile && { [client.program.caFileVariables[0]]: access.caFile }),
    REPOINT_BASE_URL: undefined,
    REPOINT_API_KEY: undefined,
  }
  const protocol = protocolOf(client, resolved)
  const baseUrl = rootOf(access, protocol)
  const run = client.launchSettings!(
    readClientFiles(session, client),
    {
      baseUrl,
      baseUrls: access.baseUrls,
      key: access.key,
      keyHeader: access.keyHeader,
      headers: access.headers,
      query: access.query,
      providerId: providerIdOf(session, client),
      resolved,
      input,
      answersSafeguards,
    },
    { ...asked, env },
  )

  const { resume } = client.program
  const told =
    resume && run.resumeKeeps
      ? `; \`${resume.command}\` keeps the ${run.resumeKeeps} of the old conversation`
      : ''
  return {
    ...run,
    access,
    told: `${client.label}: ${shownRoot(baseUrl, protocol)}, model ${resolved.model}${told}`,
  }
}

/**
 * The gateway with the root of messages, where a client speaks that protocol and it has not answered so
 * far: an address for chat tells nothing of it. One word is asked for, once; of a gateway that is not
 * remembered always, since nothing has proven it.
 *
 * @throws UserError where no API answers
 */
async function provenFor(
  session: Session,
  { client, models }: ChosenForRun,
  { access, catalog, mayAsk }: Target,
): Promise<GatewayAccess> {
  const protocol = protocolOf(client, models)
  if (mayAsk === undefined) return access
  if (mayAsk !== 'unremembered' && !isMessagesOpen(session, client, protocol, { access, mayAsk }))
    return access

  const finder = new GatewayFinder(access)
  const proof = { protocol, model: models.probeModel }
  try {
    const asking = finder.probe(proof.protocol, proof.model, { catalog })
    await session.step(`Asking ${proof.model} for one word`, asking)
    if (mayAsk !== 'unremembered')
      session.warn(...saveProof(session.platform, mayAsk.name, proof, finder.access))
  } catch (error) {
    const isNowhere =
      !(error instanceof UserError) ||
      isAboutAddress(error) ||
      error.code === 'protocol-unsupported'
    if (isNowhere || mayAsk === 'unremembered') throw error
    // The client will say it in its own words.
  } finally {
    await finder.hangUp()
  }
  return finder.access
}

function isMessagesOpen(
  session: Session,
  client: Client,
  protocol: Protocol,
  { access, mayAsk }: { readonly access: GatewayAccess; readonly mayAsk: SavedGateway },
): boolean {
  const { messages } = access.baseUrls
  if (protocol !== 'messages' || messages !== access.baseUrl) return false
  if (mayAsk.proven?.protocol === 'messages') return false
  return stateNow(session, client)?.baseUrl !== messages
}

interface ChosenForRun {
  readonly client: Client
  readonly wanted: ResolveInput
  readonly models: ResolvedOptions
}

/**
 * What a client is set up with, as far as this gateway has it; else what the rules choose, and where
 * they choose nothing, what the gateway was proven with.
 *
 * @throws UserError `model-unknown`, `usage`
 */
function chosenFor(
  session: Session,
  clients: readonly Client[],
  { access, catalog, model, proven, versions }: Target,
): ChosenForRun {
  const previous = previousSetups(session, clients, runsSoFar(session))
  const models = model === undefined && proven !== undefined ? [model, proven.model] : [model]

  const choose = (client: Client, model: string | undefined) => {
    const before = previous.get(client)
    const isElsewhere = before !== undefined && !isAt(client, before, access)
    const rejected = isElsewhere && catalog ? unlisted(client, before, catalog) : []
    const setup = { request: { optionsOf: () => compact({ model }), flags: {} }, previous }
    const gatewayInfo = { catalog, rejected, catalogOnly: true, proven, gateway: access }
    const input = resolveInputFor(setup, client, access, gatewayInfo)
    const { version } = versions.get(client.program.command) ?? {}
    return { client, wanted: input, models: client.resolve(input, version) }
  }

  const failures: UserError[] = []
  for (const model of models)
    for (const client of clients) {
      const chosen = resultOf(() => choose(client, model))
      if (!(chosen instanceof UserError)) return chosen
      failures.push(chosen)
    }
  throw failures[0]
}

/** Nothing is asked of the gateway here: where it is another than before, its list is all there is. */
function unlisted(
  { protocols }: Client,
  { options }: PreviousSetup,
  catalog: Catalog,
): readonly RejectedModel[] {
  const isListed = (id: string) => catalog.models.some((model) => model.id === id)
  const lost = modelsIn(options).filter(
    (id) => !isListed(id) && aliasTarget(catalog, id) === undefined,
  )
  return lost.flatMap((model) => {
    const message = `The gateway does not list ${model}`
    const error = new UserError({ code: 'model-unknown', message })
    return protocols.map((protocol) => ({ model, protocol, error }))
  })
}

/** The one in use, under which conversations are recorded; else the usual one. */
function providerIdOf(session: Session, client: Client): string {
  const { providerId } = stateNow(session, client) ?? {}
  const problem = resultOf(() => checkOptions(client, { providerId }))
  return problem instanceof UserError ? 'gateway' : (providerId ?? 'gateway')
}

/** An environment in which everything that programs usually look at points at a gateway. */
export function gatewayEnv(
  { baseUrl, baseUrls, key }: GatewayAccess,
  env: Machine['env'],
): Machine['env'] {
  return {
    ...env,
    REPOINT_BASE_URL: baseUrl,
    REPOINT_API_KEY: key,
    OPENAI_BASE_URL: baseUrls.chat,
    OPENAI_API_KEY: key,
    ANTHROPIC_BASE_URL: baseUrls.messages,
    ANTHROPIC_AUTH_TOKEN: key,
    // Beside the token it would go out too, and win.
    ANTHROPIC_API_KEY: undefined,
    ...withoutProxyHere(env),
  }
}

/** Claude Code 2.1.329 asks a proxy even for 127.0.0.1 (2026-11-21). */
function withoutProxyHere(env: Machine['env']): Machine['env'] {
  const here = [env['NO_PROXY'] ?? env['no_proxy'], '127.0.0.1,localhost'].filter(Boolean).join(',')
  return { NO_PROXY: here, no_proxy: here }
}

/**
 * The exit status to end with after a command that ran on our own terminal, as a shell tells it.
 *
 * @throws UserError `usage` where it could not be started; `hint` says where its name was typed
 */
export function statusOf(result: ForegroundResult, command: string, hint: string): number {
  switch (result.reason) {
    case 'exited':
      return result.exitStatus
    case 'killed':
      return 128 + result.signalNumber
    case 'not-started':
      throw new UserError({
        code: 'usage',
        message: result.problem.includes('ENOENT')
          ? `There is no command ${command}`
          : `Cannot run ${command}: ${result.problem}`,
        hint,
      })
  }
}
