/**
 * Points one process at a gateway, and changes no file. For a client, `pointProgram` resolves the options,
 * checks the client, and proves the gateway if nothing has. Any other program gets variables only.
 */

import { basename } from 'node:path'
import type { Client } from '../../clients/contract/client.ts'
import type { ProcessToStart } from '../../clients/contract/program.ts'
import { catalogIn, type RejectedModel } from '../../clients/contract/setup.ts'
import { modelsIn } from '../../clients/options/chosen-options.ts'
import { sendingFindings } from '../../clients/plan/headers.ts'
import { refuseBlocked, UserError, valueOrError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { adviseNamingModel, mayStillServe } from '../../gateway/catalog.ts'
import type { GatewayRequester } from '../../gateway/gateway-requester.ts'
import { mayHelp } from '../../gateway/judge/traits.ts'
import { aliasTarget } from '../../gateway/models/rules.ts'
import type { Catalog, CatalogAnswer, CatalogInfo, GatewayAccess } from '../../gateway/types.ts'
import type { ForegroundResult, Machine } from '../../platform/platform.ts'
import type { SavedGateway } from '../../state/gateway-list.ts'
import { rememberServed, wasServed } from '../../state/remembered.ts'
import { savedSafeguards, saveProof } from '../../state/save-gateway.ts'
import type { Runs } from '../../transaction/record.ts'
import { checkFilesForLaunch, contextOf } from '../client-state/check-files.ts'
import { isFamilyMemberInUse, readClientFiles, stateNow } from '../client-state/client-files.ts'
import { type ProgramVersion, versionFindings } from '../client-state/program/installed-program.ts'
import { recoverAndReport, runsSoFar } from '../client-state/recorded-runs.ts'
import { firstRequestsOf, plannedFiles, readableFiles, servedBy } from '../prove/first-requests.ts'
import { type FailedAsk, prove } from '../prove/prove.ts'
import { nextChoice } from '../prove/prove-one.ts'
import { type Resolution, type ResolvedChoice, resolveClient } from '../resolve/client-choice.ts'
import {
  type Launch,
  loopbackWithoutProxy,
  pointClient,
  providerIdOf,
} from '../resolve/point-client.ts'
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
  readonly requester: GatewayRequester
  /**
   * The gateway's list, if nothing else is asked, and no client is started: in a shell the user may start none of the
   * clients.
   */
  readonly list?: CatalogInfo
  readonly process: ProcessToStart
  readonly model?: string
  readonly saved?: SavedGateway
  /** The versions of the installed clients by their program, if anything depends on them. */
  readonly versions: ReadonlyMap<string, ProgramVersion>
}

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
  const { requester, process, saved } = request
  if (clients.length === 0) {
    if (request.list === undefined) await readList(session, requester)
    const { access } = requester
    return { args: process.args, env: gatewayEnv(access, process.env), access }
  }

  // Not for other programs: they need no records, and start even if the state folder cannot be read.
  recoverAndReport(session)
  const runs = runsSoFar(session)
  const chosen = await choiceServed(session, clients, runs, request)
  const findings = launchFindings(session, chosen, runs, requester.access)
  const shown = [...chosen.resolved.findings, ...findings]
  const hintOf = ({ hint }: Finding) => hint && session.completeHint(hint, chosen.client.id)
  session.addFindings(...shown.map((finding) => ({ ...finding, hint: hintOf(finding) })))
  return pointClient(session, chosen, requester.access, {
    process,
    safeguards: saved === undefined ? 'not-requested' : savedSafeguards(saved),
  })
}

function launchFindings(
  session: Session,
  { client, program }: ResolvedChoice,
  runs: Runs,
  access: GatewayAccess,
): readonly Finding[] {
  const context = contextOf(session, client, readClientFiles(session, client), runs)
  return [
    ...versionFindings(client, program, 'launch'),
    ...sendingFindings(client, access),
    ...checkFilesForLaunch(session, client, context),
  ]
}

/** @throws UserError why the gateway cannot serve anybody. Without a list it may serve the program anyway */
export async function readList(
  session: Session,
  requester: GatewayRequester,
): Promise<CatalogAnswer> {
  const list = requester.requestCatalog({ isOptional: true })
  const answer = await session.step('Asking the gateway for its models', list)
  if (answer.kind === 'failed' && !mayStillServe(answer.error)) throw answer.error
  noteMissingList(session, answer)
  return answer
}

function noteMissingList(session: Session, list: CatalogAnswer): void {
  if (list.kind === 'failed')
    session.remark(`note: Cannot read the gateway's list of models (${list.error.message})`)
}

/**
 * The choice of the client that starts, which the gateway serves.
 *
 * @throws UserError why it cannot start, or why the gateway does not serve it
 */
