/**
 * Steps 1 to 4 of a setup, repeated if the user mistyped the address or the key.
 *
 * In: the `SetupContext`, with the request. Out: a `ProvenSetup`, for step 5. The files of this folder:
 *
 *     try-presets      step 1: what is known of the gateway before each try
 *     programs         whether the installed programs can use the gateway
 *     prove-clients    steps 2 to 4, for all clients                           ─▶  ProvenSetup
 *     choose-models    step 3 for one client: its rules, or ask-for-model      ─▶  ResolvedChoice
 *     ask-for-model    the questions for a model
 *     choose-again     from step 4 back to step 3 after a rejection            ─▶  ResolvedChoice
 *
 * `../../find-gateway/` finds the gateway of a try, `../../resolve/` applies a client's rules, and
 * `../../prove/` asks the gateway.
 */
import type { Client } from '../../../clients/contract/client.ts'
import type { ClientOptions } from '../../../clients/contract/options.ts'
import { catalogIn, type GatewayInfo } from '../../../clients/contract/setup.ts'
import { rowOf } from '../../../clients/list.ts'
import { overProtocol } from '../../../clients/models/protocols.ts'
import { modelsToProve } from '../../../clients/models/resolve.ts'
import { compact } from '../../../compact.ts'
import { UserError } from '../../../errors.ts'
import type { Finding } from '../../../finding.ts'
import { shownBalance } from '../../../gateway/balance.ts'
import { baseUrlFor, customBaseUrls } from '../../../gateway/base-urls.ts'
import type { ImportLink } from '../../../gateway/input/link.ts'
import { traitsOf } from '../../../gateway/judge/traits.ts'
import { supportsProtocol } from '../../../gateway/models/rules.ts'
import { type Gateway, type GatewayAccess, protocols } from '../../../gateway/types.ts'
import { expectNameIsFree } from '../../../state/save-gateway.ts'
import { counted, listWords, withoutRequestId } from '../../../text.ts'
import { expectWritable } from '../../client-state/check-files.ts'
import { readClientFiles } from '../../client-state/client-files.ts'
import { isInstalled } from '../../client-state/program/installed-program.ts'
import { type FoundGateway, findGateway } from '../../find-gateway/find-gateway.ts'
import { resolveOrThrow } from '../../resolve/client-choice.ts'
import type { Session } from '../../screen/session.ts'
import {
  canAskUser,
  inputFor,
  type ReachedGateway,
  type SetupContext,
  type SetupRequest,
} from '../context.ts'
import { nothingToPickFrom } from './ask-for-model.ts'
import { expectUsable, installedProgram, programFindings, startPrograms } from './programs.ts'
import {
  openGateway,
  type ProvenChoice,
  type ProvenSetup,
  proveClients,
  setupCommand,
} from './prove-clients.ts'
import { firstPreset, nextPreset } from './try-presets.ts'

/** How often the user may type an address or a key that does not work. */
const maxTypingTries = 5

/**
 * Steps 1 to 4 of a setup: finds the gateway, reaches it, resolves each client's options and proves them. If
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
    expectFilesWritable(context, found.access)

    try {
      const proven = await proveFound(context, found.access)
      expectWorkingClients(proven)
      reportProof(proven, found)
      return proven
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      const mayAskAgain = tries < maxTypingTries
      const next = nextPreset(error, { found, preset, mayAskAgain })
      if (next === undefined) throw error

      session.remark(`✗ ${withoutRequestId(error.message)}`)
      preset = next
    }
  }
}

/**
 * Checks that the files can be written before a request is sent. A client that has the address and the key already
 * may stay as it is, which the plan decides. Guided setup shows instead which clients it cannot set up.
 */
function expectFilesWritable({ session, request, clients }: SetupContext, access: Gateway): void {
  if (request.chooseClients !== undefined) return
  for (const client of clients) {
    const files = readClientFiles(session, client)
    const { baseUrl, key } = client.read(files).endpoint
    const hasAddress = protocols.some((protocol) => baseUrlFor(access, protocol) === baseUrl)
    if (!hasAddress || key !== access.key) expectWritable(session, client, files)
  }
}

/** Steps 2 to 4, with a gateway that may turn out to be the wrong one. */
async function proveFound(context: SetupContext, access: GatewayAccess): Promise<ProvenSetup> {
  const { session, request } = context
  if (!request.flags.verify) return unverified(context, access)

  const requester = openGateway(context, access)
  try {
    return await proveClients(context, requester, async (gateway) => {
      // If nobody can skip a client, its error comes before a probe.
      if (!canAskUser(context))
        for (const client of context.clients) await expectUsable(context, client, requester.access)
      showAnswer(session, gateway)
      if (request.chooseClients === undefined) return context
      return withClients(context, await request.chooseClients(context, gateway))
    })
  } finally {
    await requester.hangUp()
  }
}

/** The request with the question for the clients. Another try of steps 1 to 4 does not ask it again. */
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

/** The setup with the models that the link names. What the user requests now overrides them. */
function withLink(context: SetupContext, link: ImportLink | undefined): SetupContext {
  if (link === undefined) return context

  const { request } = context
  const optionsOf = (id: string): ClientOptions => ({
    ...optionsOfLink(link, id),
    ...request.optionsOf?.(id),
  })
  return { ...context, request: { ...request, optionsOf } }
}

