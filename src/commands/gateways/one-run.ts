import { basename, resolve } from 'node:path'
import {
  type Client,
  type ClientState,
  type LoadedFiles,
  type ProcessToStart,
  protocolOf,
  type RejectedModel,
} from '../../clients/client.ts'
import { modelsIn } from '../../clients/resolve.ts'
import { compact } from '../../compact.ts'
import { ifPossible, UserError } from '../../errors.ts'
import { expectNoFinding, isFinding, messageWithLocation } from '../../finding.ts'
import { GatewayFinder } from '../../gateway/find-roots.ts'
import { aliasTarget } from '../../gateway/models/rules.ts'
import { isAboutAddress } from '../../gateway/probe.ts'
import { rootOf } from '../../gateway/roots.ts'
import type { Catalog, GatewayAccess, ModelRoute, Protocol } from '../../gateway/types.ts'
import type { ForegroundResult, Machine } from '../../platform/platform.ts'
import type { SavedGateway } from '../../state/gateways.ts'
import { saveProof } from '../../state/save-gateway.ts'
import { checkClient, refuseBlocked } from '../client-state/check-client.ts'
import { isUsual, readClientFiles, stateNow, withLocation } from '../client-state/files.ts'
import { runsSoFar } from '../client-state/history.ts'
import {
  type ChosenForRun,
  type PointedRun,
  pointClient,
  providerIdOf,
  withoutProxyHere,
} from '../client-state/point-client.ts'
import type { ProgramVersion } from '../client-state/program.ts'
import { contextOf, refuseRedirectedKey } from '../client-state/state.ts'
import type { Session } from '../screen/session.ts'
import { isAt, previousSetups, resolveInputFor } from '../setup/resolve.ts'
import { realPath } from './by-folder.ts'

/** The clients that start with this program. The one that it is set up as comes first. */
export function clientsCalled(
  session: Session,
  clients: readonly Client[],
  program: string,
): readonly Client[] {
  const name = basename(program).replace(/\.(exe|cmd|bat)$/i, '')
  const isTaken = (client: Client) => Number(isUsual(session, client))
  return clients
    .filter((client) => client.program.command === name && client.launchSettings !== undefined)
    .toSorted((one, other) => isTaken(other) - isTaken(one))
}

/**
 * Checks the project files in the working folder as a setup does, and in the folders that the clients'
 * arguments name. If they redirect a client or the key, nothing starts unless the user says yes. Other
 * settings in these folders are only reported.
 *
 * @throws UserError `config-conflict` if repoint cannot ask; `Declined` if the user says no
 */
export async function lookAtFolder(
  session: Session,
  access: GatewayAccess,
  clients: readonly Client[],
  args: readonly string[],
): Promise<void> {
  for (const client of clients) {
    const folders = workingFolders(session, client, args)
    const own = {
      baseUrl: rootOf(access, client.protocols[0]),
      providerId: providerIdOf(session, client),
    }
    const layers = filesOfFolders(session, client, folders)
    const found = checkClient({ session, client, purpose: 'run', layers, own, folders })
    if (!session.canAsk) refuseRedirectedKey(client, found)

    for (const finding of found) {
      if (!finding.redirectsKey) continue
      const problem = messageWithLocation(finding, (path) => session.showPath(path))
      const question = {
        message: `${problem}. Start it anyway?`,
        default: false,
      }
      await session.agree('ask', question)
    }
    // The run itself chooses the model, whatever these files say.
    const others = found.filter(({ code }) => code === 'folder-settings')
    session.addFindings(...others.map(withLocation))
  }
}

/** The working folder, then the folders that the arguments tell a client to work in. */
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

/** The project files of each folder, each file once. */
function filesOfFolders(session: Session, client: Client, folders: readonly string[]): LoadedFiles {
  const texts = folders
    .flatMap((folder) => readClientFiles(session, client, folder))
    .filter(({ kind }) => kind.startsWith('project'))
  return [...new Map(texts.map((text) => [text.path, text])).values()]
}

