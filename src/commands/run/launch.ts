/**
 * Points one process at a gateway, and changes no file. For a client, `pointProgram` resolves the options,
 * checks the client, and proves the gateway if nothing has. Any other program gets variables only.
 */

import { basename } from 'node:path'
import { type Client, notLaunchable } from '../../clients/contract/client.ts'
import type { ProcessToStart } from '../../clients/contract/program.ts'
import { catalogIn, type RejectedModel } from '../../clients/contract/setup.ts'
import { modelsIn } from '../../clients/options/chosen-options.ts'
import { sendingFindings } from '../../clients/plan/headers.ts'
import { compact } from '../../compact.ts'
import { UserError } from '../../errors.ts'
import { refuseBlocked } from '../../finding.ts'
import { GatewayRequester } from '../../gateway/gateway-requester.ts'
import { mayBeElsewhere } from '../../gateway/judge/traits.ts'
import { aliasTarget } from '../../gateway/models/rules.ts'
import type {
  Catalog,
  CatalogInfo,
  GatewayAccess,
  ModelAndProtocol,
  Protocol,
  SafeguardsAnswer,
} from '../../gateway/types.ts'
import type { ForegroundResult, Machine } from '../../platform/platform.ts'
import type { SavedGateway } from '../../state/gateway-list.ts'
import { saveProof } from '../../state/save-gateway.ts'
import type { Runs } from '../../transaction/record.ts'
import { checkFilesForLaunch, contextOf } from '../client-state/check-files.ts'
import { isFamilyMemberInUse, readClientFiles, stateNow } from '../client-state/client-files.ts'
import { type ProgramVersion, versionFindings } from '../client-state/program/installed-program.ts'
import { recoverAndReport, runsSoFar } from '../client-state/recorded-runs.ts'
import { type Resolution, type ResolvedChoice, resolveClient } from '../resolve/client-choice.ts'
import { type Launch, loopbackWithoutProxy, pointClient } from '../resolve/point-client.ts'
import { usualPolicy } from '../resolve/policy.ts'
import {
  type EarlierSetup,
  findEarlierSetups,
  pointsAt,
  resolveInputFor,
} from '../resolve/resolve-input.ts'
import type { Session } from '../screen/session.ts'

/** A process to start and the gateway that it should use. */
export interface LaunchRequest {
  readonly access: GatewayAccess
  readonly catalogAnswer: CatalogInfo
  readonly process: ProcessToStart
  /** The model that the user named. */
  readonly model?: string | undefined
  /** The model to use if the user named none and the rules choose none. */
  readonly provenModel?: ModelAndProtocol | undefined
  readonly safeguards: SafeguardsAnswer
  /** The versions of the installed clients by their program, if anything depends on them. */
  readonly versions: ReadonlyMap<string, ProgramVersion>
  readonly probe: LaunchProbe
}

/**
 * The probe before a launch, with one word.
 *
 * - `none`: there is none, for example with `--no-verify`.
 * - `not-saved`: the gateway in `access` is not saved, so it is always probed.
 * - `saved`: a saved gateway is probed only for its messages base URL, if nothing has proven that one: that
 *   the chat address works proves nothing about it.
 */
type LaunchProbe =
  | { readonly kind: 'none' }
  | { readonly kind: 'not-saved' }
  | { readonly kind: 'saved'; readonly saved: SavedGateway }

/** The clients that this program starts. The one that its files are set up for comes first. */
export function clientsCalled(
  session: Session,
  clients: readonly Client[],
  program: string,
): readonly Client[] {
  const name = basename(program).replace(/\.(exe|cmd|bat)$/i, '')
  const matching = clients.filter((client) => client.program.command === name)
  const isInUse = (client: Client) => isFamilyMemberInUse(session, client)
  return [...matching.filter(isInUse), ...matching.filter((client) => !isInUse(client))]
}

/**
 * Prepares a process for a gateway: a client by its settings for one process, and any other program by the
 * variables that programs usually read.
 *
 * @param clients the clients that the program belongs to; empty: another program
 */
export async function pointProgram(
  session: Session,
  clients: readonly Client[],
  request: LaunchRequest,
): Promise<Launch> {
  const { access, process } = request
  if (clients.length === 0)
    return { args: process.args, env: gatewayEnv(access, process.env), access }
  for (const client of clients)
    if (client.launchSettings === 'impossible') throw notLaunchable(client)

  // Not for other programs: they need no records, and start even if the state folder cannot be read.
  recoverAndReport(session)
  const runs = runsSoFar(session)
  const chosen = resolveForLaunch(session, clients, runs, request)
  const { client } = chosen
  const program = request.versions.get(client.program.command) ?? {}
  const context = contextOf(session, client, readClientFiles(session, client), runs)
  const findings = [
    ...versionFindings(client, program, 'launch'),
    ...sendingFindings(client, access),
    ...checkFilesForLaunch(session, client, context),
  ]
  refuseBlocked(findings)
  const provenAccess = await proveAccess(session, chosen, request)
  session.addFindings(...chosen.resolved.findings, ...findings)
  return pointClient(session, chosen, provenAccess, request)
}