function optionsOfLink({ client, model, slotModels }: ImportLink, id: string): ClientOptions {
  const { family, mainSlot } = rowOf(id)
  if (client !== id && client !== family) return {}
  if (mainSlot === undefined) return compact({ model })
  return { slotModels: { ...(model !== undefined && { [mainSlot]: model }), ...slotModels } }
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

/** Reports that the gateway accepts the key in another header. */
function* keyHeaderFindings(
  before: GatewayAccess,
  { keyHeader }: GatewayAccess,
): Generator<Finding> {
  if (keyHeader === before.keyHeader || keyHeader === 'authorization') return
  const message = `The gateway accepts the key only in the header ${keyHeader}`
  yield { code: 'key-header', severity: 'note', message }
}

/**
 * Checks that a client can use the gateway; all of them, if nobody can confirm the setup without the others.
 *
 * @throws UserError why a client cannot use it, with the clients that can
 */
function expectWorkingClients(proven: ProvenSetup): void {
  const [failed] = proven.failed
  if (failed === undefined) return
  if (proven.choices.length === 0) throw failed.error
  if (!canAskUser(proven)) throw errorNamingWorkingClients(failed.error, failed.client, proven)
}

/** Shows what is proven, and which clients are skipped because they cannot use the gateway. */
function reportProof(proven: ProvenSetup, found: FoundGateway): void {
  const { session, request, failed, access, findings } = proven
  for (const { client, error } of failed)
    session.remark(`✗ Skipped ${client.label}: ${withoutRequestId(error.message)}`)

  session.addFindings(...found.findings, ...keyHeaderFindings(found.access, access), ...findings)
  if (request.flags.verify) showProof(proven)
}

/** The error of one client, with the command that sets up the others. */
function errorNamingWorkingClients(
  error: UserError,
  { label }: Client,
  { session, choices, access }: ProvenSetup,
): UserError {
  const { code, message, hint } = error
  const ids = choices.map(({ client }) => client.id)
  const command = setupCommand(session, ids, access)

  return new UserError({
    code,
    message: `${label} cannot use this gateway. ${message}`,
    // The cure of a certificate is on this machine. Any other is the gateway's business.
    hint:
      traitsOf(error)?.blames === 'connection' && hint !== undefined
        ? `${hint} Or set up the clients that can: ${command}`
        : `Set up the clients that can: ${command}`,
  })
}

/** Shows how many models the gateway has, as soon as its catalog has answered, and what is wrong with the catalog. */
function showAnswer(session: Session, gateway: ReachedGateway): void {
  const catalog = catalogIn(gateway)
  if (catalog === undefined) return
  const supported = protocols.filter((protocol) =>
    catalog.models.some((model) => supportsProtocol(model, protocol) === true),
  )
  const count = counted(catalog.models.length, 'model')
  const over = supported.length === 0 ? '' : `, over ${listWords(supported)}`
  session.remark(`✔ ${hostOf(gateway.requester.access)} answers: ${count}${over}`)
  session.showFindings()
}

/** Shows one line for each proven client, and one for the balance. */
function showProof({ session, access, catalog, choices, balance }: ProvenSetup): void {
  if (catalog === undefined) session.remark(`✔ ${hostOf(access)} answers and accepts the key`)

  for (const { client, resolved, provenBy } of choices) {
    if (provenBy === 'client') {
      session.remark(`✔ ${client.label} itself answers, with ${resolved.model}`)
      continue
    }
    const ids = modelsToProve(resolved, catalog).map(({ model }) => model)
    const models = listWords(ids)
    const over = overProtocol(client, resolved)
    const verb = ids.length > 1 ? 'answer' : 'answers'
    session.remark(
      isInstalled(session, client)
        ? `✔ ${client.label}: ${models} ${verb}${over}, with tools`
        : `✔ The gateway answers a request of ${client.label} for ${models}${over}, with tools`,
    )
  }

  if (balance !== undefined) session.remark(`✔ The key has ${shownBalance(balance)}`)
}

function hostOf({ address }: GatewayAccess): string {
  return new URL(address).host
}

/** No request is sent, neither for the catalog nor as a probe. */
const notRequested: GatewayInfo = {
  catalogAnswer: { kind: 'not-requested' },
  rejections: [],
  noProbeFollows: true,
}

/** Resolves the options for `--no-verify`, without a request to the gateway. */
async function unverified(context: SetupContext, access: GatewayAccess): Promise<ProvenSetup> {
  const { session, clients, request } = context
  if (request.picksModel) throw nothingToPickFrom(session)

  await startPrograms(context)
  const choices: ProvenChoice[] = []
  for (const client of clients) {
    await expectUsable(context, client, access)
    const program = await installedProgram(context, client)
    const input = inputFor(context, client, access, notRequested)
    const choice = resolveOrThrow({ client, program, input })
    choices.push({
      ...choice,
      provenBy: 'nothing',
      safeguards: 'not-requested',
      probeFindings: [],
    })
  }
  return {
    ...context,
    choices,
    failed: [],
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