/** A process to start and the gateway that it should use. */
export interface Target {
  readonly access: GatewayAccess
  readonly catalog: Catalog | undefined
  readonly asked: ProcessToStart
  /** The model that the user named. */
  readonly model?: string | undefined
  /** The model to use if the user named none and the rules choose none. */
  readonly proven?: ModelRoute | undefined
  /** As `SetupTarget.answersSafeguards`. */
  readonly answersSafeguards?: boolean | undefined
  /** The versions of the installed clients by their program, if anything depends on them. */
  readonly versions: ReadonlyMap<string, ProgramVersion>
  /** The gateway that may be probed with one word. Absent: no probe. */
  readonly mayAsk?: SavedGateway | 'unremembered' | undefined
}

/**
 * Prepares a process for a gateway: a client by its settings for one run, and any other program by the
 * variables that programs usually read.
 *
 * @param clients the clients that the program belongs to; empty: another program
 */
export async function pointProgram(
  session: Session,
  clients: readonly Client[],
  target: Target,
): Promise<PointedRun> {
  const { access, asked } = target
  if (clients.length === 0) return { args: asked.args, env: gatewayEnv(access, asked.env), access }

  const chosen = chosenFor(session, clients, target)
  const { client } = chosen
  const program = target.versions.get(client.program.command) ?? {}
  const context = contextOf(session, client, readClientFiles(session, client), runsSoFar(session))
  const found = checkClient({ session, client, purpose: 'run', program, access, context })
  refuseBlocked(found)
  const rooted = await provenFor(session, chosen, target)
  session.addFindings(...chosen.resolved.findings, ...found)
  return pointClient(session, chosen, rooted, target)
}

/**
 * Finds the messages base URL for a client that uses this protocol, if it has not answered so far: that
 * the chat address works proves nothing about it. The gateway gets one probe, once. A gateway that is not
 * saved always gets a probe, because nothing has proven it.
 *
 * @throws UserError if no API answers
 */
async function provenFor(
  session: Session,
  { client, resolved }: ChosenForRun,
  { access, catalog, mayAsk }: Target,
): Promise<GatewayAccess> {
  const protocol = protocolOf(client, resolved)
  if (mayAsk === undefined) return access
  if (mayAsk !== 'unremembered' && !isMessagesOpen(session, client, protocol, { access, mayAsk }))
    return access

  const finder = new GatewayFinder(access)
  const proof = { protocol, model: resolved.probeModel }
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
    // The client will report this failure itself.
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
  return stateNow(session, client)?.endpoint.baseUrl !== messages
}

/**
 * The options that a client is set up with, if this gateway has its models. Otherwise the rules choose,
 * and if they choose nothing, the model that proved the gateway.
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
    const isOtherGateway = before !== undefined && !isAt(client, before, access)
    const rejected = isOtherGateway && catalog ? unlisted(client, before, catalog) : []
    const setup = { request: { optionsOf: () => compact({ model }), flags: {} }, previous }
    const gatewayInfo = { catalog, rejected, catalogOnly: true, proven, gateway: access }
    const input = resolveInputFor(setup, client, access, gatewayInfo)
    const { version } = versions.get(client.program.command) ?? {}
    return { client, input, resolved: client.resolve(input, version) }
  }

  const choices = models.flatMap((model) => clients.map((client) => choose(client, model)))
  const chosen = choices.find(({ resolved }) => !isFinding(resolved)) ?? choices[0]!
  return { ...chosen, resolved: expectNoFinding(chosen.resolved) }
}

/**
 * The models of an earlier setup that a new gateway's catalog does not list. `run` does not probe them,
 * so the catalog decides.
 */
function unlisted(
  { protocols }: Client,
  { options }: ClientState,
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

/** An environment with the gateway in all variables that programs usually read. */
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
    // Next to the token, programs would send this key too, and prefer it.
    ANTHROPIC_API_KEY: undefined,
    ...withoutProxyHere(env),
  }
}

/**
 * The exit status that a shell would return for a command that ran in the foreground.
 *
 * @throws UserError `usage` if the command could not start; `hint` says where the user typed its name
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
          : `Cannot start ${command}: ${result.problem}`,
        hint,
      })
  }
}
