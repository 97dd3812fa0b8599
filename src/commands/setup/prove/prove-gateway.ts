/**
 * Steps 1 to 4 of a setup, which are repeated if the user mistyped the address or the key. The files of this
 * folder, from the first call to the last:
 *
 *     prove-gateway   step 1, and the next try after a typing error
 *     import-link     what an import link adds: models, and the next address to try
 *     ask-gateway     step 2: the catalog, and the versions of the programs
 *     programs        what the installed programs can use, before a model is chosen
 *     prove-clients   steps 3 and 4, for all clients
 *     results         one result for each client, so that the others continue if one fails
 *     choose-models   step 3 for one client, by its rules or by the user (ask-for-model)
 *     choose-again    from step 4 back to step 3 after a rejection
 *     prove-by-client starts the installed client instead, if the gateway admits only certain clients
 *     show-proof      the lines that a terminal shows
 *
 * `../../probes/` sends the probes of step 4, each once.
 */

import type { Client } from '../../../clients/contract/client.ts'
import type { GatewayInfo } from '../../../clients/contract/setup.ts'
import { compact } from '../../../compact.ts'
import { UserError } from '../../../errors.ts'
import type { Finding } from '../../../finding.ts'
import { customBaseUrls } from '../../../gateway/base-urls.ts'
import { traitsOf } from '../../../gateway/judge/traits.ts'
import type { Gateway, GatewayAccess } from '../../../gateway/types.ts'
import { keptAddress } from '../../../state/last-address.ts'
import { expectNameIsFree } from '../../../state/save-gateway.ts'
import { type FoundGateway, findGateway } from '../../find-gateway/find-gateway.ts'
import {
  type GatewayInUse,
  gatewaysInUse,
  namesGateway,
  type Preset,
} from '../../find-gateway/preset.ts'
import { type ResolvedChoice, resolveOrThrow } from '../../resolve/client-choice.ts'
import {
  canAskUser,
  inputFor,
  requestedFor,
  type SetupContext,
  type SetupRequest,
} from '../context.ts'
import { nothingToPickFrom } from './ask-for-model.ts'
import { askGateway, openGateway } from './ask-gateway.ts'
import { withLink, withNextAddress } from './import-link.ts'
import { expectUsable, installedProgram, programFindings, startPrograms } from './programs.ts'
import type { ProvenSetup } from './prove-clients.ts'
import { proveClients } from './prove-clients.ts'
import { showAnswer, showProof } from './show-proof.ts'

/** How often the user may type an address or a key that does not work. */
const maxTypingTries = 5

/**
 * Steps 1 to 4 of a setup: finds the gateway, asks it, resolves each client's options and proves them. If
 * the gateway rejects an address or a key that the user typed, repoint asks for it again. If it came from a
 * flag or the environment, that is an error.
 */
export async function proveGateway(initialContext: SetupContext): Promise<ProvenSetup> {
  const { session } = initialContext
  const request = choosingClientsOnce(initialContext.request)
  let preset = await firstPreset(initialContext)

  for (let tries = 1; ; tries++) {
    const found = await findGateway(session, request.flags, preset)
    expectNameIsFree(session.platform, request.flags.name, found.access.address)
    const context = withLink({ ...initialContext, request }, found.link)

    try {
      return reportProof(await proveFound(context, found.access), found)
    } catch (error) {
      const isLastTry = tries >= maxTypingTries
      // A link's next address is tried even then, because the user types nothing for it.
      const next =
        withNextAddress(error, found, preset) ??
        (isLastTry ? undefined : retryWith(error, found, preset))
      if (next === undefined) throw error

      session.remark(`✗ ${(error as UserError).message}`)
      preset = next
    }
  }
}

/** Steps 2 to 4, with a gateway that may turn out to be the wrong one. */
async function proveFound(context: SetupContext, access: GatewayAccess): Promise<ProvenSetup> {
  const { session, request } = context
  if (!request.flags.verify) return unverified(context, access)

  const requester = openGateway(context, access)
  try {
    const gateway = await askGateway(context, requester)
    // If nobody can skip a client, its error comes before a probe.
    if (!canAskUser(context))
      for (const client of context.clients) await expectUsable(context, client, requester.access)
    showAnswer(session, gateway)

    const chosen = request.chooseClients
      ? withClients(context, await request.chooseClients(context, gateway))
      : context
    return await proveClients(chosen, gateway)
  } finally {
    await requester.hangUp()
  }
}

/** The request with the question for the clients, which is not asked again for the next try. */
function choosingClientsOnce(request: SetupRequest): SetupRequest {
  const { chooseClients } = request
  if (chooseClients === undefined) return request

  let chosen: readonly string[] | undefined
  return {
    ...request,
    chooseClients: async (context, gateway) => {
      chosen ??= await chooseClients(context, gateway)
      return chosen
    },
  }
}

/** What is known of the gateway before the first try. */
async function firstPreset(context: SetupContext): Promise<Preset> {
  const { session, request, runs } = context
  const inUse = request.preset?.inUse ?? (await gatewaysInUse(session, runs))
  return {
    lastAddress: keptAddress(session.platform) ?? runs[0]?.address,
    inUse: session.canAsk ? inUse : [],
    gateway: gatewayToKeep(context, inUse),
    // What the command itself knows wins.
    ...request.preset,
  }
}