async function choiceServed(
  session: Session,
  clients: readonly Client[],
  runs: Runs,
  request: LaunchRequest,
): Promise<ResolvedChoice> {
  const { requester, saved } = request
  const choose = (list: CatalogInfo, rejections: readonly RejectedModel[] = []) => {
    const choice = resolveForLaunch(session, clients, runs, { request, list, rejections })
    refuseBlocked(launchFindings(session, choice, runs, requester.access))
    return choice
  }
  if (request.list !== undefined) {
    const choice = choose(request.list)
    if (!isMessagesUnproven(session, choice, request)) return choice
  }

  const rejected: RejectedModel[] = []
  const { fault, answers, list } = await prove<ResolvedChoice>(session, requester, {
    isModelKnown: !(valueOrError(() => choose({ kind: 'pending' })) instanceof UserError),
    asksFor: (list) => [
      {
        first: () => choose(list),
        requestsOf: async (choice) => {
          const { client } = choice
          if (wasServed(session.platform, servedBy(requester.access, choice))) return []
          const providerId = providerIdOf(session, client)
          const before = readableFiles(session, client)
          const files = plannedFiles(before, choice, requester.access, providerId)
          return firstRequestsOf(session, choice, files)
        },
        next: (choice, [rejection]) => {
          if (!mayHelp('protocol', rejection.error)) return undefined
          rejected.push(rejection)
          let next: ResolvedChoice | undefined
          const resolved = nextChoice({ choice: choice.resolved, rejection, rejected }, () => {
            next = choose(list, rejected)
            return next.resolved
          })
          return resolved && next
        },
      },
    ],
  })
  if (fault !== undefined) throw fault
  const [answer] = answers
  if (answer?.kind !== 'works') {
    const { error, rejected: last } = answer as FailedAsk<ResolvedChoice>
    if (last === undefined || request.list !== undefined) throw error
    const { appeal } = await import('../prove/ask-client.ts')
    const { choice, rejection } = last
    session.addFindings(await appeal(session, requester.access, choice, rejection.error, error))
    noteMissingList(session, list)
    return choice
  }

  noteMissingList(session, list)
  const { choice } = answer
  if (answer.results.length > 0) {
    const { probeModel: model, protocol } = choice.resolved
    const proof = { model, protocol, safeguards: 'not-requested' } as const
    if (saved !== undefined)
      session.addFindings(...saveProof(session.platform, saved.name, proof, requester.access))
    rememberServed(session.platform, servedBy(requester.access, choice))
  }
  return choice
}

/**
 * Whether nothing has shown where a saved gateway serves messages: that the chat address works proves nothing about
 * it. So even a shell asks for an inference then.
 */
function isMessagesUnproven(
  session: Session,
  { client, resolved }: ResolvedChoice,
  { requester, saved, list }: LaunchRequest,
): boolean {
  const { address, baseUrls } = requester.access
  if (saved === undefined || list?.kind === 'not-requested') return false
  if (resolved.protocol !== 'messages' || baseUrls.messages !== address) return false
  if (saved.proven?.protocol === 'messages') return false
  return stateNow(session, client).endpoint.baseUrl !== address
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
  {
    request,
    list,
    rejections,
  }: {
    readonly request: LaunchRequest
    readonly list: CatalogInfo
    readonly rejections: readonly RejectedModel[]
  },
): ResolvedChoice {
  const { requester, model, saved, versions } = request
  const { access } = requester
  const provenModel = saved?.proven
  const earlierOf = findEarlierSetups(session, clients, runs)
  const catalog = catalogIn({ catalogAnswer: list })

  const resolve = (client: Client, requestedModel: string | undefined): Resolution => {
    const earlier = earlierOf.get(client.id)
    const isOtherGateway = earlier !== undefined && !pointsAt(client, earlier, access)
    const missing = isOtherGateway && catalog ? unlisted(client, earlier, catalog) : []
    const gatewayInfo = {
      catalogAnswer: list,
      rejections: [...missing, ...rejections],
      noProbeFollows: request.list !== undefined,
      provenModel,
      accessSoFar: access,
    }
    const sources = { requested: { model: requestedModel }, earlier, policy: usualPolicy }
    const input = resolveInputFor(client, sources, access, gatewayInfo)
    const program = versions.get(client.program.command) ?? {}
    return resolveClient({ client, program, input })
  }

  const resolutions = clients.map((client) => resolve(client, model))
  // The proven model comes last: it helps only if the rules choose no model.
  if (model === undefined && provenModel !== undefined)
    resolutions.push(...clients.map((client) => resolve(client, provenModel.model)))
  const best = resolutions.find(({ kind }) => kind === 'decided') ?? resolutions[0]!
  if (best.kind === 'undecided' && list.kind === 'failed') throw adviseNamingModel(list.error)
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