/**
 * Probes the gateway once if nothing has proven the base URL that the client uses, and returns the access
 * with the base URL that answered.
 *
 * @throws UserError if no API answers
 */
async function proveAccess(
  session: Session,
  { client, resolved }: ResolvedChoice,
  { access, catalogAnswer, probe }: LaunchRequest,
): Promise<GatewayAccess> {
  if (probe.kind === 'none') return access
  const saved = probe.kind === 'saved' ? probe.saved : undefined
  const { protocol } = resolved
  if (saved !== undefined && !isMessagesUnproven(session, client, protocol, { access, saved }))
    return access

  const requester = new GatewayRequester(access)
  const proof = { protocol, model: resolved.probeModel, safeguards: 'not-requested' } as const
  try {
    const answer = requester.probe({
      protocol,
      model: proof.model,
      catalog: catalogAnswer.kind === 'received' ? Promise.resolve(catalogAnswer) : undefined,
    })
    await session.step(`Asking ${proof.model} for one word`, answer)
    if (saved !== undefined)
      session.addFindings(...saveProof(session.platform, saved.name, proof, requester.access))
    session.showFindings()
  } catch (error) {
    const hasApiAnswered = error instanceof UserError && !mayBeElsewhere(error)
    if (!hasApiAnswered || saved === undefined) throw error
    // The client will report this failure itself.
  } finally {
    await requester.hangUp()
  }
  return requester.access
}

function isMessagesUnproven(
  session: Session,
  client: Client,
  protocol: Protocol,
  { access, saved }: { readonly access: GatewayAccess; readonly saved: SavedGateway },
): boolean {
  const { messages } = access.baseUrls
  if (protocol !== 'messages' || messages !== access.address) return false
  if (saved.proven?.protocol === 'messages') return false
  return stateNow(session, client).endpoint.baseUrl !== messages
}

/**
 * The options that a client is set up with, if this gateway has its models. Otherwise the rules choose a
 * model, and if they choose none, the client gets the model that proved the gateway.
 *
 * @throws UserError `model-unknown`, `usage`
 */
function resolveForLaunch(
  session: Session,
  clients: readonly Client[],
  runs: Runs,
  { access, catalogAnswer, model, provenModel, versions }: LaunchRequest,
): ResolvedChoice {
  const earlierOf = findEarlierSetups(session, clients, runs)
  const catalog = catalogIn({ catalogAnswer })

  const resolve = (client: Client, requestedModel: string | undefined): Resolution => {
    const earlier = earlierOf.get(client.id)
    const isOtherGateway = earlier !== undefined && !pointsAt(client, earlier, access)
    const rejections = isOtherGateway && catalog ? unlisted(client, earlier, catalog) : []
    const gatewayInfo = {
      catalogAnswer,
      rejections,
      noProbeFollows: true,
      provenModel,
      accessSoFar: access,
    }
    const sources = { requested: compact({ model: requestedModel }), earlier, policy: usualPolicy }
    const input = resolveInputFor(client, sources, access, gatewayInfo)
    const program = versions.get(client.program.command) ?? {}
    return resolveClient({ client, program, input })
  }

  const resolutions = clients.map((client) => resolve(client, model))
  // The proven model comes last: it helps only if the rules choose no model.
  if (model === undefined && provenModel !== undefined)
    resolutions.push(...clients.map((client) => resolve(client, provenModel.model)))
  const best = resolutions.find(({ kind }) => kind === 'decided') ?? resolutions[0]!
  if (best.kind !== 'decided') throw best.error
  return best.choice
}

/**
 * The models of an earlier setup that a new gateway's catalog does not list. A launch does not probe
 * them, so the catalog decides.
 */
function unlisted(
  { protocols }: Client,
  { options }: EarlierSetup,
  catalog: Catalog,
): readonly RejectedModel[] {
  const isListed = (id: string) =>
    catalog.models.some((model) => model.id === id) || aliasTarget(catalog, id) !== undefined
  const missing = modelsIn(options).filter((id) => !isListed(id))
  return missing.flatMap((model) => {
    const message = `The gateway does not list ${model}`
    const error = new UserError({ code: 'model-unknown', message })
    return protocols.map((protocol) => ({ model, protocol, error }))
  })
}

/** An environment with the gateway in all variables that programs usually read. */
export function gatewayEnv(
  { address, baseUrls, key }: GatewayAccess,
  env: Machine['env'],
): Machine['env'] {
  return {
    ...env,
    REPOINT_BASE_URL: address,
    REPOINT_API_KEY: key,
    OPENAI_BASE_URL: baseUrls.chat,
    OPENAI_API_KEY: key,
    ANTHROPIC_BASE_URL: baseUrls.messages,
    ANTHROPIC_AUTH_TOKEN: key,
    // Programs would send this key in addition to the token, and prefer it.
    ANTHROPIC_API_KEY: undefined,
    ...loopbackWithoutProxy(env),
  }
}

/**
 * The exit status that a shell would return for a command that ran in the foreground.
 *
 * @throws UserError `usage` if the command could not start; `hint` says where the user typed its name
 */
export function exitStatusOf(result: ForegroundResult, command: string, hint: string): number {
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