/** The setup with only the clients that the user has chosen. */
function withClients(context: SetupContext, ids: readonly string[]): SetupContext {
  const { chooseClients: _, ...request } = context.request
  const command = ids.length === 1 ? ids[0]! : request.command
  return {
    ...context,
    request: { ...request, command, clientIds: ids },
    clients: context.clients.filter(({ id }) => ids.includes(id)),
  }
}

/** The gateway that the client uses, if the user changes its options and names no gateway. */
function gatewayToKeep(
  { session, request, clients, earlier, policy }: SetupContext,
  inUse: readonly GatewayInUse[],
): Gateway | undefined {
  const { flags, picksModel = false } = request
  const [client] = clients
  if (client === undefined || clients.length > 1 || !earlier.has(client)) return undefined

  const { slotModels, ...otherOptions } = requestedFor(request, client)
  const hasOptions = Object.keys(compact({ ...slotModels, ...otherOptions })).length > 0
  const changesOptions = hasOptions || picksModel || policy.keeps === 'none'
  if (!changesOptions) return undefined
  if (namesGateway(session, flags)) return undefined
  return inUse.find(({ family }) => family === client.family)
}

/** Reports that the gateway accepts the key in another header. */
function* keyHeaderFindings(
  before: GatewayAccess,
  { keyHeader }: GatewayAccess,
): Generator<Finding> {
  if (keyHeader === before.keyHeader || keyHeader === 'authorization') return
  const message = `The gateway accepts the key only in the header ${keyHeader}`
  yield { code: 'key-header', severity: 'note', message }
}

/** The preset for another try, in which the user is asked again. Undefined: nothing from a prompt is at fault. */
function retryWith(
  error: unknown,
  { access, isAddressFromPrompt, keySource }: FoundGateway,
  preset: Preset,
): Preset | undefined {
  const blamed = error instanceof UserError ? traitsOf(error)?.blames : undefined
  const { address, baseUrls, query, key, name } = access

  if (blamed === 'key' && keySource !== 'given') {
    const gateway = { ...preset.gateway, address, baseUrls, query, name, key: undefined }
    return { ...preset, gateway, inUse: [] }
  }

  const isAddressBlamed = blamed === 'address' || blamed === 'connection'
  if (isAddressBlamed && isAddressFromPrompt) {
    const staysSecret = keySource === 'reused' || keySource === 'saved'
    const gateway = { ...preset.gateway, key: staysSecret ? undefined : key }
    return { ...preset, gateway, lastAddress: address, keySource }
  }
  return undefined
}

/**
 * Shows the proof, and which clients it skips because they cannot use the gateway. A script gets an error
 * instead.
 *
 * @throws UserError why a client cannot use it, with the clients that can
 */
function reportProof(proven: ProvenSetup, found: FoundGateway): ProvenSetup {
  const { context, choices, failed, access, findings } = proven
  const { session, request } = context
  for (const [client, error] of failed) {
    if (choices.length === 0) throw error
    if (!canAskUser(context)) throw withWorkingClients(error, client, proven)
    session.remark(`✗ Skipped ${client.label}: ${error.message}`)
  }

  session.addFindings(...found.findings, ...keyHeaderFindings(found.access, access), ...findings)
  if (request.flags.verify) showProof(proven)
  return proven
}

/** The error of one client, with the command that sets up the others. */
function withWorkingClients(
  { code, message }: UserError,
  { label }: Client,
  { choices, access: { name, address } }: ProvenSetup,
): UserError {
  const ids = choices.map(({ client }) => client.id).join(' ')
  const command =
    name === undefined ? `repoint setup ${ids} --base-url ${address}` : `repoint use ${name} ${ids}`

  return new UserError({
    code,
    message: `${label} cannot use this gateway. ${message}`,
    hint: `Set up the clients that can: ${command}`,
  })
}

/** Nothing is asked, and no probe follows. */
const notAsked: GatewayInfo = {
  catalogAnswer: { kind: 'not-asked' },
  routesToAvoid: [],
  noProbeFollows: true,
}

/** Resolves the options for `--no-verify`, without a request to the gateway. */
async function unverified(context: SetupContext, access: GatewayAccess): Promise<ProvenSetup> {
  const { session, clients, request } = context
  if (request.picksModel) throw nothingToPickFrom(session)

  await startPrograms(context)
  const choices: ResolvedChoice[] = []
  for (const client of clients) {
    await expectUsable(context, client, access)
    const program = await installedProgram(context, client)
    const input = inputFor(context, client, access, notAsked)
    choices.push(resolveOrThrow({ client, program, input }))
  }
  return {
    context,
    choices,
    failed: new Map(),
    access,
    catalog: undefined,
    findings: [...assumedBaseUrlsFinding(access), ...(await programFindings(context))],
  }
}

/** Reports base URLs that repoint assumes without a request, if they are unusual. */
function* assumedBaseUrlsFinding(access: GatewayAccess): Generator<Finding> {
  const baseUrls = customBaseUrls(access)
  if (baseUrls !== undefined)
    yield {
      code: 'roots-unasked',
      severity: 'note',
      message: `repoint did not ask the gateway. It assumes chat at ${baseUrls.chat} and messages at ${baseUrls.messages}`,
    }
}
